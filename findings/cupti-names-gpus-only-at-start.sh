#!/usr/bin/env bash
# CUPTI 13.0 tells of the GPUs only when CUDA begins: a tool that attaches later gets no CUPTI_ACTIVITY_KIND_DEVICE record, without an error.
#
# The record has what a profiler divides by: name, compute capability, multiprocessors, clock, bandwidth. A tool that enables the kind in a process that has
# made its context already, as every window opened on demand does, gets CUPTI_SUCCESS and nothing, also after a flush; enabled before cuInit, the same process
# gives one record for each GPU. Ask the driver (cuDeviceGetAttribute) instead.
#
# Needs a GPU with a driver of CUDA 13.0 or newer, and gcc. Seen on 2026-11-29 on an H200 (driver 580.159.04), nvidia-cuda-cupti 13.0.85, nvidia-cuda-runtime 13.0.96, nvidia-cuda-crt 13.0.88:
#   enabled before cuInit: 1 device records for 1 GPU
#   enabled after a context was made: 0 device records for 1 GPU
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
cat >"$dir/gpus.c" <<'C'
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { int r = (call); if (r) { printf("%s: %d\n", #call, r); exit(2); } } while (0)

static int devices;

static void wanted(uint8_t **buffer, size_t *size, size_t *records) { *buffer = aligned_alloc(8, *size = 8 << 20), *records = 0; }
static void done(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  (void)c, (void)stream, (void)size;
  for (CUpti_Activity *a = 0; cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS;) devices += a->kind == CUPTI_ACTIVITY_KIND_DEVICE;
  free(buffer);
}

static void enable(void) {
  OK(cuptiActivityRegisterCallbacks(wanted, done));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

// gpus [late]: enables the kinds before cuInit, or once a context is there, and launches a kernel.
int main(int n, char **arg) {
  (void)arg;
  int late = n > 1, count = 0;
  CUdevice device; CUcontext context; CUmodule module; CUfunction empty;
  if (!late) enable();
  OK(cuInit(0)); OK(cuDeviceGetCount(&count)); OK(cuDeviceGet(&device, 0)); OK(cuDevicePrimaryCtxRetain(&context, device)); OK(cuCtxSetCurrent(context));
  if (late) enable();
  OK(cuModuleLoadData(&module, ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n"));
  OK(cuModuleGetFunction(&empty, module, "empty"));
  OK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0));
  OK(cuCtxSynchronize());
  OK(cuptiActivityFlushAll(1));
  printf("enabled %s: %d device records for %d GPU\n", late ? "after a context was made" : "before cuInit", devices, count);
  return late ? devices != 0 : devices == 0;
}
C
include=$dir/nvidia/cu13/include
lib=$dir/nvidia/cu13/lib
driver=$(ldconfig -p | awk '/libcuda\.so\.1 / && /x86-64/ {print $NF; exit}')
gcc -O2 -I "$include" -o "$dir/gpus" "$dir/gpus.c" "${driver:-/usr/local/nvidia/lib64/libcuda.so.1}" "$lib/libcupti.so.13"
LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$dir/gpus"
LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$dir/gpus" late
