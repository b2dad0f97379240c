package attribute_test

import (
	"testing"

	"prof/ingest/attribute"
)

// TestExecs: the body of a conditional node is of the launch of its graph that it runs in, and of none where that may be two.
func TestExecs(t *testing.T) {
	var x attribute.Execs
	graph, other := attribute.Exec{Process: 1, ID: 3}, attribute.Exec{Process: 1, ID: 4}
	for _, w := range [][3]int64{{10, 100, 110}, {10, 190, 200}, {20, 300, 310}, {20, 390, 400}, {30, 500, 600}} {
		x.Add(graph, w[0], w[1], w[2])
	}
	x.Add(other, 25, 320, 330)
	called := map[int64]int64{10: 90, 20: 250, 30: 350} // the third was called while the second ran
	x.Settle(func(_ attribute.Exec, correlation int64) (int32, int64, bool) {
		at, ok := called[correlation]
		return int32(correlation), at, ok
	})
	for _, c := range []struct {
		what string
		exec attribute.Exec
		at   int64
		want int64 // 0: not known
	}{
		{"between two nodes", graph, 150, 10},
		{"after the last node, before the next call", graph, 240, 10},
		{"after the last node and the next call", graph, 260, 0},
		{"in the second", graph, 350, 20},
		{"between launches that were queued", graph, 450, 0},
		{"after all", graph, 700, 30},
		{"before all", graph, 95, 0},
		{"of another graph, meanwhile", other, 350, 25},
		{"of another process", attribute.Exec{Process: 2, ID: 3}, 350, 0},
	} {
		got := int64(0)
		if l := x.Of(c.exec, c.at); l != nil {
			got = l.Correlation
		}
		if got != c.want {
			t.Errorf("%s: launch %d, want %d", c.what, got, c.want)
		}
	}
}
