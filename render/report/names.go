package report

import (
	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
)

// kernelNames gives the names of kernels of all frames in short, by whole name, so that a kernel reads the same in every table of a page.
func kernelNames(frames []*frame.Frame) map[string]string {
	var names []string
	for _, f := range frames {
		for j, c := range f.Columns {
			if !table.IsKernelColumn(c) {
				continue
			}
			for _, row := range f.Rows {
				if text, is := row[j].(string); is {
					names = append(names, typeset.Neutral(text))
				}
			}
		}
	}
	names = typeset.Unique(names)
	short, out := typeset.Kernels(names, typeset.LongName), make(map[string]string, len(names))
	for _, name := range names {
		out[name] = short(name)
	}
	return out
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
