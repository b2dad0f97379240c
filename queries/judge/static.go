package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/queries/caveat"
	"prof/queries/frame"
)

// Static is what a model needs by its configuration: parameters, bytes and, for given tokens, operations. Nil is what is not known.
type Static struct {
	Name, Family, Architecture string
	DType                      string // precision of weights and computation
	DTypeAssumed               bool   // the configuration does not say it

	Params, EmbeddingParams, VisionParams int64
	ActiveParams                          *int64   // weights that one token of the decoder is multiplied with; nil without a decoder
	WeightBytes, KVTokenBytes             *float64 // in DType, quantised weights as stored
	Quantised                             bool     // WeightBytes are not those of DType alone
	ByDType                               []StaticBytes
	Layers                                *int64
	MaxContext, ImageTokens               *int64

	Size   StaticSize
	Stages []StaticStage // prefill, decode, then the parts of vision
	Flops  *frame.Frame  // layer-flops
	Groups *frame.Frame  // model-layers
	Notes  []string

	StateBytes  *float64     // what a sequence keeps in DType however long it is; nil without recurrences and audio
	SourceBytes *float64     // what a token that an encoder reads keeps in DType; nil without one
	HasEncoder  bool         // a decoder attends to what an encoder made of tokens or audio
	Activations *frame.Frame // activations, in DType
	// ActivationStages sums them up by stage; stages whose bytes are not known, or 0, are left out.
	ActivationStages []StaticActivations
}

// StaticActivations are the bytes of the activations of one prefill, one decode step, or the images of the prompt.
type StaticActivations struct {
	Stage         string
	PeakBytes     float64 // needed at once
	PeakComponent string
	LayerBytes    float64 // written by the layer that writes the most
}

// SetActivations takes an answer of activations.
func (s *Static) SetActivations(f *frame.Frame) error {
	list, err := activationRows.Of(f)
	var out []StaticActivations
	for _, r := range list {
		peak, written := r.PeakBytes, r.WrittenBytes
		if peak == nil || written == nil || *peak == 0 {
			continue
		}
		i := slices.IndexFunc(out, func(a StaticActivations) bool { return a.Stage == r.Stage })
		if i < 0 {
			i = len(out)
			out = append(out, StaticActivations{Stage: r.Stage})
		}
		if a := &out[i]; *peak > a.PeakBytes {
			a.PeakBytes, a.PeakComponent = *peak, r.PeakComponent
		}
		if strings.HasPrefix(r.LayerGroup, "layer") {
			out[i].LayerBytes = max(out[i].LayerBytes, *written)
		}
	}
	s.Activations, s.ActivationStages = f, out
	return err
}

// StaticSize is what operations are counted for.
type StaticSize struct {
	Prefill, Decode, Batch, Images, Crops int64
	TokensAssumed                         bool // nothing says how many tokens the run had
	ImagesGiven                           bool // Images are part of the prompt; else vision is shown for one image, and prefill is without
	Convention, MLA, Head, Context        string
	FixedContext                          *int64
}

// StaticBytes are bytes in one precision.
type StaticBytes struct {
	DType        string
	WeightBytes  float64
	KVTokenBytes *float64
	StateBytes   *float64
	SourceBytes  *float64
}

// StaticStage is a stage, or a part of the vision tower.
type StaticStage struct {
	Name      string // prefill, decode, or the part: sam, clip, ...
	Vision    bool
	Params    int64
	Flop      *int64
	Encoder   *int64           // of Flop those of an encoder; nil without one, or where they are not known
	Operators []StaticOperator // by operations, the most first
}

// StaticOperator is one kind of operation in a stage.
type StaticOperator struct {
	Name string
	Flop int64
}

// DecoderPrompt is how many tokens the decoder has before its first step: the prompt, or where an encoder reads that, the one it starts from.
func (s *Static) DecoderPrompt() int64 {
	if s.SourceBytes != nil {
		return min(s.Size.Prefill, 1)
	}
	return s.Size.Prefill
}

// Pictures are the images that vision is counted for.
func (s StaticSize) Pictures() int64 {
	if s.ImagesGiven {
		return s.Images
	}
	return 1
}

// StaticAnswers are what queries tell of the models of a run, and Flops for a size.
type StaticAnswers struct {
	Run                          string
	Models, Bytes, Layers, Flops *frame.Frame
	Activations                  *frame.Frame
	// Stored gives the bytes of a model's weights where those whose stored size is not known take so many bytes a parameter; nil where an
	// unknown method of quantisation leaves them unknown.
	Stored func(model int64, perParam float64) (*float64, error)
}

// ErrTooLarge says that operations cannot be told as whole numbers of 64 bits.
var ErrTooLarge = fmt.Errorf("%w: this many tokens, sequences or images need 2^63 operations or more: ask for fewer (operations are proportional to --batch)", frame.ErrBadArgument)

// ReadStatic puts the answers together for the model that operations are counted of; dtype is the precision of all weights, "" that of the
// configuration.
func ReadStatic(size StaticSize, dtype string, a StaticAnswers) (*Static, error) {
	s := &Static{Size: size, Flops: a.Flops, Groups: a.Layers, Notes: a.Flops.Notes}
	m, err := chosenModel(a.Models)
	switch {
	case err != nil:
		return nil, err
	case m == nil && a.Models.Warns(caveat.FactsLacking):
		return nil, fmt.Errorf("run %s: %s", a.Run, strings.Join(a.Models.Said(caveat.Facts), "; "))
	case m == nil:
		return nil, fmt.Errorf("run %s has no model: give its configuration with `prof ingest --run %s --model CONFIG.json`", a.Run, a.Run)
	}
	if err := s.SetActivations(a.Activations); err != nil {
		return nil, err
	}
	s.readModel(*m)
	if err := s.readBytes(a.Bytes, m.Model); err != nil {
		return nil, err
	}
	if s.DType == "" { // the precision that models are run in, and said so
		if err := s.assume("bf16", func(perParam float64) (*float64, error) { return a.Stored(m.Model, perParam) }); err != nil {
			return nil, err
		}
	}
	s.Quantised = dtype == "" && s.isQuantised()
	layers, err := s.readLayers(m.Model)
	if err != nil {
		return nil, err
	}
	flops, err := flopRows.Of(s.Flops)
	if err != nil {
		return nil, err
	}
	for _, r := range flops {
		s.add(r)
	}
	for i := range s.Stages {
		slices.SortStableFunc(s.Stages[i].Operators, func(a, b StaticOperator) int { return cmp.Compare(b.Flop, a.Flop) })
	}
	s.addParams(layers)
	if overflows(flops) {
		return nil, ErrTooLarge
	}
	s.Notes = append(slices.Clone(s.Notes), s.doubts(flops, layers)...)
	return s, nil
}

// chosenModel finds the model that FLOPs are counted of; nil without one.
func chosenModel(models *frame.Frame) (*ModelRow, error) {
	list, err := ModelRows.Of(models)
	for _, r := range list {
		if r.IsCounted {
			return &r, nil
		}
	}
	return nil, err
}

// readLayers leaves only the layers of a model.
func (s *Static) readLayers(model int64) ([]layerRow, error) {
	list, err := layerRows.Of(s.Groups)
	var kept []layerRow
	var rows [][]any
	for i, r := range list {
		if r.Model == model {
			kept, rows = append(kept, r), append(rows, s.Groups.Rows[i])
		}
	}
	s.Groups.Rows = rows
	return kept, err
}

func (s *Static) readModel(r ModelRow) {
	s.Name, s.Family, s.Architecture, s.DType = r.Name, r.Family, r.Architecture, r.DType
	s.Params, s.EmbeddingParams, s.VisionParams = r.ParameterCount, r.EmbeddingParameterCount, r.VisionParameterCount
	s.ActiveParams, s.Layers, s.MaxContext, s.ImageTokens = r.ActiveParameterCount, r.LayerCount, r.MaxContextCount, r.ImageTokenCount
	s.WeightBytes, s.KVTokenBytes, s.StateBytes, s.SourceBytes = r.WeightBytes, r.KVTokenBytes, r.StateBytes, r.SourceTokenBytes
}

func (s *Static) readBytes(f *frame.Frame, model int64) error {
	list, err := modelBytesRows.Of(f)
	for _, r := range list {
		if r.Model != model {
			continue
		}
		b := StaticBytes{DType: r.DType, WeightBytes: r.WeightBytes}
		if s.ActiveParams != nil {
			b.KVTokenBytes, b.StateBytes, b.SourceBytes = r.KVTokenBytes, r.StateBytes, r.SourceTokenBytes
		}
		s.ByDType = append(s.ByDType, b)
	}
	return err
}

// assume takes a precision that nothing says, for all weights but those whose stored size is known.
func (s *Static) assume(dtype string, stored func(perParam float64) (*float64, error)) (err error) {
	plain, ok := s.plain(dtype)
	if !ok {
		return fmt.Errorf("query model-bytes has no row of %s", dtype)
	}
	s.DType, s.DTypeAssumed, s.KVTokenBytes = dtype, true, plain.KVTokenBytes
	s.StateBytes, s.SourceBytes = plain.StateBytes, plain.SourceBytes
	s.WeightBytes, err = stored(plain.WeightBytes / float64(max(s.Params, 1)))
	return err
}

// plain returns the bytes of a model whose weights are all of one precision.
func (s *Static) plain(dtype string) (StaticBytes, bool) {
	same := map[string]string{"fp16": "bf16", "tf32": "fp32", "int8": "fp8", "int4": "fp4"}
	i := slices.IndexFunc(s.ByDType, func(b StaticBytes) bool { return b.DType == cmp.Or(same[dtype], dtype) })
	if i < 0 {
		return StaticBytes{}, false
	}
	return s.ByDType[i], true
}

// isQuantised reports whether weights take other bytes than their precision does.
func (s *Static) isQuantised() bool {
	plain, ok := s.plain(s.DType)
	return ok && s.WeightBytes != nil && *s.WeightBytes != plain.WeightBytes
}

// addParams adds up the parameters of each part.
func (s *Static) addParams(layers []layerRow) {
	of := map[string]int64{}
	for _, r := range layers {
		of[r.Part] += r.ParameterCount
	}
	_, s.HasEncoder = of["encoder"]
	for i, st := range s.Stages {
		switch {
		case st.Vision:
			s.Stages[i].Params = of[st.Name]
		case st.Name == "prefill":
			s.Stages[i].Params = of["decoder"] + of["encoder"]
		default:
			s.Stages[i].Params = of["decoder"]
		}
	}
}

// add adds one row of layer-flops to its stage.
func (s *Static) add(r flopRow) {
	name := r.Stage
	vision := name == "vision"
	if vision {
		name = r.Part
	}
	i := slices.IndexFunc(s.Stages, func(st StaticStage) bool { return st.Name == name })
	if i < 0 {
		i = len(s.Stages)
		s.Stages = append(s.Stages, StaticStage{Name: name, Vision: vision, Flop: new(int64)})
	}
	st := &s.Stages[i]
	flop := r.Flop
	if flop == nil || st.Flop == nil {
		st.Flop = nil
		return
	}
	*st.Flop += *flop
	if r.Part == "encoder" {
		if st.Encoder == nil {
			st.Encoder = new(int64)
		}
		*st.Encoder += *flop
	}
	op := r.Operator
	j := slices.IndexFunc(st.Operators, func(o StaticOperator) bool { return o.Name == op })
	if j < 0 {
		j = len(st.Operators)
		st.Operators = append(st.Operators, StaticOperator{Name: op})
	}
	st.Operators[j].Flop += *flop
}

// Stage returns the operations of prefill, decode or vision as a whole: a prefill holds the images of its prompt where they were
// given. ok is false where the model has no such stage; flop is nil where it is not known.
func (s *Static) Stage(name string) (flop *int64, ok bool) {
	sum := new(int64)
	for _, st := range s.Stages {
		in := st.Name == name || st.Vision && (name == "vision" || name == "prefill" && s.Size.ImagesGiven && s.ActiveParams != nil)
		if !in {
			continue
		}
		ok = true
		if st.Flop == nil || sum == nil {
			sum = nil
			continue
		}
		*sum += *st.Flop
	}
	return sum, ok
}

// overflows reports whether all operations together are more than a whole number of 64 bits holds, as each component's by itself is not.
func overflows(flops []flopRow) bool {
	left := int64(math.MaxInt64)
	for _, r := range flops {
		flop := r.Flop
		if flop == nil {
			continue
		}
		if left -= *flop; left < 0 {
			return true
		}
	}
	return false
}

// doubts are what the numbers that operations are counted for leave to wonder about.
func (s *Static) doubts(flops []flopRow, layers []layerRow) []string {
	var out []string
	z := s.Size
	view := func(is func(part, view string) bool) bool {
		return slices.ContainsFunc(flops, func(r flopRow) bool { return is(r.Part, r.View) })
	}
	if z.ImagesGiven && z.Images > 0 && !view(func(part, _ string) bool { return part != "decoder" && part != "encoder" }) {
		out = append(out, "no vision part is counted: images of the prompt add no operations")
	}
	if z.Crops > 0 && !view(func(_, view string) bool { return view == "crop" }) {
		out = append(out, "the model takes no crops: they add no operations")
	}
	if s.ActiveParams == nil {
		return out
	}
	if z.TokensAssumed {
		out = append(out, fmt.Sprintf("the tokens of the run are unknown: this counts %d prompt tokens and %d decode steps; give --prefill and --decode", z.Prefill, z.Decode))
	}
	if n := s.ImageTokens; n != nil && z.ImagesGiven && z.Images > 0 && *n > z.Prefill/z.Images {
		out = append(out, fmt.Sprintf("prompt tokens include image tokens, but %d are too few for %d tokens per image (images: %d)", z.Prefill, *n, z.Images))
	}
	out = append(out, s.attentionDoubts(layers)...)
	if n := s.MaxContext; n != nil && z.Prefill+z.Decode > *n {
		out = append(out, fmt.Sprintf("prompt and decode steps need %d positions, but the model supports %d", z.Prefill+z.Decode, *n))
	}
	return out
}

// attentionDoubts are conventions that change the figures much for this model.
func (s *Static) attentionDoubts(list []layerRow) []string {
	var out []string
	windowed, layers, window := int64(0), int64(0), int64(math.MaxInt64)
	latent, indexed := false, false
	for _, r := range list {
		latent = latent || r.Component == "kv_b_proj"
		if r.Kind != "attention" || r.Part != "decoder" {
			continue
		}
		if strings.HasPrefix(r.Component, "indexer.") { // chooses what a layer attends to, and is none itself
			indexed = true
			continue
		}
		layers += r.LayerCount
		if n := r.WindowSize; n != nil {
			windowed, window = windowed+r.LayerCount, min(window, *n)
		}
	}
	switch seen := windowed > 0 && s.Size.Prefill > window && s.Size.Convention == "full"; {
	case seen && indexed:
		out = append(out, fmt.Sprintf("%d of %d layers attend to at most %d tokens: --convention full counts the whole prompt for them, causal only what they attend to", windowed, layers, window))
	case seen:
		out = append(out, fmt.Sprintf("%d of %d layers attend within a window of %d tokens: --convention full counts the whole prompt for them, causal only the window; their cache is limited to the window", windowed, layers, window))
	}
	if latent && s.Size.MLA == "expanded" && s.Size.Decode > 0 {
		out = append(out, "decode counts recomputing keys and values from the latents of the whole context at every step, as transformers 5.17 does; --mla absorbed counts what serving engines do")
	}
	return out
}
