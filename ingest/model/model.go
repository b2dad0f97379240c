// Package model reads the configuration of a model (config.json of Hugging Face) into rows from which parameters, FLOPs and bytes
// follow: every distinct group of layers with the shapes of its components. No weight is needed, and no arithmetic over tokens is
// done here: that is SQL.
//
// Shapes are those of the modelling code of transformers 5.17 for each model_type; DeepSeek-OCR's are those of its own repository.
package model

import "math/bits"

// Model is what a configuration says of a model. Sizes are numbers of elements; 0 where the configuration has none.
type Model struct {
	Name         string // in the configuration; "" when it has none
	Architecture string // first of architectures; ""  when not said
	Family       string // model_type
	DType        string // as in DTypes; "" when not said
	HiddenSize   int64  // of the decoder
	VocabSize    int64
	LayerCount   int64
	MaxContext   int64 // positions the model was made for
	ImageTokens  int64 // positions of the prompt that one image takes, crops left out
	Layers       []Layer
	Notes        []Note
}

// Note says what was assumed or left out.
type Note struct {
	Kind NoteKind
	Text string
}

// NoteKind says what a note means for the figures.
type NoteKind string

// Kinds of notes.
const (
	Assumed NoteKind = "assumed"  // the configuration does not say it
	LeftOut NoteKind = "left_out" // figures are too small by it
	Unknown NoteKind = "unknown"  // a figure cannot be given
)

// Kind says what a component computes.
type Kind string

// Kinds of components. The first three multiply each of their positions with a matrix of Input x Output, Active times; mixing takes as
// many products, with numbers that it computes for each token in place of parameters; attention multiplies each query with the keys and
// values it sees; a recurrence keeps a state of KeySize x ValueSize for each head and multiplies and adds each of its numbers Active times
// for every token; the others hold parameters but multiply nothing.
const (
	Linear           Kind = "linear"
	Convolution      Kind = "convolution"
	RelativePosition Kind = "relative_position"
	Mixing           Kind = "mixing"
	Attention        Kind = "attention"
	Recurrence       Kind = "recurrence"
	Embedding        Kind = "embedding"
	Norm             Kind = "norm"
	Parameter        Kind = "parameter"
)

// Scope says which positions a component multiplies.
type Scope string

// Scopes of components.
const (
	Token    Scope = "token"    // every token
	Logit    Scope = "logit"    // tokens whose logits are computed
	Latent   Scope = "latent"   // tokens whose keys and values are expanded from a latent
	Source   Scope = "source"   // tokens of the source, which an encoder reads; keys of those in attention
	Position Scope = "position" // positions of a picture, or of the audio of a sequence
)

// Layer is one component of a group of equal layers. Zero stands for what does not apply.
type Layer struct {
	Part      string // decoder, encoder, sam, clip, siglip, vit, projector
	View      string // "" for decoder and encoder; image, global or crop
	Group     string // layers it stands for: embedding, layer 0, layers 1-11, head
	Count     int64  // layers of the group
	Component string
	Kind      Kind
	Scope     Scope

	Input, Output  int64 // a convolution's Input is channels times the kernel's area
	Copies, Active int64 // matrices stored in a layer, and those a token passes through

	Heads, KVHeads     int64
	KeySize, ValueSize int64 // attention without values yields scores alone; without KVHeads its keys are not kept
	Window             int64 // tokens a token sees, itself included
	Latent, Rope       int64 // MLA: what is cached for a token

	Positions int64 // vision and audio: rows multiplied for one picture or sequence
	Keys      int64 // keys each position sees where that is not the context: vision, audio, cross attention to it

	Parameters int64   // in one layer, all copies and biases
	Bits       float64 // a stored parameter takes where it is quantised
}

// builder collects layers of one part of a model. Sums and products that do not fit set overflow, which Read turns into an error.
type builder struct {
	layers   []Layer
	overflow bool

	part, view, group string
	count             int64 // layers of the group
	scope             Scope // of linear components
	positions         int64 // of linear components
	shared            bool  // parameters are another view's: they count 0
	bits              float64
}

// in starts a group of equal layers.
func (b *builder) in(group string, count int64) {
	b.group, b.count = group, count
}

// linear adds a matrix of input x output, with a bias or not.
func (b *builder) linear(component string, input, output int64, bias bool) {
	b.matrices(Linear, component, input, output, 1, 1, bias)
}

// experts adds matrices of which a token passes through a few.
func (b *builder) experts(component string, input, output, copies, active int64, bias bool) {
	b.matrices(Linear, component, input, output, copies, active, bias)
}

func (b *builder) matrices(kind Kind, component string, input, output, copies, active int64, bias bool) {
	params := b.mul(input, output)
	if bias {
		params = b.add(params, output)
	}
	b.put(Layer{Component: component, Kind: kind, Scope: b.scope, Input: input, Output: output, Copies: copies, Active: active,
		Positions: b.positions, Parameters: b.mul(params, copies), Bits: b.bits})
}

// norm adds parameters that scale and shift, or any others that multiply nothing.
func (b *builder) norm(component string, params int64) {
	b.put(Layer{Component: component, Kind: Norm, Parameters: params})
}

// table adds an embedding of rows x size, which is looked up.
func (b *builder) table(component string, rows, size int64) {
	b.put(Layer{Component: component, Kind: Embedding, Input: rows, Output: size, Parameters: b.mul(rows, size)})
}

// parameter adds parameters that are neither a matrix nor a norm: sinks, position tables added to all positions.
func (b *builder) parameter(component string, params int64) {
	b.put(Layer{Component: component, Kind: Parameter, Parameters: params})
}

// put adds a component of the current part, view and group.
func (b *builder) put(l Layer) {
	l.Part, l.View, l.Group, l.Count = b.part, b.view, b.group, b.count
	if b.shared {
		l.Parameters = 0
	}
	none := l.Parameters == 0 && (l.Kind == Norm || l.Kind == Parameter) && !b.shared
	if l.Count > 0 && !none {
		b.layers = append(b.layers, l)
	}
}

// tooLarge reports whether the parameters of all layers, or the operations of one token or picture, are more than 62 bits hold.
func (b *builder) tooLarge() bool {
	var parameters int64
	for _, l := range b.layers {
		parameters = b.add(parameters, b.mul(l.Parameters, l.Count))
		b.mul(b.mul(2, l.Count), b.mul(b.mul(l.Input, l.Output), b.mul(l.Active, max(l.Positions, 1))))
		if l.Kind == Recurrence {
			b.mul(b.mul(2, b.mul(l.Heads, l.Count)), b.mul(b.mul(l.KeySize, l.ValueSize), l.Active))
			continue
		}
		b.mul(b.mul(2, b.mul(l.Heads, l.Count)), b.mul(b.add(l.KeySize, l.ValueSize), b.mul(max(l.Positions, 1), max(l.Keys, 1))))
	}
	return b.overflow
}

func (b *builder) mul(x, y int64) int64 {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	if x < 0 || y < 0 || hi != 0 || lo > 1<<62 {
		b.overflow = true
		return 0
	}
	return int64(lo)
}

func (b *builder) add(x, y int64) int64 {
	if x < 0 || y < 0 || x > 1<<62-y {
		b.overflow = true
		return 0
	}
	return x + y
}
