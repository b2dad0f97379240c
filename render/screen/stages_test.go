package screen

import (
	"bytes"
	"strings"
	"testing"

	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/schema/terms"
)

// TestNarrowStages holds that a terminal of 80 columns has the figures that stages are compared by: bars, ranges and counts go first.
func TestNarrowStages(t *testing.T) {
	busy, mfu, mbu, prompt, tokens := 0.761, 0.013, 0.025, 14829.5, 54.9
	list := []judge.StageSummary{{Stage: "decode", Passes: 3, MedianNs: 291e6, MinNs: 287e6, MaxNs: 617e6, BusyRatio: &busy, MFU: &mfu, MBU: &mbu, TokensPerS: &tokens, Label: "launch-bound"},
		{Stage: "prefill", Passes: 3, MedianNs: 45.9e6, MinNs: 45.7e6, MaxNs: 46e6, BusyRatio: &busy, MFU: &mfu, MBU: &mbu, TokensPerS: &prompt, IsLeast: true, Label: "GPU busy, limit unknown"}}
	bars := make([]chart.Bar, 2)
	for i := range bars {
		bars[i].Pieces = []chart.Piece{{Part: terms.Parts[0], Ns: 1, Share: 1}}
	}
	var out bytes.Buffer
	if err := doc.Terminal(&out, []doc.Document{{Blocks: []doc.Block{doc.Table{Of: stageTable(list, bars)}}}}, typeset.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"median pass", "busy", "tokens/s", "MFU", "MBU", "bound by"} {
		if first, _, _ := strings.Cut(out.String(), "\n"); !strings.Contains(first, want) {
			t.Errorf("80 columns have no %s:\n%s", want, out.String())
		}
	}
}

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
