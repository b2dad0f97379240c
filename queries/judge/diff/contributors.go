package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"prof/schema/terms"
)

// leastShare is how much of the stage's time on side A a part must have changed by to be told as a cause.
const leastShare = 0.01

// cause is what a change is put down to: kernels of a family, kernels that took others' place, copies, or idle time of one cause.
type cause struct {
	key        string
	kind       string
	gone, new  []string // classes of kernels that took others' place
	name       string
	a, b       amount
	perA, perB int64 // ns for one unit, of the centre of the samples
}

// leastNamed is how much of all that changed a part must be to be told even where it is not among the mostNamed largest.
const (
	leastNamed = 0.1
	mostNamed  = 3
)

// contributors returns the largest causes of the stage's change. Each is told by the centre of the samples, as the stage itself is: a
// pass that stalled must not be what a change of the others is put down to. So they do not add up to the ns, as the ledger does.
func (s *stagePair) contributors(metric string) []Contributor {
	var list []*cause
	byKey := map[string]*cause{}
	for _, p := range s.fine {
		if !p.counts(metric) {
			continue
		}
		c := s.causeOf(p)
		if byKey[c.key] == nil {
			byKey[c.key] = &c
			list = append(list, &c)
		}
		if p.a != nil {
			byKey[c.key].a.merge(p.a)
		}
		if p.b != nil {
			byKey[c.key].b.merge(p.b)
		}
	}
	for _, c := range list {
		c.perA, c.perB = int64(math.Round(s.centre(s.samples(s.a, &c.a)))), int64(math.Round(s.centre(s.samples(s.b, &c.b))))
	}
	least := int64(math.Ceil(leastShare * float64(*s.whole(s.a, metric))))
	size := func(c *cause) int64 { return max(c.perB-c.perA, c.perA-c.perB) }
	changed := int64(0)
	for _, c := range list {
		changed += size(c)
	}
	list = slices.DeleteFunc(list, func(c *cause) bool { return size(c) == 0 || size(c) < least })
	slices.SortStableFunc(list, func(x, y *cause) int { return cmp.Or(cmp.Compare(size(y), size(x)), cmp.Compare(x.key, y.key)) })
	var out []Contributor
	all := *s.whole(s.a, s.metric)
	for i, c := range list {
		if i < mostNamed || float64(size(c)) >= leastNamed*float64(changed) {
			out = append(out, c.tell(all))
		}
	}
	return out
}

// whole is the time of the parts that count by a metric, for one unit, of the centre of the samples; nil where the side has none.
func (s *stagePair) whole(x *stageSide, metric string) *int64 {
	if len(x.groups) == 0 {
		return nil
	}
	return new(int64(math.Round(s.centre(x.values(s.level, func(i int) *float64 {
		return new(float64(x.groups[i].whole(metric)) / float64(unitsIn(x.groups[i], s.tokens)))
	})))))
}

// counts reports whether a part of the GPUs' time is one of what a metric tells.
func (p pair) counts(metric string) bool {
	switch metric {
	case busyMetric:
		return !p.isTime() || p.key.kind == "overlap"
	case idleMetric:
		return p.key.kind == "idle"
	case "gpu_sum_ns":
		return !p.isTime()
	}
	return true
}

// whole returns what the parts that count add up to.
func (g group) whole(metric string) int64 {
	switch metric {
	case busyMetric:
		return g.parts.work
	case idleMetric:
		return g.time - g.parts.work - g.parts.other
	case "gpu_sum_ns":
		return g.sum
	}
	return g.time
}

func (s *stagePair) causeOf(p pair) cause {
	if m, ok := s.moves[p.key]; ok {
		if gone, added := s.classes(m.group); strings.Join(gone, "\n") != strings.Join(added, "\n") {
			return cause{key: "moved " + strings.Join(gone, "\n") + " to " + strings.Join(added, "\n"), kind: "moved", gone: gone, new: added}
		}
	}
	switch p.key.kind {
	case "kernel":
		return cause{key: "kernel " + p.key.class, kind: "kernel", name: kernelsText(p.key.class, cmp.Or(p.a, p.b).family)}
	case "copy":
		return cause{key: "copy", kind: "copy", name: "copies"}
	case "fill":
		return cause{key: "fill", kind: "copy", name: "fills"}
	case "graph":
		return cause{key: "graph", kind: "copy", name: graphsText}
	case "overlap":
		return cause{key: "overlap", kind: "overlap", name: "overlapping work"}
	case "other":
		return cause{key: "other", kind: "idle", name: "other work"}
	}
	return cause{key: "idle " + p.key.name, kind: "idle", name: idleText(p.key.name)}
}

// idleText names idle time by its cause in a sentence.
func idleText(cause string) string {
	c, _ := terms.CauseNamed(cause)
	return c.Noun
}

const graphsText = "CUDA graphs"

// classes returns the families (or names) of the kernels of a move on either side.
func (s *stagePair) classes(group int) (gone, added []string) {
	for _, p := range s.fine {
		if m, ok := s.moves[p.key]; !ok || m.group != group {
			continue
		}
		class := kernelText(p.key.class, cmp.Or(p.a, p.b).family)
		if p.key.kind == "graph" {
			class = graphsText
		}
		if p.b == nil {
			gone = append(gone, class)
		} else {
			added = append(added, class)
		}
	}
	return slices.Compact(gone), slices.Compact(added) // in the order of classes
}

func kernelText(class, family string) string {
	if family != "" {
		return family
	}
	return shortName(class)
}

func kernelsText(class, family string) string {
	if family != "" {
		return family + " kernels"
	}
	return "kernel " + shortName(class)
}

func (c *cause) tell(whole int64) Contributor {
	d := c.perB - c.perA
	out := Contributor{Name: c.name, DeltaNs: d}
	if c.kind == "moved" {
		out.Name = fmt.Sprintf("%s in place of %s", listText(c.new), listText(c.gone))
	}
	if whole > 0 {
		out.ShareRatio = new(float64(d) / float64(whole))
	}
	if c.perA > 0 {
		out.Effect = new(float64(d) / float64(c.perA))
	}
	switch {
	case c.kind == "overlap":
		out.Effect = nil
		out.Words = fmt.Sprintf("%s overlap of work %s", moreLess(d < 0), signedTime(d))
	case c.perA <= 0:
		out.Words = fmt.Sprintf("%s (new) %s", out.Name, signedTime(d))
	case c.perB == 0:
		out.Words = fmt.Sprintf("%s (gone) %s", out.Name, signedTime(d))
	default:
		out.Words = out.Name + " " + signedPercent(*out.Effect)
	}
	return out
}

func moreLess(more bool) string {
	if more {
		return "more"
	}
	return "less"
}

func listText(names []string) string {
	if len(names) > 3 {
		names = append(slices.Clone(names[:2]), fmt.Sprintf("%d more", len(names)-2))
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
