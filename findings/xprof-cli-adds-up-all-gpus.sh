#!/usr/bin/env bash
# The command line of XProf 2.24.2 gives the sum of all GPUs for any that you ask for, and takes kernels that overlap on a stream for parts of one.
#
# xprof get_kernel_stats came with 2.24. Its --device_to_use, by the help the "device plane to target", is passed along and never used: GPU:0, GPU:1 and a GPU
# that is not there have the same records, each kernel with the calls and the time of all GPUs. The total beside them, "ground truth" of --include_summary, is
# the union of all GPUs' time as if they were one, so that eight ranks that work at the same time have eight times as much in kernels as on the device; lines
# are joined by name over the GPUs. And total_duration_us_all_records leaves out what begins before the kernel before it has ended, as nested: right for
# loops of a TPU, but under programmatic dependent launch, or side by side in a CUDA graph, nearly nothing remains. Read the planes of the file yourself, with
# jax.profiler.ProfileData.
#
# Needs no GPU. Two GPUs whose kernels take 50 and 90 us, and one whose 20 kernels of 70 us begin 50 us after one another. Seen on 2026-11-30 with xprof
# 2.24.2, Python 3.11:
#   GPU:0: 20 calls, 1400 us, device 900 us; GPU:1: 20 calls, 1400 us, device 900 us; GPU:7: 20 calls, 1400 us, device 900 us
#   overlapping: 20 calls, 1400 us, device 1020 us, all records 70 us
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check xprof==2.24.2
cat >"$dir/gpus.py" <<'PY'
import json
import os
import subprocess
import sys

folder, xprof = sys.argv[1:]


def number(n):
    return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])


def message(*fields):
    """A protobuf message of (number, value)."""
    out = b""
    for key, value in fields:
        value = value.encode() if isinstance(value, str) else value
        out += number(key << 3) + number(value) if isinstance(value, int) else number(key << 3 | 2) + number(len(value)) + value
    return out


def plane(gpu, calls, every, us):
    """A GPU that runs one kernel, so many us each so many us, as part of an XSpace."""
    stats = (4, message((1, 1), (5, "jit(decode)/dot_general:"))), (4, message((1, 2), (5, "regs:32 grid:132,1,1 block:128,1,1 occ_pct:100")))
    events = [(4, message((1, 1), (2, i * every * 1_000_000), (3, us * 1_000_000), *stats)) for i in range(calls)]
    line = message((1, 7), (2, "Stream #7(Compute)"), (3, 1000), *events)
    named = [(5, message((1, i), (2, message((1, i), (2, name))))) for i, name in ((1, "tf_op"), (2, "kernel_details"))]
    return message((1, message((1, gpu + 1), (2, f"/device:GPU:{gpu}"), (3, line), (4, message((1, 1), (2, message((1, 1), (2, "gemm"))))), *named)))


def ask(name, gpu, space):
    run = f"{folder}/{name}/plugins/profile/run"
    os.makedirs(run, exist_ok=True)
    with open(f"{run}/host.xplane.pb", "wb") as f:
        f.write(space)
    says = subprocess.run([xprof, "get_kernel_stats", f"{folder}/{name}", f"--device_to_use={gpu}", "--include_summary=True"], capture_output=True, check=True)
    summary = json.loads(says.stdout)
    (kernel,) = summary["kernel_records"]
    found = kernel["execution_count"], kernel["total_duration_us"], summary["total_device_duration_us"], summary["total_duration_us_all_records"]
    return [round(x) for x in found]


both = plane(0, 10, 100, 50) + plane(1, 10, 100, 90)
asked = {gpu: ask("both", gpu, both) for gpu in ("GPU:0", "GPU:1", "GPU:7")}
overlap = ask("overlap", "GPU:0", plane(0, 20, 50, 70))
print("; ".join(f"{gpu}: {n} calls, {us} us, device {device} us" for gpu, (n, us, device, _) in asked.items()))
print("overlapping: {} calls, {} us, device {} us, all records {} us".format(*overlap))
sys.exit(any(found[:3] != [20, 1400, 900] for found in asked.values()) or overlap != [20, 1400, 1020, 70])
PY
HOME=$dir "$dir/venv/bin/python" "$dir/gpus.py" "$dir" "$dir/venv/bin/xprof" 2>/dev/null
