#!/bin/bash
# To learn (2 GPUs): that "GPU 1 is shared" is said where the workload sees GPU 1 and not where CUDA_VISIBLE_DEVICES hides it, with the real NVML.
# Expected: lines 1 and 3 say "GPU 1 is shared: another process uses it", lines 2, 4 and 5 say nothing; in a container that hides other processes
# from NVML even line 1 may say nothing: then nothing is learned.
set -u
export PROF_HOME=$OUT/home
python3 -c 'import torch, time; x = torch.randn(4096, 4096, device="cuda:1"); t = time.time()
while time.time() - t < 240: x = (x @ x).tanh()' & busy=$!
sleep 15
nvidia-smi --query-gpu=index,uuid,name,utilization.gpu --format=csv | tee "$OUT/smi.txt"
work=(python3 -c 'import torch; print(torch.randn(64, 64, device="cuda").sum().item())')
uuid=$(nvidia-smi --query-gpu=uuid --format=csv,noheader | sed -n 1p)
n=0
for set in "" 0 1 -1 "$uuid"; do
  n=$((n + 1))
  if [ -z "$set" ]; then env=(env -u CUDA_VISIBLE_DEVICES); else env=(env "CUDA_VISIBLE_DEVICES=$set"); fi
  "${env[@]}" "$PROF" capture --run "r$n" --mode light --no-ingest -- "${work[@]}" >"$OUT/$n.out" 2>"$OUT/$n.err"
  echo "$n CUDA_VISIBLE_DEVICES='$set': $(grep -o 'GPU [0-9]* is shared[^;]*' "$OUT/$n.err" | tr '\n' ' ')"
done | tee "$OUT/shared.txt"
kill $busy
# And as a user: the dry runs on a machine that has the tracer.
"$PROF" capture --dry-run --serving --ready http://127.0.0.1:8000/health --load 'sleep 60' -- python3 -m http.server 8000; echo "rc=$?"
"$PROF" launch --dry-run --name x -- python3 -m http.server 8000; echo "rc=$?"
