package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
)

// StaticJSON writes the whole of it as one object. Counts are whole numbers in base units; null is what is not known.
func StaticJSON(w io.Writer, s *judge.Static) error {
	z := s.Size
	bytes := map[string]any{}
	for _, b := range s.ByDType {
		bytes[b.DType] = new(typeset.Object).Put("weight_bytes", b.WeightBytes).Put("kv_bytes_per_token", b.KVTokenBytes)
	}
	return typeset.WriteIndented(w, new(typeset.Object).Put("name", s.Name).Put("family", s.Family).Put("architecture", s.Architecture).
		Put("dtype", s.DType).Put("dtype_assumed", s.DTypeAssumed).
		Put("params", s.Params).Put("active_params", s.ActiveParams).Put("embedding_params", s.EmbeddingParams).Put("vision_params", s.VisionParams).
		Put("weight_bytes", s.WeightBytes).Put("kv_bytes_per_token", s.KVTokenBytes).Put("bytes_by_dtype", bytes).
		Put("state_bytes_per_sequence", s.StateBytes).Put("source_bytes_per_token", s.SourceBytes).Put("activations", rowsAsObjects(s.Activations)).
		Put("layers", s.Layers).Put("max_context", s.MaxContext).Put("image_tokens", s.ImageTokens).
		Put("size", new(typeset.Object).Put("prefill", z.Prefill).Put("decode", z.Decode).Put("batch", z.Batch).Put("images", z.Images).Put("crops", z.Crops).
			Put("convention", z.Convention).Put("mla", z.MLA).Put("head", z.Head).Put("context", z.Context).Put("fixed_context", z.FixedContext)).
		Put("stages", staticStages(s)).Put("layer_groups", rowsAsObjects(s.Groups)).Put("notes", s.Notes))
}

// staticStages are the stages by name: of prefill the operations of decoder and encoder apart, of vision its parts and whether prefill
// holds them.
func staticStages(s *judge.Static) map[string]any {
	out, parts := map[string]any{}, map[string]any{}
	var visionParams int64
	for _, st := range s.Stages {
		one := new(typeset.Object)
		switch {
		case st.Vision:
			parts[st.Name] = one.Put("flop", st.Flop).Put("params", st.Params)
			visionParams += st.Params
		case st.Name == "prefill":
			whole, _ := s.Stage("prefill")
			decoder := st.Flop
			if st.Flop != nil && st.Encoder != nil {
				decoder = new(*st.Flop - *st.Encoder)
			}
			one.Put("flop", whole).Put("params", st.Params)
			if decoder != nil {
				one.Put("decoder_flop", decoder)
			}
			if st.Encoder != nil {
				one.Put("encoder_flop", st.Encoder)
			}
			out[st.Name] = one
		default:
			out[st.Name] = one.Put("flop", st.Flop).Put("params", st.Params)
		}
		if len(st.Operators) > 0 {
			one.Put("operators", operatorFlops(st))
		}
	}
	if flop, ok := s.Stage("vision"); ok {
		vision := new(typeset.Object).Put("flop", flop).Put("params", visionParams)
		if s.ActiveParams != nil {
			vision.Put("part_of", "prefill").Put("in_prefill", s.Size.ImagesGiven)
		}
		out["vision"] = vision.Put("images", s.Size.Pictures()).Put("parts", parts)
	}
	return out
}

func operatorFlops(st judge.StaticStage) map[string]int64 {
	out := map[string]int64{}
	for _, op := range st.Operators {
		out[op.Name] = op.Flop
	}
	return out
}

// rowsAsObjects returns a frame's rows as objects.
func rowsAsObjects(f *frame.Frame) []map[string]any {
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
	z := s.Size
	activations, err := activationRows.Of(s.Activations)
	if err != nil {
		return err
	}
	stages := map[string]any{}
	for _, st := range s.Stages {
		notes := []string{}
		if note := stageNote(s, st); note != "" {
			notes = append(notes, note)
		}
		written, peak := activationBytes(activations, st) // of decode one step
		stages[st.Name] = new(typeset.Object).Put("params", st.Params).Put("flops", st.Flop).Put("operators", operatorFlops(st)).Put("notes", notes).
			Put("activation_bytes", written).Put("peak_activation_bytes", peak)
	}
	return typeset.WriteIndented(w, map[string]any{
		"metadata": map[string]any{"model": s.Name, "family": s.Family, "dtype": s.DType, "dtype_assumed": s.DTypeAssumed, "seq_len": z.Prefill, "new_tokens": z.Decode, "batch": z.Batch,
			"images": z.Images, "crops": z.Crops, "flops_per_multiply_add": 2, "convention": z.Convention, "mla": z.MLA, "head": z.Head, "context_len_mode": z.Context, "context_len_fixed": z.FixedContext},
		"total":  new(typeset.Object).Put("params", s.Params).Put("active_params", s.ActiveParams).Put("flops", totalFlop(s)),
		"stages": stages, "notes": append([]string{}, s.Notes...)})
}

// activationBytes returns what all layers of a stage write, and the most that is needed at once.
func activationBytes(list []activationRow, st judge.StaticStage) (written, peak *float64) {
	for _, r := range list {
		if r.Stage != st.Name && !(st.Vision && r.Part == st.Name) {
			continue
		}
		if r.WrittenBytes == nil || r.PeakBytes == nil {
			return nil, nil
		}
		if written == nil {
			written, peak = new(float64), new(float64)
		}
		*written += *r.WrittenBytes * float64(r.LayerCount)
		*peak = max(*peak, *r.PeakBytes)
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
		return "for " + pictures(s.Size)
	case st.Vision && s.Size.ImagesGiven:
		return "runs inside the prefill; the total includes it once"
	case st.Vision:
		return "for " + pictures(s.Size) + "; not in the total, since the prompt has no images"
	case st.Name == "prefill" && s.Size.ImagesGiven && hasVision(s):
		return "the decoder only; vision, which runs inside it, is listed separately"
	}
	return ""
}

func hasVision(s *judge.Static) bool {
	return slices.ContainsFunc(s.Stages, func(st judge.StaticStage) bool { return st.Vision })
}

// inOrder returns the stages in the order in which they happen: vision goes before the prompt that its images are of.
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
	pairs, err := staticPairs(s)
	if err != nil {
		return err
	}
	flops, err := flopRows.Of(s.Flops)
	if err != nil {
		return err
	}
	counted := *s.Flops
	counted.Notes, counted.Rows = nil, nil
	for i, f := range flops {
		if !f.isIdle() {
			counted.Rows = append(counted.Rows, s.Flops.Rows[i])
		}
	}
	total, breakdown := figures("Params (M)", "FLOPs (G)"), figures("Stage", "Params (M)", "FLOPs (G)")
	total.Columns[0].Right = true
	total.AddRow(millions(s.Params), billions(totalFlop(s)))
	breakdown.Columns = append(breakdown.Columns, plain("Top Ops"))
	notes := []string{"A multiply-add counts 2. Softmax, norms, activations, rotary embeddings and lookups are not counted."}
	for _, st := range inOrder(s.Stages) {
		breakdown.AddRow(st.Name, millions(st.Params), billions(st.Flop), strings.Join(topOperators(st, mostOperators), ", "))
		if note := stageNote(s, st); note != "" {
			notes = append(notes, st.Name+": "+note)
		}
	}
	return doc.Markdown(w, []doc.Document{{Title: "Static compute: " + typeset.Neutral(s.Name), IsFile: true, Blocks: []doc.Block{
		doc.Section{Title: "Configuration", Blocks: []doc.Block{doc.Details(pairs)}},
		doc.Section{Title: "Total Model", Blocks: []doc.Block{doc.Table{Of: total}}},
		doc.Section{Title: "Per-Stage Breakdown", Blocks: []doc.Block{doc.Table{Of: breakdown}}},
		doc.Section{Title: "Notes", Blocks: []doc.Block{doc.Notes(typeset.Each(append(notes, s.Notes...), typeset.Neutral))}},
		doc.Section{Title: "Per-Stage Details", Blocks: []doc.Block{doc.Rows{Frame: &counted}}},
	}}}, typeset.Options{})
}

// millions and billions are counts as the original's tables have them.
func millions(n int64) string { return fmt.Sprintf("%.3f", float64(n)/1e6) }

func billions(n *int64) string {
	if n == nil {
		return typeset.Null
	}
	return fmt.Sprintf("%.3f", float64(*n)/1e9)
}

// isIdle reports whether a row is of a picture that is not there: of crops where none are counted.
func (f flopRow) isIdle() bool { return f.View == "crop" && f.Flop != nil && *f.Flop == 0 }
