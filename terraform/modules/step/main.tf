# One function, its service account, the rights of that account, and the subscription that calls the function.

resource "google_service_account" "run" {
  account_id   = var.name
  project      = var.project_id
  display_name = "${var.name}: runs the function"
}

resource "google_cloudfunctions2_function" "this" {
  name     = var.name
  project  = var.project_id
  location = var.region
  labels   = var.labels

  build_config {
    runtime           = "python313"
    entry_point       = var.entry_point
    service_account   = var.build_account
    docker_repository = var.repository
    source {
      storage_source {
        bucket = var.source_bucket
        object = var.source_object
      }
    }
  }

  service_config {
    service_account_email            = google_service_account.run.email
    timeout_seconds                  = var.timeout
    available_memory                 = var.memory
    available_cpu                    = "1"
    max_instance_request_concurrency = var.concurrency
    min_instance_count               = var.min_instances
    max_instance_count               = var.max_instances
    environment_variables            = var.environment
    # If only Pub/Sub calls a function that checks tokens itself, the internet cannot reach it. The other functions
    # accept calls only from the identity of their subscription.
    ingress_settings = var.internal ? "ALLOW_INTERNAL_ONLY" : "ALLOW_ALL"

    dynamic "secret_environment_variables" {
      for_each = var.secrets
      content {
        key        = secret_environment_variables.key
        project_id = var.project_id
        secret     = secret_environment_variables.value
        version    = "latest"
      }
    }
  }

  depends_on = [google_secret_manager_secret_iam_member.run] # without its key it would not start
}

# --- what it may do

resource "google_project_iam_member" "run" {
  for_each = var.roles

  project = each.value.project
  role    = each.value.role
  member  = google_service_account.run.member

  dynamic "condition" {
    for_each = each.value.condition == null ? [] : [each.value.condition]
    content {
      title      = condition.value.title
      expression = condition.value.expression
    }
  }
}

resource "google_pubsub_topic_iam_member" "run" {
  for_each = var.publishes_to

  project = var.project_id
  topic   = each.value
  role    = "roles/pubsub.publisher"
  member  = google_service_account.run.member
}

resource "google_secret_manager_secret_iam_member" "run" {
  for_each = var.secrets

  project   = var.project_id
  secret_id = each.value
  role      = "roles/secretmanager.secretAccessor"
  member    = google_service_account.run.member
}

# --- who may call it

locals {
  dead_lettered = toset(var.subscription.dead_letter_topic == null ? [] : ["push"])
  # Cloud Run removes the signature from a token that it has checked. So a function that checks tokens itself
  # must be open to all callers, and must refuse the wrong ones.
  invokers = var.verifies_itself ? { everybody = "allUsers" } : { push = google_service_account.push.member }
}

resource "google_cloud_run_v2_service_iam_member" "invoker" {
  for_each = local.invokers

  project  = var.project_id
  location = var.region
  name     = google_cloudfunctions2_function.this.name # the Cloud Run service has the same name as the function
  role     = "roles/run.invoker"
  member   = each.value
}

resource "google_service_account" "push" {
  account_id   = var.push_account
  project      = var.project_id
  display_name = "${var.name}: calls the function for Pub/Sub"
}

# Pub/Sub signs its calls with tokens of this identity.
resource "google_service_account_iam_member" "push" {
  service_account_id = google_service_account.push.name
  role               = "roles/iam.serviceAccountTokenCreator"
  member             = var.pubsub_agent
}

resource "google_pubsub_subscription" "push" {
  name                 = var.subscription.name
  project              = var.project_id
  topic                = var.subscription.topic
  labels               = var.labels
  ack_deadline_seconds = var.subscription.ack_deadline

  push_config {
    # Cloud Run treats Pub/Sub as internal only at the address of the service itself.
    push_endpoint = var.verifies_itself ? google_cloudfunctions2_function.this.service_config[0].uri : var.url
    oidc_token {
      service_account_email = google_service_account.push.email
      audience              = var.url
    }
    # Pub/Sub sends attributes as headers, so the request itself is the CloudEvent.
    dynamic "no_wrapper" {
      for_each = var.subscription.wrapped ? [] : [true]
      content {
        write_metadata = true
      }
    }
  }

  # Five attempts then take about two and a half minutes. Most outages of a service are shorter.
  retry_policy {
    minimum_backoff = "10s"
    maximum_backoff = "300s"
  }

  # Dead letters have no dead-letter topic of their own. Pub/Sub sends each one until it is kept.
  dynamic "dead_letter_policy" {
    for_each = var.subscription.dead_letter_topic[*]
    content {
      dead_letter_topic     = dead_letter_policy.value
      max_delivery_attempts = var.subscription.delivery_attempts
    }
  }

  expiration_policy {
    ttl = "" # never, even if nobody asks for a long time
  }

  depends_on = [google_cloud_run_v2_service_iam_member.invoker, google_service_account_iam_member.push]
}

# Pub/Sub needs this right, and the right to publish to the dead-letter topic, to dead-letter a message.
resource "google_pubsub_subscription_iam_member" "dead_lettering" {
  for_each = local.dead_lettered

  project      = var.project_id
  subscription = google_pubsub_subscription.push.name
  role         = "roles/pubsub.subscriber"
  member       = var.pubsub_agent
}
