#!/usr/bin/env bash
# Nsight Compute 2025.3 on an H200: the L2 counts 1.5 sectors for each one that a kernel reads from memory once.
#
# The L2 of Hopper (and A100) is two halves. What an SM reads from the other half's memory is looked up in both, and lts__t_sectors, lts__t_bytes and what is
# made of them (the L2's point in a hierarchical roofline, bytes from L2, hit rates) add up both lookups. How much of it there is depends on where the data
# lies: none for what fits into the near half's copy, half of all for a stream. So arithmetic intensity from lts__t_bytes is a third too low for one kernel and
# right for the next. Take lts__t_sectors_srcunit_tex, which the SMs asked for; lts__t_sectors_srcunit_ltcfabric are the crossings.
#
# Needs a GPU of compute capability 9.0, gcc, and ncu 2025.3 with the right to read counters. Seen on 2026-11-30 on an H200 (driver 580.159.04), ncu 2025.3.1, nvidia-cuda-runtime 13.0.96:
#   512 MiB once: 512 MiB asked for, 512 MiB from memory, 1.51 sectors counted for one
#   16 MiB 32 times: 512 MiB asked for, 16 MiB from memory, 1.02 sectors counted for one
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
ncu --version | grep -q '^Version 2025\.3\.' || {
  echo 'needs ncu 2025.3'
  exit 2
}
python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
cat >"$dir/read.c" <<'C'
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { int r = (call); if (r) { printf("%s: %d\n", #call, r); exit(2); } } while (0)

// Reads all bytes, as often as asked, past the L1.
static const char *code = ".version 8.0\n.target sm_80\n.address_size 64\n"
  ".visible .entry read(.param .u64 base, .param .u64 bytes, .param .u32 rounds) {\n"
  ".reg .u64 %a, %n, %o, %s, %x; .reg .u32 %r, %b, %g, %t, %d, %v<4>, %c; .reg .pred %p;\n"
  "ld.param.u64 %a, [base]; ld.param.u64 %n, [bytes]; ld.param.u32 %r, [rounds];\n"
  "mov.u32 %b, %ctaid.x; mov.u32 %g, %nctaid.x; mov.u32 %t, %tid.x; mov.u32 %d, %ntid.x; mov.u32 %c, 0;\n"
  "mul.lo.u32 %v0, %g, %d; mul.wide.u32 %s, %v0, 16;\n"
  "round: mad.lo.u32 %v0, %b, %d, %t; mul.wide.u32 %o, %v0, 16;\n"
  "step: setp.ge.u64 %p, %o, %n; @%p bra next; add.u64 %x, %a, %o;\n"
  "ld.global.cg.v4.u32 {%v0, %v1, %v2, %v3}, [%x]; xor.b32 %c, %c, %v0; add.u64 %o, %o, %s; bra step;\n"
  "next: sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra round;\n"
  "setp.ne.u32 %p, %c, 12345; @%p bra done; st.global.u32 [%a], %c; done: ret; }\n";

int main(void) {
  CUdevice device; CUcontext context; CUmodule module; CUfunction f; CUdeviceptr p;
  unsigned long long bytes[] = {512ull << 20, 16ull << 20};
  unsigned rounds[] = {1, 32};
  OK(cuInit(0)); OK(cuDeviceGet(&device, 0)); OK(cuDevicePrimaryCtxRetain(&context, device)); OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, code)); OK(cuModuleGetFunction(&f, module, "read"));
  OK(cuMemAlloc(&p, bytes[0])); OK(cuMemsetD8(p, 0, bytes[0]));
  for (int i = 0; i < 2; i++) {
    void *arguments[] = {&p, &bytes[i], &rounds[i]};
    OK(cuLaunchKernel(f, 264, 1, 1, 1024, 1, 1, 0, 0, arguments, 0)); OK(cuCtxSynchronize());
  }
  return 0;
}
C
driver=$(ldconfig -p | awk '/libcuda\.so\.1 / && /x86-64/ {print $NF; exit}')
gcc -O2 -I "$dir/nvidia/cu13/include" -o "$dir/read" "$dir/read.c" "${driver:-/usr/local/nvidia/lib64/libcuda.so.1}"
metrics=lts__t_sectors.sum,lts__t_sectors_srcunit_tex.sum,lts__t_sectors_srcunit_ltcfabric.sum,dram__bytes_read.sum
ncu --clock-control none --metrics "$metrics" --csv --page details --print-units base "$dir/read" >"$dir/out.csv"
python3 - "$dir/out.csv" <<'PYTHON'
import csv
import sys

with open(sys.argv[1]) as f:
    rows = list(csv.DictReader(line for line in f if line.startswith('"')))
seen = [{}, {}]
for r in rows:
    seen[int(r["ID"])][r["Metric Name"]] = float(r["Metric Value"].replace(",", ""))
ratios = []
for name, k in zip(("512 MiB once", "16 MiB 32 times"), seen):
    asked = k["lts__t_sectors_srcunit_tex.sum"]
    ratios.append(k["lts__t_sectors.sum"] / asked)
    print(f"{name}: {asked * 32 / 2**20:.0f} MiB asked for, {k['dram__bytes_read.sum'] / 2**20:.0f} MiB from memory, {ratios[-1]:.2f} sectors counted for one")
sys.exit(not (1.4 < ratios[0] < 1.6 and ratios[1] < 1.1))
PYTHON
