variable "name" {
  description = "Name of the function and id of the service account that it runs as."
  type        = string
}

variable "push_account" {
  description = "Id of the service account that Pub/Sub calls the function as."
  type        = string
}

variable "project_id" {
  description = "Project of everything here."
  type        = string
}

variable "region" {
  description = "Region of the function."
  type        = string
}

variable "labels" {
  description = "Labels of the function and its subscription."
  type        = map(string)
}

variable "entry_point" {
  description = "Function of main.py that is served."
  type        = string
}

variable "source_bucket" {
  description = "Bucket of the zip."
  type        = string
}

variable "source_object" {
  description = "Name of the zip; another name deploys the function anew."
  type        = string
}

variable "repository" {
  description = "Artifact Registry repository of the images."
  type        = string
}

variable "build_account" {
  description = "Whole name of the service account that builds the image."
  type        = string
}

variable "timeout" {
  description = "Seconds after which Cloud Run ends a request."
  type        = number
}

variable "memory" {
  description = "Memory of an instance, such as 512Mi."
  type        = string
}

variable "concurrency" {
  description = "Requests that an instance takes at once."
  type        = number
}

variable "min_instances" {
  description = "Instances that stay up."
  type        = number
}

variable "max_instances" {
  description = "Instances at most."
  type        = number
}

variable "environment" {
  description = "Environment variables of the function."
  type        = map(string)
}

variable "secrets" {
  description = "Environment variables whose values are the newest versions of these Secret Manager secrets."
  type        = map(string)
}

variable "url" {
  description = "Where the function is called; also the audience of the tokens that prove a call."
  type        = string
}

variable "verifies_itself" {
  description = "The function checks its callers' tokens itself; otherwise Cloud Run does, and lets the push identity pass alone."
  type        = bool
}

variable "internal" {
  description = "Only Google Cloud's own services reach the function, not the internet."
  type        = bool
}

variable "subscription" {
  description = "The push subscription that calls the function. ack_deadline in seconds; wrapped: messages come in Pub/Sub's JSON, otherwise as CloudEvents; dead_letter_topic null: tried for ever."
  type = object({
    name              = string
    topic             = string
    ack_deadline      = number
    wrapped           = bool
    dead_letter_topic = optional(string)
    delivery_attempts = number
  })
}

variable "pubsub_agent" {
  description = "Pub/Sub's own identity in the project, as an IAM member."
  type        = string
}

variable "publishes_to" {
  description = "Topics that the function publishes to, by any key."
  type        = map(string)
}

variable "roles" {
  description = "Project roles of the function, by any key."
  type = map(object({
    project   = string
    role      = string
    condition = optional(object({ title = string, expression = string }))
  }))
}
