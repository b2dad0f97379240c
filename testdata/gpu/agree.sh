#!/bin/bash
# To learn: (1) that a deep capture by default records by prof's tracer, with nsys once where asked, and that both agree in kernels (count exactly, time within 1 %) by stage, eager and with CUDA graphs by node;
# (2) that --tools nsys --baseline records once more by the tracer, and how long each takes; (3) that a JAX-like loss is not claimed of a good export. (payloads.sh asks it on two GPUs.)
set -x
cat > /tmp/gen.py <<'PY'
import os, torch, sys
from transformers import LlamaConfig, LlamaForCausalLM
torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
m = LlamaForCausalLM(LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=16, num_key_value_heads=8, intermediate_size=5632, vocab_size=32000)).cuda().bfloat16().eval()
x = torch.randint(0, 32000, (4, 512), device="cuda")
kw = {"cache_implementation": "static"} if "graph" in sys.argv else {}
for _ in range(6):
    with torch.no_grad():
        m.generate(x, max_new_tokens=33, min_new_tokens=33, do_sample=False, **kw)
PY
H=$OUT/home
for how in ${HOW:-eager graph}; do
  $PROF --home $H capture --run both-$how --auto-stages --warmup 1 --baseline --repeats 1 --nsys-memory --mode light --cuda-graph-trace node -- python3 /tmp/gen.py $how > $OUT/both-$how.txt 2>&1
  $PROF --home $H query timeline-agreement --run both-$how -f csv > $OUT/agree-$how.csv
  $PROF --home $H query overhead --run both-$how -f csv > $OUT/overhead-$how.csv
  $PROF --home $H show both-$how > $OUT/show-$how.txt 2>&1
done
$PROF --home $H sql "SELECT r.name, t.kind, t.is_counted FROM timeline t JOIN run r USING (run_id) ORDER BY ALL" -f csv > $OUT/counted.csv
cp $H/runs/*/run.json $OUT/ 2>/dev/null
