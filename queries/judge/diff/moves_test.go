package diff

import (
	"slices"
	"testing"
)

// TestMoves holds which kernels are said to have taken whose place, and that the sides swapped say the contrary.
func TestMoves(t *testing.T) {
	t.Parallel()
	k := func(name, family, grid string, calls int64, ns float64) kernel {
		return kernel{name, family, grid, calls, ns}
	}
	cases := []struct {
		name string
		a, b []kernel
		want map[string][2]string // how and partner by kernel; those that are not here have neither
	}{
		{"the same grid and calls go before the same calls alone",
			[]kernel{k("gemm_1", "gemm", "4", 12, 500), k("gemm_2", "gemm", "8", 12, 500)}, []kernel{k("gemm_3", "gemm", "8", 12, 900), k("gemm_4", "gemm", "16", 12, 480)},
			map[string][2]string{"gemm_2": {renamed, "gemm_3"}, "gemm_3": {renamed, "gemm_2"}, "gemm_1": {otherGrid, "gemm_4"}, "gemm_4": {otherGrid, "gemm_1"}}},
		{"of several the one that takes as long",
			[]kernel{k("gemm_a", "gemm", "4", 12, 500)}, []kernel{k("gemm_b", "gemm", "8", 12, 5000), k("gemm_c", "gemm", "16", 12, 480)},
			map[string][2]string{"gemm_a": {otherGrid, "gemm_c"}, "gemm_c": {otherGrid, "gemm_a"}}},
		{"a family with another number of calls", []kernel{k("gemm_a", "gemm", "4", 12, 500)}, []kernel{k("gemm_b", "gemm", "8", 24, 250)},
			map[string][2]string{"gemm_a": {sameFamily, "gemm_b"}, "gemm_b": {sameFamily, "gemm_a"}}},
		{"names without a family, but for template and numbers", []kernel{k("void n::scan<float, 4>(float *)", "", "4", 3, 500)}, []kernel{k("void n::scan<float, 8>(float *)", "", "2", 3, 500)},
			map[string][2]string{"void n::scan<float, 4>(float *)": {otherGrid, "void n::scan<float, 8>(float *)"}, "void n::scan<float, 8>(float *)": {otherGrid, "void n::scan<float, 4>(float *)"}}},
		{"one with nothing in common but grid and calls", []kernel{k("alpha", "", "4", 7, 500)}, []kernel{k("beta", "", "4", 7, 450)},
			map[string][2]string{"alpha": {renamed, "beta"}, "beta": {renamed, "alpha"}}},
		{"one with nothing in common but calls", []kernel{k("alpha", "", "4", 7, 500)}, []kernel{k("beta", "", "5", 7, 450)},
			map[string][2]string{"alpha": {replaced, "beta"}, "beta": {replaced, "alpha"}}},
		{"three fused into one", []kernel{k("qk", "gemm", "4", 12, 500), k("av", "gemm", "5", 12, 500), k("softmax", "softmax", "6", 12, 200)}, []kernel{k("flash", "attention", "7", 12, 300)},
			map[string][2]string{"qk": {fused, "flash"}, "av": {fused, "flash"}, "softmax": {fused, "flash"}, "flash": {fused, "av + qk + softmax"}}},
		{"one split in two", []kernel{k("flash", "attention", "7", 12, 300)}, []kernel{k("part", "split attention", "4", 12, 200), k("merge", "merge", "5", 12, 80)},
			map[string][2]string{"flash": {splitUp, "merge + part"}, "part": {splitUp, "flash"}, "merge": {splitUp, "flash"}}},
		{"kernels in a graph that is traced as a whole", []kernel{k("alpha", "", "4", 7, 500), k("beta", "", "5", 9, 450)}, []kernel{k("graph replay", "", "", 1, 7000)},
			map[string][2]string{"alpha": {inGraph, "graph replay"}, "beta": {inGraph, "graph replay"}, "graph replay": {inGraph, "alpha + beta"}}},
		{"far too short to have taken its place", []kernel{k("alpha", "", "4", 7, 50000), k("omega", "", "9", 7, 60000)}, []kernel{k("beta", "", "5", 7, 450)}, nil},
		{"called once each, several for several", []kernel{k("alpha", "", "4", 1, 500), k("omega", "", "9", 1, 600)}, []kernel{k("beta", "", "5", 1, 450), k("delta", "", "6", 1, 450)}, nil},
		{"another number of calls", []kernel{k("alpha", "", "4", 7, 500)}, []kernel{k("beta", "", "4", 8, 450)}, nil},
	}
	for _, c := range cases {
		side := func(name string, own []kernel) []runData {
			st := madeStage{name: "decode", passes: 3, kernels: append([]kernel{k("common", "gemm", "1", 12, 500)}, own...)}
			return []runData{made(name, 1, st)}
		}
		for _, r := range []*Result{compared(t, side("a", c.a), side("b", c.b), bare), compared(t, side("b", c.b), side("a", c.a), bare)} {
			for _, it := range r.Items {
				how, partner := c.want[it.Name][0], c.want[it.Name][1]
				if back := r.A.Runs[0].ID == "b"; back && how == fused {
					how = splitUp
				} else if back && how == splitUp {
					how = fused
				}
				if it.How != how || it.Partner != partner || (it.Status == Moved) != (how != "") {
					t.Errorf("%s: %s is %s, %q of %q, want %q of %q", c.name, it.Name, it.Status, it.How, it.Partner, how, partner)
				}
			}
			checkTotals(t, c.name, r.Stages[0], r.Items, true)
		}
	}
}

// TestMovesByGrid holds that by grid a kernel moves from one grid to another.
func TestMovesByGrid(t *testing.T) {
	t.Parallel()
	side := func(name, grid string) []runData {
		return []runData{made(name, 1, madeStage{name: "decode", passes: 3, kernels: []kernel{{"gemm", "gemm", grid, 12, 500}, {"gemm", "gemm", "9 x 1 x 1", 2, 500}}})}
	}
	r := compared(t, side("a", "4 x 1 x 1"), side("b", "8 x 1 x 1"), Options{By: ByGrid, Stats: bare.Stats})
	moved := slices.DeleteFunc(slices.Clone(r.Items), func(it Item) bool { return it.Status != Moved })
	if len(r.Items) != 3 || len(moved) != 2 || moved[0].How != otherGrid || moved[0].Grid == moved[1].Grid || moved[0].Kind != "grid" {
		t.Errorf("%+v", r.Items)
	}
	if st := r.Stages[0]; st.Verdict != NoChange || len(st.Contributors) != 0 {
		t.Errorf("%s: %+v", st.Verdict, st.Contributors)
	}
}

func TestPlainName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float>>(T3)":          "at::native::reduce_kernel",
		"void <unnamed>::softmax_warp_forward<float, (int)10>(T2 *, const T1 *)":                     "{anonymous}::softmax_warp_forward",
		"void (anonymous namespace)::softmax_warp_forward<float, (int)10>(T2 *)":                     "{anonymous}::softmax_warp_forward",
		"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int>(cublasGemvParamsEx<int>)": "internal::gemvx::kernel",
		"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT":                                                     "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT",
		"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)":    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
		"<lambda>": "<lambda>",
	} {
		if got := plainName(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if a, b := baseName("nvjet_sm90_tst_64x8_64x16_4x1_v"), baseName("nvjet_sm90_tst_128x16_64x8_2x1_v"); a != b {
		t.Errorf("%s and %s differ", a, b)
	}
}
