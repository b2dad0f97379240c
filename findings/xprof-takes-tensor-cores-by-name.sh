#!/usr/bin/env bash
# XProf 2.24.2 sees no Tensor Cores in the matrix products and attention of an H200, and sees them in the one kernel here that uses none.
#
# Its kernel statistics say whether a "Kernel uses TensorCore", by a heuristic "based on the presence of common Tensor Core instructions", as its
# documentation puts it. It looks at no instruction: it searches the name for a list of texts that ends with Ampere (s16816, h884, xmma_gemm, ...). Of what
# cuBLAS (nvjet), cuDNN and XLA's Triton run on Hopper and Blackwell nearly nothing has one, so that a model which lives on Tensor Cores is shown without, in
# this column and in the operations' "GPU TensorCore utilization". cuBLAS' product by FFMA, in FP32, does have xmma_gemm in its name. The column beside it
# says that a product is eligible: who believes both hunts for a wrong precision or shape. Ask Nsight Compute for the pipe instead.
#
# Names of kernels that ran on an H200; needs no GPU. Seen on 2026-11-30 with xprof 2.24.2, Python 3.11:
#   False nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT
#   False gemm_fusion_dot_1
#   False cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0
#   True  sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas
#   dot_general: on Tensor Cores for 25 % of its time
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m venv "$dir/venv"
"$dir/venv/bin/pip" install -q --disable-pip-version-check xprof==2.24.2
cat >"$dir/cores.py" <<'PY'
import json
import sys

from xprof.convert import raw_to_tool_data

names = [
    "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT",
    "gemm_fusion_dot_1",
    "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64_4x1x1_cga1x1x1_kernel0_0",
    "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4_alignc4_execute_kernel__5x_cublas",
]


def number(n):
    return bytes([n & 127 | 128]) + number(n >> 7) if n > 127 else bytes([n])


def message(*fields):
    """A protobuf message of (number, value)."""
    out = b""
    for key, value in fields:
        value = value.encode() if isinstance(value, str) else value
        out += number(key << 3) + number(value) if isinstance(value, int) else number(key << 3 | 2) + number(len(value)) + value
    return out


def rows(tool):
    """The first table of a tool, each row by column."""
    table = json.loads(raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], tool, {})[0])
    table = table[0] if isinstance(table, list) else table
    return [{column["id"]: cell.get("v") for column, cell in zip(table["cols"], row["c"])} for row in table["rows"]]


device = {"compute_cap_major": 9, "compute_cap_minor": 0, "core_count": 132, "clock_rate": 1980000, "memory_bandwidth": 4915 * 10**9, "device_vendor": "Nvidia"}
stats = {"tf_op": "jit(decode)/dot_general:", "kernel_details": "regs:168 grid:132,1,1 block:384,1,1 occ_pct:18.75"} | device
of = {name: message((1, i + 1), (5 if isinstance(value, str) else 3, value)) for i, (name, value) in enumerate(stats.items())}
events = [(4, message((1, i + 1), (2, i * 20_000_000), (3, 10_000_000), (4, of["tf_op"]), (4, of["kernel_details"]))) for i in range(len(names))]
named = [(4, message((1, i + 1), (2, message((1, i + 1), (2, name))))) for i, name in enumerate(names)]
named += [(5, message((1, i + 1), (2, message((1, i + 1), (2, name))))) for i, name in enumerate(stats)] + [(6, of[name]) for name in device]
plane = message((1, 1), (2, "/device:GPU:0"), (3, message((1, 7), (2, "Stream #7(Compute)"), (3, 1000), *events)), *named)
with open(sys.argv[1], "wb") as f:
    f.write(message((1, plane)))
uses = {row["kernel_name"]: row["is_kernel_using_tensor_core"] for row in rows("kernel_stats")}
share = max(row["gpu_tensorcore_utilization"] for row in rows("framework_op_stats"))
for name in names:
    print(f"{uses[name]!s:5} {name}")
print(f"dot_general: on Tensor Cores for {100 * share:.0f} % of its time")
sys.exit([uses[name] for name in names] != [False, False, False, True] or share != 0.25)
PY
"$dir/venv/bin/python" "$dir/cores.py" "$dir/run.xplane.pb" 2>/dev/null
