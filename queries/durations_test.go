package queries_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"prof/internal/testkit"
)

// TestKernelDurations holds, on every capture, that the bins of each kernel add up to what top-kernels says of it, and that they are powers
// of 2^(1/4) beside each other.
func TestKernelDurations(t *testing.T) {
	t.Parallel()
	p := newPlans(t, testkit.All(t))
	for _, run := range timelines {
		id := testkit.RunID(run)
		asked := []string{"top := 0"}
		if run == "nccl2" || run == "kernels" {
			asked = append(asked, "top := 3", "top := 0, stage := 'decode'", "top := 0, stage := '(none)', device := 0", "top := 4, device := 1", "top := 0, source := 'torch'")
		}
		for _, args := range asked {
			whole, f := p.ask("FROM {top-kernels}(?::UUID, "+args+")", id), p.ask("FROM {kernel-durations}(?::UUID, "+args+")", id)
			at := func(r []any, c string) any { return r[f.Index(c)] }
			type sum struct {
				rank, calls, total any
				median             any
			}
			want, got, bins := map[any]sum{}, map[any]sum{}, map[any][2]int64{}
			for _, r := range whole.Rows {
				want[r[whole.Index("kernel")]] = sum{r[0], number(whole, r, "calls"), number(whole, r, "total_ns"), r[whole.Index("median_ns")]}
			}
			last := map[any]float64{}
			for _, r := range f.Rows {
				kernel, from, to := at(r, "kernel"), at(r, "from_ns").(float64), at(r, "to_ns").(float64)
				n := bins[kernel]
				bins[kernel] = [2]int64{n[0] + number(f, r, "calls"), n[1] + number(f, r, "total_ns")}
				got[kernel] = sum{at(r, "rank"), at(r, "kernel_calls"), at(r, "kernel_total_ns"), at(r, "median_ns")}
				steps := 4 * math.Log2(from)
				if from > 0 && (math.Abs(steps-math.Round(steps)) > 1e-9 || math.Abs(to/from-math.Pow(2, 0.25)) > 1e-12) || number(f, r, "calls") == 0 || from < last[kernel] {
					t.Errorf("%s, %s: %v after a bin up to %v", run, args, r, last[kernel])
				}
				last[kernel] = to
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s, %s: the kernels are %v, of top-kernels %v", run, args, got, want)
			}
			for kernel, n := range bins {
				if (sum{want[kernel].rank, n[0], n[1], want[kernel].median}) != want[kernel] {
					t.Errorf("%s, %s: the bins of %v add up to %v", run, args, kernel, n)
				}
			}
		}
		if bad := p.ask(`SELECT d.kernel, d.from_ns, any_value(d.calls), count(*) FROM {kernel-durations}(?::UUID, top := 0, warmup := true) d JOIN kernel_name n ON n.run_id = ?::UUID AND n.name = d.kernel
			JOIN kernel k ON k.run_id = n.run_id AND k.kernel_name_id = n.kernel_name_id AND k.duration_ns >= d.from_ns AND k.duration_ns < d.to_ns
			GROUP BY ALL HAVING count(*) <> any_value(d.calls) OR sum(k.duration_ns) <> any_value(d.total_ns)`, id, id); len(bad.Rows) > 0 {
			t.Errorf("%s: bins hold other executions than lie between their bounds: %q", run, asText(bad))
		}
	}
}

// TestDurationBounds holds which bin an execution is in whose time is a bound, or nothing.
func TestDurationBounds(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	stmts := []string{}
	for i, ns := range []int{0, 1, 2, 3, 861, 862, 1023, 1024, 1217, 1218, 1 << 40, 1<<40 - 1} {
		stmts = append(stmts, ran(1, 1, i*10, ns, 1, ""))
	}
	made(t, w, append(stmts, ran(1, 2, 0, 5, 1, ""))...)
	testkit.DeriveOnly(t, w, "kernel_duration", "work_sum", "stage_pass")
	got := []string{}
	for _, r := range rowsOf(t, w, "SELECT from_ns, to_ns, calls, total_ns FROM kernel_durations('made', top := 1)") {
		got = append(got, fmt.Sprintf("%.2f-%.2f %v %v", r...))
	}
	want := []string{"0.00-1.00 1 0", "1.00-1.19 1 1", "2.00-2.38 1 2", "2.83-3.36 1 3", "724.08-861.08 1 861", "861.08-1024.00 2 1885", "1024.00-1217.75 2 2241", "1217.75-1448.15 1 1218",
		fmt.Sprintf("%.2f-%d.00 1 %d", math.Exp2(39.75), 1<<40, 1<<40-1), fmt.Sprintf("%d.00-%.2f 1 %[1]d", 1<<40, math.Exp2(40.25))}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := rows(t, w, "SELECT rank, kernel_calls, kernel_total_ns, median_ns FROM kernel_durations('made', top := 0) WHERE rank = 2"); !slices.Equal(got, []string{"[2 1 5 5]"}) {
		t.Errorf("the second kernel: %q", got)
	}
	if got := fmt.Sprint(rowsOf(t, w, "SELECT DISTINCT kernel_calls, median_ns FROM kernel_durations('made', top := 1)")); got != "[[12 942.5]]" {
		t.Errorf("calls and median: %s", got)
	}
}
