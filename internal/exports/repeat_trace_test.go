package exports_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"prof/internal/exports"
)

// TestRepeatTrace: a copy is later, with ids of its own; names, 0, texts and what follows the events stay as they were.
func TestRepeatTrace(t *testing.T) {
	const head = `{"schemaVersion": 1, "traceEvents": [
  {"ph": "M", "name": "process_name", "ts": 90.000, "pid": 7, "args": {"name": "python"}}`
	const tail = `
], "traceName": "\"ts\": 4"}`
	of := func(op, call, flow, zero string) string {
		return `, {"ph": "X", "cat": "cpu_op", "name": "\"ts\": 5", "pid": 7, "ts": ` + op + `, "dur": 50.5, "args": {"External id": ` + call + `, "Ev Idx": 0, "Input Dims": [[5]]}},
 {"ph": "s", "id": ` + flow + `, "pid": 7, "ts": ` + zero + `, "cat": "ac2g"}`
	}
	in := head + of("100.250", "4", "9", "120.000") + tail
	var out bytes.Buffer
	if err := exports.RepeatTrace(&out, []byte(in), 3); err != nil {
		t.Fatal(err)
	}
	// From 100.25 to 150.75 us with 1000 us between copies; ids up to 9.
	want := head + of("100.250", "4", "9", "120.000") + of("1150.250", "14", "19", "1170.000") + of("2200.250", "24", "29", "2220.000") + tail
	var a, b any
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		t.Fatalf("%v: %s", err, out.Bytes())
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s\nnot\n%s", out.Bytes(), want)
	}
}

// TestRepeatNoTrace: what has no events is no trace.
func TestRepeatNoTrace(t *testing.T) {
	for _, text := range []string{"", "{}", `{"traceEvents": [{]}`, "no JSON"} {
		if err := exports.RepeatTrace(&bytes.Buffer{}, []byte(text), 2); err == nil {
			t.Errorf("%q is repeated", text)
		}
	}
}
