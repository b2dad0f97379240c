#!/bin/bash
# Learned, on two GPUs: that prof's own tracer gives `collectives` the bytes, rank counts and bus bandwidths that Nsight Systems gives (the same operations, calls,
# total_bytes and rank_count in each stage; times differ by what waiting differs), for the whole process, for a window under `prof launch` that opens long after the
# communicators were made, and under torchrun. And what payloads cost: the tracer's overhead of a step is printed by `overhead`; `timeline-agreement` says whether the tracer and nsys
# agree in kernels and GPU time on two GPUs (within 1 %).
# Runs in the repository's root; $PROF, $OUT. About 5 minutes. ${TOOLS:-shared/tools}/nccl_workload.py starts its ranks itself (not by torchrun, which would start it twice);
# user_tp.py is what torchrun starts.
set -u
H=$OUT/home; export PROF_HOME=$H
ask() { # RUN NAME
  "$PROF" query collectives --run "$1" -f csv > "$OUT/collectives-$2.csv"
  "$PROF" query collective-sizes --run "$1" -f csv > "$OUT/sizes-$2.csv"
  "$PROF" sql -f csv "SELECT operation, in_bytes, out_bytes, group_size, count(*) AS calls, count(DISTINCT rank_id) AS ranks FROM collective_call c JOIN run r USING (run_id) WHERE r.name = '$1' GROUP BY ALL ORDER BY ALL" > "$OUT/calls-$2.csv"
  "$PROF" sql -f csv "SELECT r.name, count(*) AS ranges, count(r.duration_ns) AS ended FROM ranges r JOIN run x USING (run_id) WHERE x.name = '$1' AND r.name LIKE 'nccl%' GROUP BY ALL ORDER BY ALL" > "$OUT/ranges-$2.csv"
  "$PROF" query diagnostics --run "$1" > "$OUT/diagnostics-$2.txt" 2>&1
}
python3 -c "import torch; print(torch.__version__, torch.cuda.nccl.version())" | tee "$OUT/nccl.txt"
spawned=(python3 ${TOOLS:-shared/tools}/nccl_workload.py)
byrun=(torchrun --nproc-per-node 2 ${TOOLS:-shared/tools}/user_tp.py)
"${byrun[@]}" > "$OUT/alone.txt" 2>&1 # makes its model, and warms caches
"$PROF" capture --run spawned-prof --mode light -- "${spawned[@]}" > "$OUT/spawned-prof.txt" 2>&1; echo "exit $?"; ask spawned-prof spawned-prof
"$PROF" capture --run spawned-nsys --mode light --tools nsys -- "${spawned[@]}" > "$OUT/spawned-nsys.txt" 2>&1; echo "exit $?"; ask spawned-nsys spawned-nsys
"$PROF" capture --run tp-prof --mode light --auto-stages --baseline --repeats 2 --nsys-memory -- "${byrun[@]}" > "$OUT/tp-prof.txt" 2>&1; echo "exit $?"; ask tp-prof tp-prof
"$PROF" capture --run tp-nsys --mode light --auto-stages --tools nsys -- "${byrun[@]}" > "$OUT/tp-nsys.txt" 2>&1; echo "exit $?"; ask tp-nsys tp-nsys
"$PROF" query overhead --run tp-prof -f csv > "$OUT/overhead.csv"
"$PROF" query timeline-agreement --run tp-prof -f csv > "$OUT/agreement.csv"
"$PROF" show tp-prof > "$OUT/show-tp-prof.txt" 2>&1

# A window that opens 20 s after the ranks have joined: the communicators are older than all that is recorded.
cat > "$OUT/long.py" <<'P'
import os, time, torch, torch.distributed as dist
r = int(os.environ["LOCAL_RANK"]); torch.cuda.set_device(r); dist.init_process_group("nccl", device_id=torch.device("cuda", r))
x = torch.ones(1 << 20, device="cuda"); two = dist.new_group([0, 1])
end = time.time() + 60
while time.time() < end:
    dist.all_reduce(x); dist.all_reduce(x[:1024], group=two); torch.cuda.synchronize(); x.fill_(1)
    if float(dist.all_reduce(s := torch.tensor([time.time() < end], device="cuda", dtype=torch.float32)) or s[0]) < 2: break
dist.destroy_process_group()
P
"$PROF" launch --name late -- torchrun --nproc-per-node 2 "$OUT/long.py" > "$OUT/late-launch.txt" 2>&1 & pid=$!
sleep 30
"$PROF" capture --attach late --run late --window 4s > "$OUT/late.txt" 2>&1; echo "exit $?"; ask late late
wait $pid
for n in spawned tp; do echo "=== $n"; diff <(cut -d, -f1-5 "$OUT/calls-$n-prof.csv") <(cut -d, -f1-5 "$OUT/calls-$n-nsys.csv") && echo same calls; paste -d'\n' "$OUT/collectives-$n-prof.csv" "$OUT/collectives-$n-nsys.csv"; done
echo "=== late"; cat "$OUT/calls-late.csv" "$OUT/collectives-late.csv"
cat "$OUT/overhead.csv" "$OUT/agreement.csv"
