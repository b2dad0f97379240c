#!/usr/bin/env bash
# OpenVINO 2026.4.1 says NOT_RUN of operators that ran, if they take less than a microsecond: nearly all but the products of a decode step on the CPU.
#
# get_profiling_info (PERF_COUNT) cuts the time of each run to whole microseconds, takes the mean of all runs, cuts it again, and calls an operator whose mean
# is 0 NOT_RUN, which by the documentation is one that "is not executed"; tools leave such rows out. Operators that were fused into another are NOT_RUN as well,
# so that one cannot tell a step's small operators from those that cost nothing, and looks for their time elsewhere. One of 1.9 us counts 1. Here 400
# operators take 0.2 ms and the profile has eight of them, which something held up once. Time the step with and without them instead.
#
# A chain of 400 softmax of 64 elements, one thread. Seen on 2026-11-30 with Python 3.11, openvino 2026.4.1, numpy 2.4.6:
#   400 operators take 208 us; NOT_RUN: 392
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check openvino==2026.4.1 numpy==2.4.6
cat >"$dir/chain.py" <<'PY'
import sys
import time

import numpy as np
import openvino as ov
from openvino import opset13 as op


def run(length):
    """The fastest of 500 inferences of a chain, in us, and how often each status is in its profile."""
    x = y = op.parameter([1, 64], np.float32)
    for _ in range(length):
        y = op.softmax(y, 1)
    options = {"PERF_COUNT": True, "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1}
    request = ov.Core().compile_model(ov.Model([y], [x], "chain"), "CPU", options).create_infer_request()
    best = float("inf")
    for _ in range(500):
        start = time.perf_counter()
        request.infer([np.ones((1, 64), np.float32)])
        best = min(best, time.perf_counter() - start)
    states = [str(p.status).split(".")[-1] for p in request.get_profiling_info() if p.node_type == "Softmax"]
    return best * 1e6, {s: states.count(s) for s in states}


overhead, _ = run(1)
step, states = run(400)
print(f"400 operators take {step - overhead:.0f} us; NOT_RUN: {states.get('NOT_RUN')}")
sys.exit(not (sum(states.values()) == 400 and states.get("NOT_RUN", 0) > 300))
PY
"$dir/venv/bin/python" "$dir/chain.py"
