package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// place is a home of its own, with a folder for temporary files of its own.
type place struct {
	l    *lab
	dir  string
	wrap []string // what prof runs under, as prlimit
	wait string   // PROF_WAIT
}

func (l *lab) place(name string, trial int) (*place, error) {
	dir, err := l.folder(name, trial)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "tmp"), 0o755)
	}
	return &place{l: l, dir: dir, wait: "2m"}, err
}

// base makes a place with runs of these captures, which others are copies of.
func (l *lab) base(ctx context.Context, runs ...string) (*place, error) {
	p, err := l.place("base-"+strings.Join(runs, "-"), 0)
	if err != nil {
		return nil, err
	}
	for _, name := range runs {
		if r := p.run(ctx, append([]string{"ingest", "--run", name}, l.capturesOf()[name]...)...); r.code != 0 {
			return nil, fmt.Errorf("ingest: %s", r)
		}
	}
	return p, nil
}

// copied makes a place with what this one has.
func (p *place) copied(name string, trial int) (*place, error) {
	out, err := p.l.place(name, trial)
	if err != nil {
		return nil, err
	}
	return out, os.CopyFS(out.home(), os.DirFS(p.home()))
}

func (p *place) home() string { return filepath.Join(p.dir, "home") }

// tooLong is longer than any of the commands here takes on a busy machine.
const tooLong = 2 * time.Minute

// result is what a command did.
type result struct {
	code     int // -1: killed
	hung     bool
	out, err string
	memory   int64 // bytes, at most
	// sinceWrite is how long before its end it last wrote to the warehouse; tooLong where it did not.
	sinceWrite time.Duration
}

// crashed reports whether the program ended in a way that it must never end in.
func (r result) crashed() bool {
	return r.hung || r.code == 134 || r.code == 139 || strings.Contains(r.err, "panic:") || strings.Contains(r.err, "goroutine ") || strings.Contains(r.err, "INTERNAL Error")
}

func (r result) String() string {
	return fmt.Sprintf("exit %d, hung %v, stderr %.600q", r.code, r.hung, r.err)
}

// command prepares prof with arguments.
func (p *place) command(ctx context.Context, args ...string) *exec.Cmd {
	words := append(slices.Clone(p.wrap), append([]string{p.l.prof, "--home", p.home()}, args...)...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "XDG_CACHE_HOME=" + filepath.Join(p.l.dir, "cache"), "TMPDIR=" + filepath.Join(p.dir, "tmp"), "PROF_WAIT=" + p.wait}
	if n := p.l.cores; n > 0 {
		cmd.Env = append(cmd.Env, fmt.Sprintf("GOMAXPROCS=%d", n), fmt.Sprintf("SLURM_CPUS_ON_NODE=%d", n))
	}
	return cmd
}

// run runs prof to its end.
func (p *place) run(ctx context.Context, args ...string) result {
	return p.finish(ctx, moment{}, args...)
}

// moment is when a command is killed: after a while and, where it is to be near a commit, a little later than the warehouse is next written to.
type moment struct {
	after   time.Duration
	written bool
	later   time.Duration
}

// written is when the files of the warehouse were last written to.
func (p *place) written() (last time.Time) {
	for _, name := range []string{"warehouse.duckdb", "warehouse.duckdb.wal"} {
		if info, err := os.Stat(filepath.Join(p.home(), name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// waitFor waits for the moment, unless ctx ends before, and reports whether it came.
func (p *place) waitFor(ctx context.Context, when moment) bool {
	pause := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d):
			return true
		}
	}
	if !pause(when.after) {
		return false
	}
	if when.written {
		for was := p.written(); was.Equal(p.written()); {
			if !pause(time.Millisecond) {
				return false
			}
		}
	}
	return pause(when.later)
}

// finish runs prof and kills it at a moment; never at none.
func (p *place) finish(ctx context.Context, when moment, args ...string) result {
	limited, cancel := context.WithTimeout(ctx, tooLong)
	defer cancel()
	cmd := p.command(limited, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = time.Second
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		return result{code: -2, err: err.Error()}
	}
	if when != (moment{}) {
		go func() {
			if p.waitFor(limited, when) {
				_ = cmd.Process.Kill() // it may be done
			}
		}()
	}
	err := cmd.Wait()
	r := result{hung: limited.Err() != nil && ctx.Err() == nil, out: out.String(), err: errs.String()}
	r.sinceWrite = tooLong
	if last := p.written(); last.After(begun) {
		r.sinceWrite = time.Since(last)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss << 10
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.code = exit.ExitCode()
	} else if err != nil {
		r.code = -2
		r.err += err.Error()
	}
	return r
}

// state is what the tables hold of each run, and its tags: a line for each run and table with rows of it.
func (p *place) state(ctx context.Context) (map[string]string, error) {
	list := p.run(ctx, "sql", "--format", "csv", `SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id' AND table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY 1`)
	if list.code != 0 {
		if strings.Contains(list.err, "no warehouse yet") {
			return map[string]string{}, nil
		}
		return nil, fmt.Errorf("list the tables: %s", list)
	}
	var parts []string
	for _, table := range strings.Fields(list.out)[1:] {
		// What differs from ingest to ingest of the same file.
		except := ""
		switch table {
		case "run":
			except = ", created_at"
		case "derivation":
			continue
		}
		parts = append(parts, fmt.Sprintf(`SELECT run_id, '%[1]s' AS t, count(*) AS n, bit_xor(hash(x)) AS h FROM (SELECT * EXCLUDE (run_id%[2]s), run_id FROM %[1]s) x GROUP BY run_id`, table, except))
	}
	got := p.run(ctx, "sql", "--format", "csv", `SELECT coalesce(r.name, 'without a run') AS name, string_agg(concat(t, ' ', n, ' ', h), '; ' ORDER BY t) AS tables FROM (`+
		strings.Join(parts, " UNION ALL ")+`) x LEFT JOIN run r USING (run_id) GROUP BY ALL ORDER BY ALL`)
	if got.code != 0 {
		return nil, fmt.Errorf("read the tables: %s", got)
	}
	state := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(got.out), "\n")[1:] {
		name, tables, _ := strings.Cut(line, ",")
		state[name] = tables
	}
	return state, nil
}

// rowsOf is a state without hashes: two ingests of a file have ids of their own.
func rowsOf(tables string) string {
	parts := strings.Split(strings.Trim(tables, `"`), "; ")
	for i, part := range parts {
		if words := strings.Fields(part); len(words) == 3 {
			parts[i] = words[0] + " " + words[1]
		}
	}
	return strings.Join(parts, "; ")
}

// leftovers are what a command that is done must not leave: all but the warehouse and what the home needs.
func (p *place) leftovers() []string {
	var out []string
	for _, dir := range []string{p.home(), filepath.Join(p.dir, "tmp")} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return []string{err.Error()}
		}
		for _, e := range entries {
			if !slices.Contains([]string{".gitignore", "warehouse.duckdb", "warehouse.duckdb.lock", "runs"}, e.Name()) {
				out = append(out, filepath.Join(filepath.Base(dir), e.Name()))
			}
		}
	}
	return out
}
