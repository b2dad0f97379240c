// A stand-in for CUPTI's headers: what the tracer uses of them, with layouts of its own, so that it can be tested where no CUDA is.
#pragma once
#include "cuda.h"
#include "cupti_version.h"
#define CUPTIAPI
typedef enum { CUPTI_SUCCESS = 0, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS = 39, CUPTI_ERROR_MAX_LIMIT_REACHED = 12 } CUptiResult;
typedef enum { CUPTI_CB_DOMAIN_DRIVER_API = 1, CUPTI_CB_DOMAIN_RUNTIME_API = 2 } CUpti_CallbackDomain;
typedef uint32_t CUpti_CallbackId;
typedef enum { CUPTI_API_ENTER, CUPTI_API_EXIT } CUpti_ApiCallbackSite;
typedef struct {
  CUpti_ApiCallbackSite callbackSite;
  const void *functionReturnValue;
  uint32_t correlationId;
  uint64_t *correlationData;
} CUpti_CallbackData;
typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;
typedef void (*CUpti_CallbackFunc)(void *, CUpti_CallbackDomain, CUpti_CallbackId, const void *);
typedef enum {
  CUPTI_ACTIVITY_KIND_MEMCPY = 1, CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DEVICE,
  CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE
} CUpti_ActivityKind;
typedef enum { CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE = 0 } CUpti_ActivityAttribute;
typedef struct { CUpti_ActivityKind kind; uint32_t size; } CUpti_Activity;
#define HEAD CUpti_ActivityKind kind; uint32_t size; uint64_t start, end; uint32_t deviceId, contextId, streamId, correlationId;
typedef struct {
  HEAD const char *name;
  int32_t gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread, staticSharedMemory, dynamicSharedMemory;
  uint32_t sharedMemoryExecuted, localMemoryPerThread, graphId;
  uint64_t graphNodeId;
} CUpti_ActivityKernel9;
typedef struct { HEAD uint64_t bytes; uint8_t copyKind, srcKind, dstKind; uint64_t graphNodeId; } CUpti_ActivityMemcpy6;
typedef CUpti_ActivityMemcpy6 CUpti_ActivityMemcpyPtoP4;
typedef struct { HEAD uint64_t bytes; uint32_t value; uint16_t memoryKind; uint64_t graphNodeId; } CUpti_ActivityMemset4;
typedef struct { HEAD uint32_t graphId; } CUpti_ActivityGraphTrace2;
typedef struct { CUpti_ActivityKind kind; uint32_t size; uint64_t start, end; uint32_t deviceId, graphId, launcherGraphId, deviceLaunchMode, contextId; uint64_t streamId; } CUpti_ActivityDeviceGraphTrace;
typedef struct { HEAD uint32_t threadId, cbid, returnValue; } CUpti_ActivityAPI;
typedef struct {
  HEAD CUuuid uuid;
  uint32_t id, computeCapabilityMajor, computeCapabilityMinor, numMultiprocessors, coreClockRate, l2CacheSize, maxWarpsPerMultiprocessor,
    maxSharedMemoryPerMultiprocessor;
  uint64_t globalMemorySize, globalMemoryBandwidth;
  const char *name;
} CUpti_ActivityDevice5;
typedef void (*CUpti_BuffersCallbackRequestFunc)(uint8_t **, size_t *, size_t *);
typedef void (*CUpti_BuffersCallbackCompleteFunc)(CUcontext, uint32_t, uint8_t *, size_t, size_t);
typedef uint64_t (*CUpti_TimestampCallbackFunc)(void);
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *);
CUptiResult cuptiEnableCallback(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId);
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t, const char **);
CUptiResult cuptiGetVersion(uint32_t *);
CUptiResult cuptiGetResultString(CUptiResult, const char **);
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc);
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t *, void *);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind);
CUptiResult cuptiActivityDisable(CUpti_ActivityKind);
CUptiResult cuptiActivityEnableDeviceGraph(uint8_t);
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, uint8_t);
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t);
CUptiResult cuptiActivityFlushAll(uint32_t);
CUptiResult cuptiActivityFlushPeriod(uint32_t);
CUptiResult cuptiActivityGetNextRecord(uint8_t *, size_t, CUpti_Activity **);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t *);
