package queries

import (
	"errors"
	"flag"
	"maps"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"prof/queries/frame"
	"prof/schema/sqlfile"
)

var _ = flag.Bool("update", false, "record golden answers in testdata")

const header = "-- a-b v1: What it gives.\n-- grain: one thing\n-- key: x\n-- notes: graph launch\n-- params:\n--   run VARCHAR: the run\n" +
	"--   by VARCHAR = 'a': how\n--     and why\n-- columns:\n--   x: the thing; NULL when none\n--     at all\n\nSELECT 1 AS x\n"

func TestParse(t *testing.T) {
	got, err := parse("sql/x/a-b.sql", header)
	want := Query{Name: "a-b", Domain: "x", Version: 1, Doc: "What it gives.", Grain: "one thing", Key: "x", Notes: []string{"graph", "launch"},
		Params:  []Param{{Name: "run", Type: "VARCHAR", Doc: "the run"}, {Name: "by", Type: "VARCHAR", Default: "'a'", Doc: "how and why"}},
		Columns: [][2]string{{"x", "the thing; NULL when none at all"}}, counts: timelines, Body: "SELECT 1 AS x"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ file, from, to, want string }{
		{"sql/x/a_b.sql", "", "", "a query file is sql/DOMAIN/NAME.sql"},
		{"sql/a-b.sql", "", "", "a query file is sql/DOMAIN/NAME.sql"},
		{"sql/x/A-b.sql", "", "", "a query file is sql/DOMAIN/NAME.sql"},
		{"sql/x/a-b.v2.sql", "", "", "line 1 has the version of the file"},
		{"sql/x/a-b.sql", " v1: ", ": ", "line 1 has the version of the file"},
		{"sql/x/a-c.sql", "", "", "a file has a header that begins with `-- a-c: "},
		{"sql/x/a-b.sql", "\n\n", "\n", "a file has a header that begins with `-- a-b: "},
		{"sql/x/a-b.sql", "-- grain: one thing\n", "", "the header lacks"},
		{"sql/x/a-b.sql", "-- key: x\n", "", "the header lacks"},
		{"sql/x/a-b.sql", "-- columns:\n", "", "line 9: a parameter is written"},
		{"sql/x/a-b.sql", "-- notes", "-- remarks", "line 4: a column is written"},
		{"sql/x/a-b.sql", "VARCHAR: the run", "the run", "line 6: a parameter is written"},
	} {
		text := header
		if c.from != "" {
			text = strings.Replace(text, c.from, c.to, 1)
		}
		if _, err := parse(c.file, text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s, %q for %q: %v", c.file, c.to, c.from, err)
		}
	}
	if _, err := parseAll(fstest.MapFS{"sql/x/note.txt": {Data: []byte(header)}}); err == nil {
		t.Error("a file that is no query was passed over")
	}
}

func TestStatement(t *testing.T) {
	q, err := Find("top-kernels")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args Args
		want string
		err  string
	}{
		{Args{"run": "it's"}, "SELECT * EXCLUDE (bound, limiter, roof_ratio, profiled_ratio, occupancy_ratio, profiled_count) FROM top_kernels('it''s')", ""},
		{Args{"run": "01a203b5-a797-78c5-ac07-753fd644fb70"}, "SELECT * EXCLUDE (bound, limiter, roof_ratio, profiled_ratio, occupancy_ratio, profiled_count) FROM top_kernels_v4('01a203b5-a797-78c5-ac07-753fd644fb70')", ""},
		{Args{"run": "a", "top": "0", "stage": "(none)"}, "SELECT * EXCLUDE (bound, limiter, roof_ratio, profiled_ratio, occupancy_ratio, profiled_count) FROM top_kernels('a', top := 0, stage := '(none)')", ""},
		{Args{}, "", "top-kernels needs --run"},
		{Args{"run": "a", "top": "ten"}, "", `--top "ten" is not a whole number`},
		{Args{"run": "a", "top": "-1"}, "", `--top "-1" is below 0`},
		{Args{"run": "a", "raw": "true"}, "", "top-kernels takes no --raw; it takes --run --top"},
	} {
		got, err := q.Statement(c.args)
		if got != c.want || (err != nil) != (c.err != "") || err != nil && (!strings.Contains(err.Error(), c.err) || !errors.Is(err, ErrBadArgument)) {
			t.Errorf("%v: %q, %v", c.args, got, err)
		}
	}
	if q, err = Find("ranges"); err != nil {
		t.Fatal(err)
	}
	if got, err := q.Statement(Args{"run": "a", "raw": "1"}); err != nil || got != "FROM ranges('a', raw := true)" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := q.Statement(Args{"run": "a", "raw": "maybe"}); err == nil || !strings.Contains(err.Error(), "neither true nor false") {
		t.Errorf("the error is %v", err)
	}
}

func TestFind(t *testing.T) {
	for _, name := range []string{"top-kernels", "top_kernels"} {
		if q, err := Find(name); err != nil || q.Name != "top-kernels" {
			t.Errorf("%s: %s, %v", name, q.Name, err)
		}
	}
	for name, want := range map[string]string{"top-kernel": "did you mean top-kernels?", "top-kernels.v99": "this prof has top-kernels v", "xyzzy": "`prof query` lists them",
		"_run-ref": "", "": ""} {
		if _, err := Find(name); !errors.Is(err, ErrUnknownQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestUnitOf(t *testing.T) {
	for name, want := range map[string]frame.Unit{"total_ns": frame.Ns, "ns": frame.Ns, "columns": frame.None, "rate_bytes_per_s": frame.BytesPerSec, "size_bytes": frame.Bytes, "share_ratio": frame.Ratio,
		"kernel_count": frame.Count, "clock_hz": frame.Hz, "calls": frame.None, "c": frame.None, "w": frame.None, "ratio": frame.None, "count": frame.None, "rows": frame.None, "flop_per_s": frame.FlopPerSec, "account": frame.None} {
		if got := frame.UnitOf(name); got != want {
			t.Errorf("UnitOf(%q) is %q, not %q", name, got, want)
		}
	}
}

// TestDefinitionOrder holds that each definition stands behind those it uses, and that every version has its relation.
func TestDefinitionOrder(t *testing.T) {
	defs, err := Relations{}.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, d := range defs {
		if j, twice := at[d.Name]; twice && defs[j].IsMacro() == d.IsMacro() { // a view and a macro may share a name
			t.Errorf("%s is defined twice", d.Name)
		}
		at[d.Name] = i
	}
	for i, d := range defs {
		for used := range sqlfile.Uses(d.Body) {
			if j, ok := at[used]; ok && j >= i && used != d.Name {
				t.Errorf("%s uses %s, which does not stand before it", d.Name, used)
			}
		}
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range all {
		names := []string{q.Relation()}
		if !q.Private {
			names = append(names, q.alias())
		}
		for _, name := range names {
			if _, ok := at[name]; !ok {
				t.Errorf("%s is not defined", name)
			}
		}
	}
	catalogue, err := Catalogue()
	if err != nil || slices.ContainsFunc(catalogue, func(q Query) bool { return q.Private }) {
		t.Errorf("the catalogue holds private queries, or %v", err)
	}
}

// TestDefinitionDocs: the whole header is the comment of the plain name alone, which the one with the version names.
func TestDefinitionDocs(t *testing.T) {
	defs, err := Relations{}.Definitions()
	catalogue, err2 := Catalogue()
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	docs := map[string]string{}
	for _, d := range slices.Backward(defs) { // views for SQL of one's own, some of which have a query's name, come last
		docs[d.Name] = d.Doc
	}
	for _, q := range catalogue {
		versioned := docs[q.Relation()]
		if docs[q.alias()] != q.comment() || !strings.HasPrefix(q.comment(), strings.TrimSuffix(versioned, " See "+q.alias()+".")) {
			t.Errorf("%s: %q and %q", q.Name, versioned, docs[q.alias()])
		}
	}
}

// TestVersions holds that the plain name stands for the newest version, and that an older one stays.
func TestVersions(t *testing.T) {
	file := func(v string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Replace(header, "a-b v1", "a-b v"+v, 1))}
	}
	all, err := parseAll(fstest.MapFS{"sql/x/a-b.sql": file("10"), "sql/x/a-b.v2.sql": file("2"), "sql/x/a-b.v1.sql": file("1")})
	if err != nil || len(all) != 3 || all[0].Version != 1 || all[2].Version != 10 {
		t.Errorf("got %+v, %v", all, err)
	}
}

// TestReleased holds that a query never changes once it is released, since others rely on what it means: each is what it was at the last tag.
func TestReleased(t *testing.T) {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	tag, err := git("describe", "--tags", "--abbrev=0")
	if err != nil {
		t.Skip("nothing is released yet: git has no tag")
	}
	list, err := git("ls-tree", "-r", "--name-only", tag, "--", "sql")
	if err != nil {
		t.Fatal(err)
	}
	all, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for path := range strings.FieldsSeq(list) {
		text, err := git("show", tag+":./"+path)
		if err != nil {
			t.Fatal(err)
		}
		was, err := parse(path, text+"\n")
		if err != nil || was.Private {
			continue
		}
		i := slices.IndexFunc(all, func(q Query) bool { return q.Name == was.Name && q.Version == was.Version })
		switch {
		case i < 0:
			t.Errorf("%s v%d was released with %s and is gone: put it back as %s.v%d.sql", was.Name, was.Version, tag, was.Name, was.Version)
		case all[i].Body != was.Body || !reflect.DeepEqual(all[i].Params, was.Params) || !reflect.DeepEqual(all[i].Columns, was.Columns):
			t.Errorf("%s v%d was released with %s and has changed: put it back as %s.v%d.sql, and raise the version of the new one", was.Name, was.Version, tag, was.Name, was.Version)
		}
	}
}

// The first columns of the core queries, which programs may rely on by place.
var firstColumns = map[string]string{
	"top-kernels":   "rank,kernel,calls,total_ns,mean_ns,median_ns,min_ns,max_ns,std_ns,share_ratio",
	"ranges":        "range,domain,instances,cpu_total_ns,gpu_span_total_ns,gpu_sum_ns,kernel_count",
	"stages":        "stage,passes,cpu_mean_ns,gpu_span_mean_ns,gpu_busy_mean_ns,gpu_sum_mean_ns,kernel_count",
	"stage-kernels": "stage,kernel,calls,total_ns",
}

func TestFirstColumns(t *testing.T) {
	for name, want := range firstColumns {
		q, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range q.Columns {
			got = append(got, c[0])
		}
		if !strings.HasPrefix(strings.Join(got, ",")+",", want+",") {
			t.Errorf("%s gives %q", name, got)
		}
	}
}

// TestGroups holds that each public query answers a question of the list, and each question has
func TestGroups(t *testing.T) {
	all, err := Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, q := range all {
		want[q.Domain] = true
	}
	got := map[string]bool{}
	for _, g := range Groups() {
		if got[g.Domain] || g.Title == "" {
			t.Errorf("%+v stands twice or has no title", g)
		}
		got[g.Domain] = true
	}
	if !maps.Equal(got, want) {
		t.Errorf("groups are of %v, queries in %v", got, want)
	}
}
