package caveat

import "testing"

// TestLongestDid holds what is said of the longest pass of a stage: by its own stage's caveats alone.
func TestLongestDid(t *testing.T) {
	t.Parallel()
	base := C{Kind: "unlike-passes", Stage: "decode", TimeNs: 1e6, OfTimeNs: 2e6, Ratio: 10}
	time := C{Kind: "unlike-passes", Stage: "decode", Detail: "time", Subject: "call", Count: 3, TimeNs: 8e6, OfTimeNs: 1e3}
	other := C{Kind: "unlike-passes", Stage: "prefill", Detail: "time", Subject: "busy", Object: "1", Count: 2, TimeNs: 5e6, OfTimeNs: 1e6}
	call := C{Kind: "unlike-passes", Stage: "decode", Detail: "call", Subject: "cudaMalloc", TimeNs: 7e6}
	for _, c := range []struct {
		name     string
		caveats  []C
		decode   string
		sentence string
	}{
		{"nothing stands out", []C{base, other}, "", "the passes of decode differ 10.0-fold: 1.00 ms to 10.0 ms, median 2.00 ms; see prof query passes"},
		{"a call", []C{other, call, time, base}, "8.00 ms of pass 3 is idle in other CUDA calls (median 1.00 us), its longest call cudaMalloc takes 7.00 ms",
			"the passes of decode differ 10.0-fold: 1.00 ms to 10.0 ms, median 2.00 ms; 8.00 ms of pass 3 is idle in other CUDA calls (median 1.00 us), its longest call cudaMalloc takes 7.00 ms; see prof query passes"},
	} {
		if got := LongestDid(c.caveats, "decode"); got != c.decode {
			t.Errorf("%s: %q, want %q", c.name, got, c.decode)
		}
		for _, one := range c.caveats {
			if one.Stage == "decode" {
				if got := words["unlike-passes"].say(one, c.caveats); got != c.sentence {
					t.Errorf("%s: %q, want %q", c.name, got, c.sentence)
				}
			}
		}
		if got, want := LongestDid(c.caveats, "prefill"), "5.00 ms of pass 2 is GPU busy time of GPU 1 (median 1.00 ms)"; got != want {
			t.Errorf("%s: %q, want %q", c.name, got, want)
		}
	}
}
