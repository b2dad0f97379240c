#!/usr/bin/env bash
# PyTorch 2.11 counts no FLOP of a mixture's experts: neither the profiler (with_flops) nor FlopCounterMode knows grouped_mm.
#
# transformers 5 and torchtitan run the experts as one torch.nn.functional.grouped_mm, most of the work of such a model, and both counters give 0 for it
# without a word: an MFU by either is that of attention and router alone. The two differ elsewhere: products in FP8 (_scaled_mm) and attention are 0 in the
# profiler and counted by FlopCounterMode, which takes causal attention for full, twice its work. An MFU of a model in FP8 with long prompts is too low by
# one and too high by the other. Count from the model's configuration, or register a formula (torch.utils.flop_counter.register_flop_formula).
#
# Needs a GPU of compute capability 9.0 or newer. Takes PyTorch that is installed, if it is of this version. Seen on 2026-11-30 on an H200 (driver 580.159.04) with Python 3.12, torch 2.11.0, triton 3.6.0:
#   FLOP counted, of those done: profiler / FlopCounterMode
#   dense product      1.0 / 1.0
#   grouped product    0.0 / 0.0
#   product in FP8     0.0 / 1.0
#   attention          0.0 / 1.0
#   causal attention   0.0 / 2.0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! python3 -c 'import sys, torch, triton; sys.exit((torch.__version__.split("+")[0], triton.__version__) != ("2.11.0", "3.6.0"))' 2>/dev/null; then
  python3 -m pip install -q --disable-pip-version-check --target "$dir/packages" torch==2.11.0 triton==3.6.0
  export PYTHONPATH=$dir/packages
fi
cat >"$dir/count.py" <<'PYTHON'
import sys

import torch
from torch.nn.functional import grouped_mm, scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

bf16 = dict(device="cuda", dtype=torch.bfloat16)
experts, tokens, hidden, inner = 8, 4096, 2048, 1024
x, w = torch.randn(tokens, hidden, **bf16), torch.randn(experts, hidden, inner, **bf16)
ends = torch.arange(1, experts + 1, device="cuda", dtype=torch.int32) * (tokens // experts)
x8, w8 = x.to(torch.float8_e4m3fn), w[0].t().contiguous().to(torch.float8_e4m3fn).t()
one = torch.ones((), device="cuda")
batch, heads, length, head = 2, 16, 1024, 128
q = torch.randn(batch, heads, length, head, **bf16)
product, attention = 2 * tokens * hidden * inner, 4 * batch * heads * length * length * head
cases = [
    ("dense product", lambda: x @ w[0], product, (1, 1)),
    ("grouped product", lambda: grouped_mm(x, w, offs=ends), product, (0, 0)),
    ("product in FP8", lambda: torch._scaled_mm(x8, w8, scale_a=one, scale_b=one, out_dtype=torch.bfloat16), product, (0, 1)),
    ("attention", lambda: scaled_dot_product_attention(q, q, q), attention, (0, 1)),
    ("causal attention", lambda: scaled_dot_product_attention(q, q, q, is_causal=True), attention / 2, (0, 2)),
]
print("FLOP counted, of those done: profiler / FlopCounterMode")
wrong = False
for name, work, flop, want in cases:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_flops=True, record_shapes=True) as p:
        work()
    with FlopCounterMode(display=False) as counter:
        work()
    got = sum(e.flops or 0 for e in p.key_averages()) / flop, counter.get_total_flops() / flop
    print(f"{name:18} {got[0]:.1f} / {got[1]:.1f}")
    wrong |= tuple(round(g, 1) for g in got) != want
sys.exit(wrong)
PYTHON
python3 "$dir/count.py" 2>"$dir/said" || { cat "$dir/said"; exit 1; }
