package proton

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/ingest/torch"
	"prof/ingest/torch/trace"
	"prof/internal/file"
)

// LoadTrace stores a trace: a timeline of kernels, of which each stream is a document of its own.
func LoadTrace(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	closing := func() error { return nil }
	defer func() { closing() }()
	info, err := torch.LoadEvents(ctx, name, t, func() (torch.Events, error) {
		closing()
		f, err := file.Open(path)
		if err != nil {
			return nil, err
		}
		r := trace.NewParallel(file.Until(ctx, f), max(1, t.Options.Threads), trace.BlockBytes)
		r.Several = true
		closing = func() error {
			r.Close()
			return f.Close()
		}
		return &reader{Reader: r, paths: &t.Run.Paths, known: map[string]int32{}, streams: map[int64]int64{}, ends: map[int64]int64{}}, nil
	}, "")
	if errors.Is(err, torch.ErrNoEvents) {
		return nil, fmt.Errorf("%s: %w: give a trace of proton.start(data=\"trace\"), without instrumentation", name, ErrNoKernels)
	}
	if err != nil {
		return nil, err
	}
	info.CaptureID = "" // the file names no capture
	return info, nil
}

// reader gives the events of a trace, each kernel with the path of its scopes.
type reader struct {
	*trace.Reader
	paths   *load.Paths
	known   map[string]int32 // path_id by call stack
	streams map[int64]int64  // by track, where it has a name
	ends    map[int64]int64  // of the last kernel of each stream
	overlap int64
	done    bool
}

// Next returns the next event.
func (r *reader) Next() (*trace.Event, error) {
	e, err := r.Reader.Next()
	if (errors.Is(err, io.EOF) || errors.Is(err, trace.ErrTruncated)) && !r.done {
		r.finish()
	}
	if err != nil {
		return nil, err
	}
	if text, ok := strings.CutPrefix(string(e.ArgName), "GPU Stream "); ok && e.Phase == 'M' && string(e.Name) == "thread_name" {
		if n, err := strconv.ParseInt(text, 10, 32); err == nil {
			r.streams[e.TID] = n
		}
	}
	if e.Category != trace.Kernel || e.Phase != 'X' {
		return e, nil
	}
	e.PID, e.NoPID, e.PIDText = 0, false, nil
	e.SetInt(trace.Device, 0)
	if n, ok := r.streams[e.TID]; ok {
		e.SetInt(trace.Stream, n)
	}
	if len(e.CallStack) > 0 {
		path, err := r.path(e.CallStack)
		if err != nil {
			return nil, fmt.Errorf("at byte %d: %w: call_stack: %w", e.Offset, trace.ErrSyntax, err)
		}
		e.SetInt(trace.Path, int64(path))
	}
	if e.Start < r.ends[e.TID] {
		r.overlap++
	}
	r.ends[e.TID] = max(r.ends[e.TID], e.Start+e.Duration)
	return e, nil
}

// path returns the path of a call stack, which ends with the kernel.
func (r *reader) path(stack []byte) (int32, error) {
	if id, ok := r.known[string(stack)]; ok {
		return id, nil
	}
	var frames []string
	if err := file.FewValues(stack, file.MostValues); err != nil {
		return 0, err
	}
	if err := json.Unmarshal(stack, &frames); err != nil {
		return 0, err
	}
	id := int32(0)
	for _, s := range scopesOf(frames[:max(0, len(frames)-1)]) {
		id = r.paths.Add(id, s.domain, load.Normalise(s.name))
	}
	r.known[string(stack)] = id
	return id, nil
}

// finish says what the trace lacks.
func (r *reader) finish() {
	r.done = true
	h := r.Header()
	h.Notes = append(h.Notes, "Proton records kernels and the names of their scopes: launches, copies and the times of scopes are unknown, and so are passes and why the GPU was idle; for these capture with nsys",
		"Proton's traces do not say which GPU a kernel ran on: all count as GPU 0")
	if r.overlap > 0 {
		h.Notes = append(h.Notes, fmt.Sprintf("%d kernels begin before another of their stream ends: as where several GPUs worked, which the trace has as one", r.overlap))
	}
}
