package layers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Kernels of real programs, as letters: of transformers' Llama and DeepSeek (its norms of eight kernels, rotary embeddings of five), vLLM's and SGLang's.
const (
	madeNorm  = "kpmaixkx"
	latent    = madeNorm + "GGkpmaixkxkkxkxkkkkGkkAkG+" // latent attention: a norm of its own behind the products that lead to keys
	dense     = madeNorm + "GvGxG+"
	mixture   = madeNorm + "kkGRSTllsleekfrsslllt" + "XlvltXllleerk" + "GvGxG++"
	fused     = "NGokAGNGvG"
	eagerMath = "NGGGxnkx+xnkx+kkGxSkGkG+NGvGxG+" // scores and values are products around a softmax
)

// initials of parts.
var initials = map[byte]string{'a': attention, 'o': rotary, 'm': mlp, 'r': router, 'x': experts, 's': shared, 'n': norms, 'k': copies, 'c': collectives, 'h': head, 'z': sampling, 'e': embedding, '.': other}

// spelled is what is known of each kernel: outside layers the initial of its part, in layers that of the layer, in upper case where it begins.
func spelled(f found) string {
	if f.unknown != "" {
		return f.unknown
	}
	var out strings.Builder
	before := -1
	for i, layer := range f.layer {
		if layer >= 0 && layer != before {
			fmt.Fprintf(&out, "%d", layer)
		} else if layer < 0 && before >= 0 {
			out.WriteByte('|')
		}
		before = layer
		for initial, part := range initials {
			if part == f.part[i] {
				out.WriteByte(initial)
			}
		}
	}
	return out.String()
}

// TestSequence holds which layer and part each kernel is of, by the sequence.
func TestSequence(t *testing.T) {
	const norm, attends = "nnnnnnnn", "nnnnnnnnaannnnnnnnkkakakkkkakkaka."
	var mixtures strings.Builder
	for i := range 11 {
		fmt.Fprintf(&mixtures, "%d%s", i+1, attends+norm+"kkrrrrrrrrrrkrrrrrrrr"+"xxxxxxxxxxxxk"+"sssss..")
	}
	for _, c := range []struct {
		name, text    string
		depth, passes int
		want          string
	}{
		{"one forward pass", "e" + strings.Repeat(fused, 2) + "NGz", 2, 1, "e0naokaanmmm1naokaanmmm|nhz"},
		{"two, of as many layers as the sequence says", strings.Repeat("e"+strings.Repeat(fused, 2)+"NGz", 2), 0, 0, strings.Repeat("e0naokaanmmm1naokaanmmm|nhz", 2)},
		{"a table of rotary embeddings first, and the residual's sum", "elG" + strings.Repeat("NGGGAG+NGvGxG+", 2) + "NG", 0, 1, "e..0naaaaa.nmmmmm.1naaaaa.nmmmmm.|nh"},
		{"of latents, the first layer dense", "ekG" + latent + dense + strings.Repeat(latent+mixture, 11) + madeNorm + "Gz", 12, 1,
			"ek.0" + attends + norm + "mmmmm." + mixtures.String() + "|" + norm + "hz"},
		{"scores and values as products", "e" + strings.Repeat(eagerMath, 2) + "NG", 2, 1, "e0naaaooooooooookkaaakaka.nmmmmm.1naaaooooooooookkaaakaka.nmmmmm.|nh"},
		{"a norm behind attention and MLP too", "e" + strings.Repeat("NGAGN+NGvGN+", 2) + "NG", 2, 1, "e0naaan.nmmmn.1naaan.nmmmn.|nh"},
		{"norms of queries and keys", "e" + strings.Repeat("NGNNAGNGvG", 2) + "NG", 2, 1, "e0nannaanmmm1nannaanmmm|nh"},
		{"attention and MLP of one norm", "e" + strings.Repeat("NGAGGvG+", 3) + "NG", 3, 1, "e0naaammm.1naaammm.2naaammm.|nh"},
		{"split products and collectives", "e" + strings.Repeat("NGAGRCNGvGRC", 2) + "NGRC", 2, 1, "e0naaaacnmmmmc1naaaacnmmmmc|nhhc"},
		{"experts that a name does not tell", "e" + strings.Repeat("NGAGNGtttGGt", 2) + "NG", 2, 1, "e0naaanrrrrxxx1naaanrrrrxxx|nh"},
		{"shared experts before the others", "e" + strings.Repeat("NGAGNGvGGTXvX", 2) + "NG", 2, 1, "e0naaansssrrxxx1naaansssrrxxx|nh"},
		{"several kernels of one attention", "e" + strings.Repeat("NGAlAArGNGvG", 2) + "NG", 2, 1, "e0naaaaaaanmmm1naaaaaaanmmm|nh"},
		{"the end of the pass in the last layer", strings.Repeat(fused, 3), 3, 0, "0naokaanmmm1naokaanmmm2naokaanmmm"},
		{"no attention", "eNGNGvGNG", 0, 0, noAttention},
		{"one attention", "e" + fused + "NG", 1, 1, noAttention},
		{"other layers than the model's", "e" + strings.Repeat(fused, 3) + "NG", 2, 1, otherCount},
		{"other forward passes than the workload's", "e" + strings.Repeat(fused, 3) + "NG", 0, 2, otherCount},
		{"no norms", strings.Repeat("GAGGvG", 4), 4, 1, noSequence},
		{"layers without attention between", "e" + strings.Repeat("NGAGNGvGNGvG", 2) + "NGAGNGvG" + "NG", 0, 1, noSequence},
		{"kernels that do not repeat", "eNGAGNGvGNGlllllAGlllNGllllvGNG", 0, 1, noSequence},
	} {
		var list []kernel
		for i := range len(c.text) {
			list = append(list, kernel{letter: c.text[i], ns: 1})
		}
		got := spelled(find(list, c.depth, c.passes))
		if got != c.want {
			t.Errorf("%s: %s is\n%s, not\n%s", c.name, c.text, got, c.want)
		}
	}
}

// TestLetters holds what kernels do, of which the order says where layers begin.
func TestLetters(t *testing.T) {
	for _, c := range []struct {
		role, family, name string
		want               byte
	}{
		{"gemm", "cublas nvjet", "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", 'G'}, {"gemm", "fused moe gemm", "fused_moe_kernel", 'X'}, {"gemm", "cutlass grouped gemm", "device_kernel", 'X'},
		{"attention", "flash attention", "flash_fwd_kernel", 'A'}, {"attention", "flash attention metadata", "prepare_varlen_num_blocks", 'l'}, {"normalisation", "vllm rms norm", "rms_norm_kernel", 'N'},
		{"reduction", "cublasLt splitK reduce", "splitKreduce_kernel", 'R'}, {"reduction", "pytorch reduce", "reduce_kernel<512, 1, ReduceOp<float, MeanOps<float>>>", 'm'}, {"reduction", "pytorch reduce", "reduce_kernel<sum>", 'r'},
		{"elementwise", "pytorch elementwise", "vectorized_elementwise_kernel<4, rsqrt_kernel_cuda>", 'i'}, {"elementwise", "pytorch elementwise", "vectorized_elementwise_kernel<8, CUDAFunctor_add>", '+'},
		{"kv_cache", "kv cache write", "reshape_and_cache_flash_kernel", 'k'}, {"other", "", "any", 'l'}, {"", "", "any", 'l'},
	} {
		if got := letterOf(c.role, c.family, c.name); got != c.want {
			t.Errorf("%s, %s, %s: %c, not %c", c.role, c.family, c.name, got, c.want)
		}
	}
}

// TestPlaces holds what names of modules and ranges say.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		names string
		want  place
	}{
		{"", place{}},
		{"LlamaForCausalLM_0 > Linear_14", place{known: true}},
		{"LlamaForCausalLM_0 > LlamaModel_0 > LlamaDecoderLayer_12 > LlamaAttention_12 > Linear_7", place{"LlamaForCausalLM_# > LlamaModel_# > LlamaDecoderLayer", 12, attention, true}},
		{"LlamaForCausalLM_0 > LlamaModel_0 > LlamaDecoderLayer_1 > LlamaRMSNorm_3", place{"LlamaForCausalLM_# > LlamaModel_# > LlamaDecoderLayer", 1, norms, true}},
		{"LlamaForCausalLM_0 > LlamaModel_0 > LlamaDecoderLayer_1", place{"LlamaForCausalLM_# > LlamaModel_# > LlamaDecoderLayer", 1, "", true}},
		{"Qwen3ForCausalLM_0 > Qwen3Model_0 > Qwen3DecoderLayer_0 > Qwen3Attention_0 > Qwen3RMSNorm_1", place{"Qwen#ForCausalLM_# > Qwen#Model_# > Qwen#DecoderLayer", 0, norms, true}},
		{"DeepseekV2Model_0 > DeepseekV2DecoderLayer_1 > DeepseekV2Moe_0 > DeepseekV2Experts_0", place{"DeepseekV#Model_# > DeepseekV#DecoderLayer", 1, experts, true}},
		{"DeepseekV2Model_0 > DeepseekV2DecoderLayer_1 > DeepseekV2Moe_0 > DeepseekV2TopkRouter_0", place{"DeepseekV#Model_# > DeepseekV#DecoderLayer", 1, router, true}},
		{"Net_0 > LayerNorm_0", place{part: norms, known: true}},
		{"LlamaModel_0 > LlamaRotaryEmbedding_0", place{part: rotary, known: true}},
		{"LlamaModel_0 > Embedding_0", place{part: embedding, known: true}},
		{"decode_step[3] > layer_7 > attn", place{"decode_step[#] > layer", 7, attention, true}},
		{"prefill > layers.31.mlp.down_proj", place{"prefill > layers.", 31, mlp, true}},
		{"{'Module': 'model.layers.3.self_attn.qkv_proj'}", place{"{'Module': 'model.layers.", 3, attention, true}},
		{"transformer.h.5.mlp.c_fc", place{"transformer.h.", 5, mlp, true}},
		{"decode_step[3] > batch=4", place{known: true}},
	} {
		if got := placeOf(c.names); got != c.want {
			t.Errorf("%q: %+v, not %+v", c.names, got, c.want)
		}
	}
}

// TestGroups holds which layers are equal: of one sequence, and none that is slower or faster than the others.
func TestGroups(t *testing.T) {
	texts, ns := map[int]*strings.Builder{}, map[int]int64{}
	for layer, c := range []struct {
		text string
		ns   int64
	}{{"NG", 50}, {"NX", 100}, {"NX", 119}, {"NX", 121}, {"NX", 95}, {"NX", 79}, {"NX", 100}, {"NX", 130}} {
		texts[layer], ns[layer] = &strings.Builder{}, c.ns
		texts[layer].WriteString(c.text)
	}
	got, ratio := groups(texts, ns)
	if want := "[[0] [1 2 4 6] [3 7] [5]]"; fmt.Sprint(got) != want {
		t.Errorf("groups are %v, not %s", got, want)
	}
	if _, has := ratio[0]; has || ratio[7] != 0.3 || ratio[6] != 0 {
		t.Errorf("off by %v", ratio)
	}
}

// TestConservation holds that each kernel is in one row, whatever the sequence is.
func TestConservation(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pieces := []string{fused, latent + dense, latent + mixture, eagerMath, "NG", "e", "z", "A", "S", "G", madeNorm, "GAG", "kpma", "XT"}
	divided := 0
	for range 300 {
		var text string
		for range 1 + random.IntN(6) {
			text += strings.Repeat(pieces[random.IntN(len(pieces))], 1+random.IntN(4))
		}
		p := pass{}
		var count, ns int64
		for i := range len(text) {
			k := kernel{letter: text[i], ns: random.Int64N(1000), isVision: random.IntN(50) == 0}
			if random.IntN(2) == 0 {
				k.place = placeOf([]string{"M_0", "M_0 > DecoderLayer_0 > Attention_0", "M_0 > DecoderLayer_1", "VisionLayer_0"}[random.IntN(4)])
			}
			p.kernels, count, ns = append(p.kernels, k), count+1, ns+k.ns
		}
		var out strings.Builder
		p.write(&out, random.IntN(3))
		for row := range strings.SplitSeq(strings.TrimSuffix(out.String(), rowEnd), rowEnd) {
			f := strings.Split(row, fieldEnd)
			var n, sum int64
			fmt.Sscan(f[7], &n)
			fmt.Sscan(f[8], &sum)
			if count, ns = count-n, ns-sum; (f[5] == "") == (f[10] == "") {
				t.Errorf("%s: %q has a part and a reason, or neither", text, f)
			}
			if f[10] == "" {
				divided++
			}
		}
		if count != 0 || ns != 0 {
			t.Fatalf("%s: %d kernels and %d ns are in no row, or in two:\n%s", text, count, ns, out.String())
		}
	}
	if divided < 50 {
		t.Errorf("%d rows have a part", divided)
	}
}

func BenchmarkFind(b *testing.B) {
	var list []kernel
	for range 32 {
		for _, c := range "e" + strings.Repeat(latent+mixture, 16) + madeNorm + "Gz" {
			list = append(list, kernel{letter: byte(c), ns: 1})
		}
	}
	b.ReportMetric(float64(len(list)), "kernels")
	for b.Loop() {
		find(list, 16, 32)
	}
}
