package diff

import (
	"slices"
	"strings"
)

// explanation is an aspect whose difference explains a stage's change.
type explanation struct {
	aspect, what string
	stages       []string
}

// words says it with the ratio of the sides' numbers where they have some.
func (e explanation) words(d Difference) string {
	if strings.HasPrefix(e.what, "another ") {
		return e.what
	}
	x, xok := number(d.A)
	y, yok := number(d.B)
	switch {
	case e.aspect == "throttling" && xok && yok && y > x:
		return "B was throttled more"
	case e.aspect == "throttling":
		return "A was throttled more"
	case xok && yok && x > 0 && y > 0:
		return times(y/x, e.what)
	}
	return "other " + e.what
}

// explaining are the aspects whose difference explains by itself why a stage takes another time, and in which stages; none are all.
var explaining = []explanation{
	{"GPU", "another GPU", nil},
	{"SMs", "SMs", nil},
	{"SM clock", "clock", nil},
	{"model", "another model", nil},
	{"model configuration", "another model", nil},
	{"precision of kernels", "another precision", nil},
	{"prompt tokens", "tokens", []string{"prefill", ""}},
	{"decoded tokens", "tokens", []string{"decode", ""}},
	{"sequences", "sequences", nil},
	{"images", "images", []string{"prefill", ""}},
	{"ranks", "ranks", nil},
	{"processes", "processes", nil},
	{"profiler", "another profiler", nil},
	{"throttling", "throttling", nil},
}

// Expected says what differences explain of a stage's change: "twice the tokens", "half the clock"; "" for nothing. A stage "" is all
// device work.
func Expected(d []Difference, stage string) string {
	var out []string
	for _, e := range explaining {
		at := slices.IndexFunc(d, func(x Difference) bool { return x.Aspect == e.aspect })
		if at < 0 || len(e.stages) > 0 && !slices.Contains(e.stages, stage) || d[at].A == notKnown || d[at].B == notKnown {
			continue
		}
		if words := e.words(d[at]); !slices.Contains(out, words) {
			out = append(out, words)
		}
	}
	return strings.Join(out, ", ")
}
