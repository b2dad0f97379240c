package main_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/queries"
	"prof/schema"
)

var update = flag.Bool("update", false, "write what is checked into README.md in place of checking it")

// block is a fenced block of the README.
type block struct {
	lang, text string
	start      int  // line of its text, from 0
	follows    bool // whether it stands right below the block before it
}

func readme(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

func blocks(lines []string) []block {
	var out []block
	open, end := false, -1
	for i, line := range lines {
		lang, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && !open:
			out = append(out, block{lang: lang, start: i + 1, follows: end == i-1})
			open = true
		case fence:
			open, end = false, i
		case open:
			out[len(out)-1].text += line + "\n"
		}
	}
	return out
}

// TestReadmeBegins holds the two commands that a fresh machine needs.
func TestReadmeBegins(t *testing.T) {
	got := blocks(readme(t))
	for i, want := range []string{"go run . demo\n", "go test ./...\n"} {
		if got[i].lang != "sh" || got[i].text != want {
			t.Errorf("block %d of the README is %q, not %q", i+1, got[i].text, want)
		}
	}
}

// workplace is a folder with testdata and a prof on the PATH.
type workplace struct {
	dir string
	env []string
}

func newWorkplace(t *testing.T) workplace {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "prof"), ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	captures, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(captures, filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	return workplace{dir, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8", "TMPDIR=" + os.TempDir()}}
}

// run gives what a command line prints; it must succeed.
func (w workplace) run(t *testing.T, line string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", line)
	cmd.Dir, cmd.Env = w.dir, w.env
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s", line, err, talk.String())
	}
	return string(out)
}

// TestReadmeRuns runs each line of the README's sh blocks and compares what it prints with the text block below, then the
// statements of its sql blocks, and that it names every verb, table and room.
func TestReadmeRuns(t *testing.T) {
	lines := readme(t)
	all := blocks(lines)
	w := newWorkplace(t)
	ran, compared := 0, 0
	for i := len(all) - 1; i >= 0; i-- { // checked here, run below
		if all[i].lang == "text" && (i == 0 || !all[i].follows || all[i-1].lang != "sh") {
			t.Errorf("line %d: a text block stands right below the sh block that prints it", all[i].start)
		}
	}
	type edit struct {
		b    block
		text string
	}
	var edits []edit
	for i, b := range all[2:] {
		if b.lang != "sh" {
			continue
		}
		var got strings.Builder
		for _, line := range strings.Split(strings.TrimSpace(b.text), "\n") {
			got.WriteString(w.run(t, line))
			ran++
		}
		if next := i + 3; next < len(all) && all[next].lang == "text" && all[next].follows {
			compared++
			edits = append(edits, edit{all[next], got.String()})
			if !*update && got.String() != all[next].text {
				t.Errorf("line %d:\n%s\nprints\n%s\nthe README says\n%s", b.start, b.text, got.String(), all[next].text)
			}
		}
	}
	if ran < 10 || compared < 3 {
		t.Errorf("only %d lines ran and %d outputs were compared", ran, compared)
	}
	testRules(t, w, all)
	testNames(t, w)
	if *update && !t.Failed() {
		for i := len(edits) - 1; i >= 0; i-- {
			b := edits[i].b
			tail := append(strings.Split(strings.TrimSuffix(edits[i].text, "\n"), "\n"), lines[b.start+strings.Count(b.text, "\n"):]...)
			lines = append(lines[:b.start:b.start], tail...)
		}
		write(t, lines)
	}
}

// testRules runs the statements about rules one by one, with a prof command after each.
func testRules(t *testing.T, w workplace, all []block) {
	t.Helper()
	stages := func() string {
		return w.run(t, "prof query stages --run baseline --format csv | cut -d, -f1 | paste -sd,")
	}
	before := stages()
	var after []string
	for _, b := range all {
		if b.lang != "sql" {
			continue
		}
		for _, stmt := range strings.Split(strings.TrimSpace(b.text), ";\n") {
			execute(t, filepath.Join(w.dir, schema.HomeName), stmt)
			after = append(after, stages())
		}
	}
	if len(after) != 4 || after[0] == before || !strings.Contains(after[0], "generate") || after[1] != after[0] || after[2] != after[0] || after[3] != before {
		t.Errorf("the rules of the README relabel %q to %q", before, after)
	}
}

// execute writes into the warehouse as another client would, knowing nothing of prof.
func execute(t *testing.T, dir, stmt string) {
	t.Helper()
	w, err := schema.Open(context.Background(), schema.Home{Dir: dir}, schema.Options{Write: true, Defs: queries.Relations{}, Facts: derive.Facts{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.DB.Exec(stmt); err != nil {
		t.Errorf("%s: %v", stmt, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, lines []string) {
	t.Helper()
	if err := os.WriteFile("README.md", []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// queryTable is the catalogue as a table in Markdown.
func queryTable(t *testing.T) []string {
	t.Helper()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{"| query | gives | options |", "|---|---|---|"}
	for _, q := range all {
		var opts []string
		for _, p := range q.Params {
			opts = append(opts, "`--"+strings.ReplaceAll(p.Name, "_", "-")+"`")
		}
		out = append(out, fmt.Sprintf("| `%s` | %s | %s |", q.Name, strings.ReplaceAll(strings.TrimSuffix(q.Doc, "."), "|", `\|`), strings.Join(opts, " ")))
	}
	return out
}

// TestReadmeQueries keeps the table of queries in step with the catalogue.
func TestReadmeQueries(t *testing.T) {
	lines := readme(t)
	from, to := -1, -1
	for i, line := range lines {
		if strings.HasPrefix(line, "<!-- queries") {
			from = i + 1
		}
		if line == "<!-- /queries -->" {
			to = i
		}
	}
	if from < 0 || to < from {
		t.Fatal("the README has lost the marks around its table of queries")
	}
	want := queryTable(t)
	if *update {
		write(t, append(append(append([]string{}, lines[:from]...), want...), lines[to:]...))
		return
	}
	if got := strings.Join(lines[from:to], "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the README's table of queries is out of step; run go test -run TestReadmeQueries -update .\n%s", strings.Join(want, "\n"))
	}
}

// testNames holds that every verb, table and room is in the README.
func testNames(t *testing.T, w workplace) {
	t.Helper()
	text := strings.Join(readme(t), "\n")
	_, commands, _ := strings.Cut(w.run(t, "prof help"), "COMMANDS:\n")
	commands, _, _ = strings.Cut(commands, "\n\n")
	verbs := strings.Split(strings.TrimSpace(commands), "\n")
	if len(verbs) < 8 {
		t.Errorf("prof help names %q", verbs)
	}
	for _, v := range verbs {
		if name := strings.Fields(v)[0]; !strings.Contains(text, "| `"+name) {
			t.Errorf("the README's verbs lack %s", name)
		}
	}
	tables := w.run(t, `prof sql "SELECT table_name FROM duckdb_tables() ORDER BY 1" --format csv`)
	for _, name := range strings.Fields(tables)[1:] {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the README's tables lack %s", name)
		}
	}
	for dir := range rooms {
		if _, err := os.Stat(dir); err != nil || strings.Count(dir, "/") > 1 || dir == "." || strings.HasPrefix(dir, "ingest/l") || dir == "schema/seed" {
			continue
		}
		if !strings.Contains(text, "`"+dir+"`") {
			t.Errorf("the README's rooms lack %s", dir)
		}
	}
}
