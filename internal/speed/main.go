// Command speed compares what this tree's prof takes with what that of the commit takes that the change goes in on, and fails where it takes more CPU
// time or cannot store a capture. .ci/run calls it; `go run ./internal/speed REVISION` compares with another commit, and -size with large captures.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// errAcceptable is in each error that PROF_SPEED_OK accepts.
var errAcceptable = errors.New("where this is meant to be, PROF_SPEED_OK=1 goes on")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	if errors.Is(err, errAcceptable) && os.Getenv("PROF_SPEED_OK") != "" {
		fmt.Println("accepted, as PROF_SPEED_OK is set:", err)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	sizes, isWhole, base := options(args)
	var err error
	if base == "" {
		base, err = parent(ctx)
	}
	if err != nil {
		fmt.Println("skipped:", err)
		return nil
	}
	dir, err := os.MkdirTemp("", "prof-speed-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	old := filepath.Join(dir, "old")
	if err := checkOut(ctx, base, old); err != nil {
		return err
	}
	both := [2]prof{{filepath.Join(dir, "before"), filepath.Join(dir, "home-before")}, {filepath.Join(dir, "now"), filepath.Join(dir, "home-now")}}
	for i, tree := range []string{old, "."} {
		if err := build(ctx, tree, both[i].path, "."); err != nil {
			return err
		}
	}
	if same, err := equal(both[0].path, both[1].path); same && !isWhole || err != nil {
		fmt.Println("skipped: the program is that of", base)
		return err
	}
	r := repeater(filepath.Join(dir, "repeat"))
	if err := build(ctx, ".", string(r), "./internal/repeat"); err != nil {
		return err
	}
	if isWhole {
		return sizes.compare(ctx, both, r, dir, base)
	}
	slower := compareCPU(ctx, both, r, dir, base)
	if err := sizes.compare(ctx, both, r, dir, base); err != nil {
		return err // that one PROF_SPEED_OK does not accept
	}
	return slower
}

// compareCPU measures CPU time until it is sure.
func compareCPU(ctx context.Context, both [2]prof, r repeater, dir, base string) error {
	inputs := map[string]string{}
	for name, copies := range map[string]int{"llama-graph-node": 6, "emit-nvtx": 100} {
		inputs[name] = filepath.Join(dir, name+".sqlite")
		if err := r.repeat(ctx, filepath.Join("testdata", "nsys", name, name+".sqlite.gz"), copies, inputs[name]); err != nil {
			return err
		}
	}
	rows, err := measure(ctx, both, steps(inputs))
	if err != nil {
		return err
	}
	fmt.Printf("CPU seconds, compared with %s:\n%s", base, rows)
	if n := len(rows.slower()); n > 0 {
		return fmt.Errorf("%d of the rows above are slower: most pairs took over %.1f %% more CPU now; %w", n, 100*tolerance/2, errAcceptable)
	}
	return nil
}

// repeater is the program of internal/repeat. What is large in it is not in this process: Linux counts the peak of the process that starts a program
// as the program's own.
type repeater string

func (r repeater) repeat(ctx context.Context, from string, copies int, to string) error {
	return r.run(ctx, from, strconv.Itoa(copies), to)
}

func (r repeater) run(ctx context.Context, args ...string) error {
	_, err := output(exec.CommandContext(ctx, string(r), args...))
	return err
}

// parent is the newest commit of the main branch that the change rests on; on that branch HEAD where files differ from it, else its parent.
func parent(ctx context.Context) (string, error) {
	head, err := git(ctx, "rev-parse", "--short", "HEAD")
	if err != nil {
		return "", err
	}
	for _, branch := range []string{"origin/HEAD", "origin/main", "main"} {
		if at, err := git(ctx, "merge-base", "HEAD", branch); err == nil && !strings.HasPrefix(at, head) {
			return git(ctx, "rev-parse", "--short", at)
		}
	}
	if changes, err := git(ctx, "status", "--porcelain"); changes != "" || err != nil {
		return head, err
	}
	before, err := git(ctx, "rev-parse", "--short", "--verify", "HEAD~1")
	if err != nil {
		return "", fmt.Errorf("HEAD has no parent here; a shallow clone needs two commits: %w", err)
	}
	return before, nil
}

func git(ctx context.Context, args ...string) (string, error) {
	out, err := output(exec.CommandContext(ctx, "git", args...))
	return strings.TrimSpace(string(out)), err
}

// output runs a command; its error has what the command said.
func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// checkOut writes the files of a commit into a folder; unlike a worktree it leaves nothing in .git.
func checkOut(ctx context.Context, revision, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	if _, err := git(ctx, "archive", "--format=tar", "--output="+dir+".tar", revision); err != nil {
		return err
	}
	_, err := output(exec.CommandContext(ctx, "tar", "-x", "-f", dir+".tar", "-C", dir))
	return err
}

// build builds without paths and the commit, so that packages without changes are in the cache and programs without changes are equal.
func build(ctx context.Context, tree, to, what string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", to, what)
	cmd.Dir = tree
	_, err := output(cmd)
	return err
}

func equal(a, b string) (bool, error) {
	x, errX := sum(a)
	y, errY := sum(b)
	return bytes.Equal(x, y), errors.Join(errX, errY)
}

func sum(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}

// prof is a built program and where its warehouses are.
type prof struct{ path, homes string }

// step is a command that is measured, and the run that it stores or reads, which has a warehouse of its own.
type step struct {
	run  string
	args []string
}

// cpu runs the program and gives its CPU time, of user and system. What is stored is stored into a new warehouse.
func (p prof) cpu(ctx context.Context, s step) (time.Duration, error) {
	home := filepath.Join(p.homes, s.run)
	if s.isIngest() {
		if err := os.RemoveAll(home); err != nil {
			return 0, err
		}
	}
	took, err := p.exec(ctx, home, 0, s.args...)
	return took.cpu, err
}

func (s step) isIngest() bool { return s.args[0] == "ingest" }

// steps are the commands that are measured, in turn: what stores, then what is asked of it.
func steps(inputs map[string]string) []step {
	var out []step
	for _, name := range []string{"llama-graph-node", "emit-nvtx"} {
		out = append(out, step{name, []string{"ingest", "--run", name, inputs[name]}})
	}
	for _, name := range []string{"top-kernels", "stage-kernels", "ranges", "range-kernels", "launches", "api-calls"} {
		out = append(out, step{"llama-graph-node", []string{"query", name, "--run", "llama-graph-node"}})
	}
	for _, name := range []string{"llama-graph-node", "emit-nvtx"} {
		out = append(out, step{name, []string{"show", name}})
	}
	return out
}

// measure runs what is undecided, round by round: in each both programs run a step, now one first, now the other.
func measure(ctx context.Context, both [2]prof, steps []step) (rows, error) {
	var out rows
	for _, s := range steps {
		of := s.args[1]
		if s.isIngest() {
			of = s.run
		}
		out = append(out, row{verb: s.args[0], of: of})
	}
	out = append(out, row{verb: "query and show,", of: "all"})
	all := &out[len(steps)]
	for round := 0; slices.ContainsFunc(out, func(r row) bool { return r.verdict() == undecided }); round++ {
		isForAll := all.verdict() == undecided
		var sum pair
		for at, s := range steps {
			if out[at].verdict() != undecided && (s.isIngest() || !isForAll) {
				continue
			}
			var took pair
			for i := range both {
				i = (i + round) % 2
				var err error
				took[i], err = both[i].cpu(ctx, s)
				if err != nil && i == 0 {
					return nil, fmt.Errorf("the program before the change: %w; %w", err, errAcceptable)
				}
				if err != nil {
					return nil, err
				}
				if !s.isIngest() {
					sum[i] += took[i]
				}
			}
			out[at].pairs = append(out[at].pairs, took)
		}
		if isForAll {
			all.pairs = append(all.pairs, sum)
		}
	}
	return out, nil
}
