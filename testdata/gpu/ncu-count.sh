#!/bin/bash
# To learn (about 4 minutes; torch alone, no transformers).
#  A. where --launch-skip-before-match counts kernels of CUDA graphs: by node or by graph; and that --kernel-id counts from there
#  B. what makes launching slow under ncu before the first chosen launch: microseconds a launch, by filters
#  C. seconds of a profiled launch where the process holds 100 GiB (more than half of the memory), and by application replay
set -u
mkdir -p "$OUT/34"; cd "$OUT/34"
cat > graph.py <<'PY'
import torch
a = torch.ones(1 << 20, device="cuda"); b = torch.ones(1 << 12, device="cuda"); c = torch.ones(1 << 14, device="cuda")
torch.cuda.synchronize()                                  # 3 fills
s = torch.cuda.Stream()
with torch.cuda.stream(s):
    for i in range(2): a.sin_(); b.cos_()                 # 4 launches: sin 1 and 2, cos 1 and 2
torch.cuda.synchronize()
g = torch.cuda.CUDAGraph()
with torch.cuda.graph(g):
    for i in range(3): a.sin_(); b.cos_()
for i in range(4): g.replay()                             # 24 nodes in 4 launches: sin 3 to 14, cos 3 to 14
torch.cuda.synchronize()
for i in range(6): c.sin_(); c.cos_()                     # sin 15 to 20, of another grid
torch.cuda.synchronize()
PY
S='regex:^(.*sin_kernel.*|.*cos_kernel.*)$'; K="--target-processes all --nvtx --clock-control none --section LaunchStats --kernel-name-base mangled"
try() { local name=$1; shift; echo "=== $name $*"; timeout 60 ncu --force-overwrite --export $name --log-file $name.log $K "$@" python3 graph.py >/dev/null 2>&1; echo "rc $?"; grep -c Profiling $name.log; ncu --import $name.ncu-rep --csv --page raw --print-units base --metrics launch__grid_size 2>/dev/null | tail -n +3 | python3 -c "
import csv,sys
for r in csv.reader(sys.stdin): print('   ', 'sin' if 'sin' in r[4] else 'cos' if 'cos' in r[4] else r[4][:30], r[-1], end=';')
print()"; }
try A0 --kernel-id "::$S:^(1|3|4|15)$"                                          # grids: sin 1,3,4 of 1<<20 ; 15 of 1<<14
try A1 --launch-skip-before-match 31 --kernel-id "::$S:^(1|2)$"                 # by node: the skipped are 3 + 4 + 24, so that only the last grid comes; by graph: 3 + 4 + 4 + 12 + ...
try A2 --launch-skip-before-match 10 --kernel-id "::$S:^(1|7)$" --launch-count 3 --kill yes   # by node: within the first graph; 7 = fourth replay or so
try A3 --launch-skip-before-match 11 --kernel-id "::$S:^(1)$"                   # by graph: after all four graphs, the last grid at once
cat > many.py <<'PY'
import time, torch
a = torch.ones(1 << 12, device="cuda"); took = []
def turn(n):
    for i in range(n): a.sin_(); a.cos_(); a.exp_(); a.add_(1.0)
turn(10); torch.cuda.synchronize()
for i in range(3):
    t = time.time(); turn(500); torch.cuda.synchronize(); took.append((time.time() - t) / 2000 * 1e6)
print("us a launch: " + " ".join("%.0f" % t for t in took), flush=True)
PY
printf '%-52s ' alone; python3 many.py
many() { local name=$1; shift; printf '%-52s ' "$name"; timeout 60 ncu --force-overwrite --export m --log-file m.log --clock-control none --section LaunchStats "$@" python3 many.py 2>&1 | grep 'us a'; }
N='^(_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_T1_|_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastIZZZNS0_23direct_copy_kernel_cudaERNS_18TensorIteratorBaseEENKUlvE1_clEvENKUlvE4_clEvEUlfE_EEvS4_RKT_EUlibE_EEviT1_|_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_7MeanOpsIffffEEjfLi4ELi4EEEEEvT1_|nvjet_sm90_tst_64x8_64x16_1x4_h_bz_coopA_TNN|nvjet_sm90_tst_128x256_64x4_2x1_v_bz_coopA_TNT|_ZN5flash24flash_fwd_splitkv_kernelI23Flash_fwd_kernel_traitsILi64ELi64ELi256ELi4ELb0ELb0EN7cutlass10bfloat16_tE19Flash_kernel_traitsILi64ELi64ELi256ELi4ES3_EELb0ELb0ELb0ELb1ELb1ELb0ELb1ELb0EEEvNS_16Flash_fwd_paramsE)$'
T="--target-processes all"
many "name, nothing matches"                       $T --kernel-name no_such_kernel
many "name, nothing matches, nvtx"                 $T --nvtx --kernel-name no_such_kernel
many "kernel-id, six names as prof has them, nvtx" $T --nvtx --kernel-name-base mangled --kernel-id "::regex:$N:^(999999)$"
many "the same, all launches skipped"              $T --nvtx --kernel-name-base mangled --launch-skip-before-match 99999999 --kernel-id "::regex:$N:^(999999)$"
many "kernel-id, one short regex, mangled"         $T --kernel-name-base mangled --kernel-id "::regex:nosuch:^(999999)$"
many "kernel-id, exact name, mangled"              $T --kernel-name-base mangled --kernel-id "::nosuch:999999"
many "profile-from-start off"                      $T --profile-from-start off
many "nvtx-include of no range"                    $T --nvtx --nvtx-include "no_such_range/"
many "skip all, no other filter"                   $T --launch-skip-before-match 99999999
many "graph-profiling graph, name"                 $T --graph-profiling graph --kernel-name no_such_kernel
many "launch-count 1, reached at once"             $T --launch-count 1
many "no sass, name"                               $T --import-sass no --kernel-name no_such_kernel
cat > two.py <<'PY'
import os, time, torch
big = torch.zeros(int(float(os.environ.get("GIB", "0.1")) * (1 << 30)), dtype=torch.uint8, device="cuda")
x = torch.randn(4, 2048, device="cuda", dtype=torch.bfloat16); w = torch.randn(2048, 8192, device="cuda", dtype=torch.bfloat16)
torch.cuda.synchronize()
for i in range(3): z = x @ w
torch.cuda.synchronize()
PY
R="--set roofline --section ComputeWorkloadAnalysis --section LaunchStats --section MemoryWorkloadAnalysis --section Occupancy --section SchedulerStats --section WarpStateStats --metrics dram__bytes_read.sum,dram__bytes_write.sum"
one() { local name=$1 t=$(date +%s.%N); shift; printf '%-40s ' "$name"; timeout 150 ncu --force-overwrite --export t --log-file t.log --clock-control none --nvtx $T --kernel-name 'regex:nvjet|gemm|gemv' --launch-count 2 $R "$@" python3 two.py >/dev/null 2>&1; echo "rc $?, whole $(python3 -c "import time; print('%.1f s' % (time.time() - $t))"), $(grep -o '[0-9]* passes' t.log | tr '\n' ' ')"; }
GIB=1 one "1 GiB held"
GIB=100 one "100 GiB held"
GIB=100 one "100 GiB held, application replay" --replay-mode application
GIB=1 one "1 GiB held, application replay" --replay-mode application
