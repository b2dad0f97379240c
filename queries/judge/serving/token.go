package serving

import (
	"cmp"
	"slices"
)

// Token is what a token takes on that GPU of an engine on which it takes longest.
type Token struct {
	Slowest Cause   // a row of it, for what its rows share
	Causes  []Cause // its rows
	GPUs    int     // of the engine
}

// TokenOf returns it from the answer of tpot-causes; nil without rows.
func TokenOf(list []Cause) *Token {
	if len(list) == 0 {
		return nil
	}
	t := &Token{Slowest: slices.MaxFunc(list, func(a, b Cause) int { return cmp.Compare(a.TokenNs(), b.TokenNs()) })}
	gpus := map[[2]int64]bool{}
	for _, c := range list {
		gpus[[2]int64{c.Source, c.Device}] = true
		if of := t.Slowest; c.Source == of.Source && c.Device == of.Device && (c.PID == nil) == (of.PID == nil) && (c.PID == nil || *c.PID == *of.PID) {
			t.Causes = append(t.Causes, c)
		}
	}
	t.GPUs = len(gpus)
	return t
}

// TokenNs is the mean time of a token on the GPU of the row; where tokens were not counted, that of a step.
func (c Cause) TokenNs() float64 {
	if c.Token != nil {
		return *c.Token
	}
	return c.Step
}

// EngineNs is the mean time of a token of all GPUs.
func (t Token) EngineNs() float64 {
	if all := t.Slowest.AllTokens; all != nil && t.GPUs > 1 {
		return *all
	}
	return t.Slowest.TokenNs()
}

// PartNs is what a token takes for a cause; of a step where tokens were not counted.
func (c Cause) PartNs() float64 {
	if c.PerToken != nil {
		return *c.PerToken
	}
	return c.PerStep
}
