// What tests need of CUDA's driver API.
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef struct CUctx_st *CUcontext;
typedef struct { char bytes[16]; } CUuuid;
