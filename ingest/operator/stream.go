package operator

import (
	"errors"
	"sync"
)

// stream hands the calls that a function emits to the threads that store them, in pieces, so that they are never all in memory.
type stream struct {
	run    func(emit func(*Call[Op]) error) error
	once   sync.Once
	full   chan []Call[Op]
	empty  chan []Call[Op]
	done   chan struct{}
	ended  chan struct{}
	err    error // read after full is closed
	making []Call[Op]
}

const (
	pieceSize  = 2048 // no more than a chunk holds
	pieceCount = 6
)

var errStopped = errors.New("storing operators has ended")

func newStream(run func(emit func(*Call[Op]) error) error) *stream {
	s := &stream{run: run, full: make(chan []Call[Op], pieceCount), empty: make(chan []Call[Op], pieceCount), done: make(chan struct{}), ended: make(chan struct{})}
	for range pieceCount {
		s.empty <- nil // it grows: most sources fill none
	}
	return s
}

// next returns the next piece, empty at the end.
func (s *stream) next() ([]Call[Op], error) {
	s.once.Do(func() { go s.make() })
	piece, ok := <-s.full
	if !ok {
		return nil, s.err
	}
	return piece, nil
}

// giveBack lets a piece be filled again.
func (s *stream) giveBack(piece []Call[Op]) {
	if cap(piece) > 0 {
		s.empty <- piece[:0]
	}
}

func (s *stream) make() {
	defer close(s.ended)
	defer close(s.full)
	s.err = s.run(s.emit)
	if s.err == nil && len(s.making) > 0 {
		s.err = s.send()
	}
}

func (s *stream) emit(c *Call[Op]) error {
	if s.making == nil {
		select {
		case s.making = <-s.empty:
		case <-s.done:
			return errStopped
		}
	}
	s.making = append(s.making, *c)
	if len(s.making) == pieceSize {
		return s.send()
	}
	return nil
}

func (s *stream) send() error {
	select {
	case s.full <- s.making:
		s.making = nil
		return nil
	case <-s.done:
		return errStopped
	}
}

// stop ends the making, and waits until it has ended.
func (s *stream) stop() {
	close(s.done)
	s.once.Do(func() { close(s.ended) })
	<-s.ended
}
