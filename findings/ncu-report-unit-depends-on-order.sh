#!/usr/bin/env bash
# NVIDIA's reader of Nsight Compute reports, ncu-report 2026.3.1, gives one metric two units: which one depends on what the process asked for before.
#
# Some metrics are stored without a unit, and the reader works it out when unit() is called, from names that it has met by then, in any report. A script
# that reads metrics in the order of their names says byte of sass__inst_executed_register_spilling_mem_local; one that reads them from the end says inst.
# The value is the same, a count of instructions. A tool that scales by units, or two scripts that are compared, go wrong: ask for the unit in a process of
# its own, or know it by the name.
#
# Reads a report of an H200 (ncu 2025.3) from this repository; needs no GPU. Seen on 2026-11-30 with ncu-report 2026.3.1, Python 3.11:
#   9751 metrics of llama.ncu-rep: 14 units differ, byte when read up and inst when read down
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check ncu-report==2026.3.1
gzip -dc "$here/testdata/ncu/llama.ncu-rep.gz" >"$dir/llama.ncu-rep"
cat >"$dir/units.py" <<'PY'
import sys, ncu_report
context = ncu_report.load_report(sys.argv[1])
for r in range(context.num_ranges()):
    for a in range(context.range_by_idx(r).num_actions()):
        action = context.range_by_idx(r).action_by_idx(a)
        for name in sorted(action.metric_names(), reverse=sys.argv[2] == "down"):
            print(r, a, name, action.metric_by_name(name).unit())
PY
for order in up down; do "$dir/venv/bin/python" "$dir/units.py" "$dir/llama.ncu-rep" "$order" | sort >"$dir/$order"; done
differ=$(comm -23 "$dir/up" "$dir/down" | awk '{print $3, $4}' | sort | uniq -c)
echo "$(wc -l <"$dir/up") metrics; units that reading downwards gives otherwise:"
echo "$differ"
[ "$(comm -23 "$dir/up" "$dir/down" | wc -l)" -eq 14 ] && ! grep -v ' byte$' <<<"$differ" && comm -13 "$dir/up" "$dir/down" | awk '$4 != "inst" { exit 1 }'
