package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"prof/queries/judge/diff"
	"prof/render/chart"
	"prof/render/typeset"
	"prof/render/words"
)

// diffFigure is the picture of a stage's change: a bar for each part of its GPUs' time, to the left of a line where the part became
// shorter and to the right where it became longer, the largest first.
type diffFigure struct {
	Label   string    `json:"label"`
	Spoken  string    `json:"spoken"`
	Height  int       `json:"height"`
	Zero    string    `json:"zero"` // where the line stands
	Rows    []diffBar `json:"rows"`
	Caption string    `json:"caption"`  // what the parts are of
	LeftOut string    `json:"left_out"` // parts that are not drawn; "" when all are
}

// diffBar is one part.
type diffBar struct {
	Class string `json:"class"` // less or more
	Short string `json:"short"` // its name on narrow and on wide screens
	Long  string `json:"long"`
	Text  string `json:"text"`
	Title string `json:"title"`
	X     string `json:"x"`
	Width string `json:"width"`
	NameY int    `json:"name_y"`
	BarY  int    `json:"bar_y"`
	TextY int    `json:"text_y"`
	LineY int    `json:"line_y"` // of the line between less and more
	EndY  int    `json:"end_y"`
}

// diffPart is a part of a stage's time: kernels of one family, or something else of the ledger.
type diffPart struct {
	name     string
	ns, a, b int64
}

// The measures of this picture: parts that are drawn, and the share of the width that bars take, so that their texts have room beside
// them on a phone.
const (
	drawnParts = 12
	diffRoom   = 0.6
)

// newDiffFigure draws the ledger of a stage; nil where a side has none, or nothing changed.
func newDiffFigure(s diff.Stage, metric string) *diffFigure {
	if s.Delta == nil {
		return nil
	}
	list, left := typeset.FirstOf(diffParts(s.Ledger), drawnParts)
	least, most := 0.0, 0.0
	for _, p := range list {
		least, most = min(least, float64(p.ns)), max(most, float64(p.ns))
	}
	if most == least {
		return nil
	}
	f := &diffFigure{Label: fmt.Sprintf("%s: %s, %s", words.DiffStage(s.Name), typeset.SignedTime(float64(stageChange(s))), itemGroup{name: s.Name, stage: &s}.meanOf())}
	f.Caption = figureCaption(s)
	if (metric == "gpu_busy_ns" || metric == "gpu_sum_ns") && s.Name != outsideStages {
		f.Caption = "Parts of GPU work, " + itemGroup{name: s.Name, stage: &s}.meanOf() + ", without idle time."
	}
	f.Spoken = "Parts of the change of " + f.Label
	at := func(ns float64) float64 { return (ns - least) / (most - least) * diffRoom }
	f.Zero = chart.Length(at(0))
	var names []string
	for _, p := range list {
		names = append(names, p.name)
	}
	narrow, wide := typeset.Kernels(names, chart.NarrowName), typeset.Kernels(names, chart.WideName)
	for i, p := range list {
		top := i * chart.KernelBarRow
		ns := float64(p.ns)
		b := diffBar{Class: "more", Short: narrow(p.name), Long: wide(p.name), NameY: top + 13, BarY: top + 19, TextY: top + 30, LineY: top + 17, EndY: top + 34}
		if ns < 0 {
			b.Class = "less"
		}
		b.X, b.Width = chart.Length(at(math.Min(0, ns))), chart.Length(math.Abs(ns)/(most-least)*diffRoom)
		b.Text = partText(p)
		b.Title = fmt.Sprintf("%s: %s, from %s to %s", typeset.Shorten(p.name, chart.TitleName, 60), b.Text, typeset.Duration(p.a), typeset.Duration(p.b))
		f.Rows = append(f.Rows, b)
		f.Spoken += fmt.Sprintf("; %s: %s", b.Short, b.Text)
	}
	f.Height = len(list) * chart.KernelBarRow
	if left > 0 {
		f.LeftOut = typeset.Plural(int64(left), "part with a smaller change is", "parts with smaller changes are") + " not drawn."
	}
	return f
}

// stageChange is how the time of a stage that its parts are of changed, of both sides.
func stageChange(s diff.Stage) int64 {
	if s.A.TypicalNs == nil || s.B.TypicalNs == nil {
		return s.Delta.Ns
	}
	return *s.B.TypicalNs - *s.A.TypicalNs
}

// figureCaption returns what the parts are of, and what they add up to.
func figureCaption(s diff.Stage) string {
	if s.Name == outsideStages {
		return "Parts of the work outside stages, per run; all of them add up to its change."
	}
	if (itemGroup{stage: &s}).isMedian() {
		return "Parts of the GPUs' time from the first start to the last end of the work of the median " + string(s.Unit) + ". Medians of parts need not add up to the change of the median."
	}
	of := "the mean " + string(s.Unit)
	if s.Unit == diff.PerToken {
		of += " of all passes"
	}
	return "Parts of the GPUs' time from the first start to the last end of the work of " + of + "; all of them add up to the change of the mean."
}

// partText is the change of a part, and what it is of the part itself.
func partText(p diffPart) string {
	text := typeset.SignedTime(float64(p.ns))
	switch {
	case p.a == 0:
		return text + " (new)"
	case p.b == 0:
		return text + " (gone)"
	case p.a < 0: // what kernels share, which is taken off their sum
		return text
	}
	return text + " (" + typeset.SignedPercent(float64(p.ns)/float64(p.a)) + ")"
}

// diffParts puts the kernels of a ledger together by family, where that is known, and orders parts by the size of their change; those
// that did not change are left out.
func diffParts(ledger []diff.Item) []diffPart {
	var out []diffPart
	place := map[string]int{}
	for _, item := range ledger {
		if item.Delta == nil {
			continue
		}
		name := itemName(item)
		if item.Kind == "kernel" || item.Kind == "grid" {
			name = typeset.PlainNames([]string{name})[0]
			if item.Family != "" {
				name = typeset.Neutral(item.Family) + " kernels"
			}
		}
		at, seen := place[item.Kind+"\x00"+name]
		if !seen {
			at = len(out)
			place[item.Kind+"\x00"+name] = at
			out = append(out, diffPart{name: name})
		}
		p := &out[at]
		p.ns, p.a, p.b = p.ns+item.Shown().Ns, p.a+item.A.ShownNs(), p.b+item.B.ShownNs()
	}
	out = slices.DeleteFunc(out, func(p diffPart) bool { return p.ns == 0 })
	slices.SortStableFunc(out, func(p, q diffPart) int {
		return cmp.Compare(math.Abs(float64(q.ns)), math.Abs(float64(p.ns)))
	})
	return out
}
