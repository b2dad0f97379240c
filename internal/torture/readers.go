package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// pace is what a crowd of readers of a server is held to.
type pace struct {
	readers      int
	long         time.Duration
	p99, slowest time.Duration
}

// hot are questions that a server answers in a few milliseconds: many readers ask the same, and a number makes it another one.
var hot = []string{"/api/v1/runs/kernels/queries/top-kernels?top=%d", "/api/v1/runs/kernels/queries/longest-gaps?top=%d", "/api/v1/runs/kernels/queries/top-kernels?format=csv&top=%d", "/api/v1/runs?limit=%d"}

// readers has many ask a server one hot question a second each, while two writers ingest and remove runs: each gets its answer soon, and the same as before.
func (l *lab) readers(ctx context.Context, pace pace) (string, error) {
	if pace.long == 0 {
		return "none tried", nil
	}
	p, err := l.base(ctx, "kernels")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(p.dir)
	s, err := p.serve(ctx)
	if err != nil {
		return "", err
	}
	before := s.descriptors()
	var mu sync.Mutex
	var alone, took []time.Duration
	first := map[string]string{} // the answer to each question about the run
	ask := func(path string, out *[]time.Duration) {
		begun := time.Now()
		text, status, err := s.get(ctx, path)
		lasted := time.Since(begun)
		if ctx.Err() != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		*out = append(*out, lasted)
		was, known := first[path]
		switch {
		case err != nil || status != http.StatusOK:
			l.fail("readers: %s: %d, %v: %.300s", path, status, err, text)
		case !strings.HasPrefix(path, "/api/v1/runs/"): // it lists what is there
		case !known:
			first[path] = text
		case was != text:
			l.fail("readers: %s: %.300q, before %.300q", path, text, was)
		}
	}
	for i := range 10 * len(hot) {
		ask(fmt.Sprintf(hot[i%len(hot)], 300+i), &alone)
	}
	end := time.Now().Add(pace.long)
	var wrote atomic.Int64
	var wait sync.WaitGroup
	for _, name := range []string{"node", "operators"} {
		wait.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				for _, args := range [][]string{append([]string{"ingest", "--run", name}, l.capturesOf()[name]...), {"rm", name}} {
					if r := p.run(ctx, args...); r.code != 0 && ctx.Err() == nil {
						l.fail("readers: %q: %s", args[:2], r)
					}
					wrote.Add(1)
				}
			}
		})
	}
	for reader := range pace.readers {
		wait.Go(func() {
			rng := l.rng(reader)
			next := time.Now().Add(time.Duration(rng.Float64() * float64(time.Second)))
			for ; next.Before(end) && ctx.Err() == nil; next = next.Add(time.Second) { // who waits for an answer asks the next one late
				time.Sleep(time.Until(next))
				ask(fmt.Sprintf(hot[rng.IntN(len(hot))], 1+rng.IntN(10)), &took)
			}
		})
	}
	wait.Wait()
	more := s.holds(before)
	r := s.end()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if r.crashed() || r.code != 0 {
		l.fail("readers: the server: %s", r)
	}
	if more > 0 {
		l.fail("readers: the server has %d more open files than before", more)
	}
	if got := p.leftovers(); len(got) > 0 {
		l.fail("readers: left %q", got)
	}
	slices.Sort(took)
	slices.Sort(alone)
	p99, slowest := took[len(took)*99/100], took[len(took)-1]
	if p99 > pace.p99 || slowest > pace.slowest {
		l.fail("readers: 99 %% within %v and the slowest %v, not within %v and %v", p99, slowest, pace.p99, pace.slowest)
	}
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return fmt.Sprintf("%d answers beside %d commands that wrote: half within %v (alone %v), 99 %% within %v, slowest %v; %d MB of memory",
		len(took), wrote.Load(), ms(took[len(took)/2]), ms(alone[len(alone)/2]), ms(p99), ms(slowest), r.memory>>20), nil
}

// get asks the server.
func (s *server) get(ctx context.Context, path string) (text string, status int, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return "", 0, err
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return string(b), answer.StatusCode, err
}
