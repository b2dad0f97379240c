package diagnosis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// trace is a PyTorch trace of each rank.
type trace struct {
	names []string
	heads []map[string]any // all but the events
}

// jsonRow is one event of a trace.
type jsonRow struct {
	values map[string]any
	rank   int
}

// Trace reads PyTorch traces, one a rank, by their names.
func Trace(files map[string][]byte, names ...string) (*Capture, error) {
	t := trace{names: names}
	c := &Capture{}
	for rank, name := range names {
		d := json.NewDecoder(bytes.NewReader(files[name]))
		d.UseNumber()
		var head map[string]any
		if err := d.Decode(&head); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		list, _ := head["traceEvents"].([]any)
		delete(head, "traceEvents")
		t.heads = append(t.heads, head)
		for i, v := range list {
			values, _ := v.(map[string]any)
			e, err := event(values, rank)
			if err != nil {
				return nil, fmt.Errorf("%s: event %d: %w", name, i, err)
			}
			c.Events = append(c.Events, e)
		}
	}
	c.file = t
	c.link()
	return c, nil
}

var kinds = map[string]Kind{"kernel": Work, "gpu_memcpy": Work, "gpu_memset": Work, "cuda_runtime": Call, "cuda_driver": Call, "cpu_op": Range, "user_annotation": Range, "python_function": Range}

// flow is the category of the arrows from launches to work.
const flow = "ac2g"

// event reads one event. A trace names neither the process nor the rank of what its GPU does: a rank is a process.
func event(v map[string]any, rank int) (*Event, error) {
	e := &Event{Kind: Mark, Table: fmt.Sprint(v["cat"]), Name: fmt.Sprint(v["name"]), Process: int64(rank), row: &jsonRow{v, rank}}
	if at, has := v["ts"].(json.Number); has {
		var err, err2 error
		if e.Start, err = nanoseconds(at); err != nil {
			return nil, err
		}
		if dur, has := v["dur"].(json.Number); has {
			e.End, err2 = nanoseconds(dur)
		}
		if err2 != nil {
			return nil, err2
		}
		e.End += e.Start
	}
	if kind, is := kinds[fmt.Sprint(v["cat"])]; is && v["ph"] == "X" {
		e.Kind = kind
	}
	args, _ := v["args"].(map[string]any)
	e.Correlation, e.Device, e.Stream = whole(args["correlation"]), whole(args["device"]), whole(args["stream"])
	if v["cat"] == flow {
		e.Correlation = whole(v["id"])
	}
	if e.Kind == Range || e.Kind == Call {
		e.Thread = whole(v["tid"])
	}
	return e, nil
}

func whole(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

// nanoseconds reads a time in us, which has up to three decimals.
func nanoseconds(us json.Number) (int64, error) {
	whole, part, _ := strings.Cut(us.String(), ".")
	ns, err := strconv.ParseInt(whole+(part + "000")[:3], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no time in us: %w", us, err)
	}
	return ns, nil
}

func (t trace) clone() file { return t }

// write leaves out the files of ranks without events.
func (t trace) write(dir, id string, events []*Event) ([]string, error) {
	lists := make([][]map[string]any, len(t.names))
	for _, e := range events {
		r := e.row.(*jsonRow)
		lists[r.rank] = append(lists[r.rank], r.values)
	}
	var paths []string
	for rank, name := range t.names {
		if lists[rank] == nil {
			continue
		}
		whole := maps.Clone(t.heads[rank])
		whole["traceEvents"], whole["trace_id"] = lists[rank], id
		text, err := json.Marshal(whole)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

func (r *jsonRow) clone() row {
	x := &jsonRow{maps.Clone(r.values), r.rank}
	if args, has := r.values["args"].(map[string]any); has {
		x.values["args"] = maps.Clone(args)
	}
	return x
}

func (r *jsonRow) args() map[string]any {
	args, _ := r.values["args"].(map[string]any)
	return args
}

func (r *jsonRow) setTimes(e *Event) {
	us := func(ns int64) json.Number { return json.Number(fmt.Sprintf("%d.%03d", ns/1000, ns%1000)) }
	if _, has := r.values["ts"]; has {
		r.values["ts"] = us(e.Start)
	}
	if _, has := r.values["dur"]; has {
		r.values["dur"] = us(e.End - e.Start)
	}
}

func (r *jsonRow) setName(name string) { r.values["name"] = name }
func (r *jsonRow) setBlocks(n int64)   { r.args()["grid"] = []any{n, 1, 1} }
func (r *jsonRow) setPageable()        { r.values["name"] = "Memcpy HtoD (Pageable -> Device)" }
func (r *jsonRow) setThread(id int64)  { r.values["tid"] = id }

func (r *jsonRow) setCorrelation(id int64) {
	if r.values["cat"] == flow {
		r.values["id"] = id
	} else {
		r.args()["correlation"] = id
	}
}

func (r *jsonRow) blocks() int64 {
	grid, isKernel := r.args()["grid"].([]any)
	if !isKernel {
		return 0
	}
	n := int64(1)
	for _, v := range grid {
		n *= whole(v)
	}
	return n
}
