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
)

// node is a module or an operator of one side, with the work that it launched itself and what was called in it.
type node struct {
	name     string
	class    string // of a module its name without the number of the instance, which shifts where one is added
	key      string // what it must share with the one it is the same as
	isModule bool
	first    int64 // ns: when the program first came here
	inside   []*node
	own      []*leaf
	contents map[string]int64 // launches by innermost operator and inputs, all of those inside included
	works    string           // of work, once asked for
	index    map[string]*node
	leaves   map[string]*leaf // own, by inputs
}

// leaf is the work that an operator launched itself when called with the same inputs.
type leaf struct {
	inputs, shapes string
	amount         amount
	kernels        map[string]int64 // launches by name
	first          int64
}

// pathMark joins names of modules and operators, as in operator-nodes.
const pathMark = " > "

func newNode(name string, isModule bool) *node {
	n := &node{name: name, class: name, key: name, isModule: isModule, index: map[string]*node{}, leaves: map[string]*leaf{}, contents: map[string]int64{}}
	if cut := strings.LastIndexByte(name, '_'); isModule && cut > 0 && strings.Trim(name[cut+1:], "0123456789") == "" {
		n.class = name[:cut]
	}
	if isModule {
		n.key = "module " + n.class
	}
	return n
}

// child gives the one of that name, which the program came to at that time.
func (n *node) child(name string, isModule bool, first int64) *node {
	key := fmt.Sprint(isModule, name)
	c := n.index[key]
	if c == nil {
		c = newNode(name, isModule)
		c.first = first
		n.index[key] = c
		n.inside = append(n.inside, c)
	}
	c.first = min(c.first, first)
	return c
}

// leafOf gives the work of an operator with these inputs.
func (n *node) leafOf(inputs, shapes string, first int64) *leaf {
	l := n.leaves[inputs]
	if l == nil {
		l = &leaf{inputs: inputs, shapes: shapes, kernels: map[string]int64{}, first: first}
		n.leaves[inputs] = l
		n.own = append(n.own, l)
	}
	l.first = min(l.first, first)
	return l
}

// sort puts what was called into the order of the program.
func (n *node) sort() {
	slices.SortFunc(n.inside, func(a, b *node) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.name, b.name)) })
	slices.SortFunc(n.own, func(a, b *leaf) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.inputs, b.inputs)) })
	for _, c := range n.inside {
		c.sort()
	}
}

// total is the work of a node and all inside it.
func (n *node) total() (amount, map[string]int64) {
	var out amount
	kernels := map[string]int64{}
	for _, l := range n.own {
		out.merge(&l.amount)
		addTo(kernels, l.kernels)
	}
	for _, c := range n.inside {
		a, k := c.total()
		out.merge(&a)
		addTo(kernels, k)
	}
	return out, kernels
}

func addTo(to, from map[string]int64) {
	for name, n := range from {
		to[name] += n
	}
}

// tree is what a side did in one stage.
type tree struct {
	root  *node
	units int64      // passes or steps, over all runs of the side
	found *stageSide // those of them in which work was seen
}

func newTree() *tree { return &tree{root: newNode("", true), found: newStageSide()} }

// treesOf gives the trees of a side by stage. Steps are compared where both sides have some, else all work outside of
// passes, and modules likewise.
func treesOf(frames []*frame.Frame, is recorded) (map[string]*tree, error) {
	out := map[string]*tree{}
	for run, f := range frames {
		kinds, err := stepsIn(f)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		t := &table{f: f}
		for t.next() {
			stage, unit, isWarmup, count := t.text("stage"), t.text("unit"), t.flag("is_warmup"), t.count("unit_count")
			if unit == "step" {
				stage = stepName(t.text("step"), kinds)
				if !is.steps {
					stage, isWarmup = outside, false
				}
			}
			if isWarmup {
				continue
			}
			side := out[stage]
			if side == nil {
				side = newTree()
				out[stage] = side
			}
			if !seen[stage] {
				seen[stage] = true
				side.units += count
			}
			l := side.root.add(t, is.modules)
			if err := side.found.addUnits(&l.amount, run, t.text("units"), stage == outside); err != nil {
				return nil, fmt.Errorf("query %s, row %d: %w", f.Query, t.at, err)
			}
		}
		if t.err != nil {
			return nil, t.err
		}
	}
	for stage, side := range out {
		side.root.sort()
		if stage == outside { // times are of a run, or of a repeat of one
			side.units = int64(len(side.found.groups))
		}
	}
	return out, nil
}

// stepsIn gives the names of the steps of a run.
func stepsIn(f *frame.Frame) (map[string]bool, error) {
	kinds := map[string]bool{}
	t := &table{f: f}
	for t.next() {
		if t.text("unit") == "step" {
			kinds[t.text("step")] = true
		}
	}
	return kinds, t.err
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

// add puts the work of a row where its modules and operators say.
func (n *node) add(t *table, hasModules bool) *leaf {
	first, launches, total := t.count("first_ns"), t.count("work_count"), t.count("total_ns")
	shapes := oneLine(t.text("shapes"))
	inputs := shapes + " " + oneLine(t.text("types"))
	operators := strings.Split(t.text("operators"), pathMark)
	content := operators[len(operators)-1] + " " + inputs // in whatever wrappers
	n.contents[content] += launches
	at := n
	if module := t.text("module"); module != "" && hasModules {
		for name := range strings.SplitSeq(module, pathMark) {
			at = at.child(name, true, first)
			at.contents[content] += launches
		}
	}
	for _, name := range operators {
		at = at.child(name, false, first)
		at.contents[content] += launches
	}
	l := at.leafOf(inputs, shapes, first)
	l.amount.tally.calls += launches
	l.amount.tally.total += total
	l.kernels[t.text("kernel")] += launches
	return l
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
	frames  []*frame.Frame
	sources []Source
	is      [2]recorded
}

// loadNodes asks for the operators of runs, of which so many are of side A.
func loadNodes(ctx context.Context, asker frame.Asker, runs []Run, ofA int, stage string) (nodes, error) {
	var list []frame.Question
	for _, run := range runs {
		args := frame.Args{"run": run.ID, "with_units": "true"}
		if stage != "" && !isSteps(stage) {
			args["stage"] = stage
		}
		list = append(list, frame.Question{Query: "operator-nodes", Args: args, Notes: frame.RowsOnly})
	}
	var out nodes
	var err error
	if out.frames, err = asker.AskAll(ctx, list); err != nil {
		return nodes{}, err
	}
	for i, f := range out.frames {
		side := &out.is[0]
		if i >= ofA {
			side = &out.is[1]
		}
		t := &table{f: f}
		for t.next() {
			side.steps = side.steps || t.text("unit") == "step" && !t.flag("is_warmup")
			side.modules = side.modules || t.text("module") != ""
			side.operators = side.operators || !strings.HasPrefix(t.text("operators"), "(")
			side.inputs = side.inputs || t.text("shapes") != ""
		}
		if t.err != nil {
			return nodes{}, fmt.Errorf("run %s: %w", runs[i].Name, t.err)
		}
		out.sources = append(out.sources, sourceOf(runs[i].Name, f))
	}
	return out, nil
}

// byTree fills in the items of the trees of operators.
func (r *Result) byTree(n nodes) error {
	r.Queries = distinctSources(append(r.Queries, n.sources...))
	r.noteRecorded(n.is)
	if !n.is[0].operators || !n.is[1].operators {
		return nil
	}
	r.noteTokens()
	stages, err := r.align(n, false)
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
		if i.Status == Both && (i.How == "" || i.How == otherKernels) && i.A.PerUnitCalls > 0 {
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
	a, b    *tree
	items   []Item // which add up
	note    string
	isOther bool // A and B do other amounts of work: times are not judged
}

// align aligns the trees of the sides, and makes and judges items of them: one of what is the same in several instances of modules, if those are folded.
func (r *Result) align(n nodes, isFolded bool) ([]treeStage, error) {
	is := recorded{steps: n.is[0].steps && n.is[1].steps, modules: n.is[0].modules && n.is[1].modules}
	a, err := treesOf(n.frames[:len(r.A.Runs)], is)
	if err != nil {
		return nil, err
	}
	b, err := treesOf(n.frames[len(r.A.Runs):], is)
	if err != nil {
		return nil, err
	}
	if len(a) < 2 && len(b) < 2 && (a[outside] != nil || len(a) == 0) && (b[outside] != nil || len(b) == 0) { // there are no stages to be outside of
		whole := func(side map[string]*tree) map[string]*tree {
			if side[outside] == nil {
				return nil
			}
			return map[string]*tree{"": side[outside]}
		}
		a, b = whole(a), whole(b)
	}
	stages := slices.Collect(maps.Keys(a))
	for stage := range b {
		if a[stage] == nil {
			stages = append(stages, stage)
		}
	}
	slices.SortFunc(stages, func(x, y string) int { return cmp.Or(compareBools(x == outside, y == outside), cmp.Compare(x, y)) })
	c := &comparer{options: r.Options}
	var out []treeStage
	var judged [][]Item
	var parts [][]pair
	for _, name := range stages {
		if isSteps(r.Options.Stage) && name != r.Options.Stage {
			continue
		}
		s := treeStage{name: name, a: cmp.Or(a[name], newTree()), b: cmp.Or(b[name], newTree())}
		rows := align(s.a.root, s.b.root)
		if isFolded {
			rows = rows.folded(s.a.root, s.b.root)
		}
		var of []pair
		s.items, of = rows.items(name, s.a.units, s.b.units)
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

// isWhole says whether work was seen in all passes or steps: those without any have no place among the samples.
func (t *tree) isWhole() bool { return t.units == int64(len(t.found.groups)) }

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
