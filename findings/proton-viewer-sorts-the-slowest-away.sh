#!/usr/bin/env bash
# proton-viewer of Triton 3.6.0 leaves the slowest kernel out of its sorted list, and in a comparison the one that slowed down most.
#
# --print-sorted sorts all frames by the metric and skips the first row, which is to be ROOT. But only by a sum is ROOT the first. By average time, FLOP/s or
# utilisation it is a kernel, and in a comparison (-diff) where the whole became faster it is the one that slowed down most: the list begins with what did not
# change. A kernel that is gone in the second profile, as after a fusion, is "nan" there instead of minus its time, and last. Read the tree above the list,
# which has all frames, and compute what is gone yourself.
#
# Needs no GPU. Seen on 2026-11-30 with Python 3.11, triton 3.6.0, llnl-hatchet 2026.2.0:
#   by average: gemm 20.0, ROOT 12.5, norm 5.0; attention takes 50.0
#   after and before: attention 0.0, ROOT -200.0, norm nan; gemm takes 100.0 more, norm was 300.0
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


profile("before.hatchet", attention=(10, 500000), gemm=(10, 200000), norm=(60, 300000))
profile("after.hatchet", attention=(10, 500000), gemm=(10, 300000))
PY
cd "$dir"
"$dir/venv/bin/python" profiles.py
list() { "$dir/venv/bin/proton-viewer" "$@" 2>"$dir/said" | sed -n '/^Sorted/,$p' | tail -n +2 | awk 'NF == 2 { printf "%s%s %s", n++ ? ", " : "", $1, $2 }'; }
average=$(list -m avg_time/us --print-sorted before.hatchet)
change=$(list -m time/us --print-sorted -diff before.hatchet after.hatchet)
printf 'by average: %s; attention takes 50.0\nafter and before: %s; gemm takes 100.0 more, norm was 300.0\n' "$average" "$change"
[ "$average" = 'gemm 20.0, ROOT 12.5, norm 5.0' ] && [ "$change" = 'attention 0.0, ROOT -200.0, norm nan' ]
