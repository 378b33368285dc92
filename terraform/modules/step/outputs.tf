output "service_account" {
  description = "Who the function runs as."
  value       = google_service_account.run.email
}

output "subscription" {
  description = "Name of the push subscription."
  value       = google_pubsub_subscription.push.name
}

output "uri" {
  description = "The URL of the function's Cloud Run service."
  value       = google_cloudfunctions2_function.this.service_config[0].uri
}
