package torch

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"

	"prof/internal/file"
)

// open opens a trace, unpacking it when it is gzip.
func open(path string) (*ahead, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	b := bufio.NewReaderSize(f, int(min(st.Size(), 1<<18)))
	if magic, _ := b.Peek(2); len(magic) == 2 && magic[0] == 0x1f && magic[1] == 0x8b {
		z, err := gzip.NewReader(b)
		if err != nil {
			f.Close()
			return nil, err
		}
		return newAhead(z, f, aheadSize), nil
	}
	return newAhead(b, f, int(min(st.Size()+1, aheadSize))), nil
}

// expected is about how many events the file has when so many were in what was read of it; -1 where that cannot be said.
func (a *ahead) expected(events int64) int64 {
	f, ok := a.file.(*os.File)
	if !ok {
		return -1
	}
	at, err := f.Seek(0, io.SeekCurrent)
	st, statErr := f.Stat()
	if err != nil || statErr != nil || at <= 0 || st.Size() < at {
		return -1
	}
	return int64(float64(events) * float64(st.Size()) / float64(at))
}

// ahead unpacks in one goroutine and hashes in another while what they are done with is parsed.
type ahead struct {
	hash              hash.Hash
	read, full, empty chan []byte
	done              chan struct{}
	now, rest         []byte
	err               error
	file              io.Closer
	size              int // of the pieces
}

const (
	aheadSize  = 1 << 19
	aheadCount = 4
)

func newAhead(r io.Reader, file io.Closer, size int) *ahead {
	a := &ahead{hash: sha256.New(), read: make(chan []byte, aheadCount), full: make(chan []byte, aheadCount), empty: make(chan []byte, aheadCount), done: make(chan struct{}), file: file, size: size}
	for range aheadCount {
		a.empty <- nil
	}
	go a.unpack(r)
	go func() {
		defer close(a.full)
		for b := range a.read {
			a.hash.Write(b)
			a.full <- b
		}
	}()
	return a
}

func (a *ahead) unpack(r io.Reader) {
	defer close(a.read)
	for {
		select {
		case <-a.done:
			return
		case b := <-a.empty:
			if b == nil {
				b = make([]byte, a.size)
			}
			n, err := io.ReadAtLeast(r, b[:cap(b)], 1)
			if n > 0 {
				a.read <- b[:n]
			}
			if err != nil {
				a.err = err // looked at after full is closed
				return
			}
		}
	}
}

// Read returns what was read ahead.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.now != nil {
			a.empty <- a.now[:cap(a.now)]
			a.now = nil
		}
		b, ok := <-a.full
		if !ok {
			return 0, a.err
		}
		a.now, a.rest = b, b
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// sum is the SHA-256 of all that there was to read. It is good once Read has given an error.
func (a *ahead) sum() string { return hex.EncodeToString(a.hash.Sum(nil)) }

// Close ends the reading ahead.
func (a *ahead) Close() error {
	close(a.done)
	for range a.full {
	}
	return a.file.Close()
}
