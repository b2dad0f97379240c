package compare

import (
	"fmt"
	"math"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/trend"
	"prof/render/chart"
	"prof/render/typeset"
	"prof/render/words"
)

// trendFigure is the plot of one series: a point for each run, oldest left, lines at its levels, and marks where it changed. Runs are
// equally far apart, since they come in bursts: on an axis of hours those of a day would lie upon each other. The axis tells their times.
type trendFigure struct {
	Spoken  string          `json:"spoken"`
	Height  int             `json:"height"`
	Below   int             `json:"below"` // where times stand
	XTicks  []trendTick     `json:"x_ticks"`
	YTicks  []chart.Tick    `json:"y_ticks"`
	Points  []trendDot      `json:"points"`
	Spreads []trendSpread   `json:"spreads"`
	Levels  []trendLine     `json:"levels"`
	Marks   []trendMarkLine `json:"marks"`
}

type trendTick struct {
	At     string `json:"at"`
	Anchor string `json:"anchor"`
	Text   string `json:"text"`
	Broad  bool   `json:"is_broad"` // only where there is room
}

type trendDot struct {
	Point int    `json:"point"`
	X     string `json:"x"`
	Y     string `json:"y"`
	Title string `json:"title"`
}

type trendSpread struct {
	X    string `json:"x"`
	From string `json:"from"`
	To   string `json:"to"`
}

type trendLine struct {
	X1    string `json:"x1"`
	X2    string `json:"x2"`
	Y     string `json:"y"`
	Title string `json:"title"`
}

type trendMarkLine struct {
	Point  int    `json:"point"` // the first at the new level
	X      string `json:"x"`
	Class  string `json:"class"`
	Text   string `json:"text"`
	Anchor string `json:"anchor"`
	LabelY int    `json:"label_y"`
}

// The measures of these plots, in pixels.
const (
	trendHeight = 220
	markRow     = 14 // height of a row of labels of changes
	markRows    = 2  // labels that are near each other stand in so many rows
	trendTop    = markRow*markRows + 4
	spreadsMost = 120 // points of which the spread is drawn
)

// newTrendFigure draws a series; nil where less than two points of it are known.
func newTrendFigure(r *trend.Result, series int) *trendFigure {
	s := r.Series[series]
	axis, known := newTrendAxis(r.Options.Metric.Unit(), s)
	if known < 2 {
		return nil
	}
	f := &trendFigure{Points: []trendDot{}, Spreads: []trendSpread{}, Levels: []trendLine{}, Marks: []trendMarkLine{}, Height: trendHeight, Below: trendHeight + 16, YTicks: axis.ticks(r.Options.Metric)}
	n := len(s.Points)
	x := func(point int) string { return chart.Length((float64(point) + 0.5) / float64(n)) }
	for i, p := range s.Points {
		if p.Value == nil {
			continue
		}
		run := r.Runs[p.Run]
		f.Points = append(f.Points, trendDot{Point: i, X: x(i), Y: axis.y(*p.Value), Title: pointTitle(r, run, p)})
		if p.Std != nil && n <= spreadsMost {
			f.Spreads = append(f.Spreads, trendSpread{x(i), axis.y(*p.Value - *p.Std), axis.y(*p.Value + *p.Std)})
		}
	}
	for _, l := range s.Levels {
		f.Levels = append(f.Levels, trendLine{chart.Length(float64(l.From) / float64(n)), chart.Length(float64(l.To+1) / float64(n)), axis.y(l.Median),
			fmt.Sprintf("level of %s, runs %s to %s", words.TrendValue(r.Options.Metric, l.Median), typeset.Neutral(r.Runs[s.Points[l.From].Run].Name), typeset.Neutral(r.Runs[s.Points[l.To].Run].Name))})
	}
	f.addMarks(r, series)
	f.addTimes(r, s)
	f.Spoken = spokenTrend(r, series)
	return f
}

// addMarks puts a line before the first run of each new level, with the number of the change in the list.
func (f *trendFigure) addMarks(r *trend.Result, series int) {
	s := r.Series[series]
	for i, c := range r.Changes {
		if c.Series != series {
			continue
		}
		at := float64(c.Point) / float64(len(s.Points))
		m := trendMarkLine{Point: c.Point, X: chart.Length(at), Class: string(c.Verdict), Text: fmt.Sprint(i + 1), Anchor: "start", LabelY: -trendTop + markRow*(len(f.Marks)%markRows)}
		if c.Item == nil && c.Effect != nil {
			m.Text += ": " + typeset.SignedPercent(*c.Effect)
		}
		if c.Suspect || c.Item != nil {
			m.Class += " faint"
		}
		if c.Suspect {
			m.Text += "?"
		}
		if at > 0.7 {
			m.Anchor = "end"
		}
		f.Marks = append(f.Marks, m)
	}
}

// addTimes tells when runs were: the first, the last and some between; the day where it is another one than that of the tick before, else
// the time of day.
func (f *trendFigure) addTimes(r *trend.Result, s trend.Series) {
	n := len(s.Points)
	before := ""
	add := func(point int, anchor string, broad bool) {
		day, time, _ := strings.Cut(typeset.Minute(r.Runs[s.Points[point].Run].At), " ")
		text := day
		if day == before {
			text = time
		}
		if !broad {
			before = day
		}
		f.XTicks = append(f.XTicks, trendTick{chart.Length((float64(point) + 0.5) / float64(n)), anchor, text, broad})
	}
	add(0, "start", false)
	if n >= 9 {
		add((n-1)/4, "middle", true)
		add((n-1)/2, "middle", false)
		add((n-1)*3/4, "middle", true)
	}
	add(n-1, "end", false)
}

func pointTitle(r *trend.Result, run trend.Run, p trend.Point) string {
	text := fmt.Sprintf("%s, %s: %s", typeset.Neutral(run.Name), typeset.Minute(run.At), words.TrendValue(r.Options.Metric, *p.Value))
	if p.Std != nil {
		text += " ± " + words.TrendValue(r.Options.Metric, *p.Std)
	}
	text += " (" + typeset.Plural(p.Passes, "pass", "passes") + ")"
	if run.Commit != "" {
		text += ", commit " + typeset.Prefix(typeset.Neutral(run.Commit), words.CommitDigits)
	}
	return text
}

// spokenTrend is the picture in words.
func spokenTrend(r *trend.Result, series int) string {
	s := r.Series[series]
	var levels []string
	for _, l := range s.Levels {
		levels = append(levels, fmt.Sprintf("%s over %s", words.TrendValue(r.Options.Metric, l.Median), typeset.Plural(int64(l.To-l.From+1), "run", "runs")))
	}
	return fmt.Sprintf("%s of %s, oldest first: %s", words.SeriesLabel(r, series), typeset.Plural(int64(len(s.Points)), "run", "runs"), strings.Join(levels, ", then "))
}

// trendAxis lays values between two bounds over the height of a plot.
type trendAxis struct{ from, to, step float64 }

// newTrendAxis holds all values, and is no narrower than a tenth of them: noise is to look like noise. It begins at 0 only where values
// come near: a change of 5 % would else hardly show.
func newTrendAxis(unit frame.Unit, s trend.Series) (a trendAxis, known int) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		if p.Value != nil && !math.IsNaN(*p.Value) && !math.IsInf(*p.Value, 0) {
			low, high, known = min(low, *p.Value), max(high, *p.Value), known+1
		}
	}
	if low > high {
		return a, 0
	}
	if short := leastSwing*high - (high - low); short > 0 {
		low, high = low-short/2, high+short/2
	}
	if high == low {
		high = low + 1
	}
	low = max(0, low-(high-low)*0.08)
	div := typeset.Pick(typeset.Ladder(unit), high, high).Div
	a.step = chart.RoundStep((high-low)/div/4) * div
	a.from, a.to = math.Floor(low/a.step)*a.step, math.Ceil(high/a.step)*a.step
	return a, known
}

func (a trendAxis) y(v float64) string {
	share := (v - a.from) / (a.to - a.from)
	return chart.Pixels(trendHeight * (1 - max(-0.02, min(1.02, share))))
}

// ticks returns the round values of the axis.
func (a trendAxis) ticks(m trend.Metric) []chart.Tick {
	var out []chart.Tick
	for i := 0; ; i++ {
		v := a.from + float64(i)*a.step
		if v > a.to+a.step/2 {
			return out
		}
		text := typeset.Amount(m.Unit(), v)
		if m == trend.TokenRate {
			text = axisNumber(v)
		}
		out = append(out, chart.Tick{At: a.y(v), Text: text})
	}
}

// axisNumber shows a number without a unit at an axis.
func axisNumber(v float64) string {
	if v == 0 {
		return "0"
	}
	return typeset.ThreeDigits(v)
}
