# The module alone: what every function and its subscription have in common.

mock_provider "google" {
  mock_resource "google_service_account" {
    defaults = {
      email  = "someone@my-project-123.iam.gserviceaccount.com"
      member = "serviceAccount:someone@my-project-123.iam.gserviceaccount.com"
    }
  }
  mock_resource "google_cloudfunctions2_function" {
    defaults = {
      service_config = { uri = "https://threadwise-ingest-abc-an.a.run.app" }
    }
  }
}

variables {
  name            = "threadwise-retrieve"
  push_account    = "push-retrieve"
  project_id      = "my-project-123"
  region          = "asia-northeast1"
  labels          = {}
  entry_point     = "main"
  source_bucket   = "sources"
  source_object   = "retrieve_fn-1.zip"
  repository      = "projects/my-project-123/locations/asia-northeast1/repositories/threadwise"
  build_account   = "projects/my-project-123/serviceAccounts/build@my-project-123.iam.gserviceaccount.com"
  timeout         = 55
  memory          = "512Mi"
  concurrency     = 16
  min_instances   = 0
  max_instances   = 10
  environment     = {}
  secrets         = {}
  url             = "https://asia-northeast1-my-project-123.cloudfunctions.net/threadwise-retrieve"
  verifies_itself = false
  internal        = false
  subscription = {
    name              = "queries-push"
    topic             = "projects/my-project-123/topics/queries"
    ack_deadline      = 65
    wrapped           = false
    dead_letter_topic = "projects/my-project-123/topics/dead-letters"
    delivery_attempts = 5
  }
  pubsub_agent = "serviceAccount:service-1@gcp-sa-pubsub.iam.gserviceaccount.com"
  publishes_to = { next = "findings", dead_letters = "dead-letters" }
  roles        = { firestore = { project = "my-project-123", role = "roles/datastore.user" } }
}

run "a_step" {
  module {
    source = "./modules/step"
  }
  assert {
    condition     = google_pubsub_subscription.push.push_config[0].no_wrapper[0].write_metadata
    error_message = "Pushes must be unwrapped, with the attributes as headers."
  }
  assert {
    condition     = google_pubsub_subscription.push.push_config[0].push_endpoint == var.url && google_pubsub_subscription.push.push_config[0].oidc_token[0].audience == var.url
    error_message = "A push must prove itself for the URL that it calls."
  }
  assert {
    condition     = google_pubsub_subscription.push.ack_deadline_seconds == 65 && google_cloudfunctions2_function.this.service_config[0].timeout_seconds == 55
    error_message = "The deadlines must be those of the table."
  }
  assert {
    condition     = google_pubsub_subscription.push.expiration_policy[0].ttl == ""
    error_message = "A subscription must outlive any pause."
  }
  assert {
    condition     = google_pubsub_subscription.push.dead_letter_policy[0].max_delivery_attempts == 5
    error_message = "What fails five times must become a dead letter."
  }
  assert {
    condition     = google_pubsub_subscription.push.filter == null && google_pubsub_subscription.push.enable_message_ordering == null
    error_message = "Every message of the topic is the step's, in any order: no filter, and no ordering beside dead letters."
  }
  assert {
    condition     = google_pubsub_subscription_iam_member.dead_lettering["push"].member == var.pubsub_agent && google_service_account_iam_member.push.member == var.pubsub_agent
    error_message = "Pub/Sub must be able to take failed messages out, and to sign its calls."
  }
  assert {
    condition     = keys(google_cloud_run_v2_service_iam_member.invoker) == ["push"] && google_cloud_run_v2_service_iam_member.invoker["push"].member == google_service_account.push.member
    error_message = "Nobody but its subscription may call a step."
  }
  assert {
    condition     = google_cloudfunctions2_function.this.build_config[0].runtime == "python313" && google_cloudfunctions2_function.this.service_config[0].max_instance_request_concurrency == 16
    error_message = "The function must run on Python 3.13 and take several requests at once."
  }
}

run "tell_is_tried_for_ever" {
  module {
    source = "./modules/step"
  }
  variables {
    subscription = {
      name              = "dead-letters-push"
      topic             = "projects/my-project-123/topics/dead-letters"
      ack_deadline      = 70
      wrapped           = false
      delivery_attempts = 5
    }
  }
  assert {
    condition     = length(google_pubsub_subscription.push.dead_letter_policy) == 0 && length(google_pubsub_subscription_iam_member.dead_lettering) == 0
    error_message = "A dead letter has nowhere further to go."
  }
}

run "chat_calls_ingest" {
  module {
    source = "./modules/step"
  }
  variables {
    verifies_itself = true
  }
  assert {
    condition     = google_cloud_run_v2_service_iam_member.invoker["everybody"].member == "allUsers" && google_cloudfunctions2_function.this.service_config[0].ingress_settings == "ALLOW_ALL"
    error_message = "Chat must get through, with its token's signature."
  }
}

run "pubsub_alone_calls_ingest" {
  module {
    source = "./modules/step"
  }
  variables {
    verifies_itself = true
    internal        = true
    subscription = {
      name              = "chat-events-push"
      topic             = "projects/my-project-123/topics/chat-events"
      ack_deadline      = 45
      wrapped           = true
      dead_letter_topic = "projects/my-project-123/topics/dead-letters"
      delivery_attempts = 5
    }
  }
  assert {
    condition     = google_cloudfunctions2_function.this.service_config[0].ingress_settings == "ALLOW_INTERNAL_ONLY"
    error_message = "The internet must not reach a function that only Pub/Sub calls."
  }
  assert {
    condition     = google_pubsub_subscription.push.push_config[0].push_endpoint == google_cloudfunctions2_function.this.service_config[0].uri && google_pubsub_subscription.push.push_config[0].oidc_token[0].audience == var.url
    error_message = "Pub/Sub is internal at the service's own address only; ingest expects its URL as the audience."
  }
  assert {
    condition     = length(google_pubsub_subscription.push.push_config[0].no_wrapper) == 0
    error_message = "Chat's own messages are no CloudEvents, so they must come wrapped."
  }
}
