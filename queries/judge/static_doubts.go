package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

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
