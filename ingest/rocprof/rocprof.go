// Package rocprof reads what AMD's profilers write: the JSON and the CSV traces of rocprofv3 (ROCprofiler-SDK) and the results.csv of rocprof 1 and 2.
//
// Records become events in the terms of the PyTorch profiler, whose package finds the launch of each piece of work and stores all.
package rocprof

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"

	"prof/ingest/load"
	"prof/ingest/torch"
	"prof/ingest/torch/trace"
	"prof/internal/file"
)

// ErrSyntax is wrapped by errors for what is no such file; they name the byte or the line.
var ErrSyntax = errors.New("not a trace of rocprof")

// style is what ranges of roctx are, as NVTX's that are pushed and popped.
const style = "push_pop"

// SniffJSON reports whether a file is rocprofv3's JSON.
func SniffJSON(head []byte) bool {
	s := bytes.TrimLeft(head, " \t\r\n")
	return bytes.HasPrefix(s, []byte("{")) && bytes.Contains(s[:min(len(s), 200)], []byte(`"`+root+`"`))
}

// oldResults is how rocprof 1 and 2 begin results.json.
var oldResults = regexp.MustCompile(`^\s*\{\s*"traceEvents":\[\{\}\s*,\{"args":\{"name":"(Markers and Ranges|CPU HIP API|CPU HSA API|COPY|GPU\d+)"\}`)

// IsOldResults reports whether a file is results.json of rocprof 1 or 2, which is not read: its events say neither which call launched a kernel nor, where
// kernels and copies were traced in two ways, that they are there twice.
func IsOldResults(head []byte) bool { return oldResults.Match(head) }

// SniffCSV reports whether a file is one of their CSV traces.
func SniffCSV(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	_, err := tableOf(splitRow(string(bytes.TrimRight(line, "\r"))))
	return err == nil
}

// IdentifyJSON looks whether the file can be read as far as its first record.
func IdentifyJSON(_ context.Context, path, name string) (*load.SourceInfo, error) {
	return identify(path, name, jsonEvents)
}

// IdentifyCSV does the same for CSV traces.
func IdentifyCSV(_ context.Context, path, name string) (*load.SourceInfo, error) {
	g, err := openGroup(path, name)
	if err != nil {
		return nil, err
	}
	defer g.close()
	return identified(name, newStream(g.events, nil))
}

func identify(path, name string, events reader) (*load.SourceInfo, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return identified(name, newStream(events, f))
}

func identified(name string, s *stream) (*load.SourceInfo, error) {
	defer s.stop()
	first, err := s.Next()
	for err == nil && torch.IsUndated(first) { // it tells no capture from another
		first, err = s.Next()
	}
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	id := unnamed
	if err == nil {
		id = fmt.Sprint("rocprof ", first.PID, " ", first.Start, " ", string(first.Label))
	}
	return &load.SourceInfo{CaptureID: id}, nil
}

// LoadJSON stores rocprofv3's JSON.
func LoadJSON(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	return loadWith(ctx, path, name, t, jsonEvents)
}

// LoadCSV stores CSV traces of a process as one source.
func LoadCSV(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	g, err := openGroup(path, name)
	if err != nil {
		return nil, err
	}
	defer g.close()
	return stored(ctx, name, t, func() (*stream, error) { return newStream(g.events, nil), nil })
}

func loadWith(ctx context.Context, path, name string, t *load.Target, events reader) (*load.SourceInfo, error) {
	f, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return stored(ctx, name, t, func() (*stream, error) {
		_, err := f.Seek(0, io.SeekStart)
		return newStream(events, f), err
	})
}

// stored stores the events of a source.
func stored(ctx context.Context, name string, t *load.Target, open func() (*stream, error)) (*load.SourceInfo, error) {
	var s *stream
	stop := func() {}
	defer func() { stop() }()
	info, err := torch.LoadEvents(ctx, name, t, func() (torch.Events, error) {
		stop()
		var err error
		s, err = open()
		stop = s.stop
		return s, err
	}, style)
	if errors.Is(err, torch.ErrNoEvents) {
		return nil, fmt.Errorf("%s: it has no kernels, copies, API calls or markers: was it taken with --kernel-trace, --hip-trace or --sys-trace?", name)
	}
	if err != nil {
		return nil, err
	}
	info.SHA256, info.CaptureID, info.ToolVersion = "", s.capture, "" // the content is hashed as it lies there
	return info, nil
}

// reader gives a file's records as events; each is good until the next.
type reader func(r io.Reader, h *trace.Header) iter.Seq2[*trace.Event, error]

// unnamed is the capture of a file without an event.
const unnamed = "rocprof"

// stream is a file's events as package torch takes them.
type stream struct {
	next    func() (*trace.Event, error, bool)
	stop    func()
	header  trace.Header
	events  int64
	capture string
	gpus    map[int64]bool // devices that are in the header
}

func newStream(events reader, r io.Reader) *stream {
	s := &stream{gpus: map[int64]bool{}, capture: unnamed}
	s.next, s.stop = iter.Pull2(events(r, &s.header))
	return s
}

// Next returns the next event.
func (s *stream) Next() (*trace.Event, error) {
	e, err, ok := s.next()
	switch {
	case !ok:
		return nil, io.EOF
	case err != nil:
		return nil, err
	}
	if s.capture == unnamed && !torch.IsUndated(e) {
		s.capture = fmt.Sprint("rocprof ", e.PID, " ", e.Start, " ", string(e.Label))
	}
	s.events++
	if d, ok := e.Int(trace.Device); ok && d >= 0 && !s.described(d) && len(s.gpus) < load.MaxDevices {
		id := int32(d)
		s.header.Devices = append(s.header.Devices, trace.DeviceProperties{ID: &id, Name: "AMD device"})
	}
	return e, nil
}

// described reports whether the header has a device, once.
func (s *stream) described(d int64) bool {
	if s.gpus[d] {
		return true
	}
	s.gpus[d] = true
	for i := range s.header.Devices {
		if id := s.header.Devices[i].ID; id != nil && int64(*id) == d {
			return true
		}
	}
	return int64(int32(d)) != d
}

// Events is how many were read.
func (s *stream) Events() int64 { return s.events }

// Header is what the file says of the GPUs.
func (s *stream) Header() *trace.Header { return &s.header }

// Torn is nothing: a record that cannot be read is an error here.
func (s *stream) Torn() trace.Torn { return trace.Torn{} }

// maxTime is a moment so far off that differences still fit 64 bits.
const maxTime = 1 << 61

// record is one record of any kind.
type record struct {
	kind                  string // kernel, copy, api, marker or mark
	label, name           string
	pid, tid              int64
	start, end            int64
	correlation           int64 // 0: none
	device, stream, bytes int64 // -1: not said
	grid, block           [3]int64
}

// event puts a record into an event.
func (r *record) event(e *trace.Event) {
	if r.start < -maxTime || r.start > maxTime || r.end < -maxTime || r.end > maxTime {
		r.end = r.start - 1 // as what has no length that can be
	}
	*e = trace.Event{Phase: 'X', Label: []byte(r.label), Name: []byte(r.name), PID: r.pid, TID: r.tid, Start: r.start, Duration: r.end - r.start, Has: trace.StartTime | trace.DurationTime}
	if r.correlation > 0 {
		e.SetInt(trace.Correlation, r.correlation)
	}
	switch r.kind {
	case "kernel":
		e.Category = trace.Kernel
		if r.grid[0] > 0 && r.block[0] > 0 {
			for d := range 3 { // ROCm counts work items
				e.Grid[d], e.Block[d] = (r.grid[d]+max(r.block[d], 1)-1)/max(r.block[d], 1), r.block[d]
			}
			e.Has |= trace.GridSize | trace.BlockSize
		}
	case "copy":
		e.Category = trace.Memcpy
		if r.bytes >= 0 {
			e.SetInt(trace.Bytes, r.bytes)
		}
	case "api":
		e.Category = trace.Runtime
		return
	case "marker":
		e.Category = trace.UserAnnotation
		return
	default:
		e.Phase = 'i'
		return
	}
	e.SetInt(trace.Device, r.device)
	e.SetInt(trace.Stream, r.stream)
}

// directions are the names of copies, in Kineto's words.
var directions = map[string]string{"HOST_TO_DEVICE": "Memcpy HtoD", "DEVICE_TO_HOST": "Memcpy DtoH", "DEVICE_TO_DEVICE": "Memcpy DtoD", "HOST_TO_HOST": "Memcpy HtoH"}

func direction(name string) string {
	for end, text := range directions {
		if len(name) >= len(end) && name[len(name)-len(end):] == end {
			return text
		}
	}
	return name
}
