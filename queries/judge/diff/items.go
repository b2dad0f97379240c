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

// items returns the parts of the stage's time by a dimension that they add up by, in the order in which they are added up, and what each has of both
// sides. Kernels and what took their place are one.
func (s *stagePair) items(by Dimension) ([]Item, []pair) {
	list := s.parts(by)
	moves := s.moves
	if by == ByGrid {
		moves = s.match(list)
	} else if by == ByFamily {
		moves = nil
	}
	unitsA, unitsB := s.a.units(s.tokens), s.b.units(s.tokens)
	perA, perB := perUnit(list, unitsA, unitsB)
	out := make([]Item, len(list))
	for i, p := range list {
		it := Item{Stage: s.name, Name: cmp.Or(p.key.name, p.key.class), Kind: p.key.kind, Grid: p.key.grid, Block: p.key.block, Unit: "ns",
			A: p.a.measure(unitsA, perA[i]), B: p.b.measure(unitsB, perB[i])}
		a, b := p.a, p.b
		if p.isTime() && s.both() {
			a, b = cmp.Or(a, &amount{}), cmp.Or(b, &amount{})
		}
		it.Status = pair{a: a, b: b}.status()
		for _, side := range []*amount{p.a, p.b} {
			if side != nil && side.family != "" {
				it.Family = side.family
			}
			if side != nil {
				it.role = cmp.Or(it.role, side.role)
			}
		}
		if by == ByFamily && it.Kind == "kernel" && it.Family != "" {
			it.Kind = "family"
		} else if by == ByGrid && it.Kind == "kernel" {
			it.Kind = "grid"
		}
		it.Delta = split(perA[i], perB[i], a, b, unitsA, unitsB)
		if s.both() { // times of both sides and the change are on one basis
			it.A.TypicalNs, it.B.TypicalNs = s.typical(s.a, p.a), s.typical(s.b, p.b)
			it.Typical = split(*it.A.TypicalNs, *it.B.TypicalNs, a.lasting(*it.A.TypicalNs*unitsA), b.lasting(*it.B.TypicalNs*unitsB), unitsA, unitsB)
		}
		if m, moved := moves[p.key]; moved {
			it.Status, it.Partner, it.How, it.group = Moved, m.partner, m.how, m.group
		}
		out[i] = it
	}
	return s.gather(out, list)
}

// parts returns what the stage's time is made of by a dimension: of the GPUs' work alone where that is what the stage is judged by.
func (s *stagePair) parts(by Dimension) []pair {
	list := s.fine
	if by != ByKernel {
		list = pairs(s.a, s.b, by)
	}
	return slices.DeleteFunc(slices.Clone(list), func(p pair) bool { return !p.counts(s.metric) })
}

// isTime reports whether the part is no work but a part of the time around it, of which there can be none.
func (p pair) isTime() bool {
	return p.key.kind == "idle" || p.key.kind == "overlap" || p.key.kind == "other"
}

// perUnit returns the times of both sides of each for one unit.
func perUnit(list []pair, unitsA, unitsB int64) (a, b []int64) {
	totalsA, totalsB := make([]int64, len(list)), make([]int64, len(list))
	for i, p := range list {
		if p.a != nil {
			totalsA[i] = p.a.tally.total
		}
		if p.b != nil {
			totalsB[i] = p.b.tally.total
		}
	}
	return shares(totalsA, unitsA), shares(totalsB, unitsB)
}

func (p pair) status() Status {
	switch {
	case p.a == nil:
		return New
	case p.b == nil:
		return Removed
	}
	return Both
}

func (a *amount) measure(units, perUnit int64) Measure {
	if a == nil {
		return Measure{}
	}
	m := a.tally.measure(units)
	m.PerUnitNs = perUnit
	return m
}

// samples returns what the part takes of each sample of its stage, for one unit.
func (s *stagePair) samples(x *stageSide, a *amount) []float64 {
	return x.values(s.level, func(i int) *float64 {
		if a == nil {
			return new(0.0)
		}
		return new(float64(a.in(i)) / float64(unitsIn(x.groups[i], s.tokens)))
	})
}

// typical is the centre of the samples of a part.
func (s *stagePair) typical(x *stageSide, a *amount) *int64 {
	return new(int64(math.Round(s.centre(s.samples(x, a)))))
}

// lasting is as many calls that take another time together.
func (a *amount) lasting(total int64) *amount {
	if a == nil {
		return nil
	}
	return &amount{tally: tally{calls: a.tally.calls, total: total}}
}

// byChange puts the largest change first.
func byChange(list []Item) {
	size := func(it Item) int64 { return max(it.Shown().Ns, -it.Shown().Ns) }
	slices.SortStableFunc(list, func(x, y Item) int {
		return cmp.Or(cmp.Compare(size(y), size(x)), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Grid, y.Grid), cmp.Compare(x.Block, y.Block))
	})
}

// restNouns name what the rows of a kind are, kernels and copies each together.
var restNouns = map[string]string{"kernel": "kernels", "moved": "kernels", "family": "families", "grid": "grids", "copy": "copies and fills", "fill": "copies and fills", "graph": "graphs",
	"idle": "idle causes", "operator": "operators", "node": "operators", "range": "ranges", "metric": "metrics"}

// isSame reports whether both sides have the same calls of an item, which take the same time.
func (it Item) isSame() bool {
	return it.Shown() != nil && it.Shown().Ns == 0 && it.A.Calls > 0 && it.A.PerUnitCalls == it.B.PerUnitCalls
}

// unchanged adds up the kernels that are certain not to change in one row, where there are several.
func unchanged(list []Item) []Item {
	var same, others []Item
	for _, it := range list {
		if slices.Contains([]string{"kernel", "family", "grid"}, it.Kind) && it.Status != Moved && (it.Verdict == NoChange || it.isSame()) {
			same = append(same, it)
		} else {
			others = append(others, it)
		}
	}
	if len(same) < 2 {
		return list
	}
	noun := restNouns[same[0].Kind]
	sum := rest(same, noun)
	sum.Name, sum.Verdict = fmt.Sprintf("%d %s unchanged", len(same), noun), NoChange
	return append(others, sum)
}

// Cut leaves the first items, and adds up the others, those of a kind in one more: a row of other kernels holds no idle time. One that is alone of its
// kind stays. Kernels without change are one row, the last.
func Cut(list []Item, top int) []Item {
	if top <= 0 {
		return members(list)
	}
	list = unchanged(list)
	if last := len(list) - 1; last >= 0 && list[last].Kind == "rest" {
		return append(cut(list[:last], top), list[last])
	}
	return cut(list, top)
}

func cut(list []Item, top int) []Item {
	if len(list) <= top+1 {
		return list
	}
	out := slices.Clone(list[:top])
	others := map[string][]Item{}
	for _, it := range list[top:] {
		noun := cmp.Or(restNouns[it.Kind], it.Kind)
		others[noun] = append(others[noun], it)
	}
	for _, it := range list[top:] { // the kind of the largest change first
		noun := cmp.Or(restNouns[it.Kind], it.Kind)
		if len(others[noun]) > 0 {
			out = append(out, rest(others[noun], noun))
		}
		delete(others, noun)
	}
	return out
}

// rest adds up items of a kind.
func rest(list []Item, noun string) Item {
	if len(list) == 1 {
		return list[0]
	}
	out := Item{Stage: list[0].Stage, Name: fmt.Sprintf("%d other %s", len(members(list)), noun), Kind: "rest", Unit: list[0].Unit, Status: Both}
	if slices.ContainsFunc(list, func(it Item) bool { return it.Delta == nil }) { // values of metrics do not add up
		return out
	}
	out.Delta = &Delta{}
	for _, it := range list {
		out.A.add(it.A)
		out.B.add(it.B)
		out.Delta.add(it.Delta)
		if it.Typical != nil {
			if out.Typical == nil {
				out.Typical = &Delta{}
			}
			out.Typical.add(it.Typical)
		}
	}
	return out
}

func (m *Measure) add(o Measure) {
	m.Calls += o.Calls
	m.TotalNs += o.TotalNs
	if o.TypicalNs != nil {
		if m.TypicalNs == nil {
			m.TypicalNs = new(int64)
		}
		*m.TypicalNs += *o.TypicalNs
	}
	m.PerUnitNs += o.PerUnitNs
	m.PerUnitCalls += o.PerUnitCalls
}

// asked is a dimension whose items a query tells of each run as a whole, warm-up and all: they are no parts of a stage's time.
type asked struct {
	query string
	args  frame.Args
	kind  string
	note  string
	read  func(f *frame.Frame, of func(name string) *amountRow) error
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
	sides, isLacking := [2]map[string]*amountRow{{}, {}}, false
	for i, run := range slices.Concat(r.A.Runs, r.B.Runs) {
		f, side, found := frames[i], sides[0], false
		if i >= len(r.A.Runs) {
			side = sides[1]
		}
		if err := dim.read(f, func(name string) *amountRow {
			if side[name] == nil {
				side[name] = &amountRow{}
			}
			side[name].rows++
			found = true
			return side[name]
		}); err != nil {
			return fmt.Errorf("run %s: %w", run.Name, err)
		}
		if !found { // what it did not record would be taken for gone or new
			isLacking = true
			r.Notes = append(r.Notes, fmt.Sprintf("run %s has nothing to compare by %s: %s", run.Name, r.Options.By, noRows(f)))
		}
		r.Queries = append(r.Queries, sourceOf(run.Name, f))
	}
	r.Queries = distinctSources(r.Queries)
	r.Notes = append(r.Notes, dim.note)
	if !isLacking {
		r.Items = Cut(r.otherItems(dim.kind, sides), r.Options.Top)
	}
	return nil
}

// noRows returns why there is nothing to compare in an answer.
func noRows(f *frame.Frame) string {
	switch {
	case len(f.Rows) > 0:
		return "its rows of " + f.Query + " have no GPU times"
	case len(f.Notes) > 0:
		return f.Notes[0]
	}
	return "query " + f.Query + " has no rows"
}

func (r *Result) otherItems(kind string, sides [2]map[string]*amountRow) []Item {
	names := namesIn(sides[0], sides[1])
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
	perA, perB := perUnit(list, unitsA, unitsB)
	out := make([]Item, len(names))
	for i, name := range names {
		a, b := sides[0][name], sides[1][name]
		it := Item{Stage: r.Options.Stage, Name: name, Kind: kind, Unit: cmp.Or(cmp.Or(a, b).unit, "ns"), Status: list[i].status(), A: a.measure(unitsA, perA[i]), B: b.measure(unitsB, perB[i])}
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

// operatorRow is one row of top-operators.
type operatorRow struct {
	Operator   string `col:"operator"`
	Calls      *int64 `col:"calls"`
	Captured   *int64 `col:"captured_calls"`
	SelfDevice *int64 `col:"self_device_ns"`
	Replay     *int64 `col:"replay_ns"`
}

// rangeRow is one row of ranges.
type rangeRow struct {
	Range     string   `col:"range"`
	Domain    string   `col:"domain"`
	Instances *int64   `col:"gpu_instances"`
	Total     *int64   `col:"gpu_span_total_ns"`
	Std       *float64 `col:"gpu_span_std_ns"`
	Min       *int64   `col:"gpu_span_min_ns"`
	Max       *int64   `col:"gpu_span_max_ns"`
}

// metricRow is one row of kernel-metrics.
type metricRow struct {
	Kernel string   `col:"kernel"`
	Grid   string   `col:"grid"`
	Block  string   `col:"block"`
	Metric string   `col:"metric"`
	Value  *float64 `col:"value"`
	Unit   string   `col:"unit"`
}

var (
	operatorRows = frame.RowsOf[operatorRow]("top-operators")
	rangeRows    = frame.RowsOf[rangeRow]("ranges")
	metricRows   = frame.RowsOf[metricRow]("kernel-metrics")
)

func readOperators(f *frame.Frame, of func(string) *amountRow) error {
	rows, err := operatorRows.Of(f)
	for _, r := range rows {
		if r.SelfDevice == nil {
			continue // what it took on GPUs is not known
		}
		x := of(r.Operator)
		x.amount.tally.total += *r.SelfDevice
		x.amount.tally.calls += frame.Or(r.Calls, 0) - frame.Or(r.Captured, 0) // work outside operators has none
		if x.replayed = x.replayed || frame.Or(r.Replay, 0) != 0; x.replayed {
			x.amount.tally.calls = 0
		}
	}
	return err
}

func readRanges(f *frame.Frame, of func(string) *amountRow) error {
	rows, err := rangeRows.Of(f)
	for _, r := range rows {
		if r.Instances == nil || *r.Instances == 0 || r.Total == nil {
			continue
		}
		name := r.Range
		if r.Domain != "" {
			name = r.Domain + ":" + name
		}
		x := of(name)
		x.amount.tally.calls += *r.Instances
		x.amount.tally.total += *r.Total
		x.std, x.least, x.most = r.Std, r.Min, r.Max
	}
	return err
}

func readMetrics(f *frame.Frame, of func(string) *amountRow) error {
	rows, err := metricRows.Of(f)
	for _, r := range rows {
		if r.Value == nil {
			continue
		}
		x := of(r.Metric + " of " + r.Kernel + ", grid " + r.Grid + ", block " + r.Block) // of other grids it is of other work
		x.amount.tally.calls++
		x.sum, x.values, x.unit = x.sum+*r.Value, x.values+1, cmp.Or(r.Unit, "value")
	}
	return err
}
