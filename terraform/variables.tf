variable "project_id" {
  description = "Id of the Google Cloud project. The Chat app belongs to the same project."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id))
    error_message = "project_id must be the id of a project (not its name or number), such as my-project-123."
  }
}

variable "name_prefix" {
  description = "Prefix of all resource names. It lets two environments share one project; leave it empty if there is only one. Each environment also needs its own firestore_database."
  type        = string
  default     = ""

  validation {
    # An account id may have 30 characters, and PREFIX-threadwise-reformulate is the longest one.
    condition     = can(regex("^([a-z][a-z0-9]{0,6})?$", var.name_prefix))
    error_message = "name_prefix must be empty, or have 1 to 7 lower-case letters and digits and begin with a letter, such as staging."
  }
}

# --- where

variable "region" {
  description = "Region of the functions, their source code and their images."
  type        = string
  default     = "asia-northeast1"

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region must be a region, such as asia-northeast1."
  }
}

variable "firestore_location" {
  description = "Location of the Firestore database. It cannot be changed later; docs/deploy.md explains how to move."
  type        = string
  default     = "asia-northeast1"

  validation {
    condition     = can(regex("^([a-z]+-[a-z]+[0-9]+|nam[0-9]+|eur[0-9]+)$", var.firestore_location))
    error_message = "firestore_location must be a region or a multi-region, such as asia-northeast1, eur3 or nam5."
  }
}

variable "firestore_database" {
  description = "Id of the Firestore database. Google's free quota covers one database per project."
  type        = string
  default     = "(default)"

  validation {
    condition     = var.firestore_database == "(default)" || can(regex("^[a-z][a-z0-9-]{2,61}[a-z0-9]$", var.firestore_database))
    error_message = "firestore_database must be (default), or have 4 to 63 characters of a-z, 0-9 and hyphen and begin with a letter."
  }
}

variable "model_location" {
  description = "Location of the Gemini models. Google offers new models in global first."
  type        = string
  default     = "global"

  validation {
    condition     = can(regex("^(global|us|eu|[a-z]+-[a-z]+[0-9]+)$", var.model_location))
    error_message = "model_location must be global, us, eu, or a region."
  }
}

variable "rag_corpus" {
  description = "The corpus to search: projects/P/locations/L/ragCorpora/C, as `python -m ops knowledge create` prints it. Its region may differ from all other regions here. Until you set it, the bot apologises for every question and keeps it as a dead letter."
  type        = string
  default     = null

  validation {
    condition     = var.rag_corpus == null || can(regex("^projects/[a-z0-9.:-]+/locations/[a-z]+-[a-z]+[0-9]+/ragCorpora/[0-9A-Za-z_-]+$", var.rag_corpus))
    error_message = "rag_corpus must be the full name of a corpus: projects/PROJECT/locations/REGION/ragCorpora/ID."
  }
}

variable "space_corpora" {
  description = "Spaces with their own corpus: { \"spaces/AAAA\" = \"projects/P/locations/L/ragCorpora/C\" }. All other spaces search rag_corpus. These corpora must be in the project and region of rag_corpus."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for space in keys(var.space_corpora) : can(regex("^spaces/[A-Za-z0-9_-]+$", space))])
    error_message = "Each space in space_corpora must look like spaces/AAAA. The address of the space shows its id."
  }

  validation {
    condition     = alltrue([for corpus in values(var.space_corpora) : try(split("/ragCorpora/", corpus)[0] == split("/ragCorpora/", var.rag_corpus)[0] && can(regex("/ragCorpora/[0-9A-Za-z_-]+$", corpus)), false)])
    error_message = "Each corpus in space_corpora must be a full name in the project and region of rag_corpus. rag_corpus must be set, too."
  }
}

# --- Google Chat

variable "chat_connection" {
  description = "How Chat sends events: http (Chat calls the URL of ingest) or pubsub (Chat publishes to a topic)."
  type        = string
  default     = "http"

  validation {
    condition     = contains(["http", "pubsub"], var.chat_connection)
    error_message = "chat_connection must be http or pubsub."
  }
}

variable "chat_app" {
  description = "How the Chat app is built: classic, or add_on if the box for a Google Workspace add-on stays ticked. For an add-on, Chat signs and publishes as another identity, and does not send clicks on buttons over Pub/Sub."
  type        = string
  default     = "classic"

  validation {
    condition     = contains(["classic", "add_on"], var.chat_app)
    error_message = "chat_app must be classic or add_on."
  }
}

variable "chat_audience" {
  description = "Audience of the tokens that Chat sends: url (HTTP endpoint URL on Chat's configuration page) or project_number. With project_number, the token proves that the call comes from your own Chat app; only a classic app can use it."
  type        = string
  default     = "url"

  validation {
    condition     = var.chat_audience == "url" || (var.chat_audience == "project_number" && var.chat_app == "classic" && var.chat_connection == "http")
    error_message = "chat_audience must be url. Only a classic app with chat_connection = http may use project_number."
  }
}

variable "chat_commands" {
  description = "Meaning of each command id of the Chat app: ask, forget or help. By default, 1 to 3 are slash commands, and 4 and 5 are quick commands."
  type        = map(string)
  default     = { "1" = "ask", "2" = "forget", "3" = "help", "4" = "forget", "5" = "help" }

  validation {
    condition     = alltrue([for id, meaning in var.chat_commands : can(regex("^[1-9][0-9]{0,3}$", id)) && contains(["ask", "forget", "help"], meaning)])
    error_message = "chat_commands must map ids (1 to 9999) to ask, forget or help."
  }
}

variable "allowed_domains" {
  description = "Domains whose members may use the bot: names such as example.com, or Google's ids of domains. Empty: everybody whom Chat lets in."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for domain in var.allowed_domains : can(regex("^[A-Za-z0-9.-]+$", domain))])
    error_message = "A domain may have only letters, digits, dots and hyphens."
  }
}

variable "allowed_spaces" {
  description = "Spaces where people may use the bot. Each entry is one space (spaces/AAAA) or a type of space (SPACE, GROUP_CHAT, DIRECT_MESSAGE). Empty: everywhere."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for space in var.allowed_spaces : can(regex("^(spaces/[A-Za-z0-9_-]+|SPACE|GROUP_CHAT|DIRECT_MESSAGE)$", space))])
    error_message = "Each entry must be spaces/AAAA, SPACE, GROUP_CHAT or DIRECT_MESSAGE."
  }
}

variable "longest_question" {
  description = "Maximum length of a question, in characters. The bot asks people to shorten a longer one."
  type        = number
  default     = 2000

  validation {
    condition     = var.longest_question >= 1 && var.longest_question <= 32000 && floor(var.longest_question) == var.longest_question
    error_message = "longest_question must be a whole number from 1 to 32000."
  }
}

variable "questions_per_minute" {
  description = "Maximum number of questions per person and minute. After that, the bot asks the person to wait."
  type        = number
  default     = 10

  validation {
    condition     = var.questions_per_minute >= 1 && floor(var.questions_per_minute) == var.questions_per_minute
    error_message = "questions_per_minute must be a whole number, at least 1."
  }
}

variable "app_name" {
  description = "The bot's name in Chat. Terraform only prints it, because Chat can only be configured in Google's console."
  type        = string
  default     = "threadwise"

  validation {
    condition     = length(var.app_name) > 0 && length(var.app_name) <= 25
    error_message = "app_name must have 1 to 25 characters."
  }
}

variable "chat_writes_per_second" {
  description = "Maximum writes per second in one space. Google's quota is 1, and all apps in a space share it. Choose less if other apps write in the same spaces."
  type        = number
  default     = 1

  validation {
    condition     = var.chat_writes_per_second > 0 && var.chat_writes_per_second <= 1000
    error_message = "chat_writes_per_second must be more than 0 and at most 1000."
  }
}

# --- how it answers

variable "languages" {
  description = "Languages that the bot speaks, by their file names in shared/language/catalogues: [\"ja\", \"en\"]. The bot uses the first one for people who write in another language. Empty: all languages, with English first."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for language in var.languages : fileexists("${local.repository}/shared/language/catalogues/${language}.toml")])
    error_message = "Each language must be the name of a file in shared/language/catalogues, without .toml."
  }
}

variable "human_contact" {
  description = "Whom people can ask when the bot has no answer: an e-mail address or a link, in Markdown. Null: the bot names nobody."
  type        = string
  default     = null

  validation {
    condition     = var.human_contact == null || try(length(var.human_contact) >= 1 && length(var.human_contact) <= 300, false)
    error_message = "human_contact must be null, or have 1 to 300 characters."
  }
}

variable "rewrite_model" {
  description = "Gemini model that rewrites follow-up questions so that they stand alone."
  type        = string
  default     = "gemini-3.5-flash-lite"

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9.-]*$", var.rewrite_model))
    error_message = "rewrite_model must be the id of a model, such as gemini-3.5-flash-lite."
  }
}

variable "answer_model" {
  description = "Gemini model that writes the answers."
  type        = string
  default     = "gemini-3.5-flash"

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9.-]*$", var.answer_model))
    error_message = "answer_model must be the id of a model, such as gemini-3.5-flash."
  }
}

variable "gemini_api_key_secret" {
  description = "Id of a Secret Manager secret in this project that holds a Gemini API key. The functions then call Gemini with this key. Null: they use their own service accounts. Terraform never reads the key itself."
  type        = string
  default     = null

  validation {
    condition     = var.gemini_api_key_secret == null || can(regex("^[A-Za-z0-9_-]{1,255}$", var.gemini_api_key_secret))
    error_message = "gemini_api_key_secret must be the id of a secret, not its value and not its full name."
  }
}

variable "history_hours" {
  description = "How many hours the bot remembers a conversation and keeps the record of a question."
  type        = number
  default     = 24

  validation {
    condition     = var.history_hours > 0 && var.history_hours <= 8760
    error_message = "history_hours must be more than 0 and at most 8760 (a year)."
  }
}

variable "utc_offset_hours" {
  description = "How many hours the users' clocks are ahead of UTC. It decides which date is today for them. It does not follow summer time."
  type        = number
  default     = 0

  validation {
    condition     = var.utc_offset_hours >= -12 && var.utc_offset_hours <= 14
    error_message = "utc_offset_hours must be from -12 to 14."
  }
}

variable "search_kind" {
  description = "How the corpus is searched: dense (by embeddings, as RAG Engine's own database does), lexical (by words) or hybrid. It decides whether the query has keywords."
  type        = string
  default     = "dense"

  validation {
    condition     = contains(["dense", "hybrid", "lexical"], var.search_kind)
    error_message = "search_kind must be dense, hybrid or lexical."
  }
}

variable "search_fusion" {
  description = "Search for each follow-up with two queries and merge the results. This doubles the searches for follow-ups; docs/quality.md shows where it helps."
  type        = bool
  default     = false
}

variable "rag_ranker" {
  description = "Model of Google's ranking service that orders the passages. Terraform then enables its API, which costs extra. Null: passages are ordered by distance."
  type        = string
  default     = null

  validation {
    condition     = var.rag_ranker == null || can(regex("^semantic-ranker-[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+$", var.rag_ranker))
    error_message = "rag_ranker must be null or a ranking model with its version, such as semantic-ranker-default@latest."
  }
}

variable "context_tokens" {
  description = "Maximum tokens of passages in the prompt for an answer. The count is a cautious estimate."
  type        = number
  default     = 8000

  validation {
    condition     = var.context_tokens >= 500 && var.context_tokens <= 200000 && floor(var.context_tokens) == var.context_tokens
    error_message = "context_tokens must be a whole number from 500 to 200000."
  }
}

variable "rag_top_k" {
  description = "Number of passages that are fetched for a question."
  type        = number
  default     = 6

  validation {
    condition     = var.rag_top_k >= 1 && var.rag_top_k <= 50 && floor(var.rag_top_k) == var.rag_top_k
    error_message = "rag_top_k must be a whole number from 1 to 50."
  }
}

variable "rag_distance_threshold" {
  description = "Maximum distance of a passage from the question. A smaller distance is a better match. Null: no limit."
  type        = number
  default     = null

  validation {
    condition     = var.rag_distance_threshold == null || try(var.rag_distance_threshold > 0, false)
    error_message = "rag_distance_threshold must be null or more than 0."
  }
}

variable "source_links" {
  description = "Links that people can open instead of a source's URI. Each entry maps the beginning of a URI to the beginning of a link: { \"gs://kb/\" = \"https://wiki.example/\" }."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for link in values(var.source_links) : can(regex("^https?://", link))])
    error_message = "Every link in source_links must begin with http:// or https://."
  }
}

# --- how much of it runs

variable "min_instances" {
  description = "Instances of each function that keep running while nobody asks. 0: the first question after a pause waits for the functions to start. 1: it does not wait, but you pay around the clock."
  type        = number
  default     = 0

  validation {
    condition     = var.min_instances >= 0 && var.min_instances <= 10 && floor(var.min_instances) == var.min_instances
    error_message = "min_instances must be a whole number from 0 to 10."
  }
}

# --- watching

variable "log_content" {
  description = "Write questions and answers to the logs. Use it only in a test environment: everybody who can read the logs can then read the conversations, and /forget does not delete them from the logs."
  type        = bool
  default     = false
}

variable "notification_channels" {
  description = "Cloud Monitoring notification channels that receive alerts. Empty: you see alerts only in the console."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for name in var.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", name))])
    error_message = "Each channel must be projects/PROJECT/notificationChannels/NUMBER."
  }
}

variable "alert_thresholds" {
  description = "Limits above which an alert is sent: age of a step's oldest unacknowledged message (seconds), share of a function's requests that fail (0 to 1), and 95th percentile of the time from question to answer (seconds)."
  type = object({
    oldest_message_seconds = optional(number, 300)
    error_rate             = optional(number, 0.05)
    answer_seconds         = optional(number, 30)
  })
  default = {}

  validation {
    condition     = alltrue([for threshold in values(var.alert_thresholds) : threshold > 0]) && var.alert_thresholds.error_rate <= 1
    error_message = "Each threshold must be more than 0, and error_rate must be at most 1."
  }
}

variable "quiet_minutes" {
  description = "Send an alert when the bot has answered no question for this many minutes. Null: no such alert, because it is normal that nobody asks at night or in a test environment."
  type        = number
  default     = null

  validation {
    condition     = var.quiet_minutes == null || try(var.quiet_minutes >= 10 && var.quiet_minutes <= 1380, false)
    error_message = "quiet_minutes must be null, or from 10 to 1380 (23 hours)."
  }
}

# --- the end

variable "delete_data" {
  description = "Let `terraform destroy` delete the Firestore database. `make destroy DATA=delete` sets this. Otherwise the database is protected, and stays when everything else is deleted."
  type        = bool
  default     = false
}
