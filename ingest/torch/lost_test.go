package torch_test

import (
	"fmt"
	"strings"
	"testing"
)

// lost is where traces lie that lost data, or are in an odd form.
const lost = "../../testdata/lost/"

// TestUndated: what most events say is when a trace was, not what the first ones do.
func TestUndated(t *testing.T) {
	k, warnings := stored(t, lost+"undated-first.trace.json")
	k.Table("kernel").By("start_ns").Expect(t, "start_ns duration_ns kernel_name_id.name launch_start_ns",
		"20000|80000|gemm_a|10000", "120000|80000|gemm_a|110000", "220000|80000|gemm_a|210000", "320000|80000|gemm_a|310000", "420000|80000|gemm_a|410000")
	k.Table("source_part").Is("part", "kernel").Expect(t, "read_count stored_count reason", "7|5|2 have no time: they begin at 0 and take none")
	if want := "2 events of kernel are not stored: they have no time: they begin at 0 and take none"; len(warnings) != 1 || warnings[0] != want {
		t.Errorf("the warnings are %q", warnings)
	}
}

// TestBase: one odd time costs its event, wherever it stands and whatever it is.
func TestBase(t *testing.T) {
	const now = 1.7e15
	good := []string{op("a", now, 10, ``), launch(now+1, 1, 5), kernel(now+3, 3, 5, ``), op("b", now+20, 5, ``)}
	for _, c := range []struct{ name, odd, want string }{
		{"no time", kernel(0, 0, 9, ``), "1 events of kernel are not stored: they have no time: they begin at 0 and take none"},
		{"no time, of memory", memory(0, 5, 1, 1), "1 events of cpu_instant_event are not stored: they have no time: they begin at 0 and take none"},
		{"the year 1970", kernel(5, 2, 9, ``), "1 events of kernel are not stored: they are years off"},
		{"the year 2100", event("overhead", "Buffer Flush", 4.1e15, 1, ``), "1 events of overhead are not stored: they are years off"},
	} {
		for at := range len(good) + 1 {
			events := append(append(append([]string{}, good[:at]...), c.odd), good[at:]...)
			k, warnings := stored(t, write(t, "x.json", traceOf(events...)))
			if len(warnings) != 1 || warnings[0] != c.want {
				t.Errorf("%s, at %d: the warnings are %q", c.name, at, warnings)
			}
			k.Table("op").By("op_id").Expect(t, "start_ns op_name_id.name self_device_ns", "0|a|3000", "20000|b|0")
		}
	}
	// Months from the origin that the trace names, as Kineto counts since 2024.
	k, warnings := stored(t, write(t, "x.json", traceOf(kernel(0, 0, 9, ``), op("a", 4e12, 10, ``))))
	if k.Table("op").Expect(t, "start_ns", "0"); len(warnings) != 1 {
		t.Errorf("the warnings are %q", warnings)
	}
	// One event at 0, or before it, moves neither the begin of the capture nor its length, wherever it stands; nor does the profiler's own track.
	later := []string{op("a", 4e12, 10, ``), launch(4e12+1, 1, 5), kernel(4e12+3, 3, 5, ``), op("b", 4e12+20, 5, ``)}
	for _, ts := range []float64{0, -3, 7} {
		for at := range len(later) + 1 {
			events := append(append(append([]string{}, later[:at]...), kernel(ts, 2, 9, ``)), later[at:]...)
			k, warnings := stored(t, write(t, "x.json", traceOf(events...)))
			if want := "1 events of kernel are not stored: they begin days before all others"; len(warnings) != 1 || warnings[0] != want {
				t.Errorf("one at %v us, place %d: the warnings are %q", ts, at, warnings)
			}
			k.Table("op").By("op_id").Expect(t, "start_ns op_name_id.name", "0|a", "20000|b")
		}
	}
	k, warnings = stored(t, write(t, "x.json", traceOf(append(later, event("Trace", "PyTorch Profiler (0)", 0, 5, ``))...)))
	if k.Table("op").By("op_id").Expect(t, "start_ns", "0", "20000"); len(warnings) != 0 {
		t.Errorf("the warnings are %q", warnings)
	}
	// An hour apart is no fault.
	if k, warnings = stored(t, write(t, "x.json", traceOf(kernel(0, 2, 9, ``), op("a", 4e9, 10, ``), op("b", 4e9+20, 5, ``)))); len(warnings) != 0 || k.Count("kernel") != 1 {
		t.Errorf("the warnings are %q", warnings)
	}
	// From 0 on.
	k, warnings = stored(t, write(t, "x.json", traceOf(kernel(0, 0, 9, ``), op("a", 40, 10, ``))))
	if k.Table("op").Expect(t, "start_ns", "40000"); len(warnings) != 0 || k.Count("kernel") != 1 {
		t.Errorf("the warnings are %q", warnings)
	}
}

// TestOddSaid: what a trace says that no trace should is said, and the rest is read.
func TestOddSaid(t *testing.T) {
	good := traceOf(op("a", 40, 10, ``), kernel(43, 3, 5, ``))
	for _, c := range []struct{ name, text, want string }{
		{"a GPU of no number", traceOf(op("a", 40, 10, ``), kernel(43, 3, 5, `, "device": -1`)), "devices of kernels, copies and fills: 1 values are out of range and are left unknown, such as -1"},
		{"a later form", strings.Replace(good, `"schemaVersion": 1`, `"schemaVersion": 99`, 1), `the trace is of schema version "99", and prof knows 1: what changed between them is read as if it had not`},
		{"the known form", good, ""},
	} {
		if _, warnings := stored(t, write(t, "x.json", c.text)); strings.Join(warnings, "|") != c.want {
			t.Errorf("%s: the warnings are %q, want %q", c.name, warnings, c.want)
		}
	}
}

// TestBeginEnd: an interval may be two events.
func TestBeginEnd(t *testing.T) {
	k, warnings := stored(t, lost+"begin-end-kernels.trace.json")
	k.Table("kernel").By("start_ns").Expect(t, "start_ns duration_ns kernel_name_id.name launch_start_ns",
		"20000|80000|gemm_a|10000", "120000|80000|gemm_a|110000", "220000|80000|gemm_a|210000", "320000|80000|gemm_a|310000", "420000|80000|gemm_a|410000")
	k.Table("source_part").Is("part", "kernel").Expect(t, "read_count stored_count reason", "5|5|~")
	if len(warnings) > 0 {
		t.Errorf("warnings: %q", warnings)
	}
	end := func(ts float64, more string) string {
		return fmt.Sprintf(`{"ph": "E", "pid": 1, "tid": 1, "ts": %.3f%s}`, ts, more)
	}
	begin := func(e string) string { return strings.Replace(e, `"X"`, `"B"`, 1) }
	// Ends without names end the last one that began; those with ids their own, of kernels that overlap.
	k, _ = stored(t, write(t, "x.json", traceOf(begin(op("a", 0, 0, ``)), begin(op("b", 2, 0, ``)), begin(launch(3, 0, 5)), end(4, ``), end(5, ``), end(10, `, "args": {"External id": 3}`),
		begin(kernel(20, 0, 5, ``)), begin(kernel(22, 0, 6, ``)), strings.Replace(kernel(25, 0, 5, ``), `"X"`, `"E"`, 1), strings.Replace(kernel(29, 0, 6, ``), `"X"`, `"E"`, 1))))
	k.Table("op").By("op_id").Expect(t, "op_name_id.name duration_ns self_cpu_ns self_device_ns", "a|10000|7000|0", "b|3000|2000|5000")
	k.Table("kernel").By("start_ns").Expect(t, "start_ns duration_ns correlation_id", "20000|5000|5", "22000|7000|6")
}

// TestOverhead: a piece of a capture in which an operator called twice holds a request for buffers; key_averages() of the whole has the same.
func TestOverhead(t *testing.T) {
	k, _ := stored(t, lost+"overhead.trace.json.gz")
	got := operators(k)["aten::random_"]
	if want := (operator{calls: 2, cpuTotal: 1560389, selfCPU: 49481, deviceTotal: 2720, selfDevice: 2720}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
