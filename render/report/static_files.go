package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
)

// staticObject is what StaticJSON writes. Counts are whole numbers in base units; null is what is not known.
type staticObject struct {
	Name            string                     `json:"name"`
	Family          string                     `json:"family"`
	Architecture    string                     `json:"architecture"`
	DType           string                     `json:"dtype"`
	DTypeAssumed    bool                       `json:"dtype_assumed"`
	Params          int64                      `json:"params"`
	ActiveParams    *int64                     `json:"active_params"`
	EmbeddingParams int64                      `json:"embedding_params"`
	VisionParams    int64                      `json:"vision_params"`
	WeightBytes     *float64                   `json:"weight_bytes"`
	KVTokenBytes    *float64                   `json:"kv_bytes_per_token"`
	Bytes           map[string]staticBytes     `json:"bytes_by_dtype"`
	StateBytes      *float64                   `json:"state_bytes_per_sequence"`
	SourceBytes     *float64                   `json:"source_bytes_per_token"`
	Activations     []map[string]any           `json:"activations"`
	Layers          *int64                     `json:"layers"`
	MaxContext      *int64                     `json:"max_context"`
	ImageTokens     *int64                     `json:"image_tokens"`
	Size            staticSize                 `json:"size"`
	Stages          map[string]staticStageJSON `json:"stages"`
	Groups          []map[string]any           `json:"layer_groups"`
	Notes           []string                   `json:"notes"`
}

type staticBytes struct {
	Weights float64  `json:"weight_bytes"`
	KVToken *float64 `json:"kv_bytes_per_token"`
}

type staticSize struct {
	Prefill      int64  `json:"prefill"`
	Decode       int64  `json:"decode"`
	Batch        int64  `json:"batch"`
	Images       int64  `json:"images"`
	Crops        int64  `json:"crops"`
	Convention   string `json:"convention"`
	MLA          string `json:"mla"`
	Head         string `json:"head"`
	Context      string `json:"context"`
	FixedContext *int64 `json:"fixed_context"`
}

// staticStageJSON is a stage: of prefill the operations of decoder and encoder apart, of vision its parts and whether prefill holds them.
type staticStageJSON struct {
	Flop        *int64                     `json:"flop"`
	Params      int64                      `json:"params"`
	DecoderFlop *int64                     `json:"decoder_flop,omitempty"`
	EncoderFlop *int64                     `json:"encoder_flop,omitempty"`
	PartOf      *string                    `json:"part_of,omitempty"`
	InPrefill   *bool                      `json:"in_prefill,omitempty"`
	Images      *int64                     `json:"images,omitempty"`
	Operators   map[string]int64           `json:"operators,omitempty"`
	Parts       map[string]staticStageJSON `json:"parts,omitempty"`
}

// StaticJSON writes the whole of it as one object.
func StaticJSON(w io.Writer, s *judge.Static) error {
	z := s.Size
	o := staticObject{Name: s.Name, Family: s.Family, Architecture: s.Architecture, DType: s.DType, DTypeAssumed: s.DTypeAssumed, Params: s.Params,
		ActiveParams: s.ActiveParams, EmbeddingParams: s.EmbeddingParams, VisionParams: s.VisionParams, WeightBytes: s.WeightBytes, KVTokenBytes: s.KVTokenBytes, StateBytes: s.StateBytes, SourceBytes: s.SourceBytes, Activations: objects(s.Activations),
		Bytes: map[string]staticBytes{}, Layers: s.Layers, MaxContext: s.MaxContext, ImageTokens: s.ImageTokens,
		Size:   staticSize{z.Prefill, z.Decode, z.Batch, z.Images, z.Crops, z.Convention, z.MLA, z.Head, z.Context, z.FixedContext},
		Stages: staticStages(s), Groups: objects(s.Groups), Notes: append([]string{}, s.Notes...)}
	for _, b := range s.ByDType {
		o.Bytes[b.DType] = staticBytes{b.WeightBytes, b.KVTokenBytes}
	}
	return typeset.WriteIndented(w, o)
}

func staticStages(s *judge.Static) map[string]staticStageJSON {
	out := map[string]staticStageJSON{}
	parts := map[string]staticStageJSON{}
	var visionParams int64
	for _, st := range s.Stages {
		one := staticStageJSON{Flop: st.Flop, Params: st.Params, Operators: map[string]int64{}}
		for _, op := range st.Operators {
			one.Operators[op.Name] = op.Flop
		}
		if st.Vision {
			parts[st.Name] = one
			visionParams += st.Params
			continue
		}
		if st.Name == "prefill" {
			one.DecoderFlop, one.EncoderFlop = st.Flop, st.Encoder
			if st.Flop != nil && st.Encoder != nil {
				decoder := *st.Flop - *st.Encoder
				one.DecoderFlop = &decoder
			}
			one.Flop, _ = s.Stage("prefill")
		}
		out[st.Name] = one
	}
	if flop, ok := s.Stage("vision"); ok {
		images, in, prefill := s.Size.Pictures(), s.Size.ImagesGiven && s.ActiveParams != nil, "prefill"
		one := staticStageJSON{Flop: flop, Params: visionParams, Parts: parts, Images: &images}
		if s.ActiveParams != nil {
			one.PartOf, one.InPrefill = &prefill, &in
		}
		out["vision"] = one
	}
	return out
}

// objects gives a frame's rows as objects.
func objects(f *frame.Frame) []map[string]any {
	out := []map[string]any{}
	for _, row := range f.Rows {
		o := map[string]any{}
		for j, c := range f.Columns {
			o[c.Name] = row[j]
		}
		out = append(out, o)
	}
	return out
}

// StaticArtifact writes static_compute.json: the original's metadata, total and stages with params, flops and operators, where a
// multiply-add counts 2; activations are bytes, not numbers; its isolated and analytic figures are left out.
func StaticArtifact(w io.Writer, s *judge.Static) error {
	type stage struct {
		Params    int64            `json:"params"`
		Flops     *int64           `json:"flops"`
		Operators map[string]int64 `json:"operators"`
		Notes     []string         `json:"notes"`
		// Of decode one step; null where a precision or a number of tokens is not known.
		ActivationBytes     *float64 `json:"activation_bytes"`
		PeakActivationBytes *float64 `json:"peak_activation_bytes"`
	}
	var total struct {
		Params       int64  `json:"params"`
		ActiveParams *int64 `json:"active_params"`
		Flops        *int64 `json:"flops"`
	}
	total.Params, total.ActiveParams, total.Flops = s.Params, s.ActiveParams, totalFlop(s)
	stages := map[string]stage{}
	for _, st := range s.Stages {
		one := stage{Params: st.Params, Flops: st.Flop, Operators: map[string]int64{}, Notes: []string{}}
		for _, op := range st.Operators {
			one.Operators[op.Name] = op.Flop
		}
		if note := stageNote(s, st); note != "" {
			one.Notes = append(one.Notes, note)
		}
		one.ActivationBytes, one.PeakActivationBytes = activationBytes(s, st)
		stages[st.Name] = one
	}
	z := s.Size
	return typeset.WriteIndented(w, map[string]any{
		"metadata": map[string]any{"model": s.Name, "family": s.Family, "dtype": s.DType, "dtype_assumed": s.DTypeAssumed, "seq_len": z.Prefill, "new_tokens": z.Decode, "batch": z.Batch,
			"images": z.Images, "crops": z.Crops, "flops_per_multiply_add": 2, "convention": z.Convention, "mla": z.MLA, "head": z.Head, "context_len_mode": z.Context, "context_len_fixed": z.FixedContext},
		"total": total, "stages": stages, "notes": append([]string{}, s.Notes...)})
}

// activationBytes gives what all layers of a stage write, and the most that is needed at once.
func activationBytes(s *judge.Static, st judge.StaticStage) (written, peak *float64) {
	for _, row := range s.Activations.Rows {
		r := s.Activations.Record(row)
		if r.Text("stage") != st.Name && !(st.Vision && r.Text("part") == st.Name) {
			continue
		}
		w, p := r.Number("written_bytes"), r.Number("peak_bytes")
		if w == nil || p == nil {
			return nil, nil
		}
		if written == nil {
			written, peak = new(float64), new(float64)
		}
		*written += *w * float64(*r.Whole("layer_count"))
		*peak = max(*peak, *p)
	}
	return written, peak
}

// totalFlop is a prompt with what is in it, and its decode steps; of a vision model its images.
func totalFlop(s *judge.Static) *int64 {
	if s.ActiveParams == nil {
		flop, _ := s.Stage("vision")
		return flop
	}
	prefill, _ := s.Stage("prefill")
	decode, _ := s.Stage("decode")
	if prefill == nil || decode == nil {
		return nil
	}
	sum := *prefill + *decode
	return &sum
}

// stageNote says how a stage and the vision belong together; "" where there is nothing to say.
func stageNote(s *judge.Static, st judge.StaticStage) string {
	switch {
	case st.Vision && s.ActiveParams == nil:
		return "of " + pictures(s.Size)
	case st.Vision && s.Size.ImagesGiven:
		return "happens inside the prefill, whose images it is of; the total has it once"
	case st.Vision:
		return "of " + pictures(s.Size) + "; not in the total, since the prompt has no images"
	case st.Name == "prefill" && s.Size.ImagesGiven && hasVision(s):
		return "the decoder's part; the vision that happens inside it stands by itself"
	}
	return ""
}

func hasVision(s *judge.Static) bool {
	return slices.ContainsFunc(s.Stages, func(st judge.StaticStage) bool { return st.Vision })
}

// inOrder gives the stages in the order in which they happen: vision goes before the prompt that its images are of.
func inOrder(stages []judge.StaticStage) []judge.StaticStage {
	out := slices.Clone(stages)
	slices.SortStableFunc(out, func(a, b judge.StaticStage) int {
		switch {
		case a.Vision == b.Vision:
			return 0
		case a.Vision:
			return -1
		}
		return 1
	})
	return out
}

// StaticMarkdown writes static_compute.md: configuration, the whole model, stages, notes, and the components of each group of layers.
func StaticMarkdown(w io.Writer, s *judge.Static) error {
	var out bytes.Buffer
	out.WriteString("# Static compute: " + typeset.MarkdownText(typeset.Neutral(s.Name)) + "\n\n## Configuration\n\n")
	for _, p := range staticPairs(s) {
		fmt.Fprintf(&out, "- %s: %s\n", p[0], typeset.MarkdownText(typeset.Neutral(p[1])))
	}
	flops := "-"
	if n := totalFlop(s); n != nil {
		flops = fmt.Sprintf("%.3f", float64(*n)/1e9)
	}
	fmt.Fprintf(&out, "\n## Total Model\n\n| Params (M) | FLOPs (G) |\n| ---: | ---: |\n| %.3f | %s |\n\n## Per-Stage Breakdown\n\n", float64(s.Params)/1e6, flops)
	out.WriteString("| Stage | Params (M) | FLOPs (G) | Top Ops |\n| --- | ---: | ---: | --- |\n")
	stages := inOrder(s.Stages)
	for _, st := range stages {
		flops := "-"
		if st.Flop != nil {
			flops = fmt.Sprintf("%.3f", float64(*st.Flop)/1e9)
		}
		fmt.Fprintf(&out, "| %s | %.3f | %s | %s |\n", typeset.MarkdownText(st.Name), float64(st.Params)/1e6, flops, typeset.MarkdownText(strings.Join(topOperators(st, mostOperators), ", ")))
	}
	out.WriteString("\n## Notes\n\n- A multiply-add counts 2. Softmax, norms, activations, rotary tables and lookups count nothing.\n")
	for _, st := range stages {
		if note := stageNote(s, st); note != "" {
			fmt.Fprintf(&out, "- %s: %s\n", typeset.MarkdownText(st.Name), note)
		}
	}
	for _, n := range s.Notes {
		out.WriteString("- " + typeset.MarkdownLine(typeset.Neutral(n)) + "\n")
	}
	out.WriteString("\n## Per-Stage Details\n\n")
	plain := *s.Flops
	plain.Notes, plain.Rows = nil, slices.DeleteFunc(slices.Clone(plain.Rows), isIdle(s))
	if err := table.Markdown(&out, &plain, typeset.Options{}); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// isIdle says whether a row is of a picture that is not there: of crops where none are counted.
func isIdle(s *judge.Static) func(row []any) bool {
	view, flop := s.Flops.Index("view"), s.Flops.Index("flop")
	return func(row []any) bool { return row[view] == "crop" && row[flop] == int64(0) }
}
