package trend

import (
	"testing"

	"prof/internal/golden"
)

// TestSentences keeps what is said of trends and their columns, so that a reader can go over it.
func TestSentences(t *testing.T) {
	var said golden.Said
	one := new(1.0)
	for kernels, s := range [][]Series{
		{{Stage: "decode", Points: []Point{{}, {}}}},
		{{Stage: "decode", Same: Same{Varying: true}, Points: []Point{{Value: one}, {}}}},
	} {
		r := &Result{Options: Options{Metric: MFU, Kernels: kernels}, Runs: []Run{{}}, Series: s, Changes: []Change{{Asked: true}, {}}}
		r.addNotes()
		said.Add(r.Notes)
		said.Add(r.Frame().Columns)
	}
	said.Compare(t, "testdata/sentences.txt")
}
