output "chat_configuration" {
  description = "Every value of the page that Google offers in its console alone: Google Chat API → Configuration."
  value = merge(
    {
      "01. Page"                                             = "https://console.cloud.google.com/apis/api/chat.googleapis.com/hangouts-chat?project=${var.project_id}"
      "02. Build this Chat app as a Google Workspace add-on" = "cleared (confirm with Disable)"
      "03. App name"                                         = var.app_name
      "04. Avatar URL"                                       = "https://developers.google.com/chat/images/quickstart-app-avatar.png"
      "05. Description"                                      = "Answers from our knowledge base"
      "06. Interactive features"                             = "on"
      "07. Functionality"                                    = "Join spaces and group conversations"
      "10. Visibility"                                       = "the people or groups of your domain that may ask"
      "11. Log errors to Logging"                            = "on"
    },
    var.chat_connection == "pubsub" ? {
      "08. Connection settings"      = "Cloud Pub/Sub"
      "09. Cloud Pub/Sub topic name" = "projects/${var.project_id}/topics/${local.topics[local.chat_events]}"
      } : {
      "08. Connection settings"      = "HTTP endpoint URL; use a common one for all triggers"
      "09a. HTTP endpoint URL"       = local.urls.ingest
      "09b. Authentication audience" = "HTTP endpoint URL"
    },
  )
}

output "urls" {
  description = "Where each function is called. All but ingest let their own subscription pass alone."
  value       = local.urls
}

output "operators" {
  description = "What the operators' tools need to know of this environment."
  value = {
    project    = var.project_id
    database   = google_firestore_database.this.name
    topics     = local.topics
    backup     = google_pubsub_subscription.backup.name
    rag_corpus = var.rag_corpus
    dashboard  = "https://console.cloud.google.com/monitoring/dashboards?project=${var.project_id}"
  }
}

output "service_accounts" {
  description = "Who each function runs as; docs/security.md tells what each may do."
  value       = { for step, it in module.step : step => it.service_account }
}
