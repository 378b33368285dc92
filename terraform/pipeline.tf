# The pipeline as one table. It refers to variables and to the project's number alone, so that tests/terraform/
# can evaluate it without a cloud, and compare it with what the functions need.

locals {
  prefix = var.name_prefix == "" ? "" : "${var.name_prefix}-"
  # Where the functions' sources are.
  repository = "${path.root}/.."

  dead_letters = "dead-letters"
  # The operators' own copy of every dead letter.
  backup = "dead-letters-backup"
  # Where Chat publishes its events when chat_connection is pubsub. It is there either way: an event that became a
  # dead letter is replayed to it.
  chat_events = "chat-events"
  # Pub/Sub's least; a permanent failure does not wait for it, the function parks the message itself.
  delivery_attempts = 5

  # One entry a function. Times are seconds, and they nest: the longest call of a step < step_seconds (the
  # work, then telling of a failure) < timeout (and Cloud Run's start before it: importing the SDKs takes some
  # seconds) < ack_deadline (Pub/Sub delivers again only after it).
  #
  # 512Mi: a process takes 90 to 150 MB with its clients made, and the framework runs two of them. One CPU is
  # the least with which an instance may take several requests at once; nearly all they do is wait for an
  # outside service, so concurrency is how many of them may wait. max_instances bounds what a flood of
  # questions can cost, and how hard it presses on Gemini's quota.
  steps = {
    ingest = {
      function     = "ingest_fn"
      entry_point  = "main"
      takes        = local.chat_events
      gives        = "questions"
      step_seconds = 25 # Chat waits 30 s for an answer
      timeout      = 30
      ack_deadline = 45
      memory       = "512Mi"
      concurrency  = 16 # every event passes here, and each takes well under a second
      max          = 10
      gemini       = false
      rag          = false
      environment = merge(
        {
          CHAT_AUDIENCE = var.chat_audience == "project_number" ? local.project_number : local.urls.ingest
          # Whom Google signs for; nobody where Chat itself signs for the number, or publishes to a topic.
          CHAT_EMAIL           = var.chat_audience == "project_number" || var.chat_connection == "pubsub" ? "" : local.chat_signers[var.chat_app]
          PUSH_EMAIL           = local.push_identities.ingest
          PUSH_AUDIENCE        = local.urls.ingest
          COMMANDS             = jsonencode(var.chat_commands)
          LONGEST_QUESTION     = tostring(var.longest_question)
          QUESTIONS_PER_MINUTE = tostring(var.questions_per_minute)
        },
        length(var.allowed_domains) == 0 ? {} : { ALLOWED_DOMAINS = join(",", var.allowed_domains) },
        length(var.allowed_spaces) == 0 ? {} : { ALLOWED_SPACES = join(",", var.allowed_spaces) },
        local.spoken,
      )
    }
    reformulate = {
      function     = "reformulate_fn"
      entry_point  = "main"
      takes        = "questions"
      gives        = "queries"
      step_seconds = 40 # rewriting is given up after 14 s, and the question is searched for as it is
      timeout      = 50
      ack_deadline = 60
      memory       = "512Mi"
      concurrency  = 16
      max          = 10
      gemini       = true
      rag          = false
      environment = {
        REWRITE_MODEL    = var.rewrite_model
        UTC_OFFSET_HOURS = tostring(var.utc_offset_hours)
      }
    }
    retrieve = {
      function     = "retrieve_fn"
      entry_point  = "main"
      takes        = "queries"
      gives        = "findings"
      step_seconds = 45 # RAG Engine answers within about a second, and a slow one is asked again
      timeout      = 55
      ack_deadline = 65
      memory       = "512Mi"
      concurrency  = 16
      max          = 10
      gemini       = false
      rag          = true
      environment = merge(
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
    }
    answer = {
      function     = "answer_fn"
      entry_point  = "main"
      takes        = "findings"
      gives        = null
      step_seconds = 120 # one attempt of the model takes up to 45 s
      timeout      = 135
      ack_deadline = 150
      memory       = "512Mi"
      concurrency  = 16
      max          = 20 # each question stays here longest
      gemini       = true
      rag          = false
      environment  = merge({ ANSWER_MODEL = var.answer_model }, local.human_contact, local.spoken)
    }
    # A second entry point of answer_fn: it takes what the steps could not go on with, and tells the asker.
    tell = {
      function     = "answer_fn"
      entry_point  = "tell"
      takes        = local.dead_letters
      gives        = null
      step_seconds = 50
      timeout      = 60
      ack_deadline = 70
      memory       = "512Mi"
      concurrency  = 8
      max          = 3 # apologies may wait; they must not crowd out answers at Chat and Firestore
      gemini       = false
      rag          = false
      environment  = merge(local.human_contact, local.spoken)
    }
  }

  # The names in Google Cloud, with the environment's prefix. A function cannot refer to its own URL, so it
  # is made here, once, for environment, audience and output. (Not from the table, which refers to them.)
  step_names      = toset(["ingest", "reformulate", "retrieve", "answer", "tell"])
  functions       = { for step in local.step_names : step => "${local.prefix}threadwise-${step}" }
  urls            = { for step, name in local.functions : step => "https://${var.region}-${var.project_id}.cloudfunctions.net/${name}" }
  push_identities = { for step in local.step_names : step => "${local.prefix}push-${step}@${var.project_id}.iam.gserviceaccount.com" }

  topics        = { for topic in [local.chat_events, "questions", "queries", "findings", local.dead_letters] : topic => "${local.prefix}${topic}" }
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
        STEP_SECONDS           = tostring(it.step_seconds)
        THREADS                = tostring(it.concurrency)
      },
      it.gives == null ? {} : { PUBLISHES_TO = local.topics[it.gives] },
      it.gemini && var.gemini_api_key_secret == null ? {
        GOOGLE_GENAI_USE_ENTERPRISE = "true"
        GOOGLE_CLOUD_LOCATION       = var.model_location
      } : {},
      it.environment,
    )
  }

  # What is in each function's zip: main.py and requirements.txt at the root, beside the function's package
  # and shared/. A pattern, so that caches and editors' files never get in.
  packaged = "**/*.{py,toml}"
  sources = {
    for function in toset([for it in local.steps : it.function]) : function => merge(
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
