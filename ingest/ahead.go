package ingest

import (
	"context"
	"sync"

	"prof/ingest/load"
)

// What is read ahead waits in memory: captures of up to smallBytes, unpacked, until all that wait are of aheadBytes.
const (
	smallBytes = 8 << 20
	aheadBytes = 32 << 20
)

// reading is a source that is read before it is its turn to be stored.
type reading struct {
	before     stamp
	size       int64 // unpacked, about
	hash       *hashing
	identified *load.SourceInfo
	info       *load.SourceInfo
	target     *load.Target
	err        error // of identifying it where identified is nil, else of reading it
	done       chan struct{}
}

// ahead reads small sources, some at a time.
type ahead struct {
	in     *ingester
	inputs []input
	ctx    context.Context
	cancel context.CancelFunc
	began  int   // of the inputs
	size   int64 // of those in of
	of     map[string]*reading
	wg     sync.WaitGroup
}

func (in *ingester) newAhead(inputs []input) *ahead {
	a := &ahead{in: in, inputs: inputs, of: map[string]*reading{}}
	a.ctx, a.cancel = context.WithCancel(in.ctx)
	return a
}

// reach begins to read the inputs up to some behind the one that is to be stored next.
func (a *ahead) reach(next int) {
	threads := a.in.o.Load.Threads
	if threads < 2 || len(a.inputs) < 2 {
		return
	}
	for ; a.began < min(next+1+threads, len(a.inputs)) && a.size < aheadBytes; a.began++ {
		f := a.inputs[a.began]
		if !f.format.Apart || f.files != nil || f.packed != plainFile && !f.unpacksItself() || a.of[f.path] != nil {
			continue
		}
		before, err := f.stat()
		size := f.unpacked(before.size)
		if err != nil || size > smallBytes { // its own turn says what is wrong
			continue
		}
		a.size += size
		r := &reading{before: before, size: size, hash: startHash(a.ctx, f, ""), target: a.in.target.Apart(), done: make(chan struct{})}
		a.of[f.path] = r
		a.wg.Go(func() {
			defer close(r.done)
			if r.identified, r.err = f.format.Identify(a.ctx, f.path, f.path); r.err == nil {
				r.info, r.err = f.format.Load(a.ctx, f.path, f.path, r.target)
			}
		})
	}
}

// take gives what was read of an input, nil where nothing was.
func (a *ahead) take(f input) *reading {
	r := a.of[f.path]
	if r != nil {
		<-r.done
		a.size -= r.size
		delete(a.of, f.path)
	}
	return r
}

// stop ends the reading.
func (a *ahead) stop() {
	a.cancel()
	a.wg.Wait()
	for _, r := range a.of {
		r.hash.stop()
	}
}
