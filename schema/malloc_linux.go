package schema

/*
#include <malloc.h>
#include <stdlib.h>

// DuckDB makes its many small objects with malloc. In glibc the arena of a thread grows by single pages, each with a system call, and gives
// them back as soon: a command spent a tenth of its time on that. Arenas that are large from the start and keep what they have cost nothing,
// for pages that nobody touched are no memory. Arenas are made when threads first ask for memory: Go's init is too late.
//
// DuckDB's buffers come from jemalloc, which reads its settings when it is loaded: hence the priority. Each operator of a plan asks for vectors of 2048 values.
// Threads keep blocks of up to 32 KiB for themselves, which a vector of texts exceeds, and share the rest under locks: with 256 KiB a report takes an eighth less CPU.
__attribute__((constructor(101))) static void keep_memory(void) {
	setenv("DUCKDB_JE_MALLOC_CONF", "lg_tcache_max:18", 0);
#ifdef __GLIBC__
	mallopt(M_TOP_PAD, 32 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}
*/
import "C"
