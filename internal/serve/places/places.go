// Package places shares out what only so many may have at a time, so that one client does not take all of it from the others.
package places

import (
	"context"
	"sync"
)

// Places are so many, of which a client holds some at most.
type Places struct {
	all, each int

	mu    sync.Mutex
	taken int
	by    map[string]int
	freed chan struct{} // closed when a place is given back
}

// New makes places. At least one is there, and for each client.
func New(all, each int) *Places {
	all = max(1, all)
	return &Places{all: all, each: min(all, max(1, each)), by: map[string]int{}, freed: make(chan struct{})}
}

// Try takes a place for a client, until leave, if there is one.
func (p *Places) Try(client string) (leave func(), ok bool) {
	leave, _ = p.take(client)
	return leave, leave != nil
}

// Wait takes a place for a client, until leave, when there is one.
func (p *Places) Wait(ctx context.Context, client string) (leave func(), err error) {
	for {
		leave, freed := p.take(client)
		if leave != nil {
			return leave, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take takes a place, or says when to try again.
func (p *Places) take(client string) (leave func(), freed chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == p.all || p.by[client] == p.each {
		return nil, p.freed
	}
	p.taken++
	p.by[client]++
	return sync.OnceFunc(func() { p.leave(client) }), nil
}

func (p *Places) leave(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[client]--; p.by[client] == 0 {
		delete(p.by, client)
	}
	close(p.freed)
	p.freed = make(chan struct{})
}

type clientKey struct{}

// WithClient says in a context who asks.
func WithClient(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

// Client is who asks; "" where nobody said it, as where there is one client only.
func Client(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}
