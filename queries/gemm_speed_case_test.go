package queries_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// layerKernel is a kernel of a made-up forward pass: how long it takes in microseconds, and its grid, which stands for its shape.
type layerKernel struct {
	name string
	us   int
	grid int
}

const (
	layerAttention = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64>>(Flash_fwd_params)"
	layerReduce    = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	layerGather    = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
)

// layerForward is a prefill of a Llama of three layers, as its products and what is between them; change makes one of each layer's lists another.
func layerForward(ranks int, change func(layer int, list []layerKernel) []layerKernel) (all []layerKernel) {
	product := func(grid int) layerKernel { return layerKernel{"nvjet_sm90_tst_128x64_64x8_1x2_h_bz_TNT", 20, grid} }
	for layer := range 4 {
		list := []layerKernel{product(16), product(4), product(4), {layerAttention, 30, 128}, product(16), {layerReduce, 9, 8}, product(32), product(32), product(17), {layerReduce, 9, 8}}
		if layer == 3 {
			list = []layerKernel{{"nvjet_sm90_tst_256x8_64x6_2x1_v_bz_TNT", 3, 66}, {layerGather, 9, 8}}
		}
		if change != nil {
			list = change(layer, list)
		}
		if ranks == 1 {
			list = slices.DeleteFunc(list, func(k layerKernel) bool { return k.name == layerReduce || k.name == layerGather })
		}
		all = append(all, list...)
	}
	return all
}

// layerTraces writes a trace of each rank with three such prefills, and the workload with the model's configuration.
func layerTraces(t *testing.T, ranks int, forward []layerKernel) (files []string) {
	t.Helper()
	dir := t.TempDir()
	for rank := range ranks {
		var events []string
		at, correlation := 1000, 0
		for range 3 {
			begin, launch := at, at+1
			for _, k := range forward {
				correlation++
				events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": %d, "tid": 1, "ts": %d, "dur": 1, "args": {"correlation": %d}}`, 10+rank, launch, correlation),
					fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "%s", "pid": %d, "tid": 7, "ts": %d, "dur": %d, "args": {"device": %[2]d, "context": 1, "stream": 7, "correlation": %[5]d, "grid": [%[6]d, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0}}`, k.name, rank, at+10, k.us, correlation, k.grid))
				launch, at = launch+2, at+k.us+1
			}
			at = max(at, launch) + 20
			events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "user_annotation", "name": "prefill", "pid": %d, "tid": 1, "ts": %d, "dur": %d, "args": {}}`, 10+rank, begin, at-begin-5))
		}
		path := filepath.Join(dir, fmt.Sprintf("rank%d.json", rank))
		text := fmt.Sprintf(`{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}, {"id": 1, "name": "NVIDIA H200", "numSms": 132}], "distributedInfo": {"backend": "nccl", "rank": %d, "world_size": %d}, "traceEvents": [%s]}`, rank, ranks, strings.Join(events, ","))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	const workload = `{"config": {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "dtype": "bfloat16", "hidden_size": 1024, "intermediate_size": 2048, "num_hidden_layers": 3, "num_attention_heads": 16,
		"num_key_value_heads": 4, "vocab_size": 4096, "hidden_act": "silu", "tie_word_embeddings": false}, "runs": [{"prefill_len": 1024, "new_tokens": 0}, {"prefill_len": 1024, "new_tokens": 0}, {"prefill_len": 1024, "new_tokens": 0}]}`
	path := filepath.Join(dir, "workload.json")
	if err := os.WriteFile(path, []byte(workload), 0o600); err != nil {
		t.Fatal(err)
	}
	return append(files, path)
}

// TestGemmSpeedCases tries what programs do otherwise: what is told is right, and what cannot be told has a reason and no figure.
func TestGemmSpeedCases(t *testing.T) {
	t.Parallel()
	only := func(in int, change func(list []layerKernel) []layerKernel) func(int, []layerKernel) []layerKernel {
		return func(layer int, list []layerKernel) []layerKernel {
			if layer == in {
				return change(list)
			}
			return list
		}
	}
	every := func(change func(list []layerKernel) []layerKernel) func(int, []layerKernel) []layerKernel {
		return func(layer int, list []layerKernel) []layerKernel {
			if layer < 3 {
				return change(list)
			}
			return list
		}
	}
	plain := map[string]string{"q_proj": "1024x1024", "k_proj": "1024x256", "v_proj": "1024x256", "o_proj": "1024x1024", "mlp.gate_proj": "1024x2048", "mlp.up_proj": "1024x2048", "mlp.down_proj": "2048x1024", "lm_head": "1024x4096"}
	with := func(what ...string) map[string]string {
		out := map[string]string{}
		for k, v := range plain {
			out[k] = v
		}
		for i := 0; i < len(what); i += 2 {
			out[what[i]] = what[i+1]
		}
		return out
	}
	halves := map[string]string{"q_proj": "1024x512", "k_proj": "1024x128", "v_proj": "1024x128", "o_proj": "512x1024", "mlp.gate_proj": "1024x1024", "mlp.up_proj": "1024x1024", "mlp.down_proj": "1024x1024", "lm_head": "1024x2048"}
	none := map[string]string{"": "sequence"}
	cases := []struct {
		name   string
		ranks  int
		change func(int, []layerKernel) []layerKernel
		want   map[string]string
	}{
		{"plain", 1, nil, plain},
		{"two ranks", 2, nil, halves},
		{"two ranks, nothing gathered behind the head", 2, only(3, func(l []layerKernel) []layerKernel { return l[:1] }), func() map[string]string {
			m := map[string]string{}
			for k, v := range halves {
				m[k] = v
			}
			m["lm_head"] = "ranks"
			return m
		}()},
		{"one product", 1, every(func(l []layerKernel) []layerKernel { return append([]layerKernel{{l[0].name, 25, 24}}, l[3:]...) }),
			map[string]string{"q_proj+k_proj+v_proj": "1024x1536", "o_proj": "1024x1024", "mlp.gate_proj": "1024x2048", "mlp.up_proj": "1024x2048", "mlp.down_proj": "2048x1024", "lm_head": "1024x4096"}},
		{"keys before queries", 1, every(func(l []layerKernel) []layerKernel { l[0], l[1] = l[1], l[0]; return l }), with("q_proj", "order", "k_proj", "order", "v_proj", "order")},
		{"all before attention alike", 1, every(func(l []layerKernel) []layerKernel { l[0].grid = l[1].grid; return l }), with("q_proj", "order", "k_proj", "order", "v_proj", "order")},
		{"a layer lacks one", 1, only(1, func(l []layerKernel) []layerKernel { return append(l[:6:6], l[7:]...) }), none},
		{"moved by one place", 1, every(func(l []layerKernel) []layerKernel { // as many between any two attentions, but for the ends
			return append(append([]layerKernel{l[8]}, l[:8]...), l[9])
		}), none},
		{"another kernel in one place", 1, only(1, func(l []layerKernel) []layerKernel { l[8].grid = 99; return l }), with("", "unlike")},
		{"a rotary table", 1, only(0, func(l []layerKernel) []layerKernel { return append([]layerKernel{{l[0].name, 2, 1}}, l...) }), with("", "outside")},
		{"two products of no layer", 1, only(0, func(l []layerKernel) []layerKernel {
			return append([]layerKernel{{l[0].name, 2, 1}, {l[0].name, 2, 1}}, l...)
		}), none},
		{"split", 1, every(func(l []layerKernel) []layerKernel {
			return append(l[:9:9], layerKernel{"void cublasLt::splitKreduce_kernel<32, 16>(cublasLt::cublasSplitKParams<float>)", 3, 8}, l[9])
		}), plain},
		{"logits of all", 1, only(3, func(l []layerKernel) []layerKernel { l[0].us = 900; return l }), with("lm_head", "positions")},
		{"too fast", 1, every(func(l []layerKernel) []layerKernel { l[6].us, l[7].us = 1, 1; return l }), with("mlp.gate_proj", "over-peak", "mlp.up_proj", "over-peak")},
	}
	var list []testkit.Run
	for _, c := range cases {
		list = append(list, testkit.Run{Name: strings.ReplaceAll(c.name, " ", "-"), Files: layerTraces(t, c.ranks, layerForward(c.ranks, c.change)), Facts: []string{"gemm_product", "kernel_precision", "caveat"}})
	}
	w := testkit.Warehouse(t, list...)
	for i, c := range cases {
		got := map[string]string{}
		for _, p := range speeds(t, w, list[i].Name) {
			value := p.Unknown
			if value == "" {
				value = fmt.Sprintf("%dx%d", p.K, p.N)
				m := 1024.
				if p.Component == "lm_head" {
					m = 1
				}
				if p.M != m || p.FLOP != 2*m*float64(p.N*p.K) || p.Ranks != int64(c.ranks) || (p.ReduceNS > 0) != (c.name == "split" && p.Component == "mlp.down_proj") {
					t.Errorf("%s: %+v", c.name, p)
				}
			} else if p.FLOP == p.FLOP || p.BytesPerS == p.BytesPerS {
				t.Errorf("%s: figures in spite of %s: %+v", c.name, value, p)
			}
			got[p.Component] = value
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.name, got, c.want)
		}
	}
}
