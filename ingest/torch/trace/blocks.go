package trace

import (
	"io"
	"sync"
)

// BlockBytes is how many bytes are best parsed at a time: their events stay in a core's cache.
const BlockBytes = 1 << 19

// maxBlockEvents bounds the memory of a block's events: a file of empty objects has one every three bytes.
const maxBlockEvents = 4096

// block is a stretch of the file, with the events that were read from it as though its first byte stood right behind an event. Whether
// it does is known only once all before it was read.
type block struct {
	data   []byte // with room for a byte behind it
	base   int64  // its place in the file
	events []Event
	used   int           // bytes that the events take; a reader that knows where it is goes on from here
	parsed chan struct{} // gets a value once events are there
	err    error         // of the source, behind the data
}

// blocks cuts a file and parses the pieces in several goroutines. They come out in the order of the file.
type blocks struct {
	ordered chan *block
	toParse chan *block
	empty   chan *block
	done    chan struct{}
	now     *block // nil between two
	running sync.WaitGroup
}

func newBlocks(src io.Reader, workers, size int) *blocks {
	count := 2*workers + 2 // as many wait to be parsed, and to be taken
	b := &blocks{ordered: make(chan *block, count), toParse: make(chan *block, count), empty: make(chan *block, count), done: make(chan struct{})}
	for range count {
		b.empty <- &block{parsed: make(chan struct{}, 1)}
	}
	b.running.Go(func() { b.cut(src, size) })
	for range workers {
		b.running.Go(func() {
			for k := range b.toParse {
				k.parse()
				k.parsed <- struct{}{}
			}
		})
	}
	return b
}

// cut reads the file into blocks of so many bytes.
func (b *blocks) cut(src io.Reader, size int) {
	defer close(b.toParse)
	defer close(b.ordered)
	var rest []byte
	base := int64(0)
	for {
		var k *block
		select {
		case k = <-b.empty:
		case <-b.done:
			return
		}
		if k.data == nil { // a small file needs one
			k.data = make([]byte, 0, size+1)
		}
		room := k.data[:size]
		n := copy(room, rest)
		var err error
		for more := 0; n < len(room) && err == nil; n += more {
			more, err = src.Read(room[n:])
		}
		k.data, k.base, k.err = room[:n], base, err
		if err == nil {
			k.data = k.data[:border(k.data)]
		}
		rest = append(rest[:0], room[len(k.data):n]...)
		base += int64(len(k.data))
		b.toParse <- k // has room for all blocks, as ordered has
		b.ordered <- k
		if err != nil {
			return
		}
	}
}

// border returns the place behind what looks like the last event that another one follows. It need not be one: see block.
func border(data []byte) int {
	next := byte(0) // what stands first behind here, blanks aside, and then behind the comma there
	for i := len(data) - 1; i > 0; i-- {
		switch c := data[i]; {
		case class[c] == classSpace:
		case c == ',' && next == '{':
			next = c
		case c == '}' && next == ',':
			return i + 1
		default:
			next = c
		}
	}
	return len(data)
}

// advance goes to the next block. It is not asked behind the last one, which has an error.
func (b *blocks) advance() {
	b.now = <-b.ordered
	<-b.now.parsed
}

// Read returns what is left of the block that b is at, and ends its use with its last byte.
func (b *blocks) Read(p []byte) (n int, err error) {
	n = copy(p, b.now.data[b.now.used:])
	if b.now.used += n; b.now.used == len(b.now.data) {
		err = b.now.err
		b.empty <- b.now
		b.now = nil
	}
	return n, err
}

// stop ends the goroutines and waits for them.
func (b *blocks) stop() {
	close(b.done)
	for range b.ordered {
	}
	b.running.Wait()
}

// parse reads the whole events of the block, up to anything else.
func (k *block) parse() {
	p := parser{b: append(k.data, 0)}
	k.events, k.used = k.events[:0], 0
	for len(k.events) < maxBlockEvents {
		if more, ok := p.element(false); !ok || !more {
			return
		}
		n := len(k.events)
		if n < cap(k.events) {
			k.events = k.events[:n+1] // keeps what the event holds room for
		} else {
			k.events = append(k.events, Event{})
		}
		if !p.event(&k.events[n], k.base) {
			k.events = k.events[:n]
			return
		}
		k.used = p.i
	}
}
