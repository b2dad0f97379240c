package render

import (
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
)

// kernelColumns are the columns of names of kernels, by the last word of their names.
var kernelColumns = []string{"kernel", "before", "after", "longest"}

func isKernelColumn(c frame.Column) bool {
	return isCode(c) && slices.Contains(kernelColumns, strings.ToLower(c.Name[strings.LastIndexByte(c.Name, '_')+1:]))
}

// kernelNames gives the names of kernels of all frames in short, by whole name, so that a kernel reads the same in every table of a page.
func kernelNames(frames []*frame.Frame) map[string]string {
	var names []string
	for _, f := range frames {
		for j, c := range f.Columns {
			if !isKernelColumn(c) {
				continue
			}
			for _, row := range f.Rows {
				if text, is := row[j].(string); is {
					names = append(names, neutral(text))
				}
			}
		}
	}
	names = unique(names)
	plain := plainNames(names)
	short := map[string]string{}
	tellApart(short, plain)
	out := make(map[string]string, len(names))
	for i, name := range names {
		out[name] = short[plain[i]]
	}
	return out
}

// tellApart shortens different texts to names that differ, as far as longName columns can show it: those that still look alike are
// shortened once more among themselves, at what differs in these.
func tellApart(short map[string]string, texts []string) {
	shorten := shortener(texts, longName)
	alike := map[string][]string{}
	for _, text := range texts {
		short[text] = shorten(text)
		alike[short[text]] = append(alike[short[text]], text)
	}
	for _, group := range alike {
		if len(group) > 1 && len(group) < len(texts) {
			tellApart(short, group)
		}
	}
}

// reportFrames are the frames behind what a page shows.
func reportFrames(r *judge.Report) []*frame.Frame {
	var out []*frame.Frame
	for _, s := range r.Sections {
		if s.Frame != nil {
			out = append(out, s.Frame)
		}
	}
	if r.Timeline != nil && r.Timeline.Gaps != nil {
		out = append(out, r.Timeline.Gaps)
	}
	return out
}
