resource "google_pubsub_topic" "this" {
  for_each = local.topics

  name   = each.value
  labels = local.labels

  depends_on = [google_project_service.this]
}

# Pub/Sub needs this right, and the right to read the source subscription (in module.step), to dead-letter a message.
resource "google_pubsub_topic_iam_member" "dead_lettering" {
  topic  = google_pubsub_topic.this[local.dead_letters].name
  role   = "roles/pubsub.publisher"
  member = google_project_service_identity.pubsub.member
}

# A copy of all dead letters. Operators read it only if the cases in Firestore are lost. 31 days is the longest time
# that Pub/Sub can keep a message.
resource "google_pubsub_subscription" "backup" {
  name                       = "${local.prefix}${local.pipeline.dead_letters_backup}"
  topic                      = google_pubsub_topic.this[local.dead_letters].id
  labels                     = local.labels
  ack_deadline_seconds       = 60
  message_retention_duration = "2678400s" # 31 days

  expiration_policy {
    ttl = "" # never
  }
}

# --- Chat's events over Pub/Sub. Only Chat may publish to the topic, which proves who sent an event.

locals {
  add_ons = toset(var.chat_app == "add_on" ? ["gsuiteaddons.googleapis.com"] : [])
  # A publisher on this topic can ask questions in anybody's name. So only Chat's own account for this kind of app
  # may publish.
  chat_publishers = {
    for app, account in { classic = "chat-api-push@system.gserviceaccount.com", add_on = local.add_ons_agent } :
    app => "serviceAccount:${account}" if var.chat_connection == "pubsub" && app == var.chat_app
  }
}

resource "google_project_service_identity" "add_ons" {
  provider = google-beta
  for_each = local.add_ons

  service    = each.key
  depends_on = [google_project_service.this]
}

resource "google_pubsub_topic_iam_member" "chat" {
  for_each = local.chat_publishers

  topic  = google_pubsub_topic.this[local.chat_events].name
  role   = "roles/pubsub.publisher"
  member = each.value

  depends_on = [google_project_service_identity.add_ons]
}
