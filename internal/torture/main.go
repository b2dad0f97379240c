// Command torture hunts for lost runs, half runs, leftovers, leaks, crashes and hangs of a built prof. It kills it at random moments and near commits, feeds it damaged
// files of every format, has many processes write and read at once, many readers ask a server and hostile ones call all that it offers, and takes its disk, memory
// and descriptors away. It prints what it tried and what failed; the same seed tries the same.
//
//	go run ./internal/torture -hour
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// lab is where the hunts work.
type lab struct {
	prof string // the program
	repo string // the repository: its testdata are the captures
	dir  string // for files of the hunts
	// dirs are where the homes of trials are in turn, on several file systems.
	dirs []string
	seed uint64
	// cores are those that prof is to believe in; 0 for the machine's. Trials are as many at a time as there are: of a crowd each takes longer than alone, and a
	// command is killed within the time that the first of its kind took.
	cores int

	over   func() error // not nil once the hunt is interrupted: what fails then says nothing
	mu     sync.Mutex
	failed []string
}

// fail keeps what went wrong, with what it takes to try it again.
func (l *lab) fail(format string, args ...any) {
	if l.over() != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	l.failed = append(l.failed, text)
	fmt.Fprintln(os.Stderr, "FAILED:", text)
}

// rng is the chance of one trial: a trial does not depend on those before it.
func (l *lab) rng(trial int) *rand.Rand { return rand.New(rand.NewPCG(l.seed, uint64(trial))) }

// each tries n trials, one for each core at a time, until the context ends, and says how many it tried.
func (l *lab) each(ctx context.Context, n int, try func(ctx context.Context, trial int, rng *rand.Rand)) int {
	trials := make(chan int)
	var wait sync.WaitGroup
	tried := make([]int, runtime.NumCPU())
	for i := range tried {
		wait.Go(func() {
			for trial := range trials {
				try(ctx, trial, l.rng(trial))
				tried[i]++
			}
		})
	}
	for trial := range n {
		if ctx.Err() != nil {
			break
		}
		trials <- trial
	}
	close(trials)
	wait.Wait()
	sum := 0
	for _, t := range tried {
		sum += t
	}
	return sum
}

// folder makes a folder for one trial.
func (l *lab) folder(name string, trial int) (string, error) {
	dir := filepath.Join(l.dirs[trial%len(l.dirs)], fmt.Sprintf("%s-%d", name, trial))
	return dir, os.MkdirAll(dir, 0o755)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(1)
	}
}

// defaultDirs are the folder for temporary files and, where it has room, one in memory.
func defaultDirs() string {
	const memory, room = "/dev/shm", 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return os.TempDir()
	}
	return os.TempDir() + string(filepath.ListSeparator) + memory
}

func run(ctx context.Context) (err error) {
	l := &lab{over: ctx.Err}
	flag.StringVar(&l.prof, "prof", "", "the `PROGRAM` under test; it is built when none is named")
	flag.Uint64Var(&l.seed, "seed", uint64(time.Now().UnixNano()), "`NUMBER` that all chance follows from")
	flag.IntVar(&l.cores, "cores", 0, "`NUMBER` of cores that prof is to believe in, for Go and DuckDB; 0 for the machine's")
	hour := flag.Bool("hour", false, "the long hunt; options that are given besides hold")
	dirs := flag.String("dirs", defaultDirs(), "`FOLDERS` in which to work in turn, best on several file systems, with a colon between them")
	kills := flag.Int("kills", 80, "how many commands to kill")
	files := flag.Int("files", 120, "how many damaged files to ingest")
	crowd := flag.Duration("crowd", 15*time.Second, "how long many processes write and read at once")
	disks := flag.Int("disks", 15, "how many commands get a disk that is too small")
	scarce := flag.Int("scarce", 15, "how many commands get too little memory or too few descriptors")
	calls := flag.Int("calls", 3000, "how many calls of a server's operations")
	pace := pace{}
	flag.IntVar(&pace.readers, "readers", 100, "how many ask a server, a question a second each")
	flag.DurationVar(&pace.long, "read", 30*time.Second, "how long they ask, beside two that write")
	flag.DurationVar(&pace.p99, "p99", 10*time.Second, "within what 99 % of them have their answer")
	flag.DurationVar(&pace.slowest, "slowest", 30*time.Second, "within what all have it")
	flag.Parse()
	if *hour {
		given := map[string]bool{}
		flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
		for name, value := range map[string]string{"kills": "1500", "files": "5000", "crowd": "5m", "disks": "300", "scarce": "200", "calls": "50000", "read": "10m", "p99": "1s", "slowest": "4s"} {
			if !given[name] {
				if err := flag.Set(name, value); err != nil {
					return err
				}
			}
		}
	}
	if l.repo, err = os.Getwd(); err != nil {
		return err
	}
	for _, dir := range filepath.SplitList(*dirs) {
		dir, err := os.MkdirTemp(dir, "prof-torture-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		l.dirs = append(l.dirs, dir)
	}
	if len(l.dirs) == 0 {
		return errors.New("-dirs names no folder")
	}
	l.dir = l.dirs[0]
	if l.prof == "" {
		l.prof = filepath.Join(l.dir, "prof")
		build := exec.CommandContext(ctx, "go", "build", "-o", l.prof, ".")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build prof: %w", err)
		}
	}
	if l.prof, err = filepath.Abs(l.prof); err != nil {
		return err
	}
	fmt.Printf("seed %d, in %s\n", l.seed, *dirs)
	for _, h := range []struct {
		name string
		hunt func() (string, error)
	}{
		{"kills", func() (string, error) { return l.kill(ctx, *kills) }},
		{"damaged files", func() (string, error) { return l.damage(ctx, *files) }},
		{"crowd", func() (string, error) { return l.crowd(ctx, *crowd) }},
		{"readers", func() (string, error) { return l.readers(ctx, pace) }},
		{"calls", func() (string, error) { return l.calls(ctx, *calls) }},
		{"scarcity", func() (string, error) { return l.scarcity(ctx, *disks, *scarce) }},
	} {
		before, start := len(l.failed), time.Now()
		said, err := h.hunt()
		if err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		fmt.Printf("%-14s %s; %d failed; %.0f s\n", h.name, said, len(l.failed)-before, time.Since(start).Seconds())
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(l.failed) > 0 {
		return fmt.Errorf("%d trials failed", len(l.failed))
	}
	return nil
}
