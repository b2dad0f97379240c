#include <cstddef>
#include <new>

// DuckDB plans statements out of many small objects, and most statements here are planned for longer than they run. glibc keeps seven free pieces of
// each size at hand for a thread and looks for all others in its arena; the allocator that DuckDB brings along for its buffers keeps more: deriving
// the facts of a run takes a seventh less processor time with it. These replace the operators for the whole program. That allocator is in DuckDB's
// libraries for Linux only; without it the program would not link.
extern "C" {
void *duckdb_je_malloc(std::size_t);
void duckdb_je_free(void *);
}

void *operator new(std::size_t size, const std::nothrow_t &) noexcept { return duckdb_je_malloc(size ? size : 1); }

void *operator new(std::size_t size) {
	void *p = duckdb_je_malloc(size ? size : 1);
	if (!p) {
		throw std::bad_alloc();
	}
	return p;
}

void *operator new[](std::size_t size) { return operator new(size); }
void *operator new[](std::size_t size, const std::nothrow_t &none) noexcept { return operator new(size, none); }

void operator delete(void *p) noexcept { duckdb_je_free(p); }
void operator delete[](void *p) noexcept { duckdb_je_free(p); }
void operator delete(void *p, std::size_t) noexcept { duckdb_je_free(p); }
void operator delete[](void *p, std::size_t) noexcept { duckdb_je_free(p); }
void operator delete(void *p, const std::nothrow_t &) noexcept { duckdb_je_free(p); }
void operator delete[](void *p, const std::nothrow_t &) noexcept { duckdb_je_free(p); }
