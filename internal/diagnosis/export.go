package diagnosis

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"prof/internal/exports"
)

// export is an export of Nsight Systems: its tables.
type export struct {
	name    string
	tables  []*exports.Table
	strings map[string]int64 // ids of StringIds by value
	words   map[int64]string
}

// sheetRow is one event of an export.
type sheetRow struct {
	export *export
	of     *exports.Table
	values []any
}

// Tables whose rows are events, and what these are. Calls of the operating system are left out: no cause changes them.
var timed = map[string]Kind{"CUPTI_ACTIVITY_KIND_KERNEL": Work, "CUPTI_ACTIVITY_KIND_MEMCPY": Work, "CUPTI_ACTIVITY_KIND_MEMSET": Work, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": Work, "CUPTI_ACTIVITY_KIND_RUNTIME": Call,
	"NVTX_EVENTS": Range, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": Mark, "PROFILER_OVERHEAD": Mark}

var leftOut = []string{"OSRT_API", "OSRT_CALLCHAINS", "CUDA_CALLCHAINS"}

// Export reads an export of Nsight Systems as SQLite.
func Export(data []byte, name string) (*Capture, error) {
	tables, err := exports.Read(data, name, leftOut...)
	if err != nil {
		return nil, err
	}
	x := &export{name: name, tables: tables, strings: map[string]int64{}, words: map[int64]string{}}
	c := &Capture{file: x}
	for _, s := range x.tables {
		if s.Name == "StringIds" {
			for _, r := range s.Rows {
				id, text := s.Int(r, "id"), fmt.Sprint(r[s.Column("value")])
				x.strings[text], x.words[id] = id, text
			}
		}
	}
	for _, s := range x.tables {
		if _, is := timed[s.Name]; is {
			for _, r := range s.Rows {
				c.Events = append(c.Events, x.event(s, r))
			}
			s.Rows = nil
		}
	}
	c.link()
	return c, nil
}

// processOf cuts a globalTid or globalPid down to what both share.
func processOf(global int64) int64 { return global >> 24 }

func (x *export) event(s *exports.Table, r []any) *Event {
	e := &Event{Kind: timed[s.Name], Table: s.Name, Start: s.Int(r, "start"), End: s.Int(r, "end"), Device: s.Int(r, "deviceId"), Stream: s.Int(r, "streamId"), Correlation: s.Int(r, "correlationId"),
		Thread: s.Int(r, "globalTid"), row: &sheetRow{x, s, r}}
	e.Process = processOf(e.Thread)
	switch s.Name {
	case "NVTX_EVENTS":
		if e.Name, _ = r[s.Column("text")].(string); e.Name == "" {
			e.Name = x.words[s.Int(r, "textId")]
		}
		if r[s.Column("end")] == nil {
			e.Kind, e.End = Mark, e.Start
		}
	case "CUPTI_ACTIVITY_KIND_RUNTIME":
		e.Name = x.words[s.Int(r, "nameId")]
	case "CUPTI_ACTIVITY_KIND_KERNEL":
		e.Name = x.words[s.Int(r, "demangledName")]
	}
	if e.Kind == Work || s.Name == "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION" {
		e.Process = processOf(s.Int(r, "globalPid"))
	}
	return e
}

// Uncount leaves out how many CUDA events the tool says that it collected: what it lost before is not among them.
func (c *Capture) Uncount() {
	x, ok := c.file.(*export)
	if !ok {
		return
	}
	for _, t := range x.tables {
		if t.Name == "DIAGNOSTIC_EVENT" {
			t.Rows = slices.DeleteFunc(t.Rows, func(r []any) bool {
				return strings.HasPrefix(fmt.Sprint(r[t.Column("text")]), "Number of CUDA events collected")
			})
		}
	}
}

func (x *export) clone() file { return x }

func (r *sheetRow) clone() row { return &sheetRow{r.export, r.of, slices.Clone(r.values)} }

func (r *sheetRow) set(column string, v any) {
	if at := r.of.Column(column); at >= 0 {
		r.values[at] = v
	}
}

func (r *sheetRow) setTimes(e *Event) {
	r.set("start", e.Start)
	if at := r.of.Column("end"); r.values[at] != nil {
		r.values[at] = e.End
	}
}

func (r *sheetRow) setName(name string) {
	switch r.of.Name {
	case "CUPTI_ACTIVITY_KIND_RUNTIME":
		r.set("nameId", name)
	case "CUPTI_ACTIVITY_KIND_KERNEL":
		for _, column := range []string{"demangledName", "shortName", "mangledName"} {
			r.set(column, name)
		}
	case "NVTX_EVENTS":
		r.set("textId", nil)
		r.set("text", name)
	}
}

func (r *sheetRow) setBlocks(n int64) {
	r.set("gridX", n)
	r.set("gridY", int64(1))
	r.set("gridZ", int64(1))
}

// setPageable makes the source of a copy pageable memory: 1 of ENUM_CUDA_MEMCPY_OPER is host to device, 0 of ENUM_CUDA_MEM_KIND pageable, 2 device.
func (r *sheetRow) setPageable() {
	r.set("copyKind", int64(1))
	r.set("srcKind", int64(0))
	r.set("dstKind", int64(2))
}

func (r *sheetRow) setCorrelation(id int64) { r.set("correlationId", id) }
func (r *sheetRow) setThread(id int64)      { r.set("globalTid", id) }

func (r *sheetRow) blocks() int64 {
	return r.of.Int(r.values, "gridX") * r.of.Int(r.values, "gridY") * r.of.Int(r.values, "gridZ")
}

// write writes the export as SQLite. Names that causes gave become strings of their own.
func (x *export) write(dir, id string, events []*Event) ([]string, error) {
	rows, ids := map[*exports.Table][][]any{}, map[string]int64{}
	next := int64(0)
	for id := range x.words {
		next = max(next, id+1)
	}
	for _, e := range events {
		r := e.row.(*sheetRow)
		values := slices.Clone(r.values)
		for _, column := range []string{"nameId", "demangledName", "shortName", "mangledName"} {
			at := r.of.Column(column)
			if at < 0 {
				continue
			}
			if name, isNew := values[at].(string); isNew {
				id, has := x.strings[name]
				if !has {
					if id, has = ids[name]; !has {
						id, next = next, next+1
						ids[name] = id
					}
				}
				values[at] = id
			}
		}
		rows[r.of] = append(rows[r.of], values)
	}
	path := filepath.Join(dir, x.name)
	w, err := exports.Create(path)
	if err != nil {
		return nil, err
	}
	for _, s := range x.tables {
		list := slices.Concat(s.Rows, rows[s]) // one of them is empty
		switch s.Name {
		case "StringIds":
			for text, id := range ids {
				row := make([]any, len(s.Columns))
				row[s.Column("id")], row[s.Column("value")] = id, text
				list = append(list, row)
			}
			slices.SortFunc(list, func(a, b []any) int { return int(s.Int(a, "id") - s.Int(b, "id")) })
		case "META_DATA_CAPTURE":
			for i, r := range list {
				if r[s.Column("name")] == "PROFILING_SESSION_UUID" {
					list[i] = []any{r[0], id}
				}
			}
		}
		if err := w.Add(s, slices.Values(list)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return []string{path}, w.Close()
}
