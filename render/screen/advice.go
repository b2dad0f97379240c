package screen

import (
	"fmt"

	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/typeset"
	"prof/render/words"
)

// adviceKernel is how many columns the name of a kernel has in advice.
const adviceKernel = 32

// advice says what to try: what it could save, and how.
func advice(s Screen) ([]doc.Block, error) {
	var out []doc.Block
	if profiled := s.Summary.Profiled; profiled != "" && words.LeadOf(s.Summary) != profiled+"." {
		out = append(out, doc.Remark{Text: typeset.Neutral(profiled)})
	}
	if len(s.Summary.Advice) == 0 {
		return out, nil
	}
	list := doc.List{Ordered: true, Lines: adviceLines}
	for _, a := range s.Summary.Advice[:min(screenAdvice, len(s.Summary.Advice))] {
		item, how := doc.Item{Text: typeset.Neutral(a.Advice)}, typeset.Neutral(a.Command)
		if a.SavingNs > 0 {
			item.Text, how = adviceHead(a), typeset.Neutral(a.Advice)
		}
		if how != "" {
			item.Under = []string{how}
		}
		list.Items = append(list.Items, item)
	}
	for _, k := range s.Summary.LargestWithAdvice() {
		name := typeset.Neutral(k.Name)
		name = typeset.Kernels([]string{name}, adviceKernel)(name)
		list.Items = append(list.Items, doc.Item{Text: fmt.Sprintf("%s, %s of its GPU time: %s: %s", stageName(k.Stage), typeset.Percent(k.ShareRatio), name, typeset.Neutral(k.Why)), Under: []string{typeset.Neutral(k.Advice)}})
	}
	return append(out, doc.Section{Title: adviceTitle(s.Summary), Strong: true, Blocks: []doc.Block{list}}), nil
}

// adviceTitle says what the list is: savings come first, what is to be captured after them.
func adviceTitle(s judge.Summary) string {
	switch {
	case s.Lacking != "":
		return "what to do first"
	case s.Advice[0].SavingNs == 0:
		return "what to capture next"
	}
	return "what to try (savings overlap)"
}

// adviceHead says where, how much and what: decode, 18.2 -> 2.49 ms/token at best: GPU idle: launches arrive too late.
func adviceHead(a judge.Advice) string {
	return fmt.Sprintf("%s, %s: %s", stageName(a.Stage), a.Gain.Text(), typeset.Neutral(a.Title))
}
