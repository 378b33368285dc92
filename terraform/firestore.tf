locals {
  # The roles of one environment do not apply to the database of another.
  this_database = {
    title      = "only-this-database"
    expression = "resource.name == \"projects/${var.project_id}/databases/${var.firestore_database}\""
  }
}

resource "google_firestore_database" "this" {
  name                    = var.firestore_database
  location_id             = var.firestore_location
  type                    = "FIRESTORE_NATIVE"
  delete_protection_state = var.delete_data ? "DELETE_PROTECTION_DISABLED" : "DELETE_PROTECTION_ENABLED"
  deletion_policy         = var.delete_data ? "DELETE" : "ABANDON"

  depends_on = [google_project_service.this]
}

# Firestore deletes a document some time after the time in this field, often a day later. So readers check the
# field themselves. No query uses the field, so it has no index; an index would only be a hot spot.
resource "google_firestore_field" "expiry" {
  for_each = toset(local.expiring_collections)

  database   = google_firestore_database.this.name
  collection = each.key
  field      = local.expiry_field

  ttl_config {}
  index_config {}
}
