package trend

import (
	"strings"
	"testing"

	"prof/internal/golden"
	"prof/queries/judge/serving"
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
	for _, metric := range []Metric{"tpot_p99_ns", "requests_per_s"} {
		for _, points := range [][]Point{{{}, {}}, {{}, {Value: one}}} {
			r := &Result{Options: Options{Metric: metric}, Runs: []Run{{}}, Series: []Series{{Stage: "rate=4", Points: points}}}
			r.addNotes()
			said.Add(r.Notes)
			said.Add(r.Frame().Columns)
		}
	}
	r := &Result{}
	if _, err := r.wanted([]benchmarkRow{{runRow: runRow{ID: "a"}}, {runRow: runRow{ID: "b"}}}, make([]serving.Load, 10), []int{0, 1}, strings.Split("abcdefghij", "")); err != nil {
		t.Fatal(err)
	}
	said.Add(r.Notes)
	sent := []Point{{Sent: serving.Sent{Completed: 9, Known: true}}, {Sent: serving.Sent{Completed: 9, Failed: 1, Known: true}}}
	r = &Result{Runs: []Run{{Name: "a"}}, Series: []Series{{Stage: "rate=4", Points: sent}}, Changes: []Change{{Point: 1, Verdict: Better}}}
	r.takeBack()
	said.Add(r.Notes)
	said.Add([]string{Options{Workload: "w"}.ofWorkload()})
	said.Add([]string{ServingNames()})
	said.Compare(t, "testdata/sentences.txt")
}
