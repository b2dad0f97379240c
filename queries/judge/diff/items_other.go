package diff

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"prof/queries/frame"
)

// asked is a dimension whose items a query tells of each run as a whole, warm-up and all: they are no parts of a stage's time.
type asked struct {
	query string
	args  frame.Args
	kind  string
	note  string
	read  func(t *table, of func(name string) *amountRow)
}

// amountRow is what the runs of a side have of such an item.
type amountRow struct {
	amount amount
	sum    float64 // of values of a metric
	values int64
	unit   string
	rows   int64 // of the query: where several add up, the spread of single calls is not known
	// replayed says that graph replays, which are no calls, are in the time: calls would neither explain nor divide it.
	replayed bool
	std      *float64
	least    *int64
	most     *int64
}

var askedBy = map[Dimension]asked{
	ByOperator: {"top-operators", frame.Args{"top": "0"}, "operator", "operators, and work outside them, by self device time over the whole run, warm-up included; graph replays belong to no call", readOperators},
	ByRange:    {"ranges", frame.Args{"top": "0"}, "range", "ranges with device work, by GPU span over the whole run, warm-up included", readRanges},
	ByMetric:   {"kernel-metrics", frame.Args{}, "metric", "metrics by their mean over the profiled launches of a kernel with equal grid and block", readMetrics},
}

// askItems fills in the items of such a dimension.
func (r *Result) askItems(ctx context.Context, asker frame.Asker) error {
	dim := askedBy[r.Options.By]
	var list []frame.Question
	for _, run := range slices.Concat(r.A.Runs, r.B.Runs) {
		args := maps.Clone(dim.args)
		args["run"] = run.Name
		if r.Options.Stage != "" && r.Options.By != ByRange {
			args["stage"] = r.Options.Stage
		}
		list = append(list, frame.Question{Query: dim.query, Args: args, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, list)
	if err != nil {
		return err
	}
	sides := [2]map[string]*amountRow{{}, {}}
	for i, f := range frames {
		side, run := sides[0], ""
		if i >= len(r.A.Runs) {
			side, run = sides[1], r.B.Runs[i-len(r.A.Runs)].Name
		} else {
			run = r.A.Runs[i].Name
		}
		t := &table{f: f}
		for t.next() {
			dim.read(t, func(name string) *amountRow {
				if side[name] == nil {
					side[name] = &amountRow{}
				}
				side[name].rows++
				return side[name]
			})
		}
		if t.err != nil {
			return fmt.Errorf("run %s: %w", run, t.err)
		}
		if len(f.Rows) == 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("run %s has no rows by %s: %s", run, r.Options.By, noRows(f)))
		}
		r.Queries = append(r.Queries, sourceOf(run, f))
	}
	r.Queries = distinctSources(r.Queries)
	r.Notes = append(r.Notes, dim.note)
	r.Items = Cut(r.otherItems(dim.kind, sides), r.Options.Top)
	return nil
}

func noRows(f *frame.Frame) string {
	if len(f.Notes) > 0 {
		return f.Notes[0]
	}
	return "query " + f.Query + " has no rows"
}

func (r *Result) otherItems(kind string, sides [2]map[string]*amountRow) []Item {
	names := slices.Collect(maps.Keys(sides[0]))
	for name := range sides[1] {
		if sides[0][name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	unitsA, unitsB := int64(len(r.A.Runs)), int64(len(r.B.Runs))
	list := make([]pair, len(names))
	for i, name := range names {
		if a := sides[0][name]; a != nil {
			list[i].a = &a.amount
		}
		if b := sides[1][name]; b != nil {
			list[i].b = &b.amount
		}
	}
	perA, perB := shares(totals(list, func(p pair) *amount { return p.a }), unitsA), shares(totals(list, func(p pair) *amount { return p.b }), unitsB)
	out := make([]Item, len(names))
	for i, name := range names {
		a, b := sides[0][name], sides[1][name]
		it := Item{Stage: r.Options.Stage, Name: name, Kind: kind, Unit: cmp.Or(cmp.Or(a, b).unit, "ns"), Status: Both, A: a.measure(unitsA, perA[i]), B: b.measure(unitsB, perB[i])}
		switch {
		case a == nil:
			it.Status = New
		case b == nil:
			it.Status = Removed
		}
		if kind != "metric" {
			it.Delta = split(perA[i], perB[i], list[i].a, list[i].b, unitsA, unitsB)
		}
		out[i] = it
	}
	slices.SortStableFunc(out, func(x, y Item) int { return cmp.Compare(y.change(), x.change()) })
	return out
}

// change is the size of an item's change: of a time in ns, of a metric as the logarithm of its ratio. Metrics of one side go last.
func (it Item) change() float64 {
	if it.Delta != nil {
		return math.Abs(float64(it.Delta.Ns))
	}
	if it.A.Value == nil || it.B.Value == nil {
		return -1
	}
	a, b := math.Abs(*it.A.Value), math.Abs(*it.B.Value)
	switch {
	case *it.A.Value == *it.B.Value:
		return 0
	case a == 0 || b == 0:
		return math.MaxFloat64
	}
	return math.Abs(math.Log(b / a))
}

func (x *amountRow) measure(units, perUnit int64) Measure {
	if x == nil {
		return Measure{}
	}
	m := Measure{Calls: x.amount.tally.calls, TotalNs: x.amount.tally.total, PerUnitNs: perUnit, PerUnitCalls: float64(x.amount.tally.calls) / float64(units)}
	if x.values > 0 {
		m.Value = new(x.sum / float64(x.values))
		return m
	}
	if m.Calls > 0 {
		m.MeanNs = new(x.amount.tally.mean())
	}
	if x.rows == 1 {
		m.StdNs, m.MinNs, m.MaxNs = x.std, x.least, x.most
	}
	return m
}

func readOperators(t *table, of func(string) *amountRow) {
	x := of(t.text("operator"))
	x.amount.tally.total += t.count("self_device_ns")
	x.amount.tally.calls += t.count("calls") - t.count("captured_calls")
	if x.replayed = x.replayed || t.count("replay_ns") != 0; x.replayed {
		x.amount.tally.calls = 0
	}
}

func readRanges(t *table, of func(string) *amountRow) {
	if t.count("gpu_instances") == 0 {
		return
	}
	name := t.text("range")
	if domain := t.text("domain"); domain != "" {
		name = domain + ":" + name
	}
	x := of(name)
	x.amount.tally.calls += t.count("gpu_instances")
	x.amount.tally.total += t.count("gpu_span_total_ns")
	x.std, x.least, x.most = t.amount("gpu_span_std_ns"), t.whole("gpu_span_min_ns"), t.whole("gpu_span_max_ns")
}

func readMetrics(t *table, of func(string) *amountRow) {
	v := t.amount("value")
	if v == nil {
		return
	}
	x := of(t.text("metric") + " of " + t.text("kernel") + ", grid " + t.text("grid") + ", block " + t.text("block")) // of other grids it is of other work
	x.amount.tally.calls++
	x.sum, x.values, x.unit = x.sum+*v, x.values+1, cmp.Or(t.text("unit"), "value")
}
