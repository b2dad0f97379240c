#!/usr/bin/env bash
# NCCL 2.28 refuses two ranks on one GPU, but only on one host, and NCCL_HOSTID says what a host is: with another one each, they work.
#
# "Duplicate GPU detected" is often taken to mean that a GPU has one rank, so that as many ranks are as many GPUs: what divides by the number of ranks
# (utilisation, bandwidth of a GPU) is then off by how many share one. With NCCL_HOSTID=a and =b two ranks of one GPU talk through sockets, and
# the sum is right. Their kernels wait for each other in turns of the GPU, so that an all-reduce of 4 KB takes milliseconds; under NVIDIA's Multi-Process
# Service, where both run at once, it takes 70 times less.
#
# Needs a GPU that nobody else uses, and nvidia-cuda-mps-control. Takes PyTorch that is installed, if it is of this version. Seen on 2026-11-30 on an H200 (driver 580.159.04) with Python 3.12, torch 2.11.0, NCCL 2.28.9:
#   one host: Duplicate GPU detected
#   two hosts: right True, all-reduce of 4 KB 4.81 ms; under MPS right True, 0.07 ms
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! python3 -c 'import sys, torch; sys.exit((torch.__version__.split("+")[0], torch.cuda.nccl.version()) != ("2.11.0", (2, 28, 9)))' 2>/dev/null; then
  python3 -m pip install -q --disable-pip-version-check --target "$dir/packages" torch==2.11.0
  export PYTHONPATH=$dir/packages
fi
cat >"$dir/ranks.py" <<'PYTHON'
import os
import time

import torch
import torch.distributed as dist

rank = int(os.environ["RANK"])
if os.environ.get("APART"):
    os.environ["NCCL_HOSTID"] = "ab"[rank]
torch.cuda.set_device(0)
dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
x = torch.full((1024,), float(rank + 1), device="cuda")
dist.all_reduce(x)
right = bool((x == 3).all())
took = []
for _ in range(30):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    dist.all_reduce(x)
    torch.cuda.synchronize()
    took.append(time.perf_counter() - begin)
if rank == 0:
    print(right, sorted(took)[15] * 1e3)
dist.destroy_process_group()
PYTHON
export NCCL_SOCKET_IFNAME=lo NCCL_IB_DISABLE=1
ranks() { timeout 120 python3 -m torch.distributed.run --nproc-per-node 2 --master-port "$1" "$dir/ranks.py" 2>"$dir/said"; }
if ranks 29611 >/dev/null || ! grep -q "Duplicate GPU detected" "$dir/said"; then
  echo "two ranks of one GPU are not refused"
  exit 1
fi
echo "one host: Duplicate GPU detected"
export APART=1
turns=$(ranks 29612)
export CUDA_MPS_PIPE_DIRECTORY=$dir/pipe CUDA_MPS_LOG_DIRECTORY=$dir/log
mkdir "$dir/pipe" "$dir/log"
nvidia-cuda-mps-control -d
trap 'echo quit | nvidia-cuda-mps-control >/dev/null 2>&1; rm -rf "$dir"' EXIT
served=$(ranks 29613)
read -r right ms <<<"$turns"
read -r too least <<<"$served"
printf "two hosts: right %s, all-reduce of 4 KB %.2f ms; under MPS right %s, %.2f ms\n" "$right" "$ms" "$too" "$least"
python3 -c "import sys; sys.exit(not ('$right' == '$too' == 'True' and $ms > 3 * $least))"
