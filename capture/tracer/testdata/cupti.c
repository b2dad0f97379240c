// A stand-in for libcupti: launch() calls the tracer back as CUPTI does around cudaLaunchKernel, whose driver call is nested and makes a
// record.
#include <cupti.h>
#include <stdlib.h>
#include <string.h>

static CUpti_CallbackFunc called;
static CUpti_BuffersCallbackRequestFunc wanted;
static CUpti_BuffersCallbackCompleteFunc done;
static CUpti_TimestampCallbackFunc now;
static uint8_t enabled[3][16], kinds[16], *buffer;
static size_t room, used, dropped;
static uint32_t correlation, device_graphs;
static const char *names[3][4] = {[1] = {0, "cuLaunchKernel", "cuInit"}, [2] = {0, "cudaLaunchKernel_v7000", "cudaProfilerStart_v4000", "cudaProfilerStop_v4000"}};

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *s, CUpti_CallbackFunc f, void *data) {
  (void)s, (void)data;
  if (getenv("CUPTI_TAKEN")) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS;
  called = f;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t on, CUpti_SubscriberHandle s, CUpti_CallbackDomain d, CUpti_CallbackId id) {
  (void)s;
  enabled[d][id] = on;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain d, uint32_t id, const char **name) {
  *name = id < 4 ? names[d][id] : 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetVersion(uint32_t *v) { *v = CUPTI_API_VERSION; return CUPTI_SUCCESS; }
CUptiResult cuptiGetResultString(CUptiResult r, const char **s) { (void)r; *s = "an error"; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c) {
  wanted = r, done = c;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc f) { now = f; return CUPTI_SUCCESS; }
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute a, size_t *n, void *v) { (void)a, (void)n, (void)v; return CUPTI_SUCCESS; }

static void flush(void) {
  uint8_t *full = buffer;
  size_t n = used;
  buffer = 0, used = 0;
  if (full) done(0, 0, full, room, n);
}
static void put(const void *record, uint32_t size) {
  size_t most;
  if (buffer && used + size > room) flush();
  if (!buffer) wanted(&buffer, &room, &most);
  if (!buffer) { dropped++; return; }
  memcpy(buffer + used, record, size);
  used += size;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind k) {
  if (k == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && correlation) abort(); // CUDA 13.0 crashes in the next launch of a graph that there was before
  kinds[k] = 1;
  if (k == CUPTI_ACTIVITY_KIND_DEVICE && !correlation) { // CUPTI tells of GPUs when CUDA begins, and not later
    CUpti_ActivityDevice5 d = {.kind = k, .size = sizeof d, .name = "Stand-in", .computeCapabilityMajor = 9, .numMultiprocessors = 132, .globalMemorySize = 1ull << 36};
    put(&d, sizeof d);
  }
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDeviceGraph(uint8_t on) { device_graphs = on; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind k) { kinds[k] = 0; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t on) { (void)id, (void)on; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t on) { enabled[0][id] = on; return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushPeriod(uint32_t ms) { (void)ms; flush(); return CUPTI_SUCCESS; } // what there is comes soon
CUptiResult cuptiActivityFlushAll(uint32_t force) { (void)force; flush(); return CUPTI_SUCCESS; }
CUptiResult cuptiActivityGetNextRecord(uint8_t *b, size_t n, CUpti_Activity **a) {
  uint8_t *next = *a ? (uint8_t *)*a + (*a)->size : b;
  if (next >= b + n) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *a = (CUpti_Activity *)next;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext c, uint32_t s, size_t *n) { (void)c, (void)s; *n = dropped; dropped = 0; return CUPTI_SUCCESS; }

static void around(CUpti_CallbackDomain d, uint32_t id, CUpti_ApiCallbackSite site, uint64_t *data) {
  static const int result = 0;
  CUpti_CallbackData c = {.callbackSite = site, .functionReturnValue = site == CUPTI_API_EXIT ? &result : 0, .correlationId = correlation, .correlationData = data};
  if (called && enabled[d][id]) called(0, d, id, &c);
}

// launch does what CUDA does for cudaLaunchKernel, from the thread that calls it. One thread at a time.
void launch(const char *kernel) {
  uint64_t outer = 0, inner = 0;
  correlation++;
  around(CUPTI_CB_DOMAIN_RUNTIME_API, 1, CUPTI_API_ENTER, &outer);
  around(CUPTI_CB_DOMAIN_DRIVER_API, 1, CUPTI_API_ENTER, &inner);
  uint64_t at = now ? now() : 0;
  if (kinds[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL]) {
    CUpti_ActivityKernel9 k = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, .size = sizeof k, .start = at + 1000, .end = at + 3000, .contextId = 1, .streamId = 7,
      .correlationId = correlation, .name = kernel, .gridX = 2, .gridY = 1, .gridZ = 1, .blockX = 128, .blockY = 1, .blockZ = 1, .registersPerThread = 32};
    if (getenv("CUPTI_CONDITIONAL")) { // it is of a graph, as another is, of a conditional node, before it
      k.graphNodeId = 3ull << 32;
      put(&k, sizeof k);
      CUpti_ActivityKernel9 body = k;
      body.name = "body()", body.correlationId = 0, body.graphNodeId++, body.start += 500, body.end = body.start + 100;
      put(&body, sizeof body);
    } else put(&k, sizeof k);
  }
  if (kinds[CUPTI_ACTIVITY_KIND_GRAPH_TRACE]) { // as if a graph came with each kernel, also where nothing else is recorded
    CUpti_ActivityGraphTrace2 g = {.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE, .size = sizeof g, .start = at + 4000, .end = at + 5000, .contextId = 1, .streamId = 7,
      .correlationId = correlation, .graphId = 1};
    put(&g, sizeof g);
    CUpti_ActivityDeviceGraphTrace by = {.kind = CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE, .size = sizeof by, .start = at + 4500, .end = at + 6000, .contextId = 1,
      .streamId = 1ull << 57, .graphId = 2, .launcherGraphId = 1};
    if (device_graphs && getenv("CUPTI_DEVICE_GRAPHS")) put(&by, sizeof by);
  }
  around(CUPTI_CB_DOMAIN_DRIVER_API, 1, CUPTI_API_EXIT, &inner);
  around(CUPTI_CB_DOMAIN_RUNTIME_API, 1, CUPTI_API_EXIT, &outer);
  if (correlation % 1000 == 0) flush(); // as often as CUPTI does by itself
  if (enabled[0][1]) {
    CUpti_ActivityAPI a = {.kind = CUPTI_ACTIVITY_KIND_DRIVER, .size = sizeof a, .start = at, .end = now(), .correlationId = correlation, .threadId = 1, .cbid = 1};
    put(&a, sizeof a);
  }
}

// profiler does what CUDA does for cudaProfilerStart and cudaProfilerStop.
void profiler(int start) {
  uint64_t data = 0;
  correlation++;
  around(CUPTI_CB_DOMAIN_RUNTIME_API, start ? 2 : 3, CUPTI_API_ENTER, &data);
  around(CUPTI_CB_DOMAIN_RUNTIME_API, start ? 2 : 3, CUPTI_API_EXIT, &data);
}
