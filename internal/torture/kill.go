package main

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"prof/internal/exports"
)

// capturesOf are small captures to ingest, by the name of the run that they become.
func (l *lab) capturesOf() map[string][]string {
	at := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(l.repo, "testdata", filepath.FromSlash(n)))
		}
		return out
	}
	return map[string][]string{
		"kernels":   at("nsys/kernels/kernels.sqlite.gz"),
		"node":      at("nsys/variants-node/variants-node.sqlite.gz"),
		"parquet":   at("nsys/variants-node/variants-node_pqtdir"),
		"operators": at("torch/llama-stack.trace.json.gz"),
		"profiled":  at("ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"),
		"ranks":     at("ranks"),
		"large":     {filepath.Join(l.dir, "large.sqlite")},
	}
}

// makeLarge makes a capture that is stored in two transactions, as large ones are.
func (l *lab) makeLarge() error {
	path := filepath.Join(l.dir, "large.sqlite")
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	tables, err := exports.ReadFile(filepath.Join(l.repo, "testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz"))
	if err != nil {
		return err
	}
	return exports.Repeat(path, append(tables, exports.Filler(65<<20)), 1)
}

// kill kills commands at random moments. After each, every run is there as before or as the command leaves it, and the next command that
// writes leaves nothing else behind.
func (l *lab) kill(ctx context.Context, n int) (string, error) {
	if n == 0 {
		return "none tried", nil
	}
	if err := l.makeLarge(); err != nil {
		return "", err
	}
	base, err := l.base(ctx, "kernels", "node")
	if err != nil {
		return "", err
	}
	captures := l.capturesOf()
	names := slices.Sorted(maps.Keys(captures))
	var mu sync.Mutex
	killed, near := 0, 0
	takes := map[string]time.Duration{}
	whole := map[string]string{} // rows of each run that was stored
	tried := l.each(ctx, n, func(ctx context.Context, trial int, rng *rand.Rand) {
		p, err := base.copied("kill", trial)
		if err != nil {
			l.fail("kill %d: %v", trial, err)
			return
		}
		defer os.RemoveAll(p.dir)
		before, err := p.state(ctx)
		if err != nil {
			l.fail("kill %d: before: %v", trial, err)
			return
		}
		name := names[rng.IntN(len(names))]
		verbs := [][]string{
			append([]string{"ingest", "--run", "new", "--tag", "k=v"}, captures[name]...),
			append([]string{"ingest", "--run", "new"}, captures["large"]...),
			append([]string{"ingest", "--run", "new"}, captures["profiled"]...),
			append([]string{"ingest", "--run", "kernels", "--replace"}, captures["kernels"]...),
			{"tag", "kernels", "tried=yes"},
			{"rm", "kernels"},
			{"baseline", "set", "main", "kernels"},
			{"report", "node", "--out", p.dir, "--file", "report.html"},
			{"diff", "kernels", "node", "--out", filepath.Join(p.dir, "diff")},
			{"show", "node"},
			{"explain", "node"},
			{"query", "top-kernels"},
			{"sql", "SELECT count(*) FROM kernels"},
			{"runs"},
		}
		if rng.IntN(2) > 0 {
			verbs = verbs[:7] // those that write
		}
		args := verbs[rng.IntN(len(verbs))]
		key := args[0] + " " + args[len(args)-1]
		mu.Lock()
		took := takes[key]
		mu.Unlock()
		if took == 0 { // the first of its kind is left alone
			start := time.Now()
			r := p.run(ctx, args...)
			if r.crashed() || r.code > 1 {
				l.fail("kill %d: %q left alone: %s", trial, args, r)
			}
			mu.Lock()
			takes[key] = time.Since(start)
			mu.Unlock()
		} else {
			when := moment{after: time.Duration((0.02 + rng.Float64()) * float64(took))}
			if rng.IntN(5) > 0 && slices.Contains([]string{"ingest", "tag", "rm", "baseline"}, args[0]) { // at its first write, or a later one; and soon after, since a small commit is soon done
				when = moment{time.Duration(float64(rng.IntN(2)) * 0.8 * rng.Float64() * float64(took)), true, time.Duration(math.Pow(rng.Float64(), 3) * float64(nearCommit))}
			}
			r := p.finish(ctx, when, args...)
			if r.code == -1 {
				mu.Lock()
				killed++
				if r.sinceWrite < nearCommit {
					near++
				}
				mu.Unlock()
			} else if r.crashed() {
				l.fail("kill %d: %q: %s", trial, args, r)
			}
		}
		if ctx.Err() != nil {
			return
		}
		l.afterKill(ctx, p, trial, args, before, &mu, whole)
	})
	return fmt.Sprintf("%d commands, %d killed in time, %d of these at most %v after a write to the warehouse", tried, killed, near, nearCommit), nil
}

// nearCommit is how soon after a write of the warehouse a kill counts as one near a commit.
const nearCommit = 120 * time.Millisecond

// afterKill looks at what a killed command left.
func (l *lab) afterKill(ctx context.Context, p *place, trial int, args []string, before map[string]string, mu *sync.Mutex, whole map[string]string) {
	// The next command that writes clears what is left.
	if r := p.run(ctx, "tag", "node", "after=kill"); r.code != 0 {
		l.fail("kill %d: %q, then tag: %s", trial, args, r)
		return
	}
	after, err := p.state(ctx)
	if err != nil {
		l.fail("kill %d: %q: %v", trial, args, err)
		return
	}
	if got := p.leftovers(); len(got) > 0 {
		l.fail("kill %d: %q left %q", trial, args, got)
	}
	for name, tables := range after {
		was := before[name]
		changes := args[0] != "ingest" && len(args) > 1 && slices.Contains(args, name) || name == "node" // its tags
		switch {
		case name == "without a run":
			l.fail("kill %d: %q left rows without a run: %s", trial, args, tables)
		case was == tables || changes && withoutTags(was) == withoutTags(tables):
		case name == "new" || slices.Contains(args, "--replace"):
			key := strings.Join(args, " ")
			mu.Lock()
			want, known := whole[key]
			if !known {
				whole[key] = rowsOf(tables)
			}
			mu.Unlock()
			if known && want != rowsOf(tables) {
				l.fail("kill %d: %q left a run with the rows\n%s\nwanted\n%s", trial, args, rowsOf(tables), want)
			}
		default:
			l.fail("kill %d: %q changed run %s:\n%s\n%s", trial, args, name, was, tables)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok && args[0] != "rm" {
			l.fail("kill %d: %q lost run %s", trial, args, name)
		}
	}
	for _, file := range []string{"report.html", "diff"} {
		if b, err := os.ReadFile(filepath.Join(p.dir, file)); err == nil && file == "report.html" && !strings.HasSuffix(strings.TrimSpace(string(b)), "</html>") {
			l.fail("kill %d: %q left half a report of %d bytes", trial, args, len(b))
		}
	}
}

// withoutTags is a state without the tags of the run.
func withoutTags(tables string) string {
	parts := strings.Split(strings.Trim(tables, `"`), "; ")
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return strings.HasPrefix(s, "run_tag ") || strings.HasPrefix(s, "baseline ") }), "; ")
}
