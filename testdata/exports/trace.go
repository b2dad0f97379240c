package exports

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Types of a trace's blocks; docs/trace-format.md says what they hold.
const (
	TraceTable = iota + 1
	TraceRows
	TraceSnapshot
	TraceEnd
)

// traceRows is the most that a block of a trace holds.
const traceRows = 2048

// TraceHead begins a trace.
func TraceHead() []byte { return append([]byte("proftrc\n"), 1, 0, 0, 0, 0, 0, 0, 0) }

// AppendTraceBlock adds a block to a trace.
func AppendTraceBlock(to []byte, kind byte, table, rows int, payload []byte) []byte {
	head := append([]byte("blk\n"), kind, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(table))
	head = binary.LittleEndian.AppendUint32(head, uint32(rows))
	head = binary.LittleEndian.AppendUint32(head, uint32(len(payload)))
	sum := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, payload)
	return append(append(to, binary.LittleEndian.AppendUint32(head, sum)...), payload...)
}

// AppendTraceEnd adds the end of a process.
func AppendTraceEnd(to []byte) []byte { return AppendTraceBlock(to, TraceEnd, 0, 0, []byte("exit")) }

// AppendTraceTable adds the definition of a table; the types of its columns are a letter each.
func AppendTraceTable(to []byte, number int, t *Table, types string) []byte {
	name := func(b []byte, s string) []byte {
		return append(binary.LittleEndian.AppendUint16(b, uint16(len(s))), s...)
	}
	payload := name(nil, t.Name)
	for i, c := range t.Columns {
		payload = append(name(payload, c), types[i])
	}
	return AppendTraceBlock(to, TraceTable, number, len(t.Columns), payload)
}

// AppendTraceRows adds rows of a table, or a snapshot of so many.
func AppendTraceRows(to []byte, kind byte, number int, t *Table, rows [][]any) []byte {
	for part := range slices.Chunk(rows, traceRows) {
		var payload []byte
		for i := range t.Columns {
			column := traceColumn(part, i)
			payload = append(binary.LittleEndian.AppendUint32(payload, uint32(len(column))), column...)
		}
		to = AppendTraceBlock(to, kind, number, len(part), payload)
	}
	return to
}

// traceType is the type of a column; one without values is of integers.
func (t *Table) traceType(at int) string {
	if slices.ContainsFunc(t.Rows, func(r []any) bool { _, ok := r[at].(string); return ok }) {
		return "t"
	}
	return "i"
}

// traceColumn encodes a column of a block in as few bytes as it can be.
func traceColumn(rows [][]any, at int) []byte {
	nulls, n, same := make([]byte, (len(rows)+7)/8), 0, true
	for i, r := range rows {
		if r[at] == nil {
			nulls[i/8] |= 1 << (i % 8)
			n++
		}
		same = same && r[at] == rows[0][at]
	}
	switch {
	case n == len(rows):
		return []byte{0}
	case same:
		return appendTraceValues([]byte{1}, rows[:1], at)
	case n == 0:
		return appendTraceValues([]byte{2}, rows, at)
	}
	return appendTraceValues(append([]byte{3}, nulls...), rows, at)
}

func appendTraceValues(to []byte, rows [][]any, at int) []byte {
	last := int64(0)
	for _, r := range rows {
		switch v := r[at].(type) {
		case string:
			to = append(binary.AppendUvarint(to, uint64(len(v))), v...)
		case int64:
			d := v - last
			last = v
			to = binary.AppendUvarint(to, uint64(d<<1)^uint64(d>>63))
		}
	}
	return to
}

// traced are the tables of an export that a trace has, each with how its rows name their process.
var traced = map[string]string{
	"META_DATA_CAPTURE": "", "META_DATA_EXPORT": "", "TARGET_INFO_SYSTEM_ENV": "", "TARGET_INFO_SESSION_START_TIME": "", "TARGET_INFO_GPU": "",
	"PROCESSES": "globalPid", "ThreadNames": "globalTid", "TARGET_INFO_CUDA_DEVICE": "pid", "CUPTI_ACTIVITY_KIND_KERNEL": "globalPid",
	"CUPTI_ACTIVITY_KIND_MEMCPY": "globalPid", "CUPTI_ACTIVITY_KIND_MEMSET": "globalPid", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "globalPid",
	"CUPTI_ACTIVITY_KIND_RUNTIME": "globalTid", "NVTX_EVENTS": "globalTid", "DIAGNOSTIC_EVENT": "globalPid",
}

// Traced gives the tables of an export that a trace can have, rows of a process after those of another, with numbers of processes that are theirs alone.
func Traced(tables []*Table) []*Table {
	var out []*Table
	for _, t := range tables {
		by, ok := traced[t.Name]
		if !ok && t.Name != "StringIds" {
			continue
		}
		c := &Table{Name: t.Name, Columns: t.Columns}
		for _, r := range t.Rows {
			r = slices.Clone(r)
			for i, name := range t.Columns {
				if v, ok := r[i].(int64); ok && strings.HasPrefix(name, "global") || ok && name == "endGlobalTid" {
					r[i] = v & (1<<48 - 1) // without the machine
				}
			}
			c.Rows = append(c.Rows, r)
		}
		if by != "" {
			slices.SortStableFunc(c.Rows, func(a, b []any) int { return int(c.process(a, by) - c.process(b, by)) })
		}
		out = append(out, c)
	}
	return out
}

// process is the process of a row; 0 for none.
func (t *Table) process(row []any, by string) int64 {
	if by == "pid" {
		return t.Int(row, by)
	}
	return t.Int(row, by) >> 24
}

// WriteTraces writes what Traced gave as a folder of traces, one for each process, and rows of none into the first.
func WriteTraces(dir string, tables []*Table) error {
	pids := map[int64]bool{}
	for _, t := range tables {
		if by := traced[t.Name]; strings.HasPrefix(t.Name, "CUPTI_") || t.Name == "NVTX_EVENTS" {
			for _, r := range t.Rows {
				pids[t.process(r, by)] = true
			}
		}
	}
	delete(pids, 0)
	var order []int64
	for p := range pids {
		order = append(order, p)
	}
	slices.Sort(order)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, pid := range order {
		text, err := traceOf(tables, func(t *Table, row []any) bool {
			by := traced[t.Name]
			p := t.process(row, by)
			return by == "" || p == pid || i == 0 && !pids[p]
		})
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%08d.proftrace", pid)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// traceOf writes the rows that are of a process as its trace.
func traceOf(tables []*Table, isOf func(t *Table, row []any) bool) ([]byte, error) {
	names := newTraceTexts(tables)
	var rest []byte
	for i, t := range tables {
		if t.Name == "StringIds" {
			continue
		}
		c := &Table{Name: t.Name}
		var from []int
		types := ""
		for at, name := range t.Columns {
			if name != "text" || t.Name != "NVTX_EVENTS" {
				from, c.Columns, types = append(from, at), append(c.Columns, name), types+t.traceType(at)
			}
		}
		for _, r := range t.Rows {
			if !isOf(t, r) {
				continue
			}
			row := make([]any, len(from))
			for k, at := range from {
				if row[k] = r[at]; strings.HasSuffix(c.Columns[k], "Name") && t.Name == "CUPTI_ACTIVITY_KIND_KERNEL" || c.Columns[k] == "nameId" || c.Columns[k] == "textId" {
					if id, ok := r[at].(int64); ok {
						row[k] = names.number(names.of[id])
					}
				}
				if v, ok := row[k].(float64); ok {
					if v != math.Trunc(v) {
						return nil, fmt.Errorf("%s.%s is %v, and a trace has no fractions", t.Name, c.Columns[k], v)
					}
					row[k] = int64(v)
				}
			}
			if text := t.Column("text"); t.Name == "NVTX_EVENTS" && text >= 0 && r[text] != nil {
				row[c.Column("textId")] = names.number(r[text].(string))
			}
			c.Rows = append(c.Rows, row)
		}
		rest = AppendTraceTable(rest, i+1, c, types)
		rest = AppendTraceRows(rest, TraceRows, i+1, c, c.Rows)
	}
	const texts = 1000
	out := AppendTraceTable(TraceHead(), texts, &names.table, "it")
	out = AppendTraceRows(out, TraceRows, texts, &names.table, names.table.Rows)
	return AppendTraceEnd(append(out, rest...)), nil
}

// traceTexts are the texts of one trace.
type traceTexts struct {
	of    map[int64]string // in the export
	known map[string]int64
	table Table
}

func newTraceTexts(tables []*Table) *traceTexts {
	x := &traceTexts{of: map[int64]string{}, known: map[string]int64{}, table: Table{Name: "StringIds", Columns: []string{"id", "value"}}}
	for _, t := range tables {
		if t.Name == "StringIds" {
			for _, r := range t.Rows {
				x.of[t.Int(r, "id")], _ = r[t.Column("value")].(string)
			}
		}
	}
	return x
}

func (x *traceTexts) number(text string) int64 {
	n, ok := x.known[text]
	if !ok {
		n = int64(len(x.known) + 1)
		x.known[text] = n
		x.table.Rows = append(x.table.Rows, []any{n, text})
	}
	return n
}
