#!/usr/bin/env bash
# CUPTI 13.0, attached to a running process, records no copy of cuMemcpyBatchAsync until the process copies or launches in some other way.
#
# PyTorch's profiler and every window opened on demand enable their kinds of activity when the context is there already. A kernel or an ordinary copy is
# recorded from the first one on. Batches are not: a process that only moves blocks, as one that offloads a KV cache for others, shows an idle GPU for the whole
# window, without an error and with no record counted as dropped. One kernel is enough, then the batches after it are there. Enabling
# CUPTI_ACTIVITY_KIND_DRIVER records them from the start; CUPTI_ACTIVITY_KIND_RUNTIME does not.
#
# Needs a GPU with a driver of CUDA 13.0 or newer, and gcc. Seen on 2026-11-29 on an H200 (driver 580.159.04), nvidia-cuda-cupti 13.0.85, nvidia-cuda-runtime 13.0.96, nvidia-cuda-crt 13.0.88:
#   10 batches: 0 recorded, 0 dropped; after one kernel, 10 batches: 10 recorded
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
cat >"$dir/batches.c" <<'C'
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { int r = (call); if (r) { printf("%s: %d\n", #call, r); exit(2); } } while (0)
enum { SIZE = 1 << 20 };

static CUstream stream;
static CUdeviceptr device_memory, host_memory;
static int records;

static void wanted(uint8_t **buffer, size_t *size, size_t *n) { *buffer = aligned_alloc(8, *size = 8 << 20), *n = 0; }
static void done(CUcontext c, uint32_t s, uint8_t *buffer, size_t size, size_t valid) {
  (void)c, (void)s, (void)size;
  for (CUpti_Activity *a = 0; cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS;) records += a->kind == CUPTI_ACTIVITY_KIND_MEMCPY;
  free(buffer);
}

// batches makes ten batches of two copies to the device, one after the other, and returns how many of them have a record.
static int batches(void) {
  records = 0;
  for (int i = 0; i < 10; i++) {
    CUdeviceptr from[] = {host_memory, host_memory + SIZE / 2}, to[] = {device_memory, device_memory + SIZE / 2};
    size_t sizes[] = {4096, 4096}, first = 0;
    CUmemcpyAttributes order = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cuMemcpyBatchAsync(to, from, sizes, 2, &order, &first, 1, stream));
    OK(cuStreamSynchronize(stream));
  }
  OK(cuptiActivityFlushAll(1));
  return records;
}

int main(void) {
  CUdevice device; CUcontext context; CUmodule module; CUfunction empty; void *host;
  OK(cuInit(0)); OK(cuDeviceGet(&device, 0)); OK(cuDevicePrimaryCtxRetain(&context, device)); OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n"));
  OK(cuModuleGetFunction(&empty, module, "empty"));
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuMemAlloc(&device_memory, SIZE)); OK(cuMemHostAlloc(&host, SIZE, 0));
  host_memory = (CUdeviceptr)host;
  OK(cuptiActivityRegisterCallbacks(wanted, done));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  size_t dropped = 0;
  int alone = batches();
  OK(cuptiActivityGetNumDroppedRecords(context, 0, &dropped));
  OK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0));
  int after = batches();
  printf("10 batches: %d recorded, %zu dropped; after one kernel, 10 batches: %d recorded\n", alone, dropped, after);
  return alone == 0 && dropped == 0 && after == 10 ? 0 : 1;
}
C
include=$dir/nvidia/cu13/include
lib=$dir/nvidia/cu13/lib
driver=$(ldconfig -p | awk '/libcuda\.so\.1 / && /x86-64/ {print $NF; exit}')
gcc -O2 -I "$include" -o "$dir/batches" "$dir/batches.c" "${driver:-/usr/local/nvidia/lib64/libcuda.so.1}" "$lib/libcupti.so.13"
LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$dir/batches"
