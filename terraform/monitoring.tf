# Metrics count and measure the functions' log lines, and alerts watch the metrics. If you rename a message or a
# field in the code, rename it here, too. tests/terraform/test_monitoring.py runs the functions and compares.

locals {
  # message: the log line that the metric reads. value: the field that it measures; null counts the lines.
  # by: the fields that become labels.
  metrics = {
    questions = {
      description = "Questions that ingest published"
      message     = "Question published"
      value       = null
      by          = []
    }
    answers = {
      description = "Finished questions by kind: answer; clarification (the bot asked back); fallback (not in the knowledge base); courtesy (reply to thanks or a greeting)"
      message     = "Posted"
      value       = null
      by          = ["kind"]
    }
    answer_seconds = {
      description = "Seconds from the question in Chat to the answer"
      message     = "Posted"
      value       = "answer_seconds"
      by          = ["kind"]
    }
    dead_letters = {
      description = "Dead letters that tell kept, including copies"
      message     = "Dead letter kept"
      value       = null
      by          = ["reason", "failed"]
    }
    step_seconds = {
      description = "Seconds that a step worked on a question"
      message     = "Step done"
      value       = "seconds"
      by          = ["step"]
    }
    input_tokens = {
      description = "Tokens that Gemini read"
      message     = "Model asked"
      value       = "input_tokens"
      by          = ["model"]
    }
    output_tokens = {
      description = "Tokens that Gemini wrote, including its thoughts"
      message     = "Model asked"
      value       = "output_tokens"
      by          = ["model"]
    }
  }
  metric_names = { for metric in keys(local.metrics) : metric => "${replace(local.prefix, "-", "_")}threadwise_${metric}" }
  # The names of the same metrics in PromQL. Distributions get _sum, _count and _bucket there.
  promql = { for metric, name in local.metric_names : metric => "logging_googleapis_com:user_${name}" }
  # A metric from logs can belong to several kinds of resources. So each query must name the kind
  # (cloud.google.com/monitoring/promql/promql-mapping).
  of_functions = "monitored_resource=\"cloud_run_revision\""

  one_of_the_functions     = "one_of(${join(",", [for name in values(local.functions) : "\"${name}\""])})"
  one_of_the_subscriptions = "one_of(${join(",", [for name in values(local.subscriptions) : "\"${name}\""])})"
}

resource "google_logging_metric" "this" {
  for_each = local.metrics

  name        = local.metric_names[each.key]
  description = each.value.description
  filter = join(" AND ", [
    "resource.type=\"cloud_run_revision\"",
    "resource.labels.service_name=(${join(" OR ", [for name in values(local.functions) : "\"${name}\""])})",
    "jsonPayload.message=\"${each.value.message}\"",
  ])

  metric_descriptor {
    metric_kind = "DELTA"
    value_type  = each.value.value == null ? "INT64" : "DISTRIBUTION"

    dynamic "labels" {
      for_each = each.value.by
      content {
        key        = labels.value
        value_type = "STRING"
      }
    }
  }
  label_extractors = { for label in each.value.by : label => "EXTRACT(jsonPayload.${label})" }
  value_extractor  = each.value.value == null ? null : "EXTRACT(jsonPayload.${each.value.value})"

  dynamic "bucket_options" {
    for_each = each.value.value[*]
    content {
      exponential_buckets { # 0.05 to about 400,000, for seconds and for tokens
        num_finite_buckets = 64
        growth_factor      = 1.28
        scale              = 0.05
      }
    }
  }

  depends_on = [google_project_service.this]
}

# --- alerts on our own metrics. They use PromQL, because Cloud Monitoring rejects other conditions on a metric
# that was made only just now.

locals {
  logged_alerts = merge(
    {
      dead_letters = {
        title = "dead letters"
        query = "sum(increase(${local.promql.dead_letters}{${local.of_functions}}[5m])) > 0"
        help  = "Questions could not be answered in the last five minutes. They are kept, and their askers were told. Look at the reasons on the dashboard, fix the cause, then replay them."
      }
      slow_answers = {
        title = "slow answers"
        query = "histogram_quantile(0.95, sum by (le) (rate(${local.promql.answer_seconds}_bucket{${local.of_functions}}[15m]))) > ${var.alert_thresholds.answer_seconds}"
        help  = "The 95th percentile of the time from question to answer is above ${var.alert_thresholds.answer_seconds} s. The dashboard shows which step is slow."
      }
    },
    var.quiet_minutes == null ? {} : {
      quiet = {
        title = "no answers"
        query = "absent_over_time(${local.promql.answers}{${local.of_functions}}[${var.quiet_minutes}m])"
        help  = "No question was answered for ${var.quiet_minutes} minutes. If questions came in, look at the oldest message of each step. If none came in, check the configuration of the Chat app."
      }
    },
  )
}

resource "google_monitoring_alert_policy" "logged" {
  for_each = local.logged_alerts

  display_name          = "${local.prefix}threadwise: ${each.value.title}"
  combiner              = "OR"
  notification_channels = var.notification_channels
  user_labels           = local.labels

  conditions {
    display_name = each.value.title
    condition_prometheus_query_language {
      query                     = each.value.query
      duration                  = "0s"
      evaluation_interval       = "60s"
      disable_metric_validation = true
    }
  }
  documentation {
    content = each.value.help
  }

  depends_on = [google_logging_metric.this]
}

# --- alerts on Google's metrics

resource "google_monitoring_alert_policy" "oldest_message" {
  display_name          = "${local.prefix}threadwise: a step is stuck"
  combiner              = "OR"
  notification_channels = var.notification_channels
  user_labels           = local.labels

  conditions {
    display_name = "oldest unacknowledged message of a step"
    condition_threshold {
      filter = join(" AND ", [
        "metric.type=\"pubsub.googleapis.com/subscription/oldest_unacked_message_age\"",
        "resource.type=\"pubsub_subscription\"",
        "resource.labels.subscription_id=${local.one_of_the_subscriptions}",
      ])
      comparison      = "COMPARISON_GT"
      threshold_value = var.alert_thresholds.oldest_message_seconds
      duration        = "0s" # the age already says how long the trouble has lasted
      aggregations {
        alignment_period   = "60s"
        per_series_aligner = "ALIGN_MAX"
      }
    }
  }
  documentation {
    content = "A message has waited longer than ${var.alert_thresholds.oldest_message_seconds} s. Look for errors in the log of the function that the subscription calls. If the subscription is dead-letters-push, fix it soon: until then, failed questions are not kept and their askers are not told."
  }

  depends_on = [google_project_service.this]
}

resource "google_monitoring_alert_policy" "errors" {
  display_name          = "${local.prefix}threadwise: a function fails"
  combiner              = "OR"
  notification_channels = var.notification_channels
  user_labels           = local.labels

  conditions {
    display_name = "share of a function's requests that fail"
    condition_threshold {
      filter = join(" AND ", [
        "metric.type=\"run.googleapis.com/request_count\"",
        "resource.type=\"cloud_run_revision\"",
        "resource.labels.service_name=${local.one_of_the_functions}",
        "metric.labels.response_code_class=\"5xx\"",
      ])
      denominator_filter = join(" AND ", [
        "metric.type=\"run.googleapis.com/request_count\"",
        "resource.type=\"cloud_run_revision\"",
        "resource.labels.service_name=${local.one_of_the_functions}",
      ])
      comparison      = "COMPARISON_GT"
      threshold_value = var.alert_thresholds.error_rate
      duration        = "300s"
      aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = ["resource.label.service_name"]
      }
      denominator_aggregations {
        alignment_period     = "300s"
        per_series_aligner   = "ALIGN_DELTA"
        cross_series_reducer = "REDUCE_SUM"
        group_by_fields      = ["resource.label.service_name"]
      }
    }
  }
  documentation {
    content = "More than ${var.alert_thresholds.error_rate * 100} % of a function's requests end with 5xx. A step answers 503 when a service is in trouble, and Pub/Sub tries again. The log of the function names the reason."
  }

  depends_on = [google_project_service.this]
}
