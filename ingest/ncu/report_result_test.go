package ncu_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"prof/ingest/ncu"
)

// rewritten takes a report apart and puts it together again from what edit leaves of its blocks' headers.
func rewritten(t testing.TB, data []byte, edit func(block int, header []byte) []byte, more ...[]byte) []byte {
	t.Helper()
	head, parts := takeApart(t, data)
	out := slices.Clone(head)
	for i, p := range parts {
		header, _ := withoutField(p.header, 5)
		out = append(out, blockWith(edit(i, header), p.entries...)...)
	}
	return append(out, slices.Concat(more...)...)
}

// TestReportLateStrings: a result may use names that a later block brings.
func TestReportLateStrings(t *testing.T) {
	data := reportOf(t, "variants-apprange")
	_, want := results(t, data)
	var tables []byte
	late := rewritten(t, data, func(_ int, header []byte) []byte {
		left, table := withoutField(header, 4)
		tables = append(tables, table...)
		return left
	})
	if r, got, err := tryResults(t, late); err == nil {
		t.Errorf("%d results without any names (%d bytes lost)", len(got), r.Lost)
	}
	r, got := results(t, append(late, blockWith(tables)...))
	if !reflect.DeepEqual(got, want) || len(got) != 2 || r.Lost != 0 {
		t.Errorf("%d results, %d bytes lost; want the %d of the report as it was", len(got), r.Lost, len(want))
	}
}

// TestReportRewritten: what the other tests change is put together as it was.
func TestReportRewritten(t *testing.T) {
	for _, name := range []string{"kernels-prefill", "kernels-range", "variants-apprange", "variants-graph"} {
		data := reportOf(t, name)
		same := rewritten(t, data, func(_ int, h []byte) []byte { return h })
		_, want := results(t, data)
		if _, got := results(t, same); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the results differ", name)
		}
	}
}

// TestReportValues: values of every type come out exactly, and those of instances are none of the metric's own.
func TestReportValues(t *testing.T) {
	const big = 1<<53 + 1
	cases := []struct {
		value []byte
		want  ncu.Metric
	}{
		{doubleField(3, 0.1), ncu.Metric{Value: 0.1}},
		{doubleField(3, math.Inf(-1)), ncu.Metric{Value: math.Inf(-1)}},
		{doubleField(3, -1e308), ncu.Metric{Value: -1e308}},
		{floatField(2, 0.1), ncu.Metric{Value: float64(float32(0.1))}},
		{uintField(4, math.MaxUint32), ncu.Metric{Value: math.MaxUint32}},
		{uintField(5, 0), ncu.Metric{}},
		{uintField(5, 1<<53), ncu.Metric{Value: 1 << 53}},
		{uintField(5, 1<<63), ncu.Metric{Value: 1 << 63}},
		{uintField(5, big), ncu.Metric{Value: 1 << 53, Text: "9007199254740993"}},
		{uintField(5, math.MaxUint64), ncu.Metric{Value: 1 << 64, Text: "18446744073709551615"}},
		{textField(1, ""), ncu.Metric{IsText: true}},
		{textField(1, "No-CC"), ncu.Metric{Text: "No-CC", IsText: true}},
		{slices.Concat(uintField(5, big), doubleField(3, 1)), ncu.Metric{Value: 1}}, // the last one counts, as everywhere in these messages
		{slices.Concat(doubleField(3, 1), textField(1, "x")), ncu.Metric{Text: "x", IsText: true}},
		{slices.Concat(textField(1, "x"), doubleField(3, 1)), ncu.Metric{Value: 1}},
		{slices.Concat(textField(9, "new"), uintField(8, 1), doubleField(3, 2)), ncu.Metric{Value: 2}}, // fields of a later version
	}
	var names []string
	var fields [][]byte
	for i, c := range cases {
		names = append(names, fmt.Sprint("m", i))
		fields = append(fields, metricField(uint64(i), c.value))
	}
	names = append(names, "none", "instances")
	n := uint64(len(cases))
	instance := messageField(3, messageField(1, uintField(5, 1)), messageField(2, doubleField(3, 5)))
	fields = append(fields, metricField(n, nil), messageField(13, uintField(1, n)), messageField(13, uintField(1, n+1), instance, instance))
	_, got := results(t, oneKernel(names, fields...))
	if len(got) != 1 || len(got[0].Metrics) != len(cases) {
		t.Fatalf("%d results: %+v", len(got), got)
	}
	for i, c := range cases {
		c.want.Name, c.want.Unit = names[i], ncu.UnknownUnit
		if m := got[0].Metrics[i]; m != c.want {
			t.Errorf("%x: %+v, want %+v", c.value, m, c.want)
		}
	}
	_, got = results(t, oneKernel([]string{"x"}, metricField(0, doubleField(3, math.NaN()))))
	if m := got[0].Metrics[0]; !math.IsNaN(m.Value) || m.IsText {
		t.Errorf("NaN: %+v", m)
	}
}

// TestReportRepeatedMetric: a metric that stands several times in a result, as application replay writes it once a pass, is one.
func TestReportRepeatedMetric(t *testing.T) {
	a, b := metricField(0, uintField(5, 4)), metricField(1, doubleField(3, 2))
	_, got := results(t, reportWith(blockWith(slices.Concat(uintField(2, 2), stringTable("a", "b")), slices.Concat(a, b, a, a), slices.Concat(a, a))))
	var names []string
	for _, x := range got {
		for _, m := range x.Metrics {
			names = append(names, fmt.Sprintf("%d %s=%v", x.ID, m.Name, m.Value))
		}
	}
	if s := strings.Join(names, ","); s != "0 a=4,0 b=2,1 a=4" {
		t.Errorf("%s, want each metric once a result", s)
	}
}

// TestReportResultFields: what a result says beside its metrics.
func TestReportResultFields(t *testing.T) {
	dim := func(n protowire.Number, x, y, z uint64) []byte {
		return messageField(n, uintField(1, x), uintField(2, y), uintField(3, z))
	}
	process := func(pid uint64, name string) []byte {
		return messageField(6, uintField(1, pid), textField(2, "host"), textField(3, name))
	}
	names := stringTable("launch__device_id", "device__attribute_device_index")
	device := func(n protowire.Number, name, v uint64) []byte {
		return messageField(n, uintField(1, name), messageField(2, uintField(5, v)))
	}
	clock := func(n protowire.Number, asked, done uint64) []byte {
		return messageField(n, uintField(1, asked), uintField(2, done))
	}
	data := reportWith(
		blockWith(messageField(3, uintField(1, 99), uintField(2, 1700000000))),
		blockWith(slices.Concat(uintField(2, 2), names, process(7, "a")), slices.Concat(
			uintField(1, 70), textField(5, "_Z1kv"), textField(6, "k"), textField(7, "k()"), dim(10, 1, 2, 3), dim(11, 4, 5, 6),
			device(13, 1, 5), device(13, 0, 3), uintField(14, 1700000001), uintField(22, 1), uintField(23, 7), clock(25, 1, 0),
			textField(31, "my kernel"), floatField(35, 580.159),
		), slices.Concat(textField(5, "main_kernel"), textField(6, "main_kernel"), dim(10, 1<<40, 1, 1), floatField(35, 0))),
		blockWith(slices.Concat(uintField(7, 1), uintField(8, 1), uintField(9, 1), process(8, "b")),
			slices.Concat(uintField(1, 80), device(4, 1, 2), uintField(5, 1700000002), uintField(11, 2), uintField(12, 9), clock(12, 1, 1)),
			slices.Concat(uintField(1, 81), uintField(11, 3), uintField(12, 4)),
			slices.Concat(uintField(1, 82), uintField(11, 5), uintField(12, 6), clock(13, 0, 0))),
		blockWith(uintField(2, 1), uintField(1, 90)), // of the default process, which the session names
	)
	yes, no := true, false
	want := []ncu.Result{
		{ID: 0, Kind: ncu.Kernel, PID: 7, TID: 70, Process: "a", Host: "host", Device: 3, Context: 1, Stream: 7, Name: "k()", Function: "k",
			Symbol: "_Z1kv", Grid: [3]int32{1, 2, 3}, Block: [3]int32{4, 5, 6}, Created: 1700000001, ClockLocked: &no},
		{ID: 1, Kind: ncu.Kernel, PID: 7, Process: "a", Host: "host", Device: -1, Context: -1, Stream: -1, Name: "main_kernel",
			Function: "main_kernel", Symbol: "main_kernel", Grid: [3]int32{-1, 1, 1}},
		{ID: 2, Kind: ncu.Range, PID: 8, TID: 80, Process: "b", Host: "host", Device: 2, Context: 2, Stream: -1, Created: 1700000002, ClockLocked: &yes},
		{ID: 3, Kind: ncu.Cmdlist, PID: 8, TID: 81, Process: "b", Host: "host", Device: -1, Context: 3, Stream: 4},
		{ID: 4, Kind: ncu.Graph, PID: 8, TID: 82, Process: "b", Host: "host", Device: -1, Context: 5, Stream: 6, ClockLocked: &no},
		{ID: 5, Kind: ncu.Kernel, PID: 99, TID: 90, Device: -1, Context: -1, Stream: -1},
	}
	r, got := results(t, data)
	for i := range got {
		got[i].Metrics, got[i].Ranges, got[i].Findings = nil, nil, nil
		if i < len(want) && !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("result %d is\n  %+v, want\n  %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d results, want %d", len(got), len(want))
	}
	if r.Session.Driver != "580.159" || r.Session.Created != 1700000000 {
		t.Errorf("driver %q, created %d", r.Session.Driver, r.Session.Created)
	}
	if p := r.Processes(); len(p) != 2 || p[0] != (ncu.Process{PID: 7, Host: "host", Name: "a"}) || p[1].PID != 8 {
		t.Errorf("processes %+v", p)
	}
}

// state makes an NVTX state with the domains 0 (default), 1 (LLM) and 2 (other).
func state(fields ...[]byte) []byte {
	domain := func(id uint64, name string) []byte {
		return messageField(1, uintField(1, id), textField(2, name))
	}
	return messageField(21, slices.Concat(fields...), domain(0, "<default domain>"), domain(1, "LLM"), domain(2, "other"))
}

// open is a range as the state holds it; call is the number of its thread's last API call before it.
type open struct {
	name string
	call uint64
}

func thread(tid uint64, domains ...[]byte) []byte {
	return messageField(2, uintField(1, tid), slices.Concat(domains...))
}

func stack(domain uint64, ranges ...open) []byte {
	out := uintField(1, domain)
	for _, r := range ranges {
		out = append(out, messageField(3, textField(1, r.name), uintField(3, r.call))...)
	}
	return messageField(2, out)
}

func startEnd(domain uint64, ranges ...open) []byte {
	out := uintField(1, domain)
	for i, r := range ranges {
		out = append(out, messageField(3, uintField(1, uint64(i)), textField(2, r.name), uintField(4, r.call))...)
	}
	return messageField(3, out)
}

// TestReportRangeOrder: ranges of several domains and styles stand in the order they were opened, those of other threads are left
// out.
func TestReportRangeOrder(t *testing.T) {
	tid := uintField(1, 10)
	for _, c := range []struct {
		what  string
		state []byte
		want  string
	}{
		{"one thread, two domains", state(thread(10, stack(0, open{"b", 5}), stack(1, open{"a", 2}, open{"c", 9}))), "LLM/a > /b > LLM/c"},
		{"no call between: the lower domain", state(thread(10, stack(2, open{"b", 5}), stack(1, open{"a", 5}))), "LLM/a > other/b"},
		{"one stack keeps its order", state(thread(10, stack(1, open{"z", 5}, open{"a", 5}, open{"m", 5}))), "LLM/z > LLM/a > LLM/m"},
		{"another thread", state(thread(11, stack(0, open{"x", 1})), thread(10, stack(0, open{"a", 2}))), "/a"},
		{"only another thread", state(thread(11, stack(0, open{"x", 1}))), ""},
		{"start/end of any thread", state(thread(10, stack(0, open{"b", 5})), startEnd(1, open{"a", 2}, open{"c", 8})), "~LLM/a > /b > ~LLM/c"},
		{"scope of the process", state(thread(11, stack(0, open{"b", 5})), thread(10, stack(0, open{"a", 2})), uintField(5, 1)), "/a > /b"},
		{"a domain that has no name", state(thread(10, stack(7, open{"a", 2}))), "domain 7/a"},
		{"no ranges", state(), ""},
	} {
		_, got := results(t, oneKernel(nil, tid, c.state))
		if line := rangesOf(&got[0]); line != c.want || !got[0].HasNVTX {
			t.Errorf("%s: %s (NVTX %v), want %s", c.what, line, got[0].HasNVTX, c.want)
		}
	}
	if _, got := results(t, oneKernel(nil, tid)); got[0].HasNVTX || len(got[0].Ranges) != 0 {
		t.Errorf("without NVTX: %+v", got[0])
	}
}

// TestReportReuse: a result does not keep anything of the one before it, and a later reading gives the same.
func TestReportReuse(t *testing.T) {
	data := reportOf(t, "variants-graph")
	r, err := ncu.OpenReport(bytes.NewReader(data), int64(len(data)), "test.ncu-rep")
	if err != nil {
		t.Fatal(err)
	}
	_, want := results(t, data)
	for range 2 {
		n := 0
		err := r.Each(t.Context(), func(x *ncu.Result) error {
			if !slices.Equal(x.Metrics, want[n].Metrics) || !slices.Equal(x.Ranges, want[n].Ranges) || len(x.Findings) != len(want[n].Findings) {
				t.Errorf("result %d differs", n)
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Error(n, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := r.Each(ctx, func(*ncu.Result) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v after it was cancelled", err)
	}
	stop := errors.New("enough")
	if err := r.Each(t.Context(), func(*ncu.Result) error { return stop }); err != stop {
		t.Errorf("%v, want the caller's own error", err)
	}
}
