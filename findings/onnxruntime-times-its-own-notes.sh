#!/usr/bin/env bash
# ONNX Runtime 1.32.0's profile counts its own bookkeeping as the operators' time: matrix products that take 77 % of a decode step seem to take 42 %.
#
# The overhead is not between the operators, where it could be seen as a gap, but in them: the clock of an operator (NAME_kernel_time) starts before the sizes
# and shapes of its inputs are collected and is read only when shapes, sizes and memory of the outputs are written into the event's texts. Each operator is
# 2 us longer by that; 1.32 has more such texts than 1.23, and costs more. A prefill does not notice. A decode step on the CPU, most of whose operators take half a
# microsecond, becomes a step of small operators that one would fuse, for nothing. Sums over a profile are more than twice what the step takes: subtract
# 2 us for each operator, or time sessions without some of them.
#
# A step of 40 products of 1x512 by 512x512, each followed by nine additions, one thread. Seen on 2026-11-30 with Python 3.11, onnxruntime 1.32.0:
#   without profile: 635 us, 77 % in products
#   kernel_time: 1469 us, 42 % in products
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
cat >"$dir/step.py" <<'PY'
import json
import sys
import time

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

ort.set_default_logger_severity(3)
hidden, layers = 512, 40
x = np.ones((1, hidden), np.float32)


def session(additions, profiled=False):
    """A session of layers: a product, and so many additions."""
    nodes, at = [], "x"
    for i in range(layers * (1 + additions)):
        nodes.append(helper.make_node("Add" if i % (1 + additions) else "MatMul", [at, "b" if i % (1 + additions) else "w"], [f"y{i}"]))
        at = f"y{i}"
    weights = [numpy_helper.from_array(np.eye(hidden, dtype=np.float32), "w"), numpy_helper.from_array(np.zeros(hidden, np.float32), "b")]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, hidden]) for name in ("x", at)]
    graph = helper.make_graph(nodes, "step", ends[:1], ends[1:], weights)
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.enable_profiling = 1, profiled
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def fastest(s):
    """The fastest of 300 runs, in us."""
    best = float("inf")
    for _ in range(300):
        start = time.perf_counter()
        s.run(None, {"x": x})
        best = min(best, time.perf_counter() - start)
    return best * 1e6


step, products = fastest(session(9)), fastest(session(0))
profiled = session(9, profiled=True)
fastest(profiled)
with open(profiled.end_profiling()) as f:
    events = [e for e in json.load(f) if e["name"].endswith("_kernel_time")]
size = layers * 10
run = min((events[i : i + size] for i in range(0, len(events), size)), key=lambda r: sum(e["dur"] for e in r))
total, matmul = sum(e["dur"] for e in run), sum(e["dur"] for e in run if e["args"]["op_name"] == "MatMul")
print(f"without profile: {step:.0f} us, {100 * products / step:.0f} % in products")
print(f"kernel_time: {total} us, {100 * matmul / total:.0f} % in products")
sys.exit(not (total > 1.6 * step and matmul / total < products / step - 0.15))
PY
cd "$dir" && venv/bin/python step.py
