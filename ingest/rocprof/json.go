package rocprof

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prof/ingest/torch/trace"
	"prof/internal/file"
)

// root is the one member of the file; it holds a list of processes.
const root = "rocprofiler-sdk-tool"

// Bounds of what is kept in memory.
const (
	maxValue = 64 << 20  // bytes of one record
	maxNames = 256 << 20 // bytes of names of kernels and markers
)

// bounded stops a value that takes too many bytes.
type bounded struct {
	r     io.Reader
	since int64 // bytes read since the last whole value
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.since > maxValue {
		return 0, fmt.Errorf("%w: a single value takes more than %d MiB", ErrSyntax, maxValue>>20)
	}
	n, err := b.r.Read(p)
	b.since += int64(n)
	return n, err
}

// decoder reads the file piece by piece.
type decoder struct {
	d       *jsontext.Decoder
	in      *bounded
	marked  int64 // bytes before the JSON
	header  *trace.Header
	yield   func(*trace.Event, error) bool
	event   trace.Event
	done    bool // the caller takes no more
	names   int  // bytes of names
	pid     int64
	kernels map[int64]string
	markers map[int64]string
	kinds   [][]string      // names of operations by kind, the kind's own first
	gpus    map[int64]int64 // number of the GPU by the handle of its agent
	all     map[int64]agent // every agent by its handle
}

type agent struct {
	ID struct {
		Handle int64 `json:"handle"`
	} `json:"id"`
	Type        int64  `json:"type"` // 2: a GPU
	Name        string `json:"name"`
	Product     string `json:"product_name"`
	CUs         int64  `json:"cu_count"`
	Logical     *int64 `json:"logical_node_type_id"` // 0, 1, ... of the GPUs
	MemoryBanks []struct {
		Bytes json.Number `json:"size_in_bytes"`
	} `json:"mem_banks"`
}

// jsonEvents returns the records of rocprofv3's JSON.
func jsonEvents(r io.Reader, h *trace.Header) iter.Seq2[*trace.Event, error] {
	return func(yield func(*trace.Event, error) bool) {
		b := bufio.NewReader(r)
		var marked int
		if head, _ := b.Peek(len(file.Mark)); string(head) == file.Mark {
			marked, _ = b.Discard(len(head))
		}
		in := &bounded{r: b}
		d := &decoder{marked: int64(marked), d: jsontext.NewDecoder(in, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)), in: in, header: h, yield: yield}
		err := d.object(func(key string) error {
			if key != root {
				return d.skip()
			}
			return d.array(func() error { return d.process() })
		})
		if err != nil && !d.done {
			yield(nil, err)
		}
	}
}

// fail places an error.
func (d *decoder) fail(err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("at byte %d: %w: %w", d.marked+d.d.InputOffset(), ErrSyntax, err)
}

// object reads an object; each is called before a member's value, which it must read.
func (d *decoder) object(each func(key string) error) error {
	return d.open('{', func() error {
		key, err := d.d.ReadToken()
		if err != nil {
			return d.fail(err)
		}
		return each(key.String())
	})
}

func (d *decoder) array(each func() error) error { return d.open('[', each) }

func (d *decoder) open(begin jsontext.Kind, each func() error) error {
	t, err := d.d.ReadToken()
	if err != nil {
		return d.fail(err)
	}
	if t.Kind() != begin {
		return d.fail(fmt.Errorf("expected %v, not %v", begin, t.Kind()))
	}
	for {
		switch d.d.PeekKind() {
		case '}', ']', 0:
			if _, err := d.d.ReadToken(); err != nil {
				return d.fail(err)
			}
			return nil
		}
		if err := each(); err != nil {
			return err
		}
		d.in.since = 0
	}
}

// value reads a whole value into v.
func (d *decoder) value(v any) error {
	raw, err := d.d.ReadValue()
	if err != nil {
		return d.fail(err)
	}
	if err := file.FewValues(raw, file.MostValues); err != nil {
		return d.fail(err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return d.fail(err)
	}
	return nil
}

// skip passes over a value.
func (d *decoder) skip() error {
	if err := d.d.SkipValue(); err != nil {
		return d.fail(err)
	}
	return nil
}

// process reads what one process recorded.
func (d *decoder) process() error {
	d.pid, d.kernels, d.markers, d.kinds, d.gpus, d.all = 0, map[int64]string{}, map[int64]string{}, nil, map[int64]int64{}, map[int64]agent{}
	return d.object(func(key string) error {
		switch key {
		case "metadata":
			var m struct {
				PID int64 `json:"pid"`
			}
			err := d.value(&m)
			d.pid = m.PID
			return err
		case "agents":
			return d.array(d.agent)
		case "strings":
			return d.object(d.text)
		case "kernel_symbols":
			return d.array(d.symbol)
		case "buffer_records":
			return d.object(d.records)
		}
		return d.skip()
	})
}

func (d *decoder) agent() error {
	var a agent
	if err := d.value(&a); err != nil {
		return err
	}
	if len(d.all) > 1<<16 {
		return d.fail(errors.New("too many agents"))
	}
	d.all[a.ID.Handle] = a
	if a.Type != 2 {
		return nil
	}
	number := int64(len(d.gpus))
	if a.Logical != nil {
		number = *a.Logical
	}
	d.gpus[a.ID.Handle] = number
	a.describe(d.header, number)
	return nil
}

// describe puts a GPU into the header.
func (a *agent) describe(h *trace.Header, number int64) {
	for i := range h.Devices {
		if int64(*h.Devices[i].ID) == number {
			return // another process's
		}
	}
	id, name, cus := int32(number), a.Product, a.CUs
	if name == "" {
		name = "AMD " + a.Name
	}
	p := trace.DeviceProperties{ID: &id, Name: name}
	if cus > 0 {
		p.SMs = &cus
	}
	if len(a.MemoryBanks) == 1 {
		if n, err := a.MemoryBanks[0].Bytes.Int64(); err == nil && n > 0 {
			p.MemoryBytes = &n
		}
	}
	h.Devices = append(h.Devices, p)
}

// text reads one member of strings.
func (d *decoder) text(key string) error {
	switch key {
	case "buffer_records":
		return d.array(func() error {
			var k struct {
				Kind       string   `json:"kind"`
				Operations []string `json:"operations"`
			}
			if err := d.value(&k); err != nil {
				return err
			}
			if err := d.keep(len(k.Kind)); err != nil {
				return err
			}
			d.kinds = append(d.kinds, append([]string{k.Kind}, k.Operations...))
			return nil
		})
	case "marker_api":
		return d.array(func() error {
			var m struct {
				Key   int64  `json:"key"`
				Value string `json:"value"`
			}
			if err := d.value(&m); err != nil {
				return err
			}
			d.markers[m.Key] = m.Value
			return d.keep(len(m.Value))
		})
	}
	return d.skip()
}

// keep counts memory that names take.
func (d *decoder) keep(n int) error {
	if d.names += n + 32; d.names > maxNames {
		return d.fail(fmt.Errorf("its names take more than %d MiB", maxNames>>20))
	}
	return nil
}

func (d *decoder) symbol() error {
	var s struct {
		ID        int64  `json:"kernel_id"`
		Name      string `json:"kernel_name"`
		Formatted string `json:"formatted_kernel_name"`
	}
	if err := d.value(&s); err != nil {
		return err
	}
	name := s.Formatted
	if name == "" {
		name = strings.TrimSuffix(s.Name, ".kd")
	}
	d.kernels[s.ID] = name
	return d.keep(len(name))
}

// handle is how ids are written.
type handle struct {
	Handle int64 `json:"handle"`
}

type xyz struct{ X, Y, Z int64 }

// buffered is a record of any kind.
type buffered struct {
	Kind        int   `json:"kind"`
	Operation   int   `json:"operation"`
	Thread      int64 `json:"thread_id"`
	Correlation struct {
		Internal int64 `json:"internal"`
	} `json:"correlation_id"`
	Start    int64   `json:"start_timestamp"`
	End      int64   `json:"end_timestamp"`
	Stream   *handle `json:"stream_id"`
	Source   handle  `json:"src_agent_id"`
	To       handle  `json:"dst_agent_id"`
	Bytes    *int64  `json:"bytes"`
	Dispatch struct {
		Agent     handle `json:"agent_id"`
		Queue     handle `json:"queue_id"`
		Kernel    int64  `json:"kernel_id"`
		Workgroup xyz    `json:"workgroup_size"`
		Grid      xyz    `json:"grid_size"`
	} `json:"dispatch_info"`
}

// records reads one member of buffer_records.
func (d *decoder) records(key string) error {
	kind := map[string]string{"kernel_dispatch": "kernel", "memory_copy": "copy", "hip_api": "api", "hsa_api": "api", "rccl_api": "api", "marker_api": "marker", "rocdecode_api": "api", "rocjpeg_api": "api"}[key]
	if d.d.PeekKind() != '[' {
		return d.skip()
	}
	return d.array(func() error {
		var b buffered
		if err := d.value(&b); err != nil {
			return err
		}
		r := record{kind: kind, label: key, pid: d.pid, tid: b.Thread, start: b.Start, end: b.End, correlation: b.Correlation.Internal, device: -1, stream: -1, bytes: -1}
		operation := d.operation(b.Kind, b.Operation)
		switch kind {
		case "kernel":
			name, ok := d.kernels[b.Dispatch.Kernel]
			if !ok {
				return d.fail(fmt.Errorf("kernel %d is not among the kernel_symbols before it", b.Dispatch.Kernel))
			}
			r.name, r.stream = name, b.Dispatch.Queue.Handle
			if b.Stream != nil {
				r.stream = b.Stream.Handle
			}
			r.device = d.gpu(b.Dispatch.Agent)
			r.grid, r.block = [3]int64{b.Dispatch.Grid.X, b.Dispatch.Grid.Y, b.Dispatch.Grid.Z}, [3]int64{b.Dispatch.Workgroup.X, b.Dispatch.Workgroup.Y, b.Dispatch.Workgroup.Z}
		case "copy":
			r.name = direction(operation)
			if b.Stream != nil {
				r.stream = b.Stream.Handle
			}
			if r.device = d.gpu(b.To); r.device < 0 {
				r.device = d.gpu(b.Source)
			}
			if b.Bytes != nil {
				r.bytes = *b.Bytes
			}
		case "api":
			r.name = operation
		case "marker":
			r.name = operation
			if text, ok := d.markers[r.correlation]; ok {
				r.name = text
			}
			if b.Start == b.End || strings.Contains(operation, "Mark") {
				r.kind = "mark"
			}
		}
		r.event(&d.event)
		if !d.yield(&d.event, nil) {
			d.done = true
			return errDone
		}
		return nil
	})
}

var errDone = errors.New("no more is wanted")

func (d *decoder) gpu(h handle) int64 {
	if n, ok := d.gpus[h.Handle]; ok {
		return n
	}
	return -1
}

// operation is the name of what a record did.
func (d *decoder) operation(kind, operation int) string {
	if kind >= 0 && kind < len(d.kinds) && operation >= 0 && operation+1 < len(d.kinds[kind]) {
		return d.kinds[kind][operation+1]
	}
	return fmt.Sprintf("operation %d of kind %d", operation, kind)
}
