#!/usr/bin/env bash
# PyTorch 2.11's profiler, first used while another CUPTI tool is on, records no kernel for the rest of the process, also when that tool has long ended.
#
# CUPTI takes one tool at a time, and the clash itself is warned of. But PyTorch tries once: what it found then holds for good. Later profiles have CPU
# operators and launches, no GPU work, and no word. So one window of Proton, or of any tracer in the process, opened at the wrong moment makes the profiler
# that a server offers (vLLM, SGLang: /start_profile) useless until it is restarted. After Proton has ended, a first use of PyTorch's profiler is fine. The
# other way round, PyTorch never lets go: after its first profile Proton cannot start any more, and says so.
#
# Needs a GPU. Takes PyTorch and Triton that are installed, if they are of these versions. Seen on 2026-11-30 on an H200 (driver 580.159.04) with Python 3.12, torch 2.11.0, triton 3.6.0:
#   first profile after Proton: 5 kernels
#   first profile during Proton: 0 kernels, after it 0 of 5
#   Proton after a profile: cuptiSubscribe fails
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! python3 -c 'import sys, torch, triton; sys.exit((torch.__version__.split("+")[0], triton.__version__) != ("2.11.0", "3.6.0"))' 2>/dev/null; then
  python3 -m pip install -q --disable-pip-version-check --target "$dir/packages" torch==2.11.0 triton==3.6.0
  export PYTHONPATH=$dir/packages
fi
cat >"$dir/order.py" <<'PYTHON'
import sys

import torch
import triton.profiler as proton
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile

x = torch.ones(1024, device="cuda")


def kernels():
    """How many of five kernels PyTorch's profiler records."""
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        for _ in range(5):
            x.add_(1)
        torch.cuda.synchronize()
    return sum(e.device_type == DeviceType.CUDA for e in p.events())


out, order = sys.argv[1:]
if order == "after":
    proton.start(out + "/a")
    proton.finalize()
    seen = kernels()
    print(f"first profile after Proton: {seen} kernels")
    sys.exit(seen != 5)
if order == "during":
    proton.start(out + "/b")
    during = kernels()
    proton.finalize()
    later = [kernels(), kernels()]
    print(f"first profile during Proton: {during} kernels, after it {max(later)} of 5")
    sys.exit(during != 0 or max(later) != 0)
kernels()
try:
    proton.start(out + "/c")
except RuntimeError as e:
    print("Proton after a profile: cuptiSubscribe fails")
    sys.exit("cuptiSubscribe" not in str(e))
sys.exit("Proton started after a profile")
PYTHON
for order in after during before; do python3 "$dir/order.py" "$dir" "$order" 2>"$dir/said" || { cat "$dir/said"; exit 1; }; done
