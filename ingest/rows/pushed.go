package rows

import (
	"errors"
	"sync"
)

// errStopped ends a function whose rows are asked for no more.
var errStopped = errors.New("storing rows has ended")

// Push gives the place of the next row: a chunk and the row in it, which is written before the next call.
type Push func() (c *Chunk, n int, err error)

// Pushed are rows that a function writes one after another. It works in a goroutine of its own while they are stored, and has ended when
// Stop returns.
type Pushed struct {
	columns []Column
	run     func(next Push) error

	once  sync.Once
	empty chan *Chunk   // to the function
	full  chan int      // rows written, back
	done  chan struct{} // nobody asks any more
	ended chan struct{}
	err   error // of the function, once ended
}

// NewPushed returns the rows that run writes.
func NewPushed(columns []Column, run func(next Push) error) *Pushed {
	return &Pushed{columns: columns, run: run, empty: make(chan *Chunk), full: make(chan int), done: make(chan struct{}), ended: make(chan struct{})}
}

// Columns are those that run writes.
func (p *Pushed) Columns() []Column { return p.columns }

// Estimate is not known.
func (p *Pushed) Estimate() int64 { return -1 }

// Threads is the one that takes the rows.
func (p *Pushed) Threads() int { return 1 }

// Worker takes the rows.
func (p *Pushed) Worker() Worker { return PullFunc(p.fill) }

func (p *Pushed) fill(c *Chunk) (int, error) {
	p.once.Do(func() { go p.push() })
	select {
	case p.empty <- c:
	case <-p.ended:
		return 0, p.err
	}
	select {
	case n := <-p.full:
		return n, nil
	case <-p.ended:
		return 0, p.err
	}
}

func (p *Pushed) push() {
	defer close(p.ended)
	var c *Chunk
	n := 0
	flush := func() error {
		select {
		case p.full <- n:
			c, n = nil, 0
			return nil
		case <-p.done:
			return errStopped
		}
	}
	p.err = p.run(func() (*Chunk, int, error) {
		if c != nil && n == c.Cap() {
			if err := flush(); err != nil {
				return nil, 0, err
			}
		}
		if c == nil {
			select {
			case c = <-p.empty:
			case <-p.done:
				return nil, 0, errStopped
			}
		}
		n++
		return c, n - 1, nil
	})
	if p.err == nil && n > 0 {
		p.err = flush()
	}
}

// Stop ends the function where its rows were not all taken, and waits for its end.
func (p *Pushed) Stop() {
	started := true
	p.once.Do(func() { started = false })
	close(p.done)
	if started {
		<-p.ended
	}
}
