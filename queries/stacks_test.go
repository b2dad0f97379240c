package queries_test

import (
	"bytes"
	"fmt"
	"maps"
	"testing"

	"github.com/google/pprof/profile"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/render/stacks"
)

// stackRuns are timelineRuns and different, mixed so that every other one is of another kind.
var stackRuns = []string{"train-stack", "kernels", "variants-graph", "torch-graph", "nccl2", "variants-node", "torch-cpu"}

// TestKernelStacks adds up the stacks of runs: they are all its kernels, to the nanosecond, with and without a filter.
func TestKernelStacks(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	withOperators, p := 0, newPlans(t, w)
	for _, name := range sample.Of(stackRuns, 2) {
		id := testkit.RunID(name)
		for _, filter := range []string{"", ", stage := 'decode'"} {
			const sums = `SELECT coalesce(sum(calls), 0)::BIGINT, coalesce(sum(total_ns), 0)::BIGINT, coalesce(bool_or(%s), false) FROM {%s}(?::UUID%s)`
			got, want := p.ask(fmt.Sprintf(sums, "operators <> '[]' AND ranges <> '[]'", "kernel-stacks", filter), id), p.ask(fmt.Sprintf(sums, "false", "top-kernels", ", top := 0, warmup := true"+filter), id)
			if fmt.Sprint(got.Rows[0][:2]) != fmt.Sprint(want.Rows[0][:2]) {
				t.Errorf("run %s%s: stacks add up to %v, kernels to %v", name, filter, got.Rows, want.Rows)
			}
			if got.Rows[0][2] == true {
				withOperators++
			}
		}
	}
	if withOperators == 0 {
		t.Error("no run has stacks of ranges and operators")
	}
}

// TestStackFLOP holds the FLOP of stacks to those of the operators' calls that had device work, none lost or counted twice, and those that Nsight Compute
// counted to the executions that its launches stand for.
func TestStackFLOP(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, name := range sample.Of(tracedRuns, 2) {
		got := rows(t, w, fmt.Sprintf(`SELECT coalesce(sum(formula_flop), 0)::BIGINT, coalesce(sum(formula_ns), 0) > 0, max(formula_ns) <= max(total_ns) FROM kernel_stacks('%s')`, name))
		want := rows(t, w, fmt.Sprintf(`SELECT coalesce(sum(s.timed_flop_count), 0)::BIGINT AS flop FROM op_sum s JOIN run r ON r.run_id = s.run_id WHERE r.name = '%s' AND s.capture <> 'key_averages'`, name))
		if flop := want[0][1 : len(want[0])-1]; flop != "0" && got[0] != "["+flop+" true true]" {
			t.Errorf("run %s: FLOP, whether timed: %s, want %s", name, got, want)
		}
	}
	got := rows(t, w, `SELECT sum(measured_flop)::BIGINT, sum(dram_bytes)::BIGINT, sum(measured_ns) FROM kernel_stacks('profiled')`)
	want := rows(t, w, `SELECT sum(flop * calls)::BIGINT, sum(bytes * calls)::BIGINT, sum(mean_ns * calls)::BIGINT FROM (
		SELECT avg(l.flop) AS flop, avg(l.dram_bytes) AS bytes, any_value(m.timeline_calls) AS calls, any_value(m.timeline_mean_ns) AS mean_ns
		FROM ncu_match m JOIN ncu_measure l ON l.run_id = m.run_id AND l.launch_id = m.launch_id JOIN run r ON r.run_id = m.run_id
		WHERE r.name = 'profiled' AND m.is_counted AND m.matched_by = 'stage' GROUP BY m.timeline_name_id, l.grid, l.block, l.stage)`)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Nsight Compute: %s, want %s", got, want)
	}
}

// TestProfiles decodes the profiles of runs: each kernel has the calls and the time that top-kernels gives it.
func TestProfiles(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	asker := queries.NewAsker(w)
	ask := func(name string, args queries.Args) *frame.Frame {
		t.Helper()
		f, err := asker.Ask(t.Context(), name, args)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, run := range sample.Of(stackRuns, 2) {
		if run == "torch-cpu" { // without a GPU
			continue
		}
		o := stacks.Options{Run: run, Warmup: true}
		list, err := stacks.Read(ask(stacks.Query, queries.Args{"run": run}), o)
		if err != nil {
			t.Fatal(err)
		}
		form, err := stacks.Forms().Named(stacks.Pprof)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := form.Write(&out, list, o); err != nil {
			t.Fatal(err)
		}
		p, err := profile.Parse(&out)
		if err != nil {
			t.Fatalf("run %s: %v", run, err)
		}
		got, want := map[string][2]int64{}, map[string][2]int64{}
		for _, s := range p.Sample {
			if name := s.Location[0].Line[0].Function.Name; s.Value[1] > 0 {
				got[name] = [2]int64{got[name][0] + s.Value[1], got[name][1] + s.Value[0]}
			}
		}
		top, err := frame.Into[struct {
			Kernel  string `col:"kernel"`
			Calls   int64  `col:"calls"`
			TotalNs int64  `col:"total_ns"`
		}](ask("top-kernels", queries.Args{"run": run, "top": "0", "warmup": "true"}))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range top {
			want[k.Kernel] = [2]int64{k.Calls, k.TotalNs}
		}
		if !maps.Equal(got, want) || len(want) == 0 {
			t.Errorf("run %s: the profile has %d kernels with %v, top-kernels %d with %v", run, len(got), got, len(want), want)
		}
	}
}
