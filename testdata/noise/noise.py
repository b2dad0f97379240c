"""One process of a small Llama with random weights: passes of prefill, decode (eager) and decode by CUDA graph; the host's times as JSON."""
import json, os, sys, time
import torch
import torch.nn.functional as F
from torch.cuda import nvtx

torch.manual_seed(0)
dev, dt = "cuda", torch.bfloat16
L, H, I, NH, NK, D, V, B, P, S = 16, 2048, 8192, 32, 8, 64, 32000, 4, 512, 16
MAX = P + 4 * S
w = lambda *s: torch.randn(*s, device=dev, dtype=dt) * 0.02
emb, head = w(V, H), w(V, H)
layers = [dict(n1=torch.ones(H, device=dev, dtype=dt), n2=torch.ones(H, device=dev, dtype=dt), q=w(NH * D, H), k=w(NK * D, H), v=w(NK * D, H), o=w(H, NH * D), g=w(I, H), u=w(I, H), d=w(H, I)) for _ in range(L)]
last = torch.ones(H, device=dev, dtype=dt)
K = [torch.zeros(B, NK, MAX, D, device=dev, dtype=dt) for _ in range(L)]
VV = [torch.zeros(B, NK, MAX, D, device=dev, dtype=dt) for _ in range(L)]
inv = 1.0 / (10000 ** (torch.arange(0, D, 2, device=dev).float() / D))
places = torch.arange(MAX, device=dev)[None, :]


def norm(x, g):
    y = x.float()
    return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * g


def rope(x, pos):
    a = pos[:, None].float() * inv[None]
    c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
    x1, x2 = x[..., : D // 2], x[..., D // 2 :]
    return torch.cat((x1 * c - x2 * s, x2 * c + x1 * s), -1)


def forward(ids, pos):
    x = F.embedding(ids, emb)
    n = ids.shape[1]
    mask = places <= pos[:, None]
    for i, l in enumerate(layers):
        h = norm(x, l["n1"])
        q = rope(F.linear(h, l["q"]).view(B, n, NH, D).transpose(1, 2), pos)
        k = rope(F.linear(h, l["k"]).view(B, n, NK, D).transpose(1, 2), pos)
        v = F.linear(h, l["v"]).view(B, n, NK, D).transpose(1, 2)
        K[i].index_copy_(2, pos, k)
        VV[i].index_copy_(2, pos, v)
        a = F.scaled_dot_product_attention(q, K[i].repeat_interleave(NH // NK, 1), VV[i].repeat_interleave(NH // NK, 1), attn_mask=mask)
        x = x + F.linear(a.transpose(1, 2).reshape(B, n, NH * D), l["o"])
        h = norm(x, l["n2"])
        x = x + F.linear(F.silu(F.linear(h, l["g"])) * F.linear(h, l["u"]), l["d"])
    return F.linear(norm(x[:, -1:], last), head).argmax(-1)


ids = torch.randint(0, V, (B, P), device=dev)
prompt = torch.arange(P, device=dev)
step_ids, step_pos = torch.zeros(B, 1, dtype=torch.long, device=dev), torch.full((1,), P, dtype=torch.long, device=dev)
times = []


def stage(name, mark, do, keep):
    torch.cuda.synchronize()
    nvtx.range_push(mark)
    t = time.perf_counter_ns()
    do()
    torch.cuda.synchronize()
    t = time.perf_counter_ns() - t
    nvtx.range_pop()
    if keep:
        times.append([name, t])


def prefill():
    step_ids.copy_(forward(ids, prompt))


def eager(steps=S):
    for i in range(steps):
        nvtx.range_push(f"decode_step[{i}]")
        step_pos.fill_(P + i)
        step_ids.copy_(forward(step_ids, step_pos))
        step_ids[0, 0].item()
        nvtx.range_pop()


with torch.inference_mode():
    stage("prefill", "warm_up", prefill, False)
    stage("decode", "warm_up", lambda: eager(4), False)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        forward(step_ids, step_pos)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step_ids.copy_(forward(step_ids, step_pos))

    def replay():
        for i in range(S):
            nvtx.range_push(f"graph_step[{i}]")
            step_pos.fill_(P + i)
            graph.replay()
            step_ids[0, 0].item()
            nvtx.range_pop()

    for i in range(5):
        stage("prefill", "LLM@prefill", prefill, True)
        stage("decode", "LLM@decode_all", eager, True)
        stage("graph", "graph_decode", replay, True)
with open(os.path.join(sys.argv[1], f"{time.time_ns()}-{os.getpid()}.json"), "w") as f:
    json.dump({"card": torch.cuda.get_device_name(), "traced": "CUDA_INJECTION64_PATH" in os.environ, "ns": times}, f)
