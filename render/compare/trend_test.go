package compare

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"prof/queries/judge/diff"
	"prof/queries/judge/trend"
	"prof/render/picture"
	"prof/render/rendertest"
)

// hostileKernel is a name that is to move no cursor and bring nothing into a page.
const hostileKernel = "void gemm<bf16, 256x128>(\x1b[31mParams)</title><script>alert(1)</script>|`x`"

// madeTrend is a trend of 14 runs: prefill keeps its level, decode is 5 % slower from the tenth on, in a kernel, and perhaps faster in the
// last; in the fourth it is not known. Of a fifth stage one run with other tokens is a series of its own.
func madeTrend() *trend.Result {
	r := &trend.Result{Workload: "9f3a5c1188d0e2b4", Options: trend.Options{Metric: trend.GPUSpan, Alpha: 0.01, MinEffect: 0.01, Kernels: 10},
		Notes: []string{"gpu_span_ns is unknown at 1 of 29 points (a run and stage each): these are gaps, not zeros"}, Queries: []trend.Source{{Query: "trend.v1", SQL: "FROM trend_v1(workload := '9f3a')"}}}
	same := trend.Same{GPU: "NVIDIA H200", Tool: "nsys"}
	prefill := trend.Series{Stage: "prefill", Same: same, Latest: true, Levels: []trend.Level{{From: 0, To: 13, Median: 45.9e6}}}
	prefill.Same.Prompt = new(int64(681))
	decode := trend.Series{Stage: "decode", Same: same, Latest: true, Levels: []trend.Level{{From: 0, To: 8, Median: 290.5e6}, {From: 9, To: 13, Median: 305.1e6}}}
	decode.Same.Decode = new(int64(16))
	other := decode
	other.Same.Decode, other.Latest, other.Levels = new(int64(32)), false, []trend.Level{{From: 0, To: 0, Median: 580e6}}
	gemm := trend.Item{Kind: "kernel", Name: hostileKernel, Family: "gemm"}
	for i := range 14 {
		r.Runs = append(r.Runs, trend.Run{ID: fmt.Sprintf("01890000-0000-7000-8000-%012d", i), Name: fmt.Sprintf("nightly-%02d", i), At: fmt.Sprintf("2026-01-%02d 03:00:00", i+1),
			Commit: fmt.Sprintf("%08x%08x", 0xabc123*(i+1), i), Branch: "main", Dirty: new(i == 12), Driver: "570.1", Host: "box", ToolVersion: "2026.1", ProfVersion: "1.2"})
		wave := float64(i*7%5) * 0.1e6
		prefill.Points = append(prefill.Points, trend.Point{Run: i, Value: new(45.7e6 + wave), Mean: new(45.8e6 + wave), Passes: 3, Std: new(0.2e6)})
		p := trend.Point{Run: i, Value: new(290.3e6 + wave), Mean: new(290.4e6 + wave), Passes: 3, Std: new(1.1e6)}
		switch {
		case i == 3:
			p = trend.Point{Run: i}
		case i == 13:
			*p.Value = 251e6
		case i >= 9:
			*p.Value += 14.6e6
		}
		decode.Points = append(decode.Points, p)
		gemm.Values, gemm.Calls = append(gemm.Values, new(50e6)), append(gemm.Calls, new(100.0))
	}
	decode.Items = []trend.Item{gemm}
	other.Points = []trend.Point{{Run: 6, Value: new(580e6), Passes: 3}}
	r.Series = []trend.Series{prefill, decode, other}
	r.Changes = []trend.Change{
		{Series: 1, First: 9, Last: 8, Point: 9, Before: 290.5e6, After: 305.1e6, Effect: new(0.0503), P: 1e-7, Verdict: trend.Worse, Asked: true,
			Moved:      []trend.Change{{Series: 1, Item: &gemm, First: 9, Last: 8, Point: 9, Before: 50e6, After: 64.2e6, Effect: new(0.284), Verdict: trend.Worse, CallsBefore: new(100.0), CallsAfter: new(112.0)}},
			Provenance: []trend.Difference{{Aspect: "commit", Before: "605e9d3b00000008", After: "6b1a5e6e00000009", Weight: "tells"}, {Aspect: "driver", Before: "570.1", Weight: "clouds"}}},
		{Series: 0, Item: &trend.Item{Kind: "idle", Name: "idle"}, First: 10, Last: 9, Point: 10, Before: 0, After: 1e6, Verdict: trend.Worse, Asked: true},
		{Series: 1, First: 13, Last: 12, Point: 13, Before: 305.1e6, After: 251e6, Effect: new(-0.177), P: 1e-4, Verdict: trend.Better, Suspect: true, Around: [2]int{4, 1},
			Largest: &trend.Change{Series: 1, Item: &gemm, First: 13, Last: 12, Point: 13, Before: 64.2e6, After: 64.1884e6, Effect: new(-0.0002), Verdict: trend.Better}},
	}
	return r
}

func TestTrendGolden(t *testing.T) {
	o := TrendOptions{Last: 6, Command: "python serve.py --model llama"}
	for _, form := range TrendForms() {
		if form.Name == "html" { // which TestTrendPage holds
			continue
		}
		for _, width := range []int{0, 80} {
			if width > 0 && form.Name != "table" {
				continue
			}
			o.Width = width
			var got bytes.Buffer
			if err := form.Write(&got, madeTrend(), o); err != nil {
				t.Fatal(err)
			}
			for n, line := range strings.Split(got.String(), "\n") {
				if width > 0 && len([]rune(line)) > width {
					t.Errorf("line %d takes %d columns: %s", n+1, len([]rune(line)), line)
				}
			}
			rendertest.Compare(t, filepath.Join("testdata", "trend", fmt.Sprintf("trend.%d.%s", width, form.Name)), got.Bytes())
		}
	}
}

// TestPictures holds the pictures of trends and comparisons that stand alone.
func TestPictures(t *testing.T) {
	check := func(file string, p *picture.Picture, err error) {
		t.Helper()
		if err != nil || p == nil {
			t.Fatalf("%s: no picture: %v", file, err)
		}
		var out bytes.Buffer
		if err := p.WriteSVG(&out); err != nil {
			t.Fatal(err)
		}
		rendertest.Compare(t, filepath.Join("testdata", file), out.Bytes())
		if err := p.WritePNG(io.Discard); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
	p, err := TrendPicture(madeTrend(), TrendOptions{Command: "python serve.py --model llama"})
	check("picture/trend.svg", p, err)
	p, err = DiffPicture([]*diff.Result{exampleDiff()})
	check("picture/diff.svg", p, err)
	if p, err := DiffPicture(nil); p != nil || err != nil {
		t.Errorf("of nothing: %v, %v", p, err)
	}
	none := madeTrend()
	for i := range none.Series {
		none.Series[i].Points = none.Series[i].Points[:1]
	}
	if p, err := TrendPicture(none, TrendOptions{}); p != nil || err != nil {
		t.Errorf("of single runs: %v, %v", p, err)
	}
}

// TestTrendPage holds what the page shows and that it runs nothing but its own script.
func TestTrendPage(t *testing.T) {
	var out bytes.Buffer
	form, err := TrendForms().Named("html")
	if err != nil {
		t.Fatal(err)
	}
	if err := form.Write(&out, madeTrend(), TrendOptions{Command: "python serve.py"}); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "\x1b") || strings.Count(page, "<script>") != 1 || strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("a name of a kernel brought something into the page, or it fetches something")
	}
	if !strings.Contains(page, "style-src 'sha256-") || !strings.Contains(page, "script-src 'sha256-") || !strings.Contains(page, "default-src 'none'") {
		t.Error("the page has no policy")
	}
	// 14 points of prefill and 13 of decode; of the series with one run nothing is drawn.
	for part, want := range map[string]int{"<circle class=\"run\"": 27, "<line class=\"level\"": 3, "<line class=\"change\"": 3, "<svg role=\"img\"": 2, "<li><b class=": 3, "<line class=\"spread\"": 27} {
		if n := strings.Count(page, part); n != want {
			t.Errorf("%d times %s, want %d", n, part, want)
		}
	}
	if !strings.Contains(page, "Of 1 run the value is not known") {
		t.Error("the gap is not told")
	}
	// All that is drawn lies within the plot or on its edge.
	for _, m := range regexp.MustCompile(`cx="([0-9.]+)%" cy="(-?[0-9.]+)"`).FindAllStringSubmatch(page, -1) {
		var x, y float64
		fmt.Sscan(m[1], &x)
		fmt.Sscan(m[2], &y)
		if x < 0 || x > 100 || y < 0 || y > trendHeight {
			t.Errorf("a point lies at %s", m[0])
		}
	}
}

// TestTrendNumbers holds csv and json to the trend: every run and stage, gaps empty and null.
func TestTrendNumbers(t *testing.T) {
	r := madeTrend()
	var text bytes.Buffer
	if err := TrendCSV(&text, r, TrendOptions{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil || len(rows) != 1+14+14+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if gap := rows[1+14+3]; gap[0] != "nightly-03" || gap[1] != "decode" || gap[2] != "" {
		t.Errorf("the gap is %q", gap)
	}
	if step := rows[1+14+9]; step[3] != "change" || step[4] != "0.0503" || step[5] != "305100000" {
		t.Errorf("the change is %q", step)
	}
	text.Reset()
	if err := TrendJSON(&text, r, TrendOptions{}); err != nil {
		t.Fatal(err)
	}
	var back struct {
		Command *string
		Series  []struct{ Points []struct{ Value *float64 } }
		Changes []struct {
			Words       string
			Moved       []struct{ Item_name, Words string }
			Differences *[]struct{ After *string }
		}
	}
	if err := json.Unmarshal(text.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Command != nil || back.Series[1].Points[3].Value != nil || *back.Series[1].Points[4].Value != 290.6e6 || back.Changes[0].Moved[0].Item_name != hostileKernel ||
		(*back.Changes[0].Differences)[1].After != nil || strings.Contains(back.Changes[0].Moved[0].Words, "kept its level") || back.Changes[2].Differences != nil {
		t.Errorf("json holds %+v", back)
	}
}

// TestTrendOfFewRuns holds that of runs too few to find a change none is said to be absent, and that one run has one time.
func TestTrendOfFewRuns(t *testing.T) {
	r := madeTrend()
	r.Changes, r.Series, r.Runs = nil, r.Series[:1], r.Runs[:1]
	r.Series[0].Points, r.Series[0].Levels = r.Series[0].Points[:1], []trend.Level{{Median: 45.7e6}}
	for _, form := range TrendForms() {
		if form.Name == "csv" || form.Name == "json" {
			continue
		}
		var out bytes.Buffer
		if err := form.Write(&out, r, TrendOptions{}); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if !strings.Contains(text, "1 run, 2026-01-01 03:00 UTC") || !strings.Contains(text, "Too few runs to find a change of level") || strings.Contains(text, "o change of level was found") {
			t.Errorf("%s says:\n%s", form.Name, text)
		}
	}
}

func TestSparkline(t *testing.T) {
	line := func(cells int, values ...float64) string {
		list := make([]*float64, len(values))
		for i, v := range values {
			if v >= 0 {
				list[i] = new(v)
			}
		}
		return sparkline(list, cells)
	}
	many := make([]float64, 100)
	for i := range many {
		many[i] = 100
		if i >= 50 {
			many[i] = 200
		}
	}
	many[20] = 100_000 // an outlier is drawn at the edge
	for got, want := range map[string]string{
		line(10):                               "",
		line(10, 100, 101, 100):                "▄▅▄", // 1 % of noise is no mountain range
		line(10, 0, 50, 100):                   "▁▅█",
		line(10, 1, -1, 2):                     "▁·█",
		line(10, -1, -1):                       "··",
		line(10, 0, 0):                         "▁▁",
		line(4, many...):                       "▁▁██",
		line(2, 1, 1, 1, 9, 9, 9):              "▁█",
		line(3, 5, -1, -1, -1, 7, 7, 7, -1, 9): "▁▅█",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestTrendForms(t *testing.T) {
	if _, err := TrendForms().Named("xml"); err == nil || !strings.Contains(err.Error(), "table, md, html, blocks, csv, json") {
		t.Errorf("a form that is none: %v", err)
	}
	for _, f := range TrendForms() {
		if err := f.Write(rendertest.Failing{}, madeTrend(), TrendOptions{}); err != io.ErrClosedPipe {
			t.Errorf("%s: got %v", f.Name, err)
		}
	}
}
