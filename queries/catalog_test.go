package queries

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"prof/queries/frame"
)

var update = flag.Bool("update", false, "record new query files in frozen.txt and golden answers in testdata")

const header = "-- a-b v1: What it gives.\n-- grain: one thing\n-- key: x\n-- notes: graph launch\n-- params:\n--   run VARCHAR: the run\n" +
	"--   by VARCHAR = 'a': how\n--     and why\n-- columns:\n--   x: the thing; NULL when none\n--     at all\n\nSELECT 1 AS x\n"

func TestParse(t *testing.T) {
	got, err := parse("a-b.v1.sql", header)
	want := Query{Name: "a-b", Version: 1, Doc: "What it gives.", Grain: "one thing", Key: "x", Notes: []string{"graph", "launch"},
		Params:  []Param{{"run", "VARCHAR", "", "the run"}, {"by", "VARCHAR", "'a'", "how and why"}},
		Columns: [][2]string{{"x", "the thing; NULL when none at all"}}, Body: "SELECT 1 AS x"}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ file, from, to, want string }{
		{"a_b.v1.sql", "", "", "a query file is named"},
		{"a-b.sql", "", "", "a query file is named"},
		{"A-b.v1.sql", "", "", "a query file is named"},
		{"a-b.v2.sql", "", "", "line 1 must be `-- a-b v2: "},
		{"a-c.v1.sql", "", "", "line 1 must be `-- a-c v1: "},
		{"a-b.v1.sql", "\n\n", "\n", "a query file is named"},
		{"a-b.v1.sql", "-- grain: one thing\n", "", "the header lacks"},
		{"a-b.v1.sql", "-- key: x\n", "", "the header lacks"},
		{"a-b.v1.sql", "-- columns:\n", "", "line 9: a parameter is written"},
		{"a-b.v1.sql", "-- notes", "-- remarks", "line 4: not understood"},
		{"a-b.v1.sql", "VARCHAR: the run", "the run", "line 6: a parameter is written"},
	} {
		text := header
		if c.from != "" {
			text = strings.Replace(text, c.from, c.to, 1)
		}
		if _, err := parse(c.file, text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s, %q for %q: %v", c.file, c.to, c.from, err)
		}
	}
	if _, err := parseAll(fstest.MapFS{"sql/note.txt": {Data: []byte(header)}}); err == nil {
		t.Error("a file that is no query was passed over")
	}
}

func TestStatement(t *testing.T) {
	q, err := Find("top-kernels.v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args Args
		want string
		err  string
	}{
		{Args{"run": "it's"}, "FROM top_kernels_v1('it''s')", ""},
		{Args{"run": "a", "top": "0", "stage": "(none)"}, "FROM top_kernels_v1('a', top := 0, stage := '(none)')", ""},
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
	if got, err := q.Statement(Args{"run": "a", "raw": "1"}); err != nil || got != "FROM ranges_v2('a', raw := true)" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := q.Statement(Args{"run": "a", "raw": "maybe"}); err == nil || !strings.Contains(err.Error(), "neither true nor false") {
		t.Errorf("the error is %v", err)
	}
}

func TestFind(t *testing.T) {
	for _, name := range []string{"top-kernels", "top_kernels", "top-kernels.v1"} {
		if q, err := Find(name); err != nil || q.Name != "top-kernels" {
			t.Errorf("%s: %s, %v", name, q.Name, err)
		}
	}
	for name, want := range map[string]string{"top-kernel": "did you mean top-kernels?", "top-kernels.v99": "did you mean top-kernels?", "xyzzy": "`prof query` lists them",
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
	defs, err := Definitions()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, d := range defs {
		if _, twice := at[d.Name]; twice {
			t.Errorf("%s is defined twice", d.Name)
		}
		at[d.Name] = i
	}
	for i, d := range defs {
		for _, used := range relationName.FindAllString(d.Body, -1) {
			if j, ok := at[used]; !ok || j >= i && used != d.Name {
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

// TestNewestVersion holds that the plain name stands for the newest version, and that the older one stays.
func TestNewestVersion(t *testing.T) {
	file := func(v string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Replace(header, "a-b v1", "a-b v"+v, 1))}
	}
	all, err := parseAll(fstest.MapFS{"sql/a-b.v10.sql": file("10"), "sql/a-b.v2.sql": file("2"), "sql/a-b.v1.sql": file("1")})
	if err != nil || len(all) != 3 || all[0].Version != 1 || all[2].Version != 10 {
		t.Errorf("got %+v, %v", all, err)
	}
}

// TestFrozen holds that a query, once recorded in frozen.txt, never changes: others rely on what it means.
func TestFrozen(t *testing.T) {
	const list = "frozen.txt"
	text, err := os.ReadFile(list)
	if err != nil && !*update {
		t.Fatal(err)
	}
	frozen := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if sum, name, ok := strings.Cut(line, "  "); ok {
			frozen[name] = sum
		}
	}
	files, err := filepath.Glob("sql/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, path := range files {
		name := filepath.Base(path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		now := fmt.Sprintf("%x", sha256.Sum256(text))
		was, known := frozen[name]
		delete(frozen, name)
		switch {
		case known && was != now:
			base, version, _ := strings.Cut(strings.TrimSuffix(name, ".sql"), ".v")
			v, _ := strconv.Atoi(version)
			t.Errorf("%s is released and frozen, but has changed: put it back, and write the change as %s.v%d.sql (a query that no release holds yet may change: delete its line from %s and run go test ./queries -run TestFrozen -update)",
				name, base, v+1, list)
			now = was
		case !known && !*update:
			t.Errorf("%s is new: go test ./queries -run TestFrozen -update records it", name)
		}
		fmt.Fprintf(&out, "%s  %s\n", now, name)
	}
	for name := range frozen {
		t.Errorf("%s is released and frozen, but gone: put it back", name)
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(list, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
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
