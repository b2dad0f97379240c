package queries_test

import (
	"strings"
	"testing"

	"prof/queries"
)

// TestLegacyMFU holds the formulas of the first implementation, written out anew here, on real captures: d is the width of the
// model, f that of its MLP, n its layers, prompt and fresh the tokens of a pass.
func TestLegacyMFU(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path, workload   string
		d, f, n, prompt, fresh float64
		vision                 bool
		prefillWrong           []string
	}{
		{"dense", "../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz", "../testdata/workload/llama-graph-node.workload.json", 2048, 8192, 16, 512, 32, false,
			[]string{"projections", "one product", "gated MLP", "no head"}},
		// 6848 is the width of the one layer without experts.
		{"experts and vision", sharedNsys + "dsocr-sdpa/dsocr-sdpa.sqlite.gz", "../testdata/workload/dsocr-sdpa.workload.json", 1280, 6848, 12, 681, 16, true,
			[]string{"vision left out", "projections", "one product", "gated MLP", "experts", "no head"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWarehouse(t)
			load(t, w, "r", shared(t, c.path), c.workload)
			for _, basis := range []string{"gpu_span", "cpu"} {
				args := queries.Args{"compute": "bf16", "time_basis": basis}
				got, ours := named(t, w, "legacy-mfu", args, "stage"), named(t, w, "mfu", args, "stage")
				prefill := c.n*(4*c.d*c.f+2*c.d*c.d)*c.prompt + 2*c.n*c.d*c.prompt*(c.prompt+1)/2
				decode := c.fresh * c.n * (4*c.d*c.f + 2*c.d*c.d + 2*c.d*(c.prompt+c.fresh/2))
				ns := map[string]float64{}
				for stage, row := range ours {
					ns[stage], _ = row["time_ns"].(float64)
					if l := got[stage]; l == nil || l["flop"] != row["flop"] || l["mfu_ratio"] != row["mfu_ratio"] || l["passes"] != row["passes"] || l["time_ns"] != row["time_ns"] {
						t.Errorf("%s: %v; mfu: %v", stage, l, row)
					}
				}
				ns["model"] = ns["prefill"] + ns["decode"] + ns["vision"]
				if len(got) != len(ours) || (ns["vision"] > 0) != c.vision {
					t.Fatalf("%d rows, mfu has %d; vision takes %v ns", len(got), len(ours), ns["vision"])
				}
				for stage, flop := range map[string]float64{"prefill": prefill, "decode": decode, "model": prefill + decode} {
					same(t, stage+": operations", got[stage]["legacy_flop"], flop, 0)
					same(t, stage+": time", got[stage]["legacy_time_ns"], ns[stage], 1e-15)
					same(t, stage+": utilisation", got[stage]["legacy_mfu_ratio"], flop/(h200*ns[stage]/1e9), 1e-14)
				}
				if v := got["vision"]; c.vision && (v["legacy_flop"] != 0. || v["legacy_mfu_ratio"] != 0.) {
					t.Errorf("vision: %v", v)
				}
				wrong := got["prefill"]["wrong"].(string)
				for _, part := range c.prefillWrong {
					if !strings.Contains(wrong, part) {
						t.Errorf("prefill: %q is not in %q", part, wrong)
					}
				}
				if n := strings.Count(wrong, ";") + 1; n != len(c.prefillWrong) {
					t.Errorf("prefill: %d of %d: %q", n, len(c.prefillWrong), wrong)
				}
			}
			// Over 1 is shown as it is.
			if row := named(t, w, "legacy-mfu", queries.Args{"compute": "bf16", "peak": "1G"}, "stage")["prefill"]; row["legacy_mfu_ratio"].(float64) < 100 {
				t.Errorf("at a peak of 1 GFLOP/s: %v", row)
			}
		})
	}
}

// TestLegacyOfOnlyExperts holds that a model without a plain MLP is taken with the width of one expert.
func TestLegacyOfOnlyExperts(t *testing.T) {
	t.Parallel()
	w := newWarehouse(t)
	load(t, w, "r", "../testdata/nsys/llama-graph-node/llama-graph-node.sqlite.gz", "../testdata/workload/llama-graph-node.workload.json")
	run(t, w, `UPDATE model_layer SET component = replace(component, 'mlp.', 'experts.')`)
	row := named(t, w, "legacy-mfu", nil, "stage")["decode"]
	same(t, "operations", row["legacy_flop"], 32*16*(4*2048*8192+2*2048*2048+2*2048*(512+16)), 0)
	if wrong := row["wrong"].(string); !strings.Contains(wrong, "experts of a token") || strings.Contains(wrong, "gated") {
		t.Error(wrong)
	}
	run(t, w, `DELETE FROM workload_pass`)
	if row := named(t, w, "legacy-mfu", nil, "stage")["decode"]; row["legacy_flop"] != nil || row["legacy_mfu_ratio"] != nil || row["time_ns"] == nil {
		t.Errorf("without the tokens: %v", row)
	}
}
