#!/bin/bash
# To learn (about 4 minutes): ten kernels under Nsight Compute in at most 1.5 times the workload's own time, by prof's own command;
# whether the launches that were profiled are the planned ones (kernel, grid, block); the same where decode replays CUDA graphs; a script around it.
set -u
mkdir -p "$OUT/36"; cd "$OUT/36"; export PROF_HOME=$PWD/home
cat > gen.py <<'PY'
import sys, time, torch
from transformers import LlamaConfig, LlamaForCausalLM
torch.manual_seed(0)
cfg = LlamaConfig(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32, num_key_value_heads=8, vocab_size=128256, max_position_embeddings=8192)
with torch.device("cuda"): torch.set_default_dtype(torch.bfloat16); m = LlamaForCausalLM(cfg).eval()
ids = torch.randint(0, 128000, (4, 512), device="cuda")
with torch.inference_mode():
    for i in range(int(sys.argv[1])):
        torch.cuda.synchronize(); t = time.time()
        out = m.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=32, min_new_tokens=32, do_sample=False, pad_token_id=0)
        torch.cuda.synchronize(); print(f"pass {i}: {(time.time() - t) * 1e3:.1f} ms", flush=True)
open("at-end.txt", "w").write("whole\n")
PY
cat > graph.py <<'PY'
import torch
torch.manual_seed(0)
w = [torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16) * 0.02 for _ in range(16)]
def step(x):
    for a in w: x = torch.nn.functional.silu(x @ a) * x + x.mean()
    return x
x = torch.randn(4, 2048, device="cuda", dtype=torch.bfloat16); p = torch.randn(2048, 2048, device="cuda", dtype=torch.bfloat16)
g = torch.cuda.CUDAGraph(); s = torch.cuda.Stream()
with torch.cuda.stream(s):
    for _ in range(3): step(x)
torch.cuda.synchronize()
with torch.cuda.graph(g): y = step(x)
for i in range(4):
    torch.cuda.nvtx.range_push("prefill"); step(p); torch.cuda.synchronize(); torch.cuda.nvtx.range_pop()
    torch.cuda.nvtx.range_push("decode")
    for _ in range(32): g.replay()
    torch.cuda.synchronize(); torch.cuda.nvtx.range_pop()
PY
show() {
  echo "--- $1: passes (seconds are in duration_ns, the workload's own in workload_ns)"; $PROF query capture-passes --run $1 -f csv | cut -d, -f1-12
  echo "--- command of ncu"; python3 -c "import json; [print(' '.join(p['argv'])[:400], '...') for p in json.load(open('$PROF_HOME/runs/$1/run.json'))['passes'] if p['tool']=='ncu']"
  echo "--- log of ncu"; cut -c1-150 $PROF_HOME/runs/$1/ncu/report-1.messages.log | grep -v Profiling; grep -c Profiling $PROF_HOME/runs/$1/ncu/report-1.messages.log
  echo "--- planned and profiled: each planned kernel, grid and block must be among the profiled"
  $PROF sql "WITH p AS MATERIALIZED (FROM ncu_plan('$1')), m AS (SELECT n.name, x.grid, x.block, x.stage, count(*) AS n FROM ncu_measure x JOIN run r USING (run_id) JOIN kernel_name n USING (run_id, kernel_name_id) WHERE r.name = '$1' GROUP BY ALL)
    SELECT p.rank, p.stage, p.invocation, p.match_nth, p.before_count, p.recording_ns / 1e9 AS at_s, p.grid, (SELECT sum(m.n) FROM m WHERE m.grid = p.grid AND m.block = p.block AND m.stage = p.stage) AS profiled_of_shape_and_stage, left(p.kernel, 40) AS kernel FROM p ORDER BY p.rank" -f csv
  $PROF sql "SELECT x.stage, x.grid, x.block, left(n.name, 60) FROM ncu_measure x JOIN run r USING (run_id) JOIN kernel_name n USING (run_id, kernel_name_id) WHERE r.name = '$1' ORDER BY x.launch_id" -f csv
}
s=$(date +%s.%N); python3 gen.py 4; echo "alone: $(python3 -c "import time; print('%.1f s' % (time.time() - $s))")"
rm -f at-end.txt; time $PROF capture --run a --auto-stages --warmup 1 --keep at-end.txt -- python3 gen.py 4 2>&1 | tail -30; ls -la at-end.txt home/runs/a/kept; show a
time $PROF capture --run g -- python3 graph.py 2>&1 | tail -15; show g
time $PROF capture --run sh --auto-stages --warmup 1 --tools prof,ncu --ncu-top 3 -- bash -c 'python3 gen.py 3; echo "the script goes on"; sleep 60' 2>&1 | tail -15; show sh | head -12; pgrep -af gen.py
