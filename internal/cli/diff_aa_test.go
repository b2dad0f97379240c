package cli

import (
	"testing"

	"prof/internal/testkit"
)

// dsocrTwice are the nsys capture dsocr-sdpa under two names: one warm-up and three passes, of whose decodes one was held up by the host.
var dsocrTwice = twice("../../shared/captures/nsys/dsocr-sdpa/dsocr-sdpa.sqlite.gz", "../../shared/captures/nsys/dsocr-sdpa/workload.json")

// needsDsocr skips a test of dsocrTwice where there is no such capture.
func needsDsocr(t *testing.T) {
	t.Helper()
	if path := testkit.Path(dsocrTwice[0].Files[0]); !exists(path) {
		t.Skipf("no capture %s here", path)
	}
}

// twice returns two runs of the same files, one and other.
func twice(files ...string) []testkit.Run {
	return []testkit.Run{{Name: "one", Files: files}, {Name: "other", Files: files}}
}

// sameTwice holds that a capture under two names does not differ in anything, in whatever way it is looked at.
func sameTwice(t *testing.T, p *place) {
	t.Helper()
	for _, by := range []string{"kernel", "family", "grid", "stage", "operator", "range", "metric"} {
		d := p.diff("one", "other", "--by", by)
		if d.Verdict != "no change" || len(d.Stages) == 0 {
			t.Errorf("by %s: %s: %s", by, d.Verdict, d.Words)
		}
		for _, s := range d.Stages {
			// Work outside stages is never judged.
			if s.Verdict != "no change" && s.Stage != outsideStages || s.Comparison.Effect != 0 || s.A != s.B {
				t.Errorf("by %s: %s: %s", by, s.Stage, s.Words)
			}
		}
		for _, it := range d.Items {
			if it.Verdict != "" && it.Verdict != "no change" || it.Status != "both" || it.Delta != nil && *it.Delta != (diffedDelta{}) {
				t.Errorf("by %s: %+v", by, it)
			}
		}
		for _, x := range d.Differences {
			t.Errorf("by %s: %+v", by, x)
		}
	}
	// Its passes may vary too much for so small a change to show; that there is one is never said.
	if r := p.run("diff", "one", "other", "--fail-over", "1%"); r.code != 0 && r.code != 4 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestSameTwice: the same capture under two names says no change, everywhere.
func TestSameTwice(t *testing.T) {
	t.Parallel()
	t.Run("repeats of a decoder", func(t *testing.T) {
		sameTwice(t, reading(t, twice("capture/llama/sdpa-1")))
	})
	t.Run("dsocr-sdpa", func(t *testing.T) {
		needsDsocr(t)
		sameTwice(t, reading(t, dsocrTwice))
	})
}

// TestAssumeNoise: to assume less noise than is known lets no change be told later than without.
func TestAssumeNoise(t *testing.T) {
	t.Parallel()
	p := reading(t, repeated)
	known, told := p.diff("sdpa-1", "eager"), 0
	for _, noise := range []string{"0%", "1%", "5%"} {
		for i, s := range p.diff("sdpa-1", "eager", "--assume-noise", noise).Stages {
			if a, b := known.Stages[i].Comparison.Smallest, s.Comparison.Smallest; a != nil {
				if told++; b == nil || *b > max(*a, 0.05)*1.000001 {
					t.Errorf("%s, with noise of %s: %s\nwithout: %s", s.Stage, noise, s.Words, known.Stages[i].Words)
				}
			}
		}
	}
	if told < 6 {
		t.Errorf("%d comparisons", told)
	}
}

// TestSameCode: two captures of the same code on the same machine, each of three repeats, are not told to differ.
func TestSameCode(t *testing.T) {
	t.Parallel()
	p := reading(t, repeated)
	for _, metric := range []string{"gpu_span_ns", "gpu_busy_ns", "gpu_sum_ns", "cpu_ns"} {
		d := p.diff("sdpa-1", "sdpa-2", "--metric", metric)
		for _, s := range d.Stages {
			t.Logf("%s of %s, by %s: %s", metric, s.Stage, s.Level, s.Words)
			if s.Verdict == "better" || s.Verdict == "worse" {
				t.Errorf("%s of %s: %s", metric, s.Stage, s.Words)
			}
		}
		for _, it := range d.Items {
			if it.Verdict == "better" || it.Verdict == "worse" {
				t.Errorf("%s of %s: %s", it.Name, it.Stage, it.Verdict)
			}
		}
	}
}
