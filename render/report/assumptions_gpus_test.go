package report

import (
	"slices"
	"testing"

	"prof/queries/judge"
)

// TestSayGPUs holds that what is the same of several GPUs is one line.
func TestSayGPUs(t *testing.T) {
	for want, gpus := range map[string][]int64{"GPU 3": {3}, "GPUs 0 and 1": {0, 1}, "GPUs 0 to 7": {0, 1, 2, 3, 4, 5, 6, 7}, "GPUs 0, 2 and 3": {0, 2, 3}, "GPUs 2, 1 and 0": {2, 1, 0}, "GPUs 0, 0 and 2": {0, 0, 2}} {
		if got := gpuNames(gpus); got != want {
			t.Errorf("%v: %s, not %s", gpus, got, want)
		}
	}
	a := &assumptions{reader: &reader{Report: &judge.Report{}}}
	a.sayGPUs("", []gpuLine{{"a ", 0, ": x"}, {"a ", 1, ": y"}, {"a ", 2, ": x"}, {"b ", 2, ": x"}})
	var got []string
	for _, x := range a.items {
		got = append(got, x.Text)
	}
	if want := []string{"a GPUs 0 and 2: x", "a GPU 1: y", "b GPU 2: x"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
