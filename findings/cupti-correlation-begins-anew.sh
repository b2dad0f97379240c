#!/usr/bin/env bash
# CUPTI 13.0 numbers calls from 1 again after cuptiFinalize: two recordings of one process have the same correlation ids.
#
# A tool that detaches between recordings and joins kernels with the calls that launched them by (process, correlation id), as most do, joins each kernel of
# the second recording with a call of the first one too. The documentation calls the ids unique and says nothing of this. Disabled and enabled again, without
# cuptiFinalize, they go on. Keep recordings apart, or add to the ids of each what the one before ended with.
#
# Needs a GPU with a driver of CUDA 13.0 or newer, and gcc. Seen on 2026-11-29 on an H200 (driver 580.159.04), nvidia-cuda-cupti 13.0.85, nvidia-cuda-runtime 13.0.96, nvidia-cuda-crt 13.0.88:
#   first recording: 100 kernels, ids 1 to 100
#   disabled and enabled again: 100 kernels, ids 101 to 200
#   finalized and enabled again: 100 kernels, ids 1 to 100
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
cat >"$dir/ids.c" <<'C'
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { int r = (call); if (r) { printf("%s: %d\n", #call, r); exit(2); } } while (0)

static uint32_t first, last, kernels;

static void wanted(uint8_t **buffer, size_t *size, size_t *records) { *buffer = aligned_alloc(8, *size = 8 << 20), *records = 0; }
static void done(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  (void)c, (void)stream, (void)size;
  for (CUpti_Activity *a = 0; cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS;) {
    if (a->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    uint32_t id = ((CUpti_ActivityKernel9 *)a)->correlationId;
    if (kernels++ == 0 || id < first) first = id;
    if (id > last) last = id;
  }
  free(buffer);
}

static CUfunction empty;

static void recording(const char *name, int finalize) {
  first = last = kernels = 0;
  OK(cuptiActivityRegisterCallbacks(wanted, done));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  for (int i = 0; i < 100; i++) OK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
  OK(cuCtxSynchronize());
  OK(cuptiActivityFlushAll(1));
  OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  if (finalize) OK(cuptiFinalize());
  printf("%s: %u kernels, ids %u to %u\n", name, kernels, first, last);
}

int main(void) {
  CUdevice device; CUcontext context; CUmodule module;
  OK(cuInit(0)); OK(cuDeviceGet(&device, 0)); OK(cuDevicePrimaryCtxRetain(&context, device)); OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n"));
  OK(cuModuleGetFunction(&empty, module, "empty"));
  recording("first recording", 0);
  uint32_t one = first;
  recording("disabled and enabled again", 1);
  int goes_on = first > one;
  recording("finalized and enabled again", 0);
  return goes_on && first <= one ? 0 : 1;
}
C
include=$dir/nvidia/cu13/include
lib=$dir/nvidia/cu13/lib
driver=$(ldconfig -p | awk '/libcuda\.so\.1 / && /x86-64/ {print $NF; exit}')
gcc -O2 -I "$include" -o "$dir/ids" "$dir/ids.c" "${driver:-/usr/local/nvidia/lib64/libcuda.so.1}" "$lib/libcupti.so.13"
LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$dir/ids"
