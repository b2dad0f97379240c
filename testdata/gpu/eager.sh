#!/bin/bash
# To learn (about 200 s, one GPU): what prof's tracer costs eager decode, 6 processes alone and 6 traced in turns, all on the same 4 cores (between sockets
# a pass differs by 70 %), and what NUMA the machine has.
# $PROF, $OUT.
set -u
lscpu | grep -i -e 'model name' -e numa -e socket; nvidia-smi topo -m | head -6
cat > /tmp/eager.py <<'P'
import time, torch
from transformers import LlamaConfig, LlamaForCausalLM
torch.manual_seed(0)
m = LlamaForCausalLM(LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=16, num_key_value_heads=8, intermediate_size=5632, vocab_size=32000)).cuda().bfloat16().eval()
x = torch.randint(0, 32000, (4, 512), device="cuda"); t = []
with torch.no_grad():
    for _ in range(8):
        torch.cuda.synchronize(); s = time.perf_counter()
        m.generate(x, attention_mask=torch.ones_like(x), max_new_tokens=33, min_new_tokens=33, do_sample=False, pad_token_id=0)
        torch.cuda.synchronize(); t.append((time.perf_counter() - s) * 1e3)
print("pass ms, median %.1f, least %.1f" % (sorted(t[2:])[3], min(t)), flush=True)
P
for n in 1 2 3 4 5 6; do
  echo "alone $(taskset -c 4-7 python3 /tmp/eager.py 2>/dev/null)"
  echo "traced $(taskset -c 4-7 "$PROF" --home "$OUT/eager" capture --run e$n --no-ingest --mode light -- python3 /tmp/eager.py 2>/dev/null | grep pass)"
done | tee "$OUT/eager.txt"
rm -rf "$OUT/eager"
