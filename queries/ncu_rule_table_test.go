package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestRuleTables: tables stand under the finding that they come with, of the launch and by the number that ncu-rules has of it; without any, a note says
// which rules have them.
func TestRuleTables(t *testing.T) {
	t.Parallel()
	const report = "ncu/kernels-prefill.ncu-rep.gz"
	w := testkit.Warehouse(t, testkit.Run{Name: "without", Files: []string{report}}, testkit.Run{Name: "with", Files: []string{report}, Facts: []string{"ncu_finding"},
		SQL: `INSERT INTO ncu_rule SELECT r.run_id, r.source_id, r.launch_id, 100 + f.x, 'Fp64', 'FP64', NULL, 'optimization', 'm', NULL, NULL FROM ncu_rule r, range(2) f(x)
			WHERE r.run_id = $run AND r.finding_id = 1 AND r.launch_id = (SELECT max(launch_id) FROM ncu_launch WHERE run_id = $run);
		INSERT INTO ncu_rule_cell SELECT r.run_id, r.launch_id, r.finding_id, c.* FROM ncu_rule r, (VALUES (1, 'Most executed', 1, 1, 'Source', NULL, 'x[i] += y;'), (1, 'Most executed', 1, 2, 'Executed', 512.0, NULL),
			(1, 'Most executed', 2, 1, 'Source', NULL, 'z'), (2, 'Other', 1, 1, 'Count', 0.5, NULL)) c WHERE r.run_id = $run AND r.finding_id = 101`})
	if f := testkit.Query(t, w, "ncu-rule-tables", queries.Args{"run": "without"}); len(f.Rows) != 0 || !slices.ContainsFunc(f.Notes, func(n string) bool { return strings.HasPrefix(n, "no tables of rules") }) {
		t.Errorf("without: %v, %q", f.Rows, f.Notes)
	}
	f := testkit.Query(t, w, "ncu-rule-tables", queries.Args{"run": "with"})
	var got []string
	for _, r := range f.Rows {
		cell := func(column string) any { return r[f.Index(column)] }
		got = append(got, fmt.Sprintf("%v %v %v, %v %v, row %v column %v %v: %v %v", cell("launch"), cell("rule"), cell("nth"), cell("table_number"), cell("title"), cell("row_number"), cell("column_number"), cell("header"), cell("value"), cell("text")))
	}
	want := []string{"3 Fp64 2, 1 Most executed, row 1 column 1 Source: <nil> x[i] += y;", "3 Fp64 2, 1 Most executed, row 1 column 2 Executed: 512 <nil>",
		"3 Fp64 2, 1 Most executed, row 2 column 1 Source: <nil> z", "3 Fp64 2, 2 Other, row 1 column 1 Count: 0.5 <nil>"}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	rules := testkit.Query(t, w, "ncu-rules", queries.Args{"run": "with", "top": "0"})
	if !slices.ContainsFunc(rules.Rows, func(r []any) bool {
		return r[rules.Index("rule")] == "Fp64" && r[rules.Index("nth")] == int64(2) && r[rules.Index("kernel")] == f.Rows[0][f.Index("kernel")]
	}) {
		t.Errorf("ncu-rules has no such finding: %v", rules.Rows)
	}
	for arg, n := range map[string]int{"launch=0": 0, "launch=3": 4, "kernel=" + f.Rows[0][f.Index("kernel")].(string): 4, "kernel=none": 0, "findings=ok": 0, "findings=optimization": 4} {
		name, value, _ := strings.Cut(arg, "=")
		if f := testkit.Query(t, w, "ncu-rule-tables", queries.Args{"run": "with", name: value}); len(f.Rows) != n {
			t.Errorf("%s: %d rows, want %d", arg, len(f.Rows), n)
		}
	}
}
