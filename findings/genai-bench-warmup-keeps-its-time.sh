#!/usr/bin/env bash
# genai-bench 0.0.5 with --warmup-ratio 0.3 --cooldown-ratio 0.2 halves the throughput in tokens of a steady server.
#
# The two ratios leave out the first and the last requests: their tokens go, but the sums are divided by the time of the whole run all the same. Requests
# per second still count all requests, so that the throughput and the mean length of an answer no longer fit together. Here a server gives 100 tokens/s
# from first to last; without the ratios genai-bench says so, with them 50. Latencies are right. Multiply requests
# per second by the mean output tokens of a request instead, both of which the file has.
#
# Seen on 2026-11-29 with Python 3.11, genai-bench 0.0.5, pydantic 2.12.4, numpy 2.4.6:
#   all: 100 tokens/s, 1 requests/s of 100 tokens
#   without warm-up and cool-down: 50 tokens/s, 1 requests/s of 100 tokens
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What a benchmark against a server needs besides (locust, transformers, datasets) is not loaded for the figures of a run.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps genai-bench==0.0.5
"$dir/venv/bin/pip" install -q --disable-pip-version-check pydantic==2.12.4 numpy==2.4.6 gevent==26.9.0 rich==14.1.0 2>/dev/null
cd "$dir"
cat >ask.py <<'PY'
from genai_bench.metrics.aggregated_metrics_collector import AggregatedMetricsCollector
from genai_bench.metrics.request_metrics_collector import RequestMetricsCollector
from genai_bench.protocol import UserChatResponse


def say(what, warmup, cooldown):
    run = AggregatedMetricsCollector()
    run.set_run_metadata(1, "D(100,100)")
    for i in range(100):
        one = RequestMetricsCollector()
        one.calculate_metrics(UserChatResponse(status_code=200, generated_text="", tokens_received=100, num_prefill_tokens=100, start_time=float(i), time_at_first_token=i + 0.1, end_time=i + 1.0))
        run.add_single_request_metrics(one.metrics)
    run.aggregate_metrics_data(0.0, 100.0, warmup, cooldown)
    all = run.aggregated_metrics
    print(f"{what}: {all.mean_output_throughput_tokens_per_s:g} tokens/s, {all.requests_per_second:g} requests/s of {all.stats.num_output_tokens.mean:g} tokens")


say("all", None, None)
say("without warm-up and cool-down", 0.3, 0.2)
PY
said=$("$dir/venv/bin/python" ask.py 2>/dev/null | grep 'tokens/s')
printf '%s\n' "$said"
[ "$said" = 'all: 100 tokens/s, 1 requests/s of 100 tokens
without warm-up and cool-down: 50 tokens/s, 1 requests/s of 100 tokens' ]
