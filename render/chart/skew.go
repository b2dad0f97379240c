package chart

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/render/typeset"
)

// skewFigure is the picture of rank-passes: for each stage a strip of cells, a rank in each line and a pass in each column, the darker the later
// the rank came.
type skewFigure struct {
	Ranges  []skewStrip
	LeftOut string // stages that are not drawn; "" when none is
}

type skewStrip struct {
	Label, Spoken, Said string
	Height, Below       int
	Ranks               []skewRank
	Ticks               []Tick
}

type skewRank struct {
	Name, Most  string
	Y, TextY    int
	Cells       []skewCell
	late, worst float64
}

// skewCell is one pass, or several where there are more than columns. Shade is how dark it is; "" where no matched collective says.
type skewCell struct{ X, Width, Shade, Title, Text string }

// The measures of this picture.
const (
	skewRow     = 24 // pixels
	skewColumns = 60
	skewRanks   = 16
	skewTexts   = 8 // columns at most that have room for a text each
)

func newSkewFigure(f *frame.Frame) (*skewFigure, error) {
	rows, err := latenessRows.Of(f)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	figure := &skewFigure{}
	strips, left := typeset.FirstOf(groupRows(rows, func(r latenessRow) string { return fmt.Sprint(r.JobID, " ", r.Range) }), shownStages)
	if left > 0 {
		figure.LeftOut = fmt.Sprintf("%s not drawn.", typeset.Plural(int64(left), "more stage", "more stages"))
	}
	for _, rows := range strips {
		figure.Ranges = append(figure.Ranges, newSkewStrip(rows))
	}
	return figure, nil
}

// newSkewStrip draws the passes of one stage.
func newSkewStrip(rows []latenessRow) skewStrip {
	var passes []int64
	warm := map[int64]bool{}
	for _, r := range rows {
		pass := r.Pass
		isWarm, known := warm[pass]
		if !known {
			passes = append(passes, pass)
		}
		warm[pass] = isWarm || frame.Or(r.IsWarmup, false)
	}
	slices.Sort(passes)
	columns := min(len(passes), skewColumns)
	column := map[int64]int{}
	for i, pass := range passes {
		column[pass] = i * columns / len(passes)
	}
	s := skewStrip{Label: typeset.Neutral(rows[0].Range) + ", " + typeset.Plural(int64(len(passes)), "pass", "passes")}
	type cell struct {
		sum, calls float64
		rows       []latenessRow
	}
	ranks, most := groupRows(rows, func(r latenessRow) string { return r.Rank }), 0.0
	cells := make([][]cell, len(ranks))
	isSteady := make([]bool, columns) // whether a column has a pass that is no warm-up
	for _, p := range passes {
		isSteady[column[p]] = isSteady[column[p]] || !warm[p]
	}
	allWarm := !slices.Contains(isSteady, true)
	for i, of := range ranks {
		cells[i] = make([]cell, columns)
		for _, r := range of {
			c := &cells[i][column[r.Pass]]
			c.rows = append(c.rows, r)
			if late, known := frame.Finite(r.LateMeanNs); known && r.Calls > 0 {
				c.sum, c.calls = c.sum+late*float64(r.Calls), c.calls+float64(r.Calls)
			}
		}
		for j, c := range cells[i] {
			if c.calls > 0 && (isSteady[j] || allWarm) {
				most = max(most, c.sum/c.calls)
			}
		}
	}
	s.Spoken = fmt.Sprintf("How late each rank came in %s, at most %s", s.Label, typeset.Nanoseconds(most))
	for i, of := range ranks {
		line := skewRank{Name: typeset.Neutral(of[0].Rank)}
		for j, c := range cells[i] {
			x := skewCell{X: Length(float64(j) / float64(columns)), Width: Length(1 / float64(columns))}
			named := passesText(passes, column, j, warm)
			if c.calls == 0 {
				x.Title = fmt.Sprintf("%s, %s: no matched collective", line.Name, named)
				line.Cells = append(line.Cells, x)
				continue
			}
			late := c.sum / c.calls
			x.Shade = fmt.Sprintf("%.2f", min(1, late/max(most, 1)))
			x.Title = fmt.Sprintf("%s, %s: %s late in the mean of %s", line.Name, named, typeset.Nanoseconds(late), typeset.Plural(int64(c.calls), "collective", "collectives"))
			if columns <= skewTexts {
				x.Text = typeset.Nanoseconds(late)
			}
			if isSteady[j] || allWarm {
				line.worst = max(line.worst, late)
			}
			for _, r := range c.rows {
				line.late += r.LateNs
			}
			line.Cells = append(line.Cells, x)
		}
		if slices.ContainsFunc(line.Cells, func(x skewCell) bool { return x.Shade != "" }) {
			line.Most = "most " + typeset.Nanoseconds(line.worst)
		}
		s.Ranks = append(s.Ranks, line)
	}
	s.Said = skewSaid(rows, most, warm)
	if len(s.Ranks) > skewRanks { // the ones that the others waited for longest
		order := slices.Clone(s.Ranks)
		slices.SortStableFunc(order, func(a, b skewRank) int { return cmp.Compare(b.late, a.late) })
		least := order[skewRanks-1].late
		s.Ranks = slices.DeleteFunc(s.Ranks, func(r skewRank) bool { return r.late < least })[:skewRanks]
		s.Said += fmt.Sprintf(" Of %d ranks the %d that the others waited for longest are drawn.", len(order), skewRanks)
	}
	for i := range s.Ranks {
		s.Ranks[i].Y, s.Ranks[i].TextY = i*skewRow, i*skewRow+skewRow/2+4
	}
	s.Height = len(s.Ranks) * skewRow
	s.Below = s.Height + 15
	for j := 0; j < columns; j += max(1, columns/skewTexts) {
		first := passes[slices.IndexFunc(passes, func(p int64) bool { return column[p] == j })]
		text := fmt.Sprint(first)
		if warm[first] {
			text = "(" + text + ")"
		}
		s.Ticks = append(s.Ticks, Tick{Length((float64(j) + 0.5) / float64(columns)), text})
	}
	return s
}

// passesText names the passes of a column.
func passesText(passes []int64, column map[int64]int, at int, warm map[int64]bool) string {
	of := slices.DeleteFunc(slices.Clone(passes), func(p int64) bool { return column[p] != at })
	text := fmt.Sprintf("pass %d", of[0])
	if len(of) > 1 {
		text = fmt.Sprintf("passes %d to %d", of[0], of[len(of)-1])
	}
	if slices.ContainsFunc(of, func(p int64) bool { return warm[p] }) {
		text += " (warm-up)"
	}
	return text
}

// skewSaid returns what the shades of a stage mean, and how sure they are.
func skewSaid(rows []latenessRow, most float64, warm map[int64]bool) string {
	said := "Empty: first in every collective. Full: " + typeset.Nanoseconds(most) + " late or later."
	for _, is := range warm {
		if is {
			said += " Passes in brackets are warm-up, which set no scale."
			break
		}
	}
	clock := 0.0
	for _, r := range rows {
		e, known := frame.Finite(r.ClockErrorNs)
		if !known {
			return said + " The offset between the clocks of the ranks is unknown: see clock-offsets."
		}
		clock = max(clock, e)
	}
	if clock > 0 {
		said += " The clocks of the ranks agree to " + typeset.Nanoseconds(clock) + ": less than that is no difference."
	}
	return said
}
