#!/usr/bin/env bash
# genai-bench 0.0.5 writes error_rate 0 for a run in which half of the requests failed.
#
# It divides the failed requests by num_requests before it has set num_requests, which is 0 then, and takes 0 for the rate where there is nothing to
# divide by. The warning about more than half of errors comes from the same figure and never appears. Failed requests are in no latency, and those that
# succeed have the server to themselves: a server that refuses half of its load looks faster than one that answers all. Divide num_error_requests by
# num_requests, which are both right, as its own plots do.
#
# Seen on 2026-11-29 with Python 3.11, genai-bench 0.0.5, pydantic 2.12.4, numpy 2.4.6:
#   50 of 100 requests failed: error_rate 0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What a benchmark against a server needs besides (locust, transformers, datasets) is not loaded for the figures of a run.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps genai-bench==0.0.5
"$dir/venv/bin/pip" install -q --disable-pip-version-check pydantic==2.12.4 numpy==2.4.6 gevent==26.9.0 rich==14.1.0 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
import json

from genai_bench.metrics.aggregated_metrics_collector import AggregatedMetricsCollector
from genai_bench.metrics.metrics import RequestLevelMetrics
from genai_bench.metrics.request_metrics_collector import RequestMetricsCollector
from genai_bench.protocol import UserChatResponse

run = AggregatedMetricsCollector()
run.set_run_metadata(8, "D(100,100)")
for i in range(100):
    if i % 2:
        run.add_single_request_metrics(RequestLevelMetrics(error_code=503, error_message="overloaded"))
        continue
    one = RequestMetricsCollector()
    one.calculate_metrics(UserChatResponse(status_code=200, generated_text="", tokens_received=100, num_prefill_tokens=100, start_time=float(i), time_at_first_token=i + 0.1, end_time=i + 1.0))
    run.add_single_request_metrics(one.metrics)
run.aggregate_metrics_data(0.0, 100.0, None, None)
run.save("run.json")
with open("run.json") as f:
    said = json.load(f)["aggregated_metrics"]
print(f"{said['num_error_requests']} of {said['num_requests']} requests failed: error_rate {said['error_rate']:g}")
PY
said=$("$dir/venv/bin/python" ask.py 2>/dev/null | tail -n 1)
printf '%s\n' "$said"
[ "$said" = '50 of 100 requests failed: error_rate 0' ]
