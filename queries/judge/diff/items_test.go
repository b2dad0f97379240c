package diff

import (
	"slices"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
)

// TestNotRecorded: operators of a side that recorded no work of GPUs are neither new nor gone, and an unknown time is no time of 0.
func TestNotRecorded(t *testing.T) {
	t.Parallel()
	const columns = "operator calls self_device_ns"
	with := frametest.Answer("top-operators", columns, []any{"aten::mm", int64(2), int64(50)}, []any{"aten::add", int64(2), nil}, []any{"(none)", nil, int64(7)})
	for _, c := range []struct {
		what string
		a    *frame.Frame
		want []string
		note string
	}{
		{"both", with, []string{"(none)", "aten::mm"}, ""},
		{"no work of GPUs", frametest.Answer("top-operators", columns, []any{"aten::mm", int64(2), nil}), nil, "run a has nothing to compare by operator: its rows of top-operators have no GPU times"},
		{"no operators", frametest.Answer("top-operators", columns), nil, "run a has nothing to compare by operator: query top-operators has no rows"},
	} {
		r := &Result{A: Side{Runs: []Run{{ID: "a", Name: "a"}}}, B: Side{Runs: []Run{{ID: "b", Name: "b"}}}, Options: Options{By: ByOperator}}
		if err := r.askItems(t.Context(), &askedFor{frames: map[string]*frame.Frame{"a": c.a, "b": with}}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, it := range r.Items {
			if got = append(got, it.Name); it.Status != Both || it.A.TotalNs != it.B.TotalNs {
				t.Errorf("%s: %+v", c.what, it)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) || c.note != "" && !slices.Contains(r.Notes, c.note) {
			t.Errorf("%s: %q, want %q; notes %q", c.what, got, c.want, r.Notes)
		}
	}
}
