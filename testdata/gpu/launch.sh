#!/bin/bash
# To learn: what `prof launch` costs while nothing records (engine alone against launched, in turns, TPOT of the client), and that --attach records it as often
# as wanted, with and without load, each as a run whose TPOT and causes agree; that the engine goes on and ends in order.
# Runs in the repository's root; $PROF, $OUT. About 5 minutes for TURNS=3.
set -u
TURNS=${TURNS:-3}
export PROF_HOME=$OUT/launch
work=$(mktemp -d); root=$PWD; cd "$work"
engine=("python3" "$root/testdata/serving/toy_engine.py")
load="python3 $root/testdata/serving/toy_load.py --requests 400 --concurrency 8"
ready() { until curl -sf -o /dev/null http://127.0.0.1:8000/health; do sleep 0.5; kill -0 "$1" 2>/dev/null || return 1; done; }
finish() { kill -INT "$1"; wait "$1"; echo "engine ended with $?"; }
for t in $(seq "$TURNS"); do
  "${engine[@]}" & pid=$!; ready $pid; echo "=== alone $t"; $load --result "$OUT/launch-alone-$t.json"; finish $pid
  "$PROF" launch --name toy -- "${engine[@]}" & pid=$!; ready $pid; echo "=== launched $t"; $load --result "$OUT/launch-off-$t.json"
  if [ "$t" = 1 ]; then
    for n in 1 2; do
      echo "=== attach under load $n"
      "$PROF" capture --attach toy --run "attach-$n" --window 8s --load "$load --result bench-$n.json"; echo "exit $?"
      "$PROF" sql --format csv "SELECT round(any_value(window_tpot_ns) / 1e6, 3) AS client, round(sum(per_token_ns) / 1e6, 3) AS causes, device FROM tpot_causes('attach-$n') GROUP BY source_id, pid, device"
    done
    echo "=== attach, load by hand"; $load --result by-hand.json & by=$!; sleep 4
    "$PROF" capture --attach --run attach-3 --window 4s; echo "exit $?"; wait $by
    echo "=== after the recordings, off again"; $load --result "$OUT/launch-after.json"
    "$PROF" runs
  fi
  finish $pid
done
"$PROF" show attach-1
python3 - "$OUT" <<'P'
import glob, json, sys
for kind in ("alone", "off"):
    print(kind, [round(json.load(open(f))["mean_tpot_ms"], 4) for f in sorted(glob.glob(f"{sys.argv[1]}/launch-{kind}-*.json"))])
P
