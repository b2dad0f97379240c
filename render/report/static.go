package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
)

// StaticDocument says what a model needs by its configuration: its facts, and its stages with as many operators as the width has room for.
func StaticDocument(s *judge.Static, o typeset.Options) (doc.Document, error) {
	pairs, err := staticPairs(s)
	return doc.Document{Title: "Static compute: " + typeset.Neutral(s.Name), Blocks: []doc.Block{doc.Details(pairs), doc.Rows{Frame: stageFrameFor(s, o)}}}, err
}

// staticPairs are the facts in words, numbers scaled and, where they identify a model, in full.
func staticPairs(s *judge.Static) ([][2]string, error) {
	pairs := [][2]string{{"model", s.Name + " (" + s.Family + ")"}}
	params := typeset.Scaled(float64(s.Params)) + " (" + typeset.Int(s.Params) + ")"
	if s.VisionParams > 0 && s.ActiveParams != nil {
		params += ", " + typeset.Scaled(float64(s.VisionParams)) + " of them outside the decoder"
	}
	pairs = append(pairs, [2]string{"parameters", params})
	if s.ActiveParams != nil {
		pairs = append(pairs, [2]string{"active", typeset.Scaled(float64(*s.ActiveParams)) + " (" + typeset.Int(*s.ActiveParams) + ") used per decoder token"})
	}
	dtype := s.DType
	if s.DTypeAssumed {
		dtype += " (assumed: the configuration names none; set it with --dtype)"
	}
	pairs = append(pairs, [2]string{"precision", dtype})
	weights := "not known"
	if s.WeightBytes != nil {
		if weights = typeset.Binary(*s.WeightBytes); s.Quantised {
			weights += ", quantised as configured"
		}
	}
	pairs = append(pairs, [2]string{"weights", weights})
	if s.KVTokenBytes != nil {
		pairs = append(pairs, [2]string{"KV cache", typeset.Int(int64(*s.KVTokenBytes)) + " B per token"})
	}
	if s.SourceBytes != nil {
		pairs = append(pairs, [2]string{"cross cache", typeset.Int(int64(*s.SourceBytes)) + " B per source token"})
	}
	if s.StateBytes != nil {
		name := "state"
		if s.HasEncoder {
			name = "cross cache"
		}
		pairs = append(pairs, [2]string{name, typeset.Binary(*s.StateBytes) + " per sequence of any length"})
	}
	var live []string
	for _, a := range s.ActivationStages {
		text := typeset.Binary(a.PeakBytes) + " at once in " + map[string]string{"prefill": "the prefill", "decode": "a decode step", "vision": "the images"}[a.Stage] + " (" + a.PeakComponent
		if a.LayerBytes > 0 {
			text += "; a layer writes " + typeset.Binary(a.LayerBytes)
		}
		live = append(live, text+")")
	}
	if len(live) > 0 {
		pairs = append(pairs, [2]string{"activation", strings.Join(live, ", ")})
	}
	if s.ImageTokens != nil {
		pairs = append(pairs, [2]string{"image", typeset.CountOf(*s.ImageTokens, "token") + " of the prompt, without crops"})
	}
	basis, err := staticBasis(s)
	return append(pairs, basis...), err
}

// staticBasis says what the operations are of, and how they are counted.
func staticBasis(s *judge.Static) ([][2]string, error) {
	z := s.Size
	if s.ActiveParams == nil {
		return [][2]string{{"counted", pictures(z) + ", batch " + typeset.Int(z.Batch)}}, nil
	}
	text := fmt.Sprintf("prompt of %s, %s, batch %s", typeset.CountOf(z.Prefill, "token"), typeset.CountOf(z.Decode, "decode step"), typeset.Int(z.Batch))
	if z.ImagesGiven {
		text += ", " + pictures(z)
	}
	convention := "full: every query of the prompt with every key"
	if z.Convention == "causal" {
		convention = "causal: each query of the prompt with the keys that it may see"
	}
	logits := "logits of the last position"
	if z.Head == "all" {
		logits = "logits of all positions"
	}
	pairs := [][2]string{{"counted", text}, {"convention", convention + "; " + logits}}
	if z.Decode == 0 {
		return pairs, nil
	}
	pairs = append(pairs, [2]string{"context", staticContext(s)})
	layers, err := layerRows.Of(s.Groups)
	if mla := staticLatent(s, layers); mla != "" {
		pairs = append(pairs, [2]string{"latents", mla})
	}
	return pairs, err
}

// pictures says which images vision is counted for.
func pictures(z judge.StaticSize) string {
	text := typeset.CountOf(z.Pictures(), "image")
	if z.Crops > 0 {
		text += " with " + typeset.CountOf(z.Crops, "crop") + " each"
	}
	return text
}

// staticContext says how many tokens the decode steps see.
func staticContext(s *judge.Static) string {
	z := s.Size
	switch {
	case z.Context == "fixed" && z.FixedContext != nil:
		return "fixed: " + typeset.CountOf(*z.FixedContext, "token") + " at each decode step"
	case z.Context == "max" && s.MaxContext != nil:
		return "max: " + typeset.CountOf(*s.MaxContext, "token") + " at each decode step"
	case z.Context == "auto":
		return fmt.Sprintf("auto: from %s to %s over the decode steps", typeset.Int(s.DecoderPrompt()+1), typeset.CountOf(s.DecoderPrompt()+z.Decode, "token"))
	}
	return z.Context
}

// staticLatent says what decode does with the latents of attention (MLA); "" for a model without them.
func staticLatent(s *judge.Static, layers []layerRow) string {
	for _, layer := range layers {
		once := layer.Component == "kv_b_proj, once a token"
		if layer.Component != "kv_b_proj" && !once {
			continue
		}
		if s.Size.MLA == "absorbed" {
			return "absorbed: queries work on the cached latents (--mla)"
		}
		if once {
			return "expanded: keys and values are computed once per token (--mla absorbed uses the latents)"
		}
		return "expanded: each decode step recomputes keys and values of its whole context (--mla absorbed does not)"
	}
	return ""
}

// mostOperators is how many operators of a stage a wide table names.
const mostOperators = 3

// stageFrameFor lists the stages with as many operators as the width has room for.
func stageFrameFor(s *judge.Static, o typeset.Options) *frame.Frame {
	for n := mostOperators; n > 1; n-- {
		f := stageFrame(s, n)
		if table.Fits(f, o.Limit()) {
			return f
		}
	}
	return stageFrame(s, 1)
}

// stageFrame lists the stages with their operations, the parts of one below it.
func stageFrame(s *judge.Static, operators int) *frame.Frame {
	f := &frame.Frame{Query: "flops", Version: 1, Notes: s.Notes, Columns: []frame.Column{
		{Name: "stage", Type: frame.Text}, {Name: "flop", Type: frame.Int, Unit: frame.Flop},
		{Name: "parameters", Type: frame.Int, Unit: frame.Count}, {Name: "largest_operators", Type: frame.Text}}}
	add := func(name string, st judge.StaticStage) {
		f.Rows = append(f.Rows, []any{name, whole(st.Flop), st.Params, strings.Join(topOperators(st, operators), ", ")})
	}
	var decoder, vision []judge.StaticStage
	for _, st := range s.Stages {
		if st.Vision {
			vision = append(vision, st)
		} else {
			decoder = append(decoder, st)
		}
	}
	inside := s.Size.ImagesGiven && len(decoder) > 0
	for _, st := range decoder {
		if st.Name == "prefill" && inside && len(vision) > 0 {
			add("prefill", together(s, "prefill", append([]judge.StaticStage{st}, vision...)))
			add(nested+"decoder", st)
			for _, part := range vision {
				add(nested+part.Name, part)
			}
			continue
		}
		add(st.Name, st)
	}
	if inside || len(vision) == 0 {
		return f
	}
	if len(vision) == 1 {
		add("vision ("+vision[0].Name+")", vision[0])
	} else {
		add("vision", together(s, "vision", vision))
		for _, part := range vision {
			add(nested+part.Name, part)
		}
	}
	if len(decoder) > 0 {
		f.Notes = append([]string{"vision is for " + pictures(s.Size) + " and not included in prefill: --images K adds the images of the prompt there"}, f.Notes...)
	}
	return f
}

// nested stands before what is part of the stage above it.
const nested = "· "

// together returns a stage of several parts as one.
func together(s *judge.Static, name string, parts []judge.StaticStage) judge.StaticStage {
	sum := judge.StaticStage{Name: name}
	sum.Flop, _ = s.Stage(name)
	of := map[string]int64{}
	for _, p := range parts {
		sum.Params += p.Params
		for _, op := range p.Operators {
			of[op.Name] += op.Flop
		}
	}
	for _, op := range slices.Sorted(maps.Keys(of)) {
		sum.Operators = append(sum.Operators, judge.StaticOperator{Name: op, Flop: of[op]})
	}
	slices.SortStableFunc(sum.Operators, func(a, b judge.StaticOperator) int { return cmp.Compare(b.Flop, a.Flop) })
	return sum
}

// topOperators names the operators with the most operations and their shares.
func topOperators(st judge.StaticStage, n int) []string {
	var out []string
	for _, op := range st.Operators[:min(n, len(st.Operators))] {
		if st.Flop != nil && *st.Flop > 0 && op.Flop > 0 {
			out = append(out, fmt.Sprintf("%s %.1f %%", op.Name, 100*float64(op.Flop)/float64(*st.Flop)))
		}
	}
	return out
}

func whole(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}
