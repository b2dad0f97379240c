package report

import (
	"encoding/json"
	"html"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/rendertest"
	"prof/render/words"
)

func accountingFrame() *frame.Frame {
	return frametest.Fill(rendertest.FrameOf("accounting", "stage device part kind total_ns share_ratio span_total_ns",
		[]any{"(run)", int64(0), "compute", "busy", int64(600_000), 0.6, int64(1_000_000)},
		[]any{"(run)", int64(0), "launch", "launch-bound", int64(395_000), 0.395, int64(1_000_000)},
		[]any{"(run)", int64(0), "unknown", "unknown", int64(5_000), 0.005, int64(1_000_000)},
		[]any{"prefill " + rendertest.Breakout, int64(1), "collective-exposed", "busy", int64(1), 1.0, int64(1)}))
}

func reportSections() []judge.Section {
	findings := []judge.Finding{{Rank: 1, ID: "launch-bound", Stage: "decode", SavingNs: 395_000, ShareRatio: 0.395, Bound: "at most", Gain: judge.Gain{NowNs: 333_000, ThenNs: 201_000, Per: "pass", Bound: "at most"}, Title: "GPU idle: launches arrive too late", Evidence: "1. it is idle", Subject: rendertest.Breakout,
		Advice: "replay it", DeviceCount: 2, RunDeviceCount: 2, Passes: 3, SpanNs: 1_000_000, Command: "prof query gaps --run 'a|b'"}}
	answer := &frame.Frame{Query: "findings", Version: 1, SQL: "FROM findings_v1('a')", Notes: []string{"savings " + rendertest.Breakout}}
	return []judge.Section{
		{ID: "accounting", Title: "Where the time went", Frame: accountingFrame()},
		{ID: "findings", Title: "What to do first", Frame: answer, Findings: findings},
		{ID: "gaps", Title: "Idle gaps", Frame: rendertest.FrameOf("gaps", "rank total_ns before after reason",
			[]any{int64(1), int64(395_000), rendertest.Breakout, strings.Repeat("long<", 40), "because " + rendertest.Breakout},
			[]any{int64(2), int64(12), rendertest.Hostile, "fill", nil})},
		{ID: "models", Title: "Model", Frame: &frame.Frame{}, Missing: "none " + rendertest.Breakout},
	}
}

func reportPage(t *testing.T) string {
	t.Helper()
	facts := [][2]string{{"run", "a"}, {"command", "python " + rendertest.Breakout}}
	return fileText(t, &judge.Report{Name: rendertest.Breakout, Facts: facts, Sections: reportSections(), Timeline: rendertest.ReportTimeline()}, writeHTML)
}

// TestReportHTML holds the page but for its script and style, which are files of their own.
func TestReportHTML(t *testing.T) {
	text := reportPage(t)
	rendertest.Compare(t, filepath.Join("testdata", "report", "report.html"), []byte(rendertest.WithoutStyle(text)))
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		if ids[m[1]] {
			t.Errorf("two elements are %s", m[1])
		}
		ids[m[1]] = true
	}
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
	if n := strings.Count(html.UnescapeString(text), rendertest.Breakout); n < 10 {
		t.Errorf("the name is there %d times", n)
	}
	_, after, _ := strings.Cut(text, `id="timeline-data">`)
	before, _, _ := strings.Cut(after, "</script>")
	var d chart.TimelineData
	if err := json.Unmarshal([]byte(before), &d); err != nil {
		t.Fatal(err)
	}
	if d.Names[0] != rendertest.Breakout || d.Rows[0].Stages[0].Name != rendertest.Breakout || d.From != 990 || d.Until != 2000 {
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
	text := fileText(t, &judge.Report{Name: "a", Sections: reportSections()[3:], Timeline: &judge.Timeline{Parts: 10, Blocks: &frame.Frame{Query: "timeline-blocks"}}}, writeHTML)
	if strings.Contains(text, `id="timeline`) || !strings.Contains(text, "Not known: none k&lt;a") {
		t.Error("it has one, or does not say what is missing")
	}
}

// TestNoFindings holds that a run without findings says so, and why rules were not tried.
func TestNoFindings(t *testing.T) {
	f := *reportSections()[1].Frame
	f.Rows, f.Notes = nil, []string{"throttling could not be checked"}
	sections := []judge.Section{{ID: "findings", Title: "What to do first", Frame: &f}}
	md := fileText(t, &judge.Report{Name: "a", Sections: sections}, markdown(reportFile))
	page := fileText(t, &judge.Report{Name: "a", Sections: sections}, writeHTML)
	for _, text := range []string{md, page} {
		if !strings.Contains(text, words.NoFindings(nil)) || !strings.Contains(text, "throttling could not be checked") || strings.Contains(text, "Not known") {
			t.Errorf("it says\n%s", text)
		}
	}
}

// TestGapLinks checks that the page links each gap to its place in the timeline.
func TestGapLinks(t *testing.T) {
	if text := reportPage(t); !strings.Contains(text, `<a class="jump" href="#timeline=700,1900">show</a>`) {
		t.Error("the page has no such link")
	}
}
