# Makes node.json, the dashboard of a node: python3 deploy/grafana/make.py > deploy/grafana/node.json
import json

PANELS = [
    ("Rows a second", "short", [("rows", "sum by (instance) (rate(proofstream_ingested_records_total[$__rate_interval]))")]),
    ("Requests a second, by status", "reqps", [("{{status}}", "sum by (status) (rate(proofstream_http_requests_total[$__rate_interval]))")]),
    ("Answer time, p99 by route (without streams)", "s", [("{{route}}", "histogram_quantile(0.99, sum by (route, le) (rate(proofstream_http_request_duration_seconds_bucket{route!~\".*events\"}[$__rate_interval])))")]),
    ("From a row in the log to its block, p99", "s", [("{{instance}}", "histogram_quantile(0.99, sum by (instance, le) (rate(proofstream_builder_logged_to_committed_seconds_bucket[$__rate_interval])))")]),
    ("From a body read to a row in the log, p99", "s", [("{{instance}}", "histogram_quantile(0.99, sum by (instance, le) (rate(proofstream_ingest_accepted_to_logged_seconds_bucket[$__rate_interval])))")]),
    ("Blocks a second", "short", [("{{instance}}", "rate(proofstream_commits_total[$__rate_interval])")]),
    ("Messages not yet in a block", "short", [("{{instance}} {{partition}}", "proofstream_builder_lag_messages")]),
    ("Datasets that are halted", "short", [("{{instance}}", "proofstream_halted_datasets")]),
    ("Age of the newest block known", "s", [("{{instance}}", "time() - proofstream_newest_block_timestamp_seconds")]),
    ("Queries", "short", [("running", "sum(proofstream_query_running)"), ("waiting", "sum(proofstream_query_waiting)")]),
    ("Listeners", "short", [("{{instance}}", "proofstream_listeners")]),
    ("Free space", "bytes", [("{{instance}} {{volume}}", "proofstream_free_bytes")]),
    ("Memory", "bytes", [("{{instance}}", "proofstream_process_resident_memory_bytes")]),
    ("CPU, cores", "short", [("{{instance}}", "rate(proofstream_process_cpu_seconds_total[$__rate_interval])")]),
    ("Event loop, p99", "s", [("{{instance}}", "proofstream_nodejs_eventloop_lag_p99_seconds")]),
    ("Bodies in flight", "bytes", [("{{instance}}", "proofstream_ingest_open_bytes")]),
]
SOURCE = {"type": "prometheus", "uid": "${source}"}


def panel(at, title, unit, targets):
    return {
        "id": at + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"h": 7, "w": 8, "x": 8 * (at % 3), "y": 7 * (at // 3)},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0, "custom": {"fillOpacity": 10}}, "overrides": []},
        "options": {"legend": {"showLegend": True}, "tooltip": {"mode": "multi", "sort": "desc"}},
        "targets": [
            {"refId": chr(65 + n), "expr": expr, "legendFormat": legend, "datasource": SOURCE}
            for n, (legend, expr) in enumerate(targets)
        ],
    }


print(
    json.dumps(
        {
            "uid": "proofstream-node",
            "title": "Proofstream node",
            "tags": ["proofstream"],
            "schemaVersion": 39,
            "editable": True,
            "refresh": "30s",
            "time": {"from": "now-3h", "to": "now"},
            "templating": {"list": [{"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}]},
            "panels": [panel(at, *one) for at, one in enumerate(PANELS)],
        },
        indent=2,
    )
)
