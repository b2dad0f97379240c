package report

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/chart"
	"prof/render/rendertest"
	"prof/render/table"
)

// figurePage is a page with every figure, of names that would break out of their place.
func figurePage(t *testing.T) string {
	t.Helper()
	r := &judge.Report{Name: "a", Frames: map[string]*frame.Frame{"ceilings": rendertest.CeilingsFrame(), "throttling": rendertest.ThrottlingFrame()}}
	for _, f := range []*frame.Frame{accountingFrame(), rendertest.StagesFrame(), rendertest.StageKernelsFrame(), rendertest.RooflineFrame(), rendertest.DurationsFrame(), rendertest.SamplesFrame()} {
		r.Sections = append(r.Sections, judge.Section{ID: f.Query, Title: f.Query, Frame: f, Page: !chart.HasTable(f.Query)})
	}
	if md := fileText(t, r, markdown(reportFile)); strings.Contains(md, "sample-series") || !strings.Contains(md, "roofline") {
		t.Error("report.md has the sections of the page only, or lacks others")
	}
	return fileText(t, r, writeHTML)
}

// TestFigurePage holds what all pictures have: words for who does not see them, places within the picture, and no name or style that
// the page's policy would have to let in.
func TestFigurePage(t *testing.T) {
	text := figurePage(t)
	text = text[strings.Index(text, "<body>"):strings.LastIndex(text, "<script>")]
	pictures := regexp.MustCompile(`<svg[^>]*role="img"[^>]*>`).FindAllString(text, -1)
	if len(pictures) < 12 {
		t.Errorf("the page has %d pictures", len(pictures))
	}
	for _, p := range pictures {
		if spoken := regexp.MustCompile(`aria-label="([^"]+)"`).FindStringSubmatch(p); spoken == nil || len(spoken[1]) < 10 {
			t.Errorf("it says nothing of %s", p)
		}
	}
	for _, at := range regexp.MustCompile(` (?:x|x1|x2|cx|width)="(-?[\d.]+)%"`).FindAllStringSubmatch(text, -1) {
		if v, err := strconv.ParseFloat(at[1], 64); err != nil || v < -0.001 || v > 100.001 {
			t.Errorf("something lies at %s", at[0])
		}
	}
	for _, bad := range []string{"NaN", "Inf", " style=", "<script>alert", "ZgotmplZ", "TODO"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, query := range []string{"stage-kernels v1", "roofline v1", "ceilings v1", "kernel-durations v1", "sample-series v1"} {
		if !strings.Contains(text, "Query "+query) {
			t.Errorf("the SQL of %s is not there", query)
		}
	}
	if text != func() string {
		again := figurePage(t)
		return again[strings.Index(again, "<body>"):strings.LastIndex(again, "<script>")]
	}() {
		t.Error("the same frames give different bytes")
	}
}

// TestHeadings holds that no level of headings is left out, and that each section is named.
func TestHeadings(t *testing.T) {
	text, before := figurePage(t), 0
	for _, h := range regexp.MustCompile(`<h([1-6])`).FindAllStringSubmatch(text, -1) {
		level, _ := strconv.Atoi(h[1])
		if level > before+1 {
			t.Errorf("a heading of level %d follows one of level %d", level, before)
		}
		before = level
	}
	if !strings.Contains(text, `<a class="skip" href="#main">`) || strings.Count(text, `id="main"`) != 1 {
		t.Error("the link past the head leads nowhere")
	}
}

// TestTableClass holds that tables of many columns are printed smaller, and that only a narrow first column stays in sight.
func TestTableClass(t *testing.T) {
	for _, c := range []struct {
		columns int
		first   string
		want    string
	}{{3, "a", "few"}, {7, "a", "few pinned"}, {8, "a", "some pinned"}, {13, "a", "many pinned"}, {19, "a", "crowded pinned"}, {19, "a name that is long", "crowded"}} {
		names, row := "stage", []any{c.first}
		for i := 1; i < c.columns; i++ {
			names, row = names+" c"+strconv.Itoa(i), append(row, int64(1))
		}
		table, err := table.NewView(rendertest.FrameOf("q", names, row), "q", wide, nil)
		if err != nil || table.Class != c.want {
			t.Errorf("%d columns: %q, want %q, %v", c.columns, table.Class, c.want, err)
		}
	}
}
