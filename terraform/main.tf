locals {
  services = toset([
    "aiplatform.googleapis.com",
    "artifactregistry.googleapis.com",
    "chat.googleapis.com",
    "cloudbuild.googleapis.com",
    "cloudfunctions.googleapis.com",
    "cloudscheduler.googleapis.com",
    "firestore.googleapis.com",
    "iam.googleapis.com",
    "logging.googleapis.com",
    "monitoring.googleapis.com",
    "pubsub.googleapis.com",
    "run.googleapis.com",
    "secretmanager.googleapis.com",
    "storage.googleapis.com",
  ])
  ranking = toset(var.rag_ranker == null ? [] : ["discoveryengine.googleapis.com"]) # where the ranking service is
  # Service agents of Google's are named by it.
  project_number = data.google_project.this.number

  labels = { app = "threadwise", environment = var.name_prefix == "" ? "main" : var.name_prefix }
}

data "google_project" "this" {}

resource "google_project_service" "this" {
  for_each = setunion(local.services, local.add_ons, local.ranking)

  service            = each.key
  disable_on_destroy = false # others in the project may use it
}

# Pub/Sub's own identity comes into being with its first use, which is too late to grant it anything.
resource "google_project_service_identity" "pubsub" {
  provider = google-beta

  service    = "pubsub.googleapis.com"
  depends_on = [google_project_service.this]
}

module "step" {
  source   = "./modules/step"
  for_each = local.steps

  name            = local.functions[each.key]
  push_account    = "${local.prefix}push-${each.key}"
  project_id      = var.project_id
  region          = var.region
  labels          = local.labels
  entry_point     = each.value.entry_point
  source_bucket   = google_storage_bucket.source.name
  source_object   = google_storage_bucket_object.source[each.value.folder].name
  repository      = google_artifact_registry_repository.images.id
  build_account   = google_service_account.build.id
  timeout         = each.value.seconds.function
  memory          = each.value.memory
  concurrency     = each.value.concurrency
  min_instances   = var.min_instances
  max_instances   = each.value.max_instances
  environment     = local.environments[each.key]
  secrets         = contains(each.value.calls, "gemini") && var.gemini_api_key_secret != null ? { GEMINI_API_KEY = var.gemini_api_key_secret } : {}
  url             = local.urls[each.key]
  verifies_itself = each.value.takes == local.chat_events
  internal        = each.value.takes == local.chat_events && var.chat_connection == "pubsub"

  subscription = {
    name         = local.subscriptions[each.key]
    topic        = google_pubsub_topic.this[each.value.takes].id
    ack_deadline = each.value.seconds.ack
    wrapped      = each.value.takes == local.chat_events # Chat's own messages are no CloudEvents
    # Made of the name, which is known before anything is there, so that a plan shows what follows from it.
    dead_letter_topic = each.value.takes == local.dead_letters ? null : "projects/${var.project_id}/topics/${google_pubsub_topic.this[local.dead_letters].name}"
    delivery_attempts = local.pipeline.delivery_attempts
  }
  pubsub_agent = google_project_service_identity.pubsub.member

  publishes_to = merge(
    each.value.gives == null ? {} : { next = google_pubsub_topic.this[each.value.gives].name },
    # tell acknowledges what it has kept; it never sends a dead letter on.
    each.value.takes == local.dead_letters ? {} : { dead_letters = google_pubsub_topic.this[local.dead_letters].name },
  )
  roles = merge(
    {
      firestore = {
        project   = var.project_id
        role      = "roles/datastore.user"
        condition = local.this_database
      }
    },
    contains(each.value.calls, "gemini") && var.gemini_api_key_secret == null ? {
      gemini = {
        project   = var.project_id
        role      = google_project_iam_custom_role.gemini.id
        condition = null
      }
    } : {},
    contains(each.value.calls, "rag") ? {
      rag = {
        project   = split("/", local.rag_corpus)[1]
        role      = "roles/aiplatform.user"
        condition = null
      }
    } : {},
  )

  depends_on = [
    google_project_service.this,
    google_firestore_database.this,
    google_project_iam_member.build,
    google_artifact_registry_repository_iam_member.build,
    google_storage_bucket_iam_member.build,
  ]
}

# Sets right what nobody works on any more (answer_fn/sweep.py). A call that fails is not tried again: the next one
# does its work.
resource "google_cloud_scheduler_job" "sweep" {
  name             = "${local.prefix}threadwise-sweep"
  description      = "Sets right what nobody works on any more."
  region           = var.region
  schedule         = "*/${local.pipeline.sweep.minutes} * * * *"
  attempt_deadline = "${local.teller.seconds.function}s"

  http_target {
    http_method = "POST"
    uri         = "${module.step[local.teller.name].uri}${local.pipeline.sweep.path}"
    # The identity that may call the function already, for its subscription.
    oidc_token {
      service_account_email = local.push_identities[local.teller.name]
      audience              = module.step[local.teller.name].uri
    }
  }

  retry_config {
    retry_count = 0
  }

  depends_on = [google_project_service.this, module.step]
}

# Asking a model, and nothing else of Agent Platform.
resource "google_project_iam_custom_role" "gemini" {
  role_id     = "${replace(local.prefix, "-", "_")}threadwise_gemini"
  title       = "threadwise: ask Gemini"
  description = "Asks Gemini models; sees and changes nothing else."
  permissions = ["aiplatform.endpoints.predict"]

  depends_on = [google_project_service.this]
}

check "corpus" {
  assert {
    condition     = var.rag_corpus != null
    error_message = "No corpus is set yet, so every question will end as an apology. Make and fill one with `python -m ops knowledge`, then set rag_corpus."
  }
}
