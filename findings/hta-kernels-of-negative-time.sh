#!/usr/bin/env bash
# HTA 0.5.0 gives short kernels a negative duration, and sums over kernels that are too small: by 24 % where kernels take 3.7 us.
#
# PyTorch has written times to the nanosecond since 2.4. Where times are no whole microseconds, HTA moves the start of each event up to the next microsecond and its end down to the
# last one, and takes the difference. A kernel of 0.8 us within one microsecond then lasts -1 us. All analyses work with these times: get_gpu_kernel_breakdown adds them up, and its
# sum of a kind of short kernels or copies can be negative. The only sign is a line of the log at level WARNING. HTA_DISABLE_NS_ROUNDING=1 keeps the times of the file.
#
# Seen on 2026-11-30 with HolisticTraceAnalysis 0.5.0 (Python 3.11):
#   1000 kernels of 0.8 us: HTA -100 us, without rounding 800 us; 1000 kernels of 3.7 us: HTA 2800 us, without rounding 3700 us
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check HolisticTraceAnalysis==0.5.0
mkdir "$dir/trace"
cat >"$dir/try.py" <<'PY'
import json, logging, sys
kernels = []
for i in range(1000):
    for name, start, length in (("short", 10 * i + i % 10 / 10, 0.8), ("long", 10 * i + 2 + i % 10 / 10, 3.7)):
        kernels.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": round(1000 + start, 3), "dur": length, "args": {"device": 0, "stream": 7, "correlation": len(kernels) + 1}})
json.dump({"distributedInfo": {"rank": 0}, "traceEvents": kernels}, open(sys.argv[1] + "/rank0.json", "w"))
logging.disable()
from hta.trace_analysis import TraceAnalysis
k = TraceAnalysis(trace_dir=sys.argv[1]).get_gpu_kernel_breakdown(visualize=False)[1]
print(" ".join(f"{r['name']} {r['sum (us)']:.0f}" for _, r in k.sort_values("name").iterrows()))
PY
rounded=$("$dir/venv/bin/python" "$dir/try.py" "$dir/trace" | tail -n 1)
exact=$(HTA_DISABLE_NS_ROUNDING=1 "$dir/venv/bin/python" "$dir/try.py" "$dir/trace" | tail -n 1)
echo "by default:       $rounded (us)"
echo "without rounding: $exact (us)"
[ "$exact" = "long 3700 short 800" ] && [ "$rounded" = "long 2800 short -100" ]
