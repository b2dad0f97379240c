package diff

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/tree"
)

// nodeRow is one row of operator-nodes.
type nodeRow struct {
	Stage     string `col:"stage"`
	Unit      string `col:"unit"`
	Step      string `col:"step"`
	IsWarmup  bool   `col:"is_warmup"`
	Module    string `col:"module"`
	Operators string `col:"operators"`
	Shapes    string `col:"shapes"`
	Types     string `col:"types"`
	Kernel    string `col:"kernel"`
	Works     int64  `col:"work_count"`
	Total     int64  `col:"total_ns"`
	First     int64  `col:"first_ns"`
	UnitCount int64  `col:"unit_count"`
	Units     string `col:"units,optional"`
}

var nodeRows = frame.RowsOf[nodeRow]("operator-nodes")

// stageTree is what a side did in one stage.
type stageTree struct {
	calls *tree.Tree
	works []*amount  // of the leaves of calls
	units int64      // passes or steps, over all runs of the side
	found *stageSide // those of them in which work was seen
}

func newStageTree() *stageTree { return &stageTree{calls: tree.New(), found: newStageSide()} }

// treesOf returns the trees of a side by stage. Steps are compared where both sides have some, else all work outside of
// passes, and modules likewise.
func treesOf(runs [][]nodeRow, is recorded) (map[string]*stageTree, error) {
	out := map[string]*stageTree{}
	for run, rows := range runs {
		kinds := map[string]bool{} // of steps
		for _, r := range rows {
			if r.Unit == "step" {
				kinds[r.Step] = true
			}
		}
		seen := map[string]bool{}
		for i, r := range rows {
			stage, isWarmup := r.Stage, r.IsWarmup
			if r.Unit == "step" {
				stage = stepName(r.Step, kinds)
				if !is.steps {
					stage, isWarmup = outside, false
				}
			}
			if isWarmup {
				continue
			}
			side := out[stage]
			if side == nil {
				side = newStageTree()
				out[stage] = side
			}
			if !seen[stage] {
				seen[stage] = true
				side.units += r.UnitCount
			}
			if err := side.found.addUnits(side.add(r, is.modules), run, r.Units, stage == outside); err != nil {
				return nil, fmt.Errorf("query %s, row %d: %w", nodeRows.Query, i+1, err)
			}
		}
	}
	for stage, side := range out {
		if stage == outside { // times are of a run, or of a repeat of one
			side.units = int64(len(side.found.groups))
		}
	}
	return out, nil
}

// addUnits puts into an amount what it has of each pass or step of a run: lists of repeat, number and ns, as JSON. Of work outside of those the
// repeat alone counts.
func (s *stageSide) addUnits(to *amount, run int, list string, isOutside bool) error {
	var units [][3]int64
	if err := json.Unmarshal([]byte(list), &units); err != nil {
		return fmt.Errorf("units are not lists of three numbers: %w", err)
	}
	for _, u := range units {
		key := groupKey{run, u[0], u[1]}
		if isOutside {
			key.number = 1
		}
		i, known := s.index[key]
		if !known {
			i = len(s.groups)
			s.index[key] = i
			s.groups = append(s.groups, group{run: run, repeat: key.repeat, number: key.number})
		}
		to.addGroup(i, 0, u[2])
	}
	return nil
}

// add puts the work of a row where its modules and operators say, and gives what it is part of.
func (s *stageTree) add(r nodeRow, hasModules bool) *amount {
	shapes := oneLine(r.Shapes)
	row := tree.Row{Operators: r.Operators, Inputs: shapes + " " + oneLine(r.Types), Shapes: shapes, Kernel: r.Kernel, First: r.First}
	if hasModules {
		row.Modules = r.Module
	}
	leaf := s.calls.Add(row)
	if leaf == len(s.works) {
		s.works = append(s.works, &amount{})
	}
	to := s.works[leaf]
	to.tally.calls += r.Works
	to.tally.total += r.Total
	return to
}

// work adds up leaves; nil of none.
func (s *stageTree) work(w *tree.Work) *amount {
	if w == nil {
		return nil
	}
	out := &amount{}
	for _, leaf := range w.Leaves {
		out.merge(s.works[leaf])
	}
	return out
}

// oneLine writes JSON as PyTorch does: traces that were formatted anew have other spaces.
func oneLine(text string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return text
	}
	return strings.ReplaceAll(out.String(), ",", ", ")
}

// nodes are the answers of operator-nodes for the runs of both sides.
type nodes struct {
	runs    [][]nodeRow
	sources []Source
	is      [2]recorded
}

// loadNodes asks for the operators of the runs of both sides. Compared by kernel, those of B are not asked for where A has none to compare: planning
// the query is a tenth of the work of comparing two small runs.
func loadNodes(ctx context.Context, asker frame.Asker, a, b []Run, o Options) (nodes, error) {
	var out nodes
	for side, runs := range [][]Run{a, b} {
		if err := out.load(ctx, asker, runs, &out.is[side], o.Stage); err != nil {
			return nodes{}, err
		}
		if o.By == ByKernel && !out.is[side].inputs {
			break
		}
	}
	return out, nil
}

// load asks for the operators of the runs of a side.
func (n *nodes) load(ctx context.Context, asker frame.Asker, runs []Run, is *recorded, stage string) error {
	var list []frame.Question
	for _, run := range runs {
		args := frame.Args{"run": run.ID, "with_units": "true"}
		if stage != "" && !isSteps(stage) {
			args["stage"] = stage
		}
		list = append(list, frame.Question{Query: "operator-nodes", Args: args, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, list)
	if err != nil {
		return err
	}
	for i, f := range frames {
		rows, err := nodeRows.Of(f)
		if err != nil {
			return fmt.Errorf("run %s: %w", runs[i].Name, err)
		}
		for _, r := range rows {
			is.steps = is.steps || r.Unit == "step" && !r.IsWarmup
			is.modules = is.modules || r.Module != ""
			is.operators = is.operators || !strings.HasPrefix(r.Operators, "(")
			is.inputs = is.inputs || r.Shapes != ""
		}
		n.runs, n.sources = append(n.runs, rows), append(n.sources, sourceOf(runs[i].Name, f))
	}
	return nil
}

// byTree fills in the items of the trees of operators.
func (r *Result) byTree(n nodes) error {
	r.Queries = distinctSources(append(r.Queries, n.sources...))
	r.noteRecorded(n.is)
	if !n.is[0].operators || !n.is[1].operators {
		return nil
	}
	r.noteTokens()
	stages, err := r.align(n, !r.Options.Unfold)
	for _, s := range stages {
		if s.note != "" {
			r.Notes = append(r.Notes, s.note)
		}
		byChange(s.items)
		r.Items = append(r.Items, Cut(s.items, r.Options.Top)...)
	}
	return err
}

// mostOperators is how many operators a comparison by other things shows, at most.
const mostOperators = 5

// byOperators fills in the operators that changed most, where both sides have some with inputs: layers together.
func (r *Result) byOperators(n nodes) error {
	if r.Same || !n.is[0].inputs || !n.is[1].inputs {
		return nil
	}
	stages, err := r.align(n, true)
	if err != nil {
		return err
	}
	weight := map[int]int64{} // ns that the measured passes of A would take more or less, of Operators
	var found []Item
	for _, s := range stages {
		var whole int64
		for _, it := range s.items {
			whole += it.A.PerUnitNs
		}
		for _, it := range s.items {
			change := max(it.Delta.Ns, -it.Delta.Ns)
			if s.isOther || s.name == outside || it.Verdict == NoChange || change == 0 || float64(change) < leastShare*float64(whole) {
				continue
			}
			weight[len(found)] = change * s.a.units
			found = append(found, it)
		}
	}
	order := slices.SortedStableFunc(maps.Keys(weight), func(x, y int) int { return cmp.Or(cmp.Compare(weight[y], weight[x]), cmp.Compare(x, y)) })
	order = order[:min(len(order), mostOperators)]
	for _, s := range stages {
		for _, at := range order {
			if found[at].Stage == s.name {
				r.Operators = append(r.Operators, found[at])
			}
		}
	}
	if len(r.Operators) > 0 {
		r.Queries = distinctSources(append(r.Queries, n.sources...))
	}
	return nil
}

// noteRecorded says what the captures of a side lack.
func (r *Result) noteRecorded(is [2]recorded) {
	for i, side := range []Side{r.A, r.B} {
		if !is[i].operators {
			r.Notes = append(r.Notes, fmt.Sprintf("%s has no operators with device work to align: they come from traces of the PyTorch profiler, or from nsys with emit_nvtx", side.Label))
		} else if !is[i].modules && is[1-i].modules {
			r.Notes = append(r.Notes, fmt.Sprintf("%s recorded no modules: operators are aligned without them; with_stack=True records them", side.Label))
		}
	}
}

// noteTokens says where times of a pass are those of other work.
func (r *Result) noteTokens() {
	for _, s := range r.Stages {
		if s.Unit != PerToken || s.A.Passes == 0 || s.B.Passes == 0 {
			continue
		}
		tokens := func(side StageSide) float64 { return float64(side.Units) / float64(side.Passes) }
		r.Notes = append(r.Notes, fmt.Sprintf("operators of %s are compared per pass, of %.4g tokens in A and %.4g in B: a change may come from that", s.Name, tokens(s.A), tokens(s.B)))
	}
}

// mostOfNodes is the share of the time of matched operators from which on they show by how often they are called that passes do another amount of work.
const mostOfNodes = 0.8

// otherAmount says that the passes or steps of a stage do another amount of work: most operators with the same inputs are called that many times as
// often, as in a generation of fewer tokens.
func otherAmount(stage string, items []Item) string {
	if stage == outside {
		return ""
	}
	timeBy, all := map[string]int64{}, int64(0)
	for _, i := range items {
		if i.Status == Both && (i.How == "" || i.How == tree.OtherKernels) && i.A.PerUnitCalls > 0 {
			timeBy[fmt.Sprintf("%.2f", i.B.PerUnitCalls/i.A.PerUnitCalls)] += i.A.PerUnitNs
			all += i.A.PerUnitNs
		}
	}
	for ratio, time := range timeBy {
		if ratio != "1.00" && float64(time) >= mostOfNodes*float64(all) {
			return fmt.Sprintf("operators%s launch %s times as much in B as in A with the same inputs: B does another amount of work, such as other numbers of tokens", ofStage(stage), ratio)
		}
	}
	return ""
}

func ofStage(stage string) string {
	if stage == "" {
		return ""
	}
	return " of " + stage
}

// recorded is what captures have that can be aligned.
type recorded struct{ operators, inputs, modules, steps bool }

// treeStage is the comparison of the operators of a stage.
type treeStage struct {
	name    string
	a, b    *stageTree
	items   []Item // which add up
	note    string
	isOther bool // A and B do other amounts of work: times are not judged
}

// align aligns the trees of the sides, and makes and judges items of them: one of what is the same in several instances of modules, if those are folded.
func (r *Result) align(n nodes, isFolded bool) ([]treeStage, error) {
	is := recorded{steps: n.is[0].steps && n.is[1].steps, modules: n.is[0].modules && n.is[1].modules}
	a, err := treesOf(n.runs[:len(r.A.Runs)], is)
	if err != nil {
		return nil, err
	}
	b, err := treesOf(n.runs[len(r.A.Runs):], is)
	if err != nil {
		return nil, err
	}
	if len(a) < 2 && len(b) < 2 && (a[outside] != nil || len(a) == 0) && (b[outside] != nil || len(b) == 0) { // there are no stages to be outside of
		whole := func(side map[string]*stageTree) map[string]*stageTree {
			if side[outside] == nil {
				return nil
			}
			return map[string]*stageTree{"": side[outside]}
		}
		a, b = whole(a), whole(b)
	}
	stages := namesIn(a, b)
	if at := slices.Index(stages, outside); at >= 0 { // it comes last
		stages = append(slices.Delete(stages, at, at+1), outside)
	}
	c := &comparer{options: r.Options}
	var out []treeStage
	var judged [][]Item
	var parts [][]pair
	for _, name := range stages {
		if isSteps(r.Options.Stage) && name != r.Options.Stage {
			continue
		}
		s := treeStage{name: name, a: cmp.Or(a[name], newStageTree()), b: cmp.Or(b[name], newStageTree())}
		s.a.found.oneOf, s.b.found.oneOf = r.processes[0], r.processes[1]
		of := s.fill(tree.Align(s.a.calls, s.b.calls, isFolded))
		if s.isOther = slices.ContainsFunc(r.Stages, func(s Stage) bool { return s.Name == name && s.Unit == PerToken }); !s.isOther { // said by tokens
			s.note = otherAmount(name, s.items)
			s.isOther = s.note != ""
		}
		out = append(out, s)
		if !s.isOther && s.a.isWhole() && s.b.isWhole() {
			c.stages = append(c.stages, &stagePair{name: name, a: s.a.found, b: s.b.found, level: levelOf(s.a.found, s.b.found)})
			judged, parts = append(judged, s.items), append(parts, of)
		}
	}
	c.judgeItems(judged, parts)
	return out, nil
}

// fill makes an item of each twin, whose times for one unit add up to that of all work, and gives the work of both sides of each.
func (s *treeStage) fill(twins []tree.Twin) []pair {
	list := make([]pair, len(twins))
	for i, w := range twins {
		list[i] = pair{a: s.a.work(w.A), b: s.b.work(w.B)}
	}
	perA, perB := perUnit(list, s.a.units, s.b.units)
	s.items = make([]Item, len(twins))
	for i, w := range twins {
		a, b := list[i].a, list[i].b
		it := Item{Stage: s.name, Name: w.Path, Kind: "node", Unit: "ns", Status: list[i].status(), A: a.side(s.a.units, perA[i], w.A), B: b.side(s.b.units, perB[i], w.B),
			Delta: split(perA[i], perB[i], a, b, s.a.units, s.b.units), Partner: w.Partner, How: w.How, Places: w.Places}
		if w.How == tree.OtherKernels && it.Status == Both {
			it.Partner = strings.Join(it.B.Kernels, " + ")
		}
		s.items[i] = it
	}
	return list
}

// side is the work of a side; least and longest times are not known.
func (a *amount) side(units, perUnit int64, w *tree.Work) Measure {
	if a == nil {
		return Measure{}
	}
	m := Measure{Calls: a.tally.calls, TotalNs: a.tally.total, PerUnitNs: perUnit, Kernels: slices.Sorted(maps.Keys(w.Kernels)), Shapes: w.Shapes}
	if units > 0 {
		m.PerUnitCalls = float64(a.tally.calls) / float64(units)
	}
	if a.tally.calls > 0 {
		m.MeanNs = new(a.tally.mean())
	}
	return m
}

// isWhole reports whether work was seen in all passes or steps: those without any have no place among the samples.
func (s *stageTree) isWhole() bool { return s.units == int64(len(s.found.groups)) }
