#!/usr/bin/env bash
# cuMemcpyBatchAsync of CUDA 13.0 does not batch copies within a GPU: 256 blocks take as long as 256 calls, about 4 us each.
#
# It is made for what engines do with a KV cache: many small blocks at once. To the host it brings a factor of two to four. Within the device each
# block is still submitted by itself, the CPU pays for each, and the GPU idles between copies of 0.8 us, with or without a profiler. Nor do recorders agree
# on what a copy is: CUPTI gives one record with all bytes for the whole batch to or from the host, and one for each block within the device, so that
# numbers of copies and bytes a copy of the two cannot be compared. Gather and scatter blocks on the device by a kernel of your own.
#
# Needs a GPU with a driver of CUDA 13.0 or newer, and gcc. Seen on 2026-11-29 on an H200 (driver 580.159.04), nvidia-cuda-cupti 13.0.85, nvidia-cuda-runtime 13.0.96, nvidia-cuda-crt 13.0.88:
#   to the host: 256 calls 494 us, one batch of 256 127 us, 1 records of a batch
#   within the device: 256 calls 884 us, one batch of 256 845 us, 256 records of a batch
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
cat >"$dir/batch.c" <<'C'
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OK(call) do { int r = (call); if (r) { printf("%s: %d\n", #call, r); exit(2); } } while (0)
enum { BLOCKS = 256, BLOCK = 4096, APART = 131072, TIMES = 100 };

static CUdeviceptr from[BLOCKS], to[BLOCKS];
static size_t sizes[BLOCKS];
static CUstream stream;
static int records;

static void wanted(uint8_t **buffer, size_t *size, size_t *n) { *buffer = aligned_alloc(8, *size = 8 << 20), *n = 0; }
static void done(CUcontext c, uint32_t s, uint8_t *buffer, size_t size, size_t valid) {
  (void)c, (void)s, (void)size;
  for (CUpti_Activity *a = 0; cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS;) records += a->kind == CUPTI_ACTIVITY_KIND_MEMCPY;
  free(buffer);
}

static void batch(void) {
  CUmemcpyAttributes order = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
  size_t first = 0;
  OK(cuMemcpyBatchAsync(to, from, sizes, BLOCKS, &order, &first, 1, stream));
}
static void each(void) { for (int i = 0; i < BLOCKS; i++) OK(cuMemcpyAsync(to[i], from[i], sizes[i], stream)); }

// least gives the least time of work, in us, from its first call to its end on the GPU.
static double least(void work(void)) {
  double least = 1e18;
  for (int i = 0; i < TIMES; i++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    work();
    OK(cuStreamSynchronize(stream));
    clock_gettime(CLOCK_MONOTONIC, &b);
    double us = (b.tv_sec - a.tv_sec) * 1e6 + (b.tv_nsec - a.tv_nsec) / 1e3;
    if (us < least) least = us;
  }
  return least;
}

int main(void) {
  CUdevice device; CUcontext context; CUdeviceptr a, b; void *host;
  OK(cuInit(0)); OK(cuDeviceGet(&device, 0)); OK(cuDevicePrimaryCtxRetain(&context, device)); OK(cuCtxSetCurrent(context));
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuMemAlloc(&a, BLOCKS * APART)); OK(cuMemAlloc(&b, BLOCKS * APART)); OK(cuMemHostAlloc(&host, BLOCKS * APART, 0));
  struct { const char *name; CUdeviceptr from, to; double calls, batch; int records; } ways[] = {
    {"to the host", a, (CUdeviceptr)host, 0, 0, 0}, {"within the device", a, b, 0, 0, 0}};
  for (int recorded = 0; recorded < 2; recorded++) {
    for (int w = 0; w < 2; w++) {
      for (int i = 0; i < BLOCKS; i++) from[i] = ways[w].from + (CUdeviceptr)i * APART, to[i] = ways[w].to + (CUdeviceptr)i * APART, sizes[i] = BLOCK;
      if (!recorded) {
        least(each), least(batch);
        ways[w].calls = least(each), ways[w].batch = least(batch);
        continue;
      }
      records = 0;
      batch();
      OK(cuStreamSynchronize(stream));
      OK(cuptiActivityFlushAll(1));
      ways[w].records = records;
    }
    if (recorded) break;
    OK(cuptiActivityRegisterCallbacks(wanted, done));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
    OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
  }
  for (int w = 0; w < 2; w++) printf("%s: %d calls %.0f us, one batch of %d %.0f us, %d records of a batch\n", ways[w].name, BLOCKS, ways[w].calls, BLOCKS, ways[w].batch, ways[w].records);
  return ways[0].batch < 0.6 * ways[0].calls && ways[1].batch > 0.75 * ways[1].calls && ways[0].records == 1 && ways[1].records == BLOCKS ? 0 : 1;
}
C
include=$dir/nvidia/cu13/include
lib=$dir/nvidia/cu13/lib
driver=$(ldconfig -p | awk '/libcuda\.so\.1 / && /x86-64/ {print $NF; exit}')
gcc -O2 -I "$include" -o "$dir/batch" "$dir/batch.c" "${driver:-/usr/local/nvidia/lib64/libcuda.so.1}" "$lib/libcupti.so.13"
LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$dir/batch"
