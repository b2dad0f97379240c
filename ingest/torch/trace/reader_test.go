package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// all reads a trace and gives a line for each event.
func all(src io.Reader) ([]string, *Header, error) {
	return allOf(NewReader(src), describe)
}

func allOf(r *Reader, describe func(e *Event) string) ([]string, *Header, error) {
	defer r.Close()
	var out []string
	for {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			return out, r.Header(), nil
		case err != nil:
			return out, r.Header(), err
		}
		out = append(out, describe(e))
	}
}

func describe(e *Event) string {
	line := fmt.Sprintf("%c %d %s pid %d tid %d %d+%d", max(e.Phase, ' '), e.Category, e.Name, e.PID, e.TID, e.Start, e.Duration)
	if e.NoPID {
		line += " placeless"
	}
	for f := Field(1); f < fieldEnd; f <<= 1 {
		if v, ok := e.Int(f); ok {
			line += fmt.Sprintf(" %d=%d", indexOf(f), v)
		}
	}
	if e.Has&GridSize != 0 {
		line += fmt.Sprint(" grid ", e.Grid)
	}
	if e.Shapes != nil {
		line += " shapes " + string(e.Shapes)
	}
	return line
}

// whole is a trace with everything that the reader knows, in several ways to write it.
const whole = ` {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "computeMajor": 9, "computeMinor": 0, "numSms": 132}],
  "trace_id": "AB", "with_flops": 1, "user": "nobody's business", "nested": {"a": [1, {"b": [[]]}]},
  "traceEvents": [
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 8, "ts": 1.5, "dur": 0.001, "args": {"External id": 3, "Input Dims": [[1, 2], []], "Input type": ["float", ""]}},
  { "args" : { "grid":[1,2,3] , "External id" : -4, "correlation": 5, "shared memory": 0, "x": null } , "cat":"kernel","ph":"X","name":"k \"quoted\" é","pid":0,"tid":7,"ts":2e3,"dur":12345678.901 },
  {"ph": "X", "cat": "cuda_runtime", "name": "hipMemcpy", "pid": 7, "tid": 8, "ts": 5, "dur": 0, "args": {"bytes": "60", "correlation": 5}},
  {"ph": "M", "name": "thread_name", "pid": "Spans", "tid": "PyTorch Profiler", "args": {"name": "main"}},
  {"ph": "f", "id": "0x1f", "cat": "fwdbwd", "pid": 1, "tid": 2, "ts": 4}
  ], "baseTimeNanoseconds": 1790857026000000000, "distributedInfo": {"rank": 3, "world_size": 8} }
`

var wholeEvents = []string{
	"X 1 aten::mm pid 7 tid 8 1500+1 0=3 shapes [[1, 2], []]",
	"X 4 k \"quoted\" é pid 0 tid 7 2000000+12345678901 0=-4 1=5 grid [1 2 3]",
	"X 7 hipMemcpy pid 7 tid 8 5000+0 1=5",
	"M 0 thread_name pid 0 tid 0 0+0 placeless",
	"f 13  pid 1 tid 2 4000+0",
}

func TestWhole(t *testing.T) {
	want := wholeEvents
	for name, src := range map[string]io.Reader{"at once": strings.NewReader(whole), "byte by byte": iotest.OneByteReader(strings.NewReader(whole)),
		"data with the end": iotest.DataErrReader(strings.NewReader(whole))} {
		got, h, err := all(src)
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %v\n%s", name, err, strings.Join(got, "\n"))
		}
		if h.BaseTime != 1790857026000000000 || h.TraceID != "AB" || len(h.Devices) != 1 || *h.Devices[0].SMs != 132 || h.Job == nil || *h.Job.Rank != 3 ||
			fmt.Sprint(h.Facts) != "[{schemaVersion 1} {with_flops 1}]" {
			t.Errorf("%s: the header is %+v", name, h)
		}
	}
}

// TestCut cuts a trace after every byte: what is whole is read, and the end is not taken for well.
func TestCut(t *testing.T) {
	text := strings.TrimRight(whole, " \n")
	was := 0
	for n := range text {
		got, _, err := all(strings.NewReader(text[:n]))
		if err == nil || !errors.Is(err, ErrTruncated) && n > 1 {
			t.Fatalf("cut after %d bytes: the error is %v", n, err)
		}
		if n > 1 && !strings.Contains(err.Error(), fmt.Sprintf("at byte %d", n)) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		if len(got) < was || len(got) > was+1 {
			t.Fatalf("cut after %d bytes: %d events, one byte less gave %d", n, len(got), was)
		}
		was = len(got)
	}
	if was != 5 {
		t.Errorf("%d events before the end", was)
	}
}

func TestBad(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1)
	in := func(event string) string { return `{"traceEvents": [` + event + `]}` }
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "at byte 0: not a trace: it is empty"},
		{"no JSON", "hello", "at byte 0: not a trace: a trace begins with { or ["},
		{"a number", "1", "at byte 0"},
		{"events that are no array", `{"traceEvents": {}}`, "at byte 16: not a trace: traceEvents must be an array"},
		{"an event that is no object", in(`1`), "at byte 17: not a trace: an event must be an object"},
		{"a word", in(`{"ph": "X", "dur": Nano}`), "at byte 36: not a trace: expected a value"},
		{"a word in what is not read", in(`{"args": {"x": NaNs}}`), "at byte 32"},
		{"a word behind a minus", in(`{"cat": "kernel", "ts": -Inf}`), "at byte 41: not a trace: expected a value"},
		{"a word in args", in(`{"args": {"x": infer}}`), "expected a value"},
		{"a time as text", in(`{"cat": "kernel", "ts": "one"}`), "at byte 41: not a trace: ts must be microseconds"},
		{"a name that is a number", in(`{"cat": "cpu_op", "name": 1}`), "name must be text"},
		{"args that are an array", in(`{"cat": "cpu_op", "args": []}`), "args must be an object"},
		{"an id that is a text", in(`{"args": {"correlation": "1"}, "cat": "kernel"}`), "correlation must be a whole number"},
		{"a grid of two", in(`{"cat": "kernel", "args": {"grid": [1, 2]}}`), "grid must be three whole numbers"},
		{"shapes that are a text", in(`{"cat": "cpu_op", "args": {"Input Dims": "x"}}`), "Input Dims must be an array"},
		{"a pid that is an object", in(`{"pid": {}}`), "expected a whole number or text as pid and tid"},
		{"a leading zero", in(`{"ts": 01}`), "expected a number"},
		{"no comma", in(`{"ph": "X" "ts": 1}`), "expected , or } in an object"},
		{"no colon", in(`{"ph" "X"}`), "expected : after"},
		{"no quotes", in(`{ph: "X"}`), "expected a member name"},
		{"nesting without end", in(`{"args": {"x": ` + deep), "arrays and objects nest more than 64 deep"},
		{"more after the end", `{"traceEvents": []} {}`, "at byte 20: not a trace: more data follows the end"},
		{"a wrong header", `{"deviceProperties": 1}`, "at byte 21: not a trace: deviceProperties:"},
		{"a base time that is a text", `{"baseTimeNanoseconds": "x"}`, "baseTimeNanoseconds must be a whole number"},
	} {
		_, _, err := all(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.name, err, c.want)
		}
	}
}

// TestOdd lists numbers that no column holds: they are no reason to refuse the other events.
func TestOdd(t *testing.T) {
	for _, id := range []string{"1.5", "9223372036854775808", "-1e23", "1"} {
		odd, _, err := allOf(NewReader(strings.NewReader(`{"traceEvents": [{"cat": "kernel", "args": {"correlation": `+id+`}}, {"cat": "kernel"}]}`)), func(e *Event) string { return fmt.Sprint(e.Odd) })
		if want := []string{fmt.Sprint(id != "1"), "false"}; err != nil || !slices.Equal(odd, want) {
			t.Errorf("%s: odd are %v, want %v; %v", id, odd, want, err)
		}
	}
	_, h, err := all(strings.NewReader(`{"deviceProperties": [{"id": 0, "numSms": 1e23, "totalGlobalMem": 18446744073709551616, "warpSize": 32}], "traceEvents": []}`))
	if err != nil || len(h.Odd) != 2 || len(h.Devices) != 1 || h.Devices[0].SMs != nil || h.Devices[0].MemoryBytes != nil || *h.Devices[0].WarpSize != 32 {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestLenient lists what is wrong by the letter but harmless.
func TestLenient(t *testing.T) {
	for _, text := range []string{
		`{"traceEvents": [{"ph": "X"},]}`,
		`[{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 1}]`,
		`{"traceEvents": [{"cat": "something", "ts": "x", "args": [1]}]}`,
		`{"traceEvents": [{"cat": "cuda_runtime", "args": {"bytes": "60", "stream": "0x1"}}]}`,
		`{"traceEvents": [{"cat": "kernel", "args": {"context": "0x55d0c3a1"}}]}`,
		`{"traceEvents": [{"cat": "kernel", "ts": 1e300, "dur": 1e99999999}]}`,
		`{"traceEvents": [{"cat": "cpu_op", "name": "torch\cuda\__init__.py", "ts": 1}]}`,
	} {
		if got, _, err := all(strings.NewReader(text)); err != nil || len(got) != 1 {
			t.Errorf("%s: %d events, %v", text, len(got), err)
		}
	}
}

// TestTracks: PyTorch 1.8 writes threads and streams as texts.
func TestTracks(t *testing.T) {
	got, _, err := all(strings.NewReader(`[{"pid": 7, "tid": "24572"}, {"pid": "7", "tid": "24572 (python)"}, {"pid": 0, "tid": "stream 20"}, {"pid": "[TP0] 7", "tid": "main"}]`))
	want := []string{"  0  pid 7 tid 24572 0+0", "  0  pid 7 tid 24572 0+0", "  0  pid 0 tid 20 0+0", "  0  pid 0 tid 0 0+0 placeless"}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q, %v", got, err)
	}
}

func TestScaled(t *testing.T) {
	for _, c := range []struct {
		text   string
		places int
		want   int64
		ok     bool
	}{
		{"0", 3, 0, true}, {"1", 3, 1000, true}, {"-1.5", 3, -1500, true}, {"4396490129049.319", 3, 4396490129049319, true},
		{"1712195495505582.988", 3, 1712195495505582988, true}, {"0.0004", 3, 0, true}, {"0.0005", 3, 1, true}, {"-0.0005", 3, -1, true},
		{"1.25e2", 3, 125000, true}, {"1e-3", 3, 1, true}, {"9223372036854775.807", 3, 1<<63 - 1, true}, {"9223372036854775.808", 3, 0, false},
		{"1.0", 0, 1, true}, {"1.5", 0, 0, false}, {"1e3", 0, 1000, true}, {"9223372036854775807", 0, 1<<63 - 1, true}, {"-9223372036854775808", 0, -1 << 63, true},
		{"9223372036854775808", 0, 0, false}, {"1e400000", 3, 0, false}, {"0.1234567890123456789", 3, 123, true},
	} {
		got, ok := scaled([]byte(c.text), c.places)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("scaled(%s, %d) = %d, %v", c.text, c.places, got, ok)
		}
	}
}

// TestBigValues reads an event larger than the window, and refuses one without end.
func TestBigValues(t *testing.T) {
	big := strings.Repeat("x", 3*windowSize)
	got, _, err := all(strings.NewReader(`{"a": "` + big + `", "traceEvents": [{"ph": "X", "name": "` + big + `"}, {"ph": "X", "name": "b"}]}`))
	if err != nil || len(got) != 2 || !strings.Contains(got[1], " b ") {
		t.Errorf("%d events, %v", len(got), err)
	}
	endless := io.MultiReader(strings.NewReader(`{"traceEvents": [{"name": "`), bytes.NewReader(make([]byte, 2*maxValue)))
	if _, _, err := all(endless); err == nil || !strings.Contains(err.Error(), "a single value takes more than 64 MiB") {
		t.Errorf("the error is %v", err)
	}
}

// TestLongValue reads a value that goes over very many blocks. Read again from its start at each of them, it takes minutes.
func TestLongValue(t *testing.T) {
	text := `{"a": [` + strings.Repeat("[],", 5<<20) + `1], "traceEvents": [{"ph": "X", "name": "a"}]}`
	r := NewParallel(strings.NewReader(text), 2, 1<<12)
	defer r.Close()
	if e, err := r.Next(); err != nil || string(e.Name) != "a" {
		t.Errorf("%v, %v", e, err)
	}
}

// TestSourceFails: what the disk says is passed on, not taken for a trace that was cut.
func TestSourceFails(t *testing.T) {
	cause := errors.New("bad sector")
	_, _, err := all(io.MultiReader(strings.NewReader(whole[:300]), iotest.ErrReader(cause)))
	if !errors.Is(err, cause) || errors.Is(err, ErrTruncated) {
		t.Errorf("the error is %v", err)
	}
	_, _, err = all(io.MultiReader(strings.NewReader(whole[:300]), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if !errors.Is(err, ErrTruncated) {
		t.Errorf("a cut gzip file: the error is %v", err)
	}
}

// misleading has borders of events where there are none: in texts, behind escapes, in args, and at its end.
const misleading = `{"a": [{},{}], "traceEvents": [{"name": "},{\"},{", "cat": "cpu_op"},{"args": {"x": [{"y": 1},{"y": "\\"},{"z": {"a": {}},"b": [{},{}]}]}, "cat": "kernel",
"name": "},{\\"} , {"name": "\\\"},{\"ts\": 1", "ts": 5.000, "cat": "kernel", "args": {"grid": [1, 2, 3],"Collective name": "\u007d,{"}},{},{}
,
{"ph": "X", "pid": 4, "tid": 5}], "b": {"c": [{"ph": "X"},{"ph": "X"},{"ph": "X"}]}, "traceEvents": [{"name": "again"},{}]}`

// TestBlocks: wherever a file is cut into blocks, and by how many goroutines they are parsed, it is the same trace with the same errors.
func TestBlocks(t *testing.T) {
	texts := []string{whole, misleading, strings.Replace(whole, "aten::mm", "aten::\"mm", 1), strings.Replace(whole, "hipMemcpy", `"},{"ph": "`, 1), `[{"ts": 1},{"ts": 2},{"ts": 3}]`}
	for _, from := range []string{whole, misleading} {
		texts = append(texts, strings.Replace(from, `"ts": 5`, `"ts": NaN`, 1), strings.Replace(from, "},", "}", 2), strings.Replace(from, "]", "]]", 3))
		for n := range from {
			checkBlocks(t, from[:n], 40)
		}
	}
	for _, text := range texts {
		for size := 1; size < len(text)+2; size += 1 + size/10 {
			checkBlocks(t, text, size)
		}
	}
}

// checkBlocks compares what is read block by block with what is read in one go.
func checkBlocks(t *testing.T, text string, size int) {
	t.Helper()
	placed := func(e *Event) string { return fmt.Sprint(e.Offset, " ", describe(e)) }
	read := func(r *Reader) string {
		got, h, err := allOf(r, placed)
		return fmt.Sprintf("%q %v %v %v %d %v", got, err, h.Facts, h.HasEvents, h.BaseTime, r.Torn())
	}
	want := read(NewReader(strings.NewReader(text)))
	for _, workers := range []int{1, 3} {
		if got := read(NewParallel(strings.NewReader(text), workers, size)); got != want {
			t.Fatalf("%d goroutines, blocks of %d bytes:\n%s\ngives %s\nnot   %s", workers, size, text, got, want)
		}
	}
}

// TestStopped ends the goroutines of a reader that is not read to its end.
func TestStopped(t *testing.T) {
	for n := range 20 {
		r := NewParallel(strings.NewReader(whole), 2, 10)
		for range n {
			if _, err := r.Next(); err != nil {
				break
			}
		}
		r.Close()
	}
}

// FuzzNext holds the reader to encoding/json: JSON that is a trace gives all its events, and what is no JSON an error, but
// for control characters in texts, backslashes that nobody escaped and commas at the end of arrays, which are let pass.
func FuzzNext(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte(`[{"ph": "X", "ts": 1.5e3, "name": "\u00e9\ud83d\ude00"}, {}]`))
	f.Add([]byte(`{"traceEvents": [{"args": {"grid": [1, 2, 3], "Input Dims": [[[1]], []]}, "cat": "kernel", "tid": "x"}], "a": -0.5e-7}`))
	f.Add([]byte(`{"traceEvents": [{"name": "\\\\\"", "x": [true, false, null]},]}`))
	f.Add([]byte(`{"traceEvents": [{"ph": "X", "name": "a "b" c"}, {"ph": "X", "name": "d"}]}`))
	f.Add([]byte(`{"path": "c:\users", "name": "\uud83"}`))
	f.Add([]byte(`{"a": -Infinity, "traceEvents": [{"cat": "kernel", "ts": NaN, "args": {"grid": [1, inf, 3], "stream": -nan, "x": [nan]}}]}`))
	f.Add([]byte("\xef\xbb\xbf" + whole))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(bytes.NewReader(data))
		got, h, err := allOf(r, describe)
		slow, _, err2 := all(iotest.OneByteReader(bytes.NewReader(data)))
		if fmt.Sprint(got, err) != fmt.Sprint(slow, err2) {
			t.Fatalf("read byte by byte it is another trace:\n%v %v\n%v %v", got, err, slow, err2)
		}
		checkBlocks(t, string(data), 1+len(data)/3)
		if err != nil {
			if !errors.Is(err, ErrSyntax) && !errors.Is(err, ErrTruncated) || !strings.HasPrefix(err.Error(), "at byte ") {
				t.Fatalf("the error is %v", err)
			}
			return
		}
		if r.Torn().Events > 0 {
			if json.Valid(data) {
				t.Fatalf("it is JSON, but %+v", r.Torn())
			}
			return
		}
		var doc any
		if json.Unmarshal(data, &doc) != nil {
			isOdd := func(word string) bool { return bytes.Contains(data, []byte(word)) }
			if !slices.ContainsFunc(oddNumbers, isOdd) && !bytes.ContainsFunc(data, func(r rune) bool { return r < ' ' || r == ']' || r == '\\' || r == 0xFFFD }) {
				t.Fatalf("read without an error, but it is no JSON")
			}
			return
		}
		var events []any
		switch d := doc.(type) {
		case []any:
			events = d
		case map[string]any:
			if !h.HasEvents {
				return
			}
			events, _ = d["traceEvents"].([]any)
		}
		if len(events) != len(got) && bytes.Count(data, []byte("traceEvents")) < 2 && !bytes.ContainsRune(data, '\\') {
			t.Fatalf("%d events, of %d", len(got), len(events))
		}
	})
}

// TestSeveral reads the documents of a file one after another, with any number of goroutines and any size of blocks, where it may; else the second is an error.
func TestSeveral(t *testing.T) {
	t.Parallel()
	one := `{"displayTimeUnit": "us", "traceEvents": [{"cat": "kernel", "name": "k", "ts": 1, "args": {"call_stack": ["a", "]}"]}}, {"cat": "kernel", "name": "l", "ts": 2}]}`
	name := func(e *Event) string { return fmt.Sprintf("%d %s %s", e.Offset, e.Name, e.CallStack) }
	text := one + "\n" + strings.Replace(one, "[{", `[], "traceEvents": [{`, 1) + "\n{}\n" + one + "\n"
	var want []string
	for at := range text {
		switch {
		case strings.HasPrefix(text[at:], `{"cat": "kernel", "name": "k"`):
			want = append(want, fmt.Sprintf(`%d k ["a", "]}"]`, at))
		case strings.HasPrefix(text[at:], `{"cat": "kernel", "name": "l"`):
			want = append(want, fmt.Sprintf("%d l ", at))
		}
	}
	for size := range 3 * len(one) {
		readers := []*Reader{NewReader(iotest.OneByteReader(strings.NewReader(text)))}
		if size > 100 {
			readers = append(readers, NewParallel(strings.NewReader(text), 2, size))
		}
		for _, r := range readers {
			r.Several = true
			if got, _, err := allOf(r, name); err != nil || !slices.Equal(got, want) {
				t.Fatalf("blocks of %d bytes: %q, %v", size, got, err)
			}
		}
	}
	r := NewReader(strings.NewReader(one + one[:50]))
	r.Several = true
	if _, _, err := all(strings.NewReader(text)); !errors.Is(err, ErrSyntax) {
		t.Errorf("a trace of PyTorch: %v", err)
	}
	if got, _, err := allOf(r, name); !errors.Is(err, ErrTruncated) || len(got) != 2 {
		t.Errorf("cut: %q, %v", got, err)
	}
}
