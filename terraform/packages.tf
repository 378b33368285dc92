# The code of each function is packed here and uploaded under a name made from its contents. A service account of
# its own builds it.

data "archive_file" "source" {
  for_each = local.sources

  type             = "zip"
  output_path      = "${path.root}/build/${each.key}.zip"
  output_file_mode = "0644"

  dynamic "source" {
    for_each = each.value
    content {
      filename = source.key
      content  = file("${local.repository}/${source.value}")
    }
  }
}

resource "google_storage_bucket" "source" {
  name                        = "${var.project_id}-${local.prefix}threadwise-source"
  location                    = var.region
  labels                      = local.labels
  uniform_bucket_level_access = true
  public_access_prevention    = "enforced"
  force_destroy               = true # everything in it is also in the repository

  depends_on = [google_project_service.this]
}

resource "google_storage_bucket_object" "source" {
  for_each = local.sources

  bucket = google_storage_bucket.source.name
  # When the contents change, the name changes, and the function is deployed again.
  name   = "${each.key}-${data.archive_file.source[each.key].output_sha256}.zip"
  source = data.archive_file.source[each.key].output_path
}

# Every deployment adds an image.
resource "google_artifact_registry_repository" "images" {
  repository_id = "${local.prefix}threadwise"
  location      = var.region
  format        = "DOCKER"
  description   = "Images of threadwise's functions"
  labels        = local.labels

  cleanup_policy_dry_run = false
  cleanup_policies {
    id     = "keep-the-last"
    action = "KEEP"
    most_recent_versions {
      keep_count = 3
    }
  }
  cleanup_policies {
    id     = "delete-the-old"
    action = "DELETE"
    condition {
      older_than = "2592000s" # 30 days
    }
  }

  depends_on = [google_project_service.this]
}

# --- the account that builds. The default account of the project would have far too many rights.

resource "google_service_account" "build" {
  account_id   = "${local.prefix}threadwise-build"
  display_name = "threadwise: builds the functions' images"

  depends_on = [google_project_service.this]
}

resource "google_artifact_registry_repository_iam_member" "build" {
  repository = google_artifact_registry_repository.images.name
  location   = var.region
  role       = "roles/artifactregistry.writer"
  member     = google_service_account.build.member
}

resource "google_storage_bucket_iam_member" "build" {
  bucket = google_storage_bucket.source.name
  role   = "roles/storage.objectViewer"
  member = google_service_account.build.member
}

resource "google_project_iam_member" "build" {
  for_each = {
    logs = { role = "roles/logging.logWriter", condition = null }
    # Cloud Functions copies each zip into its own bucket, and the build reads it there.
    sources = {
      role = "roles/storage.objectViewer"
      condition = {
        title      = "only-sources-of-functions"
        expression = "resource.name.startsWith(\"projects/_/buckets/gcf-v2-\")"
      }
    }
  }

  project = var.project_id
  role    = each.value.role
  member  = google_service_account.build.member

  dynamic "condition" {
    for_each = each.value.condition == null ? [] : [each.value.condition]
    content {
      title      = condition.value.title
      expression = condition.value.expression
    }
  }
}
