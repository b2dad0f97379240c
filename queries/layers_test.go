package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestLayersConserved holds that the parts of a pass add up to all of its kernels, and that equal layers together are what they are apart.
func TestLayersConserved(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	testkit.Expect(t, w, `SELECT r.name, l.range_id, l.device_id, sum(l.kernel_count), sum(l.kernel_ns), any_value(d.kernel_count), any_value(d.kernel_sum_ns)
		FROM layer_part l JOIN run r USING (run_id) JOIN range_device d ON d.run_id = l.run_id AND d.range_id = l.range_id AND d.device_id = l.device_id
		GROUP BY ALL HAVING sum(l.kernel_count) <> any_value(d.kernel_count) OR sum(l.kernel_ns) <> any_value(d.kernel_sum_ns)`)
	testkit.Expect(t, w, `SELECT r.name, l.stage, l.layer, l.part FROM layer_part l JOIN run r USING (run_id)
		WHERE (l.part IS NULL) <> (l.unknown IS NOT NULL) OR (l.basis IS NULL) <> (l.unknown IS NOT NULL) OR (l.layer IS NULL) <> (l.layer_group IS NULL) OR l.forward_count < 1`)
	asker := testkit.Asker(w)
	for _, run := range []string{"utilised", "vllm-decode", "sglang-decode", "kernels"} {
		sums := map[string]int64{}
		for i, by := range []string{"group", "layer"} {
			f, err := asker.Ask(t.Context(), "layers", queries.Args{"run": run, "by": by, "with_totals": "true"})
			if err != nil {
				t.Fatal(err)
			}
			shares := map[string]float64{}
			for _, r := range f.Rows {
				stage, part := r[f.Index("stage")].(string), fmt.Sprint(r[f.Index("part")])
				sums[stage+" "+part] += r[f.Index("total_ns")].(int64) * int64(1-2*i)
				shares[stage] += r[f.Index("share_ratio")].(float64)
			}
			for stage, share := range shares {
				if share < 1-1e-9 || share > 1+1e-9 {
					t.Errorf("%s by %s: shares of %s add up to %v", run, by, stage, share)
				}
			}
		}
		for part, ns := range sums {
			if ns != 0 {
				t.Errorf("%s: %s has %d ns more by group than by layer", run, part, ns)
			}
		}
	}
}

// layerRows are rows of layers: layers, part, kernels in a layer.
func layerRows(t *testing.T, run, stage string) []string {
	t.Helper()
	f := testkit.Query(t, testkit.All(t), "layers", queries.Args{"run": run, "stage": stage})
	var out []string
	for _, r := range f.Rows {
		out = append(out, fmt.Sprintf("%v %v %v", r[f.Index("layers")], r[f.Index("part")], r[f.Index("kernel_count")]))
	}
	slices.Sort(out)
	return out
}

// TestLayersOfCaptures holds layers to what the captures show: 16 layers of a Llama, GPT-OSS whose every second layer attends to a window, layers of an engine of which one is slow, and programs without layers.
func TestLayersOfCaptures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		run, stage string
		want       []string
	}{
		{"utilised", "prefill", []string{"layers 0-15 attention 5", "layers 0-15 copies 2", "layers 0-15 mlp 5", "layers 0-15 norms 16", "layers 0-15 other 2", "layers 0-15 rotary 10",
			"outside copies 4", "outside embedding 1", "outside head 1", "outside norms 8", "outside other 7"}},
		{"utilised", "decode", []string{"layers 0-15 attention 14", "layers 0-15 copies 2", "layers 0-15 mlp 6", "layers 0-15 norms 16", "layers 0-15 other 2", "layers 0-15 rotary 10",
			"outside copies 4", "outside embedding 1", "outside head 1", "outside norms 8", "outside other 12", "outside sampling 1"}},
		{"kernels", "decode", []string{"<nil> <nil> <nil>"}},
	} {
		if got := layerRows(t, c.run, c.stage); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s:\n%s", c.run, c.stage, strings.Join(got, "\n"))
		}
	}
	// By hand: from one attention to the next there are as many kernels as the parts of a layer have, but for the head between two forward passes.
	w := testkit.All(t)
	testkit.Expect(t, w, `WITH k AS (
			SELECT k.role, row_number() OVER (PARTITION BY k.stage, k.pass_range_id ORDER BY k.start_ns) AS nth, k.stage, k.pass_range_id FROM kernels k WHERE k.run = 'utilised' AND NOT k.is_warmup
		)
		SELECT stage, apart, count(*) FROM (SELECT stage, nth - lag(nth) OVER (PARTITION BY stage, pass_range_id ORDER BY nth) AS apart FROM k WHERE role = 'attention') WHERE apart IS NOT NULL
		GROUP BY ALL ORDER BY ALL`, "decode|50|1440", "decode|77|93", "prefill|40|45")
	for _, c := range [][2]string{{"vllm-decode", "layer 0,layers 1,3,5,7,9,11,13,15,17,19,21,23,layers 2,4,6,8,10,12,14,16,18,20,22,outside"}, {"sglang-decode", "layer 5,layer 7,layers 0-4,6,8-35,outside"}} {
		var groups []string
		for _, row := range layerRows(t, c[0], "decode") {
			words := strings.Fields(row)
			groups = append(groups, strings.TrimSpace(strings.Join(words[:max(1, strings.Count(row, "layer")*2)], " ")))
		}
		if got := strings.Join(slices.Compact(groups), ","); got != c[1] {
			t.Errorf("%s has %s", c[0], got)
		}
	}
}

// TestLayersBothWays holds that the names of modules and the sequence of kernels give the same layers, with as many kernels and as much time in each part.
func TestLayersBothWays(t *testing.T) {
	t.Parallel()
	var runs []testkit.Run
	for _, r := range testkit.Named(t, "llama-stack", "tree-eager", "tree-sdpa", "tree-norm") {
		named, bare := r, r
		named.Facts, bare.Facts = []string{"layer_part"}, []string{"layer_part"}
		bare.Name += "-bare"
		bare.SQL = "UPDATE python_stack SET module_path = NULL WHERE run_id = $run"
		runs = append(runs, named, bare)
	}
	w := testkit.Warehouse(t, runs...)
	testkit.Expect(t, w, `SELECT r.name, l.basis, count(*) >= 8 FROM layer_part l JOIN run r USING (run_id) WHERE l.layer IS NOT NULL GROUP BY ALL ORDER BY ALL`,
		"llama-stack|names|true", "llama-stack-bare|sequence|true", "tree-eager|names|true", "tree-eager-bare|sequence|true", "tree-norm|names|true", "tree-norm-bare|sequence|true",
		"tree-sdpa|names|true", "tree-sdpa-bare|sequence|true")
	testkit.Expect(t, w, `SELECT name, stage, layer, part, kernel_count, kernel_ns, count(*) FROM (
			SELECT replace(r.name, '-bare', '') AS name, l.stage, l.layer, l.part, l.kernel_count, l.kernel_ns FROM layer_part l JOIN run r USING (run_id)
			WHERE l.layer IS NOT NULL OR l.part IN ('head', 'embedding', 'norms', 'sampling')
		) GROUP BY ALL HAVING count(*) <> 2 ORDER BY ALL`)
}
