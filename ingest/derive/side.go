package derive

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"prof/schema"
)

// side derives facts on several connections side by side, each once what it is made of is there.
func (d *derivation) side(facts []*fact, conns []schema.SQL) error {
	ctx, fail := context.WithCancelCause(d.ctx)
	defer fail(nil)
	s := sides{derivation: d, ctx: ctx, free: make(chan schema.SQL, len(conns)), ready: map[string]chan struct{}{}}
	for _, c := range conns {
		s.free <- c
	}
	for _, f := range facts {
		s.ready[f.Name] = make(chan struct{})
	}
	var working sync.WaitGroup
	for _, f := range facts {
		working.Go(func() {
			if err := s.put(f); err != nil {
				fail(err)
				return
			}
			close(s.ready[f.Name])
		})
	}
	working.Wait()
	return context.Cause(ctx)
}

// sides is a derivation on several connections.
type sides struct {
	*derivation
	ctx   context.Context
	free  chan schema.SQL
	ready map[string]chan struct{} // closed once a fact or a step is there
	mu    sync.Mutex               // of derivation.has
}

// put derives a fact or a step once what it reads from is there, unless something that it needs has no rows.
func (s *sides) put(f *fact) error {
	for _, names := range [][]string{f.reads, f.needed()} {
		for _, name := range names {
			if ready := s.ready[name]; ready != nil && name != f.Name {
				select {
				case <-ready:
				case <-s.ctx.Done():
					return context.Cause(s.ctx)
				}
			}
		}
	}
	compute, err := s.with(func(d *derivation) (computation, error) {
		if err := d.make(f); err != nil || !s.hasNeeds(f) {
			return nil, err
		}
		return d.fill(f)
	})
	if err != nil || compute == nil {
		return err
	}
	rows, err := compute(s.ctx)
	if err != nil {
		return fmt.Errorf("derive %s: %w", f.Name, err)
	}
	_, err = s.with(func(d *derivation) (computation, error) { return nil, d.insertAll(f, rows) })
	return err
}

// with does something on a connection.
func (s *sides) with(do func(d *derivation) (computation, error)) (computation, error) {
	select {
	case q := <-s.free:
		defer func() { s.free <- q }()
		d := *s.derivation
		d.ctx, d.q, d.has, d.made = s.ctx, q, map[string]bool{}, map[string]bool{}
		compute, err := do(&d)
		s.mu.Lock()
		defer s.mu.Unlock()
		for name, has := range d.has {
			s.has[name] = s.has[name] || has
		}
		return compute, err
	case <-s.ctx.Done():
		return nil, context.Cause(s.ctx)
	}
}

// hasNeeds reports whether all that a fact or a step needs has rows.
func (s *sides) hasNeeds(f *fact) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, needs := range f.Needs {
		has := false
		for name := range strings.SplitSeq(needs, "|") {
			has = has || s.has[name]
		}
		if !has {
			return false
		}
	}
	return true
}
