#!/usr/bin/env bash
# Kernels of two processes on one GPU take turns, also where each has one block, and CUPTI counts the turns of the other as the kernel's own time.
#
# On a GPU of 132 SMs two kernels of one block each could run side by side, and of two streams of one process they do. Of two processes the GPU belongs to one
# at a time, a slice each, and the kernel that is out stays "running": each of two that take 1 alone is recorded with 2. Sums of kernel times and rooflines
# of a replica beside another are of both, and nothing in a trace says that somebody else had the GPU. Under NVIDIA's Multi-Process Service they run side by
# side and take 1. (NVML then lists the service beside its clients as a process that computes, though it runs nothing.)
#
# Needs a GPU that nobody else uses, and nvidia-cuda-mps-control. Takes PyTorch and Triton that are installed, if they are of these versions. Seen on 2026-11-30 on an H200 (driver 580.159.04) with Python 3.12, torch 2.11.0, triton 3.6.0:
#   a kernel of one block: 35.4 ms alone, 76.1 ms beside another process's, 35.4 ms under MPS
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! python3 -c 'import sys, torch, triton; sys.exit((torch.__version__.split("+")[0], triton.__version__) != ("2.11.0", "3.6.0"))' 2>/dev/null; then
  python3 -m pip install -q --disable-pip-version-check --target "$dir/packages" torch==2.11.0 triton==3.6.0
  export PYTHONPATH=$dir/packages
fi
cat >"$dir/one_block.py" <<'PYTHON'
import sys
import time

import torch
import triton
import triton.language as tl
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile


@triton.jit
def one_block(x, n):
    v = tl.load(x)
    for _ in range(n):
        v = v * 0.999 + 0.5
    tl.store(x, v)


x = torch.ones(1, device="cuda")
run = lambda: one_block[(1,)](x, 10_000_000)
run()
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CUDA]):
    run()
    torch.cuda.synchronize()
begin = float(sys.argv[1])
time.sleep(max(0, begin - time.time()))
with profile(activities=[ProfilerActivity.CUDA]) as p:
    for _ in range(8):
        run()
    torch.cuda.synchronize()
times = sorted(e.device_time for e in p.events() if e.device_type == DeviceType.CUDA and "one_block" in e.name)
print(times[len(times) // 2] / 1e3)
PYTHON
both() { # the median of each of N processes that begin at once
  local at=$(($(date +%s) + 20)) pids=() i
  for i in $(seq "$1"); do python3 "$dir/one_block.py" "$at" >"$dir/$i" 2>"$dir/said.$i" & pids+=($!); done
  for i in "${pids[@]}"; do wait "$i" || { cat "$dir"/said.*; exit 1; }; done
  for i in $(seq "$1"); do cat "$dir/$i"; done | sort -n | head -n 1
}
one=$(both 1)
two=$(both 2)
export CUDA_MPS_PIPE_DIRECTORY=$dir/pipe CUDA_MPS_LOG_DIRECTORY=$dir/log
mkdir "$dir/pipe" "$dir/log"
nvidia-cuda-mps-control -d
trap 'echo quit | nvidia-cuda-mps-control >/dev/null 2>&1; rm -rf "$dir"' EXIT
served=$(both 2)
python3 - "$one" "$two" "$served" <<'PYTHON'
import sys
one, two, served = map(float, sys.argv[1:])
print(f"a kernel of one block: {one:.1f} ms alone, {two:.1f} ms beside another process's, {served:.1f} ms under MPS")
sys.exit(not (1.7 * one < two and served < 1.2 * one))
PYTHON
