package schema

/*
#include <malloc.h>

// DuckDB makes its many small objects with malloc. glibc gives each thread an arena that grows by single pages, each with a system call: a
// command spent a tenth of its time on that. One arena that grows by 4 MiB and keeps what it has does well, since DuckDB's large buffers
// come from an allocator of their own. glibc settles the number of arenas once, when the second thread asks for one: Go's init is too late.
__attribute__((constructor)) static void keep_memory(void) {
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TOP_PAD, 4 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}
*/
import "C"
