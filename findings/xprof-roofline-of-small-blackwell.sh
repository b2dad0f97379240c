#!/usr/bin/env bash
# XProf 2.24.2 draws the roofline of an RTX PRO 6000 Blackwell at 4.0 PFLOP/s of dense BF16, and a GB10's at 0.95: eight times what they can do.
#
# It knows the FLOP of a cycle and SM by compute capability, up to 10.0 (B200: 8192). For a capability that it does not know it takes the one below: 12.0 and
# 12.1 (RTX PRO, GeForce RTX 50, DGX Spark) become a B200 at another clock, while their SMs do 1024, or 512 in a GeForce. The ridge is then at 2,249 FLOP a
# byte instead of 281, prefill is "bound by HBM" at nearly any length, and a product at full speed has 12 % of the optimal rate. A line in the server's log
# says that the capability was "not found"; the page does not. Take the peak from the data sheet, 504 TFLOP/s for an RTX PRO 6000.
#
# Needs no GPU. Seen on 2026-11-30 with xprof 2.24.2, Python 3.11:
#   H200 (9.0): 1071 TFLOP/s, 4096 FLOP a cycle and SM, ridge at 218
#   B200 (10.0): 2382 TFLOP/s, 8192 FLOP a cycle and SM, ridge at 298
#   RTX PRO 6000 (12.0): 4030 TFLOP/s, 8192 FLOP a cycle and SM, ridge at 2249
#   GB10 (12.1): 951 TFLOP/s, 8192 FLOP a cycle and SM, ridge at 3483
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check xprof==2.24.2
cat >"$dir/roofline.py" <<'PY'
import json
import os
import sys

from xprof.convert import raw_to_tool_data

gpus = [("H200", 9, 0, 132, 1.98, 4915), ("B200", 10, 0, 148, 1.965, 8000), ("RTX PRO 6000", 12, 0, 188, 2.617, 1792), ("GB10", 12, 1, 48, 2.418, 273)]


def number(n):
    return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])


def message(*fields):
    """A protobuf message of (number, value)."""
    out = b""
    for key, value in fields:
        value = value.encode() if isinstance(value, str) else value
        out += number(key << 3) + number(value) if isinstance(value, int) else number(key << 3 | 2) + number(len(value)) + value
    return out


def space(major, minor, sms, ghz, gbps):
    """An XSpace of one GPU and one kernel."""
    device = {"compute_cap_major": major, "compute_cap_minor": minor, "core_count": sms, "clock_rate": round(ghz * 1e6)}
    device |= {"memory_bandwidth": gbps * 10**9, "memory_size": 96 << 30, "device_vendor": "Nvidia"}
    stats = {"tf_op": "jit(prefill)/dot_general:", "kernel_details": "regs:32 grid:132,1,1 block:128,1,1 occ_pct:100"} | device
    names = {name: i + 1 for i, name in enumerate(stats)}
    of = {name: message((1, names[name]), (5 if isinstance(value, str) else 3, value)) for name, value in stats.items()}
    line = message((1, 7), (2, "Stream #7(Compute)"), (3, 1000), (4, message((1, 1), (2, 0), (3, 10_000_000), (4, of["tf_op"]), (4, of["kernel_details"]))))
    named = [(4, message((1, 1), (2, message((1, 1), (2, "gemm")))))] + [(5, message((1, i), (2, message((1, i), (2, name))))) for name, i in names.items()]
    return message((1, message((1, 1), (2, "/device:GPU:0"), (3, line), *named, *[(6, of[name]) for name in device])))


found = {}
for name, major, minor, sms, ghz, gbps in gpus:
    folder = os.path.join(sys.argv[1], name)
    os.mkdir(folder)
    with open(f"{folder}/run.xplane.pb", "wb") as f:
        f.write(space(major, minor, sms, ghz, gbps))
    says = json.loads(raw_to_tool_data.xspace_to_tool_data([f"{folder}/run.xplane.pb"], "roofline_model", {})[0])[0]["p"]
    peak, ridge = float(says["peak_flop_rate"]) / 1000, float(says["hbm_ridge_point"])
    found[name] = round(peak * 1000 / sms / ghz)
    print(f"{name} ({major}.{minor}): {peak:.0f} TFLOP/s, {found[name]} FLOP a cycle and SM, ridge at {ridge:.0f}")
sys.exit(found != {"H200": 4096, "B200": 8192, "RTX PRO 6000": 8192, "GB10": 8192})
PY
"$dir/venv/bin/python" "$dir/roofline.py" "$dir" 2>/dev/null
