package chart

import (
	"fmt"

	"prof/queries/frame"
	"prof/render/typeset"
	"prof/render/words"
)

// kernelFigure is the picture of stage-kernels: a bar for each kernel of a stage, as long as its share of the stage's kernel time.
type kernelFigure struct {
	Stages  []kernelStage
	Legend  []roleGroup
	LeftOut string // stages that are not drawn; "" when none is
}

type kernelStage struct {
	Label, Total string
	Spoken       string
	Height       int
	Rows         []kernelBar
}

// kernelBar is one kernel, or all that the table does not list.
type kernelBar struct {
	Class              string
	Short, Long        string // its name on narrow and on wide screens
	Title, Text        string
	Width, TextX       string
	NameY, BarY, TextY int
}

// The measures of these pictures. A bar takes at most barRoom of the width, so that its text has room beside it on a phone.
const (
	KernelBarRow  = 38 // pixels of a row
	barRoom       = 0.6
	NarrowName    = 44 // characters
	WideName      = 78
	TitleName     = 400
	shownStages   = 12
	leastOfOthers = 0.0005 // a share that is shown as 0.1 %
)

func newKernelFigure(f *frame.Frame) (*kernelFigure, error) {
	rows, err := kernelRows.Of(f)
	if err != nil {
		return nil, err
	}
	stages := groupRows(rows, func(r kernelRow) string { return r.Stage })
	stages, left := typeset.FirstOf(stages, shownStages)
	figure := &kernelFigure{}
	if left > 0 {
		figure.LeftOut = fmt.Sprintf("%s, with less kernel time, not drawn.", typeset.Plural(int64(left), "more stage", "more stages"))
	}
	var roles []string
	for _, kernels := range stages {
		stage := newKernelStage(kernels)
		for _, k := range kernels {
			roles = append(roles, roleOf(k))
		}
		figure.Stages = append(figure.Stages, stage)
	}
	figure.Legend = roleLegend(roles)
	return figure, nil
}

// newKernelStage draws the kernels of one stage. One whose share is not defined, as of kernels that last no measurable time, has no bar
// and its time in words; where it is so of any, what the table does not list is not known either.
func newKernelStage(kernels []kernelRow) kernelStage {
	var names []string
	longest, shown, stageNs, listed, all := 0.0, 0.0, 0.0, 0.0, true
	for _, k := range kernels {
		names = append(names, typeset.Neutral(k.Kernel))
		listed += float64(k.TotalNs)
		share, known := frame.Finite(k.ShareRatio)
		if all = all && known; !known {
			continue
		}
		longest, shown = max(longest, share), shown+share
		if share > 0 && stageNs == 0 {
			stageNs = float64(k.TotalNs) / share
		}
	}
	others := 0.0
	if all {
		others = 1 - shown
	} else {
		stageNs = max(stageNs, listed)
	}
	longest = max(longest, others)
	stage := kernelStage{Label: words.KernelStageLabel(kernels[0].Stage), Total: typeset.Nanoseconds(stageNs)}
	stage.Spoken = fmt.Sprintf("Kernels of %s by their share of %s of kernel time", stage.Label, stage.Total)
	narrow, wide := typeset.Kernels(names, NarrowName), typeset.Kernels(names, WideName)
	for i, k := range kernels {
		share, known := frame.Finite(k.ShareRatio)
		part, long := "share not known", 0.0
		if known {
			part = typeset.Percent(share)
		}
		if share > 0 && known {
			long = share / longest
		}
		time := part + " · " + typeset.Duration(k.TotalNs)
		b := kernelBar{Class: roleGroups[groupOf(roleOf(k))].Class, Short: narrow(names[i]), Long: wide(names[i]), Text: time}
		b.Title = fmt.Sprintf("%s: %s, %s, %s", typeset.Shorten(names[i], TitleName, 60), time, typeset.Plural(k.Calls, "call", "calls"), roleOf(k))
		stage.add(b, long)
		stage.Spoken += fmt.Sprintf("; %s, %s: %s", narrow(names[i]), roleOf(k), time)
	}
	if others > leastOfOthers {
		time := typeset.Percent(others) + " · " + typeset.Nanoseconds(others*stageNs)
		stage.add(kernelBar{Class: "others", Short: "all other kernels", Long: "all other kernels", Text: time, Title: "all other kernels of the stage: " + time}, others/longest)
		stage.Spoken += "; all others: " + time
	}
	stage.Height = len(stage.Rows) * KernelBarRow
	return stage
}

// add puts a bar below the others; share is that of the longest one.
func (s *kernelStage) add(b kernelBar, share float64) {
	top := len(s.Rows) * KernelBarRow
	b.NameY, b.BarY, b.TextY = top+13, top+19, top+30
	b.Width, b.TextX = Length(share*barRoom), Length(share*barRoom)
	s.Rows = append(s.Rows, b)
}

// roleOf is a kernel's role in words.
func roleOf(k kernelRow) string {
	if role := k.Role; role != "" {
		return typeset.Neutral(role)
	}
	return noRole
}
