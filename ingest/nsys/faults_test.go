package nsys_test

import (
	"fmt"
	"strings"

	"prof/ingest/rows/rowstest"
)

// busyParts are what the time of a GPU is made of in which its own work ran.
const busyParts = "kernel_ns graph_ns copy_ns "

func sumOf(r rowstest.Row, columns string) (sum int64) {
	for _, c := range strings.Fields(columns) {
		sum += r.Int(c)
	}
	return sum
}

// faultsOf names what must not be in the rows of any export, however damaged: time that is not conserved, work outside the ranges that it is said to be in,
// operators that do not nest. Queries find the same in stored captures, and more: see ingest.
func faultsOf(k *rowstest.Kept) (out []string) {
	fault := func(is bool, what string, of any) {
		if is {
			out = append(out, fmt.Sprintf("%s: %v", what, of))
		}
	}
	for _, c := range [][2]string{{"nvtx_range", "range_id"}, {"range_context", "range_context_id range_id"}, {"range_device", "range_id device_id"}, {"op", "op_id"}} {
		again := k.Table(c[0]).Repeated(c[1])
		fault(len(again) > 0, c[0]+" repeats", again)
	}
	for _, r := range k.Table("nvtx_range") {
		fault(r.Get("parent_range_id") != nil && r.Get("parent_range_id.range_id") == nil, "a parent is missing", r.Text("range_id"))
	}
	type device struct{ source, device string }
	of := func(r rowstest.Row) device { return device{r.Text("source_id"), r.Text("device_id")} }
	idle, gaps, busy := map[device]int64{}, map[device]int64{}, map[string]rowstest.Row{}
	for _, g := range k.Table("gap_sum") {
		idle[of(g)] += g.Int("duration_ns")
		gaps[of(g)] += g.Int("gap_count")
	}
	for _, d := range k.Table("range_device") {
		busy[d.Text("range_id")+" on "+d.Text("device_id")] = d
	}
	rangeOf := func(r rowstest.Row) string {
		return r.Text("source_id") + " " + r.Text("device_id") + " " + r.Text("range_id")
	}
	parts := map[string]int64{}
	for _, p := range k.Table("idle_part") {
		parts[rangeOf(p)] += p.Int("ns")
		fault(p.Int("ns") <= 0, "a part of idle time is empty or negative", p.Text("part"))
	}
	for _, d := range k.Table("device_time") {
		length := d.Int("end_ns") - d.Int("start_ns")
		fault(sumOf(d, busyParts+"other_ns")+parts[rangeOf(d)] != length, "the time of a GPU does not add up", d.Text("device_id"))
		for _, c := range strings.Fields(busyParts + "other_ns") {
			fault(d.Int(c) < 0, "a part of a GPU's time is negative", c)
		}
		if d.Get("range_id") == nil {
			_, has := gaps[of(d)]
			fault(has && (idle[of(d)] != length-sumOf(d, busyParts) || gaps[of(d)] != d.Int("gap_count")), "gaps are not the idle time", of(d))
		} else if r, has := busy[d.Text("range_id")+" on "+d.Text("device_id")]; has {
			fault(sumOf(d, busyParts) != r.Int("busy_ns") || d.Int("start_ns") != r.Int("first_start_ns") || d.Int("end_ns") != r.Int("last_end_ns"), "a range's busy time is not that of its parts", d.Text("range_id"))
		}
	}
	innermost, paths := map[int64]int64{}, map[int64]int64{}
	for _, c := range k.Table("range_context") {
		paths[c.Int("range_context_id")] = c.Int("path_id")
		if c.Get("is_innermost") == true {
			innermost[c.Int("range_context_id")]++
		}
	}
	ns, pieces := map[int64]int64{}, map[int64]int64{}
	work := func(w rowstest.Row) {
		if op := w.Int("op_id"); op > 0 {
			ns[op] += w.Int("duration_ns")
			pieces[op]++
		}
	}
	for _, w := range k.Table("kernel") {
		work(w)
		context, path := w.Int("range_context_id"), w.Int("path_id")
		fault(w.Get("kernel_name_id.name") == nil, "a kernel's name is missing", w.Text("start_ns"))
		fault(context > 0 && innermost[context] != 1, "a kernel's context has not one innermost range", context)
		fault(context > 0 && paths[context] != path, "a kernel's path is not its context's", context)
		fault((context == 0) != (path == 0) || (w.Get("range_context_id") == nil) != (w.Get("path_id") == nil) || (w.Get("tid") == nil) != (w.Get("path_id") == nil), "context and path do not go together", context)
	}
	for _, w := range k.Table("memop") {
		work(w)
	}
	called, calledDevice := map[int64]int64{}, map[int64]int64{}
	ops := k.Table("op")
	for _, o := range ops {
		called[o.Int("parent_op_id")] += o.Int("duration_ns")
		calledDevice[o.Int("parent_op_id")] += o.Int("total_device_ns")
	}
	end := func(r rowstest.Row, of string) int64 { return r.Int(of+"start_ns") + r.Int(of+"duration_ns") }
	for _, o := range ops {
		id := o.Int("op_id")
		fault(o.Get("self_device_ns") == nil || o.Int("self_device_ns") != ns[id] || o.Int("self_work_count") != pieces[id], "an operator's device work is not what it launched", id)
		fault(o.Int("total_device_ns") != o.Int("self_device_ns")+calledDevice[id], "an operator's total is not its own work and that of what it calls", id)
		fault(o.Int("self_cpu_ns") < 0 || o.Int("self_cpu_ns") > o.Int("duration_ns")-called[id], "an operator's own time is not the rest", id)
		const parent, forward = "parent_op_id.", "forward_op_id."
		if o.Get("parent_op_id") == nil {
			fault(o.Int("depth") != 1, "an operator without a parent is not outermost", id)
		} else {
			fault(o.Get(parent+"op_id") == nil || o.Int(parent+"pid") != o.Int("pid") || o.Int(parent+"tid") != o.Int("tid") || o.Int("depth") != o.Int(parent+"depth")+1 ||
				o.Int("start_ns") < o.Int(parent+"start_ns") || end(o, "") > end(o, parent), "an operator is not inside its parent", id)
		}
		fault(o.Get("forward_op_id") != nil && (o.Get(forward+"op_id") == nil || o.Int(forward+"start_ns") >= o.Int("start_ns") || o.Text(forward+"sequence_id") != o.Text("sequence_id") || o.Int(forward+"pid") != o.Int("pid")),
			"a forward operator began no earlier, or has another number", id)
		fault(o.Int("range_context_id") > 0 && (innermost[o.Int("range_context_id")] != 1 || paths[o.Int("range_context_id")] != o.Int("path_id")) || o.Int("range_context_id") == 0 && o.Int("path_id") != 0, "an operator's set of ranges is missing or has another path", id)
	}
	return out
}
