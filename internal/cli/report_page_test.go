package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// writtenPage writes the report of a capture and gives its page.
func writtenPage(t *testing.T, p *place, run string) (path, text string) {
	t.Helper()
	dir := t.TempDir()
	p.want(result{0, filepath.Join(dir, "report.html") + "\n" + filepath.Join(dir, "report.md") + "\n", ""}, "report", run, "--out", dir)
	path = filepath.Join(dir, "report.html")
	return path, string(read(t, path))
}

// TestReportPage holds that the page says what the queries say, twice the same, and asks nothing of a network.
func TestReportPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.ok("ingest", "--run", "nccl2", exported(t, "nccl2/nccl2.sqlite.gz"))
	_, text := writtenPage(t, p, "nccl2")
	if _, again := writtenPage(t, p, "nccl2"); again != text {
		t.Error("the page differs when it is written again")
	}
	if m := regexp.MustCompile(`https?:|["'(=]//|\ssrc=|@import|<link|url\([^#]`).FindString(text); m != "" {
		t.Errorf("the page holds %q", m)
	}
	for _, want := range []string{"<h1>Run nccl2</h1>", "<h2>Where the time went</h2>", "<h2>What to do about it</h2>", "<h2>Idle gaps</h2>", "<h2>Collectives</h2>",
		`<summary>Query accounting v1</summary>`, "collective-exposed", `aria-label="decode, GPU 1: `, "Not known: the run has no operators"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(text, "<h2>Throttling</h2>") {
		t.Error("a section without rows that not every run has is there")
	}
	var d struct {
		Span int64
		Rows []struct {
			Label string
			Lanes []struct {
				Name  string
				Items [][]int64
			}
			Gaps [][]int64
		}
	}
	_, after, _ := strings.Cut(text, `id="timeline-data">`)
	data, _, _ := strings.Cut(after, "</script>")
	if err := json.Unmarshal([]byte(data), &d); err != nil {
		t.Fatal(err)
	}
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
	if want := p.sql("SELECT count(*) AS n FROM kernel"); fmt.Sprintf("n\n%d\n", kernels) != want || len(d.Rows) != 2 || gaps != 200 {
		t.Errorf("the timeline draws %d kernels on %d GPUs and %d gaps, there are %s", kernels, len(d.Rows), gaps, want)
	}
}

// TestReportBars holds that the bars of report.md are those of accounting, above its table.
func TestReportBars(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.ok("ingest", "--run", "a", exported(t, "kernels/kernels.sqlite.gz"))
	text := p.ok("report", "a", "--out", "-")
	_, section, found := strings.Cut(text, "\n## Where the time went\n\n```text\n")
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
	if table, _, _ := strings.Cut(section, "\nQuery accounting"); strings.Count(table, "\n| (run) |")+strings.Count(table, "\n| prefill |")+strings.Count(table, "\n| decode |") != rows {
		t.Errorf("the table under the bars has not the %d rows of accounting", rows)
	}
	bare := newPlace(t)
	bare.ok("ingest", "--run", "cpu", exported(t, "../torch/cpu.trace.json.gz"))
	if text := bare.ok("report", "cpu", "--out", "-"); !strings.Contains(text, "\n## Where the time went\n\nNot known: ") || strings.Contains(text, "## Collectives") {
		t.Error("a run without device work does not say so")
	}
}

// TestReportInBrowser has a browser draw the page: its timeline, its tables' buttons, and no error on its console.
func TestReportInBrowser(t *testing.T) {
	t.Parallel()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium or Chrome is installed: the page's script is not tried")
	}
	p := newPlace(t)
	p.ok("ingest", "--run", "nccl2", exported(t, "nccl2/nccl2.sqlite.gz"))
	path, _ := writtenPage(t, p, "nccl2")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-extensions", "--enable-logging=stderr", "--log-level=0", "--window-size=1200,900",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=3000", "--dump-dom", "file://"+path)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	var console strings.Builder
	cmd.Stderr = &console
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", browser, err, console.String())
	}
	if at := regexp.MustCompile(`.*CONSOLE.*`).FindString(console.String()); at != "" {
		t.Errorf("the page's script says: %s", at)
	}
	text := string(dom)
	for what, want := range map[string]int{`class="work part-kernel" d="M`: 2, `class="work part-collective" d="M`: 2, `<text class="gpu"`: 2, `<rect class="pass"`: 12} {
		if got := strings.Count(text, what); got < want {
			t.Errorf("the page has %q %d times of %d", what, got, want)
		}
	}
	if heads, buttons := strings.Count(text, `<th scope="col"`), len(regexp.MustCompile(`<th [^>]*><button type="button">`).FindAllString(text, -1)); heads == 0 || buttons != heads {
		t.Errorf("%d of %d columns can be sorted", buttons, heads)
	}
	if m := regexp.MustCompile(`id="timeline-view"[^>]*>0 ns to ([^<]+)<`).FindStringSubmatch(text); m == nil {
		t.Error("the timeline does not say what it shows")
	}
}
