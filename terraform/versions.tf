terraform {
  required_version = ">= 1.9, < 2"

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.20, < 8"
    }
    # For one resource that google lacks. It makes service agents exist before they are granted roles.
    google-beta = {
      source  = "hashicorp/google-beta"
      version = ">= 6.20, < 8"
    }
    archive = {
      source  = "hashicorp/archive"
      version = ">= 2.4, < 3"
    }
  }

  # The state is a file in this folder. To share it, make a bucket with versioning, uncomment these lines, and run
  # `terraform init -migrate-state`. Use one prefix for each environment.
  #
  # backend "gcs" {
  #   bucket = "my-project-terraform-state"
  #   prefix = "threadwise/production"
  # }
}

provider "google" {
  project = var.project_id
  region  = var.region
}

provider "google-beta" {
  project = var.project_id
  region  = var.region
}
