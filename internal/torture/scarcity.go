package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// scarcity returns commands too little of something: the size of files (as a full disk), address space or descriptors. They fail with a word
// of why or do their work; the warehouse has the run or does not.
func (l *lab) scarcity(ctx context.Context, n int) (string, error) {
	if n == 0 {
		return "none tried", nil
	}
	if _, err := exec.LookPath("prlimit"); err != nil {
		return "prlimit is not installed", nil
	}
	if _, err := os.Stat(filepath.Join(l.dir, "large.sqlite")); err != nil {
		if err := l.makeLarge(); err != nil {
			return "", err
		}
	}
	captures := l.capturesOf()
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(captures)), func(name string) bool { return name == "kernels" }) // is stored already
	tried := l.each(ctx, n, func(ctx context.Context, trial int, rng *rand.Rand) {
		p, err := l.place("scarce", trial)
		if err != nil {
			l.fail("scarcity %d: %v", trial, err)
			return
		}
		defer os.RemoveAll(p.dir)
		if r := p.run(ctx, append([]string{"ingest", "--run", "kernels"}, captures["kernels"]...)...); r.code != 0 {
			l.fail("scarcity %d: %s", trial, r)
			return
		}
		before, err := p.state(ctx)
		if err != nil {
			l.fail("scarcity %d: %v", trial, err)
			return
		}
		var limit string
		switch rng.IntN(3) {
		case 0:
			limit = fmt.Sprintf("--fsize=%d", 1<<16+rng.Int64N(24<<20))
		case 1:
			limit = fmt.Sprintf("--as=%d", 1<<29+rng.Int64N(4<<30))
		case 2:
			limit = fmt.Sprintf("--nofile=%d", 16+rng.IntN(40))
		}
		name := names[rng.IntN(len(names))]
		verbs := [][]string{
			append([]string{"ingest", "--run", "new"}, captures[name]...), append([]string{"ingest", "--run", "new"}, captures["large"]...),
			{"tag", "kernels", "k=v"}, {"report", "kernels", "--out", p.dir, "--file", "report.html"}, {"show", "kernels"}, {"rm", "kernels"},
		}
		args := verbs[rng.IntN(len(verbs))]
		p.wrap = []string{"prlimit", limit}
		r := p.run(ctx, args...)
		p.wrap = nil
		if r.hung || r.code != 0 && r.err == "" || r.crashed() && limit[:4] != "--as" { // Go and C++ end where the system gives no memory
			l.fail("scarcity %d: %s: %q: %s", trial, limit, args, r)
		}
		if again := p.run(ctx, "tag", "kernels", "after=scarcity"); again.code != 0 && args[0] != "rm" {
			l.fail("scarcity %d: %s: %q, then tag: %s", trial, limit, args, again)
		} else if again.code == 0 {
			if got := p.leftovers(); len(got) > 0 {
				l.fail("scarcity %d: %s: %q left %q", trial, limit, args, got)
			}
		}
		after, err := p.state(ctx)
		if err != nil {
			l.fail("scarcity %d: %s: %q: %v", trial, limit, args, err)
			return
		}
		_, stored := after["new"]
		switch {
		case stored && r.code != 0:
			l.fail("scarcity %d: %s: %q failed and stored a run: %s", trial, limit, args, r)
		case args[0] == "ingest" && !stored && r.code == 0:
			l.fail("scarcity %d: %s: %q stored no run", trial, limit, args)
		case args[0] != "rm" && withoutTags(before["kernels"]) != withoutTags(after["kernels"]):
			l.fail("scarcity %d: %s: %q changed a run", trial, limit, args)
		case after["without a run"] != "":
			l.fail("scarcity %d: %s: %q left rows without a run: %s", trial, limit, args, after["without a run"])
		}
	})
	return fmt.Sprintf("%d commands", tried), nil
}
