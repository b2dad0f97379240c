#!/bin/bash
# all.sh STEP...: runs steps one after the other, each within its time, and packs what each left into $OUT/STEP.tgz. $PROF is the built program, $OUT a folder that comes back.
#   payloads  2 GPUs, 300 s    serving2  2 GPUs, 330 s    shared  2 GPUs, 90 s
#   off       1 GPU,  120 s    agree     1 GPU,  300 s    ncu     1 GPU,  200 s    count  1 GPU, 240 s    eager  1 GPU, 260 s
set -u
root=$PWD out=$OUT
step() { # NAME SECONDS SCRIPT [ENV...]
  local name=$1 most=$2 script=$3; shift 3
  mkdir -p "/tmp/o/$name"; echo "=== $name"; SECONDS=0
  (cd "$root"; env OUT="/tmp/o/$name" "$@" timeout "$most" bash "$script") > "/tmp/o/$name/said.txt" 2>&1
  echo "exit $? after $SECONDS s"; rm -rf "/tmp/o/$name"/{home,serving-*,off,36/home}
  tar czf "$out/$name.tgz" -C /tmp/o "$name"; tail -n 12 "/tmp/o/$name/said.txt" | cut -c1-200
}
for s in "$@"; do
  case $s in
  payloads) step payloads 300 testdata/gpu/payloads.sh ;;
  serving2) step serving2 330 testdata/gpu/serving.sh GPUS=2 RUNS=5 REQUESTS=260 ;;
  serving1) step serving1 440 testdata/gpu/serving.sh GPUS=1 ;;
  *) step "$s" 300 "testdata/gpu/${s/count/ncu-count}.sh" ;;
  esac
done
