package workload

import (
	"slices"
	"strings"
	"testing"
)

// TestMeans: of means, the decode steps are taken where every pass had as many.
func TestMeans(t *testing.T) {
	const prompt = "aggregates do not have prompt lengths: give --prefill N"
	for _, c := range []struct{ in, pass, warning string }{
		{string(sample(t, "metrics.json")), "each ~ 16 1 ~ ~ ~ ~ ~", ""},
		{`{"aggregates": {"tokens": {"mean": 16}}}`, "each ~ 16 1 ~ ~ ~ ~ ~", ""},
		{`{"aggregates": {"tokens": {"mean": 0.0, "std": null}}}`, "each ~ 0 1 ~ ~ ~ ~ ~", ""},
		{`{"aggregates": {"tokens": {"mean": 16, "std": 0}}, "batch": 2, "images": 3}`, "each ~ 16 2 3 ~ ~ ~ ~", ""},
		{`{"aggregates": {"tokens": {"mean": 16.0, "std": 2.5}}}`, "each ~ ~ 1 ~ ~ ~ ~ ~",
			"aggregates.tokens.std is 2.5: passes had different numbers of decode steps, and their mean fits none: give --decode M"},
		{`{"aggregates": {"tokens": {"mean": 16.5, "std": 0}}}`, "each ~ ~ 1 ~ ~ ~ ~ ~", "aggregates.tokens.mean is 16.5, not a whole number: give the decode steps with --decode M"},
		{`{"aggregates": {"tokens": {"std": 0}}}`, "each ~ ~ 1 ~ ~ ~ ~ ~", "aggregates.tokens.mean is missing: give the decode steps with --decode M"},
		{`{"aggregates": {"prefill_ms": {"mean": 5}}}`, "each ~ ~ 1 ~ ~ ~ ~ ~", "aggregates.tokens.mean is missing: give the decode steps with --decode M"},
	} {
		f, err := Read(strings.NewReader(c.in))
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		want := []string{prompt}
		if c.warning != "" {
			want = append(want, c.warning)
		}
		if got := f.lines(); !slices.Equal(got, []string{c.pass}) || !slices.Equal(f.Warnings, want) {
			t.Errorf("%s gives %q with %q, want %q with %q", c.in, got, f.Warnings, c.pass, want)
		}
	}
}

// TestMeansBesideRuns: the passes themselves say more than their means.
func TestMeansBesideRuns(t *testing.T) {
	f, err := Read(strings.NewReader(`{"aggregates": {"tokens": {"mean": 16}}, "runs": [{"prefill_len": 7, "new_tokens": 3}]}`))
	if err != nil || !slices.Equal(f.lines(), []string{"7 3 1 ~ ~ ~ ~ ~"}) || f.Warnings != nil {
		t.Errorf("%+v, %v", f, err)
	}
}
