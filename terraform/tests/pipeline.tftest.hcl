# The contract with the code, with every cloud call mocked: `terraform init && terraform test` needs no credentials.

mock_provider "google" {
  mock_resource "google_service_account" {
    defaults = {
      email  = "someone@my-project-123.iam.gserviceaccount.com"
      member = "serviceAccount:someone@my-project-123.iam.gserviceaccount.com"
      name   = "projects/my-project-123/serviceAccounts/someone@my-project-123.iam.gserviceaccount.com"
    }
  }
}

override_data {
  target = data.google_project.this
  values = { number = "400000000001" }
}

mock_provider "google-beta" {
  mock_resource "google_project_service_identity" {
    defaults = { member = "serviceAccount:service-1@gcp-sa-pubsub.iam.gserviceaccount.com" }
  }
}

variables {
  project_id = "my-project-123"
  rag_corpus = "projects/my-project-123/locations/europe-west4/ragCorpora/42"
}

run "over_http" {
  assert {
    condition     = toset(values(local.topics)) == toset([for row in local.pipeline.steps : row.takes])
    error_message = "The topics are not those that the functions publish to by default."
  }
  assert {
    condition     = { for step, it in module.step : step => it.subscription } == { for row in local.pipeline.steps : row.name => "${row.takes}-push" }
    error_message = "Each topic needs one push subscription; ingest's is there for replays, too."
  }
  assert {
    condition = alltrue([
      for it in local.steps : it.seconds.step < it.seconds.function && it.seconds.function < it.seconds.ack && it.seconds.ack <= 600
    ])
    error_message = "Deadlines must nest: step < function < ack <= 600 s."
  }
  assert {
    condition     = local.steps.ingest.seconds.step < 30 && local.steps.ingest.seconds.function <= 30
    error_message = "Chat waits 30 s."
  }
  assert {
    condition = alltrue([
      for variables in local.environments : alltrue([
        for name in ["GOOGLE_CLOUD_PROJECT", "FIRESTORE_DATABASE", "DEAD_LETTER_TOPIC", "HISTORY_HOURS", "CHAT_WRITES_PER_SECOND", "LOG_CONTENT", "STEP_SECONDS", "THREADS"] :
        length(variables[name]) > 0
      ])
    ])
    error_message = "Every function needs these variables."
  }
  assert {
    condition     = [for row in local.pipeline.steps : try(local.environments[row.name].PUBLISHES_TO, "")] == concat(slice(local.way, 1, length(local.way)), ["", ""])
    error_message = "Each step must publish to what the next one takes."
  }
  assert {
    condition     = local.environments.ingest.CHAT_AUDIENCE == "https://asia-northeast1-my-project-123.cloudfunctions.net/threadwise-ingest" && local.environments.ingest.CHAT_EMAIL == "chat@system.gserviceaccount.com"
    error_message = "ingest must expect tokens of Chat for its own URL."
  }
  assert {
    condition     = local.environments.ingest.PUSH_EMAIL == "push-ingest@my-project-123.iam.gserviceaccount.com" && local.environments.ingest.PUSH_AUDIENCE == local.urls.ingest
    error_message = "ingest must take what operators replay."
  }
  assert {
    condition     = alltrue([for variables in local.environments : variables.LOG_CONTENT == "false"])
    error_message = "What people say must not be logged unless that was asked for."
  }
  assert {
    condition     = local.environments.retrieve.RAG_CORPUS == var.rag_corpus && !can(local.environments.retrieve.RAG_DISTANCE_THRESHOLD)
    error_message = "retrieve must search the corpus that was given, and no threshold must be set by itself."
  }
  assert {
    condition     = local.environments.answer.GOOGLE_GENAI_USE_ENTERPRISE == "true" && !can(local.environments.tell.GOOGLE_GENAI_USE_ENTERPRISE)
    error_message = "Who asks Gemini, and nobody else, must be told where."
  }
  assert {
    condition     = toset(keys(google_firestore_field.expiry)) == toset(["chat_threads", "questions", "failures", "dead_letters", "feedback", "forgotten", "space_slots", "askers"]) && alltrue([for field in google_firestore_field.expiry : field.field == "expired_at"])
    error_message = "Every collection whose documents expire needs its TTL on expired_at."
  }
  assert {
    condition     = google_firestore_database.this.delete_protection_state == "DELETE_PROTECTION_ENABLED" && google_firestore_database.this.deletion_policy == "ABANDON"
    error_message = "The data must outlive everything else."
  }
  assert {
    condition     = google_pubsub_subscription.backup.name == "dead-letters-backup" && google_pubsub_subscription.backup.expiration_policy[0].ttl == "" && length(google_pubsub_subscription.backup.push_config) == 0
    error_message = "The operators' copy of the dead letters must be pulled, and never expire."
  }
  assert {
    condition     = length(google_pubsub_topic_iam_member.chat) == 0
    error_message = "Nobody publishes events when Chat calls ingest itself."
  }
  assert {
    condition     = output.chat_configuration["09a. HTTP endpoint URL"] == local.environments.ingest.CHAT_AUDIENCE
    error_message = "What is pasted into Chat's configuration must be what ingest expects."
  }
  assert {
    condition     = output.chat_configuration["10. Command 1"] == "slash command /ask: Ask a question" && output.chat_configuration["10. Command 4"] == "quick command Forget: Forget this conversation"
    error_message = "Every command must be printed with its id and kind."
  }
}

run "an_add_on" {
  variables {
    chat_app = "add_on"
  }
  assert {
    condition     = local.environments.ingest.CHAT_EMAIL == "service-400000000001@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
    error_message = "An add-on's calls are signed by the agent of this project, and of no other."
  }
  assert {
    condition     = strcontains(output.chat_configuration["09b. Service account email"], local.environments.ingest.CHAT_EMAIL) && output.chat_configuration["02. Build this Chat app as a Google Workspace add-on"] == "ticked"
    error_message = "What ingest expects must be what the page shows."
  }
  assert {
    condition     = contains(keys(google_project_service.this), "gsuiteaddons.googleapis.com") && length(google_pubsub_topic_iam_member.chat) == 0
    error_message = "The agent must exist, and over HTTP it needs no right."
  }
}

run "over_pubsub" {
  variables {
    chat_connection = "pubsub"
  }
  assert {
    condition     = module.step["ingest"].subscription == "chat-events-push"
    error_message = "Chat's events must reach ingest."
  }
  assert {
    condition     = local.environments.ingest.CHAT_EMAIL == "" && local.environments.ingest.PUSH_EMAIL == "push-ingest@my-project-123.iam.gserviceaccount.com"
    error_message = "ingest must expect tokens of the identity that pushes Chat's events, and no others."
  }
  assert {
    condition     = google_pubsub_topic_iam_member.chat["classic"].member == "serviceAccount:chat-api-push@system.gserviceaccount.com" && length(google_pubsub_topic_iam_member.chat) == 1
    error_message = "Chat must be able to publish, and nobody else."
  }
  assert {
    condition     = output.chat_configuration["09a. Cloud Pub/Sub topic name"] == "projects/my-project-123/topics/chat-events"
    error_message = "The topic must be printed as Chat's configuration wants it."
  }
}

run "by_the_project_s_number" {
  variables {
    chat_audience = "project_number"
  }
  assert {
    condition     = local.environments.ingest.CHAT_AUDIENCE == "400000000001" && local.environments.ingest.CHAT_EMAIL == ""
    error_message = "With the number, Chat itself signs, and Google for nobody."
  }
  assert {
    condition     = output.chat_configuration["09b. Authentication audience"] == "Project number"
    error_message = "What ingest expects must be what is printed."
  }
}

run "an_add_on_with_a_number" {
  command = plan
  variables {
    chat_app      = "add_on"
    chat_audience = "project_number"
  }
  expect_failures = [var.chat_audience]
}

run "a_wrong_audience" {
  command = plan
  variables {
    chat_audience = "number"
  }
  expect_failures = [var.chat_audience]
}

run "an_add_on_over_pubsub" {
  variables {
    chat_app        = "add_on"
    chat_connection = "pubsub"
  }
  assert {
    condition     = { for app, it in google_pubsub_topic_iam_member.chat : app => it.member } == { add_on = "serviceAccount:service-400000000001@gcp-sa-gsuiteaddons.iam.gserviceaccount.com" }
    error_message = "Chat must be able to publish, and nobody else."
  }
}

run "a_second_environment" {
  variables {
    name_prefix        = "staging"
    firestore_database = "staging"
  }
  assert {
    condition = alltrue([
      for name in concat(values(local.topics), values(local.subscriptions), values(local.functions), [google_pubsub_subscription.backup.name], values(local.metric_names)) :
      startswith(name, "staging")
    ])
    error_message = "Every name must carry the environment's prefix."
  }
  assert {
    condition     = local.environments.ingest.PUBLISHES_TO == "staging-questions" && local.environments.tell.FIRESTORE_DATABASE == "staging"
    error_message = "The functions must work on their own environment's topics and database."
  }
}

run "an_api_key" {
  variables {
    gemini_api_key_secret = "gemini-key"
  }
  assert {
    condition     = !can(local.environments.answer.GOOGLE_GENAI_USE_ENTERPRISE) && !can(local.environments.answer.GEMINI_API_KEY)
    error_message = "With a key, Gemini is not asked as the service account, and the key's value is not in the configuration."
  }
}

run "deleting_the_data" {
  variables {
    delete_data = true
  }
  assert {
    condition     = google_firestore_database.this.delete_protection_state == "DELETE_PROTECTION_DISABLED" && google_firestore_database.this.deletion_policy == "DELETE"
    error_message = "Told to, destroy must be able to delete the database."
  }
}

run "without_a_corpus" {
  variables {
    rag_corpus = null
  }
  expect_failures = [check.corpus]
}

# Apart from the others: where the variables that it depends on are wrong, Terraform does not look at it.
run "project_number_and_add_on" {
  command = plan
  variables {
    chat_app      = "add_on"
    chat_audience = "project_number"
  }
  expect_failures = [var.chat_audience]
}

run "wrong_values" {
  command = plan
  variables {
    project_id             = "My Project"
    name_prefix            = "production"
    chat_connection        = "webhook"
    chat_app               = "bot"
    chat_commands          = { ask = "1" }
    allowed_domains        = ["me@example.com"]
    allowed_spaces         = ["Help desk"]
    questions_per_minute   = 0
    longest_question       = 40000
    chat_writes_per_second = 0
    languages              = ["xx"]
    human_contact          = ""
    rag_corpus             = "my-corpus"
    history_hours          = 0
    rag_top_k              = 0
    rag_distance_threshold = -1
    rag_ranker             = "gemini-3.5-flash"
    search_kind            = "sparse"
    context_tokens         = 100
    utc_offset_hours       = 15
    source_links           = { "gs://kb/" = "wiki.example" }
    notification_channels  = ["me@example.com"]
    alert_thresholds       = { error_rate = 2 }
    quiet_minutes          = 5
    min_instances          = -1
  }
  expect_failures = [
    var.project_id, var.name_prefix, var.chat_connection, var.rag_corpus, var.history_hours, var.rag_top_k,
    var.rag_distance_threshold, var.rag_ranker, var.search_kind, var.context_tokens, var.utc_offset_hours, var.source_links, var.notification_channels, var.alert_thresholds, var.quiet_minutes,
    var.min_instances, var.chat_app, var.chat_commands, var.allowed_domains, var.allowed_spaces, var.questions_per_minute,
    var.longest_question, var.chat_writes_per_second, var.languages, var.human_contact,
  ]
}
