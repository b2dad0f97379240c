package tree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// madeNode is work of a program: modules / operators / inputs / kernel, launches and ns in each pass.
type madeNode struct {
	modules, operators, shapes, kernel string
	launches, ns                       int64
}

// made returns the tree of a program that works in the order of the list, and the launches and ns of each leaf.
func made(list []madeNode) (*Tree, [][2]int64) {
	out := New()
	var leaves [][2]int64
	for i, n := range list {
		leaf := out.Add(Row{n.modules, n.operators, n.shapes, n.shapes, n.kernel, int64(i)})
		if leaf == len(leaves) {
			leaves = append(leaves, [2]int64{})
		}
		leaves[leaf][0] += n.launches
		leaves[leaf][1] += n.ns
	}
	return out, leaves
}

// aligned aligns two programs and gives the launches and ns of each side in each row. Each leaf must be in one row.
func aligned(t testing.TB, a, b []madeNode, isFolded bool) ([]Twin, [][2][2]int64) {
	t.Helper()
	treeA, leavesA := made(a)
	treeB, leavesB := made(b)
	rows := Align(treeA, treeB, isFolded)
	seen := [2]map[int]bool{{}, {}}
	sums := make([][2][2]int64, len(rows))
	for i, row := range rows {
		for side, w := range []*Work{row.A, row.B} {
			if w == nil {
				continue
			}
			for _, leaf := range w.Leaves {
				if seen[side][leaf] {
					t.Fatalf("leaf %d of side %d is in two rows", leaf, side)
				}
				seen[side][leaf] = true
				of := [][][2]int64{leavesA, leavesB}[side][leaf]
				sums[i][side][0] += of[0]
				sums[i][side][1] += of[1]
			}
		}
	}
	if len(seen[0]) != len(leavesA) || len(seen[1]) != len(leavesB) {
		t.Fatalf("%d of %d leaves of A are in rows, and %d of %d of B", len(seen[0]), len(leavesA), len(seen[1]), len(leavesB))
	}
	return rows, sums
}

// became returns the rows of the comparison of two programs as texts, those without any change left out.
func became(t *testing.T, a, b []madeNode, isFolded bool) []string {
	t.Helper()
	var out []string
	rows, sums := aligned(t, a, b, isFolded)
	for i, row := range rows {
		was, is := sums[i][0], sums[i][1]
		status := "both"
		switch {
		case row.A == nil:
			status = "new"
		case row.B == nil:
			status = "removed"
		case was[1] == is[1] && row.How == "":
			continue
		}
		text := fmt.Sprintf("%s %s %d→%d %+d", row.Path, status, was[0], is[0], is[1]-was[1])
		more := row.Partner
		if row.How == OtherKernels {
			more = strings.Join(slices.Sorted(maps.Keys(row.B.Kernels)), " + ")
		}
		for _, more := range []string{row.How, more} {
			if more != "" {
				text += " | " + more
			}
		}
		if row.Places > 0 {
			text += fmt.Sprintf(" | in %d", row.Places)
		}
		out = append(out, text)
	}
	return out
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

// TestAlign compares made runs of which it is known what changed.
func TestAlign(t *testing.T) {
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
			"Model_0 > Layer_0 > Attention_0 > aten::matmul + aten::softmax + aten::dropout both 3→1 -15 | fused | aten::scaled_dot_product_attention"}},
		"fused with the scale and the mask": { // operators of whose names there are others, which are the same
			slices.Concat([]madeNode{{"A_0", "aten::mul", "[q, r]", "mul", 2, 4}, {"A_0", "aten::add", "[q, q]", "add", 1, 2}}, attention("A_0", false)[:1],
				[]madeNode{{"A_0", "aten::mul", "[s]", "mul", 1, 7}, {"A_0", "aten::add", "[s, m]", "add", 1, 8}}, attention("A_0", false)[1:], []madeNode{linear("A_0 > Linear_0", "[x, o]", 50)}),
			slices.Concat([]madeNode{{"A_0", "aten::mul", "[q, r]", "mul", 2, 4}, {"A_0", "aten::add", "[q, q]", "add", 1, 2}}, attention("A_0", true), []madeNode{linear("A_0 > Linear_0", "[x, o]", 50)}),
			[]string{"A_0 > aten::matmul + aten::mul + aten::add + aten::softmax + aten::dropout both 5→1 -30 | fused | aten::scaled_dot_product_attention"}},
		"gone elsewhere": { // the mask is not where the attention is
			slices.Concat([]madeNode{{"A_0", "aten::add", "[s, m]", "add", 1, 8}, linear("A_0 > Linear_0", "[x, q]", 50)}, attention("A_0", false)[:1]),
			slices.Concat([]madeNode{linear("A_0 > Linear_0", "[x, q]", 50)}, attention("A_0", true)),
			[]string{"A_0 > aten::matmul both 1→1 +10 | replaced | aten::scaled_dot_product_attention", "A_0 > aten::add removed 1→0 -8"}},
		"split": {layers(1, true), layers(1, false), []string{
			"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention both 1→3 +15 | split | aten::matmul + aten::softmax + aten::dropout"}},
		"replaced": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			out[1].operators, out[1].ns = "xformers::attention", 42
			return out
		}(), []string{"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention both 1→1 +2 | replaced | xformers::attention"}},
		"replaced by one that launches less": {func() []madeNode { out := layers(1, false)[:2]; out[1].launches = 3; return out }(), func() []madeNode {
			out := layers(1, false)[:2]
			out[1].operators, out[1].ns = "aten::baddbmm", 20
			return out
		}(), []string{"Model_0 > Layer_0 > Attention_0 > aten::matmul both 3→1 -10 | replaced | aten::baddbmm"}},
		"more inputs": {[]madeNode{linear("A_0", "[x, q]", 30), linear("A_0", "[x, k]", 10)}, []madeNode{linear("A_0", "[x, a]", 9), linear("A_0", "[x, b]", 9), linear("A_0", "[x, c]", 9)},
			[]string{"A_0 > aten::linear > aten::mm both 2→3 -13 | other shapes"}},
		"fewer inputs": {[]madeNode{linear("A_0", "[x, q]", 30), linear("A_0", "[x, k]", 10)}, []madeNode{linear("A_0", "[x, qk]", 35)},
			[]string{"A_0 > aten::linear > aten::mm both 2→1 -5 | other shapes"}},
		"other operator inside": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			out[1].operators = "aten::scaled_dot_product_attention > aten::_efficient_attention"
			return out
		}(), []string{"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention > aten::_flash_attention both 1→1 +0 | replaced | aten::_efficient_attention"}},
		"other kernels": {layers(2, false), edited(func(n *madeNode) {
			if n.kernel == "norm" {
				n.kernel, n.ns = "vectorized_norm", 8
			}
		}), []string{
			"Model_0 > Layer_0 > Norm_0 > aten::layer_norm both 1→1 -2 | other kernels | vectorized_norm",
			"Model_0 > Layer_1 > Norm_1 > aten::layer_norm both 1→1 -2 | other kernels | vectorized_norm"}},
		"faster": {layers(1, false), func() []madeNode { out := layers(1, false); out[0].ns = 90; return out }(), []string{
			"Model_0 > Layer_0 > Attention_0 > Linear_0 > aten::linear > aten::mm both 1→1 -10"}},
		"a layer more":        {layers(2, false), layers(3, false), []string{"Model_0 > Layer_2 new 0→6 +215"}},
		"a layer less":        {layers(3, true), layers(2, true), []string{"Model_0 > Layer_2 removed 4→0 -200"}},
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
			"Model_0 > Layer_0 > Attention_0 > aten::scaled_dot_product_attention > aten::_flash_attention both 1→1 +0 | renamed"}},
		"renumbered instances": {layers(1, false), edited(func(n *madeNode) {
			n.modules = strings.NewReplacer("Linear_0", "Linear_5", "Linear_1", "Linear_6").Replace(n.modules)
		})[:6], nil},
		"q, k and v in one": {
			[]madeNode{linear("A_0 > Linear_0", "[x, q]", 30), linear("A_0 > Linear_1", "[x, k]", 10), linear("A_0 > Linear_2", "[x, k]", 10), linear("A_0 > Linear_3", "[x, o]", 30)},
			[]madeNode{linear("A_0 > Linear_0", "[x, qkv]", 40), linear("A_0 > Linear_1", "[x, o]", 30)},
			[]string{"A_0 > Linear_0 + Linear_1 + Linear_2 both 3→1 -10 | fused | Linear_0"}},
		"another batch": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			for i := range out {
				out[i].shapes = strings.ReplaceAll(out[i].shapes, "x", "xx")
			}
			return out
		}(), []string{
			"Model_0 > Layer_0 > Attention_0 > Linear_0 > aten::linear > aten::mm both 1→1 +0 | other shapes",
			"Model_0 > Layer_0 > Attention_0 > Linear_1 > aten::linear > aten::mm both 1→1 +0 | other shapes",
			"Model_0 > Layer_0 > Norm_0 > aten::layer_norm both 1→1 +0 | other shapes"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := became(t, c.a, c.b, false); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestAlignKeepsAll aligns random trees: whatever is matched with what, all work of either side is in one row, folded or not.
func TestAlignKeepsAll(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 9))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	side := func() (list []madeNode) {
		for range random.IntN(40) {
			list = append(list, madeNode{pick("", "M_0", "M_0 > L_0", "M_0 > L_1 > X_0", "M_0 > L_1", "M_1", "Y_0"), pick("a", "a > b", "b", "c > a > b", "(none)"), pick("[1]", "[2]", "[3]"), pick("k", "l"), 1, 1})
		}
		return list
	}
	for range 2000 {
		a, b := side(), side()
		rows, _ := aligned(t, a, b, false)
		folded, _ := aligned(t, a, b, true)
		places := 0
		for _, f := range folded {
			places += f.Places
		}
		if places != len(rows) {
			t.Fatalf("%d rows are folded from %d, not %d", len(folded), places, len(rows))
		}
	}
}

// TestFold: of all layers what is the same is one row, which says of how many places.
func TestFold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b []madeNode
		want []string
	}{
		"same": {layers(2, false), layers(2, false), nil},
		"fused": {layers(3, false), layers(3, true), []string{
			"Model_0 > Layer_* > Attention_* > aten::matmul + aten::softmax + aten::dropout both 9→3 -45 | fused | aten::scaled_dot_product_attention | in 3"}},
		"one layer slower": {layers(3, true), func() []madeNode { out := layers(3, true); out[4].ns += 60; return out }(), []string{
			"Model_0 > Layer_* > Attention_* > Linear_* > aten::linear > aten::mm both 3→3 +60 | in 3"}},
		"a layer more": {layers(2, true), layers(3, true), []string{"Model_0 > Layer_2 new 0→4 +200 | in 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := became(t, c.a, c.b, true); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
