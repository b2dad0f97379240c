package queries_test

import (
	"fmt"
	"testing"
)

// TestKernelStacks adds up the stacks of every run: they are all its kernels, to the nanosecond, with and without a filter.
func TestKernelStacks(t *testing.T) {
	t.Parallel()
	w := everything(t)
	names := rows(t, w, `SELECT name FROM run WHERE run_id IN (SELECT run_id FROM kernel) ORDER BY name`)
	if len(names) < 5 {
		t.Fatalf("only %d runs have kernels", len(names))
	}
	withOperators := 0
	for _, name := range names {
		name = name[1 : len(name)-1]
		for _, filter := range []string{"", ", stage := 'decode'"} {
			sums := `SELECT coalesce(sum(calls), 0)::BIGINT, coalesce(sum(total_ns), 0)::BIGINT FROM %s`
			got := rows(t, w, fmt.Sprintf(sums, fmt.Sprintf("kernel_stacks('%s'%s)", name, filter)))
			want := rows(t, w, fmt.Sprintf(sums, fmt.Sprintf("top_kernels('%s', top := 0%s)", name, filter)))
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("run %s%s: stacks add up to %s, kernels to %s", name, filter, got, want)
			}
		}
		if got := rows(t, w, fmt.Sprintf(`SELECT count(*) FROM kernel_stacks('%s') WHERE operators <> '[]' AND ranges <> '[]'`, name)); got[0] != "[0]" {
			withOperators++
		}
	}
	if withOperators == 0 {
		t.Error("no run has stacks of ranges and operators")
	}
}
