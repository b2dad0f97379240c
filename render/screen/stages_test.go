package screen

import (
	"testing"

	"prof/queries/judge"
)

// TestQuoted holds that a column of figures has one meaning: those without a profiler where every stage has one, else those under it.
func TestQuoted(t *testing.T) {
	one, two := 1.0, 2.0
	both, under, alone, none := judge.StageSummary{MFU: &one, Alone: judge.Alone{MFU: &two}}, judge.StageSummary{MFU: &one}, judge.StageSummary{Alone: judge.Alone{MFU: &two}}, judge.StageSummary{}
	for _, c := range []struct {
		stages []judge.StageSummary
		title  string
	}{
		{[]judge.StageSummary{both, none, alone}, "MFU alone"}, {[]judge.StageSummary{both, under}, "MFU"}, {[]judge.StageSummary{under, none}, "MFU"}, {[]judge.StageSummary{none}, "MFU"}, {nil, "MFU"},
	} {
		title, of := quoted(c.stages, "MFU", func(s judge.StageSummary) *float64 { return s.MFU }, func(s judge.StageSummary) *float64 { return s.Alone.MFU })
		want := &one
		if c.title == "MFU alone" {
			want = &two
		}
		if title != c.title || of(both) != want {
			t.Errorf("%v: %s, %v", c.stages, title, *of(both))
		}
	}
}
