package judge

import (
	"fmt"
	"slices"

	"prof/schema/facts/sql/findings"
	"prof/schema/terms"
)

// The thresholds of what bounds a stage.
const (
	// accounting calls a gap the host's from 100 us on: of passes that take less in all, nothing can be told apart.
	leastSpanNs = 100e3
	// A fifth of the time is more than tuning kernels by a few percent can bring back.
	exposedShare = 0.2
	copyShare    = 0.2
	// Below this the time that the GPU does not work is the larger thing to win for all but hopeless kernels.
	busyShare = 0.6
	// Half of the peak bandwidth: well-tuned decode reaches 60 to 80 % of it, so that what is left to win is a factor below two.
	memoryShare = 0.5
	// Well-tuned training and prefill reach 40 to 60 % of the dense peak.
	computeShare = 0.4
	// Where a third of the kernel time is profiled, what most of that is bound by is worth saying.
	coveredShare = 1.0 / 3
	// Kernels are called bound by one thing where that bounds twice the time of all others.
	clearShare = 2.0 / 3
	// Less than 5 % is not worth a word.
	wordShare = 0.05
)

// idleGroup is idle time of causes that are judged together.
type idleGroup struct {
	bound Bound
	kinds []string // of accounting: names of causes
	words string   // what the GPU does meanwhile
}

// idleGroups are the causes of idle time that a stage's time has.
var idleGroups = func() []idleGroup {
	var out []idleGroup
	for _, c := range terms.Causes {
		if len(terms.PartsOf(c.Name)) == 0 {
			continue
		}
		if at := slices.IndexFunc(out, func(g idleGroup) bool { return g.words == c.Verb }); at >= 0 {
			out[at].kinds = append(out[at].kinds, c.Name)
			continue
		}
		out = append(out, idleGroup{Bound(c.Bound), []string{c.Name}, c.Verb})
	}
	return out
}()

// evidence is what the bound of a stage follows from.
type evidence struct {
	stage      string
	gpu        deviceParts   // the GPU that is judged
	all        []deviceParts // all GPUs of the stage
	passes     []passTime    // measured ones of the judged GPU; none where they are not told apart
	latePasses []passTime    // likewise of the GPU that is waited for
	use        utilisation
	class      stageClass
	isProbe    bool // Nsight Compute profiled something in the run
	isForeign  bool // tools of NVIDIA are no help
	wait       SlowRank
	gaps       fewLong
	copies     copyKinds
	lost       lostWork
}

// idle returns the groups of idle time, the greatest first.
func (d deviceParts) idle() []idleGroup {
	out := slices.Clone(idleGroups)
	slices.SortStableFunc(out, byKey(func(g idleGroup) float64 { return -d.of(g.kinds...) }))
	return out
}

// isIdle reports whether the time that the GPU does not work is what to judge by.
func (d deviceParts) isIdle() bool { return d.of("busy")+d.of("other") < busyShare*d.span }

// computing is the time in which the GPU computes, in ns.
func (d deviceParts) computing() float64 {
	return d.of("busy") - d.named("collective-exposed").ns - d.named("copy").ns
}

// loss is time in which the GPU computes nothing.
type loss struct {
	bound Bound
	words string
	ns    float64
	parts []part
}

// losses are the times in which the judged GPU computes nothing, but for some, the greatest first.
func (e evidence) losses(but Bound) []loss {
	exposed, copies := e.gpu.named("collective-exposed"), e.gpu.named("copy")
	out := []loss{{CommBound, "exchanges data with other GPUs and computes nothing", exposed.ns, []part{exposed}}, {CopyBound, e.copies.verb() + " and computes nothing", copies.ns, []part{copies}}}
	for _, g := range idleGroups {
		parts := e.gpu.in(g)
		out = append(out, loss{g.bound, g.words, e.gpu.of(g.kinds...), parts})
	}
	out = slices.DeleteFunc(out, func(l loss) bool { return l.bound == but || but == LateBound && l.bound == CommBound })
	slices.SortStableFunc(out, byKey(func(l loss) float64 { return -l.ns }))
	return out
}

// then adds the greatest loss beside a verdict, where it is worth a word.
func (e evidence) then(v *verdict) *verdict {
	next := e.losses(v.bound)[0]
	if next.ns < wordShare*e.gpu.span {
		return v
	}
	v.next = next.bound
	v.why += fmt.Sprintf("; it also %s %s", next.words, e.share(next.ns))
	if once := e.once(next.parts...); once.ns > 0 && next.bound != CommBound && next.bound != CopyBound {
		v.why += once.among()
	}
	return v
}

// share words a time of the stage's GPU in the median pass: 52.8 % of the time (154 ms of 291 ms).
func (e evidence) share(ns float64) string {
	return fmt.Sprintf("%s of the time (%s of %s)", percentText(ns/e.gpu.span), DurationText(ns), DurationText(e.gpu.span))
}

func (e evidence) works() string {
	text := fmt.Sprintf("the GPU is busy %s of the time", percentText(e.gpu.of("busy")/e.gpu.span))
	if other := e.gpu.of("other"); other >= wordShare*e.gpu.span {
		text += fmt.Sprintf(" and runs other work %s", percentText(other/e.gpu.span))
	}
	return text
}

// inOnce is time that is nearly all in one pass of several.
type inOnce struct {
	ns     float64 // 0 where it is not so
	passes int64
	pass   *passTime // the one; nil where it is not told
}

// once returns how much of the time of some parts is in one pass where that is nearly all of it.
func (e evidence) once(parts ...part) inOnce {
	total, most, isIdle := 0.0, 0.0, true
	for _, p := range parts {
		total, most, isIdle = total+p.total, max(most, p.most), isIdle && p.kind != "busy"
	}
	if e.gpu.passes < 2 || most < findings.OncePart*total || total == 0 {
		return inOnce{}
	}
	return inOnce{most, e.gpu.passes, holder(e.passes, most, isIdle)}
}

// text words it as what speaks against a verdict.
func (o inOnce) text() string {
	switch {
	case o.ns == 0:
		return ""
	case o.pass == nil:
		return fmt.Sprintf("nearly all of that time (%s) is in one of %d passes", DurationText(o.ns), o.passes)
	case o.pass.isFirst:
		return fmt.Sprintf("nearly all of that time (%s) is in pass %d, the first of %d, which may be warm-up", DurationText(o.ns), o.pass.number, o.passes)
	}
	return fmt.Sprintf("nearly all of that time (%s) is in pass %d alone (of %d passes)", DurationText(o.ns), o.pass.number, o.passes)
}

// among words it as a part of a time.
func (o inOnce) among() string {
	if o.pass == nil {
		return fmt.Sprintf(", %s of that in one of %d passes", DurationText(o.ns), o.passes)
	}
	return fmt.Sprintf(", %s of that in pass %d alone (of %d passes)", DurationText(o.ns), o.pass.number, o.passes)
}
