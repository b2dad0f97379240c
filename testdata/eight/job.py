"""user_tp.py with what a job of more ranks than GPUs needs, and one rank made slow: SLOW=RANK[:MS]."""
import os, time, torch, torch.distributed as dist
from transformers import LlamaConfig, LlamaForCausalLM
r, l, n = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"]), torch.cuda.device_count()
if int(os.environ["LOCAL_WORLD_SIZE"]) > n:
    os.environ.update(NCCL_HOSTID=f"h{l // n}", NCCL_SOCKET_IFNAME="lo", NCCL_IB_DISABLE="1", LOCAL_RANK=str(l % n)); l = l % n
torch.cuda.set_device(l); backend = os.environ.get("BACKEND", "nccl")
dist.init_process_group(backend, **({"device_id": torch.device("cuda", l)} if backend == "nccl" else {})); D = "/tmp/tpmodel"
layers, tokens, passes = int(os.environ.get("LAYERS", 8)), int(os.environ.get("TOKENS", 24)), int(os.environ.get("PASSES", 4))
D += f"-{layers}"
if r == 0 and not os.path.exists(D + "/config.json"):
    torch.manual_seed(0); c = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=layers, num_attention_heads=32, num_key_value_heads=8, vocab_size=32000)
    LlamaForCausalLM(c).to(torch.bfloat16).save_pretrained(D)
dist.barrier()
m = LlamaForCausalLM.from_pretrained(D, tp_plan="auto", dtype=torch.bfloat16).eval()
slow, _, ms = os.environ.get("SLOW", "-1").partition(":")
if r == int(slow):
    wait = float(ms or 2) / 1e3
    for name, part in m.named_modules():
        if name.endswith(("o_proj", "down_proj")): part.register_forward_pre_hook(lambda *_: time.sleep(wait))
ids = torch.randint(0, 31000, (4, 512), device=f"cuda:{l}"); dist.broadcast(ids, 0)
with torch.inference_mode():
    for i in range(passes):
        torch.cuda.synchronize(); t = time.time()
        o = m.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, min_new_tokens=tokens, do_sample=False, pad_token_id=0)
        torch.cuda.synchronize()
        if r == 0: print(f"pass {i}: {(time.time() - t) * 1e3:.1f} ms", flush=True)
dist.destroy_process_group()
