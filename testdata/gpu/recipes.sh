#!/bin/bash
# What docs/capture.md shows of its recipes, from a real run. To learn: what
# capture prints at its end, how long it takes, what show says; the training step; a machine without nsys.
# $PROF is the built program, $OUT comes back. About 4 minutes on one H200.
set -u
mkdir -p /tmp/recipes && cd /tmp/recipes
cat > generate.py <<'P'
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=2048, intermediate_size=5632, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8, vocab_size=32000)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16).eval()
prompt = torch.randint(1, 32000, (4, 512), device="cuda")
for _ in range(6):
    model.generate(prompt, max_new_tokens=32, min_new_tokens=32, do_sample=False, pad_token_id=0)
torch.cuda.synchronize()
P
cat > train.py <<'P'
import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16, vocab_size=32000)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
for _ in range(40):
    with torch.cuda.nvtx.range("train_step"):
        tokens = torch.randint(1, 32000, (4, 1024), device="cuda")
        model(tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
torch.cuda.synchronize()
P
export COLUMNS=100
$PROF doctor > $OUT/doctor.txt 2>&1
S=$SECONDS; $PROF capture --run first --auto-stages --warmup 1 --baseline --repeats 3 -- python3 generate.py > $OUT/first.txt 2>&1; echo "exit $? seconds $((SECONDS-S))" >> $OUT/first.txt
$PROF show first > $OUT/first.show.txt 2>&1
S=$SECONDS; $PROF capture --run step --mode light --range train_step --after 10 --window 20 -- python3 train.py > $OUT/step.txt 2>&1; echo "exit $? seconds $((SECONDS-S))" >> $OUT/step.txt
$PROF show step > $OUT/step.show.txt 2>&1; $PROF query steps --run step --top 5 > $OUT/step.steps.txt 2>&1; $PROF query step-times --run step > $OUT/step.times.txt 2>&1
# as in a container without NVIDIA's tools
S=$SECONDS; PROF_NSYS=/nonexistent PROF_NCU=/nonexistent $PROF capture --run bare --mode light --auto-stages --warmup 1 --baseline -- python3 generate.py > $OUT/bare.txt 2>&1; echo "exit $? seconds $((SECONDS-S))" >> $OUT/bare.txt
PROF_NSYS=/nonexistent PROF_NCU=/nonexistent $PROF doctor > $OUT/bare.doctor.txt 2>&1
$PROF show bare > $OUT/bare.show.txt 2>&1
PROF_NSYS=/nonexistent PROF_NCU=/nonexistent $PROF capture --dry-run --run dry --auto-stages --baseline --repeats 3 -- python3 generate.py > $OUT/dry.txt 2>&1
