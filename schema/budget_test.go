package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestBudget(t *testing.T) {
	const mb, gb = 1 << 20, 1 << 30
	for name, c := range map[string]struct {
		cores        int
		free, bound  int64
		threads      int
		memory, most int64
		heap         int64
		said         string
		tries        int // that Again does besides the first
		lastMemory   int64
	}{
		"two cores":        {cores: 2, free: 16 * gb, threads: 2, memory: 512 * mb, most: 8 * gb, tries: 3, lastMemory: 8 * gb, said: "up to 2 threads and 512 MiB for DuckDB, where that is too little 1 thread and up to 8.0 GiB (2 cores, 16 GiB free)"},
		"one core":         {cores: 1, free: 2 * gb, threads: 1, memory: 512 * mb, most: gb, tries: 1, lastMemory: gb, said: "1 thread and 512 MiB for DuckDB, where that is too little 1 thread and up to 1.0 GiB (1 core, 2.0 GiB free)"},
		"a server":         {cores: 200, free: 1000 * gb, threads: 8, memory: 512 * mb, most: 500 * gb, tries: 6, lastMemory: 500 * gb},
		"little is free":   {cores: 64, free: 300 * mb, threads: 2, memory: 150 * mb, most: 150 * mb, tries: 1, lastMemory: 150 * mb},
		"nothing is free":  {cores: 64, free: mb, threads: 2, memory: 128 * mb, most: 128 * mb, tries: 1, lastMemory: 128 * mb},
		"free is unknown":  {cores: 4, threads: 4, memory: 512 * mb, most: 512 * mb, tries: 1, lastMemory: 512 * mb},
		"the least bound":  {cores: 64, free: 64 * gb, bound: 512 * mb, threads: 1, memory: 256 * mb, most: 256 * mb, heap: 160 * mb, lastMemory: 256 * mb},
		"bound and server": {cores: 64, free: 64 * gb, bound: 4 * gb, threads: 8, memory: 2 * gb, most: 2 * gb, heap: 2*gb - 96*mb, tries: 1, lastMemory: 2 * gb, said: "up to 8 threads and 2.0 GiB for DuckDB of --memory 4.0 GiB (64 cores, 64 GiB free)"},
	} {
		b := budgetOf(c.cores, c.free, c.bound)
		if b.Threads != c.threads || b.Memory != c.memory || b.Most != c.most || b.Heap() != c.heap || c.said != "" && b.String() != c.said {
			t.Errorf("%s: %+v, heap %d: %s", name, b, b.Heap(), b)
		}
		tries := 0
		for next, is := b.more(b.Threads); is; next, is = b.more(b.Threads) {
			if next.Threads != 1 || next.Memory > next.Most || next == b {
				t.Fatalf("%s: after %+v comes %+v", name, b, next)
			}
			b, tries = next, tries+1
		}
		if tries != c.tries || b.Memory != c.lastMemory {
			t.Errorf("%s: %d tries, at last with %d bytes", name, tries, b.Memory)
		}
	}
}

func TestFreeMemory(t *testing.T) {
	const available = "MemTotal: 30000000 kB\nMemAvailable: 20000000 kB\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing is known": {nil, 0},
		"no limit":         {map[string]string{"/proc/meminfo": available, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/memory.max": "max\n"}, 20000000 << 10},
		"a container":      {map[string]string{"/proc/meminfo": available, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup//memory.max": "1000\n", "/sys/fs/cgroup//memory.current": "300\n", "/sys/fs/cgroup//memory.stat": "anon 200\ninactive_file 100\n"}, 800},
		"of a parent":      {map[string]string{"/proc/meminfo": available, "/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/memory.max": "5000\n", "/sys/fs/cgroup/a/memory.current": "1000\n", "/sys/fs/cgroup/a/b/memory.max": "6000\n"}, 4000},
		"version 1":        {map[string]string{"/proc/meminfo": available, "/proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n0::/\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "9000\n", "/sys/fs/cgroup/memory/x/memory.usage_in_bytes": "1000\n", "/sys/fs/cgroup/memory//memory.limit_in_bytes": "9223372036854771712\n"}, 8000},
		"ulimit -v":        {map[string]string{"/proc/meminfo": available, "/proc/self/limits": "Max data size             unlimited            unlimited            bytes     \nMax address space         3000000000           4000000000           bytes     \n"}, 3000000000 - ownAddresses},
		"no ulimit":        {map[string]string{"/proc/meminfo": available, "/proc/self/limits": "Max address space         unlimited            unlimited            bytes     \n"}, 20000000 << 10},
		"all is used":      {map[string]string{"/proc/self/cgroup": "0::/a\n", "/sys/fs/cgroup/a/memory.max": "1000\n", "/sys/fs/cgroup/a/memory.current": "1000\n"}, 1},
	} {
		if got := freeMemory(func(path string) string { return c.files[path] }); got != c.want {
			t.Errorf("%s: %d bytes, want %d", name, got, c.want)
		}
	}
}

// TestAgain has DuckDB run out of memory.
func TestAgain(t *testing.T) {
	small := budgetOf(4, 0, 0)
	small.Memory, small.Most = 16<<20, 256<<20
	db, err := connect(t.Context(), "", "READ_WRITE", "", Options{Budget: small})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := &Warehouse{DB: db, Budget: small}
	hungry := func(mb int) func() error {
		return func() error {
			_, err := db.ExecContext(t.Context(), fmt.Sprintf("SELECT count(*) FROM (SELECT DISTINCT i FROM range(%d << 16) r(i))", mb))
			return err
		}
	}
	if err := hungry(40)(); !IsOutOfMemory(err) {
		t.Fatalf("it did not run out: %v", err)
	}
	if err := w.Again(t.Context(), hungry(40)); err != nil || w.Budget.Threads != 1 || w.Budget.Memory <= small.Memory {
		t.Errorf("%v, with %+v", err, w.Budget)
	}
	var threads int
	if err := db.QueryRowContext(t.Context(), "SELECT current_setting('threads')").Scan(&threads); err != nil || threads != 1 {
		t.Errorf("%d threads, want 1: %v", threads, err)
	}
	if err := w.Again(t.Context(), hungry(400)); !errors.Is(err, ErrMemory) || !IsOutOfMemory(err) || !strings.Contains(err.Error(), "where more is") {
		t.Errorf("400 MiB do not fit: %v", err)
	}
	w.Budget = small
	if _, err := db.ExecContext(t.Context(), w.Budget.set()+"; SET threads = 1"); err != nil {
		t.Fatal(err)
	}
	var tried []int64
	err = w.Again(t.Context(), func() error { tried = append(tried, w.Budget.Memory); return hungry(40)() })
	if want := []int64{small.Memory, 4 * small.Memory, small.Most}; err != nil || !slices.Equal(tried, want) {
		t.Errorf("with one thread already it tried %d, want %d: %v", tried, want, err)
	}
	other, n := errors.New("another"), 0
	if err := w.Again(t.Context(), func() error { n++; return other }); err != other || n != 1 {
		t.Errorf("%v after %d tries", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.Budget = small
	err = w.Again(ctx, func() error { cancel(); return hungry(400)() })
	if !IsOutOfMemory(err) || errors.Is(err, ErrMemory) {
		t.Errorf("interrupted: %v", err)
	}
}
