package queries_test

import (
	"slices"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge"
	"prof/schema"
)

func reportOf(t *testing.T, run string) *judge.Report {
	t.Helper()
	w := testkit.All(t)
	r, err := queries.NewReport(t.Context(), queries.NewAsker(w), schema.Run{ID: testkit.RunID(run), Name: run}, queries.ReportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSummaryOfCapture holds the summary of a decode that CUDA graphs keep busy, and of a prefill that is launched one kernel at a time.
func TestSummaryOfCapture(t *testing.T) {
	t.Parallel()
	r := reportOf(t, "utilised")
	s, err := r.Summary()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, stage := range s.Stages {
		got = append(got, stage.Stage+" "+string(stage.Bound)+" "+string(stage.Next))
	}
	if want := []string{"decode busy queued", "prefill launch-bound "}; !slices.Equal(got, want) {
		t.Errorf("stages %q, want %q", got, want)
	}
	if len(s.Breakdown) != 3 || s.Breakdown[0].Words != "matrix products (kernels of cublas nvjet)" || s.Breakdown[1].Name != "queued" {
		t.Errorf("categories %+v", s.Breakdown)
	}
	if len(s.Advice) != 5 || s.Advice[0].ID != "elementwise-chains" || s.Advice[0].Stage != "decode" {
		t.Errorf("advice %+v", s.Advice)
	}
}

// TestAskMore holds what is asked for the summary beyond the sections: of two GPUs whose collectives run alone the passes
// of each; nothing of copies, which take little of their time.
func TestAskMore(t *testing.T) {
	t.Parallel()
	r := reportOf(t, "nccl2")
	for key, want := range map[string]bool{"passes of GPU 0": true, "passes of GPU 1": true, "memops of decode": false, "memops of prefill": false} {
		if is := r.Frame(key) != nil; is != want {
			t.Errorf("%s was asked: %v, want %v", key, is, want)
		}
	}
}
