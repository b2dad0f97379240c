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

	"prof/ingest/tracer"
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

// traced are the tables of an export that a trace has, each with the column by which its rows name their process, and its columns.
var traced = map[string]struct{ by, columns string }{
	"StringIds": {"", "id value"}, "META_DATA_CAPTURE": {"", "name value"}, "META_DATA_EXPORT": {"", "name value"}, "TARGET_INFO_SYSTEM_ENV": {"", "name value"},
	"TARGET_INFO_SESSION_START_TIME": {"", "utcEpochNs"},
	"TARGET_INFO_GPU":                {"", "id name uuid busLocation computeMajor computeMinor smCount clockRate totalMemory memoryBandwidth l2CacheSize maxWarpsPerSm maxShmemPerSm"},
	"PROCESSES":                      {"globalPid", "globalPid name rank"}, "ThreadNames": {"globalTid", "globalTid nameId"}, "TARGET_INFO_CUDA_DEVICE": {"pid", "gpuId cudaId pid"},
	"CUPTI_ACTIVITY_KIND_KERNEL": {"globalPid", "start end deviceId contextId streamId correlationId globalPid demangledName shortName mangledName gridX gridY gridZ blockX blockY blockZ registersPerThread " +
		"staticSharedMemory dynamicSharedMemory sharedMemoryExecuted localMemoryPerThread graphId graphNodeId"},
	"CUPTI_ACTIVITY_KIND_MEMCPY":      {"globalPid", "start end deviceId contextId streamId correlationId globalPid bytes copyKind srcKind dstKind graphNodeId"},
	"CUPTI_ACTIVITY_KIND_MEMSET":      {"globalPid", "start end deviceId contextId streamId correlationId globalPid bytes value memKind graphNodeId"},
	"CUPTI_ACTIVITY_KIND_GRAPH_TRACE": {"globalPid", "start end deviceId contextId streamId correlationId globalPid graphId graphExecId"},
	"CUPTI_ACTIVITY_KIND_RUNTIME":     {"globalTid", "start end globalTid correlationId nameId returnValue"},
	"NVTX_EVENTS":                     {"globalTid", "start end eventType globalTid endGlobalTid domainId text textId category"}, // text goes to StringIds
	"DIAGNOSTIC_EVENT":                {"globalPid", "timestamp severity text globalPid"},
}

// Traced returns the tables of an export that a trace can have, rows of a process after those of another, with numbers of processes that are theirs alone.
func Traced(tables []*Table) []*Table {
	var out []*Table
	for _, t := range tables {
		is, ok := traced[t.Name]
		if !ok {
			continue
		}
		c := &Table{Name: t.Name}
		var from []int
		for _, name := range strings.Fields(is.columns) {
			if at := t.Column(name); at >= 0 {
				c.Columns, from = append(c.Columns, name), append(from, at)
			}
		}
		for _, r := range t.Rows {
			row := make([]any, len(from))
			for i, at := range from {
				row[i] = r[at]
				if v, ok := r[at].(int64); ok && (strings.HasPrefix(c.Columns[i], "global") || c.Columns[i] == "endGlobalTid") {
					row[i] = v & (1<<48 - 1) // without the machine
				}
			}
			c.Rows = append(c.Rows, row)
		}
		if is.by != "" {
			slices.SortStableFunc(c.Rows, func(a, b []any) int { return int(c.process(a, is.by) - c.process(b, is.by)) })
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
		if by := traced[t.Name].by; strings.HasPrefix(t.Name, "CUPTI_") || t.Name == "NVTX_EVENTS" {
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
			by := traced[t.Name].by
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

// Trace writes what Traced gave as one trace, whatever the processes.
func Trace(tables []*Table) ([]byte, error) {
	return traceOf(tables, func(*Table, []any) bool { return true })
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
				if row[k] = r[at]; tracer.NamesText(t.Name, c.Columns[k]) {
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
