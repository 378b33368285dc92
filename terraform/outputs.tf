output "urls" {
  description = "Where each function is called; all but ingest answer to their subscription alone."
  value       = local.urls
}
