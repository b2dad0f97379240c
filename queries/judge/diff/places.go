package diff

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"prof/queries/frame"
)

var orderRows = frame.RowsOf[struct {
	Stage   string `col:"stage"`
	Kernels string `col:"kernel_ids"`
}]("kernel-order")

// loadOrders asks for the kernels of a pass in their order, of the first run of each side, where the sides have kernels of other names.
func loadOrders(ctx context.Context, asker frame.Asker, a, b []runData, stage string) ([]Source, error) {
	first := []*runData{&a[0], &b[0]}
	if !haveOtherNames([]runData{a[0], b[0]}) || isSteps(stage) {
		return nil, nil
	}
	var asked []frame.Question
	for _, d := range first {
		args := frame.Args{"run": d.run.ID}
		if stage != "" {
			args["stage"] = stage
		}
		asked = append(asked, frame.Question{Query: "kernel-order", Args: args, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, asked)
	if err != nil {
		return nil, err
	}
	var sources []Source
	for i, d := range first {
		rows, err := orderRows.Of(frames[i])
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", d.run.Name, err)
		}
		names := map[int64]string{}
		for _, w := range d.work {
			names[w.nameID] = w.name
		}
		d.order = map[string][]string{}
		for _, r := range rows {
			var ids []int64
			if err := json.Unmarshal([]byte(r.Kernels), &ids); err != nil {
				return nil, fmt.Errorf("run %s: kernels of %s are no list of numbers: %w", d.run.Name, r.Stage, err)
			}
			for _, id := range ids {
				d.order[r.Stage] = append(d.order[r.Stage], names[id])
			}
		}
		sources = append(sources, sourceOf(d.run.Name, frames[i]))
	}
	return sources, nil
}

// stretch is what stands between two kernels that are the same on both sides.
type stretch struct{ a, b []string }

// mostEdits bounds the work and memory of laying two orders side by side, which grow with its square: what comes after so many kernels of one side
// alone is not looked at.
const mostEdits = 2500

// nowhere is no place on either side: far enough that steps do not lead back.
const nowhere = math.MinInt32 / 2

// stretches lays two orders of kernels side by side with the fewest edits (Myers 1986) and returns where they differ.
func stretches(a, b []string) []stretch {
	var reached [][]int32 // by number of edits: how far into a each diagonal gets
	at := func(edits, k int) int {
		if k < -edits || k > edits {
			return nowhere
		}
		return int(reached[edits][(k+edits)/2])
	}
	begin := func(edits, k int) (x int, isOfA bool) { // of the last stretch of equal kernels, and whose kernel stands before it
		if edits == 0 {
			return 0, false
		}
		x = at(edits-1, k+1)
		if x-k > len(b) {
			x = nowhere
		}
		if after := at(edits-1, k-1) + 1; after > x && after <= len(a) {
			return after, true
		}
		return x, false
	}
	best, bestK, bestSum := 0, 0, -1
search:
	for edits := 0; edits <= min(mostEdits, len(a)+len(b)); edits++ {
		reached = append(reached, make([]int32, edits+1))
		for k := -edits; k <= edits; k += 2 {
			x, _ := begin(edits, k)
			for x >= 0 && x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reached[edits][(k+edits)/2] = int32(x)
			if 2*x-k > bestSum {
				best, bestK, bestSum = edits, k, 2*x-k
			}
			if x == len(a) && x-k == len(b) {
				break search
			}
		}
	}
	var out []stretch
	for edits, k := best, bestK; edits > 0; edits-- { // from the end
		start, isOfA := begin(edits, k)
		if start < at(edits, k) || len(out) == 0 {
			out = append(out, stretch{})
		}
		p := &out[len(out)-1]
		if isOfA {
			p.a = append(p.a, a[start-1])
			k--
		} else {
			p.b = append(p.b, b[start-k-1])
			k++
		}
	}
	return out
}

// byPlace matches kernels by where they ran: those of A alone with those of B alone that stand between the same neighbours, where most of their calls
// do.
func (m *matcher) byPlace(a, b []string) {
	if len(a) == 0 || len(b) == 0 || len(open(m.gone)) == 0 || len(open(m.new)) == 0 {
		return
	}
	byName := [2]map[string][]*mover{{}, {}}
	twin := map[string]string{} // names in A of kernels of B that are theirs
	for side, list := range [][]*mover{m.gone, m.new} {
		for _, x := range list {
			if !x.done {
				byName[side][x.name] = append(byName[side][x.name], x)
			} else if side == 1 {
				twin[x.name] = m.moves[x.key].partner
			}
		}
	}
	other := make([]string, len(b))
	for i, name := range b {
		other[i] = cmp.Or(twin[name], name)
	}
	all := stretches(a, other)
	for _, g := range together(all, byName) {
		var sides [2][]*mover
		for side := range sides {
			for _, name := range slices.Sorted(maps.Keys(g[side])) {
				sides[side] = append(sides[side], byName[side][name]...)
			}
		}
		how := replaced
		switch one, other := len(sides[0]) == 1, len(sides[1]) == 1; {
		case other && !one:
			how = fused
		case one && !other:
			how = splitUp
		}
		m.set(how, sides[0], sides[1])
	}
}

// together groups the names of both sides that share most of their places with a name of the other side.
func together(all []stretch, byName [2]map[string][]*mover) [][2]map[string]bool {
	type name struct {
		side int
		text string
	}
	calls, shared := map[name]int{}, map[[2]name]int{} // of a name, and of the first name in places of the second
	within := make([]map[name]int, len(all))
	for i, p := range all {
		within[i] = map[name]int{}
		for side, list := range [][]string{p.a, p.b} {
			for _, text := range list {
				if byName[side][text] != nil {
					within[i][name{side, text}]++
					calls[name{side, text}]++
				}
			}
		}
		for x, n := range within[i] {
			for y := range within[i] {
				if x.side != y.side {
					shared[[2]name{x, y}] += n
				}
			}
		}
	}
	group := map[name]name{} // the least name of its group
	var root func(x name) name
	root = func(x name) name {
		if up, is := group[x]; is && up != x {
			return root(up)
		}
		return x
	}
	order := func(x, y name) int { return cmp.Or(cmp.Compare(x.side, y.side), cmp.Compare(x.text, y.text)) }
	names := slices.SortedFunc(maps.Keys(calls), order)
	for _, x := range names {
		for _, y := range names {
			if 2*shared[[2]name{x, y}] > calls[x] {
				if p, q := root(x), root(y); order(p, q) <= 0 {
					group[q] = p
				} else {
					group[p] = q
				}
			}
		}
	}
	members := map[name][]name{}
	for _, x := range names {
		members[root(x)] = append(members[root(x)], x)
	}
	var out [][2]map[string]bool
	for _, r := range names {
		list := members[r]
		for { // what is mostly elsewhere is no part of it
			isIn := [2]map[string]bool{{}, {}}
			for _, x := range list {
				isIn[x.side][x.text] = true
			}
			left := slices.DeleteFunc(slices.Clone(list), func(x name) bool {
				n := 0
				for _, w := range within {
					if w[x] > 0 && slices.ContainsFunc(slices.Collect(maps.Keys(w)), func(y name) bool { return y.side != x.side && isIn[y.side][y.text] }) {
						n += w[x]
					}
				}
				return 2*n <= calls[x]
			})
			if len(left) == len(list) {
				if len(isIn[0]) > 0 && len(isIn[1]) > 0 {
					out = append(out, isIn)
				}
				break
			}
			list = left
		}
	}
	return out
}
