// A workload that tells NVTX of its ranges with payloads, as NCCL and others do: payloads MODE. It loads the tracer as CUDA and NVTX do.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void launch(const char *kernel);

// What NVTX passes to a tool.
struct attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, payloads;
  union { uint64_t u; int64_t i; double d; uint32_t u32; int32_t i32; float f; const void *p; } payload;
  int32_t message_type;
  const void *message;
};
struct data { uint64_t schema; size_t size; const void *bytes; };
struct entry { uint64_t flags, type; const char *name, *description; uint64_t detail, offset; const void *semantics, *reserved; };
struct schema { uint64_t fields; const char *name; uint64_t type, flags; const struct entry *entries; size_t count, size, align; uint64_t id; void *extension; };
struct value { const char *name; uint64_t value; int8_t is_flag; };
struct values { uint64_t fields; const char *name; const struct value *values; size_t count, size; uint64_t id; void *extension; };
enum { EXTENDED = (int32_t)0xdfbd0009, ASCII = 1, REGISTERED = 3, STATIC = 1 << 24, INT = 5, INT16 = 13, UINT64 = 18, DOUBLE = 20, SIZE = 22, CHAR = 1, TEXT = 75, HANDLE = 80 };
enum { FIXED = 1 << 4, MESSAGE = 1 << 10 };

// The functions of NVTX, in the places of its modules.
static void (*mark)(void *, const struct attributes *);
static uint64_t (*start)(void *, const struct attributes *);
static void (*end)(void *, uint64_t);
static int (*push)(void *, const struct attributes *);
static int (*pop)(void *);
static void *(*named)(void *, const char *), *(*domain)(const char *);
static void **slots[16];
static int table(uint32_t module, void ****out, unsigned *size) {
  slots[1] = (void **)&mark, slots[2] = (void **)&start, slots[3] = (void **)&end, slots[4] = (void **)&push, slots[5] = (void **)&pop, slots[10] = (void **)&named, slots[12] = (void **)&domain;
  *out = (void ***)slots, *size = module == 5 ? 16 : 0;
  return module == 5;
}
static const struct { size_t size; int (*table)(uint32_t, void ****, unsigned *); } callbacks = {sizeof callbacks, table};
static const void *exported(uint32_t id) { return id == 1 ? &callbacks : 0; }

static intptr_t extension[63];
#define CALL(slot, result, ...) ((result (*)(__VA_ARGS__))extension[slot])
static uint64_t has_schema(void *d, const struct schema *s) { return CALL(0, uint64_t, void *, const struct schema *)(d, s); }
static uint64_t has_values(void *d, const struct values *v) { return CALL(1, uint64_t, void *, const struct values *)(d, v); }
static void mark_data(void *d, const struct data *p, size_t n) { CALL(2, void, void *, const struct data *, size_t)(d, p, n); }
static int push_data(void *d, const struct data *p, size_t n) { return CALL(3, int, void *, const struct data *, size_t)(d, p, n); }
static int pop_data(void *d, const struct data *p, size_t n) { return CALL(4, int, void *, const struct data *, size_t)(d, p, n); }
static uint64_t start_data(void *d, const struct data *p, size_t n) { return CALL(5, uint64_t, void *, const struct data *, size_t)(d, p, n); }
static void end_data(void *d, uint64_t id, const struct data *p, size_t n) { CALL(6, void, void *, uint64_t, const struct data *, size_t)(d, id, p, n); }

static struct attributes of(const char *name, int type, const void *payload) {
  struct attributes a = {.version = 3, .size = sizeof a, .payload_type = type, .payloads = type == EXTENDED, .message_type = ASCII, .message = name};
  if (type == EXTENDED) a.payload.p = payload;
  else if (type) memcpy(&a.payload, payload, type > 3 ? 4 : 8);
  return a;
}

// What NCCL 2.28 says of a communicator and of a call.
struct communicator { uint64_t id; int ranks, rank, device; };
struct call { uint64_t id; size_t bytes; int operation; };
#define ID "NCCL communicator ID"
#define BYTES "Message size [bytes]"

// collective is what NCCL does for a call of it.
static void collective(void *nccl, const char *name, uint64_t schema, const void *payload, size_t size, const char *kernel) {
  struct data d = {STATIC + schema, size, payload};
  struct attributes a = of(name, EXTENDED, &d);
  a.message_type = REGISTERED, a.message = named(nccl, name);
  push(nccl, &a);
  launch(kernel);
  pop(nccl);
}

static void reduce(void *nccl, int operation) {
  collective(nccl, "ncclAllReduce", 5, &(struct call){18446744073709551615u, 1 << 20, operation}, sizeof(struct call), "ncclDevKernel_AllReduce_Sum_bf16_RING_LL");
}

static void *begin_nccl(void) {
  void *nccl = domain("NCCL");
  static const struct value operations[] = {{"Sum", 0, 0}, {"Avg", 4, 0}};
  has_values(nccl, &(struct values){1 << 2 | 1 << 3 | 1 << 4 | 1 << 5, 0, operations, 2, sizeof(int), STATIC + 24, 0});
  struct attributes a = of("ncclCommInitRankConfig", 0, 0);
  push(nccl, &a);
  static const struct entry of_communicator[] = {{0, UINT64, ID, 0, 0, 0, 0, 0}, {0, INT, "No. of ranks", 0, 0, 8, 0, 0}, {0, INT, "Rank", 0, 0, 12, 0, 0}, {0, INT, "CUDA device", 0, 0, 16, 0, 0}};
  static const struct entry of_call[] = {{0, UINT64, ID, 0, 0, 0, 0, 0}, {0, SIZE, BYTES, 0, 0, 8, 0, 0}, {0, STATIC + 24, "Reduction operation", 0, 0, 16, 0, 0}};
  const uint64_t fields = 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 8;
  has_schema(nccl, &(struct schema){fields, 0, 1, 0, of_communicator, 4, sizeof(struct communicator), 0, STATIC + 11, 0});
  has_schema(nccl, &(struct schema){fields, 0, 1, 0, of_call, 2, 16, 0, STATIC + 4, 0});
  pop_data(nccl, &(struct data){STATIC + 11, sizeof(struct communicator), &(struct communicator){18446744073709551615u, 4, 3, 1}}, 1);
  has_schema(nccl, &(struct schema){fields, 0, 1, 0, of_call, 3, sizeof(struct call), 0, STATIC + 5, 0});
  return nccl;
}

// others are payloads of other kinds.
static void others(void) {
  void *d = domain("others");
  struct attributes a = of("u64", 1, &(uint64_t){18446744073709551615u});
  mark(d, &a);
  a = of("i64", 2, &(int64_t){-5}), mark(d, &a);
  a = of("double", 3, &(double){2.5}), mark(d, &a);
  a = of("u32", 4, &(uint32_t){4294967295u}), mark(d, &a);
  a = of("i32", 5, &(int32_t){-5}), mark(d, &a);
  a = of("float", 6, &(float){0.1f}), mark(d, &a);
  static const struct entry of_point[] = {{0, INT16, "x", 0, 0, 0, 0, 0}, {0, DOUBLE, "y", 0, 0, 0, 0, 0}};
  uint64_t point = has_schema(d, &(struct schema){1 << 2 | 1 << 4 | 1 << 5, 0, 1, 0, of_point, 2, 0, 0, 0, 0});
  const struct entry of_whole[] = {{MESSAGE, TEXT, "message", 0, 8, 0, 0, 0}, {FIXED, point, "points", 0, 2, 8, 0, 0}, {FIXED, CHAR, 0, 0, 4, 0, 0, 0}, {0, INT, "behind", 0, 0, 0, 0, 0}};
  struct { char message[8]; struct { int16_t x; double y; } points[2]; char tag[4]; int behind; } whole = {"by data!", {{-1, 0.5}, {2, 1e300}}, "ab", 7};
  uint64_t id = has_schema(d, &(struct schema){1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 6, "whole", 1, 0, of_whole, 4, sizeof whole, 0, 0, 0});
  push_data(d, &(struct data){id, sizeof whole, &whole}, 1);
  pop(d);
  push_data(d, &(struct data){id, SIZE_MAX, &whole}, 1); // as large as the schema says
  pop_data(d, &(struct data){UINT64, 8, &(uint64_t){9}}, 1);
  mark_data(d, &(struct data){id, 20, &whole}, 1); // shorter than the schema says
  const struct entry of_handle[] = {{MESSAGE, HANDLE, "text", 0, 0, 0, 0, 0}};
  void *handle = named(d, "by handle");
  uint64_t by_handle = has_schema(d, &(struct schema){1 << 2 | 1 << 4 | 1 << 5, 0, 1, 0, of_handle, 1, 0, 0, 0, 0});
  end_data(d, start_data(d, &(struct data){by_handle, sizeof handle, &handle}, 1), &(struct data){INT, 4, &(int){6}}, 1);
  a = of("ended", 2, &(int64_t){1});
  end_data(d, start(d, &a), &(struct data){INT, 4, &(int){2}}, 1);
  const struct entry of_long[] = {{FIXED, CHAR, "text", 0, 250, 0, 0, 0}, {0, INT, "kept", 0, 0, 252, 0, 0}, {0, INT, "cut", 0, 0, 256, 0, 0}};
  static char text[1000];
  memset(text, 'x', 3);
  text[252] = 1, text[256] = 2;
  uint64_t is_long = has_schema(d, &(struct schema){1 << 2 | 1 << 4 | 1 << 5, 0, 1, 0, of_long, 3, 0, 0, 0, 0});
  mark_data(d, &(struct data){is_long, sizeof text, text}, 1);
  mark_data(d, &(struct data){point + 1000, 8, text}, 1); // of no schema
}

// resident is how much memory the process has, in bytes.
static long resident(void) {
  long all = 0, pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (fscanf(f, "%ld %ld", &all, &pages) != 2) pages = 0;
  fclose(f);
  return pages * sysconf(_SC_PAGESIZE);
}

// counted marks many times, with another number each time, and says whether that takes more and more memory.
static int counted(void) {
  void *d = domain("others");
  long before = 0;
  for (uint64_t i = 0; i < 600000; i++) {
    struct attributes a = of("counted", 1, &i);
    mark(d, &a);
    if (i == 100000) before = resident();
  }
  return resident() - before > 20 << 20 ? 7 : 0;
}

static void set(const char *line) {
  FILE *f = fopen(getenv("PROF_TRACE_SWITCH"), "w");
  fputs(line, f);
  fclose(f);
  sleep(1);
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  void *tracer = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (!tracer) return fprintf(stderr, "%s\n", dlerror()), 9;
  int (*nvtx)(const void *(*)(uint32_t)) = (int (*)(const void *(*)(uint32_t)))dlsym(tracer, "InitializeInjectionNvtx2");
  int (*payloads)(void *) = (int (*)(void *))dlsym(tracer, "InitializeInjectionNvtxExtension");
  int (*cuda)(void) = (int (*)(void))dlsym(tracer, "InitializeInjection");
  struct { size_t id, count; intptr_t *slots; } segment = {0, 63, extension};
  struct { uint16_t nvtx, size, module, version; size_t segments; void *segment, *exported; const void *info; } module = {3, sizeof module, 2, 0x0103, 1, &segment, 0, 0};
  if (!nvtx(exported) || !payloads(&module)) return 8;
  module.module = 1; // that for memory, which the tracer leaves alone
  if (payloads(&module) || !cuda()) return 8;
  if (strcmp(mode, "many") == 0) return counted();
  void *nccl = begin_nccl();
  others();
  if (strcmp(mode, "later") == 0) { // communicators are older than the window
    char line[4096];
    snprintf(line, sizeof line, "on %s/1\n", getenv("PROF_TRACE_DIR"));
    set(line);
  }
  if (strcmp(mode, "fork") == 0) launch("parent");
  if (strcmp(mode, "fork") == 0 && fork() != 0) return wait(0) < 0;
  for (int i = 0; i < 3; i++) reduce(nccl, i == 0 ? 0 : 4);
  reduce(nccl, 17); // one of the program's own
  collective(nccl, "ncclAllGather", 4, &(struct call){18446744073709551615u, 4096, 0}, 16, "ncclDevKernel_AllGather_RING_LL");
  if (strcmp(mode, "later") == 0) set("off\n");
  if (strcmp(mode, "later") == 0) sleep(3);
  return 0;
}
