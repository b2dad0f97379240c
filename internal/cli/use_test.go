package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
)

const anyTime = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?`

func TestIngestShowRemove(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.want(result{1, "", "prof: no warehouse yet in " + p.path(".prof") + ": run `prof ingest PATH` there, or name another home with --home\n"}, "runs")
	p.wantLike(0, "a\n", `108 rows from 1 source, 0\.0 MB in \d+\.\d\d s\n`, "ingest", "--run", "a", "--tag", "k=v", exported(t, kernels))
	if got := listing(t, p.path(".prof")); !slices.Equal(got, []string{".gitignore", "warehouse.duckdb", "warehouse.duckdb.lock"}) {
		t.Errorf("the home holds %q", got)
	}
	if got := string(read(t, p.path(".prof/.gitignore"))); got != "*\n" {
		t.Errorf(".gitignore: %q", got)
	}
	p.wantLike(0, `run,created_at,sources,rows,token_time_ns,first_token_ns,size_bytes,kinds,gpus,device,tags,command,run_id\na,`+anyTime+`,1,108,,,23155,nsys,1,NVIDIA H200,k=v,\./kernels,[0-9a-f-]{36}\n`, "",
		"runs", "--format", "csv")
	p.wantLike(0, `run +a\nid +[0-9a-f-]{36}\ningested .* by prof .*tags +k=v\nattribution  1,304,830 ns in ranges \+ 0 outside \+ 0 without a launch = `+
		`1,304,830 ns of kernel time \(exact; 16 \+ 0 \+ 0 =\s+16 kernels\)\n\ndevices\n.*\nsources\n.*`, "", "show", "--facts", "a")
	if p.ok("show") != p.ok("show", "a") {
		t.Error("show without a run is not that of the latest")
	}
	p.want(result{0, "", "tagged a\n"}, "tag", "a", "k=v2", "x=1")
	if got := p.sql("SELECT key, value FROM run_tag ORDER BY ALL"); got != "key,value\nk,v2\nx,1\n" {
		t.Errorf("tags: %q", got)
	}
	p.want(result{0, "", "removed a\n"}, "rm", "a")
	for _, line := range strings.Fields(counts(p))[1:] {
		name, n, _ := strings.Cut(line, ",")
		kept := name == "kernel_rule" || name == "stage_rule" || name == "device_peak" || name == "device_alias" || name == "sm_rate" || name == "finding_rule" || name == "schema_version"
		if kept == (n == "0") {
			t.Errorf("after rm, %s holds %s rows", name, n)
		}
	}
	p.want(result{1, "", "prof: no such run: \"a\"\n"}, "rm", "a")
}

func TestQueryForms(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	ask := func(form string) string {
		return p.ok("query", "top-kernels", "--run", "a", "--top", "2", "--format", form)
	}
	// Later versions may add columns at the end of a line.
	if got := ask("csv"); !whole(`rank,kernel,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,std_ns,share_ratio[^\n]*
1,"tiled_matmul\(int, const float \*, const float \*, float \*\)",2,552288,276144,276144,276032,276256,158\.39191898578665,0\.42326433328479574[^\n]*
2,"saxpy\(int, float, const float \*, float \*\)",6,364606,60767\.666666666664,60288,59295,63968,1762\.717977064586,0\.2794279714598837[^\n]*
`).MatchString(got) {
		t.Errorf("csv:\n%s", got)
	}
	if got := ask("md"); !whole(`\| rank \| kernel \| calls \| total \(us\) \| median \(us\) \| mean \(us\) \| min \(us\) \| max \(us\) \| std \(us\) \| share \(%\) \|[^\n]*
\| ---:\| --- \| ---:\| [^\n]*
\| 1 \| .tiled_matmul. \| 2 \| 552 \| 276\.1 \| [^\n]*
\| 2 \| [^\n]*
`).MatchString(got) {
		t.Errorf("md:\n%s", got)
	}
	if got := strings.Split(ask("table"), "\n"); len(got) != 6 || !strings.HasPrefix(got[1], "rank  kernel ") || !strings.Contains(got[3], "tiled_matmul ") {
		t.Errorf("table:\n%s", strings.Join(got, "\n"))
	}
	if ask("table") != p.ok("query", "top-kernels", "--run", "a", "--top", "2") {
		t.Error("the form is not a table without --format")
	}
	if got := ask("arrow"); !strings.HasPrefix(got, "ARROW1") || !strings.HasSuffix(got, "ARROW1") {
		t.Errorf("arrow: %q", got)
	}
	var frame struct {
		Query   string
		Version int
		Columns []struct{ Name, Type, Unit, Doc string }
		Rows    []map[string]any
	}
	if err := json.Unmarshal([]byte(ask("json")), &frame); err != nil {
		t.Fatal(err)
	}
	if frame.Query != "top-kernels" || frame.Version != 4 || len(frame.Rows) != 2 || frame.Columns[3].Name != "total_ns" || frame.Columns[3].Unit != "ns" ||
		frame.Rows[0]["total_ns"] != 552288.0 {
		t.Errorf("json: %+v", frame)
	}
	if got := p.ok("query", "top_kernels.v4", "--run", "a", "--top", "2", "-f", "csv"); got != ask("csv") {
		t.Errorf("by version: %q", got)
	}
	// Which run the rows are of is talk.
	p.wantLike(0, "rank,.*", `run a \(newest\)\n`, "query", "top-kernels", "-f", "csv")
}

// The first columns are what others read; more may follow.
func TestCoreColumns(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	for name, want := range map[string]string{
		"top-kernels":   "rank,kernel,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,std_ns,share_ratio",
		"ranges":        "range,domain,instances,cpu_total_ns,gpu_span_total_ns,gpu_sum_ns,kernel_count",
		"stages":        "stage,passes,cpu_mean_ns,gpu_span_mean_ns,gpu_busy_mean_ns,gpu_sum_mean_ns,kernel_count",
		"stage-kernels": "stage,kernel,calls,total_ns",
	} {
		head, _, _ := strings.Cut(p.ok("query", name, "--run", "a", "--format", "csv"), "\n")
		if head != want && !strings.HasPrefix(head, want+",") {
			t.Errorf("%s begins %s, want %s", name, head, want)
		}
	}
}

// What --explain names as the SQL in any DuckDB client gives what the query gives.
func TestExplainedSQL(t *testing.T) {
	t.Parallel()
	p := reading(t, []testkit.Run{{Name: "a", Files: []string{"nsys/" + node}}})
	names := catalogue(t)
	// It shows the arguments given, and opens nothing.
	p.wantLike(0, `(?s).*-- in any DuckDB client: SELECT \* EXCLUDE \([a-z_, ]+\) FROM top_kernels\('nosuch', top := 3\)\n.*`, "", "query", "--explain", "top-kernels", "--run", "nosuch", "--top", "3")
	said := regexp.MustCompile(`(?m)^-- in any DuckDB client: ((?:SELECT \* EXCLUDE \([a-z_, ]+\) )?FROM \w+.*)$`)
	for _, name := range sample.Of(names, 12) {
		m := said.FindStringSubmatch(p.ok("query", name, "--explain"))
		if m == nil {
			t.Errorf("%s: --explain names no SQL", name)
			continue
		}
		args := []string{"query", name, "--format", "csv"}
		if strings.Contains(m[1], "'@latest'") {
			args = append(args, "--run", "a")
		}
		if got, want := p.sql(m[1]), p.ok(args...); rounded(got) != rounded(want) || strings.Count(got, "\n") < 1 {
			t.Errorf("%s:\n%.300s\nand its SQL:\n%.300s", name, want, got)
		}
	}
	want := p.ok("query", "top-kernels", "--run", "a", "--top", "3", "--by", "short", "-f", "csv")
	if got := p.sql("SELECT * EXCLUDE (bound, limiter, roof_ratio, occupancy_ratio, profiled_count, profiled_ratio) FROM top_kernels('a', top := 3, by := 'short')"); got != want || strings.Count(got, "\n") != 4 {
		t.Errorf("arguments:\n%s\nby SQL:\n%s", want, got)
	}
}

func catalogue(t *testing.T) []string {
	t.Helper()
	all, err := queries.Catalogue()
	if err != nil || len(all) < 15 {
		t.Fatal(len(all), err)
	}
	var names []string
	for _, q := range all {
		names = append(names, q.Name)
	}
	return names
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	p := newPlace(t) // without a warehouse
	rows, err := csv.NewReader(strings.NewReader(p.ok("query", "--format", "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rows[0], []string{"query", "version", "gives", "options", "domain"}) {
		t.Errorf("head: %q", rows[0])
	}
	var names []string
	for _, r := range rows[1:] {
		names = append(names, r[0])
	}
	if !slices.Equal(names, catalogue(t)) {
		t.Errorf("catalogue: %q", names)
	}
	// Each stands on a line of its own under what it answers, and none is forgotten.
	r := p.run("query")
	if r.code != 0 || !strings.Contains(r.err, "`prof query NAME -h` shows its options") {
		t.Errorf("query: %d %q", r.code, r.err)
	}
	for _, out := range []string{r.out, p.ok("query", "-h"), p.ok("help", "query")} {
		var listed []string
		for _, line := range strings.Split(out, "\n") {
			if word := strings.Fields(line + " ."); slices.Contains(names, word[0]) {
				listed = append(listed, word[0])
				if n := len([]rune(strings.TrimSpace(line))); n > 98 {
					t.Errorf("%d wide: %s", n, line)
				}
			}
		}
		slices.Sort(listed)
		if !slices.Equal(listed, names) {
			t.Errorf("listed are %q", listed)
		}
	}
	if !strings.Contains(r.out, "\nWhere does the GPU's time go: kernels, copies, idle gaps\n  accounting              Where GPU time went, by stage, kind of work and cause of idle time\n") {
		t.Errorf("query:\n%s", r.out)
	}
}

// What the help of a query shows are its own options, and its examples work.
func TestQueryHelp(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	some := sample.Of(all, 9)
	for _, q := range some {
		out := p.ok("query", q.Name, "-h")
		if out != p.ok("help", "query", q.Name) {
			t.Errorf("help query %s differs from query %s -h", q.Name, q.Name)
		}
		for _, prm := range q.Params {
			line := regexp.MustCompile(`(?m)^   --` + queries.FlagName(prm.Name) + `( [a-zA-Z]+)?  +(.*)$`).FindStringSubmatch(out)
			byDefault := "(default: " + strings.Trim(prm.Default, "'") + ")"
			if line == nil || prm.Name != "run" && (!strings.HasPrefix(line[2], prm.Doc) || (prm.Default != "NULL") != strings.Contains(line[2], byDefault)) {
				t.Errorf("%s --%s: %q", q.Name, prm.Name, line)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^     prof (query [^#\n]*[^# \n])`).FindAllStringSubmatch(out, -1) {
			p.ok(append(strings.Fields(m[1]), "--explain")...) // which checks the arguments and asks no run
			tried++
		}
	}
	if tried < 2*len(some) {
		t.Errorf("only %d examples of %d queries", tried, len(some))
	}
}

func TestSQLSources(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	want := result{0, "n\n16\n", ""}
	const text = "SELECT count(*) AS n FROM kernel"
	for _, args := range [][]string{{"sql", text, "-f", "csv"}, {"sql", "--format=csv", text}, {"sql", "-f", "csv", "-- how many?\n" + text}, {"sql", "-f", "csv", text + ";"}} {
		p.want(want, args...)
	}
	for _, args := range [][]string{{"sql", "-f", "csv"}, {"sql", "-", "-f", "csv"}, {"sql", "-f", "csv", "-"}} {
		if got := p.runWith("-- how many?\n"+text+"\n", args...); got != want {
			t.Errorf("%q from stdin: %+v", args, got)
		}
		if got := p.runWith(" \n", args...); got != (result{2, "", "prof: sql takes a statement as its argument or on stdin; see `prof help sql`\n"}) {
			t.Errorf("%q from an empty stdin: %+v", args, got)
		}
	}
	for _, text := range []string{"FROM run", "DESCRIBE run", "SHOW TABLES", "EXPLAIN FROM run", "VALUES (1)", "WITH x AS (SELECT 1 AS a) FROM x"} {
		if r := p.run("sql", text); r.code != 0 || r.out == "" || r.err != "" {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

// TestSQLStreams holds that rows are written as they come: a table says where it ends, and an error after some rows fails.
func TestSQLStreams(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	const note = "only the first 10,000 rows are here; --format csv, json and arrow give all\n"
	for form, want := range map[string]string{"table": "\n 9999\nnote: " + note, "md": " 9999 |\n\n- " + note} {
		if got := p.ok("sql", "-f", form, "FROM range(1000000000000)"); !strings.HasSuffix(got, want) {
			t.Errorf("%s ends with %q", form, got[max(0, len(got)-200):])
		}
	}
	if got := p.ok("sql", "FROM range(10000)"); !strings.HasSuffix(got, "\n 9999\n") {
		t.Errorf("all rows end with %q", got[max(0, len(got)-200):])
	}
	failed := regexp.MustCompile(`\Aprof: after \d+ rows: [^\n]*(broken|not complete)\n\z`) // which one depends on the thread that DuckDB asks first
	for _, form := range []string{"csv", "json"} {
		r := p.run("sql", "-f", form, "SELECT CASE WHEN i = 90000 THEN error('broken') ELSE i::VARCHAR END AS x FROM range(100000) r(i)")
		if r.code != 1 || !failed.MatchString(r.err) || !strings.Contains(r.out, "4096") {
			t.Errorf("%s: %d, %q after %d bytes", form, r.code, r.err, len(r.out))
		}
	}
	p.want(result{1, "", "prof: Invalid Input Error: broken\n"}, "sql", "-f", "csv", "SELECT error('broken')")
}

func TestNamesOfRuns(t *testing.T) {
	t.Parallel()
	p := newStored(t, []testkit.Run{filled[0],
		{Name: "nodes", Files: []string{"nsys/" + node}, Options: ingest.Options{Tags: [][2]string{{"mode", "x"}}}},
		{Name: "north", Files: []string{"nsys/" + graph}, Options: ingest.Options{Tags: [][2]string{{"mode", "graph"}}}}})
	p.ok("tag", "nodes", "mode=node", "why=a=b")
	ids := map[string]string{}
	for _, line := range strings.Fields(p.sql("SELECT name, run_id FROM run"))[1:] {
		name, id, _ := strings.Cut(line, ",")
		ids[name] = id
	}
	// The shortest prefix of an id that no other run shares.
	prefix := func(name string) string {
		for n := 1; ; n++ {
			shared := false
			for other, id := range ids {
				shared = shared || other != name && strings.HasPrefix(id, ids[name][:n])
			}
			if !shared {
				return ids[name][:n]
			}
		}
	}
	sources := map[string]string{}
	for name := range ids {
		sources[name] = p.ok("query", "sources", "--run", name, "-f", "csv")
	}
	for ref, want := range map[string]string{"nodes": "nodes", "nod": "nodes", "nor": "north", "a": "a", "@latest": "north", "@latest~0": "north", "@latest~1": "nodes",
		"@latest~2": "a", "tag:mode=node": "nodes", "tag:mode=graph": "north", "tag:why=a=b": "nodes", ids["a"]: "a", prefix("a"): "a", prefix("north"): "north",
		strings.ToUpper(prefix("nodes")): "nodes"} {
		r := p.run("query", "sources", "--run", ref, "-f", "csv")
		talk := ""
		if ref[0] == '@' || strings.HasPrefix(ref, "tag:") {
			talk = "run " + want + "\n"
		}
		if r.code != 0 || r.err != talk || r.out != sources[want] {
			t.Errorf("sources of %s: %+v", ref, r)
		}
	}
	for ref, want := range map[string]string{
		"":          "no such run: the reference is empty",
		"no":        `several runs match: "no" could be north, nodes`,
		"nodez":     `no such run: "nodez"; did you mean nodes?`,
		"zzzzz":     `no such run: "zzzzz"; available: north, nodes, a`,
		"@latest~3": "no such run: @latest~3; the warehouse holds 3 runs",
		"@first":    `no such run: "@first"; write @latest or @latest~N`,
		"@latest~x": `no such run: "@latest~x"; write @latest or @latest~N`,
		"@latest-1": `no such run: "@latest-1"; write @latest or @latest~N`,
		"tag:mode":  `no such run: "tag:mode"; write tag:key=value`,
		"tag:a=b":   "no such run: none is tagged a=b",
	} {
		p.want(result{1, "", "prof: " + want + "\n"}, "query", "top-kernels", "--run", ref)
	}
	// Removing asks for more than a prefix, and is all or nothing.
	before := state(p)
	p.want(result{1, "", "prof: rm needs the full name: did you mean nodes?\n"}, "rm", "nod")
	p.want(result{1, "", "prof: no such run: \"nosuch\"; available: north, nodes, a\n"}, "rm", "a", "nosuch")
	if after := state(p); after != before {
		t.Errorf("a failed rm changed the warehouse:\n%s\n%s", before, after)
	}
	p.want(result{0, "", "removed north\nremoved nodes\n"}, "rm", "@latest", "tag:mode=node", "nodes", ids["north"])
	if got := p.sql("SELECT name FROM run"); got != "name\na\n" {
		t.Errorf("left: %q", got)
	}
}

func TestFlagsAnywhere(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	want := p.run("query", "--run", "a", "--top", "2", "--format", "csv", "top-kernels")
	if want.code != 0 || strings.Count(want.out, "\n") != 3 {
		t.Fatalf("%+v", want)
	}
	for _, args := range [][]string{
		{"query", "top-kernels", "--run", "a", "--top", "2", "--format", "csv"},
		{"query", "--run=a", "top-kernels", "--top=2", "-f=csv"},
		{"query", "--run", "a", "top-kernels", "-f", "csv", "--wide", "--top", "2"},
		{"--home", ".prof", "query", "top-kernels", "--run", "a", "--top", "2", "-f", "csv"},
		{"query", "top-kernels", "--run", "a", "--home", ".prof", "--top", "2", "-f", "csv"},
		{"query", "--home=.prof", "--run", "a", "--top", "2", "-f", "csv", "--", "top-kernels"},
		{"query", "--run", "nosuch", "--top", "9", "top-kernels", "--run", "a", "--top", "2", "-f", "csv"},
	} {
		p.want(want, args...)
	}
}

func TestHomes(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	sub := &place{t: t, dir: p.path("deep/er"), env: []string{}} // the folder matters: a process of its own
	if err := os.MkdirAll(sub.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	list := p.ok("runs")
	if got := sub.ok("runs"); got != list {
		t.Errorf("from a sub folder: %q", got)
	}
	p.settle()
	if got := sub.ok("ingest", exported(t, kernels)); got != "a\n" || exists(sub.path(".prof")) { // which has it
		t.Errorf("an ingest from a sub folder went elsewhere: %q", got)
	}
	other := newPlace(t)
	facts := write(t, other.path("env.json"), []byte(`{"gpu": "NVIDIA H200", "cuda": "13.0"}`)) // which are stored in less time than a capture
	other.ok("--home", "x/y", "ingest", "--run", "c", facts)
	if !exists(other.path("x/y/warehouse.duckdb")) || !exists(other.path("x/y/.gitignore")) || exists(other.path(".prof")) {
		t.Errorf("--home: %q", listing(t, other.dir))
	}
	other.env = []string{"PROF_HOME=" + p.path(".prof")}
	if got := other.sql("SELECT name FROM run"); got != "name\na\n" {
		t.Errorf("PROF_HOME: %q", got)
	}
	if got := other.ok("--home", "x/y", "sql", "-f", "csv", "SELECT name FROM run"); got != "name\nc\n" {
		t.Errorf("--home against PROF_HOME: %q", got)
	}
	// A home among the user's own files must not hide those from git.
	write(t, other.path("mine/code.py"), nil)
	write(t, other.path("mine/tmp/precious"), nil)
	other.ok("--home", "mine", "ingest", "--run", "d", facts)
	if got := listing(t, other.path("mine")); !slices.Equal(got, []string{"code.py", "tmp", "tmp/precious", "warehouse.duckdb", "warehouse.duckdb.lock"}) {
		t.Errorf("a folder of the user's became %q", got)
	}
	write(t, other.path("proj/.prof/runs/x/run.json"), nil)
	other.ok("--home", "proj/.prof", "ingest", "--run", "d", facts)
	if !exists(other.path("proj/.prof/.gitignore")) {
		t.Error(".prof without its .gitignore")
	}
}

// Verbs that change what must be there already do not make a warehouse, and neither does an ingest of nothing.
func TestNoHomeForNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	none := "prof: no warehouse yet in " + p.path(".prof") + ": run `prof ingest PATH` there, or name another home with --home\n"
	p.want(result{1, "", none}, "tag", "a", "k=v")
	p.want(result{1, "", none}, "rm", "a")
	p.want(result{1, "", none}, "show")
	p.want(result{1, "", none}, "sql", "SELECT 1")
	p.want(result{1, "", "prof: nosuch: there is no such file or folder\n"}, "ingest", "nosuch")
	for _, name := range []string{"@x", "tag:k=v", "baseline:x"} {
		p.want(result{1, "", fmt.Sprintf("prof: run name %q: names that begin with @, tag: or baseline: are reserved\n", name)}, "ingest", "--run", name, exported(t, kernels))
	}
	if got := listing(t, p.dir); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}
