package tree

import (
	"slices"
	"strings"
	"testing"
)

// TestWrappers compares made runs of which one has modules in wrappers that the other lacks.
func TestWrappers(t *testing.T) {
	t.Parallel()
	inside := func(wrapper string, list []madeNode) []madeNode {
		for i := range list {
			list[i].modules = wrapper + " > " + list[i].modules
		}
		return list
	}
	around := func(class, wrapper string, list []madeNode) []madeNode {
		for i := range list {
			list[i].modules = strings.ReplaceAll(list[i].modules, class, wrapper+" > "+class)
		}
		return list
	}
	adapter := func(module string) []madeNode {
		return []madeNode{linear(module+" > Adapter_0 > Linear_0", "[x, q]", 30), linear(module+" > Adapter_0 > Linear_1", "[x, r]", 3), linear(module+" > Adapter_0 > Linear_2", "[r, q]", 4)}
	}
	projections := []madeNode{linear("A_0 > Linear_0", "[x, q]", 30), linear("A_0 > Linear_1", "[x, k]", 10), linear("A_0 > Linear_2", "[x, o]", 30)}
	compiled := func(list []madeNode) []madeNode {
		for i, n := range list {
			list[i].modules, list[i].operators = "OptimizedModule_0 > Model_0", "Region > "+n.operators[strings.LastIndex(n.operators, " ")+1:]
		}
		return list
	}
	for name, c := range map[string]struct {
		a, b []madeNode
		want []string
	}{
		"around the model":      {layers(2, false), inside("DistributedDataParallel_0", layers(2, false)), nil},
		"around the model of A": {inside("DistributedDataParallel_0", layers(2, false)), layers(2, false), nil},
		"two around the model":  {layers(2, false), inside("OptimizedModule_0 > DistributedDataParallel_0", layers(2, false)), nil},
		"other ones":            {inside("OptimizedModule_0", layers(2, false)), inside("DistributedDataParallel_0", layers(2, false)), nil},
		"around layers":         {layers(3, false), around("Layer_", "CheckpointWrapper_0", layers(3, false)), nil},
		"around both":           {layers(2, false), inside("FullyShardedDataParallel_0", around("Layer_", "FullyShardedDataParallel_1", layers(2, false))), nil},
		"with work of the wrapper": {layers(1, false), append([]madeNode{{"Sharded_0", "nccl::all_gather", "[w]", "gather", 1, 70}}, inside("Sharded_0", layers(1, false))...),
			[]string{"Sharded_0 > nccl::all_gather new 0→1 +70"}},
		"around operators": {layers(1, true), func() []madeNode {
			out := layers(1, true)
			for i := range out {
				out[i].operators = strings.TrimPrefix(out[i].operators, "aten::linear > ")
			}
			return out
		}(), nil},
		"an adapter": {projections, append(adapter("A_0"), linear("A_0 > Linear_3", "[x, k]", 10), linear("A_0 > Linear_4", "[x, o]", 30)),
			[]string{"A_0 > Adapter_0 > Linear_1 new 0→1 +3", "A_0 > Adapter_0 > Linear_2 new 0→1 +4"}},
		"one more layer around others": {layers(2, false), append(layers(2, false), inside("Encoder_0", layers(1, true))...),
			[]string{"Encoder_0 new 0→4 +200"}},
		"compiled, the same operators": {layers(1, true), compiled(layers(1, true)), nil},
		"compiled, most in one": {append(layers(1, false), linear("Model_0 > Head_0", "[x, v]", 20)), compiled([]madeNode{linear("", "[x, qkv]", 100), {"", "fused", "[x]", "triton", 1, 30}, linear("", "[x, o]", 50), linear("", "[x, v]", 20)}),
			[]string{"Model_0 > aten::bmm + aten::_softmax + aten::dropout + aten::layer_norm both 4→1 -35 | fused | fused"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := became(t, c.a, c.b, false); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
