#!/bin/bash
# To learn (about 270 s, one GPU): what prof's tracer costs eager decode, as it is (callbacks) and with calls as records of CUPTI, 5 processes of each and 5 alone in turns, all on
# the same 4 cores (else processes of one program differ by 70 % on a host of 32), and what NUMA the machine has.
# Runs in the repository's root; $OUT.
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
packages=$(python3 -c 'import torch, os; print(os.path.dirname(os.path.dirname(torch.__file__)))')
include=$packages/nvidia/cu13/include crt=$(find "$packages" /usr/local -path '*crt/host_defines.h' 2>/dev/null | head -n 1)
source=capture/tracer/source/tracer.c
sed 's/by_records = p_cuptiSubscribe(&subscriber, call, 0) != CUPTI_SUCCESS;/by_records = 1;/' $source > /tmp/records.c
cmp -s $source /tmp/records.c && echo "records.c is the same as the tracer: mend this script"
for v in calls records; do
  gcc -O2 -shared -fPIC -fvisibility=hidden -I "$include" -I "${crt%/crt/*}" "$([ $v = calls ] && echo $source || echo /tmp/records.c)" -o /tmp/$v.so -ldl -lpthread || exit 1
done
for n in 1 2 3 4 5; do
  echo "alone $(taskset -c 4-7 python3 /tmp/eager.py 2>/dev/null)"
  for v in calls records; do
    mkdir -p /tmp/trace-$v-$n
    echo "$v $(CUDA_INJECTION64_PATH=/tmp/$v.so NVTX_INJECTION64_PATH=/tmp/$v.so PROF_TRACE_DIR=/tmp/trace-$v-$n PROF_TRACE_BASE=0 PROF_TRACE_CUPTI=$packages/nvidia/cu13/lib/libcupti.so.13 \
      taskset -c 4-7 python3 /tmp/eager.py 2>/dev/null)"
  done
done | tee "$OUT/eager.txt"
ls -l /tmp/trace-calls-1 /tmp/trace-records-1
