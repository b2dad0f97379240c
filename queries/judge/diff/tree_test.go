package diff

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	some "prof/internal/sample"
	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge/tree"
)

// madeNode is a row of operator-nodes: modules / operators / inputs / kernel, launches and ns in each of two passes.
type madeNode struct {
	modules, operators, shapes, kernel string
	launches, ns                       int64
}

// nodesFrame makes what operator-nodes answers, in the order of the list.
func nodesFrame(passes int64, list ...madeNode) *frame.Frame {
	f := frametest.Answer("operator-nodes", "stage unit step is_warmup module operators shapes types kernel work_count total_ns first_ns unit_count units")
	for i, n := range list {
		var module any
		if n.modules != "" {
			module = n.modules
		}
		var units []string
		for p := range passes {
			units = append(units, fmt.Sprintf("[1,%d,%d]", p+1, n.ns))
		}
		f.Rows = append(f.Rows, []any{"prefill", "pass", nil, false, module, n.operators, n.shapes, nil, n.kernel, n.launches * passes, n.ns * passes, int64(i), passes, "[" + strings.Join(units, ",") + "]"})
	}
	return f
}

func alignedFrames(t testing.TB, a, b *frame.Frame) *Result {
	t.Helper()
	r := &Result{A: Side{Runs: make([]Run, 1)}, B: Side{Runs: make([]Run, 1)}}
	if err := r.byTree(madeNodes(a, b)); err != nil {
		t.Fatal(err)
	}
	return r
}

func madeNodes(a, b *frame.Frame) nodes {
	is := recorded{operators: true, inputs: true, modules: true}
	out := nodes{is: [2]recorded{is, is}}
	for _, f := range []*frame.Frame{a, b} {
		rows, err := nodeRows.Of(f)
		if err != nil {
			panic(err)
		}
		out.runs = append(out.runs, rows)
	}
	return out
}

// layers is a model of layers of a product and a norm each.
func layers(n int, norm string) []madeNode {
	var out []madeNode
	for i := range n {
		module := fmt.Sprintf("Model_0 > Layer_%d", i)
		out = append(out, madeNode{fmt.Sprintf("%s > Linear_%d", module, i), "aten::linear > aten::mm", "[x, w]", "gemm", 1, 150}, madeNode{fmt.Sprintf("%s > Norm_%d", module, i), norm, "[x]", "norm", 1, 30})
	}
	return out
}

// TestTreeNotes: what captures lack is said, and which passes are of other numbers of tokens.
func TestTreeNotes(t *testing.T) {
	t.Parallel()
	r := &Result{Stages: []Stage{{Name: "prefill", Unit: PerPass, A: StageSide{Units: 2, Passes: 2}, B: StageSide{Units: 2, Passes: 2}}, {Name: "decode", Unit: PerToken, A: StageSide{Units: 8, Passes: 2}, B: StageSide{Units: 9, Passes: 3}}}}
	r.noteTokens()
	if want := []string{"operators of decode are compared per pass, of 4 tokens in A and 3 in B: a change may come from that"}; !slices.Equal(r.Notes, want) {
		t.Errorf("%q, want %q", r.Notes, want)
	}
	said.Add(r.Notes)
	item := func(callsA, callsB float64, ns int64, how string) Item {
		return Item{Status: Both, How: how, A: Measure{PerUnitCalls: callsA, PerUnitNs: ns}, B: Measure{PerUnitCalls: callsB}}
	}
	for _, c := range []struct {
		stage string
		items []Item
		want  string
	}{
		{"", []Item{item(4, 3, 90, ""), item(8, 6, 90, tree.OtherKernels), item(1, 1, 10, ""), item(1, 1, 900, fused)}, "operators launch 0.75 times as much in B as in A with the same inputs: B does another amount of work, such as other numbers of tokens"},
		{"steps", []Item{item(4, 3, 90, ""), item(1, 1, 30, "")}, ""},
		{"steps", []Item{item(4, 4, 90, "")}, ""},
	} {
		got := otherAmount(c.stage, c.items)
		if got != c.want {
			t.Errorf("%s %v: %q, want %q", c.stage, c.items, got, c.want)
		}
		said.Add(got)
	}
	for _, c := range []struct {
		is   [2]recorded
		want string
	}{
		{[2]recorded{{operators: true}, {}}, "new has no operators with device work to align: they come from traces of the PyTorch profiler, or from nsys with emit_nvtx"},
		{[2]recorded{{operators: true, modules: true}, {operators: true}}, "new recorded no modules: operators are aligned without them; with_stack=True records them"},
		{[2]recorded{{operators: true}, {operators: true}}, ""},
	} {
		r := &Result{A: Side{Label: "old"}, B: Side{Label: "new"}}
		r.noteRecorded(c.is)
		if got := strings.Join(r.Notes, "; "); got != c.want {
			t.Errorf("%v: %q, want %q", c.is, got, c.want)
		}
		said.Add(r.Notes)
	}
}

// TestTreeAddsUp aligns random trees: whatever is matched with what, all work of either side is in one row.
func TestTreeAddsUp(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 9))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	side := func() (*frame.Frame, int64, int64) {
		var list []madeNode
		var sum int64
		passes := 1 + random.Int64N(4)
		for range random.IntN(40) {
			n := madeNode{pick("", "M_0", "M_0 > L_0", "M_0 > L_1 > X_0", "M_0 > L_1", "M_1", "Y_0"), pick("a", "a > b", "b", "c > a > b", "(none)"), pick("[1]", "[2]", "[3]"), pick("k", "l"), 1 + random.Int64N(3), random.Int64N(1000)}
			list, sum = append(list, n), sum+n.ns*passes
		}
		return nodesFrame(passes, list...), sum, passes
	}
	for range some.Of(make([]int, 2000), 4) {
		a, sumA, passesA := side()
		b, sumB, passesB := side()
		r := alignedFrames(t, a, b)
		var gotA, gotB, change int64
		for _, it := range r.Items {
			gotA, gotB, change = gotA+it.A.TotalNs, gotB+it.B.TotalNs, change+it.Delta.Ns
		}
		if gotA != sumA || gotB != sumB || change != sumB/passesB-sumA/passesA {
			t.Fatalf("rows add up to %d and %d, a change of %d; want %d, %d and %d", gotA, gotB, change, sumA, sumB, sumB/passesB-sumA/passesA)
		}
	}
}

// TestTreeOperators: of all layers the same operators are one row, and as many rows as there are places to say more than that.
func TestTreeOperators(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b []madeNode
		want []string
	}{
		"same": {layers(2, "norm"), layers(2, "norm"), nil},
		"replaced": {layers(3, "norm"), func() []madeNode {
			out := layers(3, "rms_norm")
			for i := 1; i < len(out); i += 2 {
				out[i].ns -= 10
			}
			return out
		}(), []string{"Model_0 > Layer_* > Norm_* > norm both 3 6→9 -30"}},
		"one layer slower": {layers(3, "norm"), func() []madeNode { out := layers(3, "norm"); out[4].ns += 60; return out }(), []string{
			"Model_0 > Layer_* > Linear_* > aten::linear > aten::mm both 3 6→9 +60"}},
		"hardly slower": {layers(3, "norm"), func() []madeNode { out := layers(3, "norm"); out[4].ns += 2; return out }(), nil},
		"a layer more":  {layers(2, "norm"), layers(3, "norm"), []string{"Model_0 > Layer_2 new 1 0→6 +180"}},
		"other amounts": {layers(2, "norm"), func() []madeNode {
			out := layers(2, "norm")
			for i := range out {
				out[i].launches, out[i].ns = 2, 2*out[i].ns
			}
			return out
		}(), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &Result{A: Side{Runs: make([]Run, 1)}, B: Side{Runs: make([]Run, 1)}}
			if err := r.byOperators(madeNodes(nodesFrame(2, c.a...), nodesFrame(3, c.b...))); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, it := range r.Operators {
				got = append(got, fmt.Sprintf("%s %s %d %d→%d %+d", it.Name, it.Status, it.Places, it.A.Calls, it.B.Calls, it.Delta.Ns))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// askedFor answers for operators from frames by run, and keeps which runs were asked for.
type askedFor struct {
	frame.Asker
	frames map[string]*frame.Frame
	runs   []string
}

func (a *askedFor) AskAll(_ context.Context, list []frame.Question) ([]*frame.Frame, error) {
	var out []*frame.Frame
	for _, q := range list {
		run := q.Args["run"]
		a.runs, out = append(a.runs, run), append(out, a.frames[run])
	}
	return out, nil
}

// TestTreeLoad: what has nothing to be compared with is not asked for, but where it is said that it is lacking.
func TestTreeLoad(t *testing.T) {
	t.Parallel()
	with, without := nodesFrame(2, layers(1, "norm")...), nodesFrame(2, madeNode{"", "(none)", "", "k", 1, 5})
	for _, c := range []struct {
		by   Dimension
		a    *frame.Frame
		want []string
	}{{ByKernel, with, []string{"a", "b"}}, {ByKernel, without, []string{"a"}}, {ByTree, without, []string{"a", "b"}}} {
		asker := &askedFor{frames: map[string]*frame.Frame{"a": c.a, "b": with}}
		n, err := loadNodes(t.Context(), asker, []Run{{ID: "a"}}, []Run{{ID: "b"}}, Options{By: c.by})
		if err != nil || !slices.Equal(asker.runs, c.want) || len(n.runs) != len(c.want) || n.is[1].inputs != (len(c.want) == 2) {
			t.Errorf("by %s: %q were asked for, want %q: %v", c.by, asker.runs, c.want, err)
		}
	}
}

// TestTreeVerdicts judges rows by their passes, unless these do other amounts of work.
func TestTreeVerdicts(t *testing.T) {
	t.Parallel()
	list := layers(1, "norm")
	slower := slices.Clone(list)
	slower[0].ns *= 2
	for _, it := range alignedFrames(t, nodesFrame(8, list...), nodesFrame(8, slower...)).Items {
		if it.Comparison == nil || it.Comparison.NA != 8 || it.Comparison.NB != 8 {
			t.Errorf("%s is not judged by 8 passes", it.Name)
		}
		if isWorse := it.Verdict == Worse; isWorse != (it.Delta.Ns > 0) || it.Verdict == Better {
			t.Errorf("%s, %+d ns: %s", it.Name, it.Delta.Ns, it.Verdict)
		}
	}
	for i := range slower {
		slower[i].launches *= 2
	}
	for _, it := range alignedFrames(t, nodesFrame(8, list...), nodesFrame(8, slower...)).Items {
		if it.Comparison != nil || it.Verdict != "" {
			t.Errorf("other amounts of work: %s is %s", it.Name, it.Verdict)
		}
	}
}
