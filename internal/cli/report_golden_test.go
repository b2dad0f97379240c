package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/render/report"
	"prof/render/typeset"
)

// reported are the runs whose reports are held: of each kind of capture one.
var reported = []struct {
	run   string
	files []string
	page  bool // the page too, which is large
	again bool // written twice, to see that nothing changes
}{
	{"kernels", []string{"nsys/" + kernels}, true, true},
	{"profiled", []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}, false, true},
	{"operators", []string{"torch/llama-stack.trace.json.gz"}, false, false},
	{"ranks", []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz"}, false, false},
	{"llama", []string{"nsys/" + llama, "workload/llama-graph-node.workload.json"}, false, false},
	{"captured", []string{"capture/repeats"}, false, false},
}

// What differs from one run to the next, and from one machine to another.
var (
	runID    = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}`)
	ingested = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC by prof [0-9.]+`)
	addedAt  = regexp.MustCompile("(` \\| |</code></td><td>)\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d")
	created  = regexp.MustCompile(`("ingested_at": )"[^"]*"`)
	toolPath = regexp.MustCompile(`/opt/(?:[\w.+-]+/)+`)
	userPath = regexp.MustCompile(`\\?~/(?:[\w.+-]+/)+`)
	ofPage   = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|sha256-[A-Za-z0-9/=&#;+]+`)
)

// TestReportFiles holds every file of reports of every kind of capture, that two reports of a run are the same to the byte, and that
// they hold what each run has.
func TestReportFiles(t *testing.T) {
	t.Parallel()
	var runs []testkit.Run
	for _, c := range reported {
		runs = append(runs, testkit.Run{Name: c.run, Files: c.files, Options: ingest.Options{ProfVersion: version()}, TrueSums: true})
	}
	for _, c := range sample.Of(reported, 2) {
		t.Run(c.run, func(t *testing.T) {
			t.Parallel()
			p := reading(t, runs)
			got := p.run("report", c.run, "--out", "a")
			if got.code != 0 {
				t.Fatalf("report: %d: %s", got.code, got.err)
			}
			if c.again {
				p.ok("report", c.run, "--out", "b")
			}
			wantFamilies(t, p, c.run)
			for _, f := range report.Files() {
				text, err := os.ReadFile(p.path("a/" + f.Name))
				if err != nil {
					if !strings.Contains(got.err, "no "+f.Name+": ") {
						t.Errorf("%s is not there, and nothing says why: %s", f.Name, got.err)
					}
					continue
				}
				if c.again && !bytes.Equal(text, read(t, p.path("b/"+f.Name))) {
					t.Errorf("%s differs when it is written again", f.Name)
				}
				if f.Name != "report.html" || c.page {
					compareGolden(t, filepath.Join("testdata", "report", c.run+"."+f.Name), lasting(t, text))
				}
			}
		})
	}
}

// wantFamilies holds that the kinds of kernels in the summary are all of their kind, as the query has them, not those of a table cut short.
func wantFamilies(t *testing.T, p *place, run string) {
	t.Helper()
	_, section, _ := strings.Cut(string(read(t, p.path("a/stakeholder_summary.md"))), "\n## Top Kernels\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, row := range p.rows("top-kernels", "--run", run, "--by", "family", "--top", "5") {
		share, err := strconv.ParseFloat(row["share_ratio"], 64)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := strconv.ParseInt(row["calls"], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`\n\| %s \| [0-9.,]+ \| %s \| %s \|`, regexp.QuoteMeta(strings.Trim(row["kernel"], "()")), typeset.Percent(share), typeset.Int(calls))
		if !regexp.MustCompile(want).MatchString(section) {
			t.Errorf("%s is not in%s", want, section)
		}
	}
}

// lasting takes out what differs from one run to the next.
func lasting(t *testing.T, text []byte) []byte {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	text = ofPage.ReplaceAll(text, nil)
	text = bytes.ReplaceAll(text, []byte(root), []byte("ROOT"))
	text = toolPath.ReplaceAll(text, []byte("TOOLS/"))
	text = userPath.ReplaceAll(text, []byte("HOME/"))
	text = runID.ReplaceAll(text, []byte("RUN-ID"))
	text = addedAt.ReplaceAll(text, []byte("${1}ADDED"))
	text = created.ReplaceAll(text, []byte(`$1"INGESTED"`))
	return ingested.ReplaceAll(text, []byte("INGESTED"))
}

func compareGolden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("%s:%d differs (-update writes it):\n got %.400s\nwant %.400s", file, i+1, a[i], b[i])
			return
		}
	}
	t.Errorf("%s has %d lines, now %d (-update writes it)", file, len(b), len(a))
}
