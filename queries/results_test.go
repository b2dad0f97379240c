package queries_test

import (
	"database/sql"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/ingest/derive"
	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// utilised is a run whose model and tokens are known.
const utilised = "utilised"

// TestResults asks every public query of captures of every kind and holds what is true of all results. Each is planned once. The private ones
// are asked by the public ones that are built on them; here their columns are those of their headers.
func TestResults(t *testing.T) {
	t.Parallel()
	w, err := schema.Open(t.Context(), testkit.All(t).Home, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, AsIs: true}) // with a number of threads of its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	runs := map[string]string{}
	for _, r := range testkit.Captures {
		runs[r.Name] = testkit.RunID(r.Name)
	}
	testkit.Exec(t, w, "SET threads = 1")
	var prepared []*preparedQuery
	for _, q := range allQueries(t) {
		if q.Private {
			checkPrivate(t, w, q)
		} else if !q.Scalar {
			prepared = append(prepared, prepare(t, w, q))
		}
	}
	enough := 1
	if *sample.Whole {
		enough = 2
	}
	t.Run("values", func(t *testing.T) { // until all are done
		for _, p := range prepared {
			t.Run(p.Relation(), func(t *testing.T) {
				t.Parallel()
				p.check(t, runs, enough)
			})
		}
	})
	testkit.Exec(t, w, "SET threads = 4")
	for _, p := range sample.Of(prepared, 3) {
		p.checkOrder(t, runs)
		p.checkUnknown(t)
	}
}

// some are runs of every kind: two GPUs, one of PyTorch, no device work, kernels profiled by ncu, a timeline with graphs, a model and its passes.
// A query that has rows of one, or of two with -whole, is asked of no more: the ledger holds the answers of all captures, and keys and ranges of what is in them.
var some = []string{"nccl2", "train-stack", "torch-cpu", "profiled", utilised}

// others are runs that are asked what those have no row of: a capture of prof's own, benchmarks, figures of other tools, samples of Python, inputs, graphs, sums, source lines, PM samples.
var others = []string{"eager", "serving-aiperf", "first", "nsys-stacks", "repeats", "variants-graph", "variants-node", "torch-graph", "kernels", "nccl2-stats", "ncu-lines", "ncu-samples"}

// elsewhere are queries that give no row of the captures here, and the tests that hold them.
var elsewhere = map[string]string{"gpu-metrics": "TestTwoTimelines", "stage-notes": "TestTwoTimelines", "library-calls": "TestTwoTimelines", "serving-noise": "TestServingNoise", "input-stages": "TestInputStages", "input-times": "TestInputTimes",
	"kept-files": "internal/cli TestCaptureKeep", "suite": "internal/cli TestSuite", "timeline-agreement": "TestTimelineMatch", "ncu-rule-tables": "TestRuleTables"}

// preparedQuery is a query on a connection of its own, with its longest answer and the run that it is of.
type preparedQuery struct {
	queries.Query
	stmt    *sql.Stmt
	run     string
	longest []string
}

// checkPrivate holds the columns of a private query, which are read by name, to its header.
func checkPrivate(t *testing.T, w *schema.Warehouse, q queries.Query) {
	t.Helper()
	if q.Scalar {
		return
	}
	arg := ""
	switch {
	case q.TakesRun() || q.Name == "_run-ref":
		arg = "(NULL)"
	case q.Name == "_caveat-left":
		arg = "('gap', [{'scope': 'outside', 'is_left': true, 'item_count': 1, 'time_ns': 1}])"
	case len(q.Params) > 0:
		arg = "()"
	}
	var want []string
	for _, c := range q.Columns {
		want = append(want, c[0])
	}
	got := testkit.Rows(t, w, "SELECT column_name FROM (DESCRIBE FROM "+q.Relation()+arg+")")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s gives the columns %q; its header says %q", q.Relation(), got, want)
	}
}

func prepare(t *testing.T, w *schema.Warehouse, q queries.Query) *preparedQuery {
	t.Helper()
	conn, err := w.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	text := "FROM " + q.Relation()
	if q.TakesRun() {
		text += "(?::UUID)"
	} else if len(q.Params) > 0 {
		text += "()"
	}
	stmt, err := conn.PrepareContext(t.Context(), text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return &preparedQuery{Query: q, stmt: stmt}
}

func (p *preparedQuery) ask(t *testing.T, id string) (*frame.Frame, []*sql.ColumnType) {
	t.Helper()
	var args []any
	if p.TakesRun() {
		args = append(args, id)
	}
	rows, err := p.stmt.QueryContext(t.Context(), args...)
	if err != nil {
		t.Fatalf("%s of run %s: %v", p.Relation(), id, err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	f, err := queries.Scan(rows, math.MaxInt)
	if err != nil {
		t.Fatalf("%s of run %s: %v", p.Relation(), id, err)
	}
	return f, types
}

func (p *preparedQuery) check(t *testing.T, runs map[string]string, enough int) {
	asked, answered := some, 0
	if !p.TakesRun() {
		asked = some[:1]
	}
	for i, run := range slices.Concat(asked, others) {
		if answered == enough || i >= len(asked) && (answered > 0 || elsewhere[p.Name] != "" || !p.TakesRun()) {
			break
		}
		f, types := p.ask(t, runs[run])
		if i == 0 {
			p.checkColumns(t, types)
		}
		if i < len(asked) && len(f.Rows) > len(p.longest) {
			p.run, p.longest = run, asText(f)
		}
		if len(f.Rows) > 0 {
			answered++
		}
	}
	if answered == 0 && elsewhere[p.Name] == "" {
		t.Errorf("%s gives no row of any capture: it is not tested", p.Name)
	}
}

func (p *preparedQuery) checkUnknown(t *testing.T) {
	t.Helper()
	if p.TakesRun() {
		if f, _ := p.ask(t, "01890000-0000-7000-8000-000000000000"); len(f.Rows) > 0 {
			t.Errorf("%s gives rows of a run that is not there: %v", p.Name, f.Rows)
		}
	}
}

// checkColumns holds columns to the query's header and to the types and units that readers know.
func (p *preparedQuery) checkColumns(t *testing.T, types []*sql.ColumnType) {
	t.Helper()
	var got, want []string
	for _, c := range types {
		name, kind := c.Name(), c.DatabaseTypeName()
		got = append(got, name)
		if !slices.Contains([]string{"VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN", "TIMESTAMP", "UUID"}, kind) {
			t.Errorf("%s: %s is a %s", p.Relation(), name, kind)
		}
		if slices.Contains([]string{"BIGINT", "INTEGER", "DOUBLE"}, kind) && frame.UnitOf(name) == frame.None && !strings.HasSuffix(name, "_id") && !slices.Contains(plain, name) {
			t.Errorf("%s: %s is a number without a unit", p.Relation(), name)
		}
	}
	for _, c := range p.Columns {
		want = append(want, c[0])
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s gives the columns %q; its header says %q", p.Relation(), got, want)
	}
}

// checkOrder holds that the order is total, so that the number of threads does not show.
func (p *preparedQuery) checkOrder(t *testing.T, runs map[string]string) {
	t.Helper()
	if len(p.longest) < 2 {
		return
	}
	f, _ := p.ask(t, runs[p.run])
	if now := asText(f); !slices.Equal(now, p.longest) {
		at := 0
		for at < min(len(now), len(p.longest)) && now[at] == p.longest[at] {
			at++
		}
		t.Errorf("%s of %s with four threads gives %d rows, not %d, or others or in another order from row %d on", p.Name, p.run, len(now), len(p.longest), at+1)
	}
}
