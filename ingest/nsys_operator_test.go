package ingest_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest/nsys/sqlite"
	"prof/ingest/nsys/table"
	"prof/internal/testkit"
	"prof/queries"
)

// operatorFaults are queries over the whole warehouse that must give no rows on any capture.
var operatorFaults = []struct{ what, sql string }{
	{"an operator's device work is not what it launched", `WITH w AS (SELECT run_id, op_id, duration_ns FROM kernel UNION ALL SELECT run_id, op_id, duration_ns FROM memop),
		s AS (SELECT run_id, op_id, sum(duration_ns) AS ns, count(*) AS n FROM w WHERE op_id > 0 GROUP BY ALL)
		SELECT run_id, op_id, self_device_ns, s.ns FROM op FULL JOIN s USING (run_id, op_id)
		WHERE self_device_ns IS DISTINCT FROM coalesce(s.ns, 0) OR self_work_count IS DISTINCT FROM coalesce(s.n, 0)`},
	{"an operator's total is not its own work and that of what it calls", `SELECT o.run_id, o.op_id FROM op o
		LEFT JOIN (SELECT run_id, parent_op_id AS op_id, sum(total_device_ns) AS ns FROM op GROUP BY ALL) c USING (run_id, op_id)
		WHERE o.total_device_ns <> o.self_device_ns + coalesce(c.ns, 0)`},
	{"an operator's own time is not the rest", `SELECT o.run_id, o.op_id FROM op o LEFT JOIN (SELECT run_id, parent_op_id AS op_id, sum(duration_ns) AS ns FROM op GROUP BY ALL) c USING (run_id, op_id)
		WHERE o.self_cpu_ns < 0 OR o.self_cpu_ns > o.duration_ns - coalesce(c.ns, 0)`},
	{"an operator is not inside its parent", `SELECT o.run_id, o.op_id FROM op o LEFT JOIN op p ON p.run_id = o.run_id AND p.op_id = o.parent_op_id
		WHERE o.parent_op_id IS NOT NULL AND (p.op_id IS NULL OR p.pid <> o.pid OR p.tid <> o.tid OR o.depth <> p.depth + 1
			OR o.start_ns < p.start_ns OR o.start_ns + o.duration_ns > p.start_ns + p.duration_ns) OR o.parent_op_id IS NULL AND o.depth <> 1`},
	{"a forward operator began no earlier, or has another number", `SELECT o.run_id, o.op_id FROM op o LEFT JOIN op f ON f.run_id = o.run_id AND f.op_id = o.forward_op_id
		WHERE o.forward_op_id IS NOT NULL AND (f.op_id IS NULL OR f.start_ns >= o.start_ns OR f.sequence_id IS DISTINCT FROM o.sequence_id OR f.pid <> o.pid)`},
	{"device work of a known launch has no op_id where there are operators, or has one where there are none, or nobody knows its launch",
		`WITH w AS (SELECT run_id, op_id, launch_start_ns FROM kernel UNION ALL SELECT run_id, op_id, launch_start_ns FROM memop)
		SELECT run_id FROM w WHERE (op_id IS NOT NULL) <> (launch_start_ns IS NOT NULL AND EXISTS (FROM op WHERE op.run_id = w.run_id))`},
	{"an operator's name is missing", `SELECT o.run_id, o.op_id FROM op o ANTI JOIN op_name n ON n.run_id = o.run_id AND n.op_name_id = o.op_name_id`},
	{"an operator's inputs are missing", `SELECT o.run_id, o.op_id FROM op o ANTI JOIN op_input i ON i.run_id = o.run_id AND i.op_input_id = o.op_input_id WHERE o.op_input_id IS NOT NULL`},
	{"an operator's set of ranges is missing or has another path", `SELECT o.run_id, o.op_id FROM op o LEFT JOIN range_context c ON c.run_id = o.run_id AND c.range_context_id = o.range_context_id AND c.is_innermost
		WHERE coalesce(c.path_id, 0) <> o.path_id`},
	{"an operator was called in its own range", `SELECT o.run_id, o.op_id FROM op o JOIN range_context c ON c.run_id = o.run_id AND c.range_context_id = o.range_context_id
		JOIN nvtx_range r ON r.run_id = c.run_id AND r.range_id = c.range_id JOIN op_name n ON n.run_id = o.run_id AND n.op_name_id = o.op_name_id
		WHERE r.style = 'push_pop' AND r.tid = o.tid AND r.start_ns = o.start_ns AND r.duration_ns = o.duration_ns AND starts_with(r.name, n.name || ', ')`},
	{"op_id repeats", `SELECT run_id, op_id FROM op GROUP BY ALL HAVING count(*) > 1`},
	{"op_name repeats", `SELECT run_id, op_name_id FROM op_name GROUP BY ALL HAVING count(*) > 1`},
	{"op_input repeats", `SELECT run_id, op_input_id FROM op_input GROUP BY ALL HAVING count(*) > 1`},
}

// TestOperatorsOfCaptures holds every capture at hand to what must be so of any. Those without operators must stay so.
func TestOperatorsOfCaptures(t *testing.T) {
	w, _ := sharedWarehouse(t)
	for _, f := range operatorFaults {
		expectNone(t, w, f.what, f.sql)
	}
	const seen = `(SELECT count(*) FROM nvtx_range n WHERE n.run_id = r.run_id AND domain = '' AND regexp_matches(n.name, ', op_id = [0-9]+($|, sizes = )'))`
	expectNone(t, w, "operators are not the ranges with an op_id", `SELECT r.name, (SELECT count(*) FROM op WHERE op.run_id = r.run_id), `+seen+` FROM run r
		WHERE (SELECT count(*) FROM op WHERE op.run_id = r.run_id) <> `+seen)
	expectNone(t, w, "the source does not say how many ranges are operators", `SELECT r.name, reason FROM run r JOIN source_part p USING (run_id) WHERE part = 'NVTX_EVENTS'
		AND regexp_extract(coalesce(reason, ''), '([0-9]+) ranges are also operators', 1) <> CASE WHEN `+seen+` > 0 THEN `+seen+`::VARCHAR ELSE '' END`)
	testkit.Expect(t, w, `SELECT count(*) FROM op WHERE run_id = `+emitRun, "1796")
	expectNone(t, w, "a warning where no operator lists its inputs", `SELECT d.message FROM diagnostic d WHERE d.message LIKE '%of its operators%'`)
}

const emitRun = `(SELECT run_id FROM run WHERE name = 'emit-nvtx')`

// emitted is the text of a range of emit_nvtx, read in another way than the package does.
var emitted = regexp.MustCompile(`^(.+?)(?:, seq = (\d+))?, op_id = \d+(?:, sizes = (\[\[.*?\]\]))?(?:, input_op_ids = \[\(.*\)\])?$`)

// TestOperatorsEqualRanges: the operators are the ranges of the export whose text is of that form, one by one.
func TestOperatorsEqualRanges(t *testing.T) {
	w, _ := sharedWarehouse(t)
	data := content(t, "../testdata/nsys/emit-nvtx/emit-nvtx.sqlite.gz")
	e, err := sqlite.New(bytes.NewReader(data), int64(len(data)), "emit-nvtx")
	if err != nil {
		t.Fatal(err)
	}
	scan, err := e.Scan(t.Context(), "NVTX_EVENTS", []table.Want{{Name: "start"}, {Name: "end"}, {Name: "globalTid"}, {Name: "text", Kind: table.Text}})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	others := 0
	err = table.Each(scan, func(b *table.Batch) error {
		for i := range b.N {
			m := emitted.FindStringSubmatch(b.Cols[3].Texts[i])
			if m == nil {
				others++
				continue
			}
			for k := 2; k < 4; k++ {
				if m[k] == "" {
					m[k] = "~"
				}
			}
			start, end, thread := b.Cols[0].Ints[i], b.Cols[1].Ints[i], b.Cols[2].Ints[i]
			want = append(want, fmt.Sprintf("%s|%s|%s|%d|%d|%d|%d", m[1], m[2], m[3], start, end-start, thread>>24&0xFFFFFF, thread&0xFFFFFF))
		}
		return nil
	})
	if err != nil || len(want) != 1796 || others != 3 {
		t.Fatalf("%d operators, %d other ranges, %v", len(want), others, err)
	}
	got := testkit.Rows(t, w, `SELECT n.name, o.sequence_id, i.shapes, o.start_ns, o.duration_ns, o.pid, o.tid FROM op o JOIN op_name n USING (run_id, op_name_id)
		LEFT JOIN op_input i USING (run_id, op_input_id) WHERE run_id = `+emitRun)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%d operators are stored, %d ranges are some:\n%s\n%s", len(got), len(want), strings.Join(got[:3], "\n"), strings.Join(want[:3], "\n"))
	}
}

// TestOperatorsByTime computes by times alone what the sweep and the marks of launches give: which operator is around an
// operator, an API call and a launch.
func TestOperatorsByTime(t *testing.T) {
	w, _ := sharedWarehouse(t)
	around := func(what, columns, start, end string) string {
		return fmt.Sprintf(`SELECT %s, o.op_id FROM (%s) x JOIN op o ON o.run_id = x.run_id AND o.tid = x.tid AND o.start_ns <= x.%s AND o.start_ns + o.duration_ns >= x.%s
			WHERE x.run_id = %s QUALIFY row_number() OVER (PARTITION BY %[1]s ORDER BY o.start_ns DESC, o.duration_ns, o.op_id DESC) = 1`, columns, what, start, end, emitRun)
	}
	expectNone(t, w, "self_cpu_ns is not the rest of the call", `WITH c AS (`+around(`SELECT *, start_ns + duration_ns AS end_ns FROM api_call`, "x.run_id, x.tid, x.start_ns, x.duration_ns", "start_ns", "end_ns")+`),
		a AS (SELECT run_id, op_id, sum(duration_ns) AS ns FROM c GROUP BY ALL), k AS (SELECT run_id, parent_op_id AS op_id, sum(duration_ns) AS ns FROM op GROUP BY ALL)
		SELECT op_id, self_cpu_ns, duration_ns - coalesce(a.ns, 0) - coalesce(k.ns, 0) FROM op LEFT JOIN a USING (run_id, op_id) LEFT JOIN k USING (run_id, op_id)
		WHERE run_id = `+emitRun+` AND self_cpu_ns <> duration_ns - coalesce(a.ns, 0) - coalesce(k.ns, 0)`)
	const works = `SELECT run_id, tid, correlation_id, launch_start_ns, op_id AS stored FROM kernel UNION ALL SELECT run_id, tid, correlation_id, launch_start_ns, op_id FROM memop`
	expectNone(t, w, "a launch's operator is not the innermost around it", `WITH l AS (SELECT DISTINCT * FROM (`+works+`) WHERE run_id = `+emitRun+`),
		f AS (`+around(works, "x.run_id, x.correlation_id", "launch_start_ns", "launch_start_ns")+`)
		SELECT l.correlation_id, l.stored, f.op_id FROM l LEFT JOIN f USING (run_id, correlation_id) WHERE l.stored <> coalesce(f.op_id, 0)`)
	expectNone(t, w, "a parent is not the innermost operator around", `SELECT c.op_id, c.parent_op_id, p.op_id FROM op c JOIN op p ON p.run_id = c.run_id AND p.tid = c.tid AND p.op_id <> c.op_id
			AND p.start_ns <= c.start_ns AND p.start_ns + p.duration_ns >= c.start_ns + c.duration_ns
		WHERE c.run_id = `+emitRun+` QUALIFY row_number() OVER (PARTITION BY c.op_id ORDER BY p.start_ns DESC, p.duration_ns) = 1 AND p.op_id IS DISTINCT FROM c.parent_op_id`)
}

// TestOperatorConservation: what operators launched, what was launched outside of them and what nobody knows the launch of is
// all device work.
func TestOperatorConservation(t *testing.T) {
	w, _ := sharedWarehouse(t)
	f := testkit.Query(t, w, "conservation", queries.Args{"run": "emit-nvtx"})
	total := sumOf(f, "kernel_sum_ns")
	memops, err := strconv.ParseInt(testkit.Rows(t, w, `SELECT sum(duration_ns) FROM memop WHERE run_id = `+emitRun)[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Expect(t, w, `WITH w AS (SELECT op_id, duration_ns FROM kernel WHERE run_id = `+emitRun+` UNION ALL SELECT op_id, duration_ns FROM memop WHERE run_id = `+emitRun+`),
		o AS (SELECT sum(self_device_ns) AS self, sum(total_device_ns) FILTER (parent_op_id IS NULL) AS total, sum(self_work_count) AS n FROM op WHERE run_id = `+emitRun+`),
		r AS (SELECT coalesce(sum(duration_ns) FILTER (op_id = 0), 0) AS outside, coalesce(sum(duration_ns) FILTER (op_id IS NULL), 0) AS unknown, count(*) FILTER (op_id > 0) AS n FROM w)
		SELECT o.self + outside + unknown, o.total + outside + unknown, o.self > 0, outside > 0, o.n = r.n FROM o, r`, fmt.Sprintf("%d|%[1]d|true|true|true", total+memops))
}

// TestForwardOperators: backward functions are named after the operators whose gradients they compute. PyTorch's own flows tie
// as many in each step.
func TestForwardOperators(t *testing.T) {
	w, _ := sharedWarehouse(t)
	got := testkit.Rows(t, w, `SELECT b.name, f.name, o.tid <> p.tid FROM op o JOIN op p ON p.run_id = o.run_id AND p.op_id = o.forward_op_id
		JOIN op_name b ON b.run_id = o.run_id AND b.op_name_id = o.op_name_id JOIN op_name f ON f.run_id = p.run_id AND f.op_name_id = p.op_name_id WHERE o.run_id = `+emitRun)
	if len(got) != 2*64 {
		t.Errorf("%d backward functions have a forward operator", len(got))
	}
	plain := strings.NewReplacer("aten::", "", "_", "")
	number := regexp.MustCompile(`Backward\d+$`)
	for _, r := range got {
		p := strings.Split(r, "|")
		if strings.ToLower(number.ReplaceAllString(p[0], "")) != plain.Replace(p[1]) || p[2] != "true" {
			t.Errorf("%s has the forward operator %s, on another thread: %s", p[0], p[1], p[2])
		}
	}
	expectNone(t, w, "a backward function has no forward operator", `SELECT op_id FROM op JOIN op_name n USING (run_id, op_name_id) WHERE run_id = `+emitRun+`
		AND regexp_matches(n.name, '^[A-Za-z]+Backward[0-9]+$') AND forward_op_id IS NULL`)
}

// TestOperatorsEqualProfiler compares calls, launches and FLOP of each operator with those the PyTorch profiler counted of
// the same model's training steps, which also copied their input to the GPU.
func TestOperatorsEqualProfiler(t *testing.T) {
	w, _ := sharedWarehouse(t)
	file, err := os.Open("../testdata/nsys/emit-nvtx/profiler.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	const steps = 2
	more := map[string][2]int{"aten::to": {steps, 0}, "aten::_to_copy": {steps, 0}, "aten::empty_strided": {steps, 0}, "aten::copy_": {steps, steps}}
	var want []string
	for _, l := range lines[1:] {
		calls, err := strconv.Atoi(l[1])
		launched, err2 := strconv.Atoi(l[2])
		if err != nil || err2 != nil {
			t.Fatal(l)
		}
		if l[0] == "aten::conv2d" { // takes stride and padding, which the ranges do not have
			l[3] = "0"
		}
		want = append(want, fmt.Sprintf("%s|%d|%d|%s", l[0], calls-more[l[0]][0], launched-more[l[0]][1], l[3]))
	}
	// record_function's ranges are no operators to the profiler.
	got := testkit.Rows(t, w, `SELECT n.name, count(*) FILTER (NOT is_folded), sum(self_work_count), coalesce(sum(flop_count), 0) FROM op JOIN op_name n USING (run_id, op_name_id)
		WHERE run_id = `+emitRun+` AND NOT starts_with(n.name, 'Optimizer.') GROUP BY n.name`)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("operators differ: %s, the profiler %s", got[i], want[i])
			}
		}
		t.Errorf("%d operators, the profiler has %d", len(got), len(want))
	}
	if len(want) < 100 {
		t.Errorf("only %d operators were compared", len(want))
	}
}

// TestOperatorsOfTwoSources: the operators of a second capture are numbered on after those of the first.
func TestOperatorsOfTwoSources(t *testing.T) {
	w := kept(t, testkit.Run{Name: "two", Files: []string{"nsys/emit-nvtx/emit-nvtx.sqlite.gz", "../ingest/nsys/testdata/operators.sqlite"}})
	for _, f := range operatorFaults {
		expectNone(t, w, f.what, f.sql)
	}
	testkit.Expect(t, w, `SELECT count(*), min(op_id) & 134217727, max(op_id) & 134217727 FROM op GROUP BY source_id ORDER BY source_id`, "1796|1|1796", "19|1797|1815")
	expectNone(t, w, "device work names an operator of another capture", `SELECT k.op_id FROM kernel k JOIN op USING (run_id, op_id) WHERE op.source_id <> k.source_id`)
}

// TestOperatorForms reads what the capture does not have; the numbers are those of make_exports.operators.
func TestOperatorForms(t *testing.T) {
	w := madeUp(t, "forms", "operators.sqlite")
	for _, f := range operatorFaults {
		expectNone(t, w, f.what, f.sql)
	}
	testkit.Expect(t, w, `SELECT n.name, p.name, f.name, o.depth, o.pid, o.tid, i.shapes, o.sequence_id, o.is_folded, o.is_nested, o.start_ns, o.duration_ns, o.self_cpu_ns, o.self_device_ns, o.total_device_ns,
		o.self_work_count, o.flop_count, h.path FROM op o JOIN op_name n USING (run_id, op_name_id) LEFT JOIN op_input i USING (run_id, op_input_id)
		LEFT JOIN range_path h ON h.run_id = o.run_id AND h.path_id = o.path_id
		LEFT JOIN op po ON po.op_id = o.parent_op_id LEFT JOIN op_name p ON p.op_name_id = po.op_name_id LEFT JOIN op fo ON fo.op_id = o.forward_op_id LEFT JOIN op_name f ON f.op_name_id = fo.op_name_id
		ORDER BY o.pid, o.tid, o.start_ns`,
		"aten::linear|~|~|1|100|101|[[1, 4], [4, 4]]|5|false|false|110|190|25|0|3|0|~|prefill",
		"aten::t|aten::linear|~|2|100|101|[[4, 4]]|5|false|false|115|15|15|0|0|0|~|prefill > aten::linear",
		"aten::addmm|aten::linear|~|2|100|101|[[4], [1, 4], [4, 4]]|6|false|false|140|150|135|3|3|2|32|prefill > aten::linear",
		"aten::add|~|~|1|100|101|~|~|false|false|310|90|15|8|12|1|~|prefill > lib",
		"aten::add|aten::add|~|2|100|101|~|~|false|true|320|70|60|4|4|1|~|prefill > lib > aten::add",
		"aten::mul|~|~|1|100|101|[[4], []]|7|false|false|510|30|30|0|0|0|4|prefill",
		"a range, of record_function's|~|~|1|100|101|~|~|false|false|541|19|9|64|64|1|~|prefill",
		"aten::sync|~|~|1|100|101|~|~|false|false|950|1050|1020|1024|1024|1|~|prefill",
		"autograd::engine::evaluate_function: AddmmBackward0|~|~|1|100|102|~|~|false|false|600|100|20|0|128|0|~|~",
		"AddmmBackward0|autograd::engine::evaluate_function: AddmmBackward0|aten::addmm|2|100|102|[[1, 4]]|6|false|false|610|80|70|128|128|1|~|autograd::engine::evaluate_function: AddmmBackward0",
		"autograd::engine::evaluate_function: TBackward0|~|~|1|100|102|~|~|false|false|700|50|20|0|0|0|~|~",
		"TBackward0|autograd::engine::evaluate_function: TBackward0|aten::t|2|100|102|[[4, 4]]|5|false|false|710|30|30|0|0|0|~|autograd::engine::evaluate_function: TBackward0",
		"autograd::engine::evaluate_function: MulBackward0|~|~|1|100|102|~|~|false|false|760|30|10|0|0|0|~|~",
		"MulBackward0|autograd::engine::evaluate_function: MulBackward0|~|2|100|102|~|7|false|false|765|20|20|0|0|0|~|autograd::engine::evaluate_function: MulBackward0",
		"aten::mul|~|~|1|100|103|[[4], []]|7|false|false|512|18|18|0|0|0|4|~",
		"aten::div|~|~|1|100|103|~|~|false|false|540|50|10|0|0|0|~|~", "aten::div|aten::div|~|2|100|103|~|~|true|true|545|40|40|0|0|0|~|aten::div",
		"aten::mm|~|~|1|200|201|[[4, 4], [4, 4]]|6|false|false|120|80|25|0|512|0|128|~", "aten::relu|aten::mm|~|2|200|201|~|~|false|false|125|55|50|512|512|1|~|aten::mm")
	testkit.Expect(t, w, `SELECT k.start_ns, n.name, k.op_id = 0 FROM kernel k LEFT JOIN op USING (run_id, op_id) LEFT JOIN op_name n USING (run_id, op_name_id) ORDER BY k.start_ns`,
		"140|aten::relu|false", "200|aten::addmm|false", "340|aten::add|false", "410|aten::add|false", "430|~|true", "470|~|true", "560|a range, of record_function's|false",
		"640|AddmmBackward0|false", "800|~|~", "1510|aten::sync|false")
	testkit.Expect(t, w, `SELECT message FROM diagnostic WHERE origin = 'ingest' ORDER BY message`,
		"NVTX_EVENTS: 1 operators were still running at the end of the capture; their times are cut there",
		"NVTX_EVENTS: process 100 lacks 1 of its operators with op_id 11 to 28: they began or ended outside the capture, or their text is longer than 65000 bytes because they list many tensors: "+
			"then Nsight Systems loses the range and ends those around it too early (capture without record_shapes)")
	testkit.Expect(t, w, `SELECT count(*) FROM nvtx_range`, "24")
}
