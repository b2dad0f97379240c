package schema_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prof/internal/testkit"
	"prof/schema"
)

// addRun stores a bare run.
func addRun(t *testing.T, w *schema.Warehouse, id, name string, created time.Time) {
	t.Helper()
	testkit.Exec(t, w, `INSERT INTO run VALUES (?::UUID, ?, ?, NULL, NULL, NULL, 'test')`, id, name, created)
}

const (
	idA = "01900000-0000-7000-8000-00000000000a"
	idB = "01900001-0000-7000-8000-00000000000b"
	idC = "01900002-0000-7000-8000-00000000000c"
)

func threeRuns(t *testing.T) *schema.Warehouse {
	t.Helper()
	w := open(t, fresh(t), true, nil)
	t.Cleanup(func() { done(t, w) })
	at := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	addRun(t, w, idA, "base", at)
	addRun(t, w, idB, "baseline", at.Add(time.Hour))
	addRun(t, w, idC, "fast 2=x", at.Add(2*time.Hour))
	for _, tag := range [][3]string{{idA, "gpu", "h200"}, {idB, "gpu", "h200"}, {idB, "note", "a=b"}} {
		testkit.Exec(t, w, `INSERT INTO run_tag VALUES (?::UUID, ?, ?)`, tag[0], tag[1], tag[2])
	}
	return w
}

// TestResolve holds what a reference means, for the command line and for the run argument of the queries alike.
func TestResolve(t *testing.T) {
	w := threeRuns(t)
	for _, c := range []struct {
		ref, want string
		err       error
		says      string
	}{
		{"base", "base", nil, ""}, // though it is a prefix of another
		{"baseline", "baseline", nil, ""},
		{"basel", "baseline", nil, ""},
		{"fast", "fast 2=x", nil, ""},
		{idB, "baseline", nil, ""},
		{"01900001", "baseline", nil, ""},
		{"01900001-0000-7000-8000-00000000000B", "baseline", nil, ""},
		{"@latest", "fast 2=x", nil, ""},
		{"@latest~0", "fast 2=x", nil, ""},
		{"@latest~2", "base", nil, ""},
		{"tag:gpu=h200", "baseline", nil, ""},
		{"tag:note=a=b", "baseline", nil, ""},
		{"2=x", "fast 2=x", nil, ""},                                // words at the end
		{"line", "", schema.ErrUnknownRun, "did you mean baseline"}, // no word of it
		{"t 2", "", schema.ErrUnknownRun, ""},
		{"base-", "", schema.ErrUnknownRun, "did you mean base"},
		{"se", "", schema.ErrUnknownRun, ""}, // too short to be a part
		{"bas", "", schema.ErrAmbiguousRun, "base"},
		{"0190000", "", schema.ErrAmbiguousRun, "fast 2=x"},
		{"", "", schema.ErrUnknownRun, "empty"},
		{"basline", "", schema.ErrUnknownRun, "did you mean baseline"},
		{"zzz", "", schema.ErrUnknownRun, "available: fast 2=x, baseline, base"},
		{"@latest~3", "", schema.ErrUnknownRun, "holds 3 runs"},
		{"@latest~", "", schema.ErrUnknownRun, "write @latest or @latest~N"},
		{"@latest~-1", "", schema.ErrUnknownRun, "write @latest or @latest~N"},
		{"@latest1", "", schema.ErrUnknownRun, "write @latest or @latest~N"},
		{"@latest~~1", "", schema.ErrUnknownRun, "write @latest or @latest~N"},
		{"@latest~99999999999999999999", "", schema.ErrUnknownRun, "write @latest or @latest~N"},
		{"@newest", "", schema.ErrUnknownRun, "write @latest or @latest~N"},
		{"tag:gpu", "", schema.ErrUnknownRun, "write tag:key=value"},
		{"tag:gpu=h100", "", schema.ErrUnknownRun, "none is tagged gpu=h100"},
		{"%", "", schema.ErrUnknownRun, ""},
	} {
		r, err := w.Resolve(t.Context(), c.ref)
		if r.Name != c.want || !errors.Is(err, c.err) || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q means %q, %v; want %q, %v %s", c.ref, r.Name, err, c.want, c.err, c.says)
		}
		var inSQL string
		for _, id := range testkit.Rows(t, w, `SELECT r.run_id::VARCHAR FROM _run_ref(?) r`, c.ref) {
			inSQL += id
		}
		if inSQL != r.ID {
			t.Errorf("%q is run %q on the command line and %q in SQL", c.ref, r.ID, inSQL)
		}
	}
}

func TestResolveInNoRuns(t *testing.T) {
	w := open(t, fresh(t), false, nil)
	defer done(t, w)
	for _, ref := range []string{"x", "@latest", "tag:a=b"} {
		if _, err := w.Resolve(t.Context(), ref); !errors.Is(err, schema.ErrUnknownRun) {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestTag(t *testing.T) {
	w := threeRuns(t)
	r, err := w.Resolve(t.Context(), "base")
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"gpu", "h100"}, {"a", ""}, {"b", "x'; DROP TABLE run; --"}} {
		if err := w.Tag(t.Context(), r, kv); err != nil {
			t.Fatal(err)
		}
	}
	got, err := w.Tags(t.Context(), r)
	if want := []string{"a=", "b=x'; DROP TABLE run; --", "gpu=h100"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("the tags are %q, %v", got, err)
	}
	if got := testkit.Rows(t, w, `SELECT value FROM run_tag WHERE key = 'gpu' ORDER BY run_id`); !slices.Equal(got, []string{"h100", "h200"}) {
		t.Errorf("the tags of the runs are %q", got)
	}
	for _, c := range []struct{ in, key, value, err string }{
		{"a=b", "a", "b", ""}, {"a=", "a", "", ""}, {"a=b=c", "a", "b=c", ""}, {"a", "", "", `tag "a": write it key=value, in UTF-8`}, {"=b", "", "", `tag "=b": write it key=value, in UTF-8`},
	} {
		k, v, err := schema.ParseTag(c.in)
		if k != c.key || v != c.value || (err != nil) != (c.err != "") || err != nil && err.Error() != c.err {
			t.Errorf("ParseTag(%q) is %q, %q, %v", c.in, k, v, err)
		}
	}
}

// fill puts one made-up row of each run into every table that holds rows of runs, and gives the tables.
func fill(t *testing.T, w *schema.Warehouse, ids ...string) []string {
	t.Helper()
	var tables, inserts []string
	for _, row := range testkit.Rows(t, w, `SELECT table_name, string_agg(data_type, ',' ORDER BY column_index) FROM duckdb_columns()
		WHERE NOT internal AND table_name IN (SELECT table_name FROM duckdb_tables()) GROUP BY ALL HAVING bool_or(column_name = 'run_id' AND data_type = 'UUID') AND table_name <> 'things' ORDER BY ALL`) {
		table, types, _ := strings.Cut(row, "|")
		if table == "run" {
			continue
		}
		tables = append(tables, table)
		for _, id := range ids {
			var values []string
			for i, kind := range strings.Split(types, ",") {
				switch {
				case i == 0:
					values = append(values, "'"+id+"'::UUID")
				case strings.HasSuffix(kind, "[]"):
					values = append(values, "[1]")
				case kind == "TIMESTAMP":
					values = append(values, "now()::TIMESTAMP")
				default:
					values = append(values, "1")
				}
			}
			inserts = append(inserts, fmt.Sprintf("INSERT INTO %q VALUES (%s)", table, strings.Join(values, ", ")))
		}
	}
	testkit.Exec(t, w, "BEGIN; "+strings.Join(inserts, "; ")+"; COMMIT") // one commit: each writes all tables
	if len(tables) < 25 {
		t.Fatalf("only %d tables hold rows of runs: %q", len(tables), tables)
	}
	return tables
}

func TestRemove(t *testing.T) {
	w := threeRuns(t)
	testkit.Exec(t, w, `DELETE FROM run_tag`)
	// A user's own tables are no trouble, whatever they hold.
	testkit.Exec(t, w, `CREATE TABLE "my notes" (run_id UUID, note VARCHAR); CREATE TABLE other (run_id VARCHAR); INSERT INTO other VALUES ('mine');
		CREATE SCHEMA own; CREATE TABLE own.things (run_id UUID)`)
	tables := fill(t, w, idA, idB, idC)
	tables = slices.DeleteFunc(tables, func(table string) bool { return table == "my notes" })
	var runs []schema.Run
	for _, ref := range []string{"base", "@latest"} {
		r, err := w.Resolve(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	if err := w.Remove(t.Context(), runs...); err != nil {
		t.Fatal(err)
	}
	var all, want []string
	for _, table := range append(tables, "run") {
		all, want = append(all, fmt.Sprintf(`SELECT '%[1]s', run_id::VARCHAR FROM %[1]q`, table)), append(want, table+"|"+idB)
	}
	if got := testkit.Rows(t, w, strings.Join(all, " UNION ALL ")); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("after the others were removed there is\n%q\nnot\n%q", got, want)
	}
	if got := testkit.Rows(t, w, `SELECT count(*)::VARCHAR FROM "my notes"`); got[0] != "3" {
		t.Errorf("the user's own table holds %s rows of 3", got[0])
	}
}

func TestRunID(t *testing.T) {
	var last string
	for range 100 {
		id, err := schema.NewRunID()
		if err != nil || len(id) != 36 || id[14] != '7' || id <= last {
			t.Fatalf("run id %s after %s, %v", id, last, err)
		}
		last = id
	}
}
