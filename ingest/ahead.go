package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// Sources are read before it is their turn to be stored, and while they are. What waits of their rows is bounded by aheadRows, and by readBytes how
// much of them, unpacked, is read at a time: what their readers keep of it is about half.
const (
	aheadRows = 64 << 20
	readBytes = 512 << 20
)

// smallBytes is the size of a source, unpacked, up to which one goroutine reads it; of others, up to readThreads do.
const (
	smallBytes  = 8 << 20
	readThreads = 4
)

// reading is a source that is read apart.
type reading struct {
	before     stamp
	size       int64 // unpacked, about
	hash       *hashing
	target     *load.Target // nil where it is read as it is stored
	queue      *rows.Queue
	identified *load.SourceInfo
	notKnown   error // of identifying it
	isKnown    chan struct{}
	info       *load.SourceInfo
	err        error // of reading it
	done       chan struct{}
	cancel     context.CancelFunc
}

// ahead reads sources, some at a time.
type ahead struct {
	in     *ingester
	inputs []input
	began  int   // of the inputs
	size   int64 // of those in of
	most   int64 // that size may be
	queues *rows.Queues
	of     map[int]*reading
	turn   atomic.Int64 // which input is stored
}

func (in *ingester) newAhead(inputs []input) *ahead {
	a := &ahead{in: in, inputs: inputs, most: readBytes, of: map[int]*reading{}}
	waiting := aheadRows
	if heap := in.w.Budget.Heap(); heap > 0 {
		a.most, waiting = min(a.most, heap/2), min(waiting, int(heap/16))
	}
	if in.o.isTight {
		a.most = 0
	}
	a.queues = rows.NewQueues(waiting)
	return a
}

// reach begins to read the input that is to be stored next and some behind it.
func (a *ahead) reach(next int) error {
	a.turn.Store(int64(next))
	threads := a.in.o.Load.Threads
	if threads < 2 {
		return nil
	}
	if err := a.in.lookUp(); err != nil {
		return err
	}
	for a.began = max(a.began, next); a.began < min(next+1+threads, len(a.inputs)); a.began++ {
		f := a.inputs[a.began]
		if !f.format.Apart || f.files != nil || f.packed != plainFile && !f.unpacksItself() {
			continue
		}
		before, err := f.stat()
		size := f.unpacked(before.size)
		// Of what may be a repeat the content is hashed first. An error is that of its own turn.
		if _, again := a.in.known.sizes[before.size]; err != nil || again || f.isSpread(size) {
			continue
		}
		if a.began > next && a.size+size > a.most {
			return nil
		}
		a.begin(a.began, f, before, size)
	}
	return nil
}

// begin begins to read an input.
func (a *ahead) begin(i int, f input, before stamp, size int64) {
	o := a.in.o.Load
	if o.Threads = min(o.Threads, readThreads); size <= smallBytes {
		o.Threads = 1
	}
	if p := o.Progress; p != nil {
		phase := a.phase(i)
		o.Progress = func(what string, done, total int64) {
			if a.turn.Load() == int64(i) {
				p(phase+": "+what, done, total)
			}
		}
	}
	ctx, cancel := context.WithCancel(a.in.ctx)
	r := &reading{before: before, size: size, hash: startHash(ctx, f, o.TempDir), target: a.in.target.Apart(a.queues, o), isKnown: make(chan struct{}), done: make(chan struct{}), cancel: cancel}
	r.queue = r.target.Sink.(*rows.Queue)
	a.of[i] = r
	a.size += size
	go func() {
		defer close(r.done)
		r.identified, r.notKnown = f.format.Identify(ctx, f.path, f.path)
		close(r.isKnown)
		if r.err = r.notKnown; r.err == nil {
			r.info, r.err = f.format.Load(ctx, f.path, f.path, r.target)
		}
		r.queue.Ended(r.err)
	}()
}

// phase returns what is done with an input.
func (a *ahead) phase(i int) string {
	if len(a.inputs) > 1 {
		return fmt.Sprintf("reading file %d of %d, %s", i+1, len(a.inputs), filepath.Base(a.inputs[i].path))
	}
	return "reading " + filepath.Base(a.inputs[i].path)
}

// leave ends the reading of an input.
func (a *ahead) leave(i int) {
	if r := a.of[i]; r != nil {
		r.cancel()
		r.queue.Refuse(context.Canceled)
		<-r.done
		r.hash.stop()
		a.size -= r.size
		delete(a.of, i)
	}
}

// stop ends all reading.
func (a *ahead) stop() {
	for i := range a.inputs {
		a.leave(i)
	}
}

// identify returns which capture a source is of.
func (r *reading) identify(ctx context.Context, f input, path string) (*load.SourceInfo, error) {
	if r.target == nil {
		return f.format.Identify(ctx, path, f.path)
	}
	<-r.isKnown
	return r.identified, r.notKnown
}

// load stores the rows of a source.
func (in *ingester) load(f input, path string, r *reading) (*load.SourceInfo, error) {
	if r.target == nil {
		isSpread := f.isSpread(f.unpacked(r.before.size))
		if isSpread {
			if err := in.setThreads(true); err != nil {
				return nil, err
			}
		}
		info, err := f.format.Load(in.ctx, path, f.path, &in.target.Target)
		if isSpread && err == nil {
			err = in.setThreads(false)
		}
		return info, err
	}
	err := in.target.Adopt(in.ctx, r.target)
	<-r.done
	switch {
	case err == nil:
		return r.info, nil
	case r.err != nil && !errors.Is(r.err, err): // its own
		return nil, r.err
	}
	return nil, fmt.Errorf("%s: %w", f.path, err)
}
