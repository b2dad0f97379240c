#!/bin/bash
# To learn (about 100 s, one GPU): time per token of the toy engine alone, under prof launch before its first window, and after one (CUPTI stays then).
# Runs in the repository's root; $PROF, $OUT.
set -u
export PROF_HOME=$OUT/off COLUMNS=100
engine="python3 testdata/serving/toy_engine.py" load="python3 testdata/serving/toy_load.py --requests 90 --concurrency 8"
ready() { until curl -sf -o /dev/null http://127.0.0.1:8000/health; do sleep 0.3; kill -0 "$1" || return 1; done; }
$engine & p=$!; ready $p; for i in 1 2; do echo "== alone $i"; $load --result "$OUT/alone-$i.json" | grep -e tpot -e itl; done; kill -INT $p; wait $p
"$PROF" launch --name toy -- $engine & p=$!; ready $p; echo "== launched"; $load --result "$OUT/launched.json" | grep -e tpot -e itl
echo "== attach"; time "$PROF" capture --attach toy --run at --window 4s --load "$load --result $OUT/at.json" 2>&1 | tail -12
for i in 1 2; do echo "== after $i"; $load --result "$OUT/after-$i.json" | grep -e tpot -e itl; done
kill -INT $p; wait $p; echo "engine ended with $?"
"$PROF" sql -f csv "SELECT DISTINCT device, round(window_tpot_ns / 1e6, 3) AS client, round(all_token_mean_ns / 1e6, 3) AS engine FROM tpot_causes('at')"; "$PROF" show at | head -30
