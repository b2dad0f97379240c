package schema

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"runtime"
	"strconv"
	"strings"

	"github.com/duckdb/duckdb-go/v2"
)

// Budget is what DuckDB may take of the machine while it writes. Each of its threads keeps blocks of its own, which cannot be spilled while they are in use:
// more threads need more memory, so that both are chosen together.
type Budget struct {
	Threads int
	Memory  int64 // bytes
	Most    int64 // bytes up to which Memory grows before anything is given up
	cores   int
	free    int64 // bytes; 0 for unknown
	bound   int64 // bytes that the whole process was given; 0 for none
}

const (
	usualMemory  = 512 << 20 // for which a capture of 1 GB stays below 1 GB of the process
	threadMemory = 64 << 20  // of a thread: with 8 MiB derived facts do not fit
	leastWriting = 128 << 20
	// boundThreadMemory is that of a thread where the process is bound: readers keep rows for each.
	boundThreadMemory = 256 << 20
	// mostThreads is where more threads no longer make an ingest faster: what they share grows, and the machine may be in use by others.
	mostThreads = 8
	// ownMemory is what the program has besides DuckDB's memory and its heap: itself, its stacks, what DuckDB's threads keep beyond its limit.
	ownMemory = 96 << 20
	// LeastMemory is the least that a process can be given: half of it is DuckDB's, which derives facts of large captures in that.
	LeastMemory = 512 << 20
	// ownAddresses is what the program reserves of the address space besides DuckDB's memory, with SparingThreads: Go's heap and threads, malloc's arenas.
	ownAddresses = 5 << 29
	// LeastAddresses is the least address space that prof runs in: below it Go and C++ end the process in the middle of anything.
	LeastAddresses = 7 << 29
	// SparingThreads are those of Go and of DuckDB where the address space is limited: each reserves a stack and an arena.
	SparingThreads = 4
)

// AddressSpace returns to how many bytes the address space of this process is limited (ulimit -v, as some batch systems do), 0 where it is not.
func AddressSpace() int64 { return addressSpace(readFile) }

func addressSpace(read func(path string) string) int64 {
	for line := range strings.Lines(read("/proc/self/limits")) {
		if rest, is := strings.CutPrefix(line, "Max address space"); is {
			if limits := strings.Fields(rest); len(limits) > 0 {
				return number(limits[0])
			}
		}
	}
	return 0
}

// NewBudget chooses for this machine. A bound is what the whole process may take, in bytes; 0 for as much as is usual.
func NewBudget(bound int64) Budget {
	return budgetOf(runtime.GOMAXPROCS(0), freeMemory(readFile), bound) // GOMAXPROCS follows the CPU limit of a container, and which cores the process may use
}

func budgetOf(cores int, free, bound int64) Budget {
	b := Budget{cores: cores, free: free, bound: bound}
	b.Threads = min(cores, mostThreads)
	switch {
	case bound > 0:
		b.Memory, b.Most = bound/2, bound/2
		b.Threads = min(b.Threads, int(b.Memory/boundThreadMemory))
	case free > 0:
		b.Most = max(free/2, leastWriting)
		b.Memory = min(usualMemory, b.Most)
	default:
		b.Memory, b.Most = usualMemory, usualMemory
	}
	b.Threads = max(1, min(b.Threads, int(b.Memory/threadMemory)))
	return b
}

// more is the next budget to try where memory ran out with so many threads; false where there is none. Fewer threads come first, since they cost nothing but
// time.
func (b Budget) more(threads int) (Budget, bool) {
	b.Threads = min(b.Threads, threads)
	if b.Threads == 1 && b.Memory >= b.Most {
		return b, false
	}
	if b.Threads == 1 {
		b.Memory = min(4*b.Memory, b.Most)
	}
	b.Threads = 1
	return b, true
}

// String returns what was chosen, and why.
func (b Budget) String() string {
	why := []string{fmt.Sprintf("%d cores", b.cores)}
	if b.cores == 1 {
		why[0] = "1 core"
	}
	if b.free > 0 {
		why = append(why, size(b.free)+" free")
	}
	text := fmt.Sprintf("up to %d threads and %s for DuckDB", b.Threads, size(b.Memory))
	if b.Threads == 1 {
		text = fmt.Sprintf("1 thread and %s for DuckDB", size(b.Memory))
	}
	if b.bound > 0 {
		return text + fmt.Sprintf(" of --memory %s (%s)", size(b.bound), strings.Join(why, ", "))
	}
	return text + fmt.Sprintf(", where that is too little 1 thread and up to %s (%s)", size(b.Most), strings.Join(why, ", "))
}

func size(n int64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	}
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Heap is what the program's own heap may take in bytes, where the process was given a bound; else 0.
func (b Budget) Heap() int64 {
	if b.bound == 0 {
		return 0
	}
	return b.bound - b.Memory - ownMemory
}

// Records is what readers keep of a source's records in memory, in bytes, where the process was given a bound; else 0.
func (b Budget) Records() int { return int(b.Heap() / 16) }

// Limit is the memory as DuckDB's setting memory_limit has it.
func (b Budget) Limit() string { return fmt.Sprintf("%dB", b.Memory) }

// AllThreads is the statement that gives DuckDB all threads of the budget.
func (b Budget) AllThreads() string {
	if b.Threads == 0 {
		return `RESET threads`
	}
	return fmt.Sprintf(`SET threads = %d`, b.Threads)
}

// set is the statement that gives DuckDB the budget.
func (b Budget) set() string {
	return fmt.Sprintf("SET memory_limit = '%s'; SET threads = %d", b.Limit(), b.Threads)
}

// ErrMemory is in an error of what did not fit, with everything that could be given tried.
var ErrMemory = errors.New("DuckDB needs more memory")

// IsOutOfMemory reports whether an error is DuckDB's, that its memory does not suffice.
func IsOutOfMemory(err error) bool {
	var of *duckdb.Error
	return errors.As(err, &of) && of.Type == duckdb.ErrorTypeOutOfMemory || err != nil && strings.Contains(err.Error(), "Out of Memory Error")
}

// Again does something for which DuckDB's memory may not suffice, and where it does not, does it again with one thread, then with more memory, as long as
// there is any. What it does must leave nothing behind when it fails, as a transaction does. What ran out once would again: the budget stays so.
func (w *Warehouse) Again(ctx context.Context, do func() error) error {
	for {
		err := do()
		if !IsOutOfMemory(err) || errors.Is(err, ErrMemory) || w.Budget == (Budget{}) || ctx.Err() != nil {
			return err
		}
		threads := 0 // fewer than the budget's where one is faster
		if e := w.DB.QueryRowContext(ctx, `SELECT current_setting('threads')`).Scan(&threads); e != nil {
			return errors.Join(err, e)
		}
		next, is := w.Budget.more(threads)
		if !is {
			what, _, _ := strings.Cut(err.Error(), "\nPossible solutions") // which are settings of DuckDB's
			return fmt.Errorf("%w than %s: %s (%s)", ErrMemory, size(w.Budget.Memory), w.Budget.remedy(), strings.TrimRight(what, ".\n"))
		}
		w.Budget = next
		if _, e := w.DB.ExecContext(ctx, w.Budget.set()); e != nil {
			return errors.Join(err, e)
		}
	}
}

// remedy returns what helps.
func (b Budget) remedy() string {
	if b.bound > 0 {
		return fmt.Sprintf("try it again with --memory %dGiB or more", (2*b.bound+1<<30-1)>>30)
	}
	return "that is half of what is free; try it again where more is"
}

// freeMemory is the memory in bytes that this process can get without taking it from others: what the machine has available, or what is left of the limit of a
// control group that the process is in, of version 2 or 1, or of its address space. 0 is unknown.
func freeMemory(read func(path string) string) int64 {
	free := int64(0)
	note := func(n int64) {
		if n > 0 && (free == 0 || n < free) {
			free = n
		}
	}
	for line := range strings.Lines(read("/proc/meminfo")) {
		if rest, is := strings.CutPrefix(line, "MemAvailable:"); is {
			note(number(strings.TrimSuffix(strings.TrimSpace(rest), " kB")) << 10)
		}
	}
	if space := addressSpace(read); space > 0 {
		note(max(1, space-ownAddresses))
	}
	for line := range strings.Lines(read("/proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, limit, used := "/sys/fs/cgroup", "memory.max", "memory.current"
		switch {
		case parts[1] == "memory":
			root, limit, used = "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
		case parts[1] != "":
			continue
		}
		for dir := path.Clean("/" + parts[2]); ; dir = path.Dir(dir) { // a limit of a group holds for those below it
			if most := number(read(root + dir + "/" + limit)); most > 0 {
				note(max(1, most-number(read(root+dir+"/"+used))+cached(read(root+dir+"/memory.stat"))))
			}
			if dir == "/" {
				break
			}
		}
	}
	return free
}

// cached is what a control group counts as used and would let go: files that were read or written.
func cached(stat string) int64 {
	for line := range strings.Lines(stat) {
		if rest, is := strings.CutPrefix(line, "inactive_file "); is {
			return number(rest)
		}
	}
	return 0
}

// number is 0 for what is none, such as "max".
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func readFile(path string) string {
	text, err := os.ReadFile(path) // what cannot be read sets no limit
	if err != nil {
		return ""
	}
	return string(text)
}
