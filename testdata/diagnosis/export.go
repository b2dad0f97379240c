package diagnosis

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"prof/ingest/nsys/sqlite"
	"prof/ingest/nsys/table"
)

// export is an export of Nsight Systems: its tables.
type export struct {
	name    string
	tables  []*sheet
	strings map[string]int64 // ids of StringIds by value
	words   map[int64]string
}

// sheet is one table.
type sheet struct {
	name    string
	columns []string
	rows    [][]any // nil, int64, float64 or string
	timed   bool    // its rows are events
}

// sheetRow is one event of an export.
type sheetRow struct {
	export *export
	of     *sheet
	values []any
}

// Tables whose rows are events, and what these are. Calls of the operating system are left out: no cause changes them.
var timed = map[string]Kind{"CUPTI_ACTIVITY_KIND_KERNEL": Work, "CUPTI_ACTIVITY_KIND_MEMCPY": Work, "CUPTI_ACTIVITY_KIND_MEMSET": Work, "CUPTI_ACTIVITY_KIND_RUNTIME": Call,
	"NVTX_EVENTS": Range, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": Mark, "PROFILER_OVERHEAD": Mark}

var leftOut = []string{"OSRT_API", "OSRT_CALLCHAINS", "CUDA_CALLCHAINS"}

// Export reads an export of Nsight Systems as SQLite.
func Export(data []byte, name string) (*Capture, error) {
	f, err := sqlite.New(bytes.NewReader(data), int64(len(data)), name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x := &export{name: name, strings: map[string]int64{}, words: map[int64]string{}}
	c := &Capture{file: x}
	for _, name := range f.Tables() {
		if slices.Contains(leftOut, name) {
			continue
		}
		s, err := readSheet(f, name)
		if err != nil {
			return nil, err
		}
		x.tables = append(x.tables, s)
		if name == "StringIds" {
			for _, r := range s.rows {
				id, text := r[s.column("id")].(int64), fmt.Sprint(r[s.column("value")])
				x.strings[text], x.words[id] = id, text
			}
		}
	}
	for _, s := range x.tables {
		if _, s.timed = timed[s.name]; s.timed {
			for _, r := range s.rows {
				c.Events = append(c.Events, x.event(s, r))
			}
			s.rows = nil
		}
	}
	c.link()
	return c, nil
}

// readSheet reads a table, each column as the first kind that it can be read as.
func readSheet(f *sqlite.File, name string) (*sheet, error) {
	s := &sheet{name: name, columns: f.Columns(name)}
	for at, column := range s.columns {
		var err error
		for _, kind := range []table.Kind{table.Int, table.Float, table.Text} {
			if err = s.readColumn(f, at, column, kind); err == nil {
				break
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", name, column, err)
		}
	}
	return s, nil
}

func (s *sheet) readColumn(f *sqlite.File, at int, column string, kind table.Kind) error {
	scan, err := f.Scan(context.Background(), s.name, []table.Want{{Name: column, Kind: kind}})
	if err != nil {
		return err
	}
	n := 0
	return table.Each(scan, func(b *table.Batch) error {
		for i := range b.N {
			if n == len(s.rows) {
				s.rows = append(s.rows, make([]any, len(s.columns)))
			}
			switch v := &b.Cols[0]; {
			case v.Null(i):
				s.rows[n][at] = nil
			case kind == table.Int:
				s.rows[n][at] = v.Ints[i]
			case kind == table.Float:
				s.rows[n][at] = v.Floats[i]
			default:
				s.rows[n][at] = v.Texts[i]
			}
			n++
		}
		return nil
	})
}

func (s *sheet) column(name string) int { return slices.Index(s.columns, name) }

func (s *sheet) whole(r []any, name string) int64 {
	if at := s.column(name); at >= 0 {
		n, _ := r[at].(int64)
		return n
	}
	return 0
}

// processOf cuts a globalTid or globalPid down to what both share.
func processOf(global int64) int64 { return global >> 24 }

func (x *export) event(s *sheet, r []any) *Event {
	e := &Event{Kind: timed[s.name], Start: s.whole(r, "start"), End: s.whole(r, "end"), Device: s.whole(r, "deviceId"), Correlation: s.whole(r, "correlationId"),
		Thread: s.whole(r, "globalTid"), row: &sheetRow{x, s, r}}
	e.Process = processOf(e.Thread)
	switch s.name {
	case "NVTX_EVENTS":
		if e.Name, _ = r[s.column("text")].(string); e.Name == "" {
			e.Name = x.words[s.whole(r, "textId")]
		}
		if r[s.column("end")] == nil {
			e.Kind, e.End = Mark, e.Start
		}
	case "CUPTI_ACTIVITY_KIND_RUNTIME":
		e.Name = x.words[s.whole(r, "nameId")]
	case "CUPTI_ACTIVITY_KIND_KERNEL":
		e.Name = x.words[s.whole(r, "demangledName")]
	}
	if e.Kind == Work || s.name == "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION" {
		e.Process = processOf(s.whole(r, "globalPid"))
	}
	return e
}

func (x *export) clone() file { return x }

func (r *sheetRow) clone() row { return &sheetRow{r.export, r.of, slices.Clone(r.values)} }

func (r *sheetRow) set(column string, v any) {
	if at := r.of.column(column); at >= 0 {
		r.values[at] = v
	}
}

func (r *sheetRow) setTimes(e *Event) {
	r.set("start", e.Start)
	if at := r.of.column("end"); r.values[at] != nil {
		r.values[at] = e.End
	}
}

func (r *sheetRow) setName(name string) {
	switch r.of.name {
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
	return r.of.whole(r.values, "gridX") * r.of.whole(r.values, "gridY") * r.of.whole(r.values, "gridZ")
}

// write writes the export as SQLite. Names that causes gave become strings of their own.
func (x *export) write(dir, id string, events []*Event) ([]string, error) {
	rows, ids := map[*sheet][][]any{}, map[string]int64{}
	next := int64(0)
	for id := range x.words {
		next = max(next, id+1)
	}
	for _, e := range events {
		r := e.row.(*sheetRow)
		values := slices.Clone(r.values)
		for _, column := range []string{"nameId", "demangledName", "shortName", "mangledName"} {
			at := r.of.column(column)
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
	w := &database{}
	for _, s := range x.tables {
		list := s.rows
		switch {
		case s.timed:
			list = rows[s]
		case s.name == "StringIds":
			list = slices.Clone(list)
			for text, id := range ids {
				row := make([]any, len(s.columns))
				row[s.column("id")], row[s.column("value")] = id, text
				list = append(list, row)
			}
			slices.SortFunc(list, func(a, b []any) int { return int(a[s.column("id")].(int64) - b[s.column("id")].(int64)) })
		case s.name == "META_DATA_CAPTURE":
			list = slices.Clone(list)
			for i, r := range list {
				if r[s.column("name")] == "PROFILING_SESSION_UUID" {
					list[i] = []any{r[0], id}
				}
			}
		}
		if err := w.add(s, list); err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	path := filepath.Join(dir, x.name)
	return []string{path}, os.WriteFile(path, w.finish(), 0o644)
}

// pageBytes is the largest page of SQLite: no row of an export needs more than one.
const pageBytes = 65536

// database writes a SQLite file of plain tables; https://www.sqlite.org/fileformat2.html says how.
type database struct {
	pages  [][]byte // from the second on
	schema []cell
}

// cell is one row, or in an interior page the last row of a page and its number.
type cell struct {
	id   int64
	data []byte
}

// add writes a table: leaf pages, and one page over them.
func (w *database) add(s *sheet, rows [][]any) error {
	definition, id := "CREATE TABLE \""+s.name+"\" (", s.column("id")
	for i, c := range s.columns {
		if i > 0 {
			definition += ", "
		}
		definition += "\"" + c + "\""
		if i == id && s.name == "StringIds" {
			definition += " INTEGER PRIMARY KEY"
		}
	}
	var leaves, over []cell
	size := 0
	flush := func() {
		w.pages = append(w.pages, page(13, 0, leaves))
		over = append(over, cell{leaves[len(leaves)-1].id, binary.BigEndian.AppendUint32(nil, uint32(len(w.pages)+1))})
		leaves, size = nil, 0
	}
	for n, r := range rows {
		rowid := int64(n + 1)
		if s.name == "StringIds" {
			rowid = r[id].(int64)
			r = slices.Clone(r)
			r[id] = nil
		}
		c := cell{rowid, record(rowid, r)}
		if len(c.data) > pageBytes/2 {
			return errors.New("a row is longer than half a page")
		}
		if size+len(c.data)+2 > pageBytes-200 {
			flush()
		}
		leaves, size = append(leaves, c), size+len(c.data)+2
	}
	root := len(w.pages) + 2
	switch {
	case len(over) == 0:
		w.pages = append(w.pages, page(13, 0, leaves))
	default:
		flush()
		root++
		last := over[len(over)-1]
		for i := range over {
			over[i].data = appendVarint(over[i].data, uint64(over[i].id))
		}
		inner := page(5, 0, over[:len(over)-1])
		copy(inner[8:], last.data[:4])
		w.pages = append(w.pages, inner)
	}
	id64 := int64(len(w.schema) + 1)
	w.schema = append(w.schema, cell{id64, record(id64, []any{"table", s.name, s.name, int64(root), definition + ")"})})
	return nil
}

// finish gives the file: its first page is the header and the list of tables.
func (w *database) finish() []byte {
	first := page(13, 100, w.schema)
	copy(first, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(first[16:], 1) // a page of 65,536 bytes
	first[18], first[19], first[21], first[22], first[23] = 1, 1, 64, 32, 32
	for at, v := range map[int]int{24: 1, 28: len(w.pages) + 1, 40: 1, 44: 4, 56: 1, 92: 1, 96: 3045000} {
		binary.BigEndian.PutUint32(first[at:], uint32(v))
	}
	return append(first, bytes.Join(w.pages, nil)...)
}

// page writes a page of a b-tree: 13 is a leaf of a table, 5 one over others.
func page(kind byte, from int, cells []cell) []byte {
	p, head := make([]byte, pageBytes), 8
	if kind == 5 {
		head = 12
	}
	end := pageBytes
	for i, c := range cells {
		end -= len(c.data)
		copy(p[end:], c.data)
		binary.BigEndian.PutUint16(p[from+head+2*i:], uint16(end))
	}
	p[from] = kind
	binary.BigEndian.PutUint16(p[from+3:], uint16(len(cells)))
	binary.BigEndian.PutUint16(p[from+5:], uint16(end%pageBytes))
	return p
}

// record writes a row of a leaf.
func record(id int64, values []any) []byte {
	var types, body []byte
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			types = append(types, 0)
		case int64:
			types, body = append(types, 6), binary.BigEndian.AppendUint64(body, uint64(v))
		case float64:
			types, body = append(types, 7), binary.BigEndian.AppendUint64(body, math.Float64bits(v))
		case string:
			types, body = appendVarint(types, uint64(13+2*len(v))), append(body, v...)
		}
	}
	size := 1 + len(types)
	if size > 127 {
		size++
	}
	payload := slices.Concat(appendVarint(nil, uint64(size)), types, body)
	return slices.Concat(appendVarint(nil, uint64(len(payload))), appendVarint(nil, uint64(id)), payload)
}

// appendVarint writes a number as SQLite does: seven bits a byte, the high ones first; a ninth byte would hold eight, but no number here needs it.
func appendVarint(to []byte, v uint64) []byte {
	var b [9]byte
	at := len(b)
	for {
		at--
		b[at] = byte(v & 0x7f)
		if at < len(b)-1 {
			b[at] |= 0x80
		}
		if v >>= 7; v == 0 || at == 0 {
			return append(to, b[at:]...)
		}
	}
}
