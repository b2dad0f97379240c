// The tracer of prof: records a process's kernels, copies, fills, graph launches, the calls that launch them or wait, and NVTX ranges.
//
// CUDA loads it by CUDA_INJECTION64_PATH and NVTX by NVTX_INJECTION64_PATH. It writes PROF_TRACE_DIR/PID.proftrace, whose format is in
// docs/trace-format.md. The workload's threads only note times in rings of their own; a thread of the tracer and CUPTI's encode and write.
// It prints nothing, and whatever fails in it ends the trace, not the workload.
//
// Environment: PROF_TRACE_DIR the folder (needed), PROF_TRACE_BASE time 0 in nanoseconds of CLOCK_MONOTONIC, PROF_TRACE_GRAPH=graph one
// record for each graph launch instead of its kernels, PROF_TRACE_CUPTI the path of libcupti where the workload does not load it.
//
// With one of these only windows of time are traced, and CUPTI records nothing outside them but graph launches as a whole: PROF_TRACE_RANGE the name of a range at whose
// instance PROF_TRACE_AFTER + 1 a window begins, which ends with instance PROF_TRACE_AFTER + PROF_TRACE_WINDOW (0: never), in the domain
// PROF_TRACE_DOMAIN ("": the default one, *: any); PROF_TRACE_API=1 from cudaProfilerStart to cudaProfilerStop; PROF_TRACE_DELAY and
// PROF_TRACE_DURATION in nanoseconds from time 0; PROF_TRACE_SWITCH a file, while it begins with "on". While that begins with "watch", launches are
// only counted, into PROF_TRACE_DIR/PID.launches. With PROF_TRACE_EACH=1 each window has a file of its own, in the folder that the switch names
// after "on ", and until the first of them CUDA works as if there were no tracer. CUPTI then stays to the end, though each launch takes longer as long as
// it is there: cuptiFinalize is not safe. With CUDA 13.0 a graph that was launched while kernels were recorded fails in its next launch after it
// ("unspecified launch failure", on a host of two H200 each time, on one of a single H200 never).
//
// cc -O2 -shared -fPIC -fvisibility=hidden -I CUDA/include tracer.c -o tracer.so -ldl -lpthread
#define _GNU_SOURCE
#include <cupti.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#define EXPORT __attribute__((visibility("default")))
#define COUNT(a) (sizeof(a) / sizeof *(a))

// ---- The file -------------------------------------------------------------------------------------------------------------------------

enum { BLOCK_TABLE = 1, BLOCK_ROWS, BLOCK_SNAPSHOT, BLOCK_END };
enum { ROWS_MOST = 2048, COLUMNS_MOST = 24 };

static const int64_t NONE = INT64_MIN; // NULL

// A table collects rows until a block is full. A column named with a leading ~ has texts.
struct table {
  const char *name;
  const char *columns[COLUMNS_MOST];
  int width;                     // number of columns, once defined
  int rows;
  int64_t *values[COLUMNS_MOST]; // of texts: where each begins in text, NONE for NULL
  uint8_t *text;                 // each as 32 bits of length and its bytes
  size_t text_size, text_room;
};

enum {
  STRINGS, CAPTURE, EXPORTED, SYSTEM, STARTED, PROCESSES, THREADS, GPUS, CUDA_DEVICES, KERNELS, COPIES, FILLS, GRAPHS, CALLS, RANGES,
  SCHEMAS, ENTRIES, ENUMS, VALUES, COMMUNICATORS, DIAGNOSTICS, TABLES
};

#define WORK "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

static struct table tables[TABLES] = {
  [STRINGS] = {"StringIds", {"id", "~value"}},
  [CAPTURE] = {"META_DATA_CAPTURE", {"~name", "~value"}},
  [EXPORTED] = {"META_DATA_EXPORT", {"~name", "~value"}},
  [SYSTEM] = {"TARGET_INFO_SYSTEM_ENV", {"~name", "~value"}},
  [STARTED] = {"TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}},
  [PROCESSES] = {"PROCESSES", {"globalPid", "~name", "rank"}},
  [THREADS] = {"ThreadNames", {"globalTid", "nameId"}},
  [GPUS] = {"TARGET_INFO_GPU", {"id", "~name", "~uuid", "~busLocation", "computeMajor", "computeMinor", "smCount", "clockRate", "totalMemory",
                                "memoryBandwidth", "l2CacheSize", "maxWarpsPerSm", "maxShmemPerSm"}},
  [CUDA_DEVICES] = {"TARGET_INFO_CUDA_DEVICE", {"gpuId", "cudaId", "pid"}},
  [KERNELS] = {"CUPTI_ACTIVITY_KIND_KERNEL", {WORK, "demangledName", "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX", "blockY",
               "blockZ", "registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "sharedMemoryExecuted", "localMemoryPerThread",
               "graphId", "graphNodeId"}},
  [COPIES] = {"CUPTI_ACTIVITY_KIND_MEMCPY", {WORK, "bytes", "copyKind", "srcKind", "dstKind", "graphNodeId"}},
  [FILLS] = {"CUPTI_ACTIVITY_KIND_MEMSET", {WORK, "bytes", "value", "memKind", "graphNodeId"}},
  [GRAPHS] = {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {WORK, "graphId", "graphExecId"}},
  [CALLS] = {"CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"}},
  [RANGES] = {"NVTX_EVENTS", {"start", "end", "eventType", "globalTid", "endGlobalTid", "domainId", "textId", "category", "jsonTextId"}},
  [SCHEMAS] = {"NVTX_PAYLOAD_SCHEMAS", {"domainId", "schemaId", "~name", "type", "payloadSize", "alignTo"}},
  [ENTRIES] = {"NVTX_PAYLOAD_SCHEMA_ENTRIES", {"domainId", "schemaId", "flags", "type", "~name", "arrayOrUnionDetail", "offset"}},
  [ENUMS] = {"NVTX_PAYLOAD_ENUMS", {"domainId", "schemaId", "size"}},
  [VALUES] = {"NVTX_PAYLOAD_ENUM_ENTRIES", {"domainId", "schemaId", "~name", "value", "isFlag"}},
  [COMMUNICATORS] = {"NCCL_COMMUNICATORS", {"globalTid", "jsonTextId"}},
  [DIAGNOSTICS] = {"DIAGNOSTIC_EVENT", {"timestamp", "severity", "~text", "globalPid"}},
};

// What all threads share is guarded by lock, but for rings, windows and flags.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static off_t written;      // of whole blocks
static _Atomic int live;   // events are taken
static int each;           // windows have files of their own
static int64_t base;       // time 0, of CLOCK_MONOTONIC
static int64_t global_pid; // as Nsight Systems numbers processes
static uint32_t crc_table[256];

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ll + t.tv_nsec - base;
}

static uint32_t crc32_of(uint32_t crc, const uint8_t *p, size_t n) {
  for (crc = ~crc; n > 0; n--) crc = crc_table[(crc ^ *p++) & 255] ^ crc >> 8;
  return ~crc;
}

static void put16(uint8_t *p, uint16_t v) { memcpy(p, &v, sizeof v); }
static void put32(uint8_t *p, uint32_t v) { memcpy(p, &v, sizeof v); }

enum { HEADER = 20 };

// finish_block writes a block whose payload follows room for its header. What cannot be written whole is cut off again, and the trace ends.
static void finish_block(uint8_t *block, size_t payload, int type, int number, int rows) {
  if (file < 0) return;
  memcpy(block, "blk\n", 4);
  block[4] = type, block[5] = 0;
  put16(block + 6, number);
  put32(block + 8, rows);
  put32(block + 12, payload);
  put32(block + 16, crc32_of(crc32_of(0, block, 16), block + HEADER, payload));
  for (size_t done = 0, size = HEADER + payload; done < size;) {
    ssize_t n = write(file, block + done, size - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      int why = errno;
      live = live && each;
      int f = file;
      file = -1;
      if (ftruncate(f, written) == 0 && lseek(f, written, SEEK_SET) == written) { // the reason may fit where the block did not
        uint8_t end[HEADER + 128];
        char *text = (char *)end + HEADER;
        file = f;
        size_t length = snprintf(text, 128, "the trace could not be written: %s", strerror(why));
        if (why != 0) finish_block(end, length < 128 ? length : 127, BLOCK_END, 0, 0);
        file = -1;
      }
      close(f);
      return;
    }
    done += n;
  }
  written += HEADER + payload;
}

static uint8_t *put_varint(uint8_t *p, uint64_t v) {
  while (v >= 128) *p++ = v | 128, v >>= 7;
  *p++ = v;
  return p;
}

static void define(int number) {
  struct table *t = &tables[number];
  t->width = 0;
  uint8_t block[HEADER + 2048], *p = block + HEADER;
  const char *names[COLUMNS_MOST + 1] = {t->name};
  while (t->width < COLUMNS_MOST && t->columns[t->width]) t->width++, names[t->width] = t->columns[t->width - 1];
  for (int i = 0; i <= t->width; i++) {
    int is_text = i > 0 && names[i][0] == '~';
    size_t n = strlen(names[i] + is_text);
    put16(p, n);
    memcpy(p + 2, names[i] + is_text, n);
    p += 2 + n;
    if (i > 0) *p++ = is_text ? 't' : 'i';
  }
  for (int c = 0; c < t->width; c++)
    if (!t->values[c]) t->values[c] = malloc(ROWS_MOST * sizeof **t->values);
  finish_block(block, p - block - HEADER, BLOCK_TABLE, number, t->width);
}

// encode writes a column of rows at p, for which there is room.
static uint8_t *encode(const struct table *t, int c, uint8_t *p) {
  uint8_t *head = p;
  const int64_t *v = t->values[c];
  int is_text = t->columns[c][0] == '~', nulls = 0, same = 1;
  for (int i = 0; i < t->rows; i++) {
    nulls += v[i] == NONE;
    same &= v[i] == v[0];
  }
  p += 5;
  int how = nulls == t->rows ? 0 : same && !is_text ? 1 : nulls ? 3 : 2;
  head[4] = how;
  if (how == 3) {
    memset(p, 0, (t->rows + 7) / 8);
    for (int i = 0; i < t->rows; i++) p[i / 8] |= (v[i] == NONE) << i % 8;
    p += (t->rows + 7) / 8;
  }
  uint64_t before = 0;
  for (int i = 0; how && i < (how == 1 ? 1 : t->rows); i++) {
    if (v[i] == NONE) continue;
    if (is_text) {
      uint32_t n;
      memcpy(&n, t->text + v[i], sizeof n);
      p = put_varint(p, n);
      memcpy(p, t->text + v[i] + sizeof n, n);
      p += n;
      continue;
    }
    int64_t d = (int64_t)((uint64_t)v[i] - before);
    p = put_varint(p, (uint64_t)d << 1 ^ (uint64_t)(d >> 63));
    before = v[i];
  }
  put32(head, p - head - 4);
  return p;
}

// flush writes the rows of a table, after the texts that they name.
static void flush(int number, int type) {
  struct table *t = &tables[number];
  if (t->rows == 0 && type == BLOCK_ROWS) return;
  if (number != STRINGS) flush(STRINGS, BLOCK_ROWS);
  size_t room = HEADER + t->width * (size_t)(5 + ROWS_MOST / 8 + ROWS_MOST * 10) + t->text_size;
  uint8_t *block = malloc(room), *p = block + HEADER;
  if (block) {
    for (int c = 0; c < t->width && t->rows > 0; c++) p = encode(t, c, p);
    finish_block(block, p - block - HEADER, type, number, t->rows);
    free(block);
  }
  t->rows = 0, t->text_size = 0;
}

static void add(int number, const int64_t *values) {
  struct table *t = &tables[number];
  if (t->width == 0) define(number);
  for (int c = 0; c < t->width; c++) t->values[c][t->rows] = values[c];
  if (++t->rows == ROWS_MOST || t->text_size > 1 << 20) flush(number, BLOCK_ROWS);
}

#define ADD(number, ...) add(number, (int64_t[]){__VA_ARGS__})

// text keeps a text for the next row of a table and gives the value that stands for it.
static int64_t text_of(int number, const char *s, size_t n) {
  struct table *t = &tables[number];
  if (t->text_size + n + 4 > t->text_room) {
    size_t room = (t->text_size + n + 4) * 2;
    uint8_t *more = realloc(t->text, room);
    if (!more) return NONE;
    t->text = more, t->text_room = room;
  }
  int64_t at = t->text_size;
  uint32_t length = n;
  memcpy(t->text + at, &length, 4);
  memcpy(t->text + at + 4, s, n);
  t->text_size += 4 + n;
  return at;
}

static int64_t text(int number, const char *s) { return s && *s ? text_of(number, s, strlen(s)) : NONE; }

static void pair(int number, const char *name, const char *value) {
  int64_t a = text(number, name), b = text(number, value);
  ADD(number, a, b);
}

static void say(int severity, const char *format, ...) {
  char s[512];
  va_list args;
  va_start(args, format);
  vsnprintf(s, sizeof s, format, args);
  va_end(args);
  ADD(DIAGNOSTICS, now(), severity, text(DIAGNOSTICS, s), global_pid);
}

// ---- Windows --------------------------------------------------------------------------------------------------------------------------

// A window of time that is traced. Device work belongs to it by the correlation ids of the calls in it.
struct window { int64_t start; _Atomic int64_t end; _Atomic uint32_t first, last; };
enum { WINDOWS_MOST = 1 << 16 };
static struct window windows[WINDOWS_MOST];
static _Atomic int window_count;
static _Atomic int taking;          // a window is open
static int has_windows;             // else all is traced: one window without bounds
static _Atomic int64_t closed_at;   // work of the last window may still come; 0: CUPTI records nothing
static pthread_mutex_t switching = PTHREAD_MUTEX_INITIALIZER;

static void trace_cuda(int on);
static int refused;         // CUPTI could not be had: the next window tries again

static void open_window(void) {
  pthread_mutex_lock(&switching);
  if (live && !taking && window_count < WINDOWS_MOST) { // of the 65,537th there is nothing
    refused = 0;
    if (!closed_at) trace_cuda(1);
    closed_at = 0;
    struct window *w = &windows[window_count];
    w->start = now(), w->end = INT64_MAX;
    window_count++;
    taking = 1;
  }
  pthread_mutex_unlock(&switching);
}

static void close_window(void) {
  pthread_mutex_lock(&switching);
  if (taking && has_windows) {
    taking = 0;
    closed_at = windows[window_count - 1].end = now();
  }
  pthread_mutex_unlock(&switching);
}

// note_correlation has the work of a call belong to the open window.
static void note_correlation(uint32_t id) {
  if (!has_windows) return;
  struct window *w = &windows[window_count - 1];
  uint32_t first = w->first, last = w->last;
  while ((first == 0 || id < first) && !atomic_compare_exchange_weak(&w->first, &first, id)) {}
  while (id > last && !atomic_compare_exchange_weak(&w->last, &last, id)) {}
}

// is_open says whether a moment is in a window.
static int is_open(int64_t at) {
  for (int i = window_count - 1; i >= 0; i--)
    if (at >= windows[i].start) return at < windows[i].end;
  return 0;
}

// What became of the work of a graph that came last, by the graph. Two of one number share a place.
static struct { uint32_t graph; int kept; } latest[1 << 12];

// is_kept says whether the work of a call is in a window. Work that no call launched goes with the work of its graph that a call did, which mostly came
// before; without such, what begins in a window is in it.
static int is_kept(uint32_t correlation, int64_t at, uint32_t graph) {
  if (!has_windows) return 1;
  int place = graph % (sizeof latest / sizeof *latest), kept = 0;
  if (correlation == 0) return graph && latest[place].graph == graph ? latest[place].kept : is_open(at);
  for (int i = window_count - 1; i >= 0; i--) { // in the order of time and of correlation ids
    struct window *w = &windows[i];
    if (!w->first || correlation < w->first) continue;
    kept = correlation <= w->last;
    break;
  }
  if (graph) latest[place].graph = graph, latest[place].kept = kept;
  return kept;
}

// ---- Names ----------------------------------------------------------------------------------------------------------------------------

// Strings that rows refer to by id, in a table of open addressing.
struct string { uint64_t hash; char *bytes; uint32_t size; int64_t id; };
static struct string *strings;
static size_t strings_room, strings_used;
static int64_t string_ids; // the last one in the file

// Texts of payloads have ids too, and only the latest are known again: a program may have as many as ranges.
static struct string payloads[1 << 12];

static uint64_t hash_of(const char *s, size_t n) {
  uint64_t h = 0xcbf29ce484222325;
  for (; n >= 8; s += 8, n -= 8) {
    uint64_t w;
    memcpy(&w, s, 8);
    h = (h ^ w) * 0x9e3779b97f4a7c15;
    h ^= h >> 29;
  }
  for (; n > 0; n--) h = (h ^ (uint8_t)*s++) * 0x100000001b3;
  return h ^ h >> 32;
}

static int64_t string_id(const char *s, size_t n) {
  if (strings_used * 2 >= strings_room) {
    size_t room = strings_room ? strings_room * 2 : 4096;
    struct string *bigger = calloc(room, sizeof *bigger);
    if (!bigger) return NONE;
    for (size_t i = 0; i < strings_room; i++) {
      if (!strings[i].bytes) continue;
      size_t k = strings[i].hash & (room - 1);
      while (bigger[k].bytes) k = (k + 1) & (room - 1);
      bigger[k] = strings[i];
    }
    free(strings);
    strings = bigger, strings_room = room;
  }
  uint64_t h = hash_of(s, n);
  size_t k = h & (strings_room - 1);
  for (; strings[k].bytes; k = (k + 1) & (strings_room - 1))
    if (strings[k].hash == h && strings[k].size == n && memcmp(strings[k].bytes, s, n) == 0) return strings[k].id;
  char *copy = malloc(n + 1);
  if (!copy) return NONE;
  memcpy(copy, s, n);
  strings[k] = (struct string){h, copy, n, ++string_ids};
  strings_used++;
  ADD(STRINGS, strings[k].id, text_of(STRINGS, s, n));
  return strings[k].id;
}

static int64_t payload_id(const char *s) {
  size_t n = strlen(s);
  uint64_t h = hash_of(s, n);
  struct string *p = &payloads[h % COUNT(payloads)];
  if (p->bytes && p->hash == h && p->size == n && memcmp(p->bytes, s, n) == 0) return p->id;
  free(p->bytes);
  *p = (struct string){h, strdup(s), n, ++string_ids};
  ADD(STRINGS, p->id, text_of(STRINGS, s, n));
  return p->id;
}

static void forget_payloads(void) {
  for (size_t i = 0; i < COUNT(payloads); i++) free(payloads[i].bytes);
  memset(payloads, 0, sizeof payloads);
}

static int64_t name_id(const char *s) { return s ? string_id(s, strlen(s)) : NONE; }

// ---- Events of the workload's threads -------------------------------------------------------------------------------------------------

enum { EVENT_CALL = 1, EVENT_PUSH, EVENT_POP, EVENT_START, EVENT_END, EVENT_MARK, EVENT_DOMAIN, EVENT_NAME };

// An event in a ring, followed by the bytes of its text and of its payload, in whole units of 8 bytes.
struct event {
  uint8_t type;
  uint8_t domain; // of a call: 1 runtime, 2 driver
  uint16_t text;  // bytes
  uint32_t more;  // category; of a call the callback
  int64_t time;
  union { int64_t end, key; };   // of a call; else the domain
  union { int64_t range, result; };
  uint32_t correlation, payload; // bytes
};

enum { RING = 1 << 19, TEXT_MOST = 1 << 14 };

// The payloads of an event: of each which schema it has, how many bytes, how many of them are kept, and these.
struct payload_head { uint64_t schema; uint32_t had, kept; };
enum { PAYLOAD_MOST = 256, PAYLOADS_MOST = 4 };
struct payload { uint32_t size; uint8_t bytes[PAYLOADS_MOST * sizeof(struct payload_head) + PAYLOAD_MOST]; };

struct open { int64_t start, name, domain; uint32_t category; char *payload; }; // the text of payloads is its own; 0: none

// A ring of one thread: it writes, whoever has the lock reads.
struct ring {
  struct ring *next;
  _Atomic uint64_t head, tail; // written and read so far
  _Atomic int dead;            // its thread has ended
  int64_t tid;                 // as Nsight Systems numbers threads
  int named;
  struct open *stack;          // ranges pushed; of the reader
  int depth, room;
  _Alignas(8) uint8_t data[RING];
};

static _Atomic(struct ring *) rings;
static pthread_key_t ring_key;
static __thread struct ring *own __attribute__((tls_model("initial-exec")));
static __thread int in_runtime __attribute__((tls_model("initial-exec")));
static sem_t wake;

static void begin(void);
static int forked; // the process was made by fork, and has traced nothing yet
static void drain(struct ring *r);

static void thread_ends(void *p) {
  own = 0;
  ((struct ring *)p)->dead = 1;
}

static struct ring *ring_of_thread(void) {
  struct ring *r = own;
  if (r) return r;
  if (!(r = calloc(1, sizeof *r))) return 0;
  r->tid = global_pid | (syscall(SYS_gettid) & 0xffffff);
  pthread_setspecific(ring_key, r);
  r->next = rings;
  while (!atomic_compare_exchange_weak(&rings, &r->next, r)) {}
  return own = r;
}

static void copy_in(struct ring *r, uint64_t at, const void *from, size_t n) {
  size_t i = at & (RING - 1), first = n < RING - i ? n : RING - i;
  memcpy(r->data + i, from, first);
  memcpy(r->data, (const uint8_t *)from + first, n - first);
}

static void copy_out(struct ring *r, uint64_t at, void *to, size_t n) {
  size_t i = at & (RING - 1), first = n < RING - i ? n : RING - i;
  memcpy(to, r->data + i, first);
  memcpy((uint8_t *)to + first, r->data, n - first);
}

// note puts an event into the ring of this thread. A thread whose ring is full empties it itself: nothing is lost.
static void note(struct event *e, const char *s, size_t n, const struct payload *p) {
  if (!live && forked) begin();
  if (!live) return;
  struct ring *r = ring_of_thread();
  if (!r) return;
  e->text = n = n < TEXT_MOST ? n : TEXT_MOST;
  e->payload = p ? p->size : 0;
  uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
  uint64_t size = sizeof *e + ((n + e->payload + 7) & ~7ull), used = head - atomic_load_explicit(&r->tail, memory_order_acquire);
  if (used + size > RING) {
    pthread_mutex_lock(&lock);
    drain(r);
    pthread_mutex_unlock(&lock);
  } else if (used <= RING / 2 && used + size > RING / 2) {
    sem_post(&wake);
  }
  copy_in(r, head, e, sizeof *e);
  if (n) copy_in(r, head + sizeof *e, s, n);
  if (e->payload) copy_in(r, head + sizeof *e + n, p->bytes, e->payload);
  atomic_store_explicit(&r->head, head + size, memory_order_release);
}

// ---- Reading the rings ----------------------------------------------------------------------------------------------------------------

enum { PUSH_POP = 59, START_END = 60, MARK = 34, DOMAIN_CREATE = 75 }; // event types of Nsight Systems

// Ranges started and not ended by their ids, and ends whose start has not come by.
struct started { int64_t id, tid, end_tid, end; struct open open; struct started *next; };
static struct started *started[1024];

// range_row adds what lies of a range in windows. Domains are kept whenever they were made.
static void range_row(const struct open *o, int64_t end, int type, int64_t tid, int64_t end_tid) {
  if (type == DOMAIN_CREATE) ADD(RANGES, o->start, end, type, tid, end_tid, o->domain, o->name, o->category, NONE);
  for (int i = type == DOMAIN_CREATE ? -1 : window_count - 1; i >= 0 && windows[i].end >= o->start; i--) {
    int64_t from = windows[i].start, to = windows[i].end, start = o->start > from ? o->start : from;
    if (type == MARK ? o->start < from : end != NONE && end < start) continue;
    int64_t cut = type == MARK || (end == NONE && to == INT64_MAX) ? NONE : end != NONE && end < to ? end : to;
    ADD(RANGES, start, cut, type, tid, end_tid, o->domain, o->name, o->category, o->payload ? payload_id(o->payload) : NONE);
  }
}

// payload_text says the payloads of an event in a text, behind those of the text before, which it takes. docs/trace-format.md has its form.
static char *payload_text(char *before, const struct event *e, const uint8_t *p) {
  size_t n = before ? strlen(before) : 0;
  if (e->payload == 0) return before;
  char *text = realloc(before, n + 32 + PAYLOADS_MOST * 64 + 2 * e->payload);
  if (!text) return before;
  if (n == 0) n = sprintf(text, "%lld", (long long)e->key);
  struct payload_head h;
  for (const uint8_t *end = p + e->payload; p < end; p += h.kept) {
    memcpy(&h, p, sizeof h);
    p += sizeof h;
    n += sprintf(text + n, " %llu %u ", (unsigned long long)h.schema, h.had);
    for (uint32_t i = 0; i < h.kept; i++) n += sprintf(text + n, "%02x", p[i]);
  }
  return text;
}

static int is_nccl(int64_t domain);

// What NCCL said of communicators, in texts of payloads: each file has it, since they are mostly made before the windows in which they are used.
static struct { int64_t tid; char *text; } communicators[1024];
static int communicator_count;

static void keep_communicator(int64_t tid, const char *text) {
  char *copy;
  for (int i = 0; i < communicator_count; i++)
    if (strcmp(communicators[i].text, text) == 0) return;
  if (communicator_count == COUNT(communicators) || !(copy = strdup(text))) return;
  communicators[communicator_count].tid = tid, communicators[communicator_count++].text = copy;
  ADD(COMMUNICATORS, tid, payload_id(copy));
}

static void start_or_end(struct ring *r, const struct event *e, const struct open *o, const uint8_t *payload) {
  struct started **at = &started[e->range & 1023], *s;
  while ((s = *at) && s->id != e->range) at = &s->next;
  if (!s) {
    if (!(s = calloc(1, sizeof *s))) return;
    *s = (struct started){.id = e->range, .end = NONE, .tid = NONE, .next = started[e->range & 1023]};
    started[e->range & 1023] = s;
    at = &started[e->range & 1023];
  }
  char *both = payload_text(s->open.payload, e, payload);
  if (e->type == EVENT_START) s->open = *o, s->tid = r->tid;
  else s->end = e->time, s->end_tid = r->tid;
  s->open.payload = both;
  if (s->end == NONE || s->tid == NONE) return;
  range_row(&s->open, s->end, START_END, s->tid, s->end_tid);
  *at = s->next;
  free(both);
  free(s);
}

static int64_t call_names[3][1024];

static int64_t call_name(int domain, uint32_t id);

static void take(struct ring *r, const struct event *e, const char *s) {
  struct open o = {e->time, 0, e->key, e->more, 0};
  const uint8_t *payload = (const uint8_t *)s + e->text;
  switch (e->type) {
    case EVENT_CALL:
      ADD(CALLS, e->time, e->end, r->tid, e->correlation, call_name(e->domain, e->more), e->result);
      return;
    case EVENT_POP:
      for (int i = r->depth - 1; i >= 0; i--) {
        if (r->stack[i].domain != e->key) continue;
        r->stack[i].payload = payload_text(r->stack[i].payload, e, payload);
        if (e->payload && r->stack[i].payload && is_nccl(e->key)) keep_communicator(r->tid, r->stack[i].payload);
        range_row(&r->stack[i], e->time, PUSH_POP, r->tid, NONE);
        free(r->stack[i].payload);
        memmove(r->stack + i, r->stack + i + 1, (--r->depth - i) * sizeof *r->stack);
        return;
      }
      return;
    case EVENT_END:
      start_or_end(r, e, 0, payload);
      return;
    case EVENT_NAME:
      r->named = 1;
      ADD(THREADS, e->range, string_id(s, e->text));
      return;
  }
  o.name = string_id(s, e->text);
  if (e->type == EVENT_PUSH || e->type == EVENT_MARK) o.payload = payload_text(0, e, payload);
  switch (e->type) {
    case EVENT_PUSH:
      if (r->depth == r->room) {
        struct open *more = realloc(r->stack, (r->room * 2 + 16) * sizeof *more);
        if (!more) return;
        r->stack = more, r->room = r->room * 2 + 16;
      }
      r->stack[r->depth++] = o;
      return;
    case EVENT_START:
      start_or_end(r, e, &o, payload);
      return;
    case EVENT_MARK:
      range_row(&o, NONE, MARK, r->tid, NONE);
      free(o.payload);
      return;
    case EVENT_DOMAIN:
      range_row(&o, NONE, DOMAIN_CREATE, r->tid, NONE);
  }
}

static void keep_name(struct open *o, struct string *const *by_id, int64_t most) {
  if (o->name > 0 && o->name <= most && by_id[o->name]) o->name = string_id(by_id[o->name]->bytes, by_id[o->name]->size);
}

// keep_names makes the table of strings anew, with those of ranges that are open: so files that are begun late have them, and a process that is
// traced seldom keeps few.
static void keep_names(void) {
  struct string *old = strings, **by_id = calloc(string_ids + 1, sizeof *by_id);
  size_t room = strings_room;
  int64_t most = string_ids;
  if (!by_id) return;
  for (size_t i = 0; i < room; i++)
    if (old[i].bytes) by_id[old[i].id] = &old[i];
  strings = 0, strings_room = strings_used = string_ids = 0;
  forget_payloads();
  memset(call_names, 0, sizeof call_names);
  for (struct ring *r = rings; r; r = r->next)
    for (int i = 0; i < r->depth; i++) keep_name(&r->stack[i], by_id, most);
  for (size_t k = 0; k < COUNT(started); k++)
    for (struct started *s = started[k]; s; s = s->next)
      if (s->tid != NONE) keep_name(&s->open, by_id, most);
  for (size_t i = 0; i < room; i++) free(old[i].bytes);
  free(old);
  free(by_id);
}

static void drain(struct ring *r) {
  uint64_t tail = atomic_load_explicit(&r->tail, memory_order_relaxed), head = atomic_load_explicit(&r->head, memory_order_acquire);
  static char s[TEXT_MOST + sizeof(struct payload)];
  while (tail < head) {
    struct event e;
    copy_out(r, tail, &e, sizeof e);
    copy_out(r, tail + sizeof e, s, e.text + e.payload);
    take(r, &e, s);
    tail += sizeof e + ((e.text + e.payload + 7) & ~7ull);
  }
  atomic_store_explicit(&r->tail, tail, memory_order_release);
}

static void name_thread(struct ring *r) {
  char path[64], name[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/comm", (int)(r->tid & 0xffffff));
  r->named = 1;
  int f = open(path, O_RDONLY | O_CLOEXEC);
  if (f < 0) return;
  ssize_t n = read(f, name, sizeof name);
  close(f);
  if (n > 1) ADD(THREADS, r->tid, string_id(name, n - 1));
}

// forget frees the ring of a thread that has ended, and says what it left open. The newest ring stays: threads put theirs before it.
static void forget(struct ring **at) {
  struct ring *r = *at;
  for (int i = 0; i < r->depth; i++) range_row(&r->stack[i], NONE, PUSH_POP, r->tid, NONE), free(r->stack[i].payload);
  *at = r->next;
  free(r->stack);
  free(r);
}

enum { NAMES_MOST = 1 << 16 }; // that are kept between files

static void drain_all(void) {
  struct ring *first = rings;
  for (struct ring *r = first; r; r = r->next) {
    if (!r->named) name_thread(r);
    drain(r);
  }
  for (struct ring **at = first ? &first->next : 0; at && *at;) {
    if ((*at)->dead && (*at)->head == (*at)->tail) forget(at);
    else at = &(*at)->next;
  }
  if (file < 0 && strings_used > NAMES_MOST) keep_names();
}

// add_open adds rows of the ranges that are open, at most so many.
static void add_open(int most) {
  for (struct ring *r = rings; r; r = r->next)
    for (int i = 0; i < r->depth && most-- > 0; i++) range_row(&r->stack[i], NONE, PUSH_POP, r->tid, NONE);
  for (size_t k = 0; k < COUNT(started); k++)
    for (struct started *s = started[k]; s && most > 0; s = s->next)
      if (s->tid != NONE && s->end == NONE) range_row(&s->open, NONE, START_END, s->tid, NONE), most--;
}

// snapshot writes the ranges that are open, for who reads the file of a killed process: a block of them at most.
static void snapshot(void) {
  static int was_empty = 1;
  flush(RANGES, BLOCK_ROWS);
  add_open(ROWS_MOST - 1);
  if (tables[RANGES].rows == 0 && was_empty) return;
  was_empty = tables[RANGES].rows == 0;
  flush(RANGES, BLOCK_SNAPSHOT);
}

static void flush_all(void) {
  drain_all();
  if (file < 0) return;
  for (int i = 0; i < TABLES; i++) flush(i, BLOCK_ROWS);
  snapshot();
}

// ---- CUPTI ----------------------------------------------------------------------------------------------------------------------------

// Called by pointer: the library is the workload's own, which must not be loaded twice.
#define CUPTI(X) X(cuptiSubscribe) X(cuptiEnableCallback) X(cuptiGetCallbackName) X(cuptiGetVersion) X(cuptiGetResultString) \
  X(cuptiActivityRegisterCallbacks) X(cuptiActivityRegisterTimestampCallback) X(cuptiActivitySetAttribute) X(cuptiActivityEnable) X(cuptiActivityDisable) \
  X(cuptiActivityEnableRuntimeApi) X(cuptiActivityEnableDriverApi) X(cuptiActivityFlushAll) X(cuptiActivityFlushPeriod) \
  X(cuptiActivityGetNextRecord) X(cuptiActivityGetNumDroppedRecords)
#define DECLARE(f) static __typeof__(&f) p_##f;
CUPTI(DECLARE)

// Structs of records in the CUDA that this is compiled with. CUPTI writes its newest, which begin with the same fields.
#if CUPTI_API_VERSION >= 26
typedef CUpti_ActivityMemcpy6 copy_record;
#elif CUPTI_API_VERSION >= 17
typedef CUpti_ActivityMemcpy5 copy_record;
#else
#error "CUDA 11.8 or newer is needed"
#endif
typedef CUpti_ActivityKernel9 kernel_record;
typedef CUpti_ActivityMemset4 fill_record;
typedef CUpti_ActivityMemcpyPtoP4 peer_record;
#if CUPTI_API_VERSION >= 22
typedef CUpti_ActivityGraphTrace2 graph_record;
#else
typedef CUpti_ActivityGraphTrace graph_record;
#endif

#define DEVICE_GRAPHS 26 // the version of CUPTI that has records of graphs that kernels launch, of CUDA 12.8

enum { BUFFER = 8 << 20, BUFFERS_MOST = 64 };

static void *spare[8];           // buffers that CUPTI has given back
static int spares;
static _Atomic int buffers;      // that CUPTI has
static pthread_mutex_t spare_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t records, dropped;
static int by_records;           // calls come as records, since another has CUPTI's callbacks
static uint32_t cupti_version;   // 0: not yet known

static void add_version(void) {
  char text[32];
  snprintf(text, sizeof text, "%u", cupti_version);
  pair(EXPORTED, "CUPTI_VERSION", text);
}

static int64_t call_name(int domain, uint32_t id) {
  if (id >= COUNT(call_names[0])) return NONE;
  if (!call_names[domain][id]) {
    const char *name = 0;
    CUpti_CallbackDomain d = domain == 1 ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
    call_names[domain][id] = p_cuptiGetCallbackName(d, id, &name) == CUPTI_SUCCESS && name ? name_id(name) : name_id("unknown call");
  }
  return call_names[domain][id];
}

static int64_t or_none(uint64_t v, uint64_t none) { return v == none ? NONE : (int64_t)v; }

// memory_kind gives a kind of memory as Nsight Systems numbers them.
static int64_t memory_kind(int64_t kind) { return kind == 0 ? 7 : kind - 1; }

// A record of a copy has its direction; of one between GPUs CUPTI gives another.
#define COPY(r) do { \
    if (!is_kept((r)->correlationId, (r)->start, (r)->graphNodeId >> 32)) return; \
    ADD(COPIES, (r)->start, (r)->end, (r)->deviceId, (r)->contextId, (r)->streamId, (r)->correlationId, global_pid, (r)->bytes, \
        (r)->copyKind, memory_kind((r)->srcKind), memory_kind((r)->dstKind), or_none((r)->graphNodeId, 0)); \
  } while (0)

static void take_device(const CUpti_ActivityDevice5 *d);

static void take_record(const CUpti_Activity *a) {
  switch (a->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const kernel_record *k = (const void *)a;
      if (!is_kept(k->correlationId, k->start, k->graphNodeId >> 32)) return;
      int64_t name = name_id(k->name);
      ADD(KERNELS, k->start, k->end, k->deviceId, k->contextId, k->streamId, k->correlationId, global_pid, name, name, name, k->gridX, k->gridY,
          k->gridZ, k->blockX, k->blockY, k->blockZ, k->registersPerThread, k->staticSharedMemory, k->dynamicSharedMemory,
          k->sharedMemoryExecuted, k->localMemoryPerThread, or_none(k->graphId, 0), or_none(k->graphNodeId, 0));
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      COPY((const copy_record *)a);
      break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      COPY((const peer_record *)a);
      break;
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const fill_record *f = (const void *)a;
      if (!is_kept(f->correlationId, f->start, f->graphNodeId >> 32)) return;
      ADD(FILLS, f->start, f->end, f->deviceId, f->contextId, f->streamId, f->correlationId, global_pid, f->bytes, f->value, memory_kind(f->memoryKind),
          or_none(f->graphNodeId, 0));
      break;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
      const graph_record *g = (const void *)a;
      if (!is_kept(g->correlationId, g->start, g->graphId)) return;
      ADD(GRAPHS, g->start, g->end, g->deviceId, g->contextId, g->streamId, g->correlationId, global_pid, g->graphId, g->graphId);
      break;
    }
#if CUPTI_API_VERSION >= DEVICE_GRAPHS
    case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE: { // a kernel launched it, and no call
      const CUpti_ActivityDeviceGraphTrace *g = (const void *)a;
      if (!is_kept(0, g->start, g->launcherGraphId)) return;
      ADD(GRAPHS, g->start, g->end, g->deviceId, g->contextId, g->streamId, 0, global_pid, g->graphId, g->graphId);
      break;
    }
#endif
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const CUpti_ActivityAPI *c = (const void *)a;
      if (!is_kept(c->correlationId, c->start, 0)) return;
      ADD(CALLS, c->start, c->end, global_pid | (c->threadId & 0xffffff), c->correlationId,
          call_name(a->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? 1 : 2, c->cbid), c->returnValue);
      break;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE:
      take_device((const void *)a);
      break;
    default:
      return;
  }
  records++;
}

static void CUPTIAPI buffer_wanted(uint8_t **buffer, size_t *size, size_t *most) {
  *buffer = 0, *size = 0, *most = 0;
  if (atomic_fetch_add(&buffers, 1) >= BUFFERS_MOST) { // CUPTI drops records and counts them
    buffers--;
    return;
  }
  pthread_mutex_lock(&spare_lock);
  *buffer = spares ? spare[--spares] : 0;
  pthread_mutex_unlock(&spare_lock);
  if (!*buffer && posix_memalign((void **)buffer, 4096, BUFFER) != 0) *buffer = 0;
  if (*buffer) *size = BUFFER;
  else buffers--;
}

static void CUPTIAPI buffer_done(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid) {
  (void)size;
  CUpti_Activity *a = 0;
  size_t lost = 0;
  pthread_mutex_lock(&lock);
  while (p_cuptiActivityGetNextRecord(buffer, valid, &a) == CUPTI_SUCCESS)
    if (file >= 0 || a->kind == CUPTI_ACTIVITY_KIND_DEVICE) take_record(a); // GPUs are told of once, often before there is a file
  if (p_cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  pthread_mutex_unlock(&lock);
  pthread_mutex_lock(&spare_lock);
  if (spares < (int)COUNT(spare)) spare[spares++] = buffer, buffer = 0;
  pthread_mutex_unlock(&spare_lock);
  free(buffer);
  buffers--;
}

static uint64_t CUPTIAPI timestamp(void) { return now(); }

static uint8_t switches[3][1024]; // by domain and callback: 1 cudaProfilerStart, 2 cudaProfilerStop, where they are waited for

static _Atomic int watching;       // launches are counted
static _Atomic uint64_t launches;

static void CUPTIAPI call(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *info) {
  (void)data;
  const CUpti_CallbackData *c = info;
  int is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (id < COUNT(switches[0]) && switches[domain][id]) {
    if (switches[domain][id] == 1 && c->callbackSite == CUPTI_API_EXIT) open_window();
    if (switches[domain][id] == 2 && c->callbackSite == CUPTI_API_ENTER) close_window();
    return;
  }
  if (!is_runtime && in_runtime) return; // the driver's part of a call of the runtime
  if (c->callbackSite == CUPTI_API_ENTER) {
    if (watching) launches++;
    in_runtime += is_runtime;
    *c->correlationData = taking ? now() : 0;
    if (taking) note_correlation(c->correlationId);
    return;
  }
  in_runtime -= is_runtime && in_runtime > 0;
  int64_t start = *c->correlationData;
  struct event e = {.type = EVENT_CALL, .domain = is_runtime ? 1 : 2, .more = id, .time = start, .end = now(), .correlation = c->correlationId,
                    .result = c->functionReturnValue ? *(const int *)c->functionReturnValue : 0};
  if (start != 0) note(&e, 0, 0, 0);
}

// is_wanted says whether a call launches work or waits for it, or begins or ends a stream capture: what a capture records launches nothing. Launches are
// noted where the driver makes them, once: to be called back for the runtime's call around it too takes as long again.
static int is_wanted(CUpti_CallbackDomain domain, const char *name) {
  static const char *parts[] = {"Launch", "Memcpy", "Memset", "Synchronize", "StreamWaitEvent", "StreamBeginCapture", "StreamEndCapture"}, *not[] = {"HostFunc", "GetAttribute", "Node", "Params"};
  int is = 0;
  for (size_t i = 0; i < COUNT(parts); i++) is |= strstr(name, parts[i]) != 0;
  for (size_t i = 0; i < COUNT(not); i++) is &= !strstr(name, not[i]);
  return is && (domain == CUPTI_CB_DOMAIN_DRIVER_API || !strstr(name, "Launch"));
}

static CUpti_SubscriberHandle subscriber;
static int by_graph;             // graph launches are recorded as wholes
static _Atomic int cuda_pid; // the process in which CUPTI is ready

// trace_calls turns the recording of a domain's calls, or only of its launches, on or off: by callback, or as records where another has the callbacks.
static void trace_calls(CUpti_CallbackDomain domain, const char *part, int on) {
  for (uint32_t id = 1; id < COUNT(call_names[0]); id++) {
    const char *name = 0;
    if (p_cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name || !is_wanted(domain, name) || !strstr(name, part)) continue;
    if (!by_records) p_cuptiEnableCallback(on, subscriber, domain, id);
    else if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) p_cuptiActivityEnableRuntimeApi(id, on);
    else p_cuptiActivityEnableDriverApi(id, on);
  }
}

// trace_graphs has CUPTI record graph launches instead of their kernels, from the start and also between windows: it crashes when it is to record a
// launch of a graph that was instantiated before (CUDA 13.0).
static CUptiResult trace_graphs(void *lib) {
  if (!by_graph) return CUPTI_SUCCESS;
#if CUPTI_API_VERSION >= DEVICE_GRAPHS
  CUptiResult (*by_device)(uint8_t) = (CUptiResult (*)(uint8_t))dlsym(lib, "cuptiActivityEnableDeviceGraph");
  if (by_device) by_device(1); // without it they are missing; the rest is traced as before
#else
  (void)lib;
#endif
  return p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

// trace_work turns the recording of other device work on or off.
static CUptiResult trace_work(int on) {
  static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                             CUPTI_ACTIVITY_KIND_MEMSET};
  CUptiResult r = CUPTI_SUCCESS;
  for (size_t i = 0; i < COUNT(kinds) && r == CUPTI_SUCCESS; i++) r = on ? p_cuptiActivityEnable(kinds[i]) : p_cuptiActivityDisable(kinds[i]);
  return r;
}

static void attach(void);
static void ask_for_devices(void *cuda);
static int loaded;  // the process in which CUDA has loaded the tracer

// has_cupti has CUPTI ready, and says whether it is. Before CUDA itself is ready nothing is asked of it: the thread that makes it so may wait for
// what this one holds.
static int has_cupti(void) {
  if (cuda_pid == getpid()) return 1;
  if (loaded != getpid()) return 0;
  void *lib = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  int (*count)(int *) = lib ? (int (*)(int *))dlsym(lib, "cuDeviceGetCount") : 0, n;
  if (count && count(&n) != 0) return 0;
  if (!refused) attach();
  refused = cuda_pid != getpid();
  if (!refused && lib) ask_for_devices(lib);
  return !refused;
}

// trace_cuda turns the recording of work and calls on or off.
static void trace_cuda(int on) {
  if (on ? !has_cupti() : cuda_pid != getpid()) return;
  CUptiResult r = trace_work(on);
  trace_calls(CUPTI_CB_DOMAIN_RUNTIME_API, "", on);
  trace_calls(CUPTI_CB_DOMAIN_DRIVER_API, "", on);
  const char *why = "";
  if (r == CUPTI_SUCCESS) return;
  p_cuptiGetResultString(r, &why);
  pthread_mutex_lock(&lock);
  say(3, "CUDA is not traced: %s", why);
  pthread_mutex_unlock(&lock);
}

// wait_for_switches has cudaProfilerStart and cudaProfilerStop call back.
static void wait_for_switches(CUpti_CallbackDomain domain) {
  for (uint32_t id = 1; id < COUNT(switches[0]); id++) {
    const char *name = 0;
    if (p_cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || !name) continue;
    switches[domain][id] = strstr(name, "ProfilerStart") ? 1 : strstr(name, "ProfilerStop") ? 2 : 0;
    if (switches[domain][id]) p_cuptiEnableCallback(1, subscriber, domain, id);
  }
}

// find gives libcupti: the one that the workload has loaded, or else the one that prof named.
static void *find_cupti(void) {
  static const char *names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8", "libcupti.so"};
  void *lib = 0;
  for (size_t i = 0; i < COUNT(names) && !lib; i++) lib = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
  const char *path = getenv("PROF_TRACE_CUPTI");
  if (!lib && path && *path) lib = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  for (size_t i = 0; i < COUNT(names) && !lib; i++) lib = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
  return lib;
}

static const char *switch_path; // a file that says whether to trace
static int by_api; // cudaProfilerStart and cudaProfilerStop open and close windows

// attach has CUPTI ready. What cannot be traced is said in the trace.
static void attach(void) {
  void *lib = find_cupti();
  const char *missing = lib ? 0 : "libcupti";
#define FIND(f) if (!missing && !(p_##f = dlsym(lib, #f))) missing = #f;
  CUPTI(FIND)
  if (missing) {
    pthread_mutex_lock(&lock);
    say(3, "CUDA is not traced: %s is missing (%s)", missing, lib ? "an old libcupti" : dlerror());
    pthread_mutex_unlock(&lock);
    return;
  }
  uint32_t version = 0;
  int is_first = cupti_version == 0;
  p_cuptiGetVersion(&version);
  cupti_version = version;
  by_records = p_cuptiSubscribe(&subscriber, call, 0) != CUPTI_SUCCESS;
  CUptiResult r = CUPTI_SUCCESS;
  if (!by_records || !has_windows) { // else records are the other's
    size_t size = sizeof(size_t), device_buffer = 32 << 20;
    p_cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &device_buffer);
    r = p_cuptiActivityRegisterCallbacks(buffer_wanted, buffer_done);
    p_cuptiActivityRegisterTimestampCallback(timestamp);
    if (r == CUPTI_SUCCESS) r = p_cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE);
    if (r == CUPTI_SUCCESS) r = trace_graphs(lib);
    p_cuptiActivityFlushPeriod(500);
  }
  const char *why = "";
  if (r != CUPTI_SUCCESS) p_cuptiGetResultString(r, &why);
  pthread_mutex_lock(&lock);
  if (is_first) add_version();
  if (r != CUPTI_SUCCESS) say(3, "CUDA is not traced: %s", why);
  if (by_records && has_windows) say(3, "CUDA is not traced: another tool in the process uses CUPTI, so no window can be traced; trace the whole process");
  else if (by_records) say(2, "another tool in the process uses CUPTI: calls are recorded as records");
  if (version / 1000 != CUPTI_API_VERSION / 1000 && version < CUPTI_API_VERSION)
    say(2, "libcupti (API %u) is older than the headers the tracer was compiled with (%d)", version, CUPTI_API_VERSION);
  pthread_mutex_unlock(&lock);
  if (r != CUPTI_SUCCESS || (by_records && has_windows)) return;
  if (by_api) wait_for_switches(CUPTI_CB_DOMAIN_RUNTIME_API), wait_for_switches(CUPTI_CB_DOMAIN_DRIVER_API);
  cuda_pid = getpid();
}

// watch has launches counted, or no longer.
static void watch(int on) {
  pthread_mutex_lock(&switching);
  if (on != watching && (on ? has_cupti() : cuda_pid == getpid())) {
    watching = on;
    if (!taking) trace_calls(CUPTI_CB_DOMAIN_DRIVER_API, "Launch", on);
  }
  pthread_mutex_unlock(&switching);
}

// begin_cuda has CUPTI ready where something is traced from the start; else it comes with the first window.
static void begin_cuda(void) {
  begin();
  if (!live) return;
  if (!switch_path || by_graph || taking) {
    pthread_mutex_lock(&switching);
    attach();
    if (taking) trace_cuda(1);
    pthread_mutex_unlock(&switching);
  }
  loaded = getpid();
}

// ---- Devices --------------------------------------------------------------------------------------------------------------------------

// The few functions of NVML and the driver that say which GPU of the machine a device of the process is.
static int gpu_of(const char *uuid, char *bus, unsigned size) {
  void *lib = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (!lib) return -1;
  int (*init)(void) = (int (*)(void))dlsym(lib, "nvmlInit_v2");
  int (*by_uuid)(const char *, void **) = (int (*)(const char *, void **))dlsym(lib, "nvmlDeviceGetHandleByUUID");
  int (*index)(void *, unsigned *) = (int (*)(void *, unsigned *))dlsym(lib, "nvmlDeviceGetIndex");
  struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char text[32]; } pci = {0};
  int (*pci_of)(void *, void *) = (int (*)(void *, void *))dlsym(lib, "nvmlDeviceGetPciInfo_v3");
  void *device = 0;
  unsigned n = 0;
  if (!init || !by_uuid || !index || init() != 0 || by_uuid(uuid, &device) != 0 || index(device, &n) != 0) return -1;
  if (pci_of && pci_of(device, &pci) == 0) snprintf(bus, size, "%s", pci.text);
  return n;
}

// The GPUs that CUPTI has told of, which each file begins with.
static CUpti_ActivityDevice5 devices[64];
static int device_count;

static void add_device(const CUpti_ActivityDevice5 *d) {
  const uint8_t *u = (const uint8_t *)d->uuid.bytes;
  char uuid[48], bus[32] = "";
  snprintf(uuid, sizeof uuid, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3], u[4], u[5], u[6],
           u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  int gpu = gpu_of(uuid, bus, sizeof bus);
  if (gpu < 0) gpu = d->id;
  ADD(GPUS, gpu, text(GPUS, d->name), text(GPUS, uuid), text(GPUS, bus), d->computeCapabilityMajor, d->computeCapabilityMinor,
      d->numMultiprocessors, d->coreClockRate * 1000ll, d->globalMemorySize, d->globalMemoryBandwidth * 1000ll, d->l2CacheSize,
      d->maxWarpsPerMultiprocessor, d->maxSharedMemoryPerMultiprocessor);
  ADD(CUDA_DEVICES, gpu, d->id, global_pid >> 24 & 0xffffff);
}

// take_device keeps a GPU and says it once in each file.
static void take_device(const CUpti_ActivityDevice5 *d) {
  for (int i = 0; i < device_count; i++)
    if (devices[i].id == d->id) return;
  if (device_count == COUNT(devices)) return;
  devices[device_count] = *d;
  if (!(devices[device_count].name = strdup(d->name ? d->name : ""))) return;
  if (file >= 0) add_device(&devices[device_count]);
  device_count++;
}

// ask_for_devices learns of the GPUs from the driver: CUPTI tells of them only when CUDA begins, and here it came later.
static void ask_for_devices(void *cuda) {
  enum { WARP_SIZE = 10, CLOCK_KHZ = 13, MULTIPROCESSORS = 16, MEMORY_CLOCK_KHZ = 36, MEMORY_BUS_BITS = 37, L2_BYTES = 38, THREADS_MOST = 39, MAJOR = 75, MINOR = 76,
         SHARED_BYTES = 81 }; // of CUdevice_attribute
  int (*count)(int *) = (int (*)(int *))dlsym(cuda, "cuDeviceGetCount");
  int (*get)(int *, int) = (int (*)(int *, int))dlsym(cuda, "cuDeviceGet");
  int (*name_of)(char *, int, int) = (int (*)(char *, int, int))dlsym(cuda, "cuDeviceGetName");
  int (*uuid_of)(CUuuid *, int) = (int (*)(CUuuid *, int))dlsym(cuda, "cuDeviceGetUuid_v2"); // of a MIG instance its own
  int (*memory_of)(size_t *, int) = (int (*)(size_t *, int))dlsym(cuda, "cuDeviceTotalMem_v2");
  int (*attribute_of)(int *, int, int) = (int (*)(int *, int, int))dlsym(cuda, "cuDeviceGetAttribute");
  int n = 0, device;
  if (!count || !get || !name_of || !uuid_of || !memory_of || !attribute_of || count(&n) != 0) return;
  for (int i = 0; i < n; i++) {
    static const int wanted[] = {WARP_SIZE, CLOCK_KHZ, MULTIPROCESSORS, MEMORY_CLOCK_KHZ, MEMORY_BUS_BITS, L2_BYTES, THREADS_MOST, MAJOR, MINOR, SHARED_BYTES};
    int a[SHARED_BYTES + 1] = {0}, failed = 0;
    char name[256] = "";
    size_t memory = 0;
    CUpti_ActivityDevice5 d = {.id = i, .name = name};
    if (get(&device, i) != 0) continue;
    for (size_t k = 0; k < COUNT(wanted); k++) failed |= attribute_of(&a[wanted[k]], wanted[k], device);
    if (failed || name_of(name, sizeof name, device) != 0 || uuid_of(&d.uuid, device) != 0 || memory_of(&memory, device) != 0 || a[WARP_SIZE] == 0) continue;
    d.computeCapabilityMajor = a[MAJOR], d.computeCapabilityMinor = a[MINOR], d.numMultiprocessors = a[MULTIPROCESSORS], d.coreClockRate = a[CLOCK_KHZ];
    d.globalMemorySize = memory, d.l2CacheSize = a[L2_BYTES], d.maxSharedMemoryPerMultiprocessor = a[SHARED_BYTES];
    d.globalMemoryBandwidth = 2ull * a[MEMORY_CLOCK_KHZ] * a[MEMORY_BUS_BITS] / 8; // two transfers a clock, in kB/s, as CUPTI has it
    d.maxWarpsPerMultiprocessor = a[THREADS_MOST] / a[WARP_SIZE];
    pthread_mutex_lock(&lock);
    take_device(&d);
    pthread_mutex_unlock(&lock);
  }
}

// ---- NVTX -----------------------------------------------------------------------------------------------------------------------------

// What NVTX passes, of its headers (nvToolsExt.h, nvtxTypes.h), whose binary interface does not change.
struct attributes {
  uint16_t version, size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type, payloads; // how many, of an extended payload
  union { uint64_t u; double d; } payload;
  int32_t message_type;
  union { const char *ascii; const wchar_t *wide; const struct registered *registered; } message;
};
enum { MESSAGE_ASCII = 1, MESSAGE_WIDE, MESSAGE_REGISTERED };
enum { CORE = 1, CORE2 = 5, TABLE_CALLBACKS = 1 };

// What its extension for payloads passes (nvToolsExtPayload.h). Structs may end with more fields than are here, but those of arrays.
struct payload_data { uint64_t schema; size_t size; const void *bytes; };
struct entry { uint64_t flags, type; const char *name, *description; uint64_t detail, offset; const void *semantics, *reserved; };
struct schema_attributes { uint64_t fields; const char *name; uint64_t type, flags; const struct entry *entries; size_t count, size, align; uint64_t id; };
struct value { const char *name; uint64_t value; int8_t is_flag; };
struct enum_attributes { uint64_t fields; const char *name; const struct value *values; size_t count, size; uint64_t id; };
enum { SCHEMA_NAME = 1 << 1, SCHEMA_TYPE = 1 << 2, SCHEMA_ENTRIES = 3 << 4, SCHEMA_SIZE = 1 << 6, SCHEMA_ALIGN = 1 << 7, SCHEMA_ID = 1 << 8 };
enum { ENUM_VALUES = 3 << 2, ENUM_SIZE = 1 << 4, ENUM_ID = 1 << 5 };
enum { PAYLOAD_EXTENDED = (int32_t)0xdfbd0009, PAYLOAD_MODULE = 2, PAYLOAD_VERSION = 1 };
enum { TYPE_INT32 = 15, TYPE_UINT32, TYPE_INT64, TYPE_UINT64, TYPE_FLOAT, TYPE_DOUBLE, TYPE_TEXT = 75, TYPE_UTF8, TYPE_REGISTERED = 80 };
enum { ENTRY_POINTER = 1 << 1, ENTRY_ARRAY = 7 << 4, ENTRY_IS = 3 << 10, ENTRY_MESSAGE = 1 << 10 };

struct registered { char *text; size_t size; };
struct domain { int64_t id; char *name; struct domain *next; };
static _Atomic(struct domain *) domains;

static _Atomic int64_t range_ids, domain_ids;

static size_t narrow(const wchar_t *from, char *to, size_t room) { // UTF-8 of what Python and C give
  size_t n = 0;
  for (; *from && n + 4 < room; from++) {
    uint32_t c = *from;
    if (c < 0x80) to[n++] = c;
    else if (c < 0x800) to[n++] = 0xc0 | c >> 6, to[n++] = 0x80 | (c & 63);
    else if (c < 0x10000) to[n++] = 0xe0 | c >> 12, to[n++] = 0x80 | (c >> 6 & 63), to[n++] = 0x80 | (c & 63);
    else to[n++] = 0xf0 | (c >> 18 & 7), to[n++] = 0x80 | (c >> 12 & 63), to[n++] = 0x80 | (c >> 6 & 63), to[n++] = 0x80 | (c & 63);
  }
  return n;
}

static __thread int depth __attribute__((tls_model("initial-exec"))); // what a push gives back

// The range whose instances open and close a window.
static struct {
  const char *name, *domain;
  size_t size;
  int64_t after, most;
  _Atomic int64_t seen, last_id;
} watched;
static __thread int last_depth __attribute__((tls_model("initial-exec"))); // where this thread is in the last instance, depth + 1; else 0

// is_watched says whether a range is an instance of the watched one: by its name, or its name and an index in brackets.
static int is_watched(const struct domain *domain, const char *s, size_t n) {
  if (!watched.name || n < watched.size || memcmp(s, watched.name, watched.size) != 0 || (n > watched.size && s[watched.size] != '[')) return 0;
  return strcmp(watched.domain, "*") == 0 || strcmp(watched.domain, domain && domain->name ? domain->name : "") == 0;
}

// Schemas and enumerations that were registered. They stay, and each file has them.
struct schema { struct schema *next; int64_t domain; struct schema_attributes of; int is_enum; struct entry entries[]; };
static _Atomic(struct schema *) schemas;

static const struct schema *schema_of(const struct domain *domain, uint64_t id) {
  const struct schema *s = schemas;
  while (s && (s->of.id != id || s->domain != (domain ? domain->id : 0))) s = s->next;
  return s;
}

static char *copy_of(const char *s) { return s ? strndup(s, TEXT_MOST) : 0; }

static void add_schema(const struct schema *s) {
  const struct schema_attributes *of = &s->of;
  if (s->is_enum) ADD(ENUMS, s->domain, of->id, of->size);
  else ADD(SCHEMAS, s->domain, of->id, text(SCHEMAS, of->name), of->type, of->size, of->align);
  for (size_t i = 0; i < of->count; i++) {
    const struct entry *e = &s->entries[i];
    if (s->is_enum) ADD(VALUES, s->domain, of->id, text(VALUES, e->name), e->detail, e->flags);
    else ADD(ENTRIES, s->domain, of->id, e->flags, e->type, text(ENTRIES, e->name), e->detail, e->offset);
  }
}

static _Atomic uint64_t cut_payloads; // of which not all is kept

// add_domains begins a file with what was registered before it.
static void add_domains(void) {
  cut_payloads = 0;
  for (struct domain *d = domains; d; d = d->next)
    range_row(&(struct open){now(), name_id(d->name), d->id, 0, 0}, NONE, DOMAIN_CREATE, global_pid | (getpid() & 0xffffff), NONE);
  for (const struct schema *s = schemas; s; s = s->next) add_schema(s);
  for (int i = 0; i < communicator_count; i++) ADD(COMMUNICATORS, communicators[i].tid, payload_id(communicators[i].text));
}

static int is_nccl(int64_t domain) {
  for (struct domain *d = domains; d; d = d->next)
    if (d->id == domain) return d->name && strcmp(d->name, "NCCL") == 0;
  return 0;
}

enum { ENTRIES_MOST = 4096, ROWS_OF_SCHEMAS = 1 << 16 }; // a reader takes no more

// register_as keeps a schema or an enumeration, the first of its id, and gives the id, which is the tracer's where the program has none.
static uint64_t register_as(struct schema *s, const struct domain *domain, int has_id) {
  static uint64_t ids = 1ull << 32;
  static size_t rows;
  pthread_mutex_lock(&lock);
  s->domain = domain ? domain->id : 0;
  if (!has_id) s->of.id = ids++;
  if (rows + s->of.count < ROWS_OF_SCHEMAS && !schema_of(domain, s->of.id)) { // another is not freed: who registers twice does so seldom
    rows += 1 + s->of.count;
    s->next = schemas;
    schemas = s;
    if (live && file >= 0) add_schema(s);
  }
  pthread_mutex_unlock(&lock);
  return s->of.id;
}

static uint64_t register_schema(const struct domain *domain, const struct schema_attributes *a) {
  struct schema *s;
  if (!a || (a->fields & SCHEMA_ENTRIES) != SCHEMA_ENTRIES || !a->entries || a->count > ENTRIES_MOST || !(s = calloc(1, sizeof *s + a->count * sizeof *s->entries))) return 0;
  s->of = (struct schema_attributes){.name = a->fields & SCHEMA_NAME ? copy_of(a->name) : 0, .type = a->fields & SCHEMA_TYPE ? a->type : 0, .count = a->count, .id = a->id,
    .size = a->fields & SCHEMA_SIZE ? a->size : 0, .align = a->fields & SCHEMA_ALIGN ? a->align : 0};
  for (size_t i = 0; i < a->count; i++) s->entries[i] = a->entries[i], s->entries[i].name = copy_of(a->entries[i].name);
  return register_as(s, domain, (a->fields & SCHEMA_ID) != 0);
}

static uint64_t register_enum(const struct domain *domain, const struct enum_attributes *a) {
  struct schema *s;
  if (!a || (a->fields & ENUM_VALUES) != ENUM_VALUES || !a->values || a->count > ENTRIES_MOST || !(s = calloc(1, sizeof *s + a->count * sizeof *s->entries))) return 0;
  s->of = (struct schema_attributes){.count = a->count, .id = a->id, .size = a->fields & ENUM_SIZE ? a->size : 4};
  s->is_enum = 1;
  for (size_t i = 0; i < a->count; i++)
    s->entries[i] = (struct entry){.name = copy_of(a->values[i].name), .detail = a->values[i].value, .flags = a->values[i].is_flag};
  return register_as(s, domain, (a->fields & ENUM_ID) != 0);
}

// keep_payloads copies payloads as far as there is room. One whose size the program leaves to the tool has that of its schema.
static void keep_payloads(struct payload *to, const struct domain *domain, const struct payload_data *data, size_t count) {
  size_t room = PAYLOAD_MOST;
  to->size = 0;
  if (!data) return;
  if (count > PAYLOADS_MOST) cut_payloads++;
  for (size_t i = 0; i < count && i < PAYLOADS_MOST; i++) {
    size_t size = data[i].size;
    if (size == SIZE_MAX) {
      const struct schema *s = schema_of(domain, data[i].schema);
      size = s ? s->of.size : 0;
      if (size == 0) cut_payloads++;
    }
    if (!data[i].bytes) size = 0;
    struct payload_head h = {data[i].schema, size < UINT32_MAX ? size : UINT32_MAX, size < room ? size : room};
    if (size > room) cut_payloads++;
    memcpy(to->bytes + to->size, &h, sizeof h);
    if (h.kept) memcpy(to->bytes + to->size + sizeof h, data[i].bytes, h.kept);
    to->size += sizeof h + h.kept, room -= h.kept;
  }
}

// payload_of copies the payload of attributes: a number, or what the extension makes of it.
static void payload_of(struct payload *to, const struct domain *domain, const struct attributes *a) {
  static const uint8_t types[] = {0, TYPE_UINT64, TYPE_INT64, TYPE_DOUBLE, TYPE_UINT32, TYPE_INT32, TYPE_FLOAT};
  to->size = 0;
  if (a->payload_type == PAYLOAD_EXTENDED && a->payloads > 0) keep_payloads(to, domain, (const void *)(uintptr_t)a->payload.u, a->payloads);
  else if (a->payload_type > 0 && a->payload_type < (int)COUNT(types))
    keep_payloads(to, domain, &(struct payload_data){types[a->payload_type], a->payload_type > 3 ? 4 : 8, &a->payload}, 1);
}

// message_of finds the message among payloads, and its size: that of a schema's entry which says that it is it.
static const char *message_of(const struct domain *domain, const struct payload_data *data, size_t count, size_t *n) {
  for (size_t i = 0; data && i < count; i++) {
    const struct schema *s = schema_of(domain, data[i].schema);
    for (size_t k = 0; s && !s->is_enum && data[i].bytes && k < s->of.count; k++) {
      const struct entry *e = &s->entries[k];
      const char *at = (const char *)data[i].bytes + e->offset;
      const struct registered *r = 0;
      size_t size = data[i].size == SIZE_MAX ? s->of.size : data[i].size, left = size > e->offset ? size - e->offset : 0;
      if ((e->flags & ENTRY_IS) != ENTRY_MESSAGE || e->flags & (ENTRY_POINTER | ENTRY_ARRAY) || (k > 0 && e->offset == 0)) continue;
      if (e->type == TYPE_REGISTERED && left >= sizeof r) memcpy(&r, at, sizeof r);
      if (r) return *n = r->size, r->text;
      if (e->type == TYPE_TEXT || e->type == TYPE_UTF8) return *n = strnlen(at, left < e->detail ? left : e->detail), at;
    }
  }
  return *n = 0, "";
}

static void range(int type, const struct domain *domain, int64_t id, uint32_t category, const char *s, size_t n, const struct payload *p) {
  if ((type == EVENT_PUSH || type == EVENT_START) && is_watched(domain, s, n)) {
    int64_t k = ++watched.seen - watched.after;
    if (k == 1) open_window();
    if (k == watched.most && type == EVENT_PUSH) last_depth = depth + 1;
    if (k == watched.most && type == EVENT_START) watched.last_id = id;
  }
  struct event e = {.type = type, .more = category, .time = now(), .key = domain ? domain->id : 0, .range = id};
  note(&e, s, n, p);
  int is_end = type == EVENT_POP ? last_depth > 0 && depth <= last_depth : type == EVENT_END && watched.last_id == id;
  if (!is_end) return;
  last_depth = 0;
  close_window();
}

static void range_with(int type, const struct domain *domain, int64_t id, const struct attributes *a) {
  char wide[TEXT_MOST];
  const char *s = "";
  size_t n = 0;
  if (a && a->message.ascii) switch (a->message_type) {
    case MESSAGE_ASCII: s = a->message.ascii, n = strlen(s); break;
    case MESSAGE_WIDE: s = wide, n = narrow(a->message.wide, wide, sizeof wide); break;
    case MESSAGE_REGISTERED: s = a->message.registered->text, n = a->message.registered->size; break;
  }
  struct payload p;
  p.size = 0;
  if (a) payload_of(&p, domain, a);
  range(type, domain, id, a ? a->category : 0, s, n, &p);
}

static void range_by(int type, const struct domain *domain, int64_t id, const struct payload_data *data, size_t count) {
  struct payload p;
  size_t n;
  const char *s = message_of(domain, data, count, &n);
  keep_payloads(&p, domain, data, count);
  range(type, domain, id, 0, s, n, &p);
}

static void range_wide(int type, int64_t id, const wchar_t *s) {
  char text[TEXT_MOST];
  range(type, 0, id, 0, text, s ? narrow(s, text, sizeof text) : 0, 0);
}

static size_t size_of(const char *s) { return s ? strlen(s) : 0; }

static int push_a(const char *s) { range(EVENT_PUSH, 0, 0, 0, s, size_of(s), 0); return depth++; }
static int push_w(const wchar_t *s) { range_wide(EVENT_PUSH, 0, s); return depth++; }
static int push_ex(const struct attributes *a) { range_with(EVENT_PUSH, 0, 0, a); return depth++; }
static int pop(void) { range(EVENT_POP, 0, 0, 0, 0, 0, 0); return depth > 0 ? --depth : -1; }
static void mark_a(const char *s) { range(EVENT_MARK, 0, 0, 0, s, size_of(s), 0); }
static void mark_w(const wchar_t *s) { range_wide(EVENT_MARK, 0, s); }
static void mark_ex(const struct attributes *a) { range_with(EVENT_MARK, 0, 0, a); }
static uint64_t start_a(const char *s) { int64_t id = ++range_ids; range(EVENT_START, 0, id, 0, s, size_of(s), 0); return id; }
static uint64_t start_w(const wchar_t *s) { int64_t id = ++range_ids; range_wide(EVENT_START, id, s); return id; }
static uint64_t start_ex(const struct attributes *a) { int64_t id = ++range_ids; range_with(EVENT_START, 0, id, a); return id; }
static void end(uint64_t id) { range(EVENT_END, 0, id, 0, 0, 0, 0); }
static void name_os_thread(uint32_t tid, const char *s) { range(EVENT_NAME, 0, global_pid | (tid & 0xffffff), 0, s, size_of(s), 0); }
static void domain_mark(void *d, const struct attributes *a) { range_with(EVENT_MARK, d, 0, a); }
static uint64_t domain_start(void *d, const struct attributes *a) { int64_t id = ++range_ids; range_with(EVENT_START, d, id, a); return id; }
static void domain_end(void *d, uint64_t id) { range(EVENT_END, d, id, 0, 0, 0, 0); }
static int domain_push(void *d, const struct attributes *a) { range_with(EVENT_PUSH, d, 0, a); return depth++; }
static int domain_pop(void *d) { range(EVENT_POP, d, 0, 0, 0, 0, 0); return depth > 0 ? --depth : -1; }

static void mark_payload(void *d, const struct payload_data *p, size_t n) { range_by(EVENT_MARK, d, 0, p, n); }
static int push_payload(void *d, const struct payload_data *p, size_t n) { range_by(EVENT_PUSH, d, 0, p, n); return depth++; }
static int pop_payload(void *d, const struct payload_data *p, size_t n) { range_by(EVENT_POP, d, 0, p, n); return depth > 0 ? --depth : -1; }
static uint64_t start_payload(void *d, const struct payload_data *p, size_t n) { int64_t id = ++range_ids; range_by(EVENT_START, d, id, p, n); return id; }
static void end_payload(void *d, uint64_t id, const struct payload_data *p, size_t n) { range_by(EVENT_END, d, id, p, n); }
static uint8_t is_enabled(void *d) { (void)d; return 1; }

static void *keep_string(const char *s, size_t n) {
  struct registered *r = malloc(sizeof *r);
  if (!r || !(r->text = malloc(n + 1))) return r;
  memcpy(r->text, s, n);
  r->size = n;
  return r;
}
static void *register_a(void *d, const char *s) { (void)d; return keep_string(s ? s : "", size_of(s)); }
static void *register_w(void *d, const wchar_t *s) {
  char text[TEXT_MOST];
  (void)d;
  return keep_string(text, s ? narrow(s, text, sizeof text) : 0);
}
static void *new_domain(const char *s, size_t n) {
  struct domain *d = malloc(sizeof *d);
  if (!d) return 0;
  d->id = ++domain_ids;
  if ((d->name = malloc(n + 1))) memcpy(d->name, s, n), d->name[n] = 0;
  d->next = domains;
  while (!atomic_compare_exchange_weak(&domains, &d->next, d)) {}
  range(EVENT_DOMAIN, d, 0, 0, s, n, 0);
  return d;
}
static void *domain_a(const char *s) { return new_domain(s, size_of(s)); }
static void *domain_w(const wchar_t *s) { char text[TEXT_MOST]; return new_domain(text, s ? narrow(s, text, sizeof text) : 0); }

// hook puts functions into a table of NVTX.
static void hook(const void *callbacks, uint32_t module, const void *const *functions, unsigned count) {
  const struct { size_t size; int (*table)(uint32_t, void ****, unsigned *); } *of = callbacks;
  void ***slots = 0;
  unsigned size = 0;
  if (!of->table(module, &slots, &size) || !slots) return;
  for (unsigned i = 1; i < count && i < size; i++)
    if (functions[i] && slots[i]) *slots[i] = (void *)functions[i];
}

EXPORT int InitializeInjectionNvtx2(const void *(*export_table)(uint32_t)) {
  static const void *const core[] = {[1] = mark_ex, mark_a, mark_w, start_ex, start_a, start_w, end, push_ex, push_a, push_w, pop,
                                     [14] = name_os_thread};
  static const void *const core2[] = {[1] = domain_mark, domain_start, domain_end, domain_push, domain_pop, [10] = register_a, register_w,
                                      domain_a, domain_w};
  const void *callbacks = export_table ? export_table(TABLE_CALLBACKS) : 0;
  begin();
  if (!callbacks || !live) return 0;
  hook(callbacks, CORE, core, COUNT(core));
  hook(callbacks, CORE2, core2, COUNT(core2));
  return 1;
}

// InitializeInjectionNvtxExtension has the functions of NVTX's extension for payloads be the tracer's. Others are left as they are: they do nothing.
EXPORT int InitializeInjectionNvtxExtension(const void *extension) {
  static const void *const functions[] = {register_schema, register_enum, mark_payload, push_payload, pop_payload, start_payload, end_payload, is_enabled};
  const struct { uint16_t nvtx, size, module, version; size_t segments; const struct { size_t id, count; intptr_t *slots; } *segment; } *of = extension;
  begin();
  if (!of || !live || of->module != PAYLOAD_MODULE || of->version >> 8 != PAYLOAD_VERSION || of->segments == 0) return 0;
  for (size_t i = 0; i < COUNT(functions) && i < of->segment->count; i++) of->segment->slots[i] = (intptr_t)functions[i];
  return 1;
}

// ---- Begin and end --------------------------------------------------------------------------------------------------------------------

static pthread_once_t once = PTHREAD_ONCE_INIT, once_cuda = PTHREAD_ONCE_INIT;

static int64_t delay, duration; // a window by the clock; -1: none

static char dir_of_all[4096]; // PROF_TRACE_DIR
static char dir_of_file[4096]; // the folder of the file that is open, or was last

// rank is the process's rank in its job, as launchers say it; NONE where there is none.
static int64_t rank(void) {
  const char *v = getenv("RANK");
  char *end;
  if (!v || *v < '0' || *v > '9') return NONE;
  long n = strtol(v, &end, 10);
  return *end || n > INT32_MAX ? NONE : n;
}

// open_file begins a file of the process in a folder, and says whether it could.
static int open_file(const char *dir) {
  char path[4096 + 64];
  if (snprintf(dir_of_file, sizeof dir_of_file, "%s", dir) >= (int)sizeof dir_of_file) return 0;
  for (int n = 1; n < 1000 && file < 0; n++) {
    char again[16] = "";
    if (n > 1) snprintf(again, sizeof again, "-%d", n);
    snprintf(path, sizeof path, "%s/%d%s.proftrace", dir, (int)getpid(), again);
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0 && errno != EEXIST) return 0;
  }
  if (file < 0) return 0;
  uint8_t head[16] = "proftrc\n";
  put32(head + 8, 2);
  if (write(file, head, sizeof head) != sizeof head) {
    close(file);
    file = -1;
    return 0;
  }
  written = sizeof head;
  for (int i = 0; i < TABLES; i++) {
    tables[i].rows = tables[i].text_size = tables[i].width = 0;
    if (i < SCHEMAS || i > COMMUNICATORS) define(i); // those with their first row: few programs have them
  }
  struct timespec wall;
  clock_gettime(CLOCK_REALTIME, &wall);
  ADD(STARTED, wall.tv_sec * 1000000000ll + wall.tv_nsec - now());
  pair(EXPORTED, "EXPORT_PRODUCT_VERSION", "1");
  char exe[4096];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  exe[n > 0 ? n : 0] = 0;
  ADD(PROCESSES, global_pid, text(PROCESSES, exe), rank());
  char host[256] = "";
  if (gethostname(host, sizeof host - 1) == 0) pair(SYSTEM, "Hostname", host);
  return 1;
}

// begin_file begins the file of a window, with all that was said before it: GPUs, domains and ranges that are open.
static void begin_file(const char *dir) {
  pthread_mutex_lock(&lock);
  drain_all();
  window_count = 0;
  memset(&windows[0], 0, sizeof windows[0]);
  memset(latest, 0, sizeof latest);
  if (open_file(dir)) {
    keep_names();
    if (cupti_version) add_version();
    for (struct ring *r = rings; r; r = r->next) r->named = 0;
    for (int i = 0; i < device_count; i++) add_device(&devices[i]);
    add_domains();
  }
  pthread_mutex_unlock(&lock);
}

// end_file ends a file in order.
static void end_file(void) {
  drain_all();
  if (dropped) say(3, "CUPTI dropped %llu records: the trace is not whole", (unsigned long long)dropped);
  dropped = 0;
  if (cut_payloads) say(1, "payloads of more than %d bytes, or of unknown size: %llu; the rest of them is left out", PAYLOAD_MOST, (unsigned long long)cut_payloads);
  cut_payloads = 0;
  add_open(INT32_MAX);
  for (int i = 0; i < TABLES; i++) flush(i, BLOCK_ROWS);
  uint8_t end[HEADER + 8] = {0};
  memcpy(end + HEADER, "exit", 4);
  finish_block(end, 4, BLOCK_END, 0, 0);
  if (file >= 0) close(file);
  file = -1;
}

// count_launches writes down how many launches there were, for who waits until there are as many in each second.
static void count_launches(void) {
  char path[2][4096 + 64], text[32];
  for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "%s/%d.launches%s", dir_of_all, (int)getpid(), i ? ".tmp" : "");
  int f = open(path[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), n = snprintf(text, sizeof text, "%llu\n", (unsigned long long)launches);
  if (f < 0) return;
  if (write(f, text, n) == n) rename(path[1], path[0]);
  close(f);
}

// obey does what the switch says.
static void obey(void) {
  char line[4096 + 8] = "";
  int f = open(switch_path, O_RDONLY | O_CLOEXEC);
  ssize_t n = f < 0 ? 0 : read(f, line, sizeof line - 1);
  if (f >= 0) close(f);
  line[n > 0 ? n : 0] = 0;
  line[strcspn(line, "\n")] = 0;
  int on = strncmp(line, "on", 2) == 0;
  const char *dir = on && line[2] == ' ' ? line + 3 : dir_of_all;
  if (each && on && file >= 0 && strcmp(dir, dir_of_file) != 0) on = 0; // the file before ends first
  if (each && on && file < 0 && !taking) begin_file(dir);
  if (on) open_window();
  else close_window();
  watch(strncmp(line, "watch", 5) == 0);
  if (watching && cuda_pid == getpid()) count_launches();
}

// turn opens and closes windows by the clock and the switch, and stops CUPTI once the work of a closed window has come.
static void turn(void) {
  static uint64_t had;
  static int64_t still_since;
  int64_t t = now();
  if (delay >= 0 && t >= delay) {
    if (duration < 0 || t < delay + duration) open_window();
    else close_window(), delay = -1;
  }
  if (switch_path) obey();
  pthread_mutex_lock(&switching);
  if (taking && switch_path && cuda_pid != getpid()) trace_cuda(1); // CUDA was not ready, or not yet there
  if (records != had) had = records, still_since = t;
  int64_t since = still_since > closed_at ? still_since : closed_at;
  if (closed_at && (t - since > 1500000000 || t - closed_at > 10000000000)) { // three times as long as CUPTI keeps a buffer
    trace_cuda(0);
    closed_at = 0;
    if (each) {
      if (cuda_pid == getpid()) p_cuptiActivityFlushAll(0);
      pthread_mutex_lock(&lock);
      end_file();
      pthread_mutex_unlock(&lock);
      if (watching) trace_calls(CUPTI_CB_DOMAIN_DRIVER_API, "Launch", 1);
    }
  }
  pthread_mutex_unlock(&switching);
}

// write_on has what is noted in the file within a second, so that little is lost of a process that is killed.
static void *write_on(void *unused) {
  (void)unused;
  struct timespec written_at, at;
  clock_gettime(CLOCK_MONOTONIC, &written_at);
  while (live) {
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_nsec += 200000000;
    if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    while (sem_timedwait(&wake, &at) < 0 && errno == EINTR) {}
    if (has_windows) turn();
    clock_gettime(CLOCK_MONOTONIC, &at);
    pthread_mutex_lock(&lock);
    if (at.tv_sec > written_at.tv_sec) flush_all(), written_at = at;
    else drain_all();
    pthread_mutex_unlock(&lock);
  }
  return 0;
}

static void finish(void) {
  if (!live) return;
  if (cuda_pid == getpid()) p_cuptiActivityFlushAll(1);
  struct timespec patience;
  clock_gettime(CLOCK_REALTIME, &patience);
  patience.tv_sec += 2;
  if (pthread_mutex_timedlock(&lock, &patience) != 0) return; // the thread that has it never goes on
  live = 0;
  if (window_count == 0) say(2, "nothing was traced: what begins the window never came");
  if (file >= 0) end_file();
  pthread_mutex_unlock(&lock);
}

// A fork waits until nothing of the tracer is half done: the process that it makes has a copy of all but the threads.
static void before_fork(void) {
  pthread_mutex_lock(&switching);
  pthread_mutex_lock(&lock);
  pthread_mutex_lock(&spare_lock);
}

static void in_parent(void) {
  pthread_mutex_unlock(&spare_lock);
  pthread_mutex_unlock(&lock);
  pthread_mutex_unlock(&switching);
}

// in_child stops tracing in the process that fork made, until it has an event of its own: most only call exec.
static void in_child(void) {
  in_parent();
  live = taking = 0;
  if (file >= 0) close(file);
  file = -1;
  own = rings = 0;
  memset(started, 0, sizeof started);
  memset(call_names, 0, sizeof call_names);
  memset(strings, 0, strings_room * sizeof *strings);
  strings_used = string_ids = 0;
  forget_payloads();
  for (int i = 0; i < TABLES; i++) tables[i].rows = tables[i].text_size = tables[i].width = 0;
  memset(windows, 0, sizeof windows);
  window_count = 0;
  closed_at = records = dropped = buffers = watched.seen = watched.last_id = 0;
  watching = device_count = 0;
  cut_payloads = communicator_count = 0;
  dir_of_file[0] = 0;
  once = (pthread_once_t)PTHREAD_ONCE_INIT;
  forked = 1;
}

// begin_windows reads from the environment what is to be traced.
static void begin_windows(void) {
  const char *v;
  if ((v = getenv("PROF_TRACE_RANGE")) && *v) {
    watched.size = strlen(v);
    watched.name = strdup(v);
    watched.after = (v = getenv("PROF_TRACE_AFTER")) ? strtoll(v, 0, 10) : 0;
    watched.most = (v = getenv("PROF_TRACE_WINDOW")) ? strtoll(v, 0, 10) : 0;
    watched.domain = strdup((v = getenv("PROF_TRACE_DOMAIN")) ? v : "");
  }
  by_api = (v = getenv("PROF_TRACE_API")) && strcmp(v, "1") == 0;
  duration = (v = getenv("PROF_TRACE_DURATION")) ? strtoll(v, 0, 10) : -1;
  delay = (v = getenv("PROF_TRACE_DELAY")) ? strtoll(v, 0, 10) : duration >= 0 ? 0 : -1;
  switch_path = (v = getenv("PROF_TRACE_SWITCH")) && *v ? strdup(v) : 0;
  each = switch_path && (v = getenv("PROF_TRACE_EACH")) && strcmp(v, "1") == 0;
  by_graph = (v = getenv("PROF_TRACE_GRAPH")) && strcmp(v, "graph") == 0;
  has_windows = watched.name || by_api || delay >= 0 || switch_path;
  if (has_windows) return;
  windows[0].start = INT64_MIN, windows[0].end = INT64_MAX;
  window_count = taking = 1;
}

static void begin_once(void) {
  static int has_handlers; // which a process made by fork inherits
  forked = 0;
  const char *dir = getenv("PROF_TRACE_DIR"), *zero = getenv("PROF_TRACE_BASE");
  if (!dir || !*dir) return;
  base = zero ? strtoll(zero, 0, 10) : 0;
  if (snprintf(dir_of_all, sizeof dir_of_all, "%s", dir) >= (int)sizeof dir_of_all) return;
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t c = i;
    for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
    crc_table[i] = c;
  }
  global_pid = (int64_t)getpid() << 24;
  begin_windows();
  if ((!has_handlers && pthread_key_create(&ring_key, thread_ends) != 0) || sem_init(&wake, 0, 0) != 0 || (!each && !open_file(dir))) return;
  if (file >= 0) add_domains(); // of the process that this one was made of
  live = 1;
  if (has_windows) turn();
  if (!has_handlers++) {
    pthread_atfork(before_fork, in_parent, in_child);
    atexit(finish);
  }
  pthread_t thread;
  sigset_t all, before;
  sigfillset(&all); // the workload's signals are for its own threads
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, 0, write_on, 0) == 0) pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, 0);
}

static void begin(void) { pthread_once(&once, begin_once); }

EXPORT int InitializeInjection(void) {
  pthread_once(&once_cuda, begin_cuda);
  return 1;
}
