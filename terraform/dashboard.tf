locals {
  # Each chart has a title, and either a PromQL query or a filter on one of Google's metrics.
  charts = [
    { title = "Questions per minute", promql = "sum(rate(${local.promql.questions}{${local.of_functions}}[5m])) * 60", filter = null, rate = true, by = [] },
    { title = "Answers per minute", promql = "sum(rate(${local.promql.answers}{${local.of_functions},kind=\"answer\"}[5m])) * 60", filter = null, rate = true, by = [] },
    { title = "Fallbacks per minute (not in the knowledge base)", promql = "sum(rate(${local.promql.answers}{${local.of_functions},kind=\"fallback\"}[5m])) * 60", filter = null, rate = true, by = [] },
    { title = "Clarifying questions per minute", promql = "sum(rate(${local.promql.answers}{${local.of_functions},kind=\"clarification\"}[5m])) * 60", filter = null, rate = true, by = [] },
    { title = "Replies to thanks and greetings per minute", promql = "sum(rate(${local.promql.answers}{${local.of_functions},kind=\"courtesy\"}[5m])) * 60", filter = null, rate = true, by = [] },
    { title = "Dead letters by reason", promql = "sum by (reason, failed) (increase(${local.promql.dead_letters}{${local.of_functions}}[5m]))", filter = null, rate = true, by = [] },
    { title = "Seconds from question to answer, 95th percentile", promql = "histogram_quantile(0.95, sum by (le) (rate(${local.promql.answer_seconds}_bucket{${local.of_functions}}[5m])))", filter = null, rate = true, by = [] },
    { title = "Seconds per step, 95th percentile", promql = "histogram_quantile(0.95, sum by (le, step) (rate(${local.promql.step_seconds}_bucket{${local.of_functions}}[5m])))", filter = null, rate = true, by = [] },
    { title = "Tokens read per minute, by model", promql = "sum by (model) (rate(${local.promql.input_tokens}_sum{${local.of_functions}}[5m])) * 60", filter = null, rate = true, by = [] },
    { title = "Tokens written per minute, by model", promql = "sum by (model) (rate(${local.promql.output_tokens}_sum{${local.of_functions}}[5m])) * 60", filter = null, rate = true, by = [] },
    {
      title  = "Firestore documents read per second"
      promql = null
      filter = "metric.type=\"firestore.googleapis.com/document/read_ops_count\" AND resource.type=\"firestore.googleapis.com/Database\" AND resource.labels.database_id=\"${var.firestore_database}\""
      rate   = true
      by     = []
    },
    {
      title  = "Messages waiting"
      promql = null
      filter = "metric.type=\"pubsub.googleapis.com/subscription/num_undelivered_messages\" AND resource.type=\"pubsub_subscription\" AND resource.labels.subscription_id=${local.one_of_the_subscriptions}"
      rate   = false
      by     = ["resource.label.subscription_id"]
    },
  ]
}

resource "google_monitoring_dashboard" "this" {
  dashboard_json = jsonencode({
    displayName = "${local.prefix}threadwise"
    mosaicLayout = {
      columns = 48
      tiles = [
        for number, chart in local.charts : {
          xPos   = number % 2 * 24
          yPos   = floor(number / 2) * 16
          width  = 24
          height = 16
          widget = {
            title = chart.title
            xyChart = {
              dataSets = [{
                plotType = "LINE"
                timeSeriesQuery = merge(
                  chart.promql == null ? {} : { prometheusQuery = chart.promql },
                  chart.filter == null ? {} : {
                    timeSeriesFilter = {
                      filter = chart.filter
                      aggregation = {
                        alignmentPeriod    = "60s"
                        perSeriesAligner   = chart.rate ? "ALIGN_RATE" : "ALIGN_MAX"
                        crossSeriesReducer = "REDUCE_SUM"
                        groupByFields      = chart.by
                      }
                    }
                  },
                )
              }]
            }
          }
        }
      ]
    }
  })

  depends_on = [google_project_service.this]
}
