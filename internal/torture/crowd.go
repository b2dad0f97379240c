package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// crowd has writers and readers use one warehouse at once for a while: each writer gets its turn, and each reader sees whole runs.
func (l *lab) crowd(ctx context.Context, long time.Duration) (string, error) {
	if long == 0 {
		return "none tried", nil
	}
	p, err := l.place("crowd", 0)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(p.dir)
	captures := l.capturesOf()
	kinds := []string{"kernels", "node", "operators", "ranks"}
	// What each of them stores, and a run that stays.
	want := map[string]string{}
	for _, kind := range kinds {
		if r := p.run(ctx, append([]string{"ingest", "--run", kind + "-0"}, captures[kind]...)...); r.code != 0 {
			return "", fmt.Errorf("ingest: %s", r)
		}
		want[kind] = p.kernels(ctx, kind+"-0").out
		if kind != "kernels" {
			if r := p.run(ctx, "rm", kind+"-0"); r.code != 0 {
				return "", fmt.Errorf("rm: %s", r)
			}
		}
	}
	end := time.Now().Add(long)
	var wrote, read atomic.Int64
	var wait sync.WaitGroup
	for _, kind := range kinds[1:] {
		wait.Go(func() {
			for i := 1; time.Now().Before(end) && ctx.Err() == nil; i++ {
				name := fmt.Sprintf("%s-%d", kind, i)
				for _, args := range [][]string{append([]string{"ingest", "--run", name}, captures[kind]...), {"tag", name, "a=b"}, {"rm", name}} {
					if r := p.run(ctx, args...); r.code != 0 && ctx.Err() == nil {
						l.fail("crowd: %q: %s", args[:2], r)
					}
					wrote.Add(1)
				}
			}
		})
	}
	for range 4 {
		wait.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				for _, kind := range kinds {
					r := p.run(ctx, "runs", "--format", "csv")
					read.Add(1)
					if ctx.Err() != nil {
						return
					}
					if r.code != 0 {
						l.fail("crowd: runs: %s", r)
						continue
					}
					for _, line := range strings.Split(r.out, "\n") {
						name, _, _ := strings.Cut(line, ",")
						if !strings.HasPrefix(name, kind+"-") {
							continue
						}
						got := p.kernels(ctx, name)
						read.Add(1)
						if got.code == 0 && got.out != want[kind] && got.out != "n,h\n0,\n" && ctx.Err() == nil { // it may have been removed meanwhile
							l.fail("crowd: run %s has the kernels %q, not %q", name, got.out, want[kind])
						} else if got.code != 0 && ctx.Err() == nil {
							l.fail("crowd: kernels of %s: %s", name, got)
						}
					}
				}
			}
		})
	}
	wait.Wait()
	if ctx.Err() == nil {
		if r := p.run(ctx, "tag", "kernels-0", "done=yes"); r.code != 0 {
			l.fail("crowd: at the end: %s", r)
		}
		if got := p.leftovers(); len(got) > 0 {
			l.fail("crowd: left %q", got)
		}
	}
	return fmt.Sprintf("%d commands wrote, %d read", wrote.Load(), read.Load()), nil
}

// kernels counts a run's kernels and adds up what they are.
func (p *place) kernels(ctx context.Context, run string) result {
	return p.run(ctx, "sql", "--format", "csv", fmt.Sprintf(`SELECT count(*) AS n, bit_xor(hash(kernel, start_ns, duration_ns)) AS h FROM kernels WHERE run = '%s'`, run))
}
