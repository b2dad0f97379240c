package cli

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"prof/internal/sample"
	"prof/internal/testkit"
)

// served is the page of a running server, with what the command line says of the same warehouse.
type served struct {
	*browser
	p    *place
	base string // its address
}

var servingOn = regexp.MustCompile(`serving .* on (http://\S+)`)

// serveAt starts prof serve on the home of a place and gives its address. It ends with the test.
func serveAt(t *testing.T, p *place, args ...string) string {
	t.Helper()
	at, _ := beginServing(t, p, p.homed(append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)))
	return at
}

// beginServing starts a command that serves, with what its environment has besides, and gives its address and what ends it. It ends with the test.
func beginServing(t *testing.T, p *place, args []string, env ...string) (at string, end func()) {
	t.Helper()
	said, says := io.Pipe()
	prof := newProgram(append([]string{"prof"}, args...), strings.NewReader(""), io.Discard, says)
	prof.dir, prof.env = p.dir, append(p.environ(), env...)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan bool)
	go func() {
		prof.run(ctx) // how it stops is not of the page
		says.Close()
		close(ended)
	}()
	end = func() {
		cancel()
		<-ended
	}
	t.Cleanup(end)
	lines := bufio.NewReader(said)
	var text string
	for {
		line, err := lines.ReadString('\n')
		text += line
		if m := servingOn.FindStringSubmatch(line); m != nil {
			go io.Copy(io.Discard, lines)
			return m[1], end
		}
		if err != nil {
			t.Fatalf("it does not say where it serves: %v: %q", err, text)
		}
	}
}

// TestPageInBrowser has a browser use each page of a server as a reader does, and compares what it shows with the command line. No page may
// say anything on its console, or ask another server.
func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	program := findBrowser()
	if program == "" {
		t.Skip("no Chromium or Chrome is installed: the page of prof serve is not tried")
	}
	tagged := func(r testkit.Run, key, value string) testkit.Run {
		r.Options.Tags = [][2]string{{key, value}}
		return r
	}
	runs := []testkit.Run{tagged(testkit.Run{Name: "profiled", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz"}}, "model", "llama")}
	for _, r := range repeated {
		runs = append(runs, tagged(r, "attn", strings.TrimRight(r.Name, "-12")))
	}
	p := newStored(t, runs)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	s := &served{startBrowser(ctx, t, program), p, serveAt(t, p)}
	for _, c := range sample.Of([]struct {
		name  string
		check func(s *served)
	}{
		{"runs", servedRuns}, {"run", servedRun}, {"query", servedQuery}, {"compare", servedCompare}, {"picker", servedPicker}, {"check", servedCheck}, {"queries", servedQueries}, {"trend", servedTrend}, {"sql", servedSQL}, {"ncu", servedNcu}, {"timeline", servedTimeline}, {"wheel", servedWheel}, {"places", servedPlaces}, {"finding", servedFinding}, {"waits", servedWaits}, {"touch", servedTouch}, {"popup", servedPopup}, {"medians", servedMedians}, {"keys", servedKeys}, {"theme", servedTheme}, {"widths", servedWidths}, {"ranks", servedRanks}, {"operators", servedOperators},
	}, 4) {
		ok := t.Run(c.name, func(t *testing.T) {
			s.t = t
			s.screen(1300, 900, "light")
			s.said, s.fetched = nil, nil
			c.check(s)
			for _, said := range s.said {
				t.Errorf("the console says %s", said)
			}
			for _, f := range s.fetched {
				if !strings.HasPrefix(f, s.base+"/") && f != "about:blank" && !strings.HasPrefix(f, "data:") {
					t.Errorf("the page asked for %s", f)
				}
			}
			if len(s.fetched) < 5 {
				t.Errorf("only %d requests were seen", len(s.fetched))
			}
		})
		s.t = t
		if !ok && ctx.Err() != nil {
			t.Fatal("no time is left")
		}
	}
}

// visit opens a page of the server and waits until an expression is true.
func (s *served) visit(path, until string) {
	s.t.Helper()
	s.open(s.base + path)
	s.await(until)
}

// await waits until an expression is true of the page.
func (s *served) await(expression string) {
	s.t.Helper()
	if !eval[bool](s.browser, fmt.Sprintf(`(async () => { for (let i = 0; i < 400; i++) { try { if (%s) return true; } catch {} await new Promise((done) => setTimeout(done, 25)); } return false; })()`, expression)) {
		s.t.Fatalf("it never came to be: %s; the page says %.600q", expression, eval[string](s.browser, "document.body.innerText"))
	}
}

// texts are the texts of all that a selector finds.
func (s *served) texts(selector string) []string {
	s.t.Helper()
	return eval[[]string](s.browser, fmt.Sprintf(`[...document.querySelectorAll(%q)].map((e) => e.textContent)`, selector))
}

// typed replaces what a field holds.
func (s *served) typed(selector, text string) {
	s.t.Helper()
	eval[bool](s.browser, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.focus(); e.value = %q; e.dispatchEvent(new Event("input", { bubbles: true })); e.dispatchEvent(new Event("change", { bubbles: true })); return true; })()`, selector, text))
}

func (s *served) query() string {
	s.t.Helper()
	return eval[string](s.browser, "location.pathname + location.search")
}

// asked is what the command line answers as JSON.
func asked[T any](s *served, args ...string) T {
	s.t.Helper()
	var value T
	if err := json.Unmarshal([]byte(s.p.ok(append(args, "--format", "json")...)), &value); err != nil {
		s.t.Fatal(err)
	}
	return value
}

func (s *served) same(what string, got, want []string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: %q, not %q", what, got, want)
	}
}

func servedRuns(s *served) {
	const names = ".runs tbody td.name a"
	s.visit("/", `document.querySelectorAll(".runs tbody tr").length === 4`)
	s.same("runs", s.texts(names), []string{"eager", "sdpa-2", "sdpa-1", "profiled"})
	type shown struct {
		Stages []struct {
			Stage    string
			MedianNs float64 `json:"median_ns"`
		}
	}
	if got, want := s.texts(".runs tbody tr:first-child td.n")[2], value(s, "decode", "eager"); got != want {
		s.t.Errorf("decode of eager takes %q, not %q", got, want)
	}
	if n := len(s.texts(".runs .spark")); n != 3 {
		s.t.Errorf("%d lines over a workload, not those of its 3 runs", n)
	}
	s.typed("[name=search]", "sdpa")
	s.await(`document.querySelectorAll(".runs tbody tr").length === 2`)
	s.same("runs with sdpa", s.texts(names), []string{"sdpa-2", "sdpa-1"})
	if at := s.query(); at != "/?search=sdpa" {
		s.t.Errorf("the address is %s", at)
	}
	s.visit("/runs?tag=attn%3Deager", `document.querySelectorAll(".runs tbody tr").length === 1`)
	s.same("runs by tag", s.texts(names), []string{"eager"})
	s.click(`document.querySelector("ul.chips .chip")`)
	s.await(`document.querySelectorAll(".runs tbody tr").length === 4`)
	for _, run := range []string{"sdpa-1", "eager"} {
		s.click(fmt.Sprintf(`document.querySelector("tr[data-run=%s] input")`, run))
	}
	s.open(s.base + s.query()) // the address holds what is picked
	s.await(`document.querySelectorAll(".runs input:checked").length === 2`)
	s.press("?") // also from a checkbox
	s.await(`document.querySelector("dialog[open]")`)
	s.click(`document.querySelector("dialog button")`)
	s.click(`document.querySelector(".picked a.button")`)
	s.await(`document.querySelector(".lead")`)
	if at := s.query(); at != "/compare?base=sdpa-1&new=eager" {
		s.t.Errorf("the comparison is at %s", at)
	}
}

// value is the time of a stage as prof show has it.
func value(s *served, stage, run string) string {
	s.t.Helper()
	for _, line := range strings.Split(s.p.ok("show", run), "\n") {
		if f := strings.Fields(line); len(f) > 2 && f[0] == stage {
			return f[1] + " " + f[2]
		}
	}
	s.t.Fatalf("prof show %s has no stage %s", run, stage)
	return ""
}

func servedRun(s *served) {
	s.screen(1300, 2600, "light") // nothing moves while it loads, also in a window that shows all
	s.visit("/runs/profiled", `document.querySelectorAll("#kernels tbody tr").length > 5 && document.querySelector(".findings li") && document.querySelector(".share span") && !document.querySelector(".loading")`)
	if shift := eval[float64](s.browser, `new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().reduce((sum, e) => sum + e.value, 0))).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(() => done(0), 300))`); shift >= 0.02 {
		s.t.Errorf("the page moves by %v while it loads", shift)
	}
	type summary struct {
		Stages   []struct{ Stage string }
		Kernels  []struct{ Kernel string }
		Findings []struct{ Stage, Title string }
	}
	want := asked[summary](s, "show", "profiled")
	for i, stage := range want.Stages {
		head := fmt.Sprintf("article[data-stage=%s]", stage.Stage)
		if got := s.texts(head + " .figures dd")[1]; !strings.HasPrefix(got, value(s, stage.Stage, "profiled")) {
			s.t.Errorf("stage %d, %s, takes %q", i, stage.Stage, got)
		}
	}
	shown := s.texts("#advice ol.findings > li")
	for i, f := range asked[summary](s, "explain", "profiled").Findings {
		if i >= len(shown) || !strings.HasPrefix(shown[i], f.Stage+": ") || !strings.Contains(shown[i], f.Title) {
			s.t.Errorf("finding %d, %s of %s, is not in %q", i, f.Title, f.Stage, shown)
		}
	}
	if parts := eval[float64](s.browser, `[...document.querySelectorAll("article[data-stage=decode] .share span")].reduce((sum, e) => sum + parseFloat(e.style.width), 0)`); parts < 99.9 || parts > 100.1 {
		s.t.Errorf("the parts of decode are %v %% of it", parts)
	}
	if got := eval[string](s.browser, `(() => { const cell = document.querySelector("#kernels td.name"); return (cell.querySelector(".full") ?? cell).textContent; })()`); got != want.Kernels[0].Kernel {
		s.t.Errorf("the first kernel is %q, not %q", got, want.Kernels[0].Kernel)
	}
	// A command leads to the query that it names.
	s.click(`document.querySelector("article[data-stage=decode] a.see")`)
	s.await(`document.querySelector(".answer tbody tr")`)
	if at := s.query(); at != "/runs/profiled?query=accounting&p.stage=decode" {
		s.t.Errorf("it leads to %s", at)
	}
	s.visit("/runs/profiled?queries=", `document.querySelectorAll(".catalogue li").length > 60`)
	s.typed("[data-search]", "roofline attainable")
	s.await(`document.querySelectorAll(".catalogue li:not([hidden])").length === 1`)
	if address := eval[string](s.browser, `document.querySelector(".catalogue li:not([hidden]) a").getAttribute("href")`); address != "/runs/profiled?query=roofline" {
		s.t.Errorf("the query is at %s", address)
	}
	// The report comes in its sandbox.
	if got := eval[string](s.browser, `fetch("/api/v1/runs/profiled/report/report.html").then((r) => r.headers.get("Content-Security-Policy"))`); !strings.HasPrefix(got, "sandbox") {
		s.t.Errorf("the report's policy is %q", got)
	}
	for range 2 { // also when the browser has it still
		s.visit("/api/v1/runs/profiled/report/report.html", `document.querySelector("h2") && getComputedStyle(document.body).fontFamily.includes("system-ui")`)
		s.open("about:blank")
	}
}

func servedQuery(s *served) {
	// What is copied is what the command line prints.
	copies := func(button string) string {
		s.t.Helper()
		eval[bool](s.browser, `(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; window.copied = null; return true; })()`)
		s.click(fmt.Sprintf(`[...document.querySelectorAll(".find button")].find((b) => b.textContent === %q)`, button))
		s.await("window.copied !== null")
		return eval[string](s.browser, "window.copied")
	}
	for _, q := range []struct {
		name string
		args []string
	}{{"top-kernels", []string{"--stage", "decode", "--with-ncu"}}, {"accounting", nil}, {"roofline", nil}, {"aggregates", nil}, {"memops", nil}, {"findings", nil}} {
		path := "/runs/profiled?query=" + q.name
		if len(q.args) > 0 {
			path += "&p.stage=decode&p.with_ncu=true"
		}
		s.visit(path, `document.querySelector(".answer tbody tr")`)
		line := append([]string{"query", q.name, "profiled"}, q.args...)
		if got, want := copies("Copy CSV"), s.p.ok(append(line, "--format", "csv")...); got != want {
			s.t.Errorf("%s: CSV %q, not %q", q.name, got, want)
		}
		want, _, _ := strings.Cut(s.p.ok(append(line, "--format", "md")...), "\n\n")
		if got := copies("Copy Markdown"); strings.TrimSpace(got) != strings.TrimSpace(want) {
			s.t.Errorf("%s: Markdown %q, not %q", q.name, got, want)
		}
	}
	// Its column adds up to what it does on the command line, whatever the order.
	const path = "/runs/profiled?query=top-kernels&p.top=12"
	s.visit(path, `document.querySelectorAll(".answer tbody tr").length === 12`)
	before := s.texts(".answer td.name:nth-child(2)")
	s.click(`document.querySelector("th[data-column=mean_ns] button")`)
	s.await(`document.querySelector("th[data-column=mean_ns]").getAttribute("aria-sort") === "descending"`)
	if at := s.query(); at != path+"&sort=-mean_ns" {
		s.t.Errorf("sorted, the address is %s", at)
	}
	s.typed(".find input", "gemm")
	s.await(`document.querySelectorAll(".answer tbody tr").length < 12`)
	filtered := s.texts(".answer td.name:nth-child(2)")
	s.open(s.base + s.query())
	s.await(fmt.Sprintf(`document.querySelectorAll(".answer tbody tr").length === %d`, len(filtered)))
	s.same("after a reload", s.texts(".answer td.name:nth-child(2)"), filtered)
	rows, err := csv.NewReader(strings.NewReader(copies("Copy CSV"))).ReadAll()
	if err != nil || len(rows) != len(filtered)+1 {
		s.t.Fatalf("%d rows are copied of %d: %v", len(rows)-1, len(filtered), err)
	}
	mean := slices.Index(rows[0], "mean_ns")
	for i := 2; i < len(rows); i++ {
		a, _ := strconv.ParseFloat(rows[i-1][mean], 64)
		if b, err := strconv.ParseFloat(rows[i][mean], 64); err != nil || b > a {
			s.t.Errorf("row %d, %v after %v: %v", i, b, a, err)
		}
	}
	s.typed(".find input", "")
	s.await(`document.querySelectorAll(".answer tbody tr").length === 12`)
	after := s.texts(".answer td.name:nth-child(2)")
	slices.Sort(before)
	slices.Sort(after)
	s.same("sorted rows", after, before)
	// A parameter is a field of the form.
	s.typed("form [name=top]", "3")
	s.await(`document.querySelectorAll(".answer tbody tr").length === 3`)
	if at := s.query(); !strings.Contains(at, "p.top=3") {
		s.t.Errorf("the address is %s", at)
	}
	if sql := s.texts(".sql pre")[0]; !strings.Contains(sql, "FROM top_kernels_v") {
		s.t.Errorf("its SQL is %q", sql)
	}
}

// servedPicker has a reader pick the runs to compare from a list: one ticked is in the field of its side and in no other.
func servedPicker(s *served) {
	box := func(side, run string) string {
		return fmt.Sprintf(`document.querySelector('.picker input[name="%s"][value="%s"]')`, side, run)
	}
	s.visit("/compare", box("base", "eager"))
	if got := s.texts(".picker tbody td.name"); len(got) != 4 {
		s.t.Errorf("the list has %q", got)
	}
	fields := func(base, now string) {
		s.t.Helper()
		if got := eval[[]string](s.browser, `["base", "new"].map((n) => document.querySelector("form").elements[n].value)`); !slices.Equal(got, []string{base, now}) {
			s.t.Errorf("the fields say %q, not %q and %q", got, base, now)
		}
	}
	s.click(box("base", "sdpa-1"))
	s.click(box("new", "sdpa-2"))
	fields("sdpa-1", "sdpa-2")
	s.click(box("new", "sdpa-1"))
	fields("", "sdpa-2,sdpa-1")
	s.click(box("new", "sdpa-1"))
	s.click(box("base", "eager"))
	fields("eager", "sdpa-2")
	s.click(`document.querySelector("form button.main")`)
	s.await(`document.querySelector(".lead") && location.search === "?base=eager&new=sdpa-2"`)
	if eval[bool](s.browser, `document.querySelector(".picker").open`) {
		s.t.Error("the list is open over a comparison")
	}
	s.click(`document.querySelector(".picker summary")`)
	s.await(box("base", "eager") + `?.checked && ` + box("new", "sdpa-2") + `.checked && document.querySelectorAll(".picker input:checked").length === 2`)
}

func servedCompare(s *served) {
	for address, want := range map[string]string{"/compare?a=eager&b=sdpa-1": "There is no parameter a, b here. The sides are base and new", "/compare?base=eager": "new is not given", "/compare?base=eager&new=sdpa-1&sid=2": "There is no parameter sid here"} {
		s.visit(address, `document.querySelector(".problem")`)
		if got := s.texts(".problem")[0]; !strings.Contains(got, want) {
			s.t.Errorf("%s says %q, not %q", address, got, want)
		}
	}
	type comparison struct {
		Comparisons []struct {
			Verdict, Words string
			Stages         []struct{ Stage, Verdict string }
			Items          []struct{ Stage string }
		}
	}
	want := asked[comparison](s, "diff", "eager", "sdpa-1", "--top", "5").Comparisons[0]
	s.visit("/compare?base=eager&new=sdpa-1&top=5", `document.querySelector(".lead")`)
	if got := s.texts(".lead")[0]; !strings.EqualFold(got, want.Words) {
		s.t.Errorf("it says %q, not %q", got, want.Words)
	}
	verdicts := eval[map[string]string](s.browser, `Object.fromEntries([...document.querySelector(".answer").querySelectorAll("tbody tr")].map((tr) => [tr.cells[0].textContent, tr.querySelector(".better, .worse, .unsure").textContent]))`)
	judged := 0
	for _, stage := range want.Stages {
		if stage.Stage == "(none)" {
			continue
		}
		judged++
		if verdicts[stage.Stage] != stage.Verdict {
			s.t.Errorf("verdict of %s: %q, not %q", stage.Stage, verdicts[stage.Stage], stage.Verdict)
		}
		n := 0
		for _, i := range want.Items {
			if i.Stage == stage.Stage {
				n++
			}
		}
		if got := len(s.texts(fmt.Sprintf(`section[data-title^=%q] tbody tr`, strings.ToUpper(stage.Stage[:1])+stage.Stage[1:]+":"))); got != n {
			s.t.Errorf("%d rows of %s, not %d", got, stage.Stage, n)
		}
	}
	if n := len(s.texts("article .plot")); n != judged || len(s.texts("article .sample")) < 2*n {
		s.t.Errorf("the samples of %d stages are drawn, not of %d", n, judged)
	}
	// Cells are those of the command line.
	printed := strings.Join(strings.Fields(s.p.ok("diff", "eager", "sdpa-1", "--top", "5", "--wide")), " ")
	for _, row := range eval[[]string](s.browser, `[...document.querySelectorAll(".answer tbody tr")].map((tr) => [...tr.cells].slice(1, 6).map((td) => td.textContent).join(" "))`) {
		if row = strings.Join(strings.Fields(row), " "); !strings.Contains(printed, row) {
			s.t.Errorf("%q is not in what prof diff prints", row)
		}
	}
	s.visit("/compare?base=sdpa-1,sdpa-2&new=tag%3Aattn%3Deager&by=family", `document.querySelector(".lead")`)
	if got := s.texts(".page > div > .facts dd"); !strings.Contains(got[0], "sdpa-1, sdpa-2") || !strings.Contains(got[1], "eager") {
		s.t.Errorf("the sides are %q", got)
	}
}

// servedCheck holds that the page has each rule as prof check prints it.
func servedCheck(s *served) {
	rules := []string{"stage.*.gpu_span_ns <= +3%", "kernel:/gemm/.mean_ns <= +5%", "stage.prefill.gpu_span_ns <= 1ms", "new_kernels <= 0"}
	s.visit("/compare?base=eager&new=sdpa-1", `document.querySelector(".lead")`)
	s.click(`[...document.querySelectorAll("main a")].find((a) => a.textContent === "Check by rules")`)
	s.await(`document.querySelector(".lead + .facts + .answer tbody tr")`)
	s.typed("[name=rule]", "# a comment\n"+strings.Join(rules, "\n"))
	s.click(`document.querySelector("form .main")`)
	s.await(`location.search.includes("new_kernels") && document.querySelector(".answer tbody tr")`)
	s.same("rules of the address", eval[[]string](s.browser, `[...new URLSearchParams(location.search)].map(([name, value]) => name + " " + value)`), []string{"run sdpa-1", "baseline eager", "rule " + rules[0], "rule " + rules[1], "rule " + rules[2], "rule " + rules[3]})
	args := []string{"check", "sdpa-1", "--baseline", "eager", "--wide"}
	for _, rule := range rules {
		args = append(args, "--rule", rule)
	}
	ended := s.p.run(args...)
	printed := ended.out
	if ended.code != exitRegression {
		s.t.Fatalf("prof check ends with %d", ended.code)
	}
	if got, _, _ := strings.Cut(printed, "\n"); got != s.texts(".lead")[0] {
		s.t.Errorf("it says %q, not %q", s.texts(".lead")[0], got)
	}
	printed = strings.Join(strings.Fields(printed), " ")
	rows := eval[[]string](s.browser, `[...document.querySelector(".answer").querySelectorAll("tbody tr")].map((tr) => [...tr.cells].map((td) => td.textContent).join(" ")).concat([...document.querySelectorAll(".findings li")].map((li) => li.textContent.replace("; see ", "; see: ")))`)
	if len(rows) != 12 {
		s.t.Errorf("%d rules and reasons, not 12", len(rows))
	}
	for _, want := range rows {
		if want = strings.Join(strings.Fields(want), " "); !strings.Contains(printed, want) {
			s.t.Errorf("%q is not in what prof check prints: %q", want, printed)
		}
	}
	// A broken rule leads to what changed.
	s.visit("/check?run=eager&baseline=sdpa-1&rule=stage.decode.launches+%3C%3D+%2B0", `document.querySelector(".findings a.see")`)
	s.click(`document.querySelector(".findings a.see")`)
	s.await(`location.search === "?base=sdpa-1&new=eager&stage=decode" && document.querySelector(".lead")`)
	s.visit("/check?run=sdpa-1", `document.querySelector(".problem")?.textContent.includes("prof baseline set")`)
	s.said = slices.DeleteFunc(s.said, func(said string) bool { return strings.Contains(said, "status of 422") }) // the browser notes it
	s.visit("/check", `document.querySelector("form [name=rule]") && !document.querySelector(".loading, .lead")`)
}

// servedQueries holds that all queries are on the page of queries, in the order of the command line, and those which take no run have a page.
func servedQueries(s *served) {
	var want []string
	for _, line := range strings.Split(s.p.ok("query"), "\n") {
		if name, _, is := strings.Cut(strings.TrimPrefix(line, "  "), " "); is && strings.HasPrefix(line, "  ") {
			want = append(want, name)
		}
	}
	s.visit("/queries", `document.querySelectorAll(".catalogue li").length > 60`)
	s.same("queries", s.texts(".catalogue li a"), want)
	if tall := eval[float64](s.browser, `Math.max(...[...document.querySelectorAll(".catalogue li")].map((li) => li.getBoundingClientRect().height))`); tall > 30 {
		s.t.Errorf("a query takes %v px of the list, more than a line", tall)
	}
	s.click(`[...document.querySelectorAll(".catalogue a")].find((a) => a.textContent === "run-list")`)
	s.await(`document.querySelectorAll(".answer tbody tr").length === 4`)
	s.typed("form [name=search]", "sdpa")
	s.await(`document.querySelectorAll(".answer tbody tr").length === 2`)
	if at := s.query(); at != "/queries/run-list?p.search=sdpa" {
		s.t.Errorf("the address is %s", at)
	}
	s.open(s.base + s.query())
	s.await(`document.querySelectorAll(".answer tbody tr").length === 2`)
	s.same("runs", s.texts(".answer td:first-child"), []string{"sdpa-2", "sdpa-1"})
	s.click(`document.querySelector(".answer td a")`)
	s.await(`location.pathname === "/runs/sdpa-2" && document.querySelector("article[data-stage]")`)
	// Titles name what is seen, as headings do.
	for _, page := range [][3]string{{"/runs/sdpa-2", "sdpa-2", "sdpa-2"}, {"/runs/sdpa-2/timeline", "sdpa-2 timeline", "sdpa-2 / timeline"}, {"/runs/sdpa-2/ncu", "sdpa-2 Nsight Compute", "sdpa-2 / Nsight Compute"}, {"/runs/sdpa-2?queries=", "sdpa-2 queries", "sdpa-2 / queries"},
		{"/runs/sdpa-2?query=stages", "sdpa-2 stages", "sdpa-2 / stages"}, {"/queries/runs", "runs query", "Queries / runs"}, {"/compare?base=eager&new=sdpa-2", "sdpa-2 against eager", "sdpa-2 against eager"}} {
		s.visit(page[0], fmt.Sprintf(`document.title === %q && document.querySelector("h1")?.textContent === %q`, page[1]+" - prof", page[2]))
	}
}

func servedTrend(s *served) {
	s.visit("/trend?workload=eager", `document.querySelectorAll(".trend .plot svg").length === 2`)
	type trend struct {
		Runs   []struct{ Run, Commit string }
		Series []struct {
			Stage  string
			Points []struct{ Value float64 }
		}
	}
	want := asked[trend](s, "trend", "--workload", "eager")
	for i, series := range want.Series {
		last := want.Runs[len(want.Runs)-1]
		if got := s.texts(fmt.Sprintf(`.trend[data-stage=%s] .panel`, series.Stage))[0]; !strings.HasPrefix(got, last.Run) || !strings.Contains(got, value(s, series.Stage, last.Run)) || !strings.Contains(got, last.Commit[:10]) {
			s.t.Errorf("series %d: the panel says %q", i, got)
		}
	}
	// To the point before by key, whose address survives a reload; then to its comparison.
	eval[bool](s.browser, `(() => { document.querySelector(".trend figure").focus(); return true; })()`)
	s.press("ArrowLeft")
	middle := want.Runs[len(want.Runs)-2].Run
	s.await(fmt.Sprintf(`document.querySelector(".trend .panel h3").textContent === %q`, middle))
	s.open(s.base + s.query())
	s.await(fmt.Sprintf(`document.querySelector(".trend .panel h3")?.textContent === %q`, middle))
	s.click(`document.querySelector(".trend .plot svg")`) // the middle of three
	s.await(`location.pathname === "/compare" && document.querySelector(".lead")`)
	if at := s.query(); !strings.HasPrefix(at, "/compare?base="+want.Runs[0].Run+"&new="+middle) {
		s.t.Errorf("a click leads to %s", at)
	}
}

func servedSQL(s *served) {
	s.visit("/sql", `document.querySelector(".editor").shadowRoot?.querySelector(".cm-content")`)
	const editor = `document.querySelector(".editor").shadowRoot`
	eval[bool](s.browser, `(() => { `+editor+`.querySelector(".cm-content").focus(); return true; })()`)
	s.call("Input.insertText", map[string]any{"text": "SELECT name FROM ru"}, nil)
	s.await(`[...` + editor + `.querySelectorAll(".cm-completionLabel")].some((e) => e.textContent === "runs")`)
	s.press("Escape")
	s.call("Input.insertText", map[string]any{"text": "n ORDER BY name"}, nil)
	s.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "modifiers": 2}, nil)
	s.await(`document.querySelectorAll(".answer tbody tr").length === 4`)
	s.same("names", s.texts(".answer tbody td"), []string{"eager", "profiled", "sdpa-1", "sdpa-2"})
	if at := s.query(); at != "/sql?q=SELECT+name+FROM+run+ORDER+BY+name" {
		s.t.Errorf("the link is %s", at)
	}
	// Columns of what the statement reads.
	s.visit("/sql", `document.querySelector(".editor").shadowRoot?.activeElement`)
	s.call("Input.insertText", map[string]any{"text": "FROM top_kernels('eager') AS k WHERE k.med"}, nil)
	s.await(`[...` + editor + `.querySelectorAll(".cm-completionLabel")].some((e) => e.textContent === "median_ns")`)
	s.press("Escape")
	// Whole numbers beyond 2^53 stay as they are; a link holds the chart.
	s.visit("/sql?q=SELECT+9007199254740993+AS+large_ns", `document.querySelector(".answer tbody tr")`)
	eval[bool](s.browser, `(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; return true; })()`)
	s.click(`[...document.querySelectorAll(".find button")].find((b) => b.textContent === "Copy CSV")`)
	s.await(`window.copied === "large_ns\n9007199254740993\n"`)
	s.visit("/sql?q=FROM+top_kernels('eager'%2C+top+%3A%3D+7)&view=chart", `document.querySelectorAll(".bars i").length === 7`)
	s.visit("/sql?q=FROM+passes('eager')&view=chart&x=pass&y=cpu_ns&kind=points", `document.querySelector(".plot canvas")`)
	s.same("x", eval[[]string](s.browser, `[...document.querySelectorAll("select")].map((e) => e.value).slice(1)`), []string{"cpu_ns", "pass", "points"})
}

// rooflined counts what a query has FLOP and traffic of.
func rooflined(s *served, args ...string) int {
	type rows struct {
		Rows []struct {
			Intensity *float64
			Achieved  *float64 `json:"achieved_flop_per_s"`
		}
	}
	drawn := 0
	for _, r := range asked[rows](s, append([]string{"query"}, args...)...).Rows {
		if r.Intensity != nil && *r.Intensity > 0 && r.Achieved != nil && *r.Achieved > 0 {
			drawn++
		}
	}
	return drawn
}

func servedOperators(s *served) {
	s.p.ok("ingest", "--run", "operators", exported(s.t, "../torch/llama.trace.json.gz"))
	within(s.t, patience, "the run with operators", func() bool { return call(s.t, "GET", s.base+"/api/v1/runs/operators", "").status == 200 })
	s.visit("/runs/operators", `document.querySelectorAll("#operator-roofline .dot").length > 0`)
	if n, drawn := len(s.texts("#operator-roofline .dot")), rooflined(s, "operator-roofline", "operators", "--top", "200", "--sort", "self_device"); n != drawn {
		s.t.Errorf("%d points, not %d", n, drawn)
	}
	const top = `[...document.querySelectorAll("#operator-roofline .dot")].at(-1)` // drawn over the others
	name := eval[string](s.browser, top+`.textContent.split(" ")[0]`)
	s.click(top)
	s.await(fmt.Sprintf(`new URLSearchParams(location.search).get("p.operator") === %q && document.querySelectorAll("tbody tr").length > 0`, name))
}

func servedNcu(s *served) {
	s.visit("/runs/profiled/ncu", `document.querySelectorAll(".dot").length > 0 && document.querySelector(".launch .bars i")`)
	if n, drawn := len(s.texts(".dot")), rooflined(s, "roofline", "profiled"); n != drawn {
		s.t.Errorf("%d points, not %d", n, drawn)
	}
	s.click(`[...document.querySelectorAll("td a")].find((a) => a.textContent === "1")`)
	s.await(`document.querySelector(".launch h2").textContent === "Launch 1" && location.search === "?launch=1"`)
	type rows struct{ Rows []struct{ Value *float64 } }
	var stalls []float64
	for _, r := range asked[rows](s, "query", "kernel-metrics", "profiled", "--launch", "1", "--metric", "smsp__average_warps_issue_stalled_*_per_issue_active.ratio").Rows {
		if r.Value != nil && *r.Value > 0 {
			stalls = append(stalls, *r.Value)
		}
	}
	if n := len(s.texts(".launch .bars i")); n != min(12, len(stalls)) {
		s.t.Errorf("%d stalls, not %d", n, len(stalls))
	}
	s.open(s.base + s.query())
	s.await(`document.querySelector(".launch h2")?.textContent === "Launch 1"`)
	s.visit("/runs/eager/ncu", `document.querySelector(".none")`)
}

func servedKeys(s *served) {
	s.visit("/runs/eager/timeline", `document.querySelector(".tl-shown")?.textContent`)
	eval[bool](s.browser, `(document.querySelector(".tl-scroll").focus(), true)`)
	s.await(`(document.querySelector(".tl-scroll").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" })), document.querySelector(".tl-panel h3"))`)
	s.press("Escape")
	s.await(`!document.querySelector(".tl-panel").childElementCount && document.activeElement.className === "tl-scroll"`)
	s.visit("/runs", `document.querySelector(".runs")`)
	s.press("/")
	if got := eval[string](s.browser, "document.activeElement.name"); got != "search" {
		s.t.Errorf("/ leads to %q", got)
	}
	s.press("g") // typed into the field
	if got := eval[string](s.browser, "document.activeElement.value"); got != "g" {
		s.t.Errorf("the field holds %q", got)
	}
	for _, at := range [][2]string{{"t", "/trend"}, {"k", "/check"}, {"q", "/queries"}, {"s", "/sql"}, {"c", "/compare"}, {"r", "/runs"}} {
		key, path := at[0], at[1]
		eval[bool](s.browser, `(() => { let e = document.activeElement; while (e.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; e.blur(); return true; })()`)
		s.press("g")
		s.press(key)
		s.await(fmt.Sprintf(`location.pathname === %q`, path))
		s.await(`document.querySelector("h1")`)
		if path == "/sql" {
			s.await(`document.querySelector(".editor").shadowRoot?.activeElement`)
		}
	}
	s.await(`document.querySelector(".runs")`)
	eval[bool](s.browser, `(() => { document.activeElement.blur(); return true; })()`)
	s.press("?")
	s.await(`document.querySelector("dialog[open] kbd")`)
	s.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": "Escape", "code": "Escape", "windowsVirtualKeyCode": 27}, nil)
	s.await(`!document.querySelector("dialog")`)
	eval[bool](s.browser, `(() => { history.back(); return true; })()`)
	s.await(`location.pathname !== "/runs" || document.querySelector("h1")`)
}

func servedTheme(s *served) {
	const ground = `getComputedStyle(document.body).backgroundColor`
	s.visit("/runs", `document.querySelector(".runs")`)
	light := eval[string](s.browser, ground)
	s.screen(1300, 900, "dark")
	s.await(ground + ` !== "` + light + `"`)
	s.click(`document.getElementById("theme-button")`) // light
	s.await(ground + ` === "` + light + `"`)
	s.visit("/trend?workload=eager", `document.querySelector(".trend .plot svg")`)
	if got := eval[string](s.browser, ground); got != light {
		s.t.Errorf("after a reload the page is %s, not %s", got, light)
	}
	s.click(`document.getElementById("theme-button")`) // dark
	s.await(ground + ` !== "` + light + `" && document.querySelectorAll(".trend .plot svg").length === 2`)
	s.click(`document.getElementById("theme-button")`) // as the system
	if got := eval[*string](s.browser, `localStorage.getItem("theme")`); got != nil {
		s.t.Errorf("the theme stays %q", *got)
	}
}

// servedWidths holds that no page is wider than its window, and that a narrow one shows a comparison's verdicts, and names beside figures that are scrolled.
func servedWidths(s *served) {
	s.screen(390, 844, "light")
	s.visit("/compare?base=eager&new=sdpa-1", `document.querySelector(".cards td[data-title=verdict]") && document.querySelector(".fixed td")`)
	if right := eval[float64](s.browser, `Math.max(...[...document.querySelectorAll(".cards td")].map((td) => td.getBoundingClientRect().right))`); right > 390 {
		s.t.Errorf("a cell of the stages ends at %v px of 390", right)
	}
	if left := eval[float64](s.browser, `(() => { const wide = document.querySelector(".fixed .wide"); wide.scrollLeft = 400; return wide.querySelector("tbody td").getBoundingClientRect().left - wide.getBoundingClientRect().left; })()`); left < -1 {
		s.t.Errorf("scrolled, the names of kernels begin at %v px", left)
	}
	for _, page := range [][2]string{
		{"/runs", ".runs"}, {"/runs/profiled", "#kernels tbody tr"}, {"/runs/profiled?query=top-kernels", ".answer tbody tr"}, {"/runs/profiled?queries=", ".catalogue li"}, {"/compare?base=eager&new=sdpa-1", ".lead"},
		{"/check?run=sdpa-1&baseline=eager", ".answer tbody tr"}, {"/queries", ".catalogue li"}, {"/docs", ".reference section"}, {"/queries/trend", ".answer tbody tr"}, {"/runs/profiled/timeline", ".tl-canvas"}, {"/trend?workload=eager", ".trend .plot svg"}, {"/sql?q=FROM+runs", ".answer tbody tr"}, {"/runs/profiled/ncu", ".launch .bars i"},
	} {
		for i, width := range []int{390, 1300, 390} { // and what a window that changes leaves
			s.screen(width, 900, "light")
			if i == 0 {
				s.visit(page[0], fmt.Sprintf("document.querySelector(%q)", page[1]))
			}
			s.settle()
			if got := eval[int](s.browser, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); got > 0 {
				s.t.Errorf("%s at %d px is %d px wider: %s", page[0], width, got, eval[string](s.browser, fmt.Sprintf(`[...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > %d && !e.closest(".wide") && !e.closest("svg")).slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join("\n")`, width)))
			}
		}
	}
}
