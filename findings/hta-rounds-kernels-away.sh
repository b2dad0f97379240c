#!/usr/bin/env bash
# HolisticTraceAnalysis 0.5.0 finds no GPU work in a trace whose GPU is busy 75 % of the time.
#
# PyTorch writes times of kernels as microseconds with three decimals. HTA moves each start up and each end down to a whole microsecond, to keep events
# from overlapping, and takes durations from these. A kernel loses up to 2 us, 1 us on average: nothing of a training step of long kernels, and a good
# part of a decode step, where most kernels take 2 to 5 us. Here 1,000 kernels of 1.5 us, one each 2 us, add up to 0: idle 100 %, compute 0 %. There is
# a warning about rounding in the log. With HTA_DISABLE_NS_ROUNDING=1 the same call gives 1,500 us and 25 % idle.
#
# Seen on 2026-11-28 with Python 3.11, HolisticTraceAnalysis 0.5.0, pandas 3.1.1, numpy 2.4.6:
#   as installed: idle 1998.0 us, compute 0.0 us, sum of kernels 0 us
#   without rounding: idle 499.5 us, compute 1500.0 us, sum of kernels 1500.0 us
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check HolisticTraceAnalysis==0.5.0 pandas==3.1.1 numpy==2.4.6
cd "$dir"
cat >ask.py <<'PY'
import json, logging

logging.disable(logging.WARNING)
from hta.trace_analysis import TraceAnalysis

events = []
for i in range(1000):
    at = 1000.25 + 2 * i
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": at - 0.5, "dur": 0.25, "args": {"correlation": i + 1}})
    events.append({"ph": "X", "cat": "kernel", "name": "small", "pid": 0, "tid": 7, "ts": at, "dur": 1.5, "args": {"stream": 7, "device": 0, "correlation": i + 1}})
with open("trace.json", "w") as f:
    json.dump({"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": events}, f)

trace = TraceAnalysis(trace_files={0: "trace.json"}, trace_dir=".")
time = trace.get_temporal_breakdown(visualize=False).iloc[0]
kernel = trace.get_gpu_kernel_breakdown(visualize=False)[1].iloc[0]
print(f"idle {time['idle_time(us)']} us, compute {time['compute_time(us)']} us, sum of kernels {kernel['sum (us)']} us")
PY
rounded=$("$dir/venv/bin/python" ask.py 2>/dev/null | tail -n 1)
exact=$(HTA_DISABLE_NS_ROUNDING=1 "$dir/venv/bin/python" ask.py 2>/dev/null | tail -n 1)
printf 'as installed: %s\nwithout rounding: %s\n' "$rounded" "$exact"
[ "$rounded" = 'idle 1998.0 us, compute 0.0 us, sum of kernels 0 us' ] && [ "$exact" = 'idle 499.5 us, compute 1500.0 us, sum of kernels 1500.0 us' ]
