package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	again bool // into a home that has a run
	make  func(ctx context.Context, r repeater, dir string) (path string, err error)
}

// small is a capture of a few thousand rows, the common case.
var small = capture{"small", true, func(_ context.Context, _ repeater, dir string) (string, error) {
	return filepath.Join(dir, "small.sqlite"), unpack(filepath.Join("testdata", "ncu", "llama.sqlite.gz"), filepath.Join(dir, "small.sqlite"))
}}

// ranks is a folder as `prof capture --auto-stages --torch --ncu-top` makes it of two ranks: one export, two traces and a report of kernels. With ten
// parts it is as long as one of a real job, tpdeep in ../shared/captures: 170 MB of export, 18 MB of traces.
func ranks(name string, parts int) capture {
	return capture{name, false, func(ctx context.Context, r repeater, dir string) (string, error) {
		to := filepath.Join(dir, "ranks")
		var errs []error
		for _, folder := range []string{"nsys", "torch", "ncu"} {
			errs = append(errs, os.MkdirAll(filepath.Join(to, folder), 0o755))
		}
		errs = append(errs, r.repeat(ctx, filepath.Join("testdata", "nsys", "nccl2", "nccl2.sqlite.gz"), 5*parts, filepath.Join(to, "nsys", "report-1.sqlite")))
		for _, rank := range []string{"rank0", "rank1"} {
			errs = append(errs, r.repeat(ctx, filepath.Join("testdata", "ranks", rank+".trace.json.gz"), 15*parts, filepath.Join(to, "torch", "trace-1-"+rank+".json.gz")))
		}
		return to, errors.Join(append(errs, unpack(filepath.Join("testdata", "ncu", "llama.ncu-rep.gz"), filepath.Join(to, "ncu", "report-1.ncu-rep")))...)
	}}
}

// kernels is an export of kernels in graphs, 10 MB for each copy.
func kernels(name string, copies int) capture {
	return capture{name, false, func(ctx context.Context, r repeater, dir string) (string, error) {
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

// sizes are the captures that are stored, each with each number of threads.
type sizes struct {
	captures []capture
	threads  []int
	times    int
}

// opts is what the command line asks for.
type opts struct {
	sizes
	isSize   bool
	revision string
}

func options(args []string) opts {
	f := flag.NewFlagSet("speed", flag.ExitOnError)
	whole := sizes{[]capture{small, ranks("two ranks", 10), ranks("two ranks, four times as long", 40), kernels("500 MB", 48), kernels("1 GB", 96)}, []int{1, 2, 8, 32, 128}, 1}
	given := sizes{}
	isSize := f.Bool("size", false, "store captures of up to 1 GB with 1 to 128 threads, and measure nothing else")
	f.IntVar(&whole.times, "times", whole.times, "with -size, how often each is stored")
	f.Func("threads", "with -size, numbers of threads, such as 2,64", func(list string) error {
		for n := range strings.SplitSeq(list, ",") {
			threads, err := strconv.Atoi(n)
			if err != nil {
				return err
			}
			given.threads = append(given.threads, threads)
		}
		return nil
	})
	f.Func("capture", "with -size, a file or folder to store, instead of those that are made; can be repeated", func(path string) error {
		given.captures = append(given.captures, capture{filepath.Base(path), false, func(context.Context, repeater, string) (string, error) { return path, nil }})
		return nil
	})
	f.Parse(args)
	if !*isSize {
		return opts{sizes{[]capture{small, ranks("two ranks, a tenth", 1)}, []int{2, 128}, 1}, false, f.Arg(0)}
	}
	if given.threads != nil {
		whole.threads = given.threads
	}
	if given.captures != nil {
		whole.captures = given.captures
	}
	return opts{whole, true, f.Arg(0)}
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
		t.peak = int64(u.Maxrss) << 10
	}
	return t, nil
}

// store stores a capture into a new home.
func (p prof) store(ctx context.Context, path string, again bool, threads int) (took, error) {
	defer os.RemoveAll(p.homes)
	if again {
		if _, err := p.exec(ctx, p.homes, threads, "ingest", "--run", "first", path); err != nil {
			return took{}, err
		}
	}
	return p.exec(ctx, p.homes, threads, "ingest", "--run", "second", path)
}

// compareSizes stores each capture with each number of threads and prints what it took, in Markdown. What cannot be stored now is an error.
func (s sizes) compareSizes(ctx context.Context, both [2]prof, r repeater, dir, base string) error {
	fmt.Printf("Stored with so many threads, before (%s) and now: medians, of peaks the most.\n\n", base)
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
			var all [2][]took
			for round := range s.times {
				for i := range both {
					i = (i + round) % 2
					took, err := both[i].store(ctx, path, c.again, threads)
					switch {
					case ctx.Err() != nil:
						return ctx.Err()
					case err == nil:
						all[i] = append(all[i], took)
					case i == 1:
						failures = append(failures, fmt.Errorf("%s with %d threads: %w", c.name, threads, err))
					}
				}
			}
			fmt.Printf("| %s | %d | %s | %s | %s | %s |\n", c.name, threads,
				change(all, "%.2f", func(t took) float64 { return t.wall.Seconds() }, median), change(all, "%.2f", func(t took) float64 { return t.cpu.Seconds() }, median),
				change(all, "%.0f", func(t took) float64 { return float64(t.peak) / 1e6 }, slices.Max[[]float64]), fmt.Sprintf("%d, %d of %d", s.times-len(all[0]), s.times-len(all[1]), s.times))
		}
		if err := os.RemoveAll(made); err != nil {
			return err
		}
	}
	return errors.Join(failures...)
}

// change writes a figure before and now; one of no runs is a dash.
func change(all [2][]took, format string, of func(took) float64, over func([]float64) float64) string {
	var out [2]string
	for i, runs := range all {
		var values []float64
		for _, t := range runs {
			values = append(values, of(t))
		}
		out[i] = "–"
		if len(values) > 0 {
			out[i] = fmt.Sprintf(format, over(values))
		}
	}
	return out[0] + ", " + out[1]
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
