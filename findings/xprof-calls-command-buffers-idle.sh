#!/usr/bin/env bash
# XProf 2.22.3, the profiler's page that JAX's documentation names, calls the GPU idle while it runs command buffers: 98 % idle of a trace that is 82 % idle.
#
# XLA on GPUs packs the body of a loop into a command buffer, which is a CUDA graph; it does so unasked, also with a loop that decodes. CUPTI's records of
# such kernels name no HLO operation, only the module. XProf's statistics of operations (HLO and framework operations, the roofline, the overview's list) take
# kernels that name an operation: nine tenths of this trace's GPU time, all of decode, are in none of them. Their time is part of the row IDLE, and the FLOP
# rate of the whole program lacks their work. No warning says so. Only its kernel statistics and the timeline have all kernels.
#
# Reads a trace of JAX 0.11.2 on an H200 from this repository (176 kernels, 8 copies); needs no GPU. Seen on 2026-11-30 with xprof 2.22.3, Python 3.11:
#   kernel_stats: 176 kernels, 558.2 us
#   hlo_stats: 16 of them and copies, 60.2 us; IDLE 98.1 % of 3088 us
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check xprof==2.22.3
gzip -dc "$here/testdata/foreign/jax-h200.xplane.pb.gz" >"$dir/h200.xplane.pb"
cat >"$dir/sums.py" <<'PY'
import json
import sys

from xprof.convert import raw_to_tool_data


def rows(tool):
    """The first table of a tool, each row by column."""
    data, _ = raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, {})
    table = json.loads(data)
    table = table[0] if isinstance(table, list) else table
    return [{column["id"]: cell.get("v") for column, cell in zip(table["cols"], row["c"])} for row in table["rows"]]


kernels, operations = rows("kernel_stats"), rows("hlo_stats")
idle = [r for r in rows("framework_op_stats") if r["host_or_device"] == "Device" and r["type"] == "IDLE"]
count, time = sum(r["occurrences"] for r in kernels), sum(r["total_duration_us"] for r in kernels)
named, share = sum(r["total_self_time"] for r in operations), idle[0]["device_total_self_time_percent"]
fused = sum(r["occurrences"] for r in operations if not r["hlo_op_name"].startswith("copy"))
print(f"kernel_stats: {count:.0f} kernels, {time:.1f} us")
print(f"hlo_stats: {fused:.0f} of them and copies, {named:.1f} us; IDLE {100 * share:.1f} % of {idle[0]['total_self_time'] / share:.0f} us")
sys.exit(not (count == 176 and 558 < time < 558.5 and named < 0.11 * time and share > 0.98))
PY
"$dir/venv/bin/python" "$dir/sums.py" "$dir/h200.xplane.pb" 2>/dev/null
