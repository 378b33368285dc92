variable "name" {
  description = "Name of the function. Its service account has the same id."
  type        = string
}

variable "push_account" {
  description = "Id of the service account with which Pub/Sub calls the function."
  type        = string
}

variable "project_id" {
  description = "Project of all resources here."
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
  description = "Function in main.py that handles requests."
  type        = string
}

variable "source_bucket" {
  description = "Bucket that holds the zip of the source code."
  type        = string
}

variable "source_object" {
  description = "Name of the zip in the bucket. A new name deploys the function again."
  type        = string
}

variable "repository" {
  description = "Artifact Registry repository for the images."
  type        = string
}

variable "build_account" {
  description = "Full name of the service account that builds the image."
  type        = string
}

variable "timeout" {
  description = "Maximum duration of a request, in seconds. Cloud Run then ends it."
  type        = number
}

variable "memory" {
  description = "Memory of an instance, such as 512Mi."
  type        = string
}

variable "concurrency" {
  description = "Maximum number of requests that an instance handles at the same time."
  type        = number
}

variable "min_instances" {
  description = "Instances that keep running while nobody calls."
  type        = number
}

variable "max_instances" {
  description = "Maximum number of instances."
  type        = number
}

variable "environment" {
  description = "Environment variables of the function."
  type        = map(string)
}

variable "secrets" {
  description = "Secrets for the function: name of the environment variable → id of the Secret Manager secret. Each variable has the secret's newest version."
  type        = map(string)
}

variable "url" {
  description = "URL of the function. It is also the audience of the tokens in calls to it."
  type        = string
}

variable "verifies_itself" {
  description = "True: the function checks tokens itself. False: Cloud Run checks them, and accepts only the push identity."
  type        = bool
}

variable "internal" {
  description = "True: only Google Cloud's own services can reach the function, not the internet."
  type        = bool
}

variable "subscription" {
  description = "The push subscription that calls the function. ack_deadline: in seconds. wrapped: true sends messages in Pub/Sub's JSON, false sends them as CloudEvents. dead_letter_topic: null means that Pub/Sub sends a message until it is acknowledged."
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
  description = "Pub/Sub's own service account in the project, as an IAM member."
  type        = string
}

variable "publishes_to" {
  description = "Topics to which the function publishes. The keys are free names."
  type        = map(string)
}

variable "roles" {
  description = "Roles that the function has on projects. The keys are free names."
  type = map(object({
    project   = string
    role      = string
    condition = optional(object({ title = string, expression = string }))
  }))
}
