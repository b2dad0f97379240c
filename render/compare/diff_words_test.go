package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
	"prof/render/typeset"
)

// TestDiffNumbers holds how changes, chances and samples are written.
func TestDiffNumbers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{typeset.SignedPercent(0.124), "+12.4 %"}, {typeset.SignedPercent(-0.00034), "-0.03 %"}, {typeset.SignedPercent(0), "0 %"}, {typeset.SignedPercent(8.9), "+890.0 %"}, {typeset.SignedPercent(33.6), "34.6x"},
		{typeset.SignedShare(33.6), "+3,360.0 %"}, {typeset.SignedShare(-0.0004), "<0.1 %"}, {typeset.SignedTime(-1_250_000), "-1.25 ms"}, {typeset.SignedTime(0), "0"},
		{changeInterval(new(-0.0123), new(1.5)), "-1.2 % to +150.0 %"}, {changeInterval(nil, nil), ""},
		{probability(0.00001), "<0.0001"}, {probability(0.0079), "0.0079"}, {probability(0.45), "0.45"}, {probability(1), "1.00"},
		{sampleText("ns", 3, 2e6, new(2e4)), "2 ms ± 1.0 % (3)"}, {sampleText("ns", 1, 2e6, nil), "2 ms (1)"}, {sampleText("ns", 0, 0, nil), "-"}, {sampleText("ns", 2, 1e3, new(5e6)), "1 us ± 5 ms (2)"},
		{callsText(diff.Measure{PerUnitCalls: 80}, diff.Measure{PerUnitCalls: 80}), "80"}, {callsText(diff.Measure{PerUnitCalls: 0.25}, diff.Measure{PerUnitCalls: 12345.5}), "0.250 → 12,346"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	if text, unit := unitAmount("byte", math.NaN()); text != "" || unit != "" {
		t.Errorf("no number is %q %q", text, unit)
	}
}

// TestDiffOneUnit holds that a column of times has one unit: a time too short for it is shown by the shortest that can be.
func TestDiffOneUnit(t *testing.T) {
	r := exampleDiff()
	r.Stages, r.Items = r.Stages[:1], []diff.Item{partOf("decode", "kernel", "long", "", 1, 2_960_000, 1, 102_680_000), partOf("decode", "idle", "profiler", "", 0, 1_370, 0, 1_900), partOf("decode", "idle", "queued", "", 0, 1_900, 0, 1_370)}
	for _, row := range itemGroups(r)[0].table(r).Rows[1:] {
		for _, cell := range row[1:4] {
			if cell.Text != "<0.01" {
				t.Errorf("%s has %q", row[0].Text, cell.Text)
			}
		}
	}
}

// TestDiffSame holds that runs of the same captures are not shown part by part to people, and are in CSV.
func TestDiffSame(t *testing.T) {
	r := exampleDiff()
	r.Same, r.Verdict, r.Words = true, diff.NoChange, "both sides are the same captures"
	text := diffText(t, "table", typeset.Options{Width: 100}, r)
	if !strings.HasPrefix(text, "Both sides are the same captures\n") || strings.Contains(text, "rms_norm_kernel") {
		t.Errorf("the table is\n%s", text)
	}
	if !strings.Contains(diffText(t, "csv", typeset.Options{}, r), "rms_norm_kernel") {
		t.Error("CSV lacks a kernel")
	}
}

// TestDiffPaced holds that a stage that is judged from pass to pass has a row for that and one for its GPU span, in 80 columns, and says the commands that tell.
func TestDiffPaced(t *testing.T) {
	r := exampleDiff()
	st := &r.Stages[0]
	st.More = append(st.More, diff.Metric{Name: "gpu_span_ns", Unit: "ns", LessIsBetter: true, Comparison: st.Comparison, Verdict: diff.NoChange})
	st.Metric, r.Next = "interval_ns", []string{"prof capture --run a-2 --repeats 5 -- CMD..."}
	text := diffText(t, "table", typeset.Options{Width: 80}, r)
	for _, want := range []string{"\nto tell  prof capture --run a-2 --repeats 5 -- CMD...\n", "\ndecode pace ", "\ndecode  ", "  pace: from the start of a pass", " ± std (n)"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if rows := stageTable(r).Rows; rows[0][0].Text != "decode pace" || rows[1][0].Text != "decode" || strings.Contains(moreLine(*st), "GPU span") {
		t.Errorf("rows %+v; %s", rows, moreLine(*st))
	}
}

// TestDiffOverGPUs holds that times that are added up over GPUs say so.
func TestDiffOverGPUs(t *testing.T) {
	r := exampleDiff()
	for want, gpus := range map[string][2]int64{"median of a pass, largest": {1, 1}, "median of a pass, sum over 2 GPUs, largest": {2, 2}, "median of a pass, sum over 2 → 4 GPUs, largest": {2, 4}} {
		for i := range r.Stages {
			r.Stages[i].A.GPUs, r.Stages[i].B.GPUs = gpus[0], gpus[1]
		}
		if text := diffText(t, "table", typeset.Options{Width: 140}, r); !strings.Contains(text, "decode: kernels and other parts of GPU time, "+want) {
			t.Errorf("%v GPUs: %s", gpus, text)
		}
	}
}

// TestDiffByStage holds that the parts of a stage's time stand for it where stages are compared.
func TestDiffByStage(t *testing.T) {
	r := exampleDiff()
	r.Options.By, r.Options.Top, r.Items = diff.ByStage, 2, []diff.Item{{Stage: "decode", Name: "decode", Kind: "stage"}}
	text := diffText(t, "table", typeset.Options{Width: 100}, r)
	if !strings.Contains(text, "decode: parts of GPU time, median of a pass") || !strings.Contains(text, "\n3 other kernels ") || !strings.Contains(text, "\noverlap: concurrent work ") {
		t.Errorf("the table is\n%s", text)
	}
	if csv := diffText(t, "csv", typeset.Options{}, r); strings.Count(csv, ",stage,decode,") != 1 || strings.Contains(csv, "others") {
		t.Errorf("CSV is\n%s", csv)
	}
}

// TestDiffOutside holds that the parts of work outside stages are shown to people where it changed, or is asked for, and always in CSV.
func TestDiffOutside(t *testing.T) {
	for _, c := range []struct {
		stage  string
		before int64
		after  int64
		shown  bool
		words  string
	}{
		{"", 10_000_000, 10_003_000, false, "- work outside stages: +0.03 % (not judged)\n"},
		{"", 10_000_000, 9_800_000, true, "- not judged, since\n"},
		{"(none)", 10_000_000, 10_003_000, true, "- work outside stages: +0.03 % (not judged)\n"},
	} {
		r := exampleDiff()
		part := partOf("(none)", "kernel", "fill_kernel", "", 10, c.before, 10, c.after)
		outside := stageOf("(none)", diff.CannotTell, 0.5, []diff.Item{part})
		outside.Words, outside.More = "not judged, since", nil
		r.Options.Stage, r.Stages, r.Items = c.stage, append(r.Stages, outside), append(r.Items, part)
		for _, form := range []string{"table", "md", "html", "csv", "json"} {
			text := diffText(t, form, typeset.Options{Width: 200}, r)
			if got, want := strings.Contains(text, "fill_kernel"), c.shown || form == "csv" || form == "json"; got != want {
				t.Errorf("--stage %q, %d → %d as %s: the kernel is shown: %v", c.stage, c.before, c.after, form, got)
			}
			if form == "table" && !strings.Contains(text, c.words) {
				t.Errorf("the table lacks %q:\n%s", c.words, text)
			}
		}
	}
}

// TestDiffLegend: hidden columns are not explained, the interval of single processes is, and
// columns name their centre and the level of intervals.
func TestDiffLegend(t *testing.T) {
	r := exampleDiff()
	r.Options.Stats.Alpha, r.Stages[1].Comparison.NoiseFrom = 0.05, "test machines"
	table := stageTable(r)
	var titles []string
	for _, c := range table.Columns {
		titles = append(titles, c.Title)
	}
	for _, want := range []string{"A: median ± std (n)", "95 % interval of A", "95 % interval of B"} {
		if !slices.Contains(titles, want) {
			t.Errorf("no column %q in %q", want, titles)
		}
	}
	if all := strings.Join(stageLegend(r, table, nil), "\n"); !strings.Contains(all, "between: where the change lies; the error rate is 5 % at each end (--alpha); it includes what processes of the same code may differ by, assumed as on test machines") {
		t.Errorf("the legend is\n%s", all)
	}
	if few := stageLegend(r, table, slices.DeleteFunc(titles, func(s string) bool { return s == "change" })); len(few) != 1 || few[0] != "change: B / A - 1" {
		t.Errorf("the legend of one column is %q", few)
	}
	r.Stages[0].Comparison.NA = 2
	if title := stageTable(r).Columns[1].Title; title != "A: centre ± std (n)" {
		t.Errorf("medians and means are titled %q", title)
	}
}

// TestDiffShortNames holds that names of commits and, in Markdown, of kernels are shortened, and that queries of no run say so.
func TestDiffShortNames(t *testing.T) {
	r := exampleDiff()
	commit := strings.Repeat("0123456789", 4)
	r.Differences = []conditions.Difference{{Aspect: "commit", A: commit + " (1 run), 1f2e3d4", B: "not known", Weight: conditions.Tells}}
	r.Queries = append(r.Queries, diff.Source{Query: "run-conditions.v1", SQL: "FROM x"})
	for _, form := range []string{"table", "md", "html"} {
		text := diffText(t, form, typeset.Options{Width: 200}, r)
		if !strings.Contains(text, "commit 012345678901 (1 run), 1f2e3d4 → not known") {
			t.Errorf("%s lacks the short commit:\n%s", form, text)
		}
		if strings.Contains(text, " of \n") || strings.Contains(text, " of <") {
			t.Errorf("%s has a query of nothing", form)
		}
	}
	if !strings.Contains(diffText(t, "json", typeset.Options{}, r), commit) {
		t.Error("JSON lacks the whole commit")
	}
	long := "gemm_" + strings.Repeat("x", 200)
	r.Items[3].Name = long
	if md := diffText(t, "md", typeset.Options{}, r); strings.Contains(md, long) || !strings.Contains(md, "`gemm_xxx") {
		t.Error("Markdown has the whole name of a kernel")
	}
}

// TestChangedWords: of command lines only what differs is shown.
func TestChangedWords(t *testing.T) {
	for _, c := range [][4]string{
		{"python run.py --out a.json --attn eager --steps 3", "python run.py --out b.json --attn sdpa --steps 3", "… --out a.json --attn eager …", "… --out b.json --attn sdpa …"},
		{"python run.py", "python run.py --graph", "…", "… --graph"},
		{"a b", "c d", "a b", "c d"}, {"", "x", "", "x"}, {"x y x", "y x", "x …", "…"},
	} {
		if a, b := changedWords(c[0], c[1]); a != c[2] || b != c[3] {
			t.Errorf("%q and %q: %q and %q, want %q and %q", c[0], c[1], a, b, c[2], c[3])
		}
	}
}

// TestDiffTree: tables of trees say once what all rows are inside of, how operators differ even where there is little room, and names in full in Markdown.
func TestDiffTree(t *testing.T) {
	r := exampleDiff()
	r.Options.By, r.Options.Top = diff.ByTree, 0
	in := "Model_0 > Decoder_0 > "
	node := func(name, how, partner, a, b string) diff.Item {
		it := partOf("decode", "node", in+name, "", 8, 17_000, 1, 2_000)
		it.How, it.Partner, it.A.Shapes, it.B.Shapes = how, partner, a, b
		return it
	}
	r.Items = []diff.Item{
		node("Layer_0 > LlamaRMSNorm_0 > aten::pow + aten::mean + aten::rsqrt", "fused", "aten::rms_norm", "", ""),
		node("Layer_0 > LlamaAttention_0 > aten::linear > aten::mm", "other kernels", "void at::native::gemm<float>(int)", "[[1, 2]]", "[[1, 2]]"),
		node("Layer_1 > aten::mul", "other shapes", "", "[[1, 2]]", "[[1, 3]]"),
	}
	for width, wants := range map[int][]string{
		80:  {" in Model_0 > Decoder_0, mean of", "\nLayer_0 > LlamaRMSNorm_0 > aten::pow + 2 more ", "  fused\n", "> aten::mm ", "  other kernels\n", "\nLayer_1 > aten::mul ", "  other shapes\n"},
		200: {"> LlamaRMSNorm_0 > aten::pow + ", "  fused          aten::rms_norm", "  other kernels  gemm<float>", "[[1, 2]] → [[1, 3]]"},
	} {
		text := diffText(t, "table", typeset.Options{Width: width}, r)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%d columns lack %q:\n%s", width, want, text)
			}
		}
	}
	for _, want := range []string{"| `Layer_0 > LlamaRMSNorm_0 > aten::pow + aten::mean + aten::rsqrt` |", "| fused | `aten::rms_norm` |", "| other shapes |  |"} {
		if text := diffText(t, "md", typeset.Options{}, r); !strings.Contains(text, want) {
			t.Errorf("Markdown lacks %q:\n%s", want, text)
		}
	}
}
