// A stand-in for libcuda: what the driver says of its one GPU, whose bus is 8192 bits wide.
#include "include/cuda.h"
#include <stdio.h>
#include <string.h>

int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *device, int i) { *device = 40 + i; return 0; }
int cuDeviceGetName(char *name, int size, int device) { snprintf(name, size, "Stand-in %d", device); return 0; }
int cuDeviceGetUuid_v2(CUuuid *uuid, int device) { memset(uuid, device, sizeof *uuid); return 0; }
int cuDeviceTotalMem_v2(size_t *n, int device) { (void)device; *n = 1ull << 36; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  (void)device;
  switch (attribute) {
  case 10: *value = 32; break;      // threads of a warp
  case 13: *value = 1980000; break; // kHz
  case 16: *value = 132; break;     // multiprocessors
  case 36: *value = 2000000; break; // kHz of the memory
  case 37: *value = 8192; break;    // bits of its bus
  case 38: *value = 60 << 20; break;
  case 39: *value = 2048; break;
  case 75: *value = 9; break;
  case 76: *value = 0; break;
  case 81: *value = 228 << 10; break;
  default: return 1;
  }
  return 0;
}
