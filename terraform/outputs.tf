locals {
  # People type words after a slash command, and click a quick command. Of two commands with the same meaning,
  # the first is the slash command and the second is the quick command.
  command_kinds = {
    for id, meaning in var.chat_commands :
    id => id == [for other, same in var.chat_commands : other if same == meaning][0] ? "slash command /${meaning}" : "quick command ${title(meaning)}"
  }
  command_texts = { ask = "Ask a question", forget = "Forget this conversation", help = "What I can do" }
}

output "chat_configuration" {
  description = "All values for the page Google Chat API → Configuration, which exists only in Google's console."
  value = merge(
    {
      "01. Page"                                             = "https://console.cloud.google.com/apis/api/chat.googleapis.com/hangouts-chat?project=${var.project_id}"
      "02. Build this Chat app as a Google Workspace add-on" = var.chat_app == "add_on" ? "ticked" : "cleared (confirm with Disable)"
      "03. App name"                                         = var.app_name
      "04. Avatar URL"                                       = "https://developers.google.com/chat/images/quickstart-app-avatar.png"
      "05. Description"                                      = "Answers from our knowledge base"
      "06. Interactive features"                             = "on"
      "07. Functionality"                                    = "Join spaces and group conversations"
      "11. Visibility"                                       = "the people or groups of your domain who may use the bot"
      "12. Log errors to Logging"                            = "on"
    },
    var.chat_connection == "pubsub" ? {
      "08. Connection settings"       = "Cloud Pub/Sub"
      "09a. Cloud Pub/Sub topic name" = "projects/${var.project_id}/topics/${local.topics[local.chat_events]}"
      } : {
      "08. Connection settings" = "HTTP endpoint URL; use a common one for all triggers"
      "09a. HTTP endpoint URL"  = local.door
    },
    # For an add-on, the audience is always the URL. The page shows the account that signs instead of asking for it.
    var.chat_app == "add_on" ? {
      "09b. Service account email" = "shown by the page; it must be ${local.add_ons_agent}"
    } : {},
    var.chat_app == "classic" && var.chat_connection == "http" ? { "09b. Authentication audience" = var.chat_audience == "url" ? "HTTP endpoint URL" : "Project number" } : {},
    { for id, meaning in var.chat_commands : "10. Command ${id}" => "${local.command_kinds[id]}: ${local.command_texts[meaning]}" },
  )
}

output "urls" {
  description = "URL of each function. Every function except ingest accepts calls only from its own subscription."
  value       = local.urls
}

output "operators" {
  description = "What the operators' tools need to know about this environment."
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
  description = "Service account of each function. docs/security.md lists what each may do."
  value       = { for step, it in module.step : step => it.service_account }
}
