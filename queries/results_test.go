package queries_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// utilised is a run whose model and tokens are known.
const utilised = "utilised"

// TestResults runs every query on every capture and holds what is true of all results.
func TestResults(t *testing.T) {
	t.Parallel()
	w := everything(t)
	load(t, w, utilised, llamaCapture, llamaWorkload)
	each := func(name string, threads int, check func(t *testing.T, q queries.Query)) {
		if _, err := w.DB.Exec(fmt.Sprintf("SET threads = %d", threads)); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { // until all are done
			for _, q := range allQueries(t) {
				if !q.Scalar {
					t.Run(q.Relation(), func(t *testing.T) {
						t.Parallel()
						check(t, q)
					})
				}
			}
		})
	}
	var answers sync.Map
	each("values", 4, func(t *testing.T, q queries.Query) { checkQuery(t, w, q, &answers) })
	each("order", 1, func(t *testing.T, q queries.Query) { checkOrder(t, w, q, &answers) })
}

// some are runs of every kind: a timeline with graphs, kernels profiled by ncu, one of PyTorch, one with a model and its passes.
var some = []string{"llama-graph-node", "profiled", "train-stack", utilised}

// runsOf are the runs that a query is tried on. A version that a newer one has taken the place of is frozen: what it gave it gives, and
// what it says of runs that are not there was held when it was the newest. A private one is tried by the public ones that are built on it
// too. Where none of these runs has a row of it, the others are tried.
func runsOf(q queries.Query) []string {
	switch {
	case !q.TakesRun():
		return shipped[:1]
	case q.Version < newest()[q.Name], q.Private:
		return some[:2]
	}
	return append(slices.Clone(some), "nccl2", "cpu")
}

// newest gives the last version of each query.
var newest = sync.OnceValue(func() map[string]int {
	out := map[string]int{}
	all, err := queries.All()
	if err != nil {
		panic(err)
	}
	for _, q := range all {
		out[q.Name] = max(out[q.Name], q.Version)
	}
	return out
})

// elsewhere are queries that give no row of the captures here, and the tests that hold them.
var elsewhere = map[string]string{"gpu-metrics": "TestTwoTimelines", "stage-notes": "TestTwoTimelines", "library-calls": "TestTwoTimelines", "_caveat-flop": "TestFP16Apart",
	"_caveat-peak": "TestUnknownDevice", "_annotation": "TestAnnotations",
	"captures": "TestCapture", "capture-passes": "TestCapture", "overhead": "TestCapture", "device-samples": "TestCapture", "device-use": "TestCapture", "throttling": "TestCapture", "sample-series": "TestSampleSeries",
	"_caveat-plan": "TestPlan", "_finding-throttling": "TestFindings", "inputs": "TestRunDetails",
	"stage-samples": "TestFacts", "pass-work": "TestFacts",
	"trend": "TestTrendRows", "trend-work": "TestTrendRows", "run-noise": "TestRunNoise", "run-conditions": "TestConditions", "_condition-sample": "TestConditions", "_condition-precision": "TestConditionsOfWork"}

// checkQuery keeps the answers by statement.
func checkQuery(t *testing.T, w *schema.Warehouse, q queries.Query, answers *sync.Map) {
	runs := runsOf(q)
	checkColumns(t, w, q, statement(q, runs[0]))
	found := 0
	for _, run := range runs {
		f := checkResult(t, w, q, run)
		answers.Store(statement(q, run), asText(f))
		found += len(f.Rows)
	}
	for _, run := range slices.Concat(some, shipped, different) { // a private one may have rows of few runs
		if found == 0 && elsewhere[q.Name] == "" && q.TakesRun() && !slices.Contains(runs, run) {
			found += len(checkResult(t, w, q, run).Rows)
		}
	}
	if found == 0 && elsewhere[q.Name] == "" {
		t.Errorf("%s gives no row of any capture: it is not tested", q.Name)
	}
	if !q.TakesRun() || q.Version < newest()[q.Name] {
		return
	}
	if got := rows(t, w, statement(q, "01890000-0000-7000-8000-000000000000")); len(got) > 0 {
		t.Errorf("%s gives rows of a run that is not there: %q", q.Name, got)
	}
	if _, err := raw(t, w, statement(q, "no such run")); found > 0 && (err == nil) != (q.Name == "_run-ref") {
		t.Errorf("%s of a name that no run has: %v", q.Name, err)
	}
}

func checkResult(t *testing.T, w *schema.Warehouse, q queries.Query, run string) *frame.Frame {
	t.Helper()
	stmt := statement(q, run)
	f, err := raw(t, w, stmt)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	checkValues(t, stmt, f)
	checkKey(t, stmt, q, f)
	return f
}

func checkColumns(t *testing.T, w *schema.Warehouse, q queries.Query, stmt string) {
	t.Helper()
	described, err := raw(t, w, "DESCRIBE "+stmt)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	var got, want []string
	for _, r := range described.Rows {
		got = append(got, r[0].(string))
		kind := r[1].(string)
		if !slices.Contains([]string{"VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN", "TIMESTAMP", "UUID"}, kind) {
			t.Errorf("%s: %s is a %s", q.Relation(), r[0], kind)
		}
		if slices.Contains([]string{"BIGINT", "INTEGER", "DOUBLE"}, kind) && frame.UnitOf(r[0].(string)) == frame.None &&
			!strings.HasSuffix(r[0].(string), "_id") && !slices.Contains(plain, r[0].(string)) {
			t.Errorf("%s: %s is a number without a unit", q.Relation(), r[0])
		}
	}
	for _, c := range q.Columns {
		want = append(want, c[0])
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s gives the columns %q; its header says %q", q.Relation(), got, want)
	}
}

func checkValues(t *testing.T, stmt string, f *frame.Frame) {
	t.Helper()
	for _, r := range f.Rows {
		for i, c := range f.Columns {
			v, isFloat := r[i].(float64)
			if n, ok := r[i].(int64); ok {
				v = float64(n)
			} else if !isFloat {
				continue
			}
			if c.Unit == frame.Ratio && (v < 0 || v > 1+1e-12) || c.Unit != frame.None && v < 0 && !strings.Contains(c.Name, "_net_") || v != v {
				t.Errorf("%s: %s is %v in %.300v", stmt, c.Name, v, r)
			}
		}
	}
}

// checkKey holds that the columns named as key identify a row.
func checkKey(t *testing.T, stmt string, q queries.Query, f *frame.Frame) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range f.Rows {
		var key []any
		for _, name := range strings.Split(q.Key, ", ") {
			if at := f.Index(name); at >= 0 {
				key = append(key, r[at])
			} else if len(f.Rows) > 1 {
				t.Fatalf("%s: its key %s is no column of it", q.Relation(), name)
			}
		}
		if k := fmt.Sprintf("%#v", key); seen[k] {
			t.Errorf("%s gives two rows of the key %s", stmt, k)
		} else {
			seen[k] = true
		}
	}
}

// checkOrder holds that the order is total, so that the number of threads does not show, and that the plain name gives what the
// newest version gives.
func checkOrder(t *testing.T, w *schema.Warehouse, q queries.Query, answers *sync.Map) {
	if q.Private {
		return
	}
	newest, err := queries.Find(q.Name)
	if err != nil {
		t.Fatal(err)
	}
	runs := some
	switch {
	case !q.TakesRun():
		runs = runsOf(q)
	case q.Version < newest.Version:
		runs = some[:2]
	}
	for _, run := range runs {
		stmt := statement(q, run)
		kept, ok := answers.Load(stmt)
		if !ok { // its own failure is told
			continue
		}
		before, alias := kept.([]string), stmt
		if newest.Version == q.Version {
			alias = strings.Replace(stmt, q.Relation(), strings.TrimSuffix(q.Relation(), fmt.Sprintf("_v%d", q.Version)), 1)
		}
		if now := rows(t, w, alias); !slices.Equal(now, before) {
			at := 0
			for at < min(len(now), len(before)) && now[at] == before[at] {
				at++
			}
			t.Errorf("%s with one thread gives %d rows, not %d, or others or in another order from row %d on", alias, len(now), len(before), at+1)
		}
	}
}
