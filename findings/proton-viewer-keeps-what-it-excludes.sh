#!/usr/bin/env bash
# proton-viewer of Triton 3.6.0 keeps the time of what you exclude in the totals, if you ask for a unit: time/ms and time differ.
#
# -e, -i and -t take frames out of the tree, and the inclusive columns are then summed up anew. But time/ms, avg_time/us, time/% and FLOP/s are derived
# columns, computed before that, and stay as they were: a scope and ROOT go on holding what is no longer below them. Without a unit (time, in ns) they are
# new. So a decode step without its attention is 1.0 ms by -m time/ms and 0.5 ms by -m time, of one file and one filter, and shares by time/% no longer add up. In
# one line of -m avg_time/us,count the average is of all kernels, 12.5 us, and the count of those left, whose average is 7.1. Filter without a unit, or add up
# the leaves yourself.
#
# Needs no GPU. Seen on 2026-11-30 with Python 3.11, triton 3.6.0, llnl-hatchet 2026.2.0:
#   -e attention -m time/ms: ROOT 1.000, gemm 0.200, norm 0.300
#   -e attention -m time: ROOT 500000.000, gemm 200000.000, norm 300000.000
#   -e attention -m avg_time/us,count: ROOT 12.500 70.000, gemm 20.000 10.000, norm 5.000 60.000
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check --no-deps triton==3.6.0
"$dir/venv/bin/pip" install -q --disable-pip-version-check llnl-hatchet==2026.2.0 pandas==2.3.3 numpy==2.4.6
cat >"$dir/profiles.py" <<'PY'
import json


def profile(path, **kernels):
    """A profile of kernels: how often each ran, and ns in all."""
    children = [
        {"frame": {"name": name, "type": "function"}, "metrics": {"count": count, "time (ns)": ns, "device_id": "0", "device_type": "CUDA"}, "children": []}
        for name, (count, ns) in kernels.items()
    ]
    device = {"arch": "90", "bus_width": 6016, "clock_rate": 1980000, "memory_clock_rate": 3201000, "num_sms": 132}
    root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0}, "children": children}
    with open(path, "w") as f:
        json.dump([root, {"CUDA": {"0": device}}], f)


profile("decode.hatchet", attention=(10, 500000), gemm=(10, 200000), norm=(60, 300000))
PY
cd "$dir"
"$dir/venv/bin/python" profiles.py
view() { "$dir/venv/bin/proton-viewer" -e attention -m "$1" decode.hatchet 2>"$dir/said" | LC_ALL=C tr -cd ' -~\n' | awk 'NF { printf "%s%s", n++ ? ", " : "", $NF; for (i = 1; i < NF; i++) printf " %s", $i }'; }
unit=$(view time/ms) plain=$(view time) both=$(view avg_time/us,count)
printf -- '-e attention -m time/ms: %s\n-e attention -m time: %s\n-e attention -m avg_time/us,count: %s\n' "$unit" "$plain" "$both"
[ "$unit" = 'ROOT 1.000, gemm 0.200, norm 0.300' ] && [ "$plain" = 'ROOT 500000.000, gemm 200000.000, norm 300000.000' ] &&
  [ "$both" = 'ROOT 12.500 70.000, gemm 20.000 10.000, norm 5.000 60.000' ]
