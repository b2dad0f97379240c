package screen

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/judge/serving"
	"prof/render/doc"
	"prof/render/typeset"
)

// How many causes of the time of a token a screen has room for, and which share of it is worth one.
const (
	tokenCauses = 5
	tokenShare  = 0.01
)

// tokens says what the time per token of a serving engine is made of, and what a step takes that works on prompts: of the GPU on which a token takes
// longest. Beside what the client measured stands the time of all GPUs, since its requests go to any of them.
func tokens(s Screen) ([]doc.Block, error) {
	of := s.Summary.Served
	if of == nil {
		return nil, nil
	}
	list, slowest, engine, all := of.Causes, of.Slowest, of.Slowest.TokenNs(), of.EngineNs()
	head := clientTime(slowest.Window, slowest.Client) + "engine "
	facts := doc.Facts{{"TPOT", head + nanoseconds(&engine)}}
	if of.GPUs > 1 {
		facts = doc.Facts{{"TPOT", head + nanoseconds(&all)}, {"", fmt.Sprintf("GPU %d, the slowest of %d: %s", slowest.Device, of.GPUs, nanoseconds(&engine))}}
	}
	causes := causesOf(list, engine, func(c serving.Cause) (float64, bool) {
		return c.PartNs(), true
	}, func(c serving.Cause) string { return c.Kind + " " + c.Cause })
	facts = append(facts, lines(causes)...)
	facts = append(facts, prompts(list, slowest)...)
	return []doc.Block{doc.Section{Title: "time per token, and to the first one", Blocks: []doc.Block{facts}}}, nil
}

// lineOfCauses is how wide a line of causes may be, in characters.
const lineOfCauses = 66

// lines are causes in lines below what they are causes of.
func lines(causes []string) (out doc.Facts) {
	line := ""
	for _, c := range causes {
		if line != "" && len(line)+len(", ")+len(c) > lineOfCauses {
			out, line = append(out, [2]string{"", line + ","}), ""
		}
		if line != "" {
			line += ", "
		}
		line += c
	}
	return append(out, [2]string{"", line})
}

// clientTime is what the client measured, of tokens within the recorded window where that is known; "" where nothing is.
func clientTime(window, whole *float64) string {
	switch {
	case window != nil:
		return "client " + nanoseconds(window) + " in the window, "
	case whole != nil:
		return "client " + nanoseconds(whole) + " (whole benchmark), "
	}
	return ""
}

// prompts says what a step takes that works on prompts, beside the time to the first token; nothing where no step did.
func prompts(list []serving.Cause, of serving.Cause) doc.Facts {
	total, steps, counted := 0.0, 0.0, map[string]bool{}
	for _, c := range list {
		if c.Iterations == nil || c.Kind == "decode" {
			continue
		}
		total += float64(c.Ns)
		if !counted[c.Kind] {
			counted[c.Kind] = true
			steps += float64(*c.Iterations)
		}
	}
	if steps == 0 {
		return nil
	}
	mean := total / steps
	causes := causesOf(list, mean, func(c serving.Cause) (float64, bool) {
		return float64(c.Ns) / steps, c.Iterations != nil && c.Kind != "decode"
	}, func(c serving.Cause) string { return c.Cause })
	return append(doc.Facts{{"TTFT", clientTime(of.FirstWindow, nil) + "a step with prompts " + nanoseconds(&mean)}}, lines(causes)...)
}

// causesOf lists the largest parts of a time, those of one name together, and the rest.
func causesOf(list []serving.Cause, whole float64, part func(serving.Cause) (ns float64, counts bool), name func(serving.Cause) string) (out []string) {
	sums := map[string]float64{}
	var names []string
	for _, c := range list {
		ns, counts := part(c)
		if !counts {
			continue
		}
		if _, known := sums[name(c)]; !known {
			names = append(names, name(c))
		}
		sums[name(c)] += ns
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(sums[b], sums[a]) })
	rest := 0.0
	for i, n := range names {
		if i >= tokenCauses || sums[n] < tokenShare*whole {
			rest += sums[n]
			continue
		}
		ns := sums[n]
		out = append(out, typeset.Neutral(n)+" "+nanoseconds(&ns))
	}
	if rest > 0 {
		out = append(out, "other "+nanoseconds(&rest))
	}
	return out
}
