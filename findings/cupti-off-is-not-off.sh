#!/usr/bin/env bash
# CUPTI 13.0 makes each node of a CUDA graph take 40 % longer after kernel activity was disabled again, and it stays so.
#
# A tool that records now and then (PyTorch on demand, a server's profiler) disables the kinds of activity between windows and expects the speed of before.
# But once CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL has been on, a graph of 200 empty kernels runs at 0.75 us a node where it took 0.53, with no kind enabled, no
# callback and nothing left to deliver. Launches one by one become slower too, by 0.5 to 1 us of 4 to 5, which noise can hide.
#
# Needs a GPU with a driver of CUDA 13.0 or newer, and gcc. Seen on 2026-11-29 on an H200 (driver 580.159.04), nvidia-cuda-cupti 13.0.85, nvidia-cuda-runtime 13.0.96, nvidia-cuda-crt 13.0.88:
#   ns a node: 532 before, 2003 recorded, 735 disabled
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 -m pip install -q --disable-pip-version-check --no-deps --target "$dir" nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88
cat >"$dir/nodes.c" <<'C'
#include <cuda.h>
#include <cupti.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define OK(call) do { int r = (call); if (r) { printf("%s: %d\n", #call, r); exit(2); } } while (0)
enum { NODES = 200, TIMES = 300 };

static void wanted(uint8_t **buffer, size_t *size, size_t *records) { *buffer = aligned_alloc(8, *size = 8 << 20), *records = 0; }
static void done(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) { (void)c, (void)stream, (void)size, (void)valid, free(buffer); }

static CUgraphExec graph;
static CUstream stream;

// node gives the least time of a replay, in ns a node.
static double node(void) {
  double least = 1e18;
  for (int i = 0; i < TIMES; i++) {
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    OK(cuGraphLaunch(graph, stream));
    OK(cuStreamSynchronize(stream));
    clock_gettime(CLOCK_MONOTONIC, &b);
    double ns = ((b.tv_sec - a.tv_sec) * 1e9 + b.tv_nsec - a.tv_nsec) / NODES;
    if (ns < least) least = ns;
  }
  return least;
}

int main(void) {
  CUdevice device; CUcontext context; CUmodule module; CUfunction empty; CUgraph made;
  OK(cuInit(0)); OK(cuDeviceGet(&device, 0)); OK(cuDevicePrimaryCtxRetain(&context, device)); OK(cuCtxSetCurrent(context));
  OK(cuModuleLoadData(&module, ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry empty() { ret; }\n"));
  OK(cuModuleGetFunction(&empty, module, "empty"));
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  for (int i = 0; i < NODES; i++) OK(cuLaunchKernel(empty, 1, 1, 1, 32, 1, 1, 0, stream, 0, 0));
  OK(cuStreamEndCapture(stream, &made));
  OK(cuGraphInstantiate(&graph, made, 0));
  node();
  double before = node();
  OK(cuptiActivityRegisterCallbacks(wanted, done));
  OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  double recorded = node();
  OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  OK(cuptiActivityFlushAll(1));
  double disabled = node();
  printf("ns a node: %.0f before, %.0f recorded, %.0f disabled\n", before, recorded, disabled);
  return disabled > 1.2 * before ? 0 : 1;
}
C
include=$dir/nvidia/cu13/include
lib=$dir/nvidia/cu13/lib
driver=$(ldconfig -p | awk '/libcuda\.so\.1 / && /x86-64/ {print $NF; exit}')
gcc -O2 -I "$include" -o "$dir/nodes" "$dir/nodes.c" "${driver:-/usr/local/nvidia/lib64/libcuda.so.1}" "$lib/libcupti.so.13"
LD_LIBRARY_PATH="$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$dir/nodes"
