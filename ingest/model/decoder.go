package model

import (
	"fmt"
	"strings"
)

// decoderPart is the part of a model that yields tokens.
const decoderPart = "decoder"

// routerName is the component that chooses experts.
const routerName = "router"

// decoder is what the families differ in. reader.family fills it from a configuration; reader.build makes rows of it.
type decoder struct {
	hidden, vocab, layers int64
	heads, kvHeads        int64
	headSize              int64
	mlp                   int64 // width of the plain layers' MLP

	tied      bool  // the head is the embedding's table
	positions int64 // rows of a table of positions; 0 for rotary ones

	fusedQKV      string // name of one matrix for queries, keys and values; "" for three
	fusedGate     bool   // gate and up are one matrix
	plainMLP      bool   // two matrices instead of three
	mlpNames      [2]string
	outName       string
	qkvBias       bool
	outBias       bool
	mlpBias       bool
	mlpOwn        int64 // parameters of the MLP that multiply nothing: a norm's inside it, or an activation's
	headBias      bool
	normSize      int64                   // parameters of a norm: hidden, or twice with a shift, or 0
	norms         int64                   // norms of a layer
	embeddingNorm bool                    // embeddings are normalised
	qkNorm        int64                   // parameters that normalise queries and keys
	gateName      string                  // matrix whose products gate what attention yields; "" for none
	sinks         bool                    // a parameter of each head takes part in the softmax
	window        func(layer int64) int64 // tokens that a token of the layer sees; 0 all
	mla           *latent
	moe           *experts
	sparse        func(layer int64) bool  // whether the layer has experts
	width         func(layer int64) int64 // of the MLP of a layer without experts, 0 for none; nil: mlp
	mixer         func(layer int64) string
	mixers        map[string]func(window int64) // what layers have in place of plain or latent attention, by what mixer gives
	embeddingName string
	entry, exit   func() // add what lies between embedding and layers, and between them and the last norm; may be nil
}

// latent is attention whose keys and values are made from one small vector a token (MLA).
type latent struct {
	qRank        int64 // 0: queries are not made from a latent
	kvRank, rope int64
	nope, value  int64
	bias         bool
	once         bool // keys and values are made of a token's latent once, not anew at each step
}

// experts are the MLPs among which a router chooses.
type experts struct {
	count, perToken int64
	mlp             int64
	bias            bool
	routerBias      bool
	correction      int64 // parameters that correct the router's choice
	shared          int64 // width of the MLP that every token passes beside them; 0 none
	sharedGate      bool  // a weight for it is computed
	sharedBias      bool
	latent          int64 // width of what experts take and give, made of the decoder's and made into it by a matrix each; 0 the decoder's
}

// decoder reads the decoder in text, which is the whole configuration c or an object in it.
func (r *reader) decoder(c, text config) {
	family := r.model.Family
	if text.path != "" {
		family = text.text("model_type")
		if family == "" {
			family = textOf[r.model.Family]
		}
		if family == "" {
			family = familyOf(text, first(text.texts("architectures")))
		}
	}
	for _, class := range []string{family, sameAs[family]} {
		if text.defaults == nil {
			text.defaults = classDefaults()[class]
		}
	}
	if same, ok := sameAs[family]; ok {
		family = same
	}
	if encoderDecoders[family] != nil && text.path == "" {
		r.encoderDecoder(text, family)
		return
	}
	if c.flag(false, "is_encoder_decoder") || text.flag(false, "is_encoder_decoder") {
		r.refuse("an encoder next to the decoder (is_encoder_decoder)")
		return
	}
	d := &decoder{embeddingName: "embed_tokens", outName: "o_proj", mlpNames: [2]string{"up_proj", "down_proj"}}
	read, known := families[family]
	if !known {
		read = (*reader).standard
	}
	r.nextTokens(text)
	read(r, text, d)
	r.unread(text, family, known)
	if e := d.moe; e != nil && e.perToken > e.count {
		text.wrong("num_experts_per_tok", e.perToken, fmt.Sprintf("at most %d, which is all experts", e.count))
	}
	d.tied = r.tied(c, text)
	m := r.model
	m.HiddenSize, m.VocabSize, m.LayerCount = d.hidden, d.vocab, d.layers
	m.MaxContext = text.opt(0, "max_position_embeddings", "n_positions", "n_ctx", "max_sequence_length", "seq_length", "max_seq_len")
	if m.MaxContext == 0 && text.path != "" {
		m.MaxContext = c.opt(0, "max_position_embeddings")
	}
	if d.layers > maxLayers {
		text.wrong("num_hidden_layers", d.layers, fmt.Sprintf("at most %d", maxLayers))
		return
	}
	if c.faults.err() == nil {
		r.build(d, r.headOf(c, d))
	}
}

// maxLayers bounds the layers of a model, each of which is looked at; the deepest published ones have under 200.
const maxLayers = 100_000

// tied reports whether head and embedding share a table. In a model for pictures and text the whole configuration decides, with the
// default of its class; some classes take it from the decoder's too, where files before transformers 5 have it.
func (r *reader) tied(c, text config) bool {
	const field = "tie_word_embeddings"
	if text.path == "" {
		return c.flag(false, field)
	}
	_, classSays := c.defaults[field]
	if !classSays && !c.has(field) {
		return text.flag(false, field)
	}
	whole := c.flag(false, field)
	if whole && !c.has(field) && !text.flag(false, field) {
		c.assume("head and embedding share a table, the default of %s; a checkpoint with both has that many more parameters", r.model.Family)
	}
	switch r.model.Family {
	case "llava", "qwen2_vl", "qwen2_5_vl":
		return whole || text.flag(false, field)
	}
	return whole
}

// build makes the rows of a decoder, equal layers as one group.
func (r *reader) build(d *decoder, h head) {
	b := &r.b
	b.part, b.view, b.scope, b.positions, b.shared = decoderPart, "", Token, 0, false
	b.in("embedding", 1)
	b.table(d.embeddingName, d.vocab, d.hidden)
	if d.positions > 0 {
		b.table("position_embedding", d.positions, d.hidden)
	}
	if d.embeddingNorm {
		b.norm("embedding_norm", d.normSize)
	}
	if d.entry != nil {
		d.entry()
	}
	for _, g := range d.groups() {
		b.in(LayerNames(g.layers), int64(len(g.layers)))
		r.layer(d, g.kind)
	}
	b.in("head", 1)
	if d.exit != nil {
		d.exit()
	}
	b.norm("norm", d.normSize)
	switch {
	case h.logits:
		b.scope, b.shared = Logit, d.tied
		b.linear("lm_head", d.hidden, d.vocab, d.headBias && !d.tied)
		b.scope, b.shared = Token, false
		if d.headBias && d.tied {
			b.parameter("lm_head.bias", d.vocab)
		}
	case h.name != "":
		b.linear(h.name, d.hidden, h.outputs, h.bias)
	}
}

// kind is what layers of a model differ in.
type kind struct {
	mixer  string
	window int64
	sparse bool
	width  int64
}

// group is a set of layers that are equal.
type group struct {
	kind
	layers []int
}

func (d *decoder) groups() []group {
	var out []group
	place := map[kind]int{}
	for i := range d.layers {
		k := d.kind(i)
		at, ok := place[k]
		if !ok {
			at = len(out)
			place[k] = at
			out = append(out, group{kind: k})
		}
		out[at].layers = append(out[at].layers, int(i))
	}
	return out
}

func (d *decoder) kind(i int64) kind {
	k := kind{sparse: d.moe != nil && d.sparse(i)}
	if d.window != nil {
		k.window = d.window(i)
	}
	if d.mixer != nil {
		k.mixer = d.mixer(i)
	}
	switch {
	case k.sparse:
	case d.width != nil:
		k.width = d.width(i)
	default:
		k.width = d.mlp
	}
	return k
}

// layer adds the components of one group of layers.
func (r *reader) layer(d *decoder, k kind) {
	b := &r.b
	b.norm("norms", b.mul(d.norms, d.normSize))
	if mix := d.mixers[k.mixer]; mix != nil {
		mix(k.window)
	} else if d.mla != nil {
		r.latentAttention(d, k.window)
	} else {
		r.attention(d, k.window)
	}
	if k.sparse {
		r.experts(d)
	} else if k.width > 0 {
		r.mlp("mlp.", k.width, d, d.mlpBias)
		b.parameter("mlp.parameters", d.mlpOwn)
	}
}

func (r *reader) attention(d *decoder, window int64) {
	b := &r.b
	q, kv := b.mul(d.heads, d.headSize), b.mul(d.kvHeads, d.headSize)
	if d.fusedQKV != "" {
		b.linear(d.fusedQKV, d.hidden, b.add(q, b.mul(2, kv)), d.qkvBias)
	} else {
		b.linear("q_proj", d.hidden, q, d.qkvBias)
		b.linear("k_proj", d.hidden, kv, d.qkvBias)
		b.linear("v_proj", d.hidden, kv, d.qkvBias)
	}
	if d.gateName != "" {
		b.linear(d.gateName, d.hidden, q, d.qkvBias)
	}
	b.norm("q_norm, k_norm", d.qkNorm)
	b.put(Layer{Component: "attention", Kind: Attention, Scope: Token, Heads: d.heads, KVHeads: d.kvHeads, KeySize: d.headSize, ValueSize: d.headSize, Window: window})
	if d.sinks {
		b.parameter("sinks", d.heads)
	}
	b.linear(d.outName, q, d.hidden, d.outBias)
}

// latentAttention adds multi-head latent attention: arXiv 2405.04434, section 2.1.
func (r *reader) latentAttention(d *decoder, window int64) {
	b, l := &r.b, d.mla
	key := b.add(l.nope, l.rope)
	if l.qRank == 0 {
		b.linear("q_proj", d.hidden, b.mul(d.heads, key), false)
	} else {
		b.linear("q_a_proj", d.hidden, l.qRank, l.bias)
		b.norm("q_a_layernorm", l.qRank)
		b.linear("q_b_proj", l.qRank, b.mul(d.heads, key), false)
	}
	b.linear("kv_a_proj_with_mqa", d.hidden, b.add(l.kvRank, l.rope), l.bias)
	b.norm("kv_a_layernorm", l.kvRank)
	expand := "kv_b_proj, once a token"
	if !l.once {
		expand, b.scope = "kv_b_proj", Latent
	}
	b.linear(expand, l.kvRank, b.mul(d.heads, b.add(l.nope, l.value)), false)
	b.scope = Token
	b.put(Layer{Component: "attention", Kind: Attention, Scope: Token, Heads: d.heads, KVHeads: d.heads, KeySize: key, ValueSize: l.value,
		Window: window, Latent: l.kvRank, Rope: l.rope})
	b.linear("o_proj", b.mul(d.heads, l.value), d.hidden, l.bias)
}

// mlp adds an MLP that every token passes.
func (r *reader) mlp(prefix string, width int64, d *decoder, bias bool) {
	b := &r.b
	switch {
	case d.plainMLP:
		b.linear(prefix+d.mlpNames[0], d.hidden, width, bias)
	case d.fusedGate:
		b.linear(prefix+"gate_up_proj", d.hidden, b.mul(2, width), bias)
	default:
		b.linear(prefix+"gate_proj", d.hidden, width, bias)
		b.linear(prefix+"up_proj", d.hidden, width, bias)
	}
	b.linear(prefix+d.mlpNames[1], width, d.hidden, bias)
}

// experts adds a router and the MLPs it chooses from.
func (r *reader) experts(d *decoder) {
	b, e := &r.b, d.moe
	b.linear(routerName, d.hidden, e.count, e.routerBias)
	b.parameter("e_score_correction_bias", e.correction)
	width := d.hidden
	if e.latent > 0 {
		width = e.latent
		b.linear("fc1_latent_proj", d.hidden, width, d.mlpBias)
	}
	two, name := b.mul(2, e.mlp), "experts.gate_up_proj"
	if d.plainMLP {
		two, name = e.mlp, "experts.up_proj"
	}
	b.experts(name, width, two, e.count, e.perToken, false)
	b.experts("experts.down_proj", e.mlp, width, e.count, e.perToken, false)
	if e.latent > 0 {
		b.linear("fc2_latent_proj", width, d.hidden, d.mlpBias)
	}
	if e.bias { // rows of their own: quantised weights have biases that are not
		b.put(Layer{Component: "experts.bias", Kind: Parameter, Copies: e.count, Active: e.perToken, Parameters: b.mul(e.count, b.add(two, d.hidden))})
	}
	if e.shared > 0 {
		r.mlp("shared_experts.", e.shared, d, e.sharedBias)
	}
	if e.sharedGate {
		b.linear("shared_expert_gate", d.hidden, 1, false)
	}
}

// LayerNames names layers by their indexes, which must ascend: "layer 0", "layers 1-11", "layers 0-1,3-4".
func LayerNames(indexes []int) string {
	var ranges []string
	for i := 0; i < len(indexes); {
		first := i
		for i++; i < len(indexes) && indexes[i] == indexes[i-1]+1; i++ {
		}
		if first == i-1 {
			ranges = append(ranges, fmt.Sprint(indexes[first]))
			continue
		}
		ranges = append(ranges, fmt.Sprintf("%d-%d", indexes[first], indexes[i-1]))
	}
	if len(indexes) == 1 {
		return "layer " + ranges[0]
	}
	return "layers " + strings.Join(ranges, ",")
}

// head is what a class computes from the decoder's last states.
type head struct {
	logits  bool   // of every entry of the vocabulary
	name    string // else one matrix, applied to every token; "" for none
	outputs int64
	bias    bool
}

// headOf finds the head by the name of the model's class.
func (r *reader) headOf(c config, d *decoder) head {
	name := r.model.Architecture
	is := func(end string) bool { return strings.HasSuffix(name, end) }
	switch {
	case name == "":
		c.assume("a head that computes logits, because the configuration names no architecture")
		return head{logits: true}
	case is("ForCausalLM"), is("LMHeadModel"), is("ForConditionalGeneration"):
		return head{logits: true}
	case is("DoubleHeadsModel"):
		c.note(LeftOut, "the second head of %s is not supported", name)
		return head{logits: true}
	case is("ForSequenceClassification"):
		return head{name: "score", outputs: c.labels()}
	case is("ForTokenClassification"):
		return head{name: "score", outputs: c.labels(), bias: true}
	case is("ForQuestionAnswering") && !d.plainMLP:
		return head{name: "qa_outputs", outputs: 2, bias: true}
	case is("Model"):
		return head{}
	}
	c.note(LeftOut, "the head of %s is not supported", name)
	return head{}
}
