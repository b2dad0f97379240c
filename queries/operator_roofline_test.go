package queries_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestOperatorRoofline holds what must be true between the columns, and that the rows have all device time of operators.
func TestOperatorRoofline(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"torch-ops", "torch-llama", "train", "emit-nvtx"} {
		f := testkit.Query(t, w, "operator-roofline", queries.Args{"run": run, "top": "0"})
		at := func(r []any, name string) float64 {
			switch v := r[f.Index(name)].(type) {
			case int64:
				return float64(v)
			case float64:
				return v
			}
			return math.NaN()
		}
		last := math.Inf(1)
		for _, r := range f.Rows {
			what := fmt.Sprintf("%s: %v %v", run, r[f.Index("operator")], r[f.Index("shapes")])
			self, roof, lost, bytes := at(r, "self_device_ns"), at(r, "roof_ns"), at(r, "lost_ns"), at(r, "read_bytes")+at(r, "write_bytes")
			unknown := r[f.Index("unknown")]
			if (unknown == nil) == math.IsNaN(roof) || math.IsNaN(roof) != (r[f.Index("side")] == nil) {
				t.Errorf("%s: the roof is %v, unknown %v, the side %v", what, roof, unknown, r[f.Index("side")])
			}
			if math.IsNaN(roof) {
				continue
			}
			memory, compute := bytes/at(r, "roof_bytes_per_s")*1e9, at(r, "flop")/at(r, "roof_flop_per_s")*1e9
			if math.IsNaN(compute) {
				compute = 0
			}
			if roof < math.Max(memory, compute)*(1-1e-9) || roof > (memory+compute)*(1+1e-9) || math.Abs(lost+roof-self) > 1e-6*self || math.Abs(at(r, "dram_ratio")*self/memory-1) > 1e-9 {
				t.Errorf("%s: roof %v, lost %v, self %v, memory %v, compute %v, DRAM %v", what, roof, lost, self, memory, compute, at(r, "dram_ratio"))
			}
			if lost > last {
				t.Errorf("%s: it is not in order", what)
			}
			last = lost
		}
		want := rows(t, w, fmt.Sprintf(`SELECT sum(o.self_device_ns)::BIGINT FROM op o JOIN run r USING (run_id) WHERE r.name = '%s'`, run))
		if got := fmt.Sprintf("[%d]", total(f, "self_device_ns")); got != want[0] {
			t.Errorf("%s: operators have %s ns, the rows %s", run, want[0], got)
		}
	}
	for _, c := range []struct{ stmt, want string }{
		{`SELECT calls, roof_ns, side, flop, full_flop, precision, unknown FROM operator_roofline('torch-ops', operator := 'aten::mm', sort := 'self_device', top := 1)`, "[3 1.6669369735839902e+06 compute 1.649267441664e+12 1.649267441664e+12 bf16 <nil>]"},
		{`SELECT roof_ns, side, read_bytes, write_bytes, intensity FROM operator_roofline('torch-ops', operator := 'aten::add') WHERE bytes_bound = 'exact' AND read_bytes > 1e9`, fmt.Sprintf("[%v memory 1.610612736e+09 8.05306368e+08 0.16666666666666666]", 3*805306368/4.8e12*1e9)},
		{`SELECT precision, unknown FROM operator_roofline('torch-ops', operator := 'aten::mm') WHERE contains(types, 'float')`, "[fp32 <nil>]"}, // by the kernel's name: sgemm
		{`SELECT flop < full_flop, precision FROM operator_roofline('torch-ops', operator := '*attention*') WHERE contains(shapes, '[8, 32, 2048, 128]')`, "[true bf16]"},
		{`SELECT DISTINCT bytes_bound FROM operator_roofline('torch-ops', operator := 'aten::gather')`, "[upper]"},
		{`SELECT DISTINCT unknown FROM operator_roofline('torch-ops', operator := 'aten::cat,aten::index')`, "[list-types]"},
		{`SELECT DISTINCT unknown, flop > 0 FROM operator_roofline('emit-nvtx', operator := 'aten::mm,aten::addmm')`, "[no-types true]"},
		{`SELECT count(*) FROM operator_roofline('torch-cpu')`, "[0]"},
		{`SELECT n.calls = s.calls AND n.self_device_ns = s.self_device_ns AND abs(n.lost_ns - s.lost_ns) < 1 AND abs(n.flop / s.flop - 1) < 1e-12 FROM operator_roofline('torch-llama', "by" := 'name', operator := 'aten::mm') n,
			(SELECT sum(o.calls) AS calls, sum(o.self_device_ns) AS self_device_ns, sum(o.lost_ns) AS lost_ns, sum(o.flop) AS flop FROM operator_roofline('torch-llama', operator := 'aten::mm', top := 0) o) s`, "[true]"},
		{`SELECT count(*), count(unknown) FROM operator_roofline('train', "by" := 'name', operator := 'aten::copy_')`, "[2 1]"}, // copies from the host are apart
		{`SELECT sum(c.call_count) > 0, bool_and(c.unknown = 'host-copy'), count(c.read_bytes) FROM op_cost c JOIN run r USING (run_id) WHERE r.name = 'train' AND c.leaves_device`, "[true true 0]"},
	} {
		if got := rows(t, w, c.stmt); len(got) != 1 || got[0] != c.want {
			t.Errorf("%s: %v, want %s", c.stmt, got, c.want)
		}
	}
}

// TestOperatorRooflineUnknown: of a device without peaks no roof is known, and what was faster than DRAM is shown, with a note.
func TestOperatorRooflineUnknown(t *testing.T) {
	t.Parallel()
	faster := testkit.Run{Name: "faster", Files: []string{"torch/ops.trace.json.gz"}, Facts: []string{"op_cost", "caveat_operator"}, SQL: `UPDATE op SET self_device_ns = self_device_ns // 4, total_device_ns = total_device_ns // 4 WHERE run_id = $run`}
	unheard := faster
	unheard.Name, unheard.SQL = "unheard", "UPDATE device SET name = 'Unheard-of' WHERE run_id = $run"
	w := testkit.Warehouse(t, faster, unheard)
	args := queries.Args{"run": "faster", "top": "0"}
	f := queryNoted(t, queries.NewAsker(w), "operator-roofline", args)
	over := 0
	for _, v := range column(f, "dram_ratio") {
		if r, ok := v.(float64); ok && r > 1 {
			over++
		}
	}
	if over < 10 || !strings.Contains(strings.Join(f.Notes, "\n"), "came out of the L2 cache") {
		t.Errorf("%d rows are faster than DRAM, notes %q", over, f.Notes)
	}
	args["run"] = "unheard"
	for _, v := range column(testkit.Query(t, w, "operator-roofline", args), "unknown") {
		if v != "no-peak" && v != "list-types" {
			t.Errorf("a device without peaks: %v", v)
		}
	}
}
