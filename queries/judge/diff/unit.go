package diff

import "slices"

// unitOf says what a stage's times are for: a pass, or a token where the passes of the sides work on different numbers of tokens.
func unitOf(stage string, a, b *stageSide) (Unit, func(group) *int64) {
	switch {
	case stage == "" || stage == outside:
		return PerRun, nil
	case a.basis+b.basis != "":
		return PerStep, nil
	}
	// A stage that does both, such as a step of a server, has no one token that its time could be for.
	prompt, decode := tokenStates(a, b, func(g group) *int64 { return g.prompt }), tokenStates(a, b, func(g group) *int64 { return g.decode })
	switch {
	case prompt.differ && !decode.some:
		return PerToken, func(g group) *int64 { return g.prompt }
	case decode.differ && (!prompt.some || stage == "decode"):
		return PerToken, func(g group) *int64 { return g.decode }
	case prompt.differ && stage == "prefill":
		return PerToken, func(g group) *int64 { return g.prompt }
	}
	return PerPass, nil
}

// tokenState is what is known of a kind of tokens.
type tokenState struct {
	some   bool // of a pass that works on some
	differ bool // of all passes of both sides, and the mean pass of one side has more
}

func tokenStates(a, b *stageSide, of func(group) *int64) tokenState {
	var out tokenState
	all := true
	sums := [2]int64{}
	for i, s := range []*stageSide{a, b} {
		all = all && len(s.groups) > 0
		for _, g := range s.groups {
			n := of(g)
			all = all && n != nil && *n > 0
			if n != nil {
				out.some = out.some || *n > 0
				sums[i] += *n
			}
		}
	}
	out.differ = all && sums[0]*int64(len(b.groups)) != sums[1]*int64(len(a.groups))
	return out
}

// tokensOf returns the tokens of a stage by what it is called: those that its passes decode, or those of their prompts.
func tokensOf(stage string, s *stageSide) func(group) *int64 {
	prompt, decode := func(g group) *int64 { return g.prompt }, func(g group) *int64 { return g.decode }
	known := func(of func(group) *int64) bool {
		return len(s.groups) > 0 && !slices.ContainsFunc(s.groups, func(g group) bool { n := of(g); return n == nil || *n <= 0 })
	}
	switch {
	case stage != "prefill" && known(decode):
		return decode
	case known(prompt) && !slices.ContainsFunc(s.groups, func(g group) bool { return g.decode != nil && *g.decode > 0 && stage != "prefill" }):
		return prompt
	}
	return nil
}

// unitsIn returns the units of a group: 1, or its tokens.
func unitsIn(g group, tokens func(group) *int64) int64 {
	if tokens == nil {
		return 1
	}
	return *tokens(g)
}

func (s *stageSide) units(tokens func(group) *int64) int64 {
	var out int64
	for _, g := range s.groups {
		out += unitsIn(g, tokens)
	}
	return out
}
