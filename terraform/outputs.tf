locals {
  # A slash command takes words; the second command of the same meaning is a quick one, which is clicked.
  command_kinds = {
    for id, meaning in var.chat_commands :
    id => id == [for other, same in var.chat_commands : other if same == meaning][0] ? "slash command /${meaning}" : "quick command ${title(meaning)}"
  }
  command_texts = { ask = "Ask a question", forget = "Forget this conversation", help = "What I can do" }
}

output "chat_configuration" {
  description = "Every value of the page that Google offers in its console alone: Google Chat API → Configuration."
  value = merge(
    {
      "01. Page"                                             = "https://console.cloud.google.com/apis/api/chat.googleapis.com/hangouts-chat?project=${var.project_id}"
      "02. Build this Chat app as a Google Workspace add-on" = var.chat_app == "add_on" ? "ticked" : "cleared (confirm with Disable)"
      "03. App name"                                         = var.app_name
      "04. Avatar URL"                                       = "https://developers.google.com/chat/images/quickstart-app-avatar.png"
      "05. Description"                                      = "Answers from our knowledge base"
      "06. Interactive features"                             = "on"
      "07. Functionality"                                    = "Join spaces and group conversations"
      "11. Visibility"                                       = "the people or groups of your domain that may ask"
      "12. Log errors to Logging"                            = "on"
    },
    var.chat_connection == "pubsub" ? {
      "08. Connection settings"       = "Cloud Pub/Sub"
      "09a. Cloud Pub/Sub topic name" = "projects/${var.project_id}/topics/${local.topics[local.chat_events]}"
      } : {
      "08. Connection settings" = "HTTP endpoint URL; use a common one for all triggers"
      "09a. HTTP endpoint URL"  = local.door
    },
    # An add-on's audience is always the URL, and the page shows who signs instead of asking.
    var.chat_app == "add_on" ? {
      "09b. Service account email" = "shown by the page; it must be ${local.add_ons_agent}"
    } : {},
    var.chat_app == "classic" && var.chat_connection == "http" ? { "09b. Authentication audience" = var.chat_audience == "url" ? "HTTP endpoint URL" : "Project number" } : {},
    { for id, meaning in var.chat_commands : "10. Command ${id}" => "${local.command_kinds[id]}: ${local.command_texts[meaning]}" },
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
