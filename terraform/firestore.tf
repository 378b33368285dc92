locals {
  # The roles of one environment do not reach into the other's database.
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

# Firestore deletes a document some time after this field's value has passed, often by a day; readers check
# the field themselves. Nothing is found by it, so it needs no index, which would only be a hot spot.
resource "google_firestore_field" "expiry" {
  for_each = toset(local.expiring_collections)

  database   = google_firestore_database.this.name
  collection = each.key
  field      = local.expiry_field

  ttl_config {}
  index_config {}
}
