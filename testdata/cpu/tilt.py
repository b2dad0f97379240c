"""A kernel of 1056 blocks of which the first 16 work thirty times as long as the others, and the same kernel with equal blocks."""
import torch

source = """
extern "C" __global__ void tilted(float* x, int heavy, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    int n = blockIdx.x < heavy ? 30 * rounds : rounds;
    for (int k = 0; k < n; k++) v = v * 1.0001f + 0.5f;
    x[i] = v;
}
"""
tilted = torch.cuda._compile_kernel(source, "tilted")
x = torch.zeros(132 * 8 * 256, device="cuda")
torch.cuda.synchronize()
for _ in range(4):
    torch.cuda.nvtx.range_push("decode")
    tilted(grid=(132 * 8, 1, 1), block=(256, 1, 1), args=[x, 16, 2000])
    tilted(grid=(132 * 8, 1, 1), block=(256, 1, 1), args=[x, 132 * 8, 300])
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_pop()
