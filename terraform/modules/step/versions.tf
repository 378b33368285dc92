terraform {
  required_providers {
    google = {
      source  = "hashicorp/google"
      version = ">= 6.20, < 8"
    }
  }
}
