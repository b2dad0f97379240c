#!/usr/bin/env bash
# CUPTI 13.0 counts a kernel's wait for the one before as its own time under programmatic dependent launch: 20 us of work show as 120 us.
#
# With the attribute (vLLM, TensorRT-LLM, FlashInfer and SGLang set it on Hopper and newer), a kernel's blocks come to the SMs while the kernel before still
# runs, and sit in griddepcontrol.wait until it is done. The record starts when they arrive. A list of kernels by summed time, of Nsight Systems, PyTorch or
# anyone who reads CUPTI, then has a 20 us kernel above the 100 us one that it waited for, all kernels add up to almost twice the time that passed, and the
# change that saved a microsecond of launch looks like a kernel six times slower. Take the union of intervals for the GPU's busy time, and for a kernel of
# its own the time after the end of the one before.
#
# Needs a GPU of compute capability 9.0 or newer with a driver of CUDA 13.0 or newer, and gcc. Seen on 2026-11-29 on an H200 (driver 580.159.04), nvidia-cuda-cupti 13.0.85, nvidia-cuda-runtime 13.0.96, nvidia-cuda-crt 13.0.88:
#   without: first 100.6 us, second 20.6 us, both 122.4 us a pair
#   with:    first 100.5 us, second 120.2 us, both 121.3 us a pair
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
cat >"$dir/pairs.c" <<'C'
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { int r = (call); if (r) { printf("%s: %d\n", #call, r); exit(2); } } while (0)
enum { PAIRS = 50 };

static uint64_t start[2 * PAIRS], end[2 * PAIRS];
static int kernels;

static void wanted(uint8_t **buffer, size_t *size, size_t *records) { *buffer = aligned_alloc(8, *size = 8 << 20), *records = 0; }
static void done(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  (void)c, (void)stream, (void)size;
  for (CUpti_Activity *a = 0; cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS;) {
    if (a->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kernels == 2 * PAIRS) continue;
    start[kernels] = ((CUpti_ActivityKernel9 *)a)->start, end[kernels++] = ((CUpti_ActivityKernel9 *)a)->end;
  }
  free(buffer);
}

// Both kernels work for a while; the first lets the second one come, which waits for the first one's end before it works.
#define SPIN "ld.param.u64 %t0, [ns]; mov.u64 %t1, %globaltimer; add.u64 %t1, %t1, %t0; again: mov.u64 %t2, %globaltimer; setp.lt.u64 %p, %t2, %t1; @%p bra again; ret; }\n"
#define REGISTERS ".reg .u64 %t<3>; .reg .pred %p; "
static const char *code = ".version 8.0\n.target sm_90\n.address_size 64\n"
  ".visible .entry first(.param .u64 ns) { " REGISTERS "griddepcontrol.launch_dependents; " SPIN
  ".visible .entry second(.param .u64 ns) { " REGISTERS "griddepcontrol.wait; " SPIN;

static CUmodule module;
static CUstream stream;

static void launch(const char *name, uint64_t ns, int early) {
  CUfunction f;
  OK(cuModuleGetFunction(&f, module, name));
  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, .value.programmaticStreamSerializationAllowed = early};
  CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1, .hStream = stream, .attrs = &attribute, .numAttrs = 1};
  void *arguments[] = {&ns};
  OK(cuLaunchKernelEx(&config, f, arguments, 0));
}

static int by_time(const void *a, const void *b) { return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1; }
static double median(uint64_t *values, int n) { qsort(values, n, sizeof *values, by_time); return values[n / 2] / 1e3; }

// pairs gives the median record of the second kernel, in us, and prints all three times.
static double pairs(const char *name, int early) {
  kernels = 0;
  for (int i = 0; i < PAIRS; i++) launch("first", 100000, 0), launch("second", 20000, early);
  OK(cuStreamSynchronize(stream));
  OK(cuptiActivityFlushAll(1));
  if (kernels != 2 * PAIRS) printf("%d kernels recorded\n", kernels), exit(2);
  qsort(start, kernels, sizeof *start, by_time), qsort(end, kernels, sizeof *end, by_time);
  uint64_t a[PAIRS], b[PAIRS], both[PAIRS - 1];
  for (int i = 0; i < PAIRS; i++) a[i] = end[2 * i] - start[2 * i], b[i] = end[2 * i + 1] - start[2 * i + 1];
  for (int i = 0; i + 1 < PAIRS; i++) both[i] = start[2 * i + 2] - start[2 * i];
  double second = median(b, PAIRS);
  printf("%s first %.1f us, second %.1f us, both %.1f us a pair\n", name, median(a, PAIRS), second, median(both, PAIRS - 1));
  return second;
}

int main(void) {
  CUdevice device; CUcontext context;
  OK(cuInit(0)); OK(cuDeviceGet(&device, 0)); OK(cuDevicePrimaryCtxRetain(&context, device)); OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, code));
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuptiActivityRegisterCallbacks(wanted, done));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  double without = pairs("without:", 0), with = pairs("with:   ", 1);
  return without < 25 && with > 100 ? 0 : 1;
}
C
include=$dir/nvidia/cu13/include
lib=$dir/nvidia/cu13/lib
driver=$(ldconfig -p | awk '/libcuda\.so\.1 / && /x86-64/ {print $NF; exit}')
gcc -O2 -I "$include" -o "$dir/pairs" "$dir/pairs.c" "${driver:-/usr/local/nvidia/lib64/libcuda.so.1}" "$lib/libcupti.so.13"
LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$dir/pairs"
