// A workload that launches kernels in ranges: work MODE. It loads the tracer as CUDA and NVTX do.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void launch(const char *kernel);
void profiler(int start);

// The functions of NVTX's core module that are used, in their places: pushes of texts, pops and starts.
static int (*push)(const char *);
static int (*pop)(void);
static uint64_t (*start)(const char *);
static void (*end)(uint64_t);
static void **slots[16];
static int table(uint32_t module, void ****out, unsigned *size) {
  slots[5] = (void **)&start, slots[7] = (void **)&end, slots[9] = (void **)&push, slots[11] = (void **)&pop;
  *out = (void ***)slots, *size = 16;
  return module == 1;
}
static const struct { size_t size; int (*table)(uint32_t, void ****, unsigned *); } callbacks = {sizeof callbacks, table};
static const void *exported(uint32_t id) { return id == 1 ? &callbacks : 0; }

static void *step(void *n) {
  for (long i = 0; i < (long)n; i++) {
    push("step");
    pop();
  }
  return 0;
}

// launches sets the switch, launches kernels when it is obeyed, and sets it off again, for so many seconds.
static void launches(const char *word, const char *part, int n, int seconds) {
  for (int i = 0; i < 2; i++) {
    FILE *f = fopen(getenv("PROF_TRACE_SWITCH"), "w");
    fprintf(f, i ? "off\n" : part[0] ? "%s %s%s\n" : "%s\n", word, getenv("PROF_TRACE_DIR"), part);
    fclose(f);
    if (i) sleep(seconds);
    if (i) return;
    usleep(500000);
    while (n-- > 0) launch("_Z6kernelPf");
    usleep(500000);
  }
}

int main(int argc, char **argv) {
  const char *mode = argc > 1 ? argv[1] : "";
  if (!getenv("CUDA_INJECTION64_PATH")) return 0;
  void *tracer = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (!tracer) return fprintf(stderr, "%s\n", dlerror()), 9;
  int (*nvtx)(const void *(*)(uint32_t)) = (int (*)(const void *(*)(uint32_t)))dlsym(tracer, "InitializeInjectionNvtx2");
  int (*cuda)(void) = (int (*)(void))dlsym(tracer, "InitializeInjection");
  if (strcmp(mode, "full") == 0) { // the disk is full after so much
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){20000, 20000});
  }
  if (!nvtx(exported)) return 8;
  if (strcmp(mode, "worker") == 0) { // a process made by fork does the work, and is the first to use CUDA
    push("parent");
    pop();
    int status;
    if (fork() != 0) return wait(&status) < 0 || status != 0;
  }
  if (!cuda()) return 8;
  push("decode");
  for (int i = 0; i < 3000; i++) {
    if (strcmp(mode, "profiler") == 0 && i % 1000 == 500) profiler(1);
    if (strcmp(mode, "profiler") == 0 && i % 1000 == 700) profiler(0);
    push("decode_step");
    launch("_Z6kernelPf");
    pop();
  }
  pop();
  uint64_t id = start("request");
  pthread_t threads[4];
  const char *steps = getenv("STEPS"); // 20000 are more than the tracer has room for at once
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], 0, step, (void *)(steps ? atol(steps) : 500l));
  for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
  end(id);
  push("open");
  if (strcmp(mode, "fork") == 0) {
    if (fork() == 0) {
      push("child");
      launch("_Z5childv");
      exit(0);
    }
    wait(0);
  }
  if (strcmp(mode, "later") == 0) { // work once the switch is on
    FILE *f = fopen(getenv("PROF_TRACE_SWITCH"), "w");
    fputs("on", f);
    fclose(f);
    sleep(1);
    launch("_Z5laterv");
    remove(getenv("PROF_TRACE_SWITCH"));
    sleep(1);
    launch("_Z7toolatev");
  }
  if (strcmp(mode, "attached") == 0) { // counted, recorded, left alone, recorded once more
    launches("watch", "", 100, 0);
    launches("on", "/1", 50, 3);
    launches("off", "", 10, 0);
    launches("on", "/2", 70, 3);
    launches("off", "", 1, 0);
  }
  if (strcmp(mode, "kill") == 0 || strcmp(mode, "_exit") == 0) sleep(3);
  if (strcmp(mode, "kill") == 0) raise(SIGKILL);
  if (strcmp(mode, "_exit") == 0) _exit(3);
  return strcmp(mode, "fails") == 0 ? 5 : 0;
}
