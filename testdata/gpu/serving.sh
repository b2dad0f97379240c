#!/bin/bash
# To learn: prof capture --serving with the toy engine on one GPU (GPUS=2: two, data parallel), five times without a failure; TPOT of the client and the sum
# of its causes agree within 2 %; how long it waits for a steady state; what show leads with.
# Prints a line per run "TPOT client X ms, causes Y ms, off Z %" and at the end "serving: N of 5 ok".
# Runs in the repository's root; $PROF is the program, $OUT a folder. About 75 s a run (the model is made in ~20 s).
set -u
GPUS=${GPUS:-1} RUNS=${RUNS:-5} REQUESTS=${REQUESTS:-$((200 * ${GPUS:-1}))}
export PROF_HOME=$OUT/serving-$GPUS
work=$(mktemp -d); root=$PWD; ok=0
cd "$work"
python3 -c 'import torch, transformers; print("torch", torch.__version__, "transformers", transformers.__version__, torch.cuda.get_device_name())'
for n in $(seq "$RUNS"); do
  echo "=== run $n"
  "$PROF" capture --run "serve-$n" --serving --ready http://127.0.0.1:8000/health --window 10s \
    --load "python3 $root/testdata/serving/toy_load.py --requests $REQUESTS --concurrency $((8 * GPUS)) --result bench-$n.json" \
    -- python3 "$root/testdata/serving/toy_engine.py" --gpus "$GPUS" >"$OUT/serving-$GPUS-$n.log" 2>&1
  code=$?
  grep '^prof: ' "$OUT/serving-$GPUS-$n.log"
  line=$("$PROF" sql --format csv "SELECT round(any_value(window_tpot_ns) / 1e6, 3) AS client, round(sum(per_token_ns) / 1e6, 3) AS causes, round(100 * (any_value(all_token_mean_ns) / any_value(window_tpot_ns) - 1), 2) AS off, device FROM tpot_causes('serve-$n') GROUP BY source_id, pid, device ORDER BY device" | tail -n +2)
  echo "exit $code; client ms, causes ms, off %, gpu: $line"
  [ $code = 0 ] && [ -n "$line" ] && echo "$line" | awk -F, '{if ($3 > 2 || $3 < -2) bad = 1} END {exit bad}' && ok=$((ok + 1))
done
echo "=== show"; "$PROF" show "serve-$RUNS" --wide
echo "=== tpot-causes"; "$PROF" query tpot-causes --run "serve-$RUNS"
echo "=== serving-parts"; "$PROF" query serving-parts --run "serve-$RUNS"
echo "=== iterations"; "$PROF" query iteration-summary --run "serve-$RUNS"
# The client's TPOT without the tracer at all, for what the tracer costs: engine alone, same load, twice.
python3 "$root/testdata/serving/toy_engine.py" --gpus "$GPUS" & engine=$!
until curl -sf -o /dev/null http://127.0.0.1:8000/health; do sleep 1; kill -0 $engine || break; done
for i in 1 2; do echo "=== alone"; python3 "$root/testdata/serving/toy_load.py" --requests "$REQUESTS" --concurrency $((8 * GPUS)) --result "$OUT/alone-$GPUS-$i.json"; done
kill -INT $engine; wait $engine
cp bench-*.json "$OUT" 2>/dev/null
echo "serving: $ok of $RUNS ok"
