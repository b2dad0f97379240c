package cli

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
)

// trendTables hold what comparisons read of a run.
var trendTables = []string{"run", "source", "source_fact", "device", "kernel_name", "kernel_class", "derivation", "stage_pass", "work_sum", "run_condition", "run_trait"}

// trendRuns are 14 runs of one workload, "a" and copies of it an hour apart each. From the eighth on decode takes 6 % longer for its largest
// kernel, and the code is of another commit.
var trendRuns = []testkit.Run{{Name: "a", Files: []string{"nsys/" + kernels}, Sources: []string{"internal/cli/trend_test.go"}, Then: copyRun}}

// copyRun makes the copies of trendRuns.
func copyRun(ctx context.Context, w *schema.Warehouse) error {
	stmts := []string{"CREATE TEMP TABLE first AS SELECT * FROM run"}
	for i := range 14 {
		id := fmt.Sprintf("'01a90000-0000-7000-8000-%012d'::UUID", i)
		if i > 0 {
			for _, table := range trendTables {
				change := ""
				switch table {
				case "run":
					change = fmt.Sprintf(", 'copy-%d' AS name, created_at + INTERVAL (%[1]d) HOUR AS created_at, started_at + INTERVAL (%[1]d) HOUR AS started_at", i)
				case "stage_pass": // by some per mille more or less, and the step
					change = fmt.Sprintf(", (gpu_span_ns * %f)::BIGINT AS gpu_span_ns", factor(i))
				case "work_sum":
					change = fmt.Sprintf(", (sum_ns * CASE WHEN kernel_name_id = (SELECT arg_max(k.kernel_name_id, k.sum_ns) FROM work_sum k) THEN %f ELSE 1 END)::BIGINT AS sum_ns", 2*factor(i))
				}
				stmts = append(stmts, fmt.Sprintf("INSERT INTO %[1]s SELECT * REPLACE (%[2]s AS run_id%[3]s) FROM %[1]s WHERE run_id = (SELECT run_id FROM first)", table, id, change))
			}
		} else {
			id = "(SELECT run_id FROM first)"
		}
		stmts = append(stmts, fmt.Sprintf(`INSERT INTO capture (run_id, source_id, mode, command, workload_key, folder, git_commit, is_git_dirty, started_at, status)
			SELECT %[1]s, 1, 'light', 'python a.py', 'cafe0123', '/f', '%[2]s', false, TIMESTAMP '2026-01-01', 'ok'; INSERT INTO run_condition SELECT %[1]s, 'commit', '%[2]s', 'tells', 1`,
			id, map[bool]string{false: "aaaa", true: "bbbb"}[i >= 7]))
	}
	conn, err := w.DB.Conn(ctx) // of which the temporary table is
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range stmts {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// factor is by how much longer passes of a run take than those of the first.
func factor(i int) float64 {
	f := 1 + 0.001*float64(i*7%3)
	if i >= 7 {
		f *= 1.06
	}
	return f
}

func TestTrend(t *testing.T) {
	t.Parallel()
	p := reading(t, trendRuns)
	out := p.ok("trend", "--stage", "decode", "--last", "3")
	for _, want := range []string{"workload  cafe0123\n", "14 runs, ", "slower from copy-7 on", "up to copy-6", "commit aaaa → bbbb", "11 earlier runs not shown", "copy-13", "6.0 % slower since copy-7"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q:\n%s", want, out)
		}
	}
	if strings.Contains(out, "copy-10 ") || strings.Contains(out, "\x1b") {
		t.Errorf("it shows more runs than asked for, or colours in a pipe:\n%s", out)
	}
	rows, err := csv.NewReader(strings.NewReader(p.ok("trend", "--workload", "cafe", "--stage", "decode", "--format", "csv"))).ReadAll()
	if err != nil || len(rows) != 15 || rows[8][0] != "copy-7" || rows[8][3] != "change" {
		t.Errorf("csv holds %d rows, %v: %q", len(rows), err, rows)
	}
	var whole struct {
		Workload string
		Changes  []struct {
			Words string
			Moved []struct{ Item_name string }
		}
	}
	if err := json.Unmarshal([]byte(p.ok("trend", "--workload", "copy-3", "--stage", "decode", "--format", "json")), &whole); err != nil {
		t.Fatal(err)
	}
	if whole.Workload != "cafe0123" || len(whole.Changes) != 1 || len(whole.Changes[0].Moved) == 0 {
		t.Errorf("json holds %+v", whole)
	}
	if got := p.run("trend", "--format", "html", "--out", "t.html"); got.code != 0 || got.out != "" || got.err != "wrote t.html\n" {
		t.Errorf("html: %+v", got)
	}
	if page, err := os.ReadFile(p.path("t.html")); err != nil || !strings.Contains(string(page), "<circle") {
		t.Errorf("the page has no plot: %v", err)
	}
	testTrendMistakes(t, p)
}

// testTrendMistakes holds what is said of mistakes.
func testTrendMistakes(t *testing.T, p *place) {
	t.Helper()
	for _, c := range []struct {
		code int
		errs string
		args []string
	}{
		{2, `.*unknown format "xml": use one of table, md, html, blocks, csv, json\n`, []string{"--format", "xml"}},
		{2, `.*there is no metric "gpu_spn_ns".*gpu_span_ns.*\n`, []string{"--metric", "gpu_spn_ns"}},
		{2, `.*--last -1 is below 0\n`, []string{"--last", "-1"}},
		{2, `.*tag "x": write it key=value.*\n`, []string{"--tag", "x"}},
		{2, `.*name a run of the workload with --workload.*\n`, []string{"copy-3"}},
		{1, `.*no run of this workload has a stage "decod"; they have .*decode.*\n`, []string{"--stage", "decod"}},
		{1, `.*no workload key begins with "zz", and no run has that name.*\n`, []string{"--workload", "zz"}},
		{1, `.*no workload key begins with "mü", and no run has that name.*\n`, []string{"--workload", "mü"}},
		{1, `.*with the tag kind=odd.*\n`, []string{"--tag", "kind=odd"}},
	} {
		p.wantLike(c.code, "", c.errs, append([]string{"trend"}, c.args...)...)
	}
	newPlace(t).wantLike(1, "", ".*no warehouse yet.*\n", "trend")
}
