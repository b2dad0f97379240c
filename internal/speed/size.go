package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"prof/internal/exports"
)

// capture is what is stored: made into a folder, or there.
type capture struct {
	name  string
	after string // what its home has; "" for a new home
	make  func(ctx context.Context, r repeater, dir string) (path string, err error)
}

// small is a capture of a few thousand rows, the common case.
var small = capture{"small, second run of its home", filepath.Join("testdata", "repeat", "rep.1.sqlite.gz"), func(_ context.Context, _ repeater, dir string) (string, error) {
	return filepath.Join(dir, "small.sqlite"), unpack(filepath.Join("testdata", "ncu", "llama.sqlite.gz"), filepath.Join(dir, "small.sqlite"))
}}

// ranks is a folder as `prof capture --auto-stages --torch --ncu-top` makes it of two ranks, or of copies times as many: one export, a trace of each and a
// report of kernels. With ten parts it is as long as one of a real job, tpdeep in ../shared/captures: for two ranks 170 MB of export, 18 MB of traces.
func ranks(name string, parts, copies int) capture {
	return capture{name, "", func(ctx context.Context, r repeater, dir string) (string, error) {
		to := filepath.Join(dir, "ranks")
		var errs []error
		for _, folder := range []string{"nsys", "torch", "ncu"} {
			errs = append(errs, os.MkdirAll(filepath.Join(to, folder), 0o755))
		}
		write := func(from string, times int, long, path string) {
			errs = append(errs, r.run(ctx, from, strconv.Itoa(times), filepath.Join(dir, long)), r.run(ctx, "-ranks", filepath.Join(dir, long), strconv.Itoa(copies), filepath.Join(to, path)))
		}
		write(filepath.Join("testdata", "nsys", "nccl2", "nccl2.sqlite.gz"), 5*parts, "long.sqlite", filepath.Join("nsys", "report-1.sqlite"))
		for _, rank := range []string{"rank0", "rank1"} {
			write(filepath.Join("testdata", "ranks", rank+".trace.json.gz"), 15*parts, rank+".json.gz", filepath.Join("torch", "trace-1-rank*.json.gz"))
		}
		return to, errors.Join(append(errs, unpack(filepath.Join("testdata", "ncu", "llama.ncu-rep.gz"), filepath.Join(to, "ncu", "report-1.ncu-rep")))...)
	}}
}

// kernels is an export of kernels in graphs, 10 MB for each copy.
func kernels(name string, copies int) capture {
	return capture{name, "", func(ctx context.Context, r repeater, dir string) (string, error) {
		to := filepath.Join(dir, "kernels.sqlite")
		return to, r.repeat(ctx, filepath.Join("testdata", "nsys", "llama-graph-node", "llama-graph-node.sqlite.gz"), copies, to)
	}}
}

func unpack(from, to string) error {
	data, err := exports.Unpack(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o644)
}

// sizes are the captures that are stored, with each number of threads so many times.
type sizes struct {
	captures []capture
	threads  []int
	times    int
}

// options reads the command line; isWhole is without the pairs of CPU time, with large captures.
func options(args []string) (s sizes, isWhole bool, revision string) {
	f := flag.NewFlagSet("speed", flag.ExitOnError)
	f.BoolVar(&isWhole, "size", false, "only store captures, of up to 1 GB and with 1 to 128 threads")
	f.IntVar(&s.times, "times", 1, "how often each capture is stored")
	f.Func("threads", "numbers of threads, such as 2,64", func(list string) error {
		for n := range strings.SplitSeq(list, ",") {
			threads, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			s.threads = append(s.threads, threads)
		}
		return nil
	})
	f.Func("capture", "a file or folder to store, instead of those that are made; several by several -capture", func(path string) error {
		s.captures = append(s.captures, capture{filepath.Base(path), "", func(context.Context, repeater, string) (string, error) { return path, nil }})
		return nil
	})
	f.Parse(args)
	threads, captures := []int{2, 128}, []capture{small, ranks("two ranks, a tenth", 1, 1)}
	if isWhole {
		threads = []int{1, 2, 8, 32, 128}
		captures = []capture{small, ranks("two ranks", 10, 1), ranks("two ranks, four times as long", 40, 1), ranks("eight ranks", 10, 4), kernels("500 MB", 48), kernels("1 GB", 96)}
	}
	if s.threads == nil {
		s.threads = threads
	}
	if s.captures == nil {
		s.captures = captures
	}
	return s, isWhole, f.Arg(0)
}

// took is what a run of prof took.
type took struct {
	wall, cpu time.Duration
	peak      int64 // bytes
}

// exec runs prof, with so many threads where that is not 0, as if the machine had that many cores: DuckDB believes a variable of the scheduler Slurm.
func (p prof) exec(ctx context.Context, home string, threads int, args ...string) (took, error) {
	cmd := exec.CommandContext(ctx, p.path, append([]string{"--home", home}, args...)...)
	if threads > 0 {
		n := strconv.Itoa(threads)
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+n, "SLURM_CPUS_ON_NODE="+n)
	}
	begun := time.Now()
	if _, err := output(cmd); err != nil {
		return took{}, err
	}
	t := took{wall: time.Since(begun), cpu: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		t.peak = int64(u.Maxrss) << 10 // KB on Linux
	}
	return t, nil
}

// store stores a capture into a home of its own.
func (p prof) store(ctx context.Context, path, after string, threads int) (took, error) {
	defer os.RemoveAll(p.homes)
	if after != "" {
		if _, err := p.exec(ctx, p.homes, threads, "ingest", after); err != nil {
			return took{}, err
		}
	}
	return p.exec(ctx, p.homes, threads, "ingest", path)
}

// compare stores each capture with each number of threads and prints what it took, in Markdown. What cannot be stored now is an error.
func (s sizes) compare(ctx context.Context, both [2]prof, r repeater, dir, base string) error {
	if runtime.GOOS != "linux" {
		fmt.Println("skipped: with how many threads captures are stored can be chosen on Linux only")
		return nil
	}
	fmt.Printf("\nCaptures stored, before (%s) and now: medians of time, the highest peak.\n\n", base)
	fmt.Println("| capture | threads | wall s | CPU s | peak MB | failed |\n|---|--:|--:|--:|--:|--:|")
	var failures []error
	for _, c := range s.captures {
		made := filepath.Join(dir, "made")
		if err := os.Mkdir(made, 0o755); err != nil {
			return err
		}
		path, err := c.make(ctx, r, made)
		if err != nil {
			return err
		}
		for _, threads := range s.threads {
			all, err := s.store(ctx, both, path, c.after, threads)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failures = append(failures, fmt.Errorf("%s with %d threads: %w", c.name, threads, err))
			}
			fmt.Printf("| %s | %d | %s |\n", c.name, threads, all.cells(s.times))
		}
		if err := os.RemoveAll(made); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}

// store stores a capture in turn before and now. The error is that of now.
func (s sizes) store(ctx context.Context, both [2]prof, path, after string, threads int) (all stored, failed error) {
	for round := range s.times {
		for i := range both {
			i = (i + round) % 2
			took, err := both[i].store(ctx, path, after, threads)
			if err == nil {
				all[i] = append(all[i], took)
			} else if i == 1 {
				failed = err
			}
		}
	}
	return all, failed
}

// stored is what the runs took that stored a capture before and now.
type stored [2][]took

// cells are the columns of a row in Markdown, each with a figure before and now; one of no runs is a dash.
func (all stored) cells(times int) string {
	cell := func(format string, of func(took) float64, over func([]float64) float64) string {
		out := [2]string{"–", "–"}
		for i, runs := range all {
			var values []float64
			for _, t := range runs {
				values = append(values, of(t))
			}
			if len(values) > 0 {
				out[i] = fmt.Sprintf(format, over(values))
			}
		}
		return out[0] + ", " + out[1]
	}
	wall := cell("%.2f", func(t took) float64 { return t.wall.Seconds() }, median)
	cpu := cell("%.2f", func(t took) float64 { return t.cpu.Seconds() }, median)
	peak := cell("%.0f", func(t took) float64 { return float64(t.peak) / 1e6 }, slices.Max[[]float64])
	return fmt.Sprintf("%s | %s | %s | %d, %d of %d", wall, cpu, peak, times-len(all[0]), times-len(all[1]), times)
}

func median(values []float64) float64 {
	return middle(values, func(v float64) float64 { return v })
}
