package render

import (
	"fmt"
	"slices"

	"prof/queries/judge"
)

// glance is what a report says first, in words and figures as they are shown.
type glance struct {
	Lead    string
	Stages  []glanceStage
	Centres []glanceCentre
	Kernels []glanceKernel
	Advice  []judge.Advice
	Doubts  []string
}

type glanceStage struct {
	Name                                       string
	Time                                       string // of a pass, with its spread
	Share                                      string // of the measured time
	Percent                                    float64
	Busy, MFU, MBU, Tokens                     string // "-" when not known
	Bound, Meaning, Why, But, Unknown, Command string
	IsAll                                      bool
}

type glanceCentre struct{ Words, Stage, Time, Share, Command string }

// glanceKernel is a kernel with its name in short and whole, and what is said of it.
type glanceKernel struct{ Short, Name, Words, Command string }

// newGlance words the summary of a report; nil for one of chosen sections that has no place for it.
func newGlance(r *judge.Report) (*glance, error) {
	if r.Frame("stages") == nil || r.Frame("accounting") == nil {
		return nil, nil
	}
	s, err := r.Summary()
	if err != nil {
		return nil, err
	}
	g := &glance{Lead: neutral(leadOf(s))}
	for _, stage := range s.Stages {
		g.Stages = append(g.Stages, newGlanceStage(stage))
	}
	if s.All != nil {
		g.Stages = append(g.Stages, newGlanceStage(*s.All))
	}
	for _, c := range s.Centres {
		stage := neutral(c.Stage)
		if stage == "" {
			stage = allWork
		}
		g.Centres = append(g.Centres, glanceCentre{neutral(c.Words), stage, centreTime(c), percent(c.ShareRatio), neutral(c.Query)})
	}
	if g.Kernels, err = glanceKernels(r, s.Kernels); err != nil {
		return nil, err
	}
	for _, a := range s.Advice {
		for _, text := range []*string{&a.Stage, &a.Text, &a.Title, &a.Number, &a.Why, &a.Subject, &a.Command} {
			*text = neutral(*text)
		}
		a.Subject = shorten(a.Subject, longName, 60)
		g.Advice = append(g.Advice, a)
	}
	for _, d := range s.Doubts {
		g.Doubts = append(g.Doubts, neutral(d))
	}
	return g, nil
}

// glanceKernels words kernels, each by what tells its name from those of the others in the table.
func glanceKernels(r *judge.Report, list []judge.TopKernel) ([]glanceKernel, error) {
	var names []string
	for _, k := range list {
		names = append(names, neutral(k.Name))
	}
	// How a name is shortened does not depend on the rows that were asked for.
	table := r.Whole["top-kernels"]
	if table == nil {
		table = r.Frame("top-kernels")
	}
	if table != nil && len(table.Rows) > 0 {
		rows, err := recordsOf(table, "kernel")
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if name := neutral(row.text("kernel")); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	plain := plainNames(names)
	short := shortener(plain, longName)
	var out []glanceKernel
	for i, k := range list {
		out = append(out, glanceKernel{short(plain[i]), names[i], kernelText(k), neutral(k.Query)})
	}
	return out, nil
}

func newGlanceStage(s judge.StageSummary) glanceStage {
	g := glanceStage{Name: neutral(s.Stage), Time: passTimeText(s), Share: percent(s.ShareRatio), Percent: 100 * s.ShareRatio, Busy: null, MFU: null, MBU: null, Tokens: null,
		Bound: s.Bound.Name(), Meaning: s.Meaning, Why: neutral(s.Why), But: neutral(s.But), Unknown: neutral(s.Unknown), Command: neutral(s.Query), IsAll: s.Stage == ""}
	if g.IsAll {
		g.Name = allWork
	}
	if s.IsCPU {
		g.Share = null
	}
	if s.BusyRatio != nil {
		if g.Busy = percent(*s.BusyRatio); s.GPUs > 1 {
			g.Busy += fmt.Sprintf(" of GPU %d", s.Device)
		}
	}
	if s.MFU != nil {
		g.MFU = useText(*s.MFU, s.IsLeast)
	}
	if s.MBU != nil {
		g.MBU = useText(*s.MBU, s.IsLeast)
	}
	if s.TokensPerS != nil {
		g.Tokens = digitsText(*s.TokensPerS)
	}
	return g
}

// whole is why the stage is said to be bound so, with what speaks against it.
func (s glanceStage) whole() string {
	if s.But == "" {
		return s.Why
	}
	return s.Why + "; but " + s.But
}

// MeaningSentence is what the bound means, as the page shows it.
func (s glanceStage) MeaningSentence() string { return sentence(s.Meaning) + "." }

// WhySentence is what it follows from.
func (s glanceStage) WhySentence() string { return sentence(s.Why) + "." }
