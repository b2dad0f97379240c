#!/usr/bin/env bash
# Proton of Triton 3.6 counts the FLOP of a CUDA graph once, at its capture, and apart from its time: a model that decodes by graph has no FLOP/s.
#
# A scope's metrics (proton.scope("mm", {"flops": F})) are added when the Python code runs. Under a graph that is the capture, when nothing is computed. The
# replays' kernels do come under the same scopes, below <captured_at>, but with time alone, and the flops stand in a scope of that name elsewhere, without
# time. Ten replays of two products: 20 products in time, 2 in FLOP, and no frame that has both; proton-viewer's tflop/s is empty or wrong by the number of
# replays. Put flops on the scope around the replay, for all that the graph does.
#
# Needs a GPU. Takes PyTorch and Triton that are installed, if they are of these versions. Seen on 2026-11-30 on an H200 (driver 580.159.04) with Python 3.12, torch 2.11.0, triton 3.6.0:
#   FLOP of 2 products, time of 20; frames with both: 0
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
if ! python3 -c 'import sys, torch, triton; sys.exit((torch.__version__.split("+")[0], triton.__version__) != ("2.11.0", "3.6.0"))' 2>/dev/null; then
  python3 -m pip install -q --disable-pip-version-check --target "$dir/packages" torch==2.11.0 triton==3.6.0
  export PYTHONPATH=$dir/packages
fi
cat >"$dir/graph.py" <<'PYTHON'
import json
import sys

import torch
import triton.profiler as proton

n = 4096
x = torch.randn(n, n, device="cuda", dtype=torch.bfloat16)
y = torch.empty_like(x)
flop = 2 * n**3
torch.mm(x, x, out=y)
out = sys.argv[1] + "/graph"
proton.start(out)
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    for _ in range(2):
        with proton.scope("mm", {"flops": flop}):
            torch.mm(x, x, out=y)
for _ in range(10):
    with proton.scope("replay"):
        graph.replay()
torch.cuda.synchronize()
proton.finalize()


def frames(node, under=()):
    name = node["frame"]["name"]
    yield under + (name,), node["metrics"], node["children"]
    for child in node["children"]:
        yield from frames(child, under + (name,))


tree = list(frames(json.load(open(out + ".hatchet"))[0]))
counted = sum(m.get("flops", 0) for path, m, _ in tree) / flop
timed = sum(m.get("count", 0) for path, m, _ in tree if "mm" in path[:-1])
both = sum(m.get("flops", 0) > 0 and any(c["metrics"].get("time (ns)", 0) > 0 for c in below) for path, m, below in tree)
print(f"FLOP of {counted:.0f} products, time of {timed}; frames with both: {both}")
sys.exit((counted, timed, both) != (2, 20, 0))
PYTHON
python3 "$dir/graph.py" "$dir" 2>"$dir/said" || { cat "$dir/said"; exit 1; }
