#!/usr/bin/env bash
# The "time per output token" of GuideLLM 0.8.1 holds the time to the first token; that of vLLM, SGLang and AIPerf does not.
#
# GuideLLM divides the time from the request's start to its last token by all tokens. The others divide the time after the first token by the tokens
# after the first, which GuideLLM calls inter_token_latency_ms. One request with a prefill of 1 s and 100 tokens, 10 ms apart, has a TPOT of 19.9 ms in
# GuideLLM and 10 ms elsewhere: a benchmark that moves from one tool to the other shows decode at half its speed, and a faster prefill shows as a faster
# decode. Compare GuideLLM's inter_token_latency_ms with the TPOT of the others.
#
# Seen on 2026-11-28 with Python 3.11, guidellm 0.8.1, pydantic 2.12.4:
#   ttft 1000.0 ms, time_per_output_token 19.9 ms, inter_token_latency 10.0 ms
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
# What a benchmark against a server needs besides (transformers, datasets, torch) is not loaded for the figures of a request.
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps guidellm==0.8.1
"$dir/venv/bin/pip" install -q --disable-pip-version-check pydantic==2.12.4 pydantic-settings==2.12.0 loguru==0.7.3 numpy==2.4.6 2>/dev/null
said=$("$dir/venv/bin/python" -W ignore - <<'PY'
from guidellm.schemas import GenerativeRequestStats, RequestInfo, RequestTimings, UsageMetrics

start, tokens = 1000.0, 100
last = start + 1.0 + 0.010 * (tokens - 1)
times = RequestTimings(request_start=start, first_token_iteration=start + 1.0, last_token_iteration=last, request_end=last)
r = GenerativeRequestStats(request_id="a", info=RequestInfo(request_id="a", status="completed", timings=times), input_metrics=UsageMetrics(text_tokens=1000), output_metrics=UsageMetrics(text_tokens=tokens))
print(f"ttft {r.time_to_first_token_ms:.1f} ms, time_per_output_token {r.time_per_output_token_ms:.1f} ms, inter_token_latency {r.inter_token_latency_ms:.1f} ms")
PY
)
printf '%s\n' "$said"
[ "$said" = 'ttft 1000.0 ms, time_per_output_token 19.9 ms, inter_token_latency 10.0 ms' ]
