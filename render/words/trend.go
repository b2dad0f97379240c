package words

import (
	"cmp"
	"fmt"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/stats"
	"prof/queries/judge/trend"
	"prof/render/typeset"
	"prof/schema/terms"
)

// How much is said of a change.
const (
	movedSaid     = 5  // kernels that moved with a stage
	differsSaid   = 6  // things that differ between the two runs
	ItemWidth     = 48 // columns of a kernel's name
	aspectWidth   = 60 // columns of what differs
	markItemWidth = 24 // columns of a kernel's name in a table
)

// SeriesLabel names a series: its stage, and of one that is not the stage's latest what sets it apart from that.
func SeriesLabel(r *trend.Result, series int) string {
	s := r.Series[series]
	text := typeset.Neutral(s.Stage)
	if s.Latest {
		return text
	}
	for _, other := range r.Series {
		if other.Latest && other.Stage == s.Stage {
			text += " (" + strings.Join(apart(sameParts(s.Same), sameParts(other.Same)), ", ") + ")"
		}
	}
	return text
}

// apart returns the parts that differ from those beside them.
func apart(parts, others []string) []string {
	var out []string
	for i, text := range parts {
		if text != others[i] {
			out = append(out, text)
		}
	}
	return out
}

// sameParts say what the runs of a series have in common, each thing in its place.
func sameParts(s trend.Same) []string {
	count := func(n *int64, what string) string {
		if n == nil {
			return what + " not known"
		}
		return typeset.Int(*n) + " " + what
	}
	tokens := []string{count(s.Prompt, "prompt tokens"), count(s.Decode, "decoded tokens"), count(s.Sequences, "sequences")}
	if s.Varying {
		tokens = []string{"passes of different tokens", "", ""}
	}
	return append(tokens, cmp.Or(typeset.Neutral(s.GPU), "GPU not known"), cmp.Or(typeset.Neutral(s.Tool), "tool not known"))
}

// SameWords say what the runs of a series have in common; "" where nothing is known.
func SameWords(s trend.Same) string {
	var out []string
	for _, n := range []struct {
		count *int64
		what  string
	}{{s.Prompt, "prompt"}, {s.Decode, "decoded"}} {
		if n.count != nil && *n.count > 0 {
			out = append(out, typeset.Int(*n.count)+" "+n.what+" tokens")
		}
	}
	if s.Sequences != nil && *s.Sequences > 1 {
		out = append(out, typeset.Int(*s.Sequences)+" sequences")
	}
	if s.Varying {
		out = append(out, "passes of different tokens")
	}
	for _, text := range []string{s.GPU, s.Tool} {
		if text != "" {
			out = append(out, typeset.Neutral(text))
		}
	}
	return strings.Join(out, ", ")
}

// movedWords say how a stage's metric changed: 5.1 % slower.
func movedWords(m trend.Metric, c trend.Change) string {
	if c.Effect == nil {
		return "up from 0"
	}
	up, down := "higher", "lower"
	if m.Unit() == frame.Ns {
		up, down = "slower", "faster"
	}
	if *c.Effect < 0 {
		return typeset.Percent(-*c.Effect) + " " + down
	}
	return typeset.Percent(*c.Effect) + " " + up
}

// itemName names a kernel, copy, graph or idle time within a sentence.
func TrendItem(it trend.Item, to int) string {
	switch it.Kind {
	case "idle":
		return "idle time of the GPU"
	case "graph":
		return "graph replays"
	}
	return typeset.Shorten(typeset.Neutral(it.Name), to, 60)
}

// ItemMoved returns how an item changed: +25.0 %, +50.0 us, and its calls where they changed too.
func ItemMoved(c trend.Change) string {
	by := typeset.SignedTime(c.After - c.Before)
	if a, b := c.CallsBefore, c.CallsAfter; a != nil && b != nil && *a != *b {
		by += fmt.Sprintf(", calls %s → %s", typeset.ThreeDigits(*a), typeset.ThreeDigits(*b))
	}
	switch {
	case c.Before == 0:
		return "new, " + by
	case c.After == 0:
		return "gone, " + by
	case c.Effect == nil:
		return by
	}
	return typeset.SignedPercent(*c.Effect) + ", " + by
}

// TrendMark is a change in a cell of a table.
func TrendMark(r *trend.Result, c trend.Change) string {
	text := typeset.Neutral(r.Series[c.Series].Stage)
	if c.Item != nil {
		text = TrendItem(*c.Item, markItemWidth) + " in " + text
	}
	switch {
	case c.Effect != nil:
		text += " " + typeset.SignedPercent(*c.Effect)
	default:
		text += " new"
	}
	if c.Suspect {
		text += "?"
	}
	return text
}

// ChangeHeadline returns what changed, where, and from what to what.
func ChangeHeadline(r *trend.Result, c trend.Change) string {
	first, last := typeset.Neutral(r.Runs[c.First].Name), typeset.Neutral(r.Runs[c.Last].Name)
	label := SeriesLabel(r, c.Series)
	if c.Item != nil {
		kept := ", while the stage stayed at its level"
		if len(r.Series[c.Series].Levels) == 0 {
			kept = ""
		}
		return fmt.Sprintf("%s in %s %s per pass from %s on%s: %s up to %s, %s since", TrendItem(*c.Item, ItemWidth), label, ItemMoved(c), first, kept, typeset.Nanoseconds(c.Before), last,
			typeset.Nanoseconds(c.After))
	}
	m := r.Options.Metric
	if c.Suspect {
		return fmt.Sprintf("%s perhaps %s from %s on, not confirmed: %s up to %s, %s since, in too few runs to separate a new level from outliers", label, movedWords(m, c), first,
			TrendValue(m, c.Before), last, TrendValue(m, c.After))
	}
	return fmt.Sprintf("%s %s from %s on: %s up to %s, %s since", label, movedWords(m, c), first, TrendValue(m, c.Before), last, TrendValue(m, c.After))
}

// ChangeMoved returns what moved with a stage; "" where that was not looked at, or the change is that of a kernel.
func ChangeMoved(r *trend.Result, c trend.Change) string {
	if c.Item != nil || len(r.Series[c.Series].Items) == 0 {
		return ""
	}
	if len(c.Moved) == 0 {
		return nothingSure(c)
	}
	var said []string
	list, left := typeset.FirstOf(c.Moved, movedSaid)
	for _, m := range list {
		text := TrendItem(*m.Item, ItemWidth) + " " + ItemMoved(m)
		if m.First != c.First {
			text += " (from " + typeset.Neutral(r.Runs[m.First].Name) + ")"
		}
		said = append(said, text)
	}
	if left > 0 {
		said = append(said, fmt.Sprintf("%d more", left))
	}
	return "moved per pass: " + strings.Join(said, "; ")
}

// nothingSure says of a stage's change of which no part is sure by how many runs that is, and what it is most likely of.
func nothingSure(c trend.Change) string {
	if c.Largest == nil {
		return "which of its kernels moved is not known"
	}
	return fmt.Sprintf("no kernel or idle time moved for sure, with %s before and %d since; largest: %s %s", typeset.Plural(int64(c.Around[0]), "run", "runs"), c.Around[1],
		TrendItem(*c.Largest.Item, ItemWidth), ItemMoved(*c.Largest))
}

// ChangeDiffers returns what else is different between the runs on either side.
func ChangeDiffers(c trend.Change) string {
	switch {
	case !c.Asked:
		return ""
	case len(c.Provenance) == 0:
		return "between the two runs: no known difference"
	}
	var said []string
	list, left := typeset.FirstOf(c.Provenance, differsSaid)
	for _, d := range list {
		said = append(said, differenceWords(d))
	}
	if left > 0 {
		said = append(said, fmt.Sprintf("%d more", left))
	}
	return "between the two runs: " + strings.Join(said, "; ")
}

// differenceWords say one thing that differs.
func differenceWords(d trend.Difference) string {
	side := func(text string) string {
		if text == "" {
			return "not known"
		}
		if d.Aspect == "commit" {
			return typeset.Prefix(typeset.Neutral(text), CommitDigits)
		}
		return typeset.Shorten(typeset.Neutral(text), aspectWidth, 60)
	}
	return fmt.Sprintf("%s %s → %s", typeset.Shorten(typeset.Neutral(d.Aspect), aspectWidth, 60), side(d.Before), side(d.After))
}

// StateWords say in a few words where a series stands after its last change.
func StateWords(r *trend.Result, series int) string {
	var last *trend.Change
	for i, c := range r.Changes {
		if c.Series == series && c.Item == nil {
			last = &r.Changes[i]
		}
	}
	known := knownPoints(r.Series[series])
	switch {
	case known == 0:
		return "not known"
	case last != nil && last.Suspect:
		return "perhaps " + movedWords(r.Options.Metric, *last) + " since " + typeset.Neutral(r.Runs[last.First].Name)
	case last != nil:
		return movedWords(r.Options.Metric, *last) + " since " + typeset.Neutral(r.Runs[last.First].Name)
	case known < leastKnown:
		return typeset.Plural(int64(known), "run", "runs") + ": too few to find a change"
	}
	return "no change"
}

// knownPoints counts the runs of a series whose value is known.
func knownPoints(s trend.Series) int {
	known := 0
	for _, p := range s.Points {
		if p.Value != nil {
			known++
		}
	}
	return known
}

// leastKnown is how many runs it takes to find anything: a level of three, and one that is off.
const leastKnown = stats.DefaultMinSegment + 1

// NoChanges says that no change was found, or that none could be.
func NoChanges(r *trend.Result) string {
	most := 0
	for _, s := range r.Series {
		most = max(most, knownPoints(s))
	}
	if most < leastKnown {
		return fmt.Sprintf("Too few runs to find a change of level: it takes %d, or %d to suspect one.", 2*stats.DefaultMinSegment, leastKnown)
	}
	return "No change of level was found."
}

// LevelNow is the value of the level that a series is at; the sign of what is not known where it is not.
func LevelNow(r *trend.Result, series int) string {
	levels := r.Series[series].Levels
	if len(levels) == 0 {
		return typeset.Null
	}
	return TrendValue(r.Options.Metric, levels[len(levels)-1].Median)
}

// TrendNotes are what a reader must know of a trend beside its own notes: how many runs tables leave out, and which series.
func TrendNotes(r *trend.Result, left int) []string {
	var out []string
	if left > 0 {
		out = append(out, fmt.Sprintf("%s not shown: --last 0 shows all", typeset.Plural(int64(left), "earlier run", "earlier runs")))
	}
	if n := len(r.Series) - len(r.Main()); n > 0 {
		on := "runs on another GPU, with other tokens or from another tool"
		if r.Options.Metric.IsServing() {
			on = "runs on another GPU or measured by another load generator"
		}
		out = append(out, fmt.Sprintf("%s are not compared with the latest runs: they form %s", on,
			typeset.Plural(int64(n), "series", "series")))
	}
	return append(out, r.Notes...)
}

// trendMetrics say in words what stages are followed by.
var trendMetrics = map[trend.Metric]string{
	trend.GPUSpan:         "GPU span per pass, median of a run's measured passes; less is better",
	trend.GPUBusy:         "GPU busy time per pass, median of a run's measured passes; less is better",
	trend.GPUSum:          "sum of device work per pass, median of a run's measured passes; less is better",
	trend.CPU:             "CPU time per pass, median of a run's measured passes; less is better",
	trend.MFU:             "MFU: model FLOPs over the GPU's peak in that time; more is better",
	trend.MBU:             "MBU: bytes that must move over peak memory bandwidth in that time; more is better",
	trend.TokenRate:       "tokens per second of GPU span; more is better",
	"requests_per_s":      "requests completed per second, as the client measured them; more is better",
	"output_tokens_per_s": "tokens generated per second, as the client measured them; more is better",
	"total_tokens_per_s":  "tokens of prompts and generated per second, as the client measured them; more is better",
}

func TrendMetric(m trend.Metric) string {
	if text, known := trendMetrics[m]; known {
		return text
	}
	latency, statistic, _ := strings.Cut(string(m), "_")
	for _, l := range terms.Latencies {
		if l.Name == latency {
			return fmt.Sprintf("%s of %s, as the client measured it; less is better", strings.TrimSuffix(statistic, "_ns"), l.Label)
		}
	}
	return string(m)
}

// TrendValue shows a value of the metric as it stands in a sentence.
func TrendValue(m trend.Metric, v float64) string {
	switch {
	case m == "requests_per_s":
		return typeset.ThreeDigits(v) + " requests/s"
	case strings.HasSuffix(string(m), "tokens_per_s"):
		return typeset.ThreeDigits(v) + " tokens/s"
	}
	return typeset.Amount(m.Unit(), v)
}

// CommitDigits are enough of a commit to find it.
const CommitDigits = 10
