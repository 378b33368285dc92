output "service_account" {
  description = "Service account of the function."
  value       = google_service_account.run.email
}

output "subscription" {
  description = "Name of the push subscription."
  value       = google_pubsub_subscription.push.name
}
