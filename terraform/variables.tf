variable "project_id" {
  description = "Id of the Google Cloud project; it is also the project of the Chat app."
  type        = string

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id))
    error_message = "project_id must be a project's id (not its name or number), such as my-project-123."
  }
}

variable "name_prefix" {
  description = "Put before every name, so that two environments fit into one project; empty for the only one. Each needs its own firestore_database, too."
  type        = string
  default     = ""

  validation {
    # The longest account id is PREFIX-threadwise-reformulate, and 30 characters are the most.
    condition     = can(regex("^([a-z][a-z0-9]{0,6})?$", var.name_prefix))
    error_message = "name_prefix must be empty, or up to 7 lower-case letters and digits, a letter first, such as staging."
  }
}

# --- where

variable "region" {
  description = "Region of the functions, their sources and their images."
  type        = string
  default     = "asia-northeast1"

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]+$", var.region))
    error_message = "region must be a region, such as asia-northeast1."
  }
}

variable "firestore_location" {
  description = "Location of the Firestore database; it cannot be changed later (docs/deploy.md tells how to move)."
  type        = string
  default     = "asia-northeast1"

  validation {
    condition     = can(regex("^([a-z]+-[a-z]+[0-9]+|nam[0-9]+|eur[0-9]+)$", var.firestore_location))
    error_message = "firestore_location must be a region or a multi-region, such as asia-northeast1, eur3 or nam5."
  }
}

variable "firestore_database" {
  description = "Id of the Firestore database. Google's free quota is for one database of a project."
  type        = string
  default     = "(default)"

  validation {
    condition     = var.firestore_database == "(default)" || can(regex("^[a-z][a-z0-9-]{2,61}[a-z0-9]$", var.firestore_database))
    error_message = "firestore_database must be (default), or 4 to 63 of a-z 0-9 -, a letter first."
  }
}

variable "model_location" {
  description = "Location that Gemini is asked in; the newest models are offered in global first."
  type        = string
  default     = "global"

  validation {
    condition     = can(regex("^(global|us|eu|[a-z]+-[a-z]+[0-9]+)$", var.model_location))
    error_message = "model_location must be global, us, eu, or a region."
  }
}

variable "rag_corpus" {
  description = "The corpus that is searched, as `python -m ops knowledge create` prints it: projects/P/locations/L/ragCorpora/C. Its region is its own, apart from all others. Until it is set, every question ends as an apology and waits as a dead letter."
  type        = string
  default     = null

  validation {
    condition     = var.rag_corpus == null || can(regex("^projects/[a-z0-9.:-]+/locations/[a-z]+-[a-z]+[0-9]+/ragCorpora/[0-9A-Za-z_-]+$", var.rag_corpus))
    error_message = "rag_corpus must be a corpus's whole name: projects/PROJECT/locations/REGION/ragCorpora/ID."
  }
}

variable "space_corpora" {
  description = "Spaces that have a corpus of their own: { \"spaces/AAAA\" = \"projects/P/locations/L/ragCorpora/C\" }. Everywhere else rag_corpus is searched, whose project and region all of them share."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for space in keys(var.space_corpora) : can(regex("^spaces/[A-Za-z0-9_-]+$", space))])
    error_message = "A space in space_corpora is spaces/AAAA, as in the address of the space."
  }

  validation {
    condition     = alltrue([for corpus in values(var.space_corpora) : try(split("/ragCorpora/", corpus)[0] == split("/ragCorpora/", var.rag_corpus)[0] && can(regex("/ragCorpora/[0-9A-Za-z_-]+$", corpus)), false)])
    error_message = "Every corpus in space_corpora must be a whole name, of the project and the region of rag_corpus, which must be set, too."
  }
}

# --- Google Chat

variable "chat_connection" {
  description = "How Chat sends events: http (Chat calls ingest's URL) or pubsub (Chat publishes to a topic)."
  type        = string
  default     = "http"

  validation {
    condition     = contains(["http", "pubsub"], var.chat_connection)
    error_message = "chat_connection must be http or pubsub."
  }
}

variable "chat_app" {
  description = "How the Chat app is built: classic, or add_on where the box of a Google Workspace add-on stays ticked. Chat then signs and publishes as another identity, and over Pub/Sub no click on a button arrives."
  type        = string
  default     = "classic"

  validation {
    condition     = contains(["classic", "add_on"], var.chat_app)
    error_message = "chat_app must be classic or add_on."
  }
}

variable "chat_audience" {
  description = "What Chat's calls name in their tokens, as its page calls it: url (HTTP endpoint URL) or project_number. By the number, a classic app's calls prove that they are of your Chat app; an add-on has the URL alone."
  type        = string
  default     = "url"

  validation {
    condition     = var.chat_audience == "url" || (var.chat_audience == "project_number" && var.chat_app == "classic" && var.chat_connection == "http")
    error_message = "chat_audience must be url, or project_number for a classic app that is connected by http."
  }
}

variable "chat_commands" {
  description = "What the ids of the Chat app's commands mean: ask, forget or help. By default 1 to 3 are slash commands, 4 and 5 quick commands."
  type        = map(string)
  default     = { "1" = "ask", "2" = "forget", "3" = "help", "4" = "forget", "5" = "help" }

  validation {
    condition     = alltrue([for id, meaning in var.chat_commands : can(regex("^[1-9][0-9]{0,3}$", id)) && contains(["ask", "forget", "help"], meaning)])
    error_message = "chat_commands must map ids (1 to 9999) to ask, forget or help."
  }
}

variable "allowed_domains" {
  description = "Domains of the people who may use the bot, such as example.com, or Google's ids of them. Empty: whoever Chat lets in."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for domain in var.allowed_domains : can(regex("^[A-Za-z0-9.-]+$", domain))])
    error_message = "A domain has letters, digits, dots and hyphens."
  }
}

variable "allowed_spaces" {
  description = "Spaces the bot may be used in: spaces/AAAA, or all of a kind: SPACE, GROUP_CHAT, DIRECT_MESSAGE. Empty: everywhere."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for space in var.allowed_spaces : can(regex("^(spaces/[A-Za-z0-9_-]+|SPACE|GROUP_CHAT|DIRECT_MESSAGE)$", space))])
    error_message = "A space is spaces/AAAA, SPACE, GROUP_CHAT or DIRECT_MESSAGE."
  }
}

variable "longest_question" {
  description = "Characters of a question; a longer one is answered with a request to shorten it."
  type        = number
  default     = 2000

  validation {
    condition     = var.longest_question >= 1 && var.longest_question <= 32000 && floor(var.longest_question) == var.longest_question
    error_message = "longest_question must be a whole number from 1 to 32000."
  }
}

variable "questions_per_minute" {
  description = "Questions of one person a minute; what is more is answered with a request to wait."
  type        = number
  default     = 10

  validation {
    condition     = var.questions_per_minute >= 1 && floor(var.questions_per_minute) == var.questions_per_minute
    error_message = "questions_per_minute must be a whole number, at least 1."
  }
}

variable "app_name" {
  description = "The bot's name in Chat; only printed, for the page that Google offers in its console alone."
  type        = string
  default     = "threadwise"

  validation {
    condition     = length(var.app_name) > 0 && length(var.app_name) <= 25
    error_message = "app_name must have 1 to 25 characters."
  }
}

variable "chat_writes_per_second" {
  description = "Chat's quota of writes a second in one space, which all apps in the space share. Google's is 1; lower it where others write there, too."
  type        = number
  default     = 1

  validation {
    condition     = var.chat_writes_per_second > 0 && var.chat_writes_per_second <= 1000
    error_message = "chat_writes_per_second must be more than 0 and at most 1000."
  }
}

# --- how it answers

variable "languages" {
  description = "Languages the bot speaks, as the files in shared/language/catalogues are named: [\"ja\", \"en\"]. Whoever speaks none of them hears the first. Empty: all that there are, and English first."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for language in var.languages : fileexists("${local.repository}/shared/language/catalogues/${language}.toml")])
    error_message = "Each of languages must be the name of a file in shared/language/catalogues, without .toml."
  }
}

variable "human_contact" {
  description = "Whom to ask where the bot has no answer, in Markdown: an e-mail address or a link. Null: nobody is named."
  type        = string
  default     = null

  validation {
    condition     = var.human_contact == null || try(length(var.human_contact) >= 1 && length(var.human_contact) <= 300, false)
    error_message = "human_contact must be null, or have 1 to 300 characters."
  }
}

variable "rewrite_model" {
  description = "Gemini model that makes follow-ups stand alone."
  type        = string
  default     = "gemini-3.5-flash-lite"

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9.-]*$", var.rewrite_model))
    error_message = "rewrite_model must be a model's id, such as gemini-3.5-flash-lite."
  }
}

variable "answer_model" {
  description = "Gemini model that answers."
  type        = string
  default     = "gemini-3.5-flash"

  validation {
    condition     = can(regex("^[a-z0-9][a-z0-9.-]*$", var.answer_model))
    error_message = "answer_model must be a model's id, such as gemini-3.5-flash."
  }
}

variable "gemini_api_key_secret" {
  description = "Id of a Secret Manager secret of this project that holds a Gemini API key; then Gemini is asked with it. Null: as the function's own service account. The key itself never enters Terraform."
  type        = string
  default     = null

  validation {
    condition     = var.gemini_api_key_secret == null || can(regex("^[A-Za-z0-9_-]{1,255}$", var.gemini_api_key_secret))
    error_message = "gemini_api_key_secret must be a secret's id, not its value and not its whole name."
  }
}

variable "history_hours" {
  description = "How long a conversation is remembered, and a question's record is kept, in hours."
  type        = number
  default     = 24

  validation {
    condition     = var.history_hours > 0 && var.history_hours <= 8760
    error_message = "history_hours must be more than 0 and at most 8760 (a year)."
  }
}

variable "utc_offset_hours" {
  description = "How many hours the askers' clocks are ahead of UTC: it tells what they call today. Summer time is not looked up."
  type        = number
  default     = 0

  validation {
    condition     = var.utc_offset_hours >= -12 && var.utc_offset_hours <= 14
    error_message = "utc_offset_hours must be from -12 to 14."
  }
}

variable "search_kind" {
  description = "What the corpus is searched by: dense (embeddings, as RAG Engine's own database), lexical (words) or hybrid. It decides whether keywords are searched for."
  type        = string
  default     = "dense"

  validation {
    condition     = contains(["dense", "hybrid", "lexical"], var.search_kind)
    error_message = "search_kind must be dense, hybrid or lexical."
  }
}

variable "search_fusion" {
  description = "Search for a follow-up in two ways at once and fuse what they find; docs/quality.md says where that gains. It doubles the searches for follow-ups."
  type        = bool
  default     = false
}

variable "rag_ranker" {
  description = "Model of Google's ranking service that puts the passages in order; null: by distance. Its API is enabled, and priced by itself."
  type        = string
  default     = null

  validation {
    condition     = var.rag_ranker == null || can(regex("^semantic-ranker-[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+$", var.rag_ranker))
    error_message = "rag_ranker must be null or a ranking model with its version, such as semantic-ranker-default@latest."
  }
}

variable "context_tokens" {
  description = "At most so many tokens of passages go into the prompt of an answer, by an estimate on the safe side."
  type        = number
  default     = 8000

  validation {
    condition     = var.context_tokens >= 500 && var.context_tokens <= 200000 && floor(var.context_tokens) == var.context_tokens
    error_message = "context_tokens must be a whole number from 500 to 200000."
  }
}

variable "rag_top_k" {
  description = "How many passages are fetched for a question."
  type        = number
  default     = 6

  validation {
    condition     = var.rag_top_k >= 1 && var.rag_top_k <= 50 && floor(var.rag_top_k) == var.rag_top_k
    error_message = "rag_top_k must be a whole number from 1 to 50."
  }
}

variable "rag_distance_threshold" {
  description = "Passages farther away than this are left out; null leaves none out. Smaller is nearer."
  type        = number
  default     = null

  validation {
    condition     = var.rag_distance_threshold == null || try(var.rag_distance_threshold > 0, false)
    error_message = "rag_distance_threshold must be null or more than 0."
  }
}

variable "source_links" {
  description = "What people may open in place of a source's address: prefix of its URI → prefix of its link, { \"gs://kb/\" = \"https://wiki.example/\" }."
  type        = map(string)
  default     = {}

  validation {
    condition     = alltrue([for link in values(var.source_links) : can(regex("^https?://", link))])
    error_message = "Every link in source_links must begin with http:// or https://."
  }
}

# --- how much of it runs

variable "min_instances" {
  description = "Instances of each function that stay up while nobody asks. 0: the first question after a pause waits for cold starts; 1: it does not, and it costs something around the clock."
  type        = number
  default     = 0

  validation {
    condition     = var.min_instances >= 0 && var.min_instances <= 10 && floor(var.min_instances) == var.min_instances
    error_message = "min_instances must be a whole number from 0 to 10."
  }
}

# --- watching

variable "log_content" {
  description = "Write what is asked and answered into the logs, for a test environment. Whoever may read the logs may then read the conversations, and what the bot is told to forget stays there."
  type        = bool
  default     = false
}

variable "notification_channels" {
  description = "Where alerts go: names of Cloud Monitoring notification channels. Without one, alerts are only seen in the console."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for name in var.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", name))])
    error_message = "Each channel must be projects/PROJECT/notificationChannels/NUMBER."
  }
}

variable "alert_thresholds" {
  description = "From where on somebody is told: age of the oldest unacknowledged message of a step (seconds), share of a function's requests that fail (0 to 1), 95th percentile of the time from question to answer (seconds)."
  type = object({
    oldest_message_seconds = optional(number, 300)
    error_rate             = optional(number, 0.05)
    answer_seconds         = optional(number, 30)
  })
  default = {}

  validation {
    condition     = alltrue([for threshold in values(var.alert_thresholds) : threshold > 0]) && var.alert_thresholds.error_rate <= 1
    error_message = "Every threshold must be more than 0, and error_rate at most 1."
  }
}

variable "quiet_minutes" {
  description = "Alert when no question was answered for this many minutes. Null, the default, where nobody need be asking (nights, test environments)."
  type        = number
  default     = null

  validation {
    condition     = var.quiet_minutes == null || try(var.quiet_minutes >= 10 && var.quiet_minutes <= 1380, false)
    error_message = "quiet_minutes must be null, or from 10 to 1380 (23 hours)."
  }
}

# --- the end

variable "delete_data" {
  description = "Let `terraform destroy` delete the Firestore database; `make destroy DATA=delete` sets it. Otherwise the database is protected and outlives everything."
  type        = bool
  default     = false
}
