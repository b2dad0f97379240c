package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// bar shows on a terminal how far a long step is. Its methods are safe for concurrent use.
type bar struct {
	w     io.Writer // nil: not a terminal, show nothing
	start time.Time
	mu    sync.Mutex
	last  time.Time
	drawn bool
}

func (p *program) newBar() *bar {
	b := &bar{start: time.Now()}
	if isTerminal(p.err) {
		b.w = p.err
	}
	return b
}

// show draws at most ten times a second, and nothing in the first half second, which short work never outlives.
func (b *bar) show(what string, done, total int64) {
	if b.w == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.start) < time.Second/2 || now.Sub(b.last) < time.Second/10 {
		return
	}
	b.last, b.drawn = now, true
	const width = 24
	fill := 0
	if total > 0 {
		fill = int(min(done, total) * width / total)
	}
	fmt.Fprintf(b.w, "\r\x1b[K%s%s %s %d rows", strings.Repeat("█", fill), strings.Repeat("░", width-fill), what, done)
}

func (b *bar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn {
		fmt.Fprint(b.w, "\r\x1b[K")
	}
}
