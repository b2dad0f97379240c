package queries_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"prof/internal/testkit"
	"prof/schema"
	"prof/schema/pack"
)

// traveller are files of every kind of source, of one run; some have the kernels of the run that is there.
var traveller = []string{"ranks/rank0.trace.json.gz", "ranks/rank1.trace.json.gz", "ranks/rank0.sqlite.gz", "nsys/variants-graph/variants-graph.sqlite.gz", "ncu/variants-graph.ncu-rep.gz", "workload/llama-graph-node.workload.json"}

// TestTravel: a run that was exported as Parquet, or packed, and imported elsewhere is the same run, in every cell of every table, facts among them, next to another
// one with the same kernels.
func TestTravel(t *testing.T) {
	t.Parallel()
	// The one does not grow, and is as an ingest leaves it. The other has another id.
	from, to := &grown{t, testkit.Warehouse(t, testkit.Run{Name: "x", Files: traveller, TrueSums: true}), testkit.Now}, newGrown(t, testkit.Named(t, "variants-node")...)
	testkit.Exec(t, to.w, "UPDATE run SET name = 'x'")
	before := to.tables(1, false)
	run, err := from.w.Resolve(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	// A folder that an export left when it was killed does not keep the others from being imported.
	dir := filepath.Join(t.TempDir(), "it's [a] *folder?", pack.Runs)
	if err := os.MkdirAll(filepath.Join(dir, "run", "run_id=11111111-2222-7333-8444-555555555555"), 0o700); err != nil {
		t.Fatal(err)
	}
	if rows, err := from.w.ExportRun(t.Context(), run, dir); err != nil || rows == 0 {
		t.Fatalf("%d rows: %v", rows, err)
	}
	if ids, err := schema.RunsIn(dir); err != nil || !slices.Equal(ids, []string{run.ID}) {
		t.Errorf("runs %v: %v", ids, err)
	}
	testTravelBadly(t, from, to, run, dir)
	wantSame(t, "after them", to.tables(1, false), before)

	const rename = "UPDATE run SET name = CASE name WHEN 'x' THEN 'there' ELSE 'x' END"
	testkit.Exec(t, to.w, rename)
	to.derives(false)
	to.imports(dir, run)
	to.derives(true)
	if err := to.w.Remove(t.Context(), run); err != nil { // gone again, it can come back
		t.Fatal(err)
	}
	unpacked := packed(t, dir, run)
	folded(t, from.w, filepath.Join(unpacked, "run", "run_id="+run.ID, "rows.parquet"))
	to.imports(unpacked, run)
	wantSame(t, "tables", to.tables(1, false), from.tables(1, false))
	testkit.Exec(t, to.w, rename)
	wantSame(t, "the run that was there", to.tables(1, false), before)
}

// imports imports a run of a folder as x, and then finds it there.
func (g *grown) imports(dir string, run schema.Run) {
	g.Helper()
	made, there, err := g.w.ImportRuns(g.Context(), dir, schema.ImportOptions{As: "x"})
	if err != nil || len(made) != 1 || made[0].ID != run.ID || made[0].Name != "x" || len(there) != 0 {
		g.Fatalf("imported %+v, there %+v: %v", made, there, err)
	}
	if made, there, err := g.w.ImportRuns(g.Context(), dir, schema.ImportOptions{}); err != nil || len(made) != 0 || len(there) != 1 || there[0].Name != "x" {
		g.Errorf("again: imported %+v, there %+v: %v", made, there, err)
	}
}

// packed packs a folder of runs and gives one that is unpacked of it.
func packed(t *testing.T, dir string, run schema.Run) string {
	t.Helper()
	var text bytes.Buffer
	if err := pack.Write(&text, filepath.Dir(dir), pack.Head{Runs: []pack.Run{{ID: run.ID, Name: run.Name}}}); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	if _, err := pack.Read(t.Context(), &text, int64(text.Len()), to); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(to, pack.Runs)
}

// folded writes the file of the table run as the last prof before the first release did.
func folded(t *testing.T, w *schema.Warehouse, path string) {
	t.Helper()
	counts := testkit.Rows(t, w, "SELECT decode(value) FROM parquet_kv_metadata("+schema.Quote(path)+") WHERE decode(key) = 'prof_rows'")
	testkit.Exec(t, w, "COPY (SELECT * EXCLUDE (run_id) FROM run) TO "+schema.Quote(path)+" (FORMAT parquet, KV_METADATA {prof_schema: '38', prof_rows: "+schema.Quote(counts[0])+"})")
}

// testTravelBadly: what is no whole run, or of other tables, changes nothing and is refused by name.
func testTravelBadly(t *testing.T, from, to *grown, run schema.Run, exported string) {
	t.Helper()
	const head = "KV_METADATA {prof_schema: 'NOW', prof_rows: '{}'})"
	for name, c := range map[string]struct {
		spoil string // statement, a text to write, or "-": the table's folder goes
		table string
		as    string
		names map[string]string
		want  string
		is    error
	}{
		"name taken":      {want: `"x"; give it another one with --run`, is: schema.ErrNameTaken},
		"other name":      {as: "y", names: map[string]string{run.ID: "z"}, want: `it is listed as run "z", and is run "x"`},
		"no run":          {table: "run", spoil: "-", want: "has no runs: a file of `prof pack RUN`, or a folder of `prof export"},
		"a table less":    {table: "kernel_name", spoil: "-", as: "y", want: "the folder is not whole: "},
		"no Parquet":      {table: "kernel", spoil: "not Parquet", want: "runs: table kernel: "},
		"a FIFO":          {table: "run", spoil: "FIFO", want: "is a named pipe"},
		"other columns":   {table: "source", spoil: "COPY (SELECT 1 AS other) TO % (FORMAT parquet)", want: "runs: table source: "},
		"rows twice":      {table: "kernel_name", spoil: "COPY (SELECT * EXCLUDE (run_id) FROM kernel_name UNION ALL SELECT * EXCLUDE (run_id) FROM kernel_name) TO % (FORMAT parquet)", as: "y", want: " that were exported"},
		"others' ids":     {table: "kernel_name", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE (kernel_name_id + 134217728 AS kernel_name_id) FROM kernel_name) TO % (FORMAT parquet)", as: "y", want: "rows have ids of other runs"},
		"other schema":    {table: "run", spoil: "COPY (SELECT 'y' AS name) TO % (FORMAT parquet, KV_METADATA {prof_schema: '3'})", want: "its tables are of schema 3,", is: schema.ErrOtherSchema},
		"no schema":       {table: "run", spoil: "COPY (SELECT 'y' AS name) TO % (FORMAT parquet)", want: "its tables are of schema unknown,", is: schema.ErrOtherSchema},
		"no counts":       {table: "run", spoil: "COPY (SELECT 'y' AS name) TO % (FORMAT parquet, KV_METADATA {prof_schema: 'NOW'})", want: "does not say how many rows"},
		"beyond counts":   {table: "run", spoil: "COPY (SELECT * EXCLUDE (run_id) FROM run) TO % (FORMAT parquet, " + head, as: "y", want: "rows, not the 0 that were exported"},
		"no name":         {table: "run", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE ('' AS name) FROM run) TO % (FORMAT parquet, KV_METADATA {prof_schema: 'NOW', prof_rows: 'COUNTS'})", want: "the name of a run is empty; give it another one with --run"},
		"a far time":      {table: "kernel", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE (9223372036854775807 AS duration_ns) FROM kernel) TO % (FORMAT parquet)", as: "y", want: "table kernel: numbers of duration_ns are beyond what can be"},
		"an early time":   {table: "kernel", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE ((-9223372036854775808)::BIGINT AS start_ns) FROM kernel) TO % (FORMAT parquet)", as: "y", want: "table kernel: numbers of start_ns are beyond what can be"},
		"no number":       {table: "ncu_metric", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE ('nan'::DOUBLE AS value) FROM ncu_metric) TO % (FORMAT parquet)", as: "y", want: "table ncu_metric: numbers of value are beyond what can be"},
		"a negative time": {table: "kernel", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE (-duration_ns AS duration_ns) FROM kernel) TO % (FORMAT parquet)", as: "y", want: "table kernel: numbers of duration_ns are beyond what can be"},
		"no such source":  {table: "kernel", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE (77 AS source_id) FROM kernel) TO % (FORMAT parquet)", as: "y", want: "table kernel: rows name by source_id what the table source does not have"},
		"longer kernels":  {table: "kernel", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE (2 * duration_ns AS duration_ns) FROM kernel) TO % (FORMAT parquet)", as: "y", want: "of range_device: the run was changed by hand"},
		"another kind":    {table: "source", spoil: "COPY (SELECT * EXCLUDE (run_id) REPLACE ('evil' AS kind) FROM source) TO % (FORMAT parquet)", as: "y", want: "table source: kind has a word that stands for nothing"},
		"a column less":   {table: "kernel", spoil: "COPY (SELECT * EXCLUDE (run_id, correlation_id) FROM kernel) TO % (FORMAT parquet)", as: "y", want: "table kernel: it lacks the column correlation_id"},
		"a name of none":  {as: "tag:x=y", want: "names that begin with @, tag: or baseline: are reserved"},
	} {
		path, aside := filepath.Join(exported, c.table, "run_id="+run.ID, "rows.parquet"), filepath.Join(t.TempDir(), "aside")
		statement := strings.ReplaceAll(strings.Replace(c.spoil, "%", schema.Quote(path), 1), "NOW", lastMigration(t))
		if strings.Contains(statement, "COUNTS") {
			statement = strings.ReplaceAll(statement, "COUNTS", testkit.Rows(t, from.w, "SELECT decode(value) FROM parquet_kv_metadata("+schema.Quote(path)+") WHERE decode(key) = 'prof_rows'")[0])
		}
		spoilt, err := path, error(nil)
		if c.spoil == "-" {
			spoilt = filepath.Dir(filepath.Dir(path))
		}
		if c.spoil != "" {
			if err := os.Rename(spoilt, aside); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case strings.HasPrefix(statement, "COPY"):
			_, err = from.w.DB.ExecContext(t.Context(), statement)
		case c.spoil == "FIFO":
			err = syscall.Mkfifo(path, 0o600)
		case c.spoil != "" && c.spoil != "-":
			err = os.WriteFile(path, []byte(c.spoil), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		made, _, err := to.w.ImportRuns(t.Context(), exported, schema.ImportOptions{As: c.as, Names: c.names})
		if err == nil || len(made) != 0 || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if c.spoil != "" {
			if err := errors.Join(os.RemoveAll(spoilt), os.Rename(aside, spoilt)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Captures that are here are not stored twice.
	sum := to.raw("SELECT sha256 FROM source")[0][0]
	testkit.Exec(t, to.w, "UPDATE source SET sha256 = ?", from.raw("SELECT sha256 FROM source WHERE kind = 'nsys'")[0][0])
	if _, _, err := to.w.ImportRuns(t.Context(), exported, schema.ImportOptions{As: "y"}); err == nil || !strings.Contains(err.Error(), "captures of run y are already in run x") {
		t.Errorf("captures that are there: %v", err)
	}
	testkit.Exec(t, to.w, "UPDATE source SET sha256 = ?", sum)
}

// lastMigration is the number of the newest schema.
func lastMigration(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("../schema/sql/0*.sql")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	return strings.TrimLeft(filepath.Base(files[len(files)-1])[:4], "0")
}

// TestTravelMasked: what an older prof, or a hand, left of secrets in the texts of a run is masked where it arrives, as an ingest does, and names of paths with
// those that they are made from.
func TestTravelMasked(t *testing.T) {
	t.Parallel()
	const secret = "supersecret0123456789abcdef"
	from := testkit.Copy(t, testkit.Run{Name: "x", Files: []string{"nsys/kernels/kernels.sqlite.gz"}, TrueSums: true, Facts: []string{}})
	var ranges []string
	for _, s := range []string{
		"UPDATE run SET command = 'serve --api-key " + secret + "', host = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'",
		"INSERT INTO run_tag SELECT run_id, 'password', '" + secret + "' FROM run",
		"INSERT INTO source_fact SELECT run_id, 1, 'server.api_key', '" + secret + "' FROM run",
		"UPDATE source SET command = 'HF_TOKEN=" + secret + " serve'",
		"INSERT INTO diagnostic SELECT run_id, 1, 'capture', 'info', NULL, NULL, 'password: " + secret + "' FROM run",
		"UPDATE nvtx_range SET name = 'token=" + strings.Repeat("0123456789abcdef", 2) + "' WHERE name = 'decode_all'",
		"UPDATE range_path SET name = 'token=#' WHERE name = 'decode_all'",
		"UPDATE range_path SET path = replace(path, 'decode_all', 'token=#')",
	} {
		testkit.Exec(t, from, s)
	}
	if ranges = testkit.Rows(t, from, "SELECT path FROM range_path WHERE contains(path, 'token=#')"); len(ranges) == 0 {
		t.Fatal("no path has the name")
	}
	run, err := from.Resolve(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	again := from
	for _, what := range []string{"masked", "masked already"} {
		dir := t.TempDir()
		if _, err := again.ExportRun(t.Context(), run, dir); err != nil {
			t.Fatal(err)
		}
		to := testkit.Copy(t)
		if _, _, err := to.ImportRuns(t.Context(), dir, schema.ImportOptions{}); err != nil {
			t.Fatal(err)
		}
		for query, want := range map[string]string{
			"SELECT command || ' on ' || host FROM run":                         "serve --api-key *** on ***",
			"SELECT value FROM run_tag":                                         "***",
			"SELECT value FROM source_fact WHERE key = 'server.api_key'":        "***",
			"SELECT DISTINCT command FROM source":                               "HF_TOKEN=*** serve",
			"SELECT message FROM diagnostic WHERE starts_with(message, 'pa')":   "password: ***",
			"SELECT DISTINCT name FROM nvtx_range WHERE starts_with(name, 't')": "token=***",
			"SELECT name FROM range_path WHERE starts_with(name, 't')":          "token=***",
			"SELECT path FROM range_path WHERE contains(path, 'token=')":        strings.ReplaceAll(strings.Join(ranges, "\n"), "#", "***"),
			"SELECT count(*) = (SELECT count(*) FROM nvtx_range WHERE starts_with(name, 't')) FROM nvtx_range n JOIN range_path p USING (run_id, path_id) WHERE starts_with(p.name, 't')": "true",
		} {
			if got := strings.Join(testkit.Rows(t, to, query), "\n"); got != want {
				t.Errorf("%s: %s: %q, want %q", what, query, got, want)
			}
		}
		if again != from {
			for _, table := range []string{"run", "nvtx_range", "range_path", "diagnostic", "kernel", "source_fact"} {
				const all = "SELECT to_json(t)::VARCHAR FROM %s t ORDER BY 1"
				if got, want := testkit.Rows(t, to, strings.Replace(all, "%s", table, 1)), testkit.Rows(t, again, strings.Replace(all, "%s", table, 1)); !slices.Equal(got, want) {
					t.Errorf("the second journey changed the table %s", table)
				}
			}
		}
		again = to
	}
}

// TestTravelFaults: device work that cannot be as it is recorded is a loss of a run that was imported, as of one that was ingested, whether or not its
// rows say so.
func TestTravelFaults(t *testing.T) {
	t.Parallel()
	from := testkit.Copy(t, testkit.Run{Name: "x", Files: []string{"nsys/kernels/kernels.sqlite.gz"}, TrueSums: true, Facts: []string{}})
	const inside = "INSERT INTO kernel SELECT * REPLACE (start_ns + $at AS start_ns, $for AS duration_ns, start_ns + $launch AS launch_start_ns, 900000 + $at AS correlation_id, 0 AS range_context_id, 0 AS path_id) FROM kernel ORDER BY duration_ns DESC, start_ns LIMIT 1"
	for _, r := range [][3]string{{"10", "5", "0"}, {"10", "5", "0"}, {"20", "0", "0"}, {"30", "5", "40"}} { // the second is the first again
		testkit.Exec(t, from, strings.NewReplacer("$at", r[0], "$for", r[1], "$launch", r[2], "ORDER BY duration_ns", "WHERE correlation_id < 900000 ORDER BY kernel.duration_ns").Replace(inside))
	}
	run, err := from.Resolve(t.Context(), "x")
	if err != nil {
		t.Fatal(err)
	}
	dir, to := t.TempDir(), testkit.Copy(t)
	if _, err := from.ExportRun(t.Context(), run, dir); err != nil {
		t.Fatal(err)
	}
	if _, _, err := to.ImportRuns(t.Context(), dir, schema.ImportOptions{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"no-time|1", "repeated-records|1", "stream-overlap|1", "work-before-launch|1"}
	if got := testkit.Rows(t, to, "SELECT kind, sum(item_count)::BIGINT FROM losses('x') GROUP BY 1 ORDER BY 1"); !slices.Equal(got, want) {
		t.Errorf("losses %q, want %q", got, want)
	}
	if got := testkit.Rows(t, to, "SELECT is_whole FROM conservation('x')"); !slices.Equal(got, []string{"false"}) {
		t.Errorf("the run is whole: %q", got)
	}
}
