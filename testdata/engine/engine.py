"""A small engine with continuous batching that marks its steps as vLLM does: prefill in chunks and eager, decode by CUDA graphs padded to 1, 2, 4, 8. Writes what it did to truth.json."""
import json, sys, time, os, collections
import torch, torch.nn.functional as F
out, mode = sys.argv[1], sys.argv[2]
d, dt = "cuda", torch.bfloat16
torch.manual_seed(0)
L, H, HEADS, HD, FF, V, S, SLOTS = 2, 512, 8, 64, 1024, 1000, 512, 8
g = lambda *s: torch.randn(*s, device=d, dtype=dt) * .02
W = [dict(qkv=g(H, 3 * H), o=g(H, H), gu=g(H, 2 * FF), dn=g(FF, H)) for _ in range(L)]
emb, head = g(V, H), g(H, V)
kc = torch.zeros(L, SLOTS + 1, HEADS, S, HD, device=d, dtype=dt); vc = torch.zeros_like(kc)
def norm(x): return F.rms_norm(x, (H,))
def mlp(w, x):
    a, b = (norm(x) @ w["gu"]).chunk(2, -1); return x + (F.silu(a) * b) @ w["dn"]
def prefill(tokens, slot, start):
    x = emb[tokens]; n = len(tokens)
    for l, w in enumerate(W):
        q, k, v = (norm(x) @ w["qkv"]).view(n, 3, HEADS, HD).permute(1, 2, 0, 3)
        kc[l, slot, :, start:start + n] = k; vc[l, slot, :, start:start + n] = v
        mask = torch.ones(n, start + n, device=d, dtype=torch.bool).tril(start)
        y = F.scaled_dot_product_attention(q[None], kc[l, slot, :, :start + n][None], vc[l, slot, :, :start + n][None], attn_mask=mask)
        x = mlp(w, x + y[0].transpose(0, 1).reshape(n, H) @ w["o"])
    return norm(x[-1:]) @ head
def decode(tokens, slots, pos):
    x = emb[tokens]; b = tokens.shape[0]
    mask = (torch.arange(S, device=d)[None] <= pos[:, None])[:, None, None]
    for l, w in enumerate(W):
        q, k, v = (norm(x) @ w["qkv"]).view(b, 3, HEADS, HD).unbind(1)
        kc[l][slots, :, pos] = k; vc[l][slots, :, pos] = v
        y = F.scaled_dot_product_attention(q[:, :, None], kc[l][slots], vc[l][slots], attn_mask=mask)
        x = mlp(w, x + y.reshape(b, H) @ w["o"])
    return norm(x) @ head
if mode == "nsys":
    import contextlib
    @contextlib.contextmanager
    def mark(name):
        torch.cuda.nvtx.range_push(name); yield; torch.cuda.nvtx.range_pop()
else: mark = torch.profiler.record_function
graphs = {}
with torch.no_grad():
    for b in (8, 4, 2, 1):
        buf = dict(t=torch.zeros(b, device=d, dtype=torch.long), s=torch.full((b,), SLOTS, device=d), p=torch.zeros(b, device=d, dtype=torch.long))
        for _ in range(2): decode(buf["t"], buf["s"], buf["p"])
        torch.cuda.synchronize(); cg = torch.cuda.CUDAGraph()
        with torch.cuda.graph(cg): buf["o"] = decode(buf["t"], buf["s"], buf["p"])
        graphs[b] = (cg, buf)
    prefill(torch.zeros(64, device=d, dtype=torch.long), SLOTS, 0); prefill(torch.zeros(64, device=d, dtype=torch.long), SLOTS, 64); torch.cuda.synchronize()
waiting = collections.deque((r, 40 + 23 * r, 4 + r % 5) for r in range(9)); running = []; free = list(range(SLOTS)); truth = []; BUDGET = 128
@torch.no_grad()
def step(n):
    with mark("scheduler: schedule"):
        budget, ctx, gen = BUDGET, [], []
        for r in running:
            if r["done"] >= r["prompt"]: gen.append(r); budget -= 1
        for r in running:
            if r["done"] < r["prompt"] and budget > 0: c = min(budget, r["prompt"] - r["done"]); ctx.append((r, c)); budget -= c
        while waiting and free and budget > 0 and len(running) < SLOTS:
            i, p, o = waiting.popleft(); r = dict(id=i, prompt=p, out=o, done=0, made=0, slot=free.pop(), last=0); running.append(r)
            c = min(budget, p); ctx.append((r, c)); budget -= c
        time.sleep(.0002)
    nt = sum(c for _, c in ctx); t0 = time.time_ns()
    with mark(f"execute_context_{len(ctx)}({nt})_generation_{len(gen)}({len(gen)})"):
        with mark("gpu_model_runner: preprocess"):
            pt = [torch.randint(0, V, (c,)).to(d, non_blocking=True) for _, c in ctx]
            b = next((x for x in (1, 2, 4, 8) if x >= len(gen)), 0) if gen else 0
            if gen:
                buf = graphs[b][1]; pad = [0] * (b - len(gen))
                buf["t"].copy_(torch.tensor([r["last"] for r in gen] + pad)); buf["s"].copy_(torch.tensor([r["slot"] for r in gen] + [SLOTS] * len(pad))); buf["p"].copy_(torch.tensor([r["done"] for r in gen] + pad))
        with mark("gpu_model_runner: forward"):
            logits = [prefill(x, r["slot"], r["done"]) for x, (r, c) in zip(pt, ctx)]
            if gen: graphs[b][0].replay(); logits.append(graphs[b][1]["o"][:len(gen)])
        with mark("gpu_model_runner: sample"):
            toks = torch.cat(logits).argmax(-1)
        with mark("gpu_model_runner: bookkeep"):
            toks = toks.tolist()
    pairs_ctx = sum(c * (2 * r["done"] + c + 1) // 2 for r, c in ctx); keys_gen = sum(r["done"] + 1 for r in gen)
    truth.append(dict(step=n, context_requests=len(ctx), context_tokens=nt, generation_requests=len(gen), generation_tokens=len(gen), padded=b, context_keys=sum(r["done"] + c for r, c in ctx), generation_keys=keys_gen, kind="mixed" if ctx and gen else "prefill" if ctx else "decode"))
    with mark("output_processor: detokenize"):
        for (r, c), t in zip(ctx, toks):
            r["done"] += c
            if r["done"] == r["prompt"]: r["last"] = t; r["made"] = 1
        for r, t in zip(gen, toks[len(ctx):]): r["last"] = t; r["done"] += 1; r["made"] += 1
        for r in [r for r in running if r["made"] >= r["out"]]: running.remove(r); free.append(r["slot"])
        time.sleep(.0001)
def run():
    n = 0
    while waiting or running: step(n); n += 1
    torch.cuda.synchronize()
if mode == "nsys":
    torch.cuda.cudart().cudaProfilerStart(); run(); torch.cuda.cudart().cudaProfilerStop()
else:
    with torch.profiler.profile(record_shapes=True) as p: run()
    p.export_chrome_trace(out + "/engine.trace.json.gz")
json.dump(truth, open(f"{out}/engine.{mode}.truth.json", "w"), indent=0)
