// Package words says in sentences and labels what frames and judgements mean. It knows no form: how a sentence or an item of a list looks is package doc's.
package words

import (
	"fmt"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/schema/say"
)

// Findings returns findings as they are written: where, and how much could be saved of how much; what it follows from; and what to do about it.
func Findings(list []judge.Finding) []doc.Item {
	return typeset.Each(list, func(x judge.Finding) doc.Item {
		item := doc.Item{Text: findingHeadline(x), Under: []string{typeset.Neutral(x.Title + " (" + x.ID + ")"), typeset.Neutral(x.Evidence)}, Of: typeset.Neutral(x.Subject), Try: typeset.Neutral(x.Advice)}
		for _, command := range []string{x.Command, x.Detail, x.Open} {
			if command != "" {
				item.See = append(item.See, typeset.Neutral(command))
			}
		}
		return item
	})
}

// findingHeadline returns where a finding is and what it could gain: decode: 18.2 -> 2.49 ms/token at best (86.3 % less).
func findingHeadline(x judge.Finding) string {
	where := ""
	if x.RunDeviceCount > 1 || x.DeviceCount > 1 {
		where = fmt.Sprintf(" on GPU %d", x.Device)
	}
	if x.DeviceCount > 1 {
		where += fmt.Sprintf(", the most of %d GPUs", x.DeviceCount)
	}
	return fmt.Sprintf("%s: %s (%s less)%s", Stage(x.Stage), x.Gain.Text(), typeset.Percent(x.Gain.Ratio()), where)
}

// LargeTitle is above what LargeKernels returns.
const LargeTitle = "kernels that take 10 % or more of the GPU time of a stage's median pass"

// LargeKernels returns kernels that take much of a stage: what each takes, what limits it, what a pass would take without it, and what to do.
func LargeKernels(list []judge.LargeKernel) []doc.Item {
	short := typeset.Kernels(typeset.Each(list, func(k judge.LargeKernel) string { return typeset.Neutral(k.Name) }), typeset.LongName)
	return typeset.Each(list, func(k judge.LargeKernel) doc.Item {
		where := ""
		if k.DeviceCount > 1 {
			where = fmt.Sprintf(" on GPU %d, the most of %d GPUs", k.Device, k.DeviceCount)
		}
		item := doc.Item{Text: fmt.Sprintf("%s: %s takes %s%s", Stage(k.Stage), short(typeset.Neutral(k.Name)), k.Takes, where), Under: []string{typeset.Neutral(say.Clauses(k.Why, k.Without, k.Found))}, Try: typeset.Neutral(k.Advice)}
		for _, command := range []string{k.Command, k.Detail, k.Open} {
			if command != "" {
				item.See = append(item.See, typeset.Neutral(command))
			}
		}
		return item
	})
}

// ReplayedTitle is above what ReplayedKernels returns.
const ReplayedTitle = "kernels that Nsight Compute profiled"

// ReplayedKernels returns the kernels of a run without a timeline: what each takes when it is replayed, what bounds it, and what to look at.
func ReplayedKernels(list []judge.ReplayedKernel) []doc.Item {
	short := typeset.Kernels(typeset.Each(list, func(k judge.ReplayedKernel) string { return typeset.Neutral(k.Name) }), typeset.LongName)
	return typeset.Each(list, func(k judge.ReplayedKernel) doc.Item {
		return doc.Item{Text: fmt.Sprintf("%s takes %s", short(typeset.Neutral(k.Name)), k.Takes), Under: []string{typeset.Neutral(say.Clauses(k.Why, k.Rule))}, See: []string{typeset.Neutral(k.Command)}}
	})
}

// AllWork is what the findings of a run without measured passes are about.
const AllWork = "all device work"

// Stage names a stage; "" is all device work.
func Stage(stage string) string {
	if stage == "" {
		return AllWork
	}
	return typeset.Neutral(stage)
}

// NoFindings stands where findings has no rows. That no rule was tried, or which one was not, is in the notes.
func NoFindings(f *frame.Frame) string {
	if f != nil && f.Warns(caveat.FactsLacking) {
		return "Findings are unknown."
	}
	return "There are no findings."
}
