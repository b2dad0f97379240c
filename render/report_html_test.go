package render

import (
	"bytes"
	"encoding/json"
	"html"
	"path/filepath"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
)

// frameOf makes a Frame of a query from its columns, typed as the values of the first row.
func frameOf(query string, columns string, rows ...[]any) *frame.Frame {
	f := &frame.Frame{Query: query, Version: 1, SQL: "FROM " + strings.ReplaceAll(query, "-", "_") + "_v1('a')", Rows: rows}
	for i, name := range strings.Fields(columns) {
		c := frame.Column{Name: name, Unit: frame.UnitOf(name), Doc: "what " + name + " is"}
		switch rows[0][i].(type) {
		case int64:
			c.Type = frame.Int
		case float64:
			c.Type = frame.Float
		case bool:
			c.Type = frame.Bool
		}
		f.Columns = append(f.Columns, c)
	}
	return f
}

// breakout is a name that would leave a script, an attribute, an element or a line where it is not escaped.
const breakout = `k<a, b>(T*) & "c" 'd' </script><script>alert(1)</script> <!-- ]]> {{.}} ${x}`

func accountingFrame() *frame.Frame {
	return frameOf("accounting", "stage device part kind total_ns share_ratio span_total_ns",
		[]any{"(run)", int64(0), "compute", "busy", int64(600_000), 0.6, int64(1_000_000)},
		[]any{"(run)", int64(0), "launch", "launch-bound", int64(395_000), 0.395, int64(1_000_000)},
		[]any{"(run)", int64(0), "unknown", "unknown", int64(5_000), 0.005, int64(1_000_000)},
		[]any{"prefill " + breakout, int64(1), "collective-exposed", "busy", int64(1), 1.0, int64(1)})
}

func reportSections() []judge.Section {
	findings := frameOf("findings", "rank finding stage saving_ns share_ratio bound title evidence subject advice device device_count run_device_count passes span_ns command detail_command",
		[]any{int64(1), "launch-bound", "decode", int64(395_000), 0.395, "at most", "GPU idle because launches arrive late", "1. it is idle", breakout, "replay it", int64(0), int64(2), int64(2), int64(3), int64(1_000_000), "prof query gaps --run 'a|b'", nil})
	findings.Notes = []string{"savings " + breakout}
	return []judge.Section{
		{ID: "accounting", Title: "Where the time went", Frame: accountingFrame()},
		{ID: "findings", Title: "What to do about it", Frame: findings},
		{ID: "gaps", Title: "Idle gaps", Frame: frameOf("gaps", "rank total_ns before after reason",
			[]any{int64(1), int64(395_000), breakout, strings.Repeat("long<", 40), "because " + breakout},
			[]any{int64(2), int64(12), hostile, "fill", nil})},
		{ID: "models", Title: "Model", Frame: &frame.Frame{}, Missing: "none " + breakout},
	}
}

func reportTimeline() *judge.Timeline {
	return &judge.Timeline{Parts: 10,
		Blocks: frameOf("timeline-blocks", "device lane start_ns end_ns busy_ns work_count longest longest_ns source_id",
			[]any{int64(0), "kernel", int64(1000), int64(1100), int64(90), int64(3), breakout, int64(40), int64(1)},
			[]any{int64(0), "kernel", int64(1500), int64(2000), int64(500), int64(1), "gemm", int64(500), int64(1)},
			[]any{int64(0), "copy", int64(990), int64(1000), int64(10), int64(1), hostile, int64(10), int64(1)},
			[]any{int64(1), "kernel", int64(1200), int64(1300), int64(100), int64(1), "gemm", int64(100), int64(1)}),
		Passes: frameOf("timeline-passes", "device stage start_ns end_ns passes pass is_warmup busy_ns launch_bound_ns span_ns source_id pid",
			[]any{int64(0), breakout, int64(1000), int64(2000), int64(2), int64(1), true, int64(590), int64(300), int64(1000), int64(1), int64(9)}),
		Gaps: frameOf("longest-gaps", "rank duration_ns start_ns cause before after stage device source_id",
			[]any{int64(1), int64(400), int64(1100), "host", breakout, "gemm", "(none)", int64(0), int64(1)}),
		Windows: frameOf("timeline-windows", "window source_id device stage pass start_ns end_ns work_count shown_count is_whole",
			[]any{int64(1), int64(1), int64(0), breakout, int64(1), int64(1000), int64(1100), int64(4), int64(3), false}),
		Kernels: frameOf("timeline-kernels", timelineKernels,
			[]any{int64(1), int64(1), int64(0), int64(9), int64(7), "kernel", int64(1000), int64(40), breakout, breakout, int64(1)},
			[]any{int64(1), int64(1), int64(0), int64(9), int64(7), "kernel", int64(1040), int64(30), "gemm", nil, int64(1)},
			[]any{int64(1), int64(1), int64(0), int64(9), int64(7), "copy", int64(1080), int64(20), breakout, breakout, int64(1)}),
		Ranges: frameOf("timeline-ranges", "source_id pid tid thread depth start_ns duration_ns name domain range_count",
			[]any{int64(1), int64(9), int64(9), breakout, int64(0), int64(500), int64(1000), breakout, breakout, int64(2)}),
	}
}

func reportPage(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	facts := [][2]string{{"run", "a"}, {"command", "python " + breakout}}
	if err := ReportHTML(&out, &judge.Report{Name: breakout, Facts: facts, Sections: reportSections(), Timeline: reportTimeline()}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// attribute is how the template writes a hash.
func attribute(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }

// TestReportHTML holds the page but for its script and style, which are files of their own.
func TestReportHTML(t *testing.T) {
	text := reportPage(t)
	style, err := joined(pageStyles)
	if err != nil {
		t.Fatal(err)
	}
	script, err := joined(pageScripts)
	if err != nil {
		t.Fatal(err)
	}
	for mark, part := range map[string]string{"STYLE": style, "SCRIPT": script, "STYLE-HASH": attribute(hash(style)), "SCRIPT-HASH": attribute(hash(script))} {
		if strings.Count(text, part) != 1 {
			t.Errorf("the page holds %s %d times", mark, strings.Count(text, part))
		}
		text = strings.Replace(text, part, mark, 1)
	}
	compare(t, filepath.Join("testdata", "report", "report.html"), []byte(text))
	if again := reportPage(t); again != reportPage(t) {
		t.Error("the same frames give different bytes")
	}
}

// TestReportHTMLEscapes holds that no name gets out of its place, and each is there as it is.
func TestReportHTMLEscapes(t *testing.T) {
	text := reportPage(t)
	if strings.Contains(text, "<script>alert") || strings.Contains(text, `"c" 'd'`) || strings.Contains(text, "\x1b") || strings.Contains(text, "‮") {
		t.Error("a name is not escaped")
	}
	if n, m := strings.Count(text, "<script"), strings.Count(text, "</script"); n != 2 || m != 2 {
		t.Errorf("%d scripts begin and %d end", n, m)
	}
	if n := strings.Count(html.UnescapeString(text), breakout); n < 10 {
		t.Errorf("the name is there %d times", n)
	}
	_, after, _ := strings.Cut(text, `id="timeline-data">`)
	before, _, _ := strings.Cut(after, "</script>")
	var d timelineData
	if err := json.Unmarshal([]byte(before), &d); err != nil {
		t.Fatal(err)
	}
	if d.Names[0] != breakout || d.Rows[0].Stages[0].Name != breakout || d.Span != 1010 {
		t.Errorf("the timeline's data are %s", before)
	}
}

// TestReportHTMLAlone holds that the page asks nothing of a network.
func TestReportHTMLAlone(t *testing.T) {
	text := reportPage(t)
	for _, bad := range []string{"http:", "https:", "//cdn", " src=", "@import", "<link", "<iframe", "<img", "fetch(", "XMLHttpRequest", "import(", "url(\"", "url(h"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(text, "default-src 'none'") {
		t.Error("the page's policy lets it load something")
	}
}

// TestReportHTMLWithoutWork holds that a run without device work has a page without a timeline.
func TestReportHTMLWithoutWork(t *testing.T) {
	var out bytes.Buffer
	if err := ReportHTML(&out, &judge.Report{Name: "a", Sections: reportSections()[3:], Timeline: &judge.Timeline{Parts: 10, Blocks: &frame.Frame{Query: "timeline-blocks"}}}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, `id="timeline`) || !strings.Contains(text, "Not known: none k&lt;a") {
		t.Error("it has one, or does not say what is missing")
	}
}

// TestNoFindings holds that a run without findings says so, and why rules were not tried.
func TestNoFindings(t *testing.T) {
	f := *reportSections()[1].Frame
	f.Rows, f.Notes = nil, []string{"throttling could not be tried"}
	sections := []judge.Section{{ID: "findings", Title: "What to do about it", Frame: &f}}
	var md, page bytes.Buffer
	if err := ReportMarkdown(&md, &judge.Report{Name: "a", Sections: sections}); err != nil {
		t.Fatal(err)
	}
	if err := ReportHTML(&page, &judge.Report{Name: "a", Sections: sections}); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{md.String(), page.String()} {
		if !strings.Contains(text, noFindings) || !strings.Contains(text, "throttling could not be tried") || strings.Contains(text, "Not known") {
			t.Errorf("it says\n%s", text)
		}
	}
}
