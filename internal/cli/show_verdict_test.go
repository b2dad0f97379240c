package cli

import (
	"reflect"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge"
	"prof/schema"
)

// TestShowSaysWhatTheReportSays holds that the screen of a run comes to the verdicts of its report, from the same rows: of runs with and
// without what Nsight Compute profiled, and of several GPUs.
func TestShowSaysWhatTheReportSays(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, various...)
	bounds := map[judge.Bound]bool{}
	for _, name := range sample.Of([]string{"profiled", "both", "nccl", "ranks", "llama"}, 2) {
		screen, report := askedBoth(t, w, name)
		for key, f := range screen.Frames {
			if key == "diagnostics" {
				continue // which the screen counts, and a report shows as warnings
			}
			if whole := report.Frame(key); whole == nil || !reflect.DeepEqual(f.Rows, whole.Rows) || f.SQL != whole.SQL {
				t.Errorf("%s: the screen and the report do not ask %s alike", name, key)
			}
		}
		short, err := judge.Summarise(screen)
		if err != nil {
			t.Fatal(err)
		}
		long, err := judge.Summarise(report)
		if err != nil {
			t.Fatal(err)
		}
		if len(short.Stages) != len(long.Stages) {
			t.Fatalf("%s: %d stages on the screen, %d in the report", name, len(short.Stages), len(long.Stages))
		}
		for i, s := range short.Stages {
			bounds[s.Bound] = true
			if of := long.Stages[i]; s.Stage != of.Stage || s.Bound != of.Bound || s.Next != of.Next || s.Why != of.Why || s.But != of.But || !reflect.DeepEqual(s.MFU, of.MFU) {
				t.Errorf("%s: the screen says %+v, the report %+v", name, s, of)
			}
		}
		if short.Profiled != long.Profiled {
			t.Errorf("%s: the screen says %q, the report %q", name, short.Profiled, long.Profiled)
		}
	}
	if len(bounds) < 3 {
		t.Errorf("all verdicts are %v: these runs tell too little", bounds)
	}
}

// askedBoth returns what the screen of a run asks, and its report.
func askedBoth(t *testing.T, w *schema.Warehouse, name string) (screen, report *judge.Report) {
	t.Helper()
	run, err := w.Resolve(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if screen, err = queries.NewScreen(t.Context(), queries.NewAsker(w), run); err != nil {
		t.Fatal(err)
	}
	if report, err = queries.NewReport(t.Context(), queries.NewAsker(w), run, queries.ReportOptions{}); err != nil {
		t.Fatal(err)
	}
	return screen, report
}
