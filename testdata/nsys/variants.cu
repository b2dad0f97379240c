// Small program with many NVTX and CUDA shapes. Own work for this project's tests; prints its expected counts.
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <cuda_runtime.h>
#ifndef NO_CUBLAS
#include <cublas_v2.h>
#endif
#include <nvtx3/nvToolsExt.h>

#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) fprintf(stderr, "line %d: %s: %s\n", __LINE__, #x, cudaGetErrorString(e_)); } while (0)
#define KERN(name) __global__ void name(float *p, long long cyc) { long long t = clock64(); while (clock64() - t < cyc) { } if (threadIdx.x == 0) p[blockIdx.x] += 1.f; }
KERN(k_warm) KERN(k_outside) KERN(k_xd_a) KERN(k_xd_ab) KERN(k_xd_b) KERN(k_same) KERN(k_rec)
KERN(k_se_x) KERN(k_se_xy) KERN(k_se_y) KERN(k_ct_main_before) KERN(k_ct_main_after) KERN(k_ct_wrk_before) KERN(k_ct_wrk_after)
KERN(k_g1) KERN(k_g2) KERN(k_g3) KERN(k_step_plain) KERN(k_thr0) KERN(k_thr1) KERN(k_sync1) KERN(k_sync2) KERN(k_tail) KERN(k_next)
KERN(k_unpop) KERN(k_unpop_llm) KERN(k_unend) KERN(k_um) KERN(k_thr_unpop)
template <typename T, int N> __global__ void scale_tmpl(T *p, T a) { int i = blockIdx.x * blockDim.x + threadIdx.x; for (int k = 0; k < N; k++) p[i] = p[i] * a + T(k); }

static const long long US = 1900;  // about one microsecond of SM clock
static nvtxDomainHandle_t llm;

static nvtxEventAttributes_t attr(const char *s) {
  nvtxEventAttributes_t e; memset(&e, 0, sizeof e);
  e.version = NVTX_VERSION; e.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE; e.messageType = NVTX_MESSAGE_TYPE_ASCII; e.message.ascii = s;
  return e;
}
static void dpush(nvtxDomainHandle_t d, const char *s) { nvtxEventAttributes_t e = attr(s); nvtxDomainRangePushEx(d, &e); }
static nvtxRangeId_t dstart(nvtxDomainHandle_t d, const char *s) { nvtxEventAttributes_t e = attr(s); return nvtxDomainRangeStartEx(d, &e); }
static void ms(int n) { std::this_thread::sleep_for(std::chrono::milliseconds(n)); }

int main(int argc, char **argv) {
  bool um = false, extra = false; const char *how = "";
  for (int i = 1; i < argc; i++) { if (!strcmp(argv[i], "um")) um = true; if (!strcmp(argv[i], "extra")) extra = true; if (!strcmp(argv[i], "abort") || !strcmp(argv[i], "kill9") || !strcmp(argv[i], "sleep")) how = argv[i]; }
  const int n = 1 << 18; float *p, *q, *r, *h, *pageable = new float[n](); cudaStream_t s1, s2; cudaEvent_t ev, ev2;
  nvtxNameOsThreadA(0, "main_thread");  // id 0: names nothing useful, kept as an odd case
  llm = nvtxDomainCreateA("LLM");
  nvtxStringHandle_t reg = nvtxDomainRegisterStringA(llm, "registered_range");
  nvtxDomainNameCategoryA(llm, 7, "stage"); nvtxNameCategoryA(3, "default_cat");

  nvtxRangePushA("init");
  CK(cudaMalloc(&p, n * 4)); CK(cudaMalloc(&q, n * 4)); CK(cudaMalloc(&r, n * 4)); CK(cudaMallocHost(&h, n * 4));
  CK(cudaMemset(p, 0, n * 4)); CK(cudaMemset(q, 0, n * 4)); CK(cudaMemset(r, 0, n * 4));
  CK(cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking)); CK(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
  CK(cudaEventCreate(&ev)); CK(cudaEventCreate(&ev2));
  for (int i = 0; i < 3; i++) k_warm<<<4, 32>>>(p, 10 * US);
  CK(cudaDeviceSynchronize());
  nvtxRangePop();

  k_outside<<<4, 32>>>(p, 10 * US); k_outside<<<4, 32>>>(p, 10 * US);  // in no range
  CK(cudaDeviceSynchronize());

  // (a) push/pop crossing over two domains
  nvtxRangePushA("xd_A");
  k_xd_a<<<4, 32, 0, s1>>>(p, 20 * US);
  dpush(llm, "xd_B");
  k_xd_ab<<<4, 32, 0, s1>>>(p, 20 * US); k_xd_ab<<<4, 32, 0, s1>>>(p, 20 * US);
  nvtxRangePop();  // xd_A closes first
  for (int i = 0; i < 3; i++) k_xd_b<<<4, 32, 0, s1>>>(p, 20 * US);
  nvtxDomainRangePop(llm);
  CK(cudaStreamSynchronize(s1));
  // one name in two domains, nested; then one name nested in itself
  nvtxRangePushA("prefill"); dpush(llm, "prefill");
  for (int i = 0; i < 4; i++) k_same<<<4, 32, 0, s1>>>(p, 20 * US);
  nvtxDomainRangePop(llm); nvtxRangePop();
  nvtxRangePushA("rec"); k_rec<<<4, 32, 0, s1>>>(p, 20 * US);
  nvtxRangePushA("rec"); k_rec<<<4, 32, 0, s1>>>(p, 20 * US); nvtxRangePop(); nvtxRangePop();
  // registered name, category, colour, payload
  { nvtxEventAttributes_t e = attr(""); e.messageType = NVTX_MESSAGE_TYPE_REGISTERED; e.message.registered = reg; e.category = 7;
    e.colorType = NVTX_COLOR_ARGB; e.color = 0xff00ff00u; e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64; e.payload.ullValue = 681;
    nvtxDomainRangePushEx(llm, &e); scale_tmpl<float, 4><<<n / 256, 256, 0, s1>>>(p, 0.5f); scale_tmpl<double, 2><<<n / 512, 256, 0, s1>>>((double *)q, 0.5); nvtxDomainRangePop(llm); }
  { nvtxEventAttributes_t e = attr("payload_double"); e.category = 3; e.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE; e.payload.dValue = 2.5; nvtxRangePushEx(&e); ms(1); nvtxRangePop(); }
  nvtxRangePushA("name with \"quotes\", comma, ünïcode; and\ttab"); ms(1); nvtxRangePop();
  nvtxRangePushA("cpu_only"); ms(2); nvtxRangePop();
  nvtxRangePushA("empty"); nvtxRangePop();
  CK(cudaDeviceSynchronize());

  // (b) start/end ranges: crossing in one thread
  { nvtxRangeId_t x = nvtxRangeStartA("se_X"); k_se_x<<<4, 32, 0, s1>>>(p, 20 * US);
    nvtxRangeId_t y = nvtxRangeStartA("se_Y"); k_se_xy<<<4, 32, 0, s1>>>(p, 20 * US); k_se_xy<<<4, 32, 0, s1>>>(p, 20 * US);
    nvtxRangeEnd(x); for (int i = 0; i < 3; i++) k_se_y<<<4, 32, 0, s1>>>(p, 20 * US); nvtxRangeEnd(y); CK(cudaStreamSynchronize(s1)); }
  // started here, ended on another thread, launches on both meanwhile
  { nvtxRangeId_t id = dstart(llm, "se_cross_thread"); std::atomic<int> st(0);
    std::thread w([&] {
      CK(cudaSetDevice(0)); nvtxRangePushA("wrk_push");
      for (int i = 0; i < 3; i++) k_ct_wrk_before<<<4, 32, 0, s2>>>(q, 20 * US);
      while (st.load() < 1) std::this_thread::yield();
      nvtxDomainRangeEnd(llm, id); st.store(2);
      for (int i = 0; i < 2; i++) k_ct_wrk_after<<<4, 32, 0, s2>>>(q, 20 * US);
      nvtxRangePop(); CK(cudaStreamSynchronize(s2)); });
    nvtxRangePushA("main_push");
    for (int i = 0; i < 4; i++) k_ct_main_before<<<4, 32, 0, s1>>>(p, 20 * US);
    st.store(1); while (st.load() < 2) std::this_thread::yield();
    for (int i = 0; i < 5; i++) k_ct_main_after<<<4, 32, 0, s1>>>(p, 20 * US);
    nvtxRangePop(); w.join(); CK(cudaStreamSynchronize(s1)); }

  // (c) marks
  nvtxMarkA("mark_default");
  { nvtxEventAttributes_t e = attr("mark_llm"); e.payloadType = NVTX_PAYLOAD_TYPE_INT64; e.payload.llValue = -5; nvtxDomainMarkEx(llm, &e); }

  // cuBLAS
#ifndef NO_CUBLAS
  { cublasHandle_t c; float one = 1.f, zero = 0.f; nvtxRangePushA("cublas_init"); if (cublasCreate(&c)) fprintf(stderr, "cublasCreate failed\n"); cublasSetStream(c, s1); nvtxRangePop();
    dpush(llm, "gemm"); for (int i = 0; i < 2; i++) if (cublasSgemm(c, CUBLAS_OP_N, CUBLAS_OP_N, 512, 512, 512, &one, p, 512, q, 512, &zero, r, 512)) fprintf(stderr, "sgemm failed\n");
    nvtxDomainRangePop(llm); CK(cudaStreamSynchronize(s1)); cublasDestroy(c); }
#endif

  // (e) a graph: 3 kernels + memcpy + memset, launched in ranges, once outside, and a second instance of it
  { cudaGraph_t g; cudaGraphExec_t x1, x2; nvtxRangePushA("graph_capture");
    CK(cudaStreamBeginCapture(s1, cudaStreamCaptureModeThreadLocal));
    k_g1<<<8, 64, 0, s1>>>(p, 30 * US); CK(cudaMemcpyAsync(q, p, n * 4, cudaMemcpyDeviceToDevice, s1)); k_g2<<<8, 64, 0, s1>>>(q, 30 * US);
    CK(cudaMemsetAsync(r, 1, n * 2, s1)); k_g3<<<8, 64, 0, s1>>>(r, 30 * US);
    CK(cudaStreamEndCapture(s1, &g)); CK(cudaGraphInstantiate(&x1, g, 0)); CK(cudaGraphInstantiate(&x2, g, 0)); nvtxRangePop();
    nvtxRangePushA("decode_all");
    for (int i = 0; i < 5; i++) { char nm[32]; snprintf(nm, sizeof nm, "decode_step[%d]", i); nvtxRangePushA(nm); CK(cudaGraphLaunch(x1, s1));
      if (i == 2) for (int k = 0; k < 2; k++) k_step_plain<<<4, 32, 0, s1>>>(p, 20 * US);  // plain kernels beside a replay
      nvtxRangePop(); }
    CK(cudaStreamSynchronize(s1)); nvtxRangePop();
    nvtxRangePushA("decode_two"); CK(cudaGraphLaunch(x1, s1)); CK(cudaGraphLaunch(x2, s2)); nvtxRangePop(); CK(cudaDeviceSynchronize());
    CK(cudaGraphLaunch(x2, s1)); CK(cudaDeviceSynchronize());  // in no range
    CK(cudaGraphExecDestroy(x1)); CK(cudaGraphExecDestroy(x2)); CK(cudaGraphDestroy(g)); }

  // (f) two host threads with own streams
  { std::atomic<int> ready(0); auto body = [&](int t) {
      CK(cudaSetDevice(0)); cudaStream_t s; CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); ready++; while (ready.load() < 2) std::this_thread::yield();
      char nm[32]; snprintf(nm, sizeof nm, "worker[%d]", t); nvtxRangePushA(nm);
      for (int i = 0; i < 20; i++) { nvtxRangePushA("chunk"); if (t) k_thr1<<<4, 32, 0, s>>>(r, 30 * US); else k_thr0<<<4, 32, 0, s>>>(q, 20 * US); nvtxRangePop(); }
      CK(cudaStreamSynchronize(s)); nvtxRangePop(); CK(cudaStreamDestroy(s)); };
    std::thread a(body, 0), b(body, 1); a.join(); b.join(); }
  // a thread that exits with an open push range
  { std::thread t([&] { CK(cudaSetDevice(0)); nvtxRangePushA("never_popped_thread"); k_thr_unpop<<<4, 32, 0, s2>>>(p, 20 * US); CK(cudaStreamSynchronize(s2)); }); t.join(); }

  // (g) copies and synchronisation
  nvtxRangePushA("sync_mix");
  CK(cudaMemcpyAsync(p, h, n * 4, cudaMemcpyHostToDevice, s1)); CK(cudaMemcpyAsync(q, pageable, n * 4, cudaMemcpyHostToDevice, s1));
  k_sync1<<<4, 32, 0, s1>>>(p, 200 * US); CK(cudaEventRecord(ev, s1)); CK(cudaStreamWaitEvent(s2, ev, 0)); k_sync2<<<4, 32, 0, s2>>>(q, 100 * US); CK(cudaEventRecord(ev2, s2));
  CK(cudaEventSynchronize(ev2)); CK(cudaMemcpyAsync(r, p, n * 4, cudaMemcpyDeviceToDevice, s2)); CK(cudaStreamSynchronize(s2));
  CK(cudaMemcpyAsync(h, r, n * 2, cudaMemcpyDeviceToHost, s1)); CK(cudaStreamSynchronize(s1)); CK(cudaMemcpy(pageable, r, n, cudaMemcpyDeviceToHost)); CK(cudaMemcpy(h, pageable, n, cudaMemcpyHostToHost));
  CK(cudaMemcpy2DAsync(p, 2048, r, 2048, 1024, 64, cudaMemcpyDeviceToDevice, s1)); CK(cudaMemsetAsync(p, 3, n, s1)); CK(cudaMemset(q, 0, n * 4));
  { void *m; CK(cudaMallocAsync(&m, 1 << 20, s1)); CK(cudaMemsetAsync(m, 0, 1 << 20, s1)); CK(cudaFreeAsync(m, s1)); }
  CK(cudaDeviceSynchronize());
  nvtxRangePop();

  // (h) a little managed memory
  if (um) { float *u; nvtxRangePushA("managed"); CK(cudaMallocManaged(&u, 1 << 20)); for (int i = 0; i < (1 << 18); i += 1024) u[i] = 1.f; k_um<<<128, 32>>>(u, 5 * US); CK(cudaDeviceSynchronize()); volatile float v = u[0]; (void)v; CK(cudaFree(u)); nvtxRangePop(); }

  // (i) work that runs after its range has closed
  nvtxRangePushA("async_tail"); for (int i = 0; i < 10; i++) k_tail<<<4, 32, 0, s1>>>(p, 300 * US); nvtxRangePop();
  nvtxRangePushA("next_range"); for (int i = 0; i < 2; i++) k_next<<<4, 32, 0, s1>>>(p, 20 * US); nvtxRangePop();
  CK(cudaDeviceSynchronize());
  // a pop without a push, and an end of an unknown range
  if (extra) { std::thread t([] { nvtxRangePop(); nvtxRangeEnd(123456789); nvtxDomainRangePop(llm); }); t.join(); }

  // (d) left open at exit
  nvtxRangePushA("never_popped"); for (int i = 0; i < 3; i++) k_unpop<<<4, 32, 0, s1>>>(p, 20 * US);
  dpush(llm, "never_popped_llm"); for (int i = 0; i < 2; i++) k_unpop_llm<<<4, 32, 0, s1>>>(p, 20 * US);
  nvtxRangePushA("closed_inside_open"); k_unpop<<<4, 32, 0, s1>>>(p, 20 * US); nvtxRangePop();
  nvtxRangeStartA("never_ended"); dstart(llm, "never_ended_llm"); for (int i = 0; i < 2; i++) k_unend<<<4, 32, 0, s1>>>(p, 20 * US);
  cudaError_t err = cudaDeviceSynchronize();
  if (!strcmp(how, "abort")) { ms(300); abort(); }
  if (!strcmp(how, "kill9")) { ms(300); raise(SIGKILL); }
  if (!strcmp(how, "sleep")) ms(8000);
  printf("variants: %s\n", cudaGetErrorString(err)); fflush(stdout);
  return err;
}
