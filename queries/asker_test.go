package queries_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/judge"
	"prof/schema"
)

// TestAsker holds that an Asker gives what Run gives, notes and their order too, to several who ask at once: of a run that three tools profiled,
// of one of two GPUs, and of one traced by PyTorch.
func TestAsker(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	a := queries.NewAsker(w)
	var wait sync.WaitGroup
	for _, run := range []string{"profiled", "nccl2", "train-stack"} {
		for _, name := range []string{"stages", "top-kernels", "mfu", "bottlenecks", "top-operators", "gaps", "sources"} {
			args := queries.Args{"run": run}
			for range 2 { // the second takes the notes of the first
				wait.Go(func() {
					f, err := a.Ask(t.Context(), name, args)
					if err != nil {
						t.Error(err)
						return
					}
					if want := testkit.Query(t, w, name, args); !reflect.DeepEqual(f, want) {
						t.Errorf("%s of %s: notes %q, want %q", name, run, f.Notes, want.Notes)
					}
				})
			}
		}
	}
	wait.Wait()
	if _, err := a.Ask(t.Context(), "no-such", nil); err == nil {
		t.Error("a query that is not there was answered")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late := queries.Args{"run": "nccl2", "top": "1"}
	if _, err := a.Ask(ended, "top-kernels", late); !errors.Is(err, context.Canceled) {
		t.Errorf("asked too late: %v", err)
	}
	if _, err := a.Ask(t.Context(), "top-kernels", late); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

// TestNewReport holds which sections a report has, and that what it is told to show is asked.
func TestNewReport(t *testing.T) {
	t.Parallel()
	a := queries.NewAsker(testkit.All(t))
	report := func(run string, o queries.ReportOptions) *judge.Report {
		t.Helper()
		r, err := queries.NewReport(t.Context(), a, schema.Run{ID: run, Name: run}, o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ids := func(r *judge.Report) string {
		var out []string
		for _, s := range r.Sections {
			if out = append(out, s.ID); s.Frame == nil || s.Missing == "" && len(s.Frame.Rows) == 0 && s.ID != "warnings" && s.ID != "findings" {
				t.Errorf("section %s is empty and does not say why", s.ID)
			}
		}
		return strings.Join(out, " ")
	}
	r := report("profiled", queries.ReportOptions{Sections: []string{"top-kernels", "stages"}, Top: 3})
	if got := ids(r); got != "stages top-kernels" || r.Timeline != nil {
		t.Errorf("sections %q", got)
	}
	if sql := r.Frame("top-kernels").SQL; !strings.Contains(sql, "top := 3") || strings.Contains(sql, "EXCLUDE") {
		t.Errorf("top kernels are asked with %s, not those of a run with results of Nsight Compute", sql)
	}
	whole := report("train-stack", queries.ReportOptions{})
	if got := ids(whole); strings.Contains(got, "throttling") || !strings.Contains(got, "top-operators") || !strings.HasSuffix(got, "sources") || whole.Frame("ceilings") != nil {
		t.Errorf("sections %q", got)
	}
	if sql := whole.Frame("top-kernels").SQL; !strings.Contains(sql, "EXCLUDE") {
		t.Errorf("top kernels are asked with %s of a run without results of Nsight Compute", sql)
	}
	if _, err := queries.NewReport(t.Context(), a, schema.Run{ID: "nccl2"}, queries.ReportOptions{Sections: []string{"stage"}}); err == nil || !strings.Contains(err.Error(), `no section "stage"; sections: `) {
		t.Errorf("a section that is not there: %v", err)
	}
}
