package diff

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
)

// Aspect is one thing that is known of how a run came about: its GPU, its driver, its tokens, an option of its capture.
type Aspect struct {
	Name, Value string
	Weight      Weight // of a difference in it
	SourceID    *int64 // the source that says it; nil when it follows from several, or from none
}

// Conditions are what is known of a run beside its times: what it ran on, what it worked on, and how it was captured.
type Conditions struct {
	Run     Run
	From    Source // the query that they are from; one statement may tell of several runs
	Aspects []Aspect
}

// value returns what is said of an aspect; "" when nothing is. Of options that are written down only where they are on, it says off.
func (c Conditions) value(name string) string {
	for _, a := range c.Aspects {
		if a.Name == name {
			return a.Value
		}
	}
	prefix, _, _ := strings.Cut(name, " ")
	switch {
	case prefix == "tag":
		return "none"
	case prefix == "torch" && name != "torch version" && c.profiler() == "torch":
		return "off"
	case prefix == "variable" && c.isCaptured():
		return "not set"
	case prefix == "input" && c.isCaptured():
		return "not given"
	}
	return ""
}

// profiler returns the tool that the counted timeline is from.
func (c Conditions) profiler() string {
	for _, a := range c.Aspects {
		if a.Name == "profiler" {
			return a.Value
		}
	}
	return ""
}

// isCaptured reports whether prof itself ran the workload, so that what it wrote of its variables and inputs is all of them.
func (c Conditions) isCaptured() bool {
	return slices.ContainsFunc(c.Aspects, func(a Aspect) bool { return a.Name == "capture mode" })
}

// LoadConditions asks what is known of runs, in their order, in one statement: planning it for one run takes as long as for all.
func LoadConditions(ctx context.Context, asker frame.Asker, runs []Run) ([]Conditions, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	var ids []string
	for _, r := range runs {
		if !slices.Contains(ids, r.ID) {
			ids = append(ids, r.ID)
		}
	}
	args := frame.Args{"run": ids[0]}
	if len(ids) > 1 {
		args["others"] = strings.Join(ids[1:], ",")
	}
	frames, err := asker.AskAll(ctx, []frame.Question{{Query: "run-conditions", Args: args, Notes: frame.RowsOnly}})
	if err != nil {
		return nil, fmt.Errorf("read the conditions of the runs: %w", err)
	}
	out, err := conditionsOf(runs, frames[0])
	if err != nil {
		return nil, fmt.Errorf("read the conditions of the runs: %w", err)
	}
	return out, nil
}

// conditionsOf reads an answer of run-conditions about runs.
func conditionsOf(runs []Run, f *frame.Frame) ([]Conditions, error) {
	from := Source{Query: fmt.Sprintf("%s.v%d", f.Query, f.Version), SQL: f.SQL}
	var at []int
	for _, name := range []string{"run_id", "aspect", "value", "weight", "source_id"} {
		i := f.Index(name)
		if i < 0 {
			return nil, fmt.Errorf("%s has no column %s", from.Query, name)
		}
		at = append(at, i)
	}
	byRun := map[string][]Aspect{}
	for i, r := range f.Rows {
		var texts [4]string
		for n := range texts {
			text, ok := r[at[n]].(string)
			if !ok {
				return nil, fmt.Errorf("%s, row %d: %s is %v, not text", from.Query, i+1, f.Columns[at[n]].Name, r[at[n]])
			}
			texts[n] = text
		}
		a := Aspect{Name: texts[1], Value: texts[2], Weight: Weight(texts[3])}
		if weightPlace(a.Weight) < 0 {
			return nil, fmt.Errorf("%s, row %d: %q of %s is none of decides, clouds and tells", from.Query, i+1, a.Weight, a.Name)
		}
		if id, known := r[at[4]].(int64); known {
			a.SourceID = &id
		}
		byRun[texts[0]] = append(byRun[texts[0]], a)
	}
	out := make([]Conditions, len(runs))
	for i, r := range runs {
		out[i] = Conditions{Run: r, From: from, Aspects: byRun[r.ID]}
		out[i].From.Run = r.Name
	}
	return out, nil
}

// stated is what the runs of one side say of an aspect.
type stated struct {
	values  []string // those that differ, by how many runs say them
	counts  []int
	unknown int       // runs that say nothing
	numbers []float64 // that the values begin with, of the runs that say one
}

func stateOf(runs []Conditions, name string) stated {
	var s stated
	for _, c := range runs {
		v := c.value(name)
		if v == "" {
			s.unknown++
			continue
		}
		if at := slices.Index(s.values, v); at >= 0 {
			s.counts[at]++
		} else {
			s.values, s.counts = append(s.values, v), append(s.counts, 1)
		}
		if n, ok := number(v); ok {
			s.numbers = append(s.numbers, n)
		}
	}
	order := make([]int, len(s.values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(s.counts[j]-s.counts[i], cmp.Compare(s.values[i], s.values[j]))
	})
	values, counts := s.values, s.counts
	s.values, s.counts = make([]string, len(order)), make([]int, len(order))
	for to, from := range order {
		s.values[to], s.counts[to] = values[from], counts[from]
	}
	return s
}

func (s stated) isKnown() bool { return len(s.values) > 0 }

// isMixed reports whether the runs of the side differ in it.
func (s stated) isMixed() bool { return len(s.values) > 1 || len(s.values) == 1 && s.unknown > 0 }

// centre is the median of the numbers; false where a run says none.
func (s stated) centre() (float64, bool) {
	if len(s.numbers) == 0 || s.unknown > 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(s.numbers))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2, true
}

// text is what the side says, in words: each value with the number of its runs where they differ.
func (s stated) text() string {
	switch {
	case !s.isKnown():
		return notKnown
	case !s.isMixed():
		return s.values[0]
	}
	const shown = 4
	var parts []string
	for i, v := range s.values {
		if i == shown && len(s.values) > shown+1 {
			parts = append(parts, fmt.Sprintf("%d others", len(s.values)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", v, counted(s.counts[i], "run")))
	}
	if s.unknown > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s)", notKnown, counted(s.unknown, "run")))
	}
	return strings.Join(parts, ", ")
}

const notKnown = "unknown"

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// number is what a value begins with, or the mean of several that it ends with: 1980 of "1980 MHz", 217.6 of "128, 1024; mean 217.6".
func number(value string) (float64, bool) {
	if _, mean, ok := strings.Cut(value, "; mean "); ok {
		value = mean
	}
	first, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseFloat(first, 64)
	return n, err == nil
}
