# The pipeline in Google Cloud: the table of shared/pipeline.json, and what each function is told. It refers to
# variables and to the project's number alone, so that tests/terraform/ can evaluate it without a cloud.

locals {
  prefix = var.name_prefix == "" ? "" : "${var.name_prefix}-"
  # Where the functions' sources are.
  repository = "${path.root}/.."

  # The code reads the same file; shared/pipeline.py explains it.
  pipeline = jsondecode(file("${local.repository}/shared/pipeline.json"))

  dead_letters = local.pipeline.dead_letters
  # Where Chat publishes its events when chat_connection is pubsub. It is there either way: an event that became a
  # dead letter is replayed to it.
  chat_events = local.pipeline.chat_events

  # Who takes the dead letters.
  teller = one([for row in local.pipeline.steps : row if row.takes == local.dead_letters])

  # One entry a function. Each step gives to the topic that the next one takes; the last one gives to none, and
  # who takes the dead letters is not on the way.
  way   = [for row in local.pipeline.steps : row.takes if row.takes != local.dead_letters]
  gives = zipmap(local.way, concat(slice(local.way, 1, length(local.way)), [null]))
  steps = {
    for row in local.pipeline.steps : row.name => merge(row, {
      gives       = lookup(local.gives, row.takes, null)
      environment = try(local.own_settings[row.name], {})
    })
  }

  # The settings that are one function's own.
  own_settings = {
    ingest = merge(
      {
        CHAT_AUDIENCE = var.chat_audience == "project_number" ? local.project_number : local.door
        # Whom Google signs for; nobody where Chat itself signs for the number, or publishes to a topic.
        CHAT_EMAIL           = var.chat_audience == "project_number" || var.chat_connection == "pubsub" ? "" : local.chat_signers[var.chat_app]
        PUSH_EMAIL           = local.push_identities.ingest
        PUSH_AUDIENCE        = local.door
        COMMANDS             = jsonencode(var.chat_commands)
        LONGEST_QUESTION     = tostring(var.longest_question)
        QUESTIONS_PER_MINUTE = tostring(var.questions_per_minute)
      },
      length(var.allowed_domains) == 0 ? {} : { ALLOWED_DOMAINS = join(",", var.allowed_domains) },
      length(var.allowed_spaces) == 0 ? {} : { ALLOWED_SPACES = join(",", var.allowed_spaces) },
      local.spoken,
    )
    reformulate = {
      REWRITE_MODEL    = var.rewrite_model
      UTC_OFFSET_HOURS = tostring(var.utc_offset_hours)
    }
    retrieve = merge(
      {
        RAG_CORPUS     = local.rag_corpus
        SPACE_CORPORA  = jsonencode(var.space_corpora)
        RAG_TOP_K      = tostring(var.rag_top_k)
        SEARCH_KIND    = var.search_kind
        SEARCH_FUSION  = tostring(var.search_fusion)
        CONTEXT_TOKENS = tostring(var.context_tokens)
        SOURCE_LINKS   = jsonencode(var.source_links)
      },
      var.rag_ranker == null ? {} : { RAG_RANKER = var.rag_ranker },
      var.rag_distance_threshold == null ? {} : { RAG_DISTANCE_THRESHOLD = tostring(var.rag_distance_threshold) },
    )
    answer = merge({ ANSWER_MODEL = var.answer_model }, local.human_contact, local.spoken)
    tell   = merge(local.human_contact, local.spoken)
  }

  # The names in Google Cloud, with the environment's prefix. A function cannot refer to its own URL, so it
  # is made here, once, for environment, audience and output. (Not from the table, which refers to them.)
  step_names      = toset([for row in local.pipeline.steps : row.name])
  functions       = { for step in local.step_names : step => "${local.prefix}threadwise-${step}" }
  urls            = { for step, name in local.functions : step => "https://${var.region}-${var.project_id}.cloudfunctions.net/${name}" }
  push_identities = { for step in local.step_names : step => "${local.prefix}push-${step}@${var.project_id}.iam.gserviceaccount.com" }
  # The URL that Chat calls: of the function that takes its events.
  door = local.urls[one([for row in local.pipeline.steps : row.name if row.takes == local.chat_events])]

  topics        = { for row in local.pipeline.steps : row.takes => "${local.prefix}${row.takes}" }
  subscriptions = { for step, it in local.steps : step => "${local.prefix}${it.takes}-push" }

  # What Chat signs its calls with, by how the Chat app is built; the second is Google's agent in this project.
  add_ons_agent = "service-${local.project_number}@gcp-sa-gsuiteaddons.iam.gserviceaccount.com"
  chat_signers  = { classic = "chat@system.gserviceaccount.com", add_on = local.add_ons_agent }

  # Left out where they are not set, so that the functions' own defaults hold.
  human_contact = var.human_contact == null ? {} : { HUMAN_CONTACT = var.human_contact }
  spoken        = length(var.languages) == 0 ? {} : { LANGUAGES = join(",", var.languages) }

  # A corpus that is not there: retrieve_fn starts, and a question becomes a dead letter that can be replayed.
  rag_corpus = coalesce(var.rag_corpus, "projects/${var.project_id}/locations/${var.region}/ragCorpora/not-set-yet")

  # Every collection that has documents which expire: Firestore deletes them by this field.
  expiry_field         = "expired_at"
  expiring_collections = ["chat_threads", "questions", "failures", "dead_letters", "feedback", "forgotten", "space_slots", "askers"]

  # What each function is told. THREADS is functions-framework's: as many as Cloud Run sends at once.
  environments = {
    for step, it in local.steps : step => merge(
      {
        GOOGLE_CLOUD_PROJECT   = var.project_id
        FIRESTORE_DATABASE     = var.firestore_database
        DEAD_LETTER_TOPIC      = local.topics[local.dead_letters]
        HISTORY_HOURS          = tostring(var.history_hours)
        CHAT_WRITES_PER_SECOND = tostring(var.chat_writes_per_second)
        LOG_CONTENT            = tostring(var.log_content)
        STEP_SECONDS           = tostring(it.seconds.step)
        THREADS                = tostring(it.concurrency)
      },
      it.gives == null ? {} : { PUBLISHES_TO = local.topics[it.gives] },
      contains(it.calls, "gemini") && var.gemini_api_key_secret == null ? {
        GOOGLE_GENAI_USE_ENTERPRISE = "true"
        GOOGLE_CLOUD_LOCATION       = var.model_location
      } : {},
      it.environment,
    )
  }

  # What is in each function's zip: main.py and requirements.txt at the root, beside the function's package
  # and shared/. A pattern, so that caches and editors' files never get in.
  packaged = "**/*.{py,toml,json}"
  sources = {
    for function in toset([for it in local.steps : it.folder]) : function => merge(
      {
        "main.py"          = "${function}/main.py"
        "requirements.txt" = "${function}/requirements.txt"
      },
      {
        for file in concat(
          [for name in fileset("${local.repository}/${function}", local.packaged) : "${function}/${name}"],
          [for name in fileset("${local.repository}/shared", local.packaged) : "shared/${name}"],
        ) : file => file if file != "${function}/main.py" && !can(regex("/[.]", file))
      },
    )
  }
}
