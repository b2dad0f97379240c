#!/usr/bin/env bash
# OpenVINO 2026.4.1 gives a decode step the time of the prefill: its counters are means of all inferences since the model was compiled.
#
# get_profiling_info (PERF_COUNT) is asked of a request and reads like the times of its last inference; the documentation says "absolute time that the node ran
# (in total)". It is neither: the CPU plugin adds up each operator's time over all runs of all requests, and divides by their number. A language model runs
# prompts and single tokens through one compiled model, so that after one prefill each decode step has a share of it: its operators look 25 to 50 times slower
# after nine tokens and half of that after nineteen, as if they became faster. A slow first inference stays in it too. There is no reset: keep mean x number
# of runs from before and subtract it, or compile the model once more for the phase that you measure.
#
# Four products of 512 by 512, a prompt of 1024 tokens, one thread. Seen on 2026-11-30 with Python 3.11, openvino 2026.4.1, numpy 2.4.6:
#   decode takes 97 us; in a model of its own 72 us by the counters
#   in one that did a prefill: 5098 us after 9 steps, 2568 us after 19; 2446 us for a step of another request
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check openvino==2026.4.1 numpy==2.4.6
cat >"$dir/phases.py" <<'PY'
import sys
import time

import numpy as np
import openvino as ov
from openvino import opset13 as op

hidden = 512
prompt, token = np.ones((1024, hidden), np.float32), np.ones((1, hidden), np.float32)


def compiled():
    """A model of four products, for any number of tokens."""
    x = y = op.parameter([-1, hidden], np.float32)
    weights = op.constant(np.eye(hidden, dtype=np.float32))
    for _ in range(4):
        y = op.matmul(y, weights, False, False)
    return ov.Core().compile_model(ov.Model([y], [x], "phases"), "CPU", {"PERF_COUNT": True, "INFERENCE_NUM_THREADS": 1, "NUM_STREAMS": 1})


def steps(request, number):
    """What the counters say after so many decode steps, and the fastest step, both in us."""
    best = float("inf")
    for _ in range(number):
        start = time.perf_counter()
        request.infer([token])
        best = min(best, time.perf_counter() - start)
    return sum(p.real_time.total_seconds() for p in request.get_profiling_info()) * 1e6, best * 1e6


alone, took = steps(compiled().create_infer_request(), 500)
both = compiled()
request = both.create_infer_request()
request.infer([prompt])
(nine, _), (nineteen, _), (other, _) = steps(request, 9), steps(request, 10), steps(both.create_infer_request(), 1)
print(f"decode takes {took:.0f} us; in a model of its own {alone:.0f} us by the counters")
print(f"in one that did a prefill: {nine:.0f} us after 9 steps, {nineteen:.0f} us after 19; {other:.0f} us for a step of another request")
sys.exit(not (alone < 3 * took and nine > 5 * took and 0.4 < nineteen / nine < 0.65 and 0.8 < other / nineteen < 1))
PY
"$dir/venv/bin/python" "$dir/phases.py"
