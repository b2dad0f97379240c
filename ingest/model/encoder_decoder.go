package model

import (
	"fmt"
	"strings"
)

// encoderPart is the part of a model that reads the source, which its decoder attends to.
const encoderPart = "encoder"

// encoderDecoder is an encoder and a decoder whose layers attend to what it yields.
type encoderDecoder struct {
	encoder, decoder stack
	hidden, vocab    int64
	source, mels     int64 // positions that the encoder yields whatever the prompt, and bins of its frames; 0: one for each token of the prompt
	normSize         int64
	bias             bool // of all matrices but the keys'
	outName          string
	mlpNames         [2]string // of a plain MLP
	gated            bool
}

// stack is one side's equal layers.
type stack struct {
	layers, heads, headSize, mlp int64
	bias                         int64 // parameters of a layer that weigh pairs by their distance
	firstBias                    int64 // those of the first layer, which others share
}

// encoderDecoders are the families that are read, by model_type.
var encoderDecoders = map[string]func(*reader, config) encoderDecoder{
	"t5": (*reader).t5, "mt5": (*reader).t5, "umt5": (*reader).t5, "whisper": (*reader).whisper,
}

// encoderDecoder reads a model of encoder and decoder as a whole.
func (r *reader) encoderDecoder(c config, family string) {
	m, name := r.model, r.model.Architecture
	generates := name == "" || strings.HasSuffix(name, "ForConditionalGeneration") || strings.HasSuffix(name, "LMHeadModel")
	if bare := strings.TrimSuffix(name, "Model"); !generates && !strings.EqualFold(bare, family) || !c.flag(true, "is_encoder_decoder") {
		r.refuse("only part of the encoder and decoder of " + family + " (architectures or is_encoder_decoder)")
		return
	}
	e := encoderDecoders[family](r, c)
	if e.source > 0 {
		c.assume("one audio window of %d positions per sequence, which the encoder reads in the prefill; prompt tokens are the decoder's", e.source)
	} else {
		c.assume("prompt tokens are the encoder's, and the decoder begins with one token in the prefill")
	}
	r.unread(c, family, true)
	tied := r.tied(c, c)
	m.HiddenSize, m.VocabSize, m.LayerCount = e.hidden, e.vocab, e.decoder.layers
	if deepest := max(e.encoder.layers, e.decoder.layers); deepest > maxLayers {
		c.wrong("num_layers, encoder_layers or decoder_layers", deepest, fmt.Sprintf("at most %d", maxLayers))
	}
	if c.faults.err() != nil {
		return
	}
	r.buildEncoderDecoder(c, e, tied)
}

// t5 reads T5, mT5 and UMT5: RMS norms, no biases, distances between positions weighed in the scores.
func (r *reader) t5(c config) encoderDecoder {
	s := stack{layers: c.need("num_layers", "num_hidden_layers"), heads: c.need("num_heads", "num_attention_heads"), headSize: c.need("d_kv", "head_dim"), mlp: c.need("d_ff")}
	buckets := r.b.mul(c.opt(32, "relative_attention_num_buckets"), s.heads)
	if r.model.Family == "umt5" {
		s.bias = buckets
	} else {
		s.firstBias = buckets
	}
	e := encoderDecoder{encoder: s, decoder: s, hidden: c.need("d_model", "hidden_size"), vocab: c.need("vocab_size"), outName: "o_proj", mlpNames: [2]string{"wi", "wo"}}
	e.decoder.layers = c.opt(s.layers, "num_decoder_layers")
	if e.decoder.layers == 0 {
		c.wrong("num_decoder_layers", 0, "at least 1")
	}
	e.normSize = e.hidden
	activation := c.text("feed_forward_proj")
	e.gated = strings.HasPrefix(activation, "gated-")
	if strings.Contains(strings.TrimPrefix(activation, "gated-"), "-") || c.flag(e.gated, "is_gated_act") != e.gated {
		c.wrong("feed_forward_proj", activation, "an activation, or gated- and one, as is_gated_act says")
	}
	if r.tied(c, c) && !(c.flag(false, "scale_decoder_outputs") && r.model.Family == "t5") { // newer files of T5 1.1 and its kin say that it is tied
		c.assume("head and embedding share a table, as transformers 5.17 assumes for every %s; a checkpoint with both has %d more parameters", r.model.Family, r.b.mul(e.vocab, e.hidden))
	}
	const wo = "transformers keeps the matrix wo in fp32 when it loads the model in fp16"
	switch r.model.DType {
	case "fp16":
		c.note(Unknown, "bytes of the weights: %s, and other engines do not", wo)
	case "":
		c.assume("weights are all of one precision, but %s", wo)
	}
	return e
}

// whisper reads Whisper: its encoder works on windows of one length, whatever was said in them.
func (r *reader) whisper(c config) encoderDecoder {
	hidden := c.need("d_model", "hidden_size")
	side := func(name string) stack {
		s := stack{layers: c.need(name + "_layers"), heads: c.need(name + "_attention_heads"), mlp: c.need(name + "_ffn_dim")}
		if s.headSize = hidden / s.heads; hidden%s.heads != 0 {
			c.wrong(name+"_attention_heads", s.heads, "a divisor of d_model")
		}
		return s
	}
	r.model.MaxContext = c.need("max_target_positions")
	return encoderDecoder{encoder: side("encoder"), decoder: side("decoder"), hidden: hidden, vocab: c.need("vocab_size"), source: c.need("max_source_positions"), mels: c.need("num_mel_bins"),
		normSize: r.b.mul(2, hidden), bias: true, outName: "out_proj", mlpNames: [2]string{"fc1", "fc2"}}
}

// buildEncoderDecoder makes the rows of both parts. Keys and values of the source are the decoder's, made once for it.
func (r *reader) buildEncoderDecoder(c config, e encoderDecoder, tied bool) {
	b := &r.b
	of, positions := Source, int64(0)
	if e.source > 0 {
		of, positions = Position, e.source
	}
	b.part, b.scope, b.positions = encoderPart, of, positions
	b.in("embedding", 1)
	if e.source == 0 {
		b.table("embed_tokens", e.vocab, e.hidden)
	} else { // mel frames, twice as many as positions: kernels of 3, strides of 1 and 2
		b.positions = b.mul(2, positions)
		b.convolution("conv1", e.mels, 3, e.hidden, true)
		b.positions = positions
		b.convolution("conv2", e.hidden, 3, e.hidden, true)
		b.parameter("embed_positions", b.mul(positions, e.hidden))
	}
	r.stack(e, e.encoder, func() {
		r.attend(e, e.encoder, "", Layer{Component: "attention", Scope: of, Positions: positions, Keys: positions}, of, positions)
	}, 2)
	b.in("norm", 1)
	b.norm("norm", e.normSize)

	b.part, b.scope, b.positions = decoderPart, Token, 0
	b.in("embedding", 1)
	b.shared = e.source == 0
	b.table("embed_tokens", e.vocab, e.hidden)
	b.shared = false
	if e.source > 0 {
		b.table("position_embedding", r.model.MaxContext, e.hidden)
	}
	r.stack(e, e.decoder, func() {
		r.attend(e, e.decoder, "", Layer{Component: "attention", Scope: Token}, Token, 0)
		cross := Layer{Component: "cross_attention", Scope: Source}
		if e.source > 0 {
			cross.Scope, cross.Keys = Token, positions
		}
		r.attend(e, e.decoder, "cross_attention.", cross, of, positions)
	}, 3)
	b.in("head", 1)
	b.norm("norm", e.normSize)
	if h := r.headOf(c, &decoder{}); h.logits {
		b.scope, b.shared = Logit, tied
		b.linear("lm_head", e.hidden, e.vocab, false)
		b.scope, b.shared = Token, false
	}
}

// stack adds equal layers of norms, attention and an MLP.
func (r *reader) stack(e encoderDecoder, s stack, attention func(), norms int64) {
	b := &r.b
	b.in("layer 0", 1)
	b.parameter("relative_attention_bias", s.firstBias)
	name := "layer 0"
	if s.layers > 1 {
		name = fmt.Sprintf("layers 0-%d", s.layers-1)
	}
	b.in(name, s.layers)
	b.norm("norms", b.mul(norms, e.normSize))
	b.parameter("relative_attention_bias", s.bias)
	attention()
	d := &decoder{hidden: e.hidden, plainMLP: !e.gated, mlpNames: e.mlpNames}
	if e.gated {
		d.mlpNames = [2]string{"up_proj", "down_proj"}
	}
	r.mlp("mlp.", s.mlp, d, e.bias)
}

// attend adds attention whose keys and values are made from positions of a scope of their own.
func (r *reader) attend(e encoderDecoder, s stack, prefix string, a Layer, of Scope, positions int64) {
	b := &r.b
	all, scope, own := b.mul(s.heads, s.headSize), b.scope, b.positions
	b.linear(prefix+"q_proj", e.hidden, all, e.bias)
	b.scope, b.positions = of, positions
	b.linear(prefix+"k_proj", e.hidden, all, false)
	b.linear(prefix+"v_proj", e.hidden, all, e.bias)
	b.scope, b.positions = scope, own
	a.Kind, a.Heads, a.KVHeads, a.KeySize, a.ValueSize = Attention, s.heads, s.heads, s.headSize, s.headSize
	b.put(a)
	b.linear(prefix+e.outName, all, e.hidden, e.bias)
}
