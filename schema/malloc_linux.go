package schema

/*
#include <malloc.h>

// DuckDB makes its many small objects with malloc. In glibc the arena of a thread grows by single pages, each with a system call, and gives
// them back as soon: a command spent a tenth of its time on that. Arenas that are large from the start and keep what they have cost nothing,
// for pages that nobody touched are no memory. DuckDB's large buffers come from an allocator of its own. Arenas are made when threads first
// ask for memory: Go's init is too late.
__attribute__((constructor)) static void keep_memory(void) {
#ifdef __GLIBC__
	mallopt(M_TOP_PAD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}
*/
import "C"
