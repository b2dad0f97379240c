package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"prof/internal/testkit"
	"prof/render/chart"
)

// writtenPage writes the report of a capture and gives its page.
func writtenPage(t *testing.T, p *place, run string) (path, text string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "report.html")
	p.want(result{0, path + "\n", ""}, "report", run, "--out", dir, "--file", "report.html")
	return path, string(read(t, path))
}

// drawnTimeline is what the page's script draws the timeline from.
type drawnTimeline struct {
	From  int64 // start of the first work, from the start of the capture
	Names []string
	Works [][2]int64 // name, lane
	Rows  []struct {
		Label string
		Lanes []struct {
			Name  string
			Items [][]int64
		}
		Gaps    [][]int64
		Streams []struct {
			Name  string
			Items chart.Packed // start from the end of the one before, length, work
		}
	}
}

func timelineOf(t *testing.T, page string) drawnTimeline {
	t.Helper()
	var d drawnTimeline
	_, after, _ := strings.Cut(page, `id="timeline-data">`)
	data, _, _ := strings.Cut(after, "</script>")
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestReportPage holds that the page says what the queries say, and asks nothing of a network.
func TestReportPage(t *testing.T) {
	t.Parallel()
	p := reading(t, various)
	_, text := writtenPage(t, p, "nccl")
	if m := regexp.MustCompile(`https?:|["'(=]//|\ssrc=|@import|<link|url\([^#]`).FindString(text); m != "" {
		t.Errorf("the page holds %q", m)
	}
	for _, want := range []string{"<h1>Run nccl</h1>", ">At a glance</h2>", ">Where the time went</h2>", ">What to do first</h3>", ">Idle gaps</h2>", ">Collectives</h2>",
		`<summary>Query accounting v4</summary>`, "collective-exposed", `aria-label="decode, GPU 1: `, "Top operators: the run has no operators"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, ">Throttling</h2>") {
		t.Error("a section without rows that not every run has is there")
	}
	d := timelineOf(t, text)
	var kernels int64
	gaps := 0
	for _, row := range d.Rows {
		gaps += len(row.Gaps)
		for _, lane := range row.Lanes {
			for _, item := range lane.Items {
				if lane.Name == "kernel" || lane.Name == "collective" {
					kernels += item[3]
				}
			}
		}
	}
	if want := p.sql("SELECT count(*) AS n FROM kernel WHERE run_id = (SELECT run_id FROM run WHERE name = 'nccl')"); fmt.Sprintf("n\n%d\n", kernels) != want || len(d.Rows) != 2 || gaps != 200 {
		t.Errorf("the timeline draws %d kernels on %d GPUs and %d gaps, there are %s", kernels, len(d.Rows), gaps, want)
	}
}

// TestReportBars holds that the bars of report.md are those of accounting, above its table.
func TestReportBars(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	text := p.ok("report", "a", "--out", "-")
	_, section, found := strings.Cut(text, "\n<summary>Where the time went</summary>\n\n```text\n")
	if !found {
		t.Fatal("it has no bars")
	}
	bars, _, _ := strings.Cut(section, "\n\n")
	for _, line := range strings.Split(bars, "\n") {
		if words := strings.Fields(line); len(words) < 5 || len([]rune(words[3])) != 60 { // stage, GPU and its number stand before
			t.Errorf("a bar has not 60 cells: %s", line)
		}
	}
	rows := strings.Count(p.ok("query", "accounting", "--run", "a", "--format", "csv"), "\n") - 1
	if table, _, _ := strings.Cut(section, "\n<details>"); strings.Count(table, "\n| (run) |")+strings.Count(table, "\n| prefill |")+strings.Count(table, "\n| decode |") != rows {
		t.Errorf("the table under the bars has not the %d rows of accounting", rows)
	}
	bare := reading(t, capturedRuns)
	if text := bare.ok("report", "w", "--out", "-"); !regexp.MustCompile(`(?m)^- (.*, )?Where the time went[,:]`).MatchString(text) || strings.Contains(text, "Collectives</summary>") {
		t.Error("a run without device work does not say so")
	}
}

// TestReportInBrowser has a browser show the page and use it as a reader does. No check may have the page say anything on its console, or
// ask for anything but itself.
func TestReportInBrowser(t *testing.T) {
	t.Parallel()
	program := findBrowser()
	if program == "" {
		t.Skip("no Chromium or Chrome is installed: the page's script is not tried")
	}
	p := reading(t, []testkit.Run{{Name: "nccl2", Files: []string{"nsys/" + nccl}}}) // alone, for the SQL of pageTiesLaunches
	path, text := writtenPage(t, p, "nccl2")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	b := startBrowser(ctx, t, program)
	page := "file://" + path
	for _, c := range []struct {
		name  string
		check func(b *browser, page string)
	}{
		{"drawn", pageIsDrawn}, {"unfolds", pageUnfolds}, {"sort", pageSorts}, {"search", pageSearches}, {"copy", pageCopies},
		{"zoom", pageZooms}, {"kernels", func(b *browser, page string) { pageShowsKernels(b, page, timelineOf(b.t, text)) }}, {"gaps", pageJumpsToGaps}, {"launches", func(b *browser, page string) { pageTiesLaunches(b, page, p) }},
		{"widths", pageFits}, {"without script", pageNeedsNoScript},
	} {
		ok := t.Run(c.name, func(t *testing.T) {
			b.t = t
			b.screen(1200, 900, "light")
			b.said, b.fetched = nil, nil
			c.check(b, page)
			b.quiet(page)
		})
		b.t = t
		if !ok && ctx.Err() != nil {
			t.Fatal("no time is left")
		}
	}
}
