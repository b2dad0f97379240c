package trend

import (
	"strings"
	"testing"

	"prof/queries/judge/serving"
)

// TestTakeBack: figures of requests that succeeded are no improvement where more of the others fail, and worse ones stay.
func TestTakeBack(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after serving.Sent
		verdict       Verdict
		changes       int
		note          string
	}{
		{"more failed", serving.Sent{Completed: 100, Known: true}, serving.Sent{Completed: 50, Failed: 50, Known: true}, Better, 0, "more requests fail from b on: 0 of 200 → 150 of 300 (rate=4); the better figures since then are of those that succeeded, and no improvement"},
		{"more failed, worse", serving.Sent{Completed: 100, Known: true}, serving.Sent{Completed: 50, Failed: 50, Known: true}, Worse, 1, "more requests fail from b on: 0 of 200 → 150 of 300 (rate=4)"},
		{"fewer failed", serving.Sent{Completed: 50, Failed: 50, Known: true}, serving.Sent{Completed: 100, Known: true}, Better, 1, ""},
		{"not known", serving.Sent{Completed: 100, Known: true}, serving.Sent{}, Better, 1, ""},
	} {
		points := []Point{{Sent: c.before}, {Sent: c.before}, {Run: 1, Sent: c.after}, {Run: 1, Sent: c.after}, {Run: 1, Sent: c.after}}
		r := &Result{Runs: []Run{{Name: "a"}, {Name: "b"}}, Series: []Series{{Stage: "rate=4", Points: points, Levels: []Level{{0, 1, 2}, {2, 4, 1}}}}, Changes: []Change{{First: 1, Point: 2, Verdict: c.verdict}}}
		r.takeBack()
		if got := strings.Join(r.Notes, "; "); len(r.Changes) != c.changes || got != c.note {
			t.Errorf("%s: %d changes, %q", c.name, len(r.Changes), got)
		}
	}
}
