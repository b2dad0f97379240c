package stats

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/ingest/torch"
	"prof/ingest/torch/trace"
	"prof/internal/file"
)

// traced are the columns of cuda_gpu_trace without which a table is none; the name is the last, for anything may stand in it.
var traced = []string{"start", "duration", "corrid", "device", "strm", "name"}

// traceHeader is the header of a table of cuda_gpu_trace.
type traceHeader struct {
	at      map[string]int
	columns []column
}

func traceHeaderOf(line string) *traceHeader {
	if len(line) > maxHeader || !mayBe(line, "corrid") {
		return nil
	}
	h := &traceHeader{at: map[string]int{}}
	for i, text := range strings.Split(line, ",") {
		c := columnOf(strings.Trim(text, `"`))
		h.columns = append(h.columns, c)
		h.at[c.name] = i
	}
	for _, name := range traced {
		if _, has := h.at[name]; !has {
			return nil
		}
	}
	if h.at["name"] != len(h.columns)-1 {
		return nil
	}
	return h
}

// SniffTrace reports whether a file holds the kernels and copies that nsys stats lists one by one (cuda_gpu_trace).
func SniffTrace(_ string, head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(file.PastMark(head)) {
		text := strings.TrimRight(string(line), "\r\n")
		if traceHeaderOf(text) != nil {
			return true
		}
		if headerOf(text) != nil { // sums stand first
			return false
		}
	}
	return false
}

// LoadTrace stores such a file: a timeline of the GPU without anything of the CPU.
func LoadTrace(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	var f io.ReadCloser
	defer func() {
		if f != nil {
			f.Close()
		}
	}()
	info, err := torch.LoadEvents(ctx, name, t, func() (torch.Events, error) {
		if f != nil {
			f.Close()
		}
		in, err := file.Open(path)
		if err != nil {
			return nil, err
		}
		f = in
		return &traceReader{lines: newLines(ctx, in, name), known: map[int64]bool{}}, nil
	}, "push_pop")
	if errors.Is(err, torch.ErrNoEvents) {
		return nil, fmt.Errorf("%s: %w: cuda_gpu_trace lists no kernel and no copy", name, ErrNoSums)
	}
	if err != nil {
		return nil, err
	}
	info.CaptureID, info.SHA256, info.ToolVersion = "", "", "" // the file names no capture
	return info, nil
}

// traceReader gives the rows of a file as events.
type traceReader struct {
	*lines
	*traceHeader
	header  trace.Header
	known   map[int64]bool // GPUs in the header
	event   trace.Event
	events  int64
	rounded bool // whether times, or sizes, are
	sizes   bool
	done    bool
}

// Next returns the next row.
func (r *traceReader) Next() (*trace.Event, error) {
	for !r.done {
		text, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			r.finish()
		case err != nil:
			return nil, err
		case r.traceHeader == nil:
			r.traceHeader = traceHeaderOf(text)
		case isNote(text):
			r.finish()
			if r.hasMore() {
				r.header.Notes = append(r.header.Notes, "what follows the table of cuda_gpu_trace is not read: save each report in a file of its own")
			}
		default:
			cells := strings.SplitN(text, ",", len(r.columns))
			if r.open && (len(cells) < len(r.columns) || cells[len(cells)-1] == "") {
				r.finish()
				return nil, fmt.Errorf("line %d: %w", r.number, trace.ErrTruncated)
			}
			if len(cells) < len(r.columns) {
				return nil, fmt.Errorf("line %d: it has %d cells, the header %d", r.number, len(cells), len(r.columns))
			}
			if err := r.row(cells); err != nil {
				return nil, fmt.Errorf("line %d: %w", r.number, err)
			}
			r.events++
			return &r.event, nil
		}
	}
	return nil, io.EOF
}

// hasMore reports whether anything but blank lines is left.
func (r *traceReader) hasMore() bool {
	for {
		text, err := r.next()
		if err != nil {
			return false
		}
		if strings.TrimSpace(text) != "" {
			return true
		}
	}
}

// finish ends the table, and says what it lacks.
func (r *traceReader) finish() {
	r.done = true
	r.header.Notes = append(r.header.Notes, "cuda_gpu_trace has no API calls and no ranges: launches, stages and operators are unknown; for these ingest the report's export (nsys export --type sqlite)")
	if r.rounded {
		r.header.Notes = append(r.header.Notes, "times are rounded to more than a nanosecond, as the file has them")
	}
	if r.sizes {
		r.header.Notes = append(r.header.Notes, "sizes of copies are rounded as the file has them")
	}
}

// gpu fits a device as nsys writes it: NVIDIA H100 80GB HBM3 (0).
var gpu = regexp.MustCompile(`^(.*?) ?\((\d+)\)$`)

// row makes the event of a row.
func (r *traceReader) row(cells []string) error {
	cell := func(name string) string {
		if i, has := r.at[name]; has {
			return strings.Trim(cells[i], "\" \r")
		}
		return ""
	}
	amount := func(name string, units map[string]unit) (a amount, ok bool, err error) {
		text := cell(name)
		if noFigure(text) {
			return a, false, nil
		}
		c := r.columns[r.at[name]]
		u, known := units[c.unit]
		if !known {
			return a, false, fmt.Errorf("%s has no unit that prof knows", c.name)
		}
		if a, err = amountOf(text, u); err != nil {
			return a, false, fmt.Errorf("%s: %w", c.name, err)
		}
		return a, true, nil
	}
	e := &r.event
	*e = trace.Event{Phase: 'X', Label: []byte("kernel"), Category: trace.Kernel}
	for _, time := range []struct {
		name string
		to   *int64
		has  trace.Field
	}{{"start", &e.Start, trace.StartTime}, {"duration", &e.Duration, trace.DurationTime}} {
		a, ok, err := amount(time.name, timeUnits)
		if err != nil {
			return err
		}
		if ok {
			*time.to = a.whole()
			e.Has |= time.has
			r.rounded = r.rounded || a.step > 1
		}
	}
	whole := func(name string, f trace.Field) error {
		text := cell(name)
		if noFigure(text) {
			return nil
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return fmt.Errorf("%s is %q, not a whole number", name, shorten(text))
		}
		e.SetInt(f, v)
		return nil
	}
	if err := errors.Join(whole("corrid", trace.Correlation), whole("ctx", trace.Context), whole("strm", trace.Stream), whole("reg/trd", trace.Registers)); err != nil {
		return err
	}
	device := cell("device")
	m := gpu.FindStringSubmatch(device)
	if m == nil {
		return fmt.Errorf("the device is %q, which has no number", shorten(device))
	}
	id, err := strconv.ParseInt(m[2], 10, 32)
	if err != nil {
		return fmt.Errorf("the device is %q: %w", shorten(device), err)
	}
	e.SetInt(trace.Device, id)
	if !r.known[id] && len(r.known) < load.MaxDevices {
		r.known[id] = true
		number := int32(id)
		r.header.Devices = append(r.header.Devices, trace.DeviceProperties{ID: &number, Name: m[1]})
	}
	name := cell("name")
	if strings.HasPrefix(name, "[CUDA ") {
		e.Name, e.Label, e.Category = []byte(kinetoName(operation(name), cell("srcmemkd"), cell("dstmemkd"))), []byte("gpu_memcpy"), trace.Memcpy
		a, ok, err := amount("bytes", sizeUnits)
		if err != nil {
			return err
		}
		if ok {
			r.sizes = r.sizes || a.step > 1
			if !a.isUnknown() {
				e.SetInt(trace.Bytes, a.whole())
			}
		}
		return nil
	}
	if name == "" {
		return errors.New("the row has no name")
	}
	e.Name = []byte(name)
	for _, three := range []struct {
		prefix string
		to     *[3]int64
		has    trace.Field
	}{{"grd", &e.Grid, trace.GridSize}, {"blk", &e.Block, trace.BlockSize}} {
		n := 0
		for i, axis := range []string{"x", "y", "z"} {
			if v, err := strconv.ParseInt(cell(three.prefix+axis), 10, 32); err == nil && v > 0 {
				three.to[i], n = v, n+1
			}
		}
		if n == 3 {
			e.Has |= three.has
		}
	}
	return nil
}

// kinetoDirections are directions of copies as Kineto writes them.
var kinetoDirections = strings.NewReplacer("Host-to-Device", "HtoD", "Device-to-Host", "DtoH", "Device-to-Device", "DtoD", "Host-to-Host", "HtoH", "Peer-to-Peer", "PtoP")

// kinetoName names a copy or fill as Kineto does.
func kinetoName(operation, from, to string) string {
	direction, isCopy := strings.CutPrefix(operation, "memcpy ")
	switch {
	case isCopy:
		return fmt.Sprintf("Memcpy %s (%s -> %s)", kinetoDirections.Replace(direction), orUnknown(from), orUnknown(to))
	case operation == "memset":
		return fmt.Sprintf("Memset (%s)", orUnknown(cmp.Or(to, from))) // nsys 2025.3 has what was filled as the source
	}
	return operation
}

func orUnknown(kind string) string {
	if kind == "" {
		return "Unknown"
	}
	return kind
}

// Events is how many rows were read.
func (r *traceReader) Events() int64 { return r.events }

// Header is what the file says of the GPUs.
func (r *traceReader) Header() *trace.Header { return &r.header }

// Torn is nothing: what cannot be read is an error here.
func (r *traceReader) Torn() trace.Torn { return trace.Torn{} }
