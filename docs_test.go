package main_test

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"prof/ingest"
	"prof/ingest/derive"
	"prof/ingest/workload"
	"prof/internal/cli"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/caveat"
	"prof/schema"
	"prof/schema/terms"
)

var update = flag.Bool("update", false, "write what is checked into README.md and docs in place of checking it")

// block is a fenced block of a page.
type block struct {
	lang, text string
	start      int  // line of its text, from 0
	follows    bool // whether it stands right below the block before it
}

// pages are README.md and the pages of docs.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("docs/*.md")
	if err != nil || len(found) < 5 {
		t.Fatalf("docs has the pages %q (%v)", found, err)
	}
	return append([]string{"README.md"}, found...)
}

func lines(t *testing.T, page string) []string {
	t.Helper()
	text, err := os.ReadFile(page)
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

// TestDocsBegin holds the two commands that a fresh machine needs, and that CI runs the tests by the second.
func TestDocsBegin(t *testing.T) {
	got := blocks(lines(t, "README.md"))
	if !slices.ContainsFunc(lines(t, ".ci/run"), func(line string) bool { return strings.TrimSpace(line)+"\n" == got[1].text }) {
		t.Errorf(".ci/run has no line %q", got[1].text)
	}
	for i, want := range []string{"go run . demo\n", "go test -timeout 40m ./...\n"} {
		if got[i].lang != "sh" || got[i].text != want {
			t.Errorf("block %d of the README is %q, not %q", i+1, got[i].text, want)
		}
	}
}

// workplace is a folder with testdata, in which nothing was ingested, and a prof on the PATH.
type workplace struct {
	dir     string
	env     []string
	session *cli.Session
	said    map[string]string // what lines printed that were run last as they are
}

// TestMain makes the test binary stand in for prof: where it is started by that name, and where prof starts itself, without flags of go test.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "prof" || len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(cli.Main(os.Args, os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// prof returns a folder for the PATH, with prof in it.
func prof(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(bin, "prof"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func newWorkplace(t *testing.T, bin string) workplace {
	t.Helper()
	dir := t.TempDir()
	captures, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(captures, filepath.Join(dir, "testdata")); err != nil {
		t.Fatal(err)
	}
	w := workplace{dir: dir, env: []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "XDG_CACHE_HOME=" + filepath.Join(bin, "cache"), "LC_ALL=C.UTF-8", "TMPDIR=" + os.TempDir()}, session: &cli.Session{Dir: dir}, said: map[string]string{}}
	t.Cleanup(func() { w.settle(t) })
	return w
}

func (w workplace) settle(t *testing.T) {
	t.Helper()
	if err := w.session.Settle(); err != nil {
		t.Error(err)
	}
}

// run returns what a command line prints; it must succeed. A prof that the line begins with runs in this process, and the rest of the line in a shell.
func (w workplace) run(t *testing.T, line string) string {
	t.Helper()
	command, isQuiet := strings.CutSuffix(strings.TrimSpace(line), " >/dev/null")
	env, args, rest := words(command)
	if len(args) == 0 || args[0] != "prof" || rest != "" && rest[0] != '|' || strings.HasPrefix(rest, "||") {
		w.settle(t)
		return w.shell(t, line, nil)
	}
	var out, talk strings.Builder
	w.session.Env = slices.Concat(w.env, env)
	if code := w.session.Run(t.Context(), strings.NewReader(""), &out, &talk, args[1:]...); code != 0 {
		t.Errorf("%s: exit %d\n%s", line, code, talk.String())
	}
	if isQuiet {
		return ""
	}
	said := strings.ReplaceAll(out.String(), w.dir+string(filepath.Separator), "")
	if rest != "" {
		said = w.shell(t, rest[1:], strings.NewReader(said))
	}
	w.said[line] = said
	return said
}

// shell returns what a shell prints.
func (w workplace) shell(t *testing.T, line string, in io.Reader) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-o", "pipefail", "-c", line)
	cmd.Dir, cmd.Env, cmd.Stdin = w.dir, w.env, in
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s: %v\n%s", line, err, talk.String())
	}
	return string(out)
}

// words takes a line of the shell apart: the variables before a command, its words, and what follows from the first sign on that only a shell
// understands.
func words(line string) (env, args []string, rest string) {
	var word strings.Builder
	isWord, quote := false, byte(0)
	end := func() {
		if name, _, isSet := strings.Cut(word.String(), "="); isWord && isSet && len(args) == 0 && strings.ToUpper(name) == name {
			env = append(env, word.String())
		} else if isWord {
			args = append(args, word.String())
		}
		word.Reset()
		isWord = false
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case strings.IndexByte("$`\\", c) >= 0 && quote != '\'':
			return nil, nil, line
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, isWord = c, true
		case c == ' ':
			end()
		case c == '#' && !isWord:
			return env, args, ""
		case strings.IndexByte("|&;<>()*?[]{}!\n", c) >= 0:
			end()
			return env, args, line[i:]
		default:
			isWord = true
			word.WriteByte(c)
		}
	}
	end()
	return env, args, ""
}

// TestDocsRun runs each line of a page's sh blocks and compares what it prints with the text block below, each page in a workplace of its
// own; then the statements of the sql blocks of docs/warehouse.md. The pages name every command and table.
func TestDocsRun(t *testing.T) {
	bin := prof(t)
	ran, compared := 0, 0
	for _, page := range pages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			w := newWorkplace(t, bin)
			r, c := runPage(t, w, page)
			ran, compared = ran+r, compared+c
			switch page {
			case "docs/guide.md":
				testCommands(t, w)
			case "docs/capture.md":
				testCaptures(t, newWorkplace(t, bin))
			case "docs/ci.md":
				testPipelines(t, w)
			case "docs/warehouse.md":
				testTables(t, w)
				testQuestions(t, w)
				testRules(t, newWorkplace(t, bin))
			}
		})
	}
	if !t.Failed() && (ran < 60 || compared < 20) {
		t.Errorf("only %d lines ran and %d outputs were compared", ran, compared)
	}
}

// runPage returns how many lines of a page it ran and how many outputs it compared.
func runPage(t *testing.T, w workplace, page string) (ran, compared int) {
	t.Helper()
	was := lines(t, page)
	all := blocks(was)
	now := slices.Clone(was)
	grown := 0 // lines that the page has more by now
	if page == "README.md" {
		all = all[2:] // which TestDocsBegin checks
	}
	for i, b := range all {
		if b.lang == "text" && (i == 0 || !b.follows || all[i-1].lang != "sh") {
			t.Errorf("%s:%d: a text block stands right below the sh block that prints it", page, b.start)
		}
		if b.lang != "sh" {
			continue
		}
		var out strings.Builder
		for line := range strings.Lines(b.text) {
			out.WriteString(w.run(t, line))
			ran++
		}
		if i+1 == len(all) || all[i+1].lang != "text" || !all[i+1].follows {
			continue
		}
		compared++
		says, got := all[i+1], out.String()
		if got != says.text && !*update {
			t.Errorf("%s:%d:\n%s\nprints\n%s\nthe page says\n%s", page, b.start, b.text, got, says.text)
		}
		before, after := strings.Count(says.text, "\n"), strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		now = slices.Replace(now, says.start+grown, says.start+grown+before, after...)
		grown += len(after) - before
	}
	if *update && !t.Failed() && !slices.Equal(now, was) {
		write(t, page, now)
	}
	return ran, compared
}

// testPipelines parses the pipelines of docs/ci.md and runs the commands of their jobs, each pipeline in a home of its own. A capture is a run that was
// captured before; what talks to the server (gh, curl) is a program that wants its file.
func testPipelines(t *testing.T, w workplace) {
	t.Helper()
	tools := t.TempDir()
	for _, name := range []string{"gh", "curl"} {
		if err := os.WriteFile(filepath.Join(tools, name), []byte("#!/bin/sh\nfor file in comment.md summary.md; do case \"$*\" in *\"$file\"*) test -s \"$file\" && echo \"sent $file\" && exit;; esac; done\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	prefill, decode, warmup := int64(256), int64(4), int64(2)
	options := ingest.Options{Pass: workload.Uniform(workload.Pass{Prefill: &prefill, Decode: &decode}, &warmup)}
	runs := []testkit.Run{{Name: "first", Files: []string{"capture/llama/sdpa-1"}, Options: options}, {Name: "ci-1", Files: []string{"capture/llama/sdpa-2"}, Options: options}}
	pipelines, ran, sent := 0, 0, 0
	for _, b := range blocks(lines(t, "docs/ci.md")) {
		if b.lang != "yaml" {
			continue
		}
		pipelines++
		var parsed any
		if err := yaml.UnmarshalWithOptions([]byte(b.text), &parsed, yaml.Strict()); err != nil {
			t.Errorf("docs/ci.md:%d: %v", b.start, err)
			continue
		}
		dir := t.TempDir()
		own := workplace{dir: w.dir, session: w.session, said: w.said, env: append(slices.Clone(w.env), "PROF_HOME="+filepath.Join(dir, "home"), "RUN=ci-1", "BRANCH=main", "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "step.md"), "GITHUB_REPOSITORY=a/b", "PR=1",
			"CI_DEFAULT_BRANCH=main", "CI_MERGE_REQUEST_IID=1", "CI_API_V4_URL=https://gitlab.invalid", "CI_PROJECT_ID=1", "COMMENT_TOKEN=x", "PATH="+tools+":"+strings.TrimPrefix(w.env[0], "PATH="))}
		own.run(t, "rm -f summary.md junit.xml comment.md && mkdir -p .github && echo 'stage.*.gpu_span_ns <= +50%' | tee perf.rules > .github/perf.rules")
		testkit.CopyHome(t, filepath.Join(dir, "home"), runs...)
		own.run(t, "prof baseline set main first")
		for _, command := range commands(parsed) {
			ran++
			if before, _, capture := strings.Cut(command, " -- "); capture && strings.HasPrefix(before, "prof capture ") {
				command = `prof tag "$RUN" "branch=$BRANCH"`
			}
			if strings.HasPrefix(command, "prof check ") { // one process a side
				command += " || [ $? -eq 4 ]"
			}
			sent += strings.Count(own.run(t, "set -e\n"+command), "sent ")
		}
		own.run(t, "grep -q '^| ' summary.md && grep -q '<testsuite' junit.xml && prof baseline list --format csv | grep -q '^main,ci-1'")
	}
	if pipelines < 2 || ran < 10 || sent != pipelines {
		t.Errorf("docs/ci.md has %d pipelines; %d commands ran, %d comments were sent", pipelines, ran, sent)
	}
}

// commands are the command lines of a pipeline in their order: GitHub's run, GitLab's script and after_script.
func commands(in any) []string {
	var out []string
	switch x := in.(type) {
	case map[string]any:
		for _, key := range []string{"run", "script", "after_script"} {
			switch c := x[key].(type) {
			case string:
				out = append(out, c)
			case []any:
				for _, line := range c {
					out = append(out, fmt.Sprint(line))
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(x)) {
			out = append(out, commands(x[key])...)
		}
	case []any:
		for _, y := range x {
			out = append(out, commands(y)...)
		}
	}
	return out
}

// as names the query that gives the same numbers as the statement in the block below.
var as = regexp.MustCompile("^As `(prof query [^`]+)`")

// testQuestions checks that SQL in docs/warehouse.md gives what a query gives that it names: in the columns of both, its rows are among the query's, in
// that order.
func testQuestions(t *testing.T, w workplace) {
	t.Helper()
	page := lines(t, "docs/warehouse.md")
	all := blocks(page)
	asked, compared := 0, 0
	for n, line := range page {
		if strings.HasPrefix(line, "### ") {
			asked++
		}
		m := as.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		at := slices.IndexFunc(all, func(b block) bool { return b.start > n && b.lang == "sh" })
		compared++
		want, got := records(t, w.run(t, m[1]+" --format csv")), records(t, w.said[all[at].text])
		var ours, theirs []int
		for i, name := range got[0] {
			if j := slices.Index(want[0], name); j >= 0 {
				ours, theirs = append(ours, i), append(theirs, j)
			}
		}
		if len(ours) < 3 || len(got) < 2 {
			t.Errorf("docs/warehouse.md:%d: %s and its SQL share %d columns, %d rows", n+1, m[1], len(ours), len(got)-1)
		}
		rest := want[1:]
		for _, row := range got[1:] {
			i := slices.IndexFunc(rest, func(r []string) bool {
				return !slices.ContainsFunc(ours, func(i int) bool { return !alike(row[i], r[theirs[slices.Index(ours, i)]]) })
			})
			if i < 0 {
				t.Errorf("docs/warehouse.md:%d: %s has no row %q, or not in that order", n+1, m[1], row)
				break
			}
			rest = rest[i+1:]
		}
	}
	if asked != 12 || compared < 9 {
		t.Errorf("docs/warehouse.md has %d questions, of which %d were compared with queries", asked, compared)
	}
}

func records(t *testing.T, text string) [][]string {
	t.Helper()
	out, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(out) == 0 {
		t.Fatalf("%q: %v", text, err)
	}
	return out
}

// alike compares cells: sums of floats differ in the last digits with the order of their parts.
func alike(a, b string) bool {
	x, errA := strconv.ParseFloat(a, 64)
	y, errB := strconv.ParseFloat(b, 64)
	return a == b || errA == nil && errB == nil && math.Abs(x-y) <= 1e-12*math.Abs(y)
}

// testRules runs the statements about rules one by one, with a prof command after each.
func testRules(t *testing.T, w workplace) {
	t.Helper()
	home := filepath.Join(w.dir, schema.HomeName)
	testkit.CopyHome(t, home, testkit.Named(t, "forms")...)
	stages := func() string {
		return w.run(t, "prof query stages --run forms --format csv | cut -d, -f1 | paste -sd,")
	}
	before := stages()
	var after []string
	for _, b := range blocks(lines(t, "docs/warehouse.md")) {
		if b.lang != "sql" {
			continue
		}
		for _, stmt := range strings.Split(strings.TrimSpace(b.text), ";\n") {
			w.settle(t)
			execute(t, home, stmt)
			after = append(after, stages())
		}
	}
	if len(after) != 4 || after[0] == before || !strings.Contains(after[0], "generate") || after[1] != after[0] || after[2] != after[0] || after[3] != before {
		t.Errorf("the rules of docs/warehouse.md relabel %q to %q", before, after)
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

func write(t *testing.T, page string, text []string) {
	t.Helper()
	if err := os.WriteFile(page, []byte(strings.Join(text, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// testCommands checks that docs/guide.md names every command.
func testCommands(t *testing.T, w workplace) {
	t.Helper()
	text := strings.Join(lines(t, "docs/guide.md"), "\n")
	verbs, _, _ := strings.Cut(w.run(t, "prof help"), "GLOBAL OPTIONS:\n")
	commands := regexp.MustCompile(`(?m)^   ([a-z]+)  `).FindAllStringSubmatch(verbs, -1)
	if len(commands) < 30 {
		t.Errorf("prof help names %q", commands)
	}
	for _, c := range commands {
		if name := c[1]; !strings.Contains(text, "| `"+name) {
			t.Errorf("the commands of docs/guide.md lack %s", name)
		}
	}
}

// testCaptures checks that docs/capture.md names every option of capture and no other, and that --dry-run accepts its command lines, on a machine that has
// nothing of what they start.
func testCaptures(t *testing.T, w workplace) {
	t.Helper()
	page := lines(t, "docs/capture.md")
	all := blocks(page)
	text := strings.Join(page, "\n")
	options := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^   (--[a-z-]+)(?:, (--[a-z-]+))?[ \n]`).FindAllStringSubmatch(w.run(t, "prof help capture"), -1) {
		for _, name := range m[1:] {
			options[name] = true
			if name != "" && name != "--help" && name != "--on" && !regexp.MustCompile("`[^`\n]*"+name+"[` ,=]").MatchString(text) {
				t.Errorf("docs/capture.md lacks %s", name)
			}
		}
	}
	rows := regexp.MustCompile("(?m)^\\| (`--[^|]*)\\|").FindAllStringSubmatch(text, -1)
	for _, row := range rows {
		for _, name := range regexp.MustCompile("--[a-z-]+").FindAllString(row[1], -1) {
			if !options[name] {
				t.Errorf("docs/capture.md has %s, which is no option of prof capture", name)
			}
		}
	}
	if len(options) < 60 || len(rows) < 40 {
		t.Errorf("prof help capture has %d options, docs/capture.md %d rows of them", len(options), len(rows))
	}
	write(t, filepath.Join(w.dir, "page.png"), []string{"a page"})
	tried := 0
	for _, b := range all {
		switch {
		case b.lang == "yaml" && strings.HasPrefix(b.text, "suite:"):
			write(t, filepath.Join(w.dir, "suite.yaml"), []string{b.text})
			for _, name := range []string{"invoices", "theses"} {
				write(t, filepath.Join(w.dir, name+".yaml"), []string{"- page.png"})
			}
		case b.lang != "":
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(b.text, "\\\n", "")) {
			verb, rest, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "prof "), " ")
			if !strings.HasPrefix(strings.TrimSpace(line), "prof ") || verb != "capture" && verb != "launch" {
				continue
			}
			tried++
			if out := w.run(t, "prof "+verb+" --dry-run "+rest); !strings.HasPrefix(out, "# ") || !strings.Contains(out, "\n# then, from another terminal") && strings.Count(out, " of ") == 0 {
				t.Errorf("%s\nprints\n%s", line, out)
			}
		}
	}
	if tried < 8 {
		t.Errorf("docs/capture.md has %d command lines of prof capture", tried)
	}
}

// testTables checks that docs/warehouse.md names every table.
func testTables(t *testing.T, w workplace) {
	t.Helper()
	text := strings.Join(lines(t, "docs/warehouse.md"), "\n")
	names := strings.Fields(w.run(t, `prof sql "SELECT table_name FROM duckdb_tables() ORDER BY 1" --format csv`))[1:]
	if len(names) < 50 {
		t.Errorf("the warehouse has the tables %q", names)
	}
	for _, name := range names {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the tables of docs/warehouse.md lack %s", name)
		}
	}
}

// link is a link or an image of Markdown to a place in this repository.
var link = regexp.MustCompile(`\]\(([^)\s:]+)\)`)

// TestDocsLinks checks that files and headings that pages link to are there.
func TestDocsLinks(t *testing.T) {
	checked := 0
	for _, page := range append(pages(t), "CONTRIBUTING.md", "CHANGELOG.md") {
		for n, line := range lines(t, page) {
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				checked++
				name, heading, _ := strings.Cut(m[1], "#")
				target := page
				if name != "" {
					target = filepath.Join(filepath.Dir(page), name)
				}
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s:%d links to %s, which is not there", page, n+1, target)
				} else if heading != "" && !slices.ContainsFunc(lines(t, target), func(l string) bool { return strings.HasPrefix(l, "#") && anchor(l) == heading }) {
					t.Errorf("%s:%d links to #%s, which %s has no heading for", page, n+1, heading, target)
				}
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were checked", checked)
	}
}

// anchor is what GitHub calls a heading in an address.
func anchor(heading string) string {
	text := strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#")))
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return r
		}
		return -1
	}, text)
}

// TestDocsQueries keeps docs/queries.md in step with the headers of the queries.
func TestDocsQueries(t *testing.T) { keepPage(t, "docs/queries.md", queryPage(t)) }

// TestDocsTerms keeps docs/terms.md in step with the tables of words.
func TestDocsTerms(t *testing.T) { keepPage(t, "docs/terms.md", termsPage()) }

// termsPage lists the words that rows have as values.
func termsPage() []string {
	out := []string{"<!-- made from schema/terms and queries/caveat by go test -run TestDocsTerms -update . -->", "# Words in rows", "",
		"Values of columns that stand for something, and what it is. Causes of idle time, and parts of a stage's time, are in", "[definitions](definitions.md).", "",
		"## Sources", "", "Kinds of sources: `kind` of `source` and `timeline`, and `--source`. Of several with the same GPU work the first counts,", "of several with operators the one with the least number.", "",
		"| kind | written by | GPU work | every CUDA call | ranges | GPUs | operators |", "|---|---|---|---|---|---|---|"}
	mark := map[bool]string{true: "yes"}
	for _, s := range terms.Sources {
		work, place := mark[s.IsTraced()], ""
		if s.IsTimeline() && !s.IsTraced() {
			work = "sums"
		}
		if s.Operators > 0 {
			place = fmt.Sprint(s.Operators)
		}
		out = append(out, fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s | %s |", s.Name, s.Label, work, mark[s.HasCalls()], mark[s.HasRanges()], mark[s.HasGPUs()], place))
	}
	out = append(out, "", "## Caveats", "",
		"Kinds of rows of the table `caveat`, and what `prof` says of each, here with texts in capitals and 3 of 4 things. Below", "each stand the columns that it fills, with what they mean in it.", "")
	for _, kind := range caveat.Kinds() {
		out = append(out, wrapped(fmt.Sprintf("- `%s`: %s", kind, cell(caveat.Example(kind))), "  ")...)
		var fields []string
		for _, f := range caveat.FieldsOf(kind) {
			fields = append(fields, fmt.Sprintf("`%s`: %s", f.Column, f.Meaning))
		}
		if len(fields) > 0 {
			out = append(out, wrapped("  - "+strings.Join(fields, "; "), "    ")...)
		}
	}
	out = append(out, "", "## Measures", "", "What `prof diff`, `prof trend` and `prof check` compare. In rules a stage's figure is `stage.NAME.MEASURE`,", "a kernel's `kernel:/RE/.MEASURE`, and a load generator's `serving.MEASURE`, times of these without `_ns`.", "",
		"| measure | of | unit | better | compared by | |", "|---|---|---|---|---|---|")
	better := map[bool]string{true: "less", false: "more"}
	for _, list := range []struct {
		of       string
		measures []terms.Measure
	}{{"stages", terms.Measures}, {"kernels", terms.KernelMeasures}, {"load generators", terms.ServingMeasures}} {
		for _, m := range list.measures {
			name := "`" + m.Name + "`"
			if m.Also != "" {
				name += ", `" + m.Also + "`"
			}
			out = append(out, fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", name, list.of, m.Unit, better[m.LessIsBetter], strings.Join(verbsOf(m.In), ", "), m.Meaning))
		}
	}
	out = append(out, "", "Times of requests are named with a statistic: `ttft_p99_ns`.", "", "| time | |", "|---|---|")
	for _, l := range terms.Latencies {
		out = append(out, fmt.Sprintf("| `%s` | %s |", l.Name, l.Meaning))
	}
	out = append(out, "", "| statistic | compared by |", "|---|---|")
	for _, s := range terms.Statistics {
		out = append(out, fmt.Sprintf("| `%s` | %s |", s.Name, strings.Join(verbsOf(s.In), ", ")))
	}
	return append(out, "")
}

func verbsOf(in terms.Verb) []string {
	var out []string
	for i, name := range []string{"diff", "trend", "check"} {
		if in&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// keepPage holds a page to what it is made of.
func keepPage(t *testing.T, page string, want []string) {
	t.Helper()
	if *update {
		write(t, page, want)
		return
	}
	if got := lines(t, page); !slices.Equal(got, want) {
		n := 0
		for n < min(len(got), len(want)) && got[n] == want[n] {
			n++
		}
		t.Errorf("%s differs from what it is made of from line %d on: go test -run %s -update . writes it anew", page, n+1, t.Name())
	}
}

// queryPage is the reference of queries: an index by domain, then each query as its header says.
func queryPage(t *testing.T) []string {
	t.Helper()
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	out := []string{"<!-- made from the headers of queries/sql by go test -run TestDocsQueries -update . -->", "# Queries", "",
		"`prof query NAME --run RUN` answers a query; `--explain` prints its SQL. In SQL a query is a macro or view of the", "same name with underscores: `FROM top_kernels('baseline', top := 10)`. [The warehouse](warehouse.md) says how they are", "versioned, [definitions](definitions.md) what the numbers mean.", ""}
	for _, q := range all {
		what, _, _ := strings.Cut(q.Doc, ". ")
		out = append(out, wrapped(fmt.Sprintf("- [`%s`](#%s): %s", q.Name, q.Name, cell(what)), "  ")...)
	}
	for _, q := range all {
		out = append(out, "", "## "+q.Name, "")
		out = append(out, wrapped(q.Doc, "")...)
		out = append(out, "")
		out = append(out, wrapped(fmt.Sprintf("One row: %s. Key: `%s`. SQL: `%s`.", q.Grain, q.Key, q.Relation()), "")...)
		if len(q.Params) > 0 {
			out = append(out, "", "Options:", "")
		}
		for _, p := range q.Params {
			byDefault := ""
			if p.Default != "" && p.Default != "NULL" {
				byDefault = " (`" + strings.Trim(p.Default, "'") + "`)"
			}
			out = append(out, wrapped(fmt.Sprintf("- `--%s`%s: %s", strings.ReplaceAll(p.Name, "_", "-"), byDefault, cell(p.Doc)), "  ")...)
		}
		out = append(out, "", "Columns:", "")
		for _, c := range q.Columns {
			out = append(out, wrapped(fmt.Sprintf("- `%s`: %s", c[0], cell(c[1])), "  ")...)
		}
	}
	return append(out, "")
}

// wide is how long a line of prose in the pages may be, and a row of a table.
var wide = map[bool]int{false: 120, true: 240}

// mark is a word that makes a list, a heading or a quotation of the line that it begins.
var mark = regexp.MustCompile(`^([-+*>]|#+|\d+[.)])$`)

// wrapped breaks a text into lines of prose; those after the first begin with the indent, and none with a mark.
func wrapped(text, indent string) []string {
	line := text[:len(text)-len(strings.TrimLeft(text, " "))]
	var out []string
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0:
			line += word
		case mark.MatchString(word) || utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= wide[false]:
			line += " " + word
		default:
			out, line = append(out, line), indent+word
		}
	}
	return append(out, line)
}

// TestDocsWidth holds that pages are read without scrolling sideways: one fact a sentence, few to a row. What programs print may be wider.
func TestDocsWidth(t *testing.T) {
	for _, page := range append(pages(t), "CONTRIBUTING.md", "SECURITY.md") {
		isCode := false
		for n, line := range lines(t, page) {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				isCode = !isCode
			}
			if most := wide[strings.HasPrefix(line, "|")]; !isCode && utf8.RuneCountInString(line) > most {
				t.Errorf("%s:%d has %d characters; at most %d are read", page, n+1, utf8.RuneCountInString(line), most)
			}
		}
	}
}

// cell escapes text for a cell of a table in Markdown.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`).Replace(strings.TrimSuffix(text, "."))
}
