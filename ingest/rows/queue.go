package rows

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// Queues are the queues of sources that are read at a time, which together hold no more than so many bytes: who reads on waits until the first
// of them is stored.
type Queues struct {
	mu      sync.Mutex
	changed *sync.Cond
	most    int
	held    int // bytes of all
	spare   []scratch
}

// NewQueues returns room for about most bytes of rows, and for some more of the source that is stored.
func NewQueues(most int) *Queues {
	q := &Queues{most: most}
	q.changed = sync.NewCond(&q.mu)
	return q
}

// Held is how many bytes wait in the queues.
func (q *Queues) Held() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.held
}

// Queue is a Sink that passes rows on to another one, in the order in which they come, while more are read. One goroutine fills it and one
// empties it.
type Queue struct {
	of   *Queues
	idle func() // called while rows are read
	work scratch

	held    int // bytes
	isFirst bool
	steps   []Step
	isEnded bool  // no more steps come
	err     error // of who fills it: after it nothing is passed on
	refused error // of who empties it
}

// Step is what a Queue passes on: the beginning of a table, some of its rows, or its end; or what Lean asked for.
type Step struct {
	Kind     StepKind
	Table    string
	Columns  []Column
	Estimate int64
	Piece    Piece
	Rows     [][]any
	Room     int
	size     int
}

// StepKind is a kind of step.
type StepKind uint8

// The kinds of steps.
const (
	Begin     StepKind = iota // of a table, with Columns where pieces follow
	Some                      // a piece or rows
	End                       // of the table
	Lean                      // with Room
	EndOfLean                 // what Lean asked for holds no longer
)

// New makes a queue. idle is called now and then while rows are read; it may be nil.
func (q *Queues) New(idle func()) *Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	queue := &Queue{of: q, idle: idle}
	if n := len(q.spare); n > 0 {
		queue.work, q.spare = q.spare[n-1], q.spare[:n-1]
	}
	return queue
}

// First says that it is this queue's turn to be emptied: it need not wait for others.
func (q *Queue) First() {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	q.isFirst = true
	q.of.changed.Broadcast()
}

// put adds a step, once there is room for it.
func (q *Queue) put(s Step) error {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	for q.refused == nil && q.of.held+s.size > q.of.most && q.of.held > 0 && !(q.isFirst && q.held <= q.of.most/8) {
		q.of.changed.Wait()
	}
	if q.refused != nil || q.err != nil {
		return q.refused
	}
	q.steps = append(q.steps, s)
	q.held, q.of.held = q.held+s.size, q.of.held+s.size
	q.of.changed.Broadcast()
	return nil
}

// Next takes the next step; false when the last one was taken, with the error that ended them.
func (q *Queue) Next() (Step, bool, error) {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	for len(q.steps) == 0 && !q.isEnded {
		q.of.changed.Wait()
	}
	if len(q.steps) == 0 {
		return Step{}, false, q.err
	}
	s := q.steps[0]
	q.steps[0] = Step{}
	q.steps = q.steps[1:]
	q.held, q.of.held = q.held-s.size, q.of.held-s.size
	q.of.changed.Broadcast()
	return s, true, nil
}

// Ended says that no more steps come, and why where that is an error.
func (q *Queue) Ended(err error) {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	if q.isEnded = true; err != nil {
		q.err = err
	}
	q.of.spare, q.work = append(q.of.spare, q.work), nil
	q.of.changed.Broadcast()
}

// Refuse takes no more: what it holds is forgotten, and who fills it gets the error.
func (q *Queue) Refuse(err error) {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	q.refused = err
	q.of.held -= q.held
	q.steps, q.held = nil, 0
	q.of.changed.Broadcast()
}

// broken notes the error of a table whose end does not come, and returns it.
func (q *Queue) broken(err error) error {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	q.err = err
	return err
}

// Append passes on whole rows.
func (q *Queue) Append(ctx context.Context, table string, each func(add Add) error) (n int64, err error) {
	if err := q.put(Step{Kind: Begin, Table: table}); err != nil {
		return 0, err
	}
	s := Step{Kind: Some}
	pass := func() error {
		full := s
		s = Step{Kind: Some}
		return q.put(full)
	}
	err = each(func(values ...any) error {
		n++
		s.Rows = append(s.Rows, slices.Clone(values))
		s.size += rowBytes(values)
		if len(s.Rows) < ChunkRows && s.size < pieceBytes {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return pass()
	})
	if err == nil && len(s.Rows) > 0 {
		err = pass()
	}
	if err != nil {
		return n, q.broken(fmt.Errorf("store %s: %w", table, err))
	}
	return n, q.put(Step{Kind: End})
}

// pieceBytes is how large rows become before they are passed on.
const pieceBytes = 1 << 20

// rowBytes is about what a row takes.
func rowBytes(values []any) int {
	size := 24 * len(values)
	for _, v := range values {
		if s, isText := v.(string); isText {
			size += len(s)
		}
	}
	return size
}

// Insert passes rows on.
func (q *Queue) Insert(ctx context.Context, table string, rows Rows) (n int64, err error) {
	columns := rows.Columns()
	if err := q.put(Step{Kind: Begin, Table: table, Columns: columns, Estimate: rows.Estimate()}); err != nil {
		return 0, err
	}
	if n, err = q.pass(ctx, columns, rows); err != nil {
		return n, q.broken(err)
	}
	return n, q.put(Step{Kind: End})
}

func (q *Queue) pass(ctx context.Context, columns []Column, rows Rows) (n int64, err error) {
	defer Recovered(&err)
	for c, w := q.work.chunk(columns), rows.Worker(); ctx.Err() == nil; {
		if q.idle != nil {
			q.idle()
		}
		c.reset()
		k, err := w.Fill(&c)
		if k == 0 || err != nil {
			return n, err
		}
		n += int64(k)
		p := c.copied(k)
		if err := q.put(Step{Kind: Some, Piece: p, size: p.bytes()}); err != nil {
			return n, err
		}
	}
	return n, ctx.Err()
}

// Lean passes on what is asked for.
func (q *Queue) Lean(room int) (restore func() error) {
	_ = q.put(Step{Kind: Lean, Room: room}) // the next rows get the error
	return func() error { return q.put(Step{Kind: EndOfLean}) }
}
