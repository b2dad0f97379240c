// Package xla reads the .xplane.pb files of XLA's profiler, as jax.profiler writes them: an XSpace of OpenXLA's xplane.proto.
//
// Work on the streams of GPUs, the API calls that launched it, Python functions and annotations become events in the terms of the PyTorch
// profiler, whose package stores them. Times there are picoseconds; here they are nanoseconds, of which GPUs' are whole ones.
package xla

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"prof/ingest/load"
	"prof/ingest/torch"
	"prof/ingest/torch/trace"
	"prof/internal/file"
	"prof/internal/suggest"
)

// MaxBytes bounds a file, unpacked.
const MaxBytes = 1 << 30

// ErrSyntax is wrapped by errors for what is no XSpace; they name the byte.
var ErrSyntax = errors.New("not an XSpace of XLA's profiler")

// ErrNoWork is wrapped by the error for a profile without work on a GPU, such as one of TPUs.
var ErrNoWork = errors.New("it has no streams of a GPU and no API calls")

// Sniff knows such a file by its name: a message of protobuf has no mark.
func Sniff(name string, _ []byte) bool { return strings.HasSuffix(name, ".xplane.pb") }

// Identify returns the file's identity.
func Identify(_ context.Context, path, name string) (*load.SourceInfo, error) {
	s, done, err := open(path, name)
	if err != nil {
		return nil, err
	}
	defer done()
	return &load.SourceInfo{CaptureID: s.capture()}, nil
}

// open reads the planes of a file, which stays open until done: names come behind the events that have them.
func open(path, name string) (s *space, done func() error, err error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, nil, err
	}
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(f, MaxBytes+1))
	if err == nil && size > MaxBytes {
		err = file.TooLarge(path, MaxBytes)
	}
	if err == nil {
		if s, err = readSpace(&source{in: f, size: size}); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	s.sum = hex.EncodeToString(sum.Sum(nil))
	return s, f.Close, nil
}

// Load stores the file.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	s, done, err := open(path, name)
	if err != nil {
		return nil, err
	}
	defer done()
	stop := func() {}
	defer func() { stop() }()
	info, err := torch.LoadEvents(ctx, name, t, func() (torch.Events, error) {
		stop()
		e := newStream(s)
		stop = e.stop
		return e, nil
	}, "push_pop")
	if errors.Is(err, torch.ErrNoEvents) {
		return nil, fmt.Errorf("%s: %w; planes: %s", name, ErrNoWork, cmp.Or(suggest.List(s.names(), mostNamed), "none with lines"))
	}
	if err != nil {
		return nil, err
	}
	info.CaptureID, info.SHA256 = s.capture(), s.sum
	return info, nil
}

// mostNamed is how many planes a message names.
const mostNamed = 10

// capture names the profile.
func (s *space) capture() string { return fmt.Sprint("xla ", s.started, " ", s.sum[:16]) }

// names are the planes that hold events.
func (s *space) names() (out []string) {
	for i := range s.planes {
		if s.planes[i].lines > 0 {
			out = append(out, cmp.Or(s.planes[i].name, "one without a name"))
		}
	}
	return out
}

// stream is the file's events as package torch takes them.
type stream struct {
	next   func() (*trace.Event, error, bool)
	stop   func()
	header trace.Header
	events int64
}

func newStream(s *space) *stream {
	e := &stream{}
	e.header.BaseTime = s.base()
	for i := range s.planes {
		if d := s.planes[i].device(); d != nil {
			e.header.Devices = append(e.header.Devices, *d)
		}
	}
	for _, said := range s.said {
		e.header.Say(said.Severity, said.Text)
	}
	e.next, e.stop = iter.Pull2(s.events())
	return e
}

// Next returns the next event.
func (e *stream) Next() (*trace.Event, error) {
	event, err, ok := e.next()
	switch {
	case !ok:
		return nil, io.EOF
	case err != nil:
		return nil, err
	}
	e.events++
	return event, nil
}

// Events is how many were read.
func (e *stream) Events() int64 { return e.events }

// Header is what the planes say of the GPUs.
func (e *stream) Header() *trace.Header { return &e.header }

// Torn is nothing: what cannot be read is an error here.
func (e *stream) Torn() trace.Torn { return trace.Torn{} }
