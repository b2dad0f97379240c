package tracer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"prof/ingest/nsys/table"
	"prof/ingest/tracer"
	"prof/internal/exports"
)

// file is a trace in the making.
type file struct{ text []byte }

func begin() *file { return &file{exports.TraceHead()} }

func (f *file) table(number int, types, name string, columns ...string) *file {
	f.text = exports.AppendTraceTable(f.text, number, &exports.Table{Name: name, Columns: columns}, types)
	return f
}

func (f *file) add(kind byte, number int, rows ...[]any) *file {
	t := &exports.Table{Columns: make([]string, len(rows[0]))}
	f.text = exports.AppendTraceRows(f.text, kind, number, t, rows)
	return f
}

func (f *file) rows(number int, rows ...[]any) *file {
	return f.add(exports.TraceRows, number, rows...)
}

func (f *file) block(kind byte, number, rows int, payload ...byte) *file {
	f.text = exports.AppendTraceBlock(f.text, kind, number, rows, payload)
	return f
}

func (f *file) end() *file {
	f.text = exports.AppendTraceEnd(f.text)
	return f
}

// cut takes bytes off the end.
func (f *file) cut(n int) *file {
	f.text = f.text[:len(f.text)-n]
	return f
}

// folder writes traces that are named 1.proftrace, 2.proftrace and so on.
func folder(t testing.TB, files ...*file) string {
	t.Helper()
	dir := t.TempDir()
	for i, f := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.proftrace", i+1)), f.text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t testing.TB, files ...*file) *tracer.Folder {
	t.Helper()
	d, err := tracer.Open(folder(t, files...), "in")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// read returns all rows of some columns: names of texts end in :t.
func read(d *tracer.Folder, name, columns string) ([][]any, error) {
	var wants []table.Want
	for _, c := range strings.Fields(columns) {
		w := table.Want{Name: strings.TrimSuffix(strings.TrimSuffix(c, "?"), ":t"), Optional: strings.HasSuffix(c, "?")}
		if strings.Contains(c, ":t") {
			w.Kind, w.Name = table.Text, strings.TrimSuffix(w.Name, ":t")
		}
		wants = append(wants, w)
	}
	s, err := d.Scan(context.Background(), name, wants)
	if err != nil {
		return nil, err
	}
	var out [][]any
	err = table.Each(s, func(b *table.Batch) error {
		for i := range b.N {
			row := make([]any, len(wants))
			for k := range wants {
				switch v := &b.Cols[k]; {
				case v.Null(i):
				case v.Kind == table.Text:
					row[k] = v.Texts[i]
				default:
					row[k] = v.Ints[i]
				}
			}
			out = append(out, row)
		}
		return nil
	})
	if err == nil && int64(len(out)) != s.Rows() {
		err = fmt.Errorf("%d rows, and Rows says %d", len(out), s.Rows())
	}
	return out, err
}

// TestEncodings: values of any size come back, in blocks of any number of rows.
func TestEncodings(t *testing.T) {
	const least, most = int64(math.MinInt64), int64(math.MaxInt64)
	for _, rows := range []int{1, 2, 7, 8, 9, 64, 65, 2047, 2048, 2049, 5000} {
		var in [][]any
		for i := range rows {
			sparse := any(nil)
			if i%3 == 1 {
				sparse = []int64{0, least, most, -1, int64(i) << 40}[i%5]
			}
			in = append(in, []any{int64(i), []int64{least, most, 0}[i%3], nil, int64(42), sparse, "same", strings.Repeat("é", i%40), nil})
		}
		out, err := read(open(t, begin().table(7, "iiiiittt", "T", "a", "b", "c", "d", "e", "f", "g", "h").rows(7, in...).end()), "T", "a b c d e f:t g:t h:t")
		if err != nil || !reflect.DeepEqual(in, out) {
			t.Errorf("%d rows come back otherwise: %v", rows, err)
		}
	}
	out, err := read(open(t, begin().table(1, "ti", "T", "a", "b").rows(1, []any{"\xff\xfe", nil}).end()), "T", "a:t b:t none?")
	if err != nil || !reflect.DeepEqual(out, [][]any{{"\uFFFD", nil, nil}}) {
		t.Errorf("%v %v", out, err)
	}
}

// TestFolder: of several traces the rows follow each other, and numbers that each counts by itself stay apart.
func TestFolder(t *testing.T) {
	const kernels = "CUPTI_ACTIVITY_KIND_KERNEL"
	process := func(symbol string) *file {
		return begin().table(1, "it", "StringIds", "id", "value").rows(1, []any{int64(1), "plain"}, []any{int64(2), symbol}).
			table(9, "iiii", kernels, "globalPid", "demangledName", "shortName", "mangledName").rows(9, []any{int64(77) << 24, int64(2), int64(2), int64(2)}).end()
	}
	d := open(t, process("_Z4gemmIfEvPT_"), process("triton_poi_fused_0"), begin().table(1, "i", "OTHER", "x").end())
	out, err := read(d, kernels, "globalPid demangledName shortName mangledName")
	if err != nil || len(out) != 2 || out[0][0] == out[1][0] || out[0][0].(int64)&(1<<48-1) != 77<<24 {
		t.Fatalf("%v %v", out, err)
	}
	for i, want := range [][]string{{"void gemm<float>(float*)", "gemm", "_Z4gemmIfEvPT_"}, {"triton_poi_fused_0", "triton_poi_fused_0", "triton_poi_fused_0"}} {
		for k, name := range want {
			if got, ok, err := d.String(out[i][k+1].(int64)); got != name || !ok || err != nil {
				t.Errorf("%d: %q, want %q: %v %v", i, got, name, ok, err)
			}
		}
	}
	if got := strings.Join(d.Tables(), " "); got != kernels+" OTHER StringIds" || !d.Has("OTHER") || d.Has("x") {
		t.Error(got)
	}
	if _, ok, err := d.String(3); ok || err != nil {
		t.Error("a text of no trace")
	}
	if len(d.Notes()) > 0 {
		t.Error(d.Notes())
	}
}

// TestIsFolder: a folder that holds more than a recording is none.
func TestIsFolder(t *testing.T) {
	for name, want := range map[string]bool{"2.proftrace": true, "2-2.proftrace": true, "tracer.log": true, "a.sqlite": false, "run.json": false} {
		dir := folder(t, begin())
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := tracer.IsFolder(dir); got != want {
			t.Errorf("with %s: %v", name, got)
		}
	}
	if tracer.IsFolder(t.TempDir()) || tracer.IsFolder("no such folder") {
		t.Error("an empty folder is a recording")
	}
}

// TestSnapshots: what was open in a process that did not end is read once.
func TestSnapshots(t *testing.T) {
	const ranges = "NVTX_EVENTS"
	row := func(start, end any) []any { return []any{start, end, int64(5), int64(59)} }
	some := func() *file {
		return begin().table(3, "iiii", ranges, "start", "end", "globalTid", "eventType").rows(3, row(int64(1), int64(2)))
	}
	open1, open2 := row(int64(10), nil), row(int64(20), nil)
	for name, c := range map[string]struct {
		file *file
		want string // starts and ends
		note string
	}{
		"none":                {some(), "1-2", "1 of 1 traces do not end in order (1.proftrace)"},
		"one":                 {some().add(exports.TraceSnapshot, 3, open1, open2), "1-2 10-<nil> 20-<nil>", "do not end"},
		"the last":            {some().add(exports.TraceSnapshot, 3, open1, open2).add(exports.TraceSnapshot, 3, open1), "1-2 10-<nil>", "do not end"},
		"empty":               {some().add(exports.TraceSnapshot, 3, open1).block(exports.TraceSnapshot, 3, 0), "1-2", "do not end"},
		"an end":              {some().add(exports.TraceSnapshot, 3, open1).end(), "1-2", ""},
		"rows written after":  {some().add(exports.TraceSnapshot, 3, open1, open2).rows(3, row(int64(20), int64(30)), row(int64(25), int64(26))), "1-2 20-30 25-26 10-<nil>", "do not end"},
		"all written after":   {some().add(exports.TraceSnapshot, 3, open1).rows(3, row(int64(10), int64(30))), "1-2 10-30", "do not end"},
		"the last one is cut": {some().add(exports.TraceSnapshot, 3, open1).add(exports.TraceSnapshot, 3, open2).cut(1), "1-2 10-<nil>", "the last block of 1.proftrace is cut"},
		"a head is cut":       {some().rows(3, row(int64(3), int64(4))).block(exports.TraceEnd, 0, 0).cut(19), "1-2 3-4", "is cut and was left out (1 bytes)"},
		"only a table":        {some().rows(3, row(int64(3), int64(4))).cut(30), "1-2", "is cut"},
	} {
		d := open(t, c.file)
		out, err := read(d, ranges, "start end")
		var got []string
		for _, r := range out {
			got = append(got, fmt.Sprintf("%v-%v", r[0], r[1]))
		}
		if strings.Join(got, " ") != c.want || err != nil {
			t.Errorf("%s: %v, want %s: %v", name, got, c.want, err)
		}
		if notes := strings.Join(d.Notes(), "; "); !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
			t.Errorf("%s: it notes %q, want %q", name, notes, c.note)
		}
	}
	if d := open(t, begin().cut(1), &file{}); len(d.Tables()) > 0 || len(d.Notes()) != 2 {
		t.Error(d.Notes())
	}
}

// TestDamage: an error says what is wrong, and where.
func TestDamage(t *testing.T) {
	const texts = "\x09\x00StringIds\x02\x00idi\x05\x00valuet"
	flip := func(f *file, at int) *file {
		f.text[at] ^= 1
		return f
	}
	one := func() *file { return begin().table(1, "i", "T", "textId") } // 46 bytes
	column := func(text ...byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	rows := func(n int, text ...byte) *file { return one().block(exports.TraceRows, 1, n, column(text...)...) }
	for name, c := range map[string]struct {
		file *file
		want string
	}{
		"no trace":               {&file{[]byte("SQLite format 3\x00 and more")}, "not a trace of prof"},
		"a newer version":        {&file{[]byte("proftrc\n\x03\x00\x00\x00\x00\x00\x00\x00")}, "byte 8: version 3 of the format, this prof reads 1 to 2: update prof"},
		"version 0":              {&file{[]byte("proftrc\n\x00\x00\x00\x00\x00\x00\x00\x00")}, "byte 8: version 0 of the format"},
		"flags":                  {&file{[]byte("proftrc\n\x01\x00\x00\x00\x01\x00\x00\x00")}, "byte 12: malformed"},
		"no block":               {&file{append(one().text, "what is this, no block"...)}, "byte 48: damaged: no block begins here"},
		"no head":                {&file{append(one().text, "what"...)}, "byte 48: damaged: no block begins here"},
		"type 0":                 {one().block(0, 1, 1), "byte 48: damaged: a block of type 0"},
		"type 5":                 {one().block(5, 1, 1), "byte 48: damaged: a block of type 5"},
		"many rows":              {one().block(exports.TraceRows, 1, 2049, column(0)...), "a block of 2049 rows, the largest has 2048"},
		"4 G rows":               {one().block(exports.TraceRows, 1, -1, column(0)...), "a block of 4294967295 rows"},
		"no rows":                {one().block(exports.TraceRows, 1, 0, column(0)...), "table T: byte 48: malformed: a block without rows"},
		"a large payload":        {&file{append(one().text, "blk\n\x02\x00\x01\x00\x01\x00\x00\x00\x01\x00\x00\x01????"...)}, "a block of 16777217 bytes, the largest has 16777216"},
		"a wrong length":         {func() *file { f := rows(1, 0).end(); f.text[48+13] = 0xFF; return f }(), "byte 48: damaged: the block says that it is longer than the file, yet another follows at byte 73"},
		"an unknown table":       {one().block(exports.TraceRows, 2, 1, column(0)...), "byte 48: malformed: rows of table 2, which is not defined before"},
		"bytes after the end":    {one().end().end(), "byte 72: malformed: 24 bytes follow the end"},
		"an end of a table":      {one().block(exports.TraceEnd, 1, 0), "an end of table 1"},
		"a number twice":         {one().table(1, "i", "U", "x"), "table 1: it is defined twice"},
		"a name twice":           {one().table(2, "i", "T", "x"), "table 2: it is defined twice"},
		"a column twice":         {begin().table(1, "ii", "T", "x", "x"), "it has two columns x"},
		"a type":                 {begin().table(1, "f", "T", "x"), "column x is of a type that this prof does not know"},
		"no name":                {begin().table(1, "i", "", "x"), "table 1: its name is not one"},
		"no column's name":       {begin().table(1, "i", "T", ""), "a column's name is not one"},
		"an odd name":            {begin().table(1, "i", "T\x1b[2J", "x"), "its name is not one"},
		"no columns":             {begin().block(exports.TraceTable, 1, 0, 1, 0, 'T'), "no or too many columns"},
		"fewer columns":          {begin().block(exports.TraceTable, 1, 2, 1, 0, 'T', 1, 0, 'x', 'i'), "a column's name is not one"},
		"more columns":           {begin().block(exports.TraceTable, 1, 1, 1, 0, 'T', 1, 0, 'x', 'i', 0), "bytes follow its columns"},
		"a checksum of a table":  {flip(one(), 45), "byte 16: damaged: the checksum of the block is wrong"},
		"a checksum of rows":     {flip(rows(1, 2, 2), 48+24), "table T: byte 48: damaged: the checksum of the block is wrong"},
		"a checksum of an end":   {flip(one().end(), 48+21), "byte 48: damaged: the checksum of the block is wrong"},
		"no encoding":            {rows(1), "table T: byte 48: column textId: malformed: the column ends before its values do"},
		"an unknown encoding":    {rows(1, 4), "an encoding that this prof does not know"},
		"too few values":         {rows(2, 2, 2), "the column ends before its values do"},
		"too many values":        {rows(1, 2, 2, 2), "the column has bytes behind its values"},
		"a value of none":        {rows(1, 0, 2), "the column has bytes behind its values"},
		"an endless number":      {rows(1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80), "a number of more than 64 bits"},
		"half a number":          {rows(1, 1, 0x80), "the column ends before its values do"},
		"too few bits":           {rows(9, 3, 0), "the column ends before its values do"},
		"a column that is short": {one().block(exports.TraceRows, 1, 1, 9, 0, 0, 0, 1, 2), "the columns are not those of the table"},
		"a column of 4 GB":       {one().block(exports.TraceRows, 1, 1, 255, 255, 255, 255, 1, 2), "the columns are not those of the table"},
		"two columns":            {one().block(exports.TraceRows, 1, 1, append(column(1, 2), column(1, 2)...)...), "the columns are not those of the table"},
		"text 0":                 {rows(1, 1, 0), "row 1 has the number 0, want 1 to 4294967295"},
		"text -1":                {rows(2, 2, 2, 3), "row 2 has the number -1"},
	} {
		d, err := tracer.Open(folder(t, c.file), "in")
		if err == nil {
			_, err = read(d, "T", "textId")
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "in/1.proftrace: ") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		var at *tracer.Error
		if !errors.As(err, &at) {
			t.Errorf("%s: %T", name, err)
		}
	}
	strings2 := func(rows ...[]any) *file {
		return begin().block(exports.TraceTable, 1, 2, []byte(texts)...).rows(1, rows...).table(2, "i", "T", "textId").rows(2, []any{int64(2)})
	}
	for name, c := range map[string]struct {
		file *file
		want string
	}{
		"too few texts":  {strings2([]any{int64(1), "a"}), "table StringIds: malformed: a row refers to text 2 of 1"},
		"gaps":           {strings2([]any{int64(1), "a"}, []any{int64(3), "a"}), "table StringIds: byte 60: malformed: row 2 has id 3, want 2"},
		"no table":       {begin().table(2, "i", "T", "textId").rows(2, []any{int64(2)}), "a row refers to text 2, and the trace has no StringIds"},
		"a long text":    {begin().block(exports.TraceTable, 1, 2, []byte(texts)...).block(exports.TraceRows, 1, 1, append(column(1, 4), column(1, 99, 'x')...)...).table(2, "i", "T", "textId").rows(2, []any{int64(1)}), "column value: malformed: the column ends before its values do"},
		"texts of 64 MB": {begin().block(exports.TraceTable, 1, 2, []byte(texts)...).rows(1, many(2048, strings.Repeat("x", 1<<16))...).table(2, "i", "T", "textId").rows(2, []any{int64(1)}), "the texts of the block are too long together"},
	} {
		d := open(t, c.file)
		out, err := read(d, "T", "textId")
		if err != nil {
			t.Fatal(err)
		}
		if text, _, err := d.String(out[0][0].(int64)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %.20q %v, want %s", name, text, err, c.want)
		}
	}
}

// many are texts, all the same.
func many(n int64, text string) (rows [][]any) {
	for i := range n {
		rows = append(rows, []any{i + 1, text})
	}
	return rows
}

// whole is a small trace with all there is.
func whole() []byte {
	const thread = 5<<24 | 6
	return begin().table(1, "it", "StringIds", "id", "value").rows(1, []any{int64(1), "_Z1kv"}, []any{int64(2), "decode"}, []any{int64(3), "cudaLaunchKernel_v7000"}, []any{int64(4), "1 16777216 12 010000000200000001000000"}).
		table(2, "iiiiiiiiiiiiiii", "CUPTI_ACTIVITY_KIND_KERNEL", "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "demangledName", "shortName",
			"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ").
		rows(2, []any{int64(10), int64(20), int64(0), int64(1), int64(7), int64(1), int64(5 << 24), int64(1), int64(1), int64(1), int64(1), int64(1), int64(32), int64(1), int64(1)},
			[]any{int64(30), int64(40), int64(0), int64(1), int64(7), nil, int64(5 << 24), int64(1), int64(1), nil, nil, nil, nil, nil, nil}).
		table(3, "iiiii", "CUPTI_ACTIVITY_KIND_RUNTIME", "start", "end", "globalTid", "correlationId", "nameId").rows(3, []any{int64(5), int64(6), int64(thread), int64(1), int64(3)}).
		table(4, "iiiiii", "NVTX_EVENTS", "start", "end", "eventType", "globalTid", "textId", "jsonTextId").rows(4, []any{int64(1), int64(50), int64(59), int64(thread), int64(2), int64(4)}).
		add(exports.TraceSnapshot, 4, []any{int64(2), nil, int64(59), int64(thread), int64(2), nil}).
		schemas([][]any{{int64(1), int64(1 << 24), "s", int64(1), int64(16), nil}}, [][]any{{int64(1), int64(1 << 24), int64(1 << 4), int64(5), "a", int64(2), nil}, {int64(1), int64(1 << 24), nil, int64(100), "b", nil, int64(8)}},
			[][]any{{int64(1), int64(100), int64(4)}}, [][]any{{int64(1), int64(100), "one", int64(1), nil}}).text
}

// patch overwrites bytes, each by its place (two bytes) and the new one; sealed makes the checksums of the blocks right again.
func patch(text, patches []byte, sealed bool) []byte {
	text = slices.Clone(text)
	for ; len(patches) >= 3; patches = patches[3:] {
		text[int(binary.BigEndian.Uint16(patches))%len(text)] = patches[2]
	}
	for at := 16; sealed && at+20 <= len(text) && bytes.HasPrefix(text[at:], []byte("blk\n")); {
		end := at + 20 + int(binary.LittleEndian.Uint32(text[at+12:]))
		if end > len(text) {
			break
		}
		sum := crc32.Update(crc32.ChecksumIEEE(text[at:at+16]), crc32.IEEETable, text[at+20:end])
		binary.LittleEndian.PutUint32(text[at+16:], sum)
		at = end
	}
	return text
}

// FuzzTrace reads a trace with bytes changed: rows or an error are right; a panic or much memory are not.
func FuzzTrace(f *testing.F) {
	for at := range len(whole()) {
		for _, b := range []byte{0, 0x80, 0xFF} {
			f.Add(true, []byte{byte(at >> 8), byte(at), b})
		}
	}
	f.Add(false, []byte{0, 50, 0xFF})
	path := filepath.Join(f.TempDir(), "1.proftrace")
	f.Fuzz(func(t *testing.T, sealed bool, patches []byte) {
		if err := os.WriteFile(path, patch(whole(), patches, sealed), 0o644); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		readAll(path)
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 16<<20 {
			t.Errorf("%d bytes of memory", after.TotalAlloc-before.TotalAlloc)
		}
	})
}

// readAll reads all tables of a trace, and all texts that rows name, as far as it can be read.
func readAll(path string) {
	d, err := tracer.Open(path, "in")
	if err != nil {
		return
	}
	for _, name := range d.Tables() {
		for _, column := range d.Columns(name) {
			rows, err := read(d, name, column)
			if err != nil {
				_, _ = read(d, name, column+":t") // it may be of texts
				continue
			}
			for _, r := range rows {
				if id, ok := r[0].(int64); ok {
					_, _, _ = d.String(id) // an error is as right as a text
				}
			}
		}
	}
}
