package chart

import (
	"fmt"

	"prof/queries/frame"
	"prof/render/typeset"
)

// stageFigure is the picture of stages: what a pass of each takes in the mean, all by one scale.
type stageFigure struct {
	Stages  []stageTimes
	LeftOut string // stages that are not drawn; "" when none is
}

type stageTimes struct {
	Label, Spoken string
	Bars          []stageBar
}

// stageBar is one of the times of a stage. Its whisker goes from one standard deviation below the mean to one above.
type stageBar struct {
	Class, Name, Title, Text string
	BarY, TextY, MidY        int
	Width, TextX             string
	From, To                 string // of the whisker; "" where it is not known
}

// The measures of this picture: the height of a bar with what keeps it from the next, in pixels, and the most it takes of the width, so
// that a time and its deviation have room beside it on a phone.
const (
	stageBarRow = 22
	stageRoom   = 0.52
)

// stageClocks are the times compared.
var stageClocks = []struct {
	class, name, doc string
	of               func(stageRow) (mean, std *float64)
}{
	{"time-cpu", "CPU", "time of the range on the CPU", func(r stageRow) (mean, std *float64) { return r.CPUMeanNs, r.CPUStdNs }},
	{"time-span", "GPU span", "from its first device work to the end of its last", func(r stageRow) (mean, std *float64) { return r.GPUSpanMeanNs, r.GPUSpanStdNs }},
	{"time-busy", "GPU busy", "time in which device work of it ran, on all GPUs together", func(r stageRow) (mean, std *float64) { return r.GPUBusyMeanNs, r.GPUBusyStdNs }},
}

func newStageFigure(f *frame.Frame) (*stageFigure, error) {
	rows, err := stageRows.Of(f)
	if err != nil {
		return nil, err
	}
	figure := &stageFigure{}
	rows, left := typeset.FirstOf(rows, shownStages)
	if left > 0 {
		figure.LeftOut = fmt.Sprintf("%s not drawn.", typeset.Plural(int64(left), "more stage", "more stages"))
	}
	longest := 0.0
	for _, r := range rows {
		for _, c := range stageClocks {
			of, around := c.of(r)
			mean, _ := frame.Finite(of)
			std, _ := frame.Finite(around)
			longest = max(longest, mean+std)
		}
	}
	if longest == 0 {
		return nil, nil
	}
	for _, r := range rows {
		figure.Stages = append(figure.Stages, newStageTimes(r, longest))
	}
	return figure, nil
}

func newStageTimes(r stageRow, longest float64) stageTimes {
	label := typeset.Neutral(r.Stage) + ", " + typeset.Plural(r.Passes, "pass", "passes")
	stage := stageTimes{Label: label, Spoken: "Mean time per pass of " + label}
	for i, c := range stageClocks {
		top := i * stageBarRow
		b := stageBar{Class: c.class, Name: c.name, BarY: top + 2, MidY: top + stageBarRow/2, TextY: top + stageBarRow/2 + 4, Text: "not known"}
		of, around := c.of(r)
		mean, known := frame.Finite(of)
		end := 0.0
		if known {
			b.Text, end = typeset.Nanoseconds(mean), mean
			b.Width = Length(mean / longest * stageRoom)
			if std, spread := frame.Finite(around); spread {
				b.Text += " ± " + typeset.Nanoseconds(std)
				end = mean + std
				b.From, b.To = Length(max(mean-std, 0)/longest*stageRoom), Length(end/longest*stageRoom)
			}
		}
		b.TextX = Length(end / longest * stageRoom)
		b.Title = fmt.Sprintf("%s (%s): %s", c.name, c.doc, b.Text)
		stage.Spoken += fmt.Sprintf("; %s %s", c.name, b.Text)
		stage.Bars = append(stage.Bars, b)
	}
	return stage
}
