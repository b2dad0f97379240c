package averages

import (
	"fmt"
	"strings"
	"testing"
)

// TestEngine: rows of device work are kernels, copies or ranges, and add up to what PyTorch printed.
func TestEngine(t *testing.T) {
	rows, res := readBytes(t, "printed", unpacked(t, "../../../testdata/lost/profiler_out_0.txt"))
	want := []string{"range", "device", "device", "cpu", "device", "cpu"}
	for i, r := range rows {
		if r.kind != want[i] {
			t.Errorf("%s is of kind %s", r.name, r.kind)
		}
	}
	if res.account != (account{10e6, 10e6, 100e6, 100e6}) || len(res.warnings) != 1 {
		t.Errorf("%+v, %q", res.account, res.warnings)
	}
}

// TestHeld: totals that PyTorch printed, or that shares tell, are held against the rows, in every form.
func TestHeld(t *testing.T) {
	text := string(unpacked(t, "../../../testdata/lost/profiler_out_0.txt"))
	without := func(text string, names ...string) string {
		var out []string
		for line := range strings.Lines(text) {
			keep := true
			for _, name := range names {
				keep = keep && !strings.Contains(line, name)
			}
			if keep {
				out = append(out, line)
			}
		}
		return strings.Join(out, "")
	}
	// A table of CSV or Markdown has no line below it, but shares.
	table := [][]string{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(strings.Join(strings.Fields(strings.ReplaceAll(line, "  ", "\x00")), " "), "\x00"); len(cells) > 10 && !strings.HasPrefix(line, "-") {
			row := []string{}
			for _, c := range cells {
				if c = strings.TrimSpace(c); c != "" {
					row = append(row, c)
				}
			}
			table = append(table, row)
		}
	}
	csv := func(table [][]string) string {
		var b strings.Builder
		for _, row := range table {
			fmt.Fprintf(&b, "\"%s\"\n", strings.Join(row, `","`))
		}
		return b.String()
	}
	for _, c := range []struct {
		name, in string
		want     account
		warning  string
	}{
		{"all", text, account{10e6, 10e6, 100e6, 100e6}, ""},
		{"CSV", csv(table), account{10e6, 10e6, 100e6, 100e6}, ""},
		{"Markdown", markdown(table), account{10e6, 10e6, 100e6, 100e6}, ""},
		{"another device", strings.ReplaceAll(text, "CUDA", "XPU"), account{10e6, 10e6, 100e6, 100e6}, ""},
		{"no footer", without(text, "time total"), account{10e6, 10e6, 100e6, 100e6}, ""},
		{"a kernel lost", without(text, "nvjet"), account{10e6, 10e6, 100e6, 40e6}, "the rows have 40.0 % of the GPU time that PyTorch printed as the total: the table has the first rows only (row_limit)"},
		{"a kernel lost, CSV", without(csv(table), "nvjet"), account{10e6, 10e6, 100e6, 40e6}, "the rows have 40.0 % of the GPU time"},
		{"a call lost", without(text, "cudaGraphLaunch"), account{10e6, 1e6, 100e6, 100e6}, "the rows have 10.0 % of the CPU time"},
		{"a kernel twice", strings.ReplaceAll(text, "Memcpy HtoD (Pinned -> Device)         0.00%       0.000us          0.00%       0.000us         0.000us      10.000ms", "Memcpy HtoD (Pinned -> Device)         0.00%       0.000us          0.00%       0.000us         0.000us      20.000ms"),
			account{10e6, 10e6, 100e6, 110e6}, "the rows have 110.0 % of the GPU time that PyTorch printed as the total: some count twice"},
		{"ranges in the total, as before PyTorch 2.5", strings.Replace(strings.ReplaceAll(text, "execute_context_0(0)_generation_8(8)", "ProfilerStep*                       "), "total: 100.000ms", "total: 200.000ms", 1), account{10e6, 10e6, 100e6, 100e6}, ""},
		{"operators alone", without(text, "nvjet", "rms_norm", "Memcpy", "execute_"), account{10e6, 10e6, 100e6, 10e6}, "the rows have 10.0 % of the GPU time"},
	} {
		_, res := readBytes(t, c.name, []byte(c.in))
		var odd []string
		for _, w := range res.warnings {
			if strings.Contains(w, "the rows have") {
				odd = append(odd, w)
			}
		}
		if res.account != c.want || len(odd) > 1 || c.warning != strings.Join(odd, "") && (c.warning == "" || !strings.HasPrefix(strings.Join(odd, ""), c.warning)) {
			t.Errorf("%s: %+v, %q", c.name, res.account, odd)
		}
	}
}

// TestNames tells names of kernels from those of ranges.
func TestNames(t *testing.T) {
	for name, is := range map[string]bool{
		"nvjet_tst_64x8_64x16_4x1_v_bz_TNT": true, "void vllm::rms_norm_kernel<c10::BFloat16, 8>(...)": true, "Memcpy HtoD (Pinned -> Device)": true, "Memset (Device)": true,
		"triton_poi_fused_0": true, "_ZN7cutlass13device_kernelIN2at4cuda6detail": true, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)": true, "sm80_xmma_gemm_f32": true,
		"execute_context_0(0)_generation_8(8)": false, "decode_step[1]": false, "LLM@prefill": false, "## forward ##": false, "Optimizer.step#AdamW.step": false, "step[DECODE bs=4]": false,
	} {
		if isWork(name) != is {
			t.Errorf("%s: %t", name, !is)
		}
	}
}
