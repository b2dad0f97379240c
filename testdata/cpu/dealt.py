"""The same work dealt to 1056 blocks evenly, or (uneven) so that 16 of them have thirty times as much as the others."""
import sys

import torch

source = """
extern "C" __global__ void dealt(float* x, int heavy, int long_rounds, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    int n = blockIdx.x < heavy ? long_rounds : rounds;
    for (int k = 0; k < n; k++) v = v * 1.0001f + 0.5f;
    x[i] = v;
}
"""
f = torch.cuda._compile_kernel(source, "dealt")
x = torch.zeros(132 * 8 * 256, device="cuda")
uneven = sys.argv[1] == "uneven"
for _ in range(6):
    torch.cuda.nvtx.range_push("decode")
    f(grid=(1056, 1, 1), block=(256, 1, 1), args=[x, 16, 60000 if uneven else 2878, 2000 if uneven else 2878])
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
