#!/bin/bash
# To learn: (1) the noise between recordings that `overhead` finds by stage with 1, 3 and 6 of each on this machine, eager and by CUDA graph (by graph, where
# the tracer costs about nothing: is that said as "not measurable" or as less than 1 %, and not as an overhead?); (2) that the whole process of the first
# recording is much longer than the later ones (cold caches), and that no line compares it. About 6 minutes on one H200.
set -u
cat > /tmp/gen2.py <<'P'
import sys, torch
from transformers import LlamaConfig, LlamaForCausalLM
m = LlamaForCausalLM(LlamaConfig(hidden_size=2048, num_hidden_layers=16, num_attention_heads=16, num_key_value_heads=8, intermediate_size=5632, vocab_size=32000)).cuda().bfloat16().eval()
x = torch.randint(0, 32000, (4, 512), device="cuda")
kw = {"cache_implementation": "static"} if "graph" in sys.argv else {}
with torch.no_grad():
    for _ in range(6):
        m.generate(x, max_new_tokens=33, min_new_tokens=33, do_sample=False, **kw)
P
H=$OUT/home
for how in eager graph; do
  for n in 1 3 6; do
    timeout 200 $PROF --home $H capture --run $how-$n --mode light --auto-stages --warmup 1 --baseline --repeats $n -- python3 /tmp/gen2.py $how > $OUT/$how-$n.txt 2>&1
    $PROF --home $H query overhead --run $how-$n -f csv > $OUT/overhead-$how-$n.csv
    $PROF --home $H query capture-passes --run $how-$n -f csv > $OUT/passes-$how-$n.csv
  done
done
tail -n 12 $OUT/*.txt; rm -rf $H
