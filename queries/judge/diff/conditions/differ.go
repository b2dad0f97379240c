package conditions

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Difference is one thing beside the code that differs between the sides.
type Difference struct {
	Aspect string // GPU, driver, clocks, throttling, precision, model, prompt tokens, decode tokens, batch, tool versions, trace options, launch skip, commit, ...
	A, B   string // "unknown" is said so
	Effect string // what it means for the comparison, in words; "" for none
	Weight Weight
}

// Differences returns what differs between two sides beside their times: what decides first, then what clouds, then what tells. What one
// side alone knows is a difference only where the comparison hangs on it. A side whose runs differ among themselves is said too.
func Differences(a, b []Run) []Difference {
	weights := map[string]Weight{}
	for _, r := range slices.Concat(a, b) {
		for _, x := range r.Aspects {
			weights[x.Name] = x.Weight
		}
	}
	var out []Difference
	for name, weight := range weights {
		p := pairOf(name, stateOf(a, name), stateOf(b, name))
		if !p.differs() {
			continue
		}
		d := Difference{Aspect: name, A: p.a.text(), B: p.b.text(), Weight: weight}
		d.Effect, d.Weight = p.effect(weight)
		out = append(out, d)
	}
	slices.SortFunc(out, func(x, y Difference) int {
		return cmp.Or(place(x.Weight)-place(y.Weight), rulePlace(x.Aspect)-rulePlace(y.Aspect), cmp.Compare(x.Aspect, y.Aspect))
	})
	return out
}

func place(w Weight) int { return slices.Index([]Weight{Decides, Clouds, Tells}, w) }

// statedPair is what two sides say of an aspect.
type statedPair struct {
	name string
	rule rule
	a, b stated
}

func pairOf(name string, a, b stated) statedPair {
	return statedPair{name: name, rule: ruleOf(name), a: a, b: b}
}

// Clocks of the same setting differ by steps of some 15 MHz from run to run.
const (
	clockTolerance = 0.01 // smaller relative differences of clocks are none
	clockDecides   = 0.05 // larger ones move kernels by more than most changes of code
)

// Shares of samples are of some ten samples a second, so that small ones are chance.
const (
	shareTolerance = 5 // percentage points
	shareSome      = 1 // percent: more than never
)

// differs reports whether the sides are unlike, or the runs of a side are where the comparison hangs on it.
func (p statedPair) differs() bool {
	if !p.a.isKnown() || !p.b.isKnown() {
		return p.rule.mustKnow
	}
	x, xok := p.a.centre()
	y, yok := p.b.centre()
	switch {
	case xok && yok && p.rule.kind == clock:
		return math.Abs(math.Log(y/x)) >= math.Log1p(clockTolerance)
	case xok && yok && p.rule.kind == share:
		return math.Abs(y-x) >= shareTolerance || min(x, y) == 0 && max(x, y) >= shareSome
	case p.rule.kind == version && !p.a.isMixed() && !p.b.isMixed():
		return !sameVersion(p.a.values[0], p.b.values[0])
	}
	if p.a.isMixed() && p.b.isMixed() && p.rule.kind == identity {
		// Each run of a set has its own; two sets differ where one says what the other does not.
		return !isSubset(p.a.values, p.b.values) && !isSubset(p.b.values, p.a.values)
	}
	return p.a.isMixed() || p.b.isMixed() || p.a.values[0] != p.b.values[0]
}

// sameVersion reports whether one is the other with fewer of its parts: tools tell 580.159 of the driver 580.159.04.
func sameVersion(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

func isSubset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(v string) bool { return !slices.Contains(b, v) })
}

// ratio is B as a multiple of A; false where either is no number above 0.
func (p statedPair) ratio() (float64, bool) {
	x, xok := p.a.centre()
	y, yok := p.b.centre()
	return y / x, xok && yok && x > 0 && y > 0
}

// effect returns what the difference means, and how much it matters.
func (p statedPair) effect(weight Weight) (string, Weight) {
	if !p.a.isKnown() || !p.b.isKnown() {
		// It may be the same on both sides.
		if weight == Decides {
			weight = Clouds
		}
		return "known for one side only: it may differ", weight
	}
	words := p.rule.effect
	if r, ok := p.ratio(); ok && p.rule.words != nil {
		words = p.rule.words(r)
		if p.rule.kind == clock && weight != Tells {
			weight = Clouds
			if math.Abs(math.Log(r)) >= math.Log1p(clockDecides) {
				weight = Decides
			}
		}
	}
	if mixed := p.mixed(); mixed != "" && p.rule.kind != identity && p.rule.kind != clock && p.rule.kind != share {
		words = strings.TrimPrefix(words+"; ", "; ") + mixed
	}
	return words, weight
}

// mixed returns which sides' runs differ among themselves.
func (p statedPair) mixed() string {
	switch {
	case p.a.isMixed() && p.b.isMixed():
		return "it varies within both sides"
	case p.a.isMixed():
		return "it varies within A"
	case p.b.isMixed():
		return "it varies within B"
	}
	return ""
}

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

// Expected returns what differences explain of a stage's change: "twice the tokens", "half the clock"; "" for nothing. A stage "" is all
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
