package diff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
)

// madeNode is a row of operator-nodes: modules / operators / inputs / kernel, launches and ns in each of two passes.
type madeNode struct {
	modules, operators, shapes, kernel string
	launches, ns                       int64
}

// nodesFrame makes what operator-nodes answers, in the order of the list.
func nodesFrame(passes int64, list ...madeNode) *frame.Frame {
	f := &frame.Frame{Query: "operator-nodes", Version: 1}
	for _, name := range []string{"stage", "unit", "step", "is_warmup", "module", "operators", "shapes", "types", "kernel", "work_count", "total_ns", "first_ns", "unit_count", "units"} {
		f.Columns = append(f.Columns, frame.Column{Name: name})
	}
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

// became gives the rows of the comparison of two made runs as texts, those without any change left out.
func became(t *testing.T, a, b *frame.Frame) []string {
	t.Helper()
	r := alignedFrames(t, a, b)
	var out []string
	for _, it := range r.Items {
		if it.Delta.Ns == 0 && it.How == "" && it.Status == Both {
			continue
		}
		text := fmt.Sprintf("%s %s %d→%d %+d", it.Name, it.Status, it.A.Calls, it.B.Calls, it.Delta.Ns)
		for _, more := range []string{it.How, it.Partner} {
			if more != "" {
				text += " | " + more
			}
		}
		out = append(out, text)
	}
	return out
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
	return nodes{frames: []*frame.Frame{a, b}, is: [2]recorded{is, is}}
}

func linear(module, shapes string, ns int64) madeNode {
	return madeNode{module, "aten::linear > aten::mm", shapes, "gemm", 1, ns}
}

// attention is a layer's attention as operators, or as one.
func attention(module string, isFused bool) []madeNode {
	if isFused {
		return []madeNode{{module, "aten::scaled_dot_product_attention > aten::_flash_attention", "[q, k, v]", "flash", 1, 40}}
	}
	return []madeNode{{module, "aten::matmul > aten::bmm", "[q, k]", "gemm", 1, 30}, {module, "aten::softmax > aten::_softmax", "[s]", "softmax", 1, 20}, {module, "aten::dropout", "[s]", "drop", 1, 5}}
}

// layer is a made layer of a model: attention between two projections, and a norm.
func layer(at int, isFused bool) []madeNode {
	module := fmt.Sprintf("Model_0 > Layer_%d", at)
	out := []madeNode{linear(fmt.Sprintf("%s > Attention_%d > Linear_%d", module, at, 2*at), "[x, qkv]", 100)}
	out = append(out, attention(fmt.Sprintf("%s > Attention_%d", module, at), isFused)...)
	return append(out, linear(fmt.Sprintf("%s > Attention_%d > Linear_%d", module, at, 2*at+1), "[x, o]", 50), madeNode{fmt.Sprintf("%s > Norm_%d", module, at), "aten::layer_norm", "[x]", "norm", 1, 10})
}

func layers(n int, isFused bool) []madeNode {
	var out []madeNode
	for i := range n {
		out = append(out, layer(i, isFused)...)
	}
	return out
}

// TestTree compares made runs of which it is known what changed.
func TestTree(t *testing.T) {
	t.Parallel()
	edited := func(edit func(n *madeNode)) []madeNode {
		out := layers(2, false)
		for i := range out {
			edit(&out[i])
		}
		return out
	}
	for name, c := range map[string]struct {
		a, b []madeNode
		want []string
	}{
		"same": {layers(2, false), layers(2, false), nil},
		"fused": {layers(1, false), layers(1, true), []string{
			"Model_0 > Layer_0 > Attention_0 > aten::matmul + aten::softmax + aten::dropout both 6→3 -15 | fused | aten::scaled_dot_product_attention"}},
		"fused with the scale and the mask": { // operators of whose names there are others, which are the same
			slices.Concat([]madeNode{{"A_0", "aten::mul", "[q, r]", "mul", 2, 4}, {"A_0", "aten::add", "[q, q]", "add", 1, 2}}, attention("A_0", false)[:1],
				[]madeNode{{"A_0", "aten::mul", "[s]", "mul", 1, 7}, {"A_0", "aten::add", "[s, m]", "add", 1, 8}}, attention("A_0", false)[1:], []madeNode{linear("A_0 > Linear_0", "[x, o]", 50)}),
			slices.Concat([]madeNode{{"A_0", "aten::mul", "[q, r]", "mul", 2, 4}, {"A_0", "aten::add", "[q, q]", "add", 1, 2}}, attention("A_0", true), []madeNode{linear("A_0 > Linear_0", "[x, o]", 50)}),
			[]string{"A_0 > aten::matmul + aten::mul + aten::add + aten::softmax + aten::dropout both 10→3 -30 | fused | aten::scaled_dot_product_attention"}},
		"gone elsewhere": { // the mask is not where the attention is
			slices.Concat([]madeNode{{"A_0", "aten::add", "[s, m]", "add", 1, 8}, linear("A_0 > Linear_0", "[x, q]", 50)}, attention("A_0", false)[:1]),
			slices.Concat([]madeNode{linear("A_0 > Linear_0", "[x, q]", 50)}, attention("A_0", true)),
			[]string{"A_0 > aten::matmul both 2→3 +10 | replaced | aten::scaled_dot_product_attention", "A_0 > aten::add removed 2→0 -8"}},
		"split": {layers(1, true), layers(1, false), []string{
			"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention both 2→9 +15 | split | aten::matmul + aten::softmax + aten::dropout"}},
		"replaced": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			out[1].operators, out[1].ns = "xformers::attention", 42
			return out
		}(), []string{"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention both 2→3 +2 | replaced | xformers::attention"}},
		"replaced by one that launches less": {func() []madeNode { out := layers(1, false)[:2]; out[1].launches = 3; return out }(), func() []madeNode {
			out := layers(1, false)[:2]
			out[1].operators, out[1].ns = "aten::baddbmm", 20
			return out
		}(), []string{"Model_0 > Layer_0 > Attention_0 > aten::matmul both 6→3 -10 | replaced | aten::baddbmm"}},
		"more inputs": {[]madeNode{linear("A_0", "[x, q]", 30), linear("A_0", "[x, k]", 10)}, []madeNode{linear("A_0", "[x, a]", 9), linear("A_0", "[x, b]", 9), linear("A_0", "[x, c]", 9)},
			[]string{"A_0 > aten::linear > aten::mm both 4→9 -13 | other shapes"}},
		"fewer inputs": {[]madeNode{linear("A_0", "[x, q]", 30), linear("A_0", "[x, k]", 10)}, []madeNode{linear("A_0", "[x, qk]", 35)},
			[]string{"A_0 > aten::linear > aten::mm both 4→3 -5 | other shapes"}},
		"other operator inside": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			out[1].operators = "aten::scaled_dot_product_attention > aten::_efficient_attention"
			return out
		}(), []string{"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention > aten::_flash_attention both 2→3 +0 | replaced | aten::_efficient_attention"}},
		"other kernels": {layers(2, false), edited(func(n *madeNode) {
			if n.kernel == "norm" {
				n.kernel, n.ns = "vectorized_norm", 8
			}
		}), []string{
			"Model_0 > Layer_0 > Norm_0 > aten::layer_norm both 2→3 -2 | other kernels | vectorized_norm",
			"Model_0 > Layer_1 > Norm_1 > aten::layer_norm both 2→3 -2 | other kernels | vectorized_norm"}},
		"faster": {layers(1, false), func() []madeNode { out := layers(1, false); out[0].ns = 90; return out }(), []string{
			"Model_0 > Layer_0 > Attention_0 > Linear_0 > aten::linear > aten::mm both 2→3 -10"}},
		"a layer more":        {layers(2, false), layers(3, false), []string{"Model_0 > Layer_2 new 0→18 +215"}},
		"a layer less":        {layers(3, true), layers(2, true), []string{"Model_0 > Layer_2 removed 8→0 -200"}},
		"reordered operators": {layers(1, false), func() []madeNode { out := layers(1, false); out[1], out[3] = out[3], out[1]; return out }(), nil},
		"reordered modules": {append(layers(1, false), linear("Model_0 > Head_0", "[x, v]", 7), linear("Model_0 > Linear_9", "[x, w]", 9)),
			append(layers(1, false), linear("Model_0 > Linear_9", "[x, w]", 9), linear("Model_0 > Head_0", "[x, v]", 7)), nil},
		"renamed module": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			for i := range out {
				out[i].modules = strings.Replace(out[i].modules, "> Attention_0", "> SdpaAttention_0", 1)
			}
			return out
		}(), []string{
			"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention > aten::_flash_attention both 2→3 +0 | renamed"}},
		"renumbered instances": {layers(1, false), edited(func(n *madeNode) {
			n.modules = strings.NewReplacer("Linear_0", "Linear_5", "Linear_1", "Linear_6").Replace(n.modules)
		})[:6], nil},
		"q, k and v in one": {
			[]madeNode{linear("A_0 > Linear_0", "[x, q]", 30), linear("A_0 > Linear_1", "[x, k]", 10), linear("A_0 > Linear_2", "[x, k]", 10), linear("A_0 > Linear_3", "[x, o]", 30)},
			[]madeNode{linear("A_0 > Linear_0", "[x, qkv]", 40), linear("A_0 > Linear_1", "[x, o]", 30)},
			[]string{"A_0 > Linear_0 + Linear_1 + Linear_2 both 6→3 -10 | fused | Linear_0"}},
		"another batch": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			for i := range out {
				out[i].shapes = strings.ReplaceAll(out[i].shapes, "x", "xx")
			}
			return out
		}(), []string{
			"Model_0 > Layer_0 > Attention_0 > Linear_0 > aten::linear > aten::mm both 2→3 +0 | other shapes",
			"Model_0 > Layer_0 > Attention_0 > Linear_1 > aten::linear > aten::mm both 2→3 +0 | other shapes",
			"Model_0 > Layer_0 > Norm_0 > aten::layer_norm both 2→3 +0 | other shapes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := became(t, nodesFrame(2, c.a...), nodesFrame(3, c.b...)); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
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
		{"", []Item{item(4, 3, 90, ""), item(8, 6, 90, otherKernels), item(1, 1, 10, ""), item(1, 1, 900, fused)}, "operators launch 0.75 times as much in B as in A with the same inputs: B does another amount of work, such as other numbers of tokens"},
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
	for range 2000 {
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
		"same": {layers(2, false), layers(2, false), nil},
		"fused": {layers(3, false), layers(3, true), []string{
			"Model_0 > Layer_* > Attention_* > aten::matmul + aten::softmax + aten::dropout both 3 18→9 -45"}},
		"one layer slower": {layers(3, true), func() []madeNode { out := layers(3, true); out[4].ns += 60; return out }(), []string{
			"Model_0 > Layer_* > Attention_* > Linear_* > aten::linear > aten::mm both 3 6→9 +60"}},
		"hardly slower": {layers(3, true), func() []madeNode { out := layers(3, true); out[4].ns += 3; return out }(), nil},
		"a layer more":  {layers(2, true), layers(3, true), []string{"Model_0 > Layer_2 new 1 0→12 +200"}},
		"other amounts": {layers(2, true), func() []madeNode {
			out := layers(2, true)
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

// TestTreeVerdicts judges rows by their passes, unless these do other amounts of work.
func TestTreeVerdicts(t *testing.T) {
	t.Parallel()
	list := layers(1, true)
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
