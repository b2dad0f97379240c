package report

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// gpuName is what the sources of a run call one GPU.
type gpuName struct {
	device  int64 // the machine's number
	works   bool  // kernels ran on it
	names   []string
	told    []int64 // sources that name it
	silent  []int64 // sources that have it without a name
	anyWork bool    // kernels ran on any GPU
}

// gpuNames returns the GPUs in the order of the answer devices.
func (r *reader) gpuNames() []gpuName {
	rows := read(r, deviceRows)
	var out []gpuName
	some := slices.ContainsFunc(rows, deviceRow.works)
	for _, row := range rows {
		at := slices.IndexFunc(out, func(g gpuName) bool { return g.device == row.Device })
		if at < 0 {
			at = len(out)
			out = append(out, gpuName{device: row.Device, anyWork: some})
		}
		g := &out[at]
		g.works = g.works || row.works()
		if row.Name == "" {
			g.silent = append(g.silent, row.SourceID)
			continue
		}
		g.told = append(g.told, row.SourceID)
		if !slices.Contains(g.names, row.Name) {
			g.names = append(g.names, row.Name)
		}
	}
	return out
}

// workingGPUs are those that kernels ran on, or all where none ran.
func workingGPUs(all []gpuName) []gpuName {
	return slices.DeleteFunc(slices.Clone(all), func(g gpuName) bool { return g.anyWork && !g.works })
}

// saying says which sources name a GPU, where not all of them do; "" where they do.
func (g gpuName) saying() string {
	switch {
	case len(g.silent) == 0:
		return ""
	case len(g.told) == 0 && g.works:
		return fmt.Sprintf("GPU %d, which ran kernels, is named by no source", g.device)
	case len(g.told) == 0:
		return fmt.Sprintf("GPU %d is named by no source", g.device)
	}
	return fmt.Sprintf("GPU %d is %s by %s, and has no name in %s", g.device, strings.Join(g.names, ", "), sourceList(g.told), sourceList(g.silent))
}

func sourceList(ids []int64) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	return plural(len(ids), "source ", "sources ") + strings.Join(words, ", ")
}

// gpuOf names the GPUs that did the work; where one of them has no name it is not known, with the reason and the names that there are.
func gpuOf(all []gpuName) (name any, why string) {
	if len(all) == 0 {
		return nil, "no source names the GPU"
	}
	var names, others []string
	for _, g := range all {
		others = append(others, g.names...)
	}
	for _, g := range workingGPUs(all) {
		if len(g.names) == 0 {
			why = g.saying()
			if len(others) > 0 {
				why += "; the capture names " + strings.Join(typeset.Unique(others), ", ")
			}
			return nil, why
		}
		names = append(names, g.names...)
	}
	return strings.Join(typeset.Unique(names), ", "), ""
}

// gpuText names the GPUs that did the work, or says why they have no name; "" where nothing is known of any.
func (r *reader) gpuText() string {
	if r.Frame("devices") == nil {
		return ""
	}
	all := r.gpuNames()
	name, why := gpuOf(all)
	if name == nil {
		return "unknown: " + typeset.Neutral(why)
	}
	text := typeset.Neutral(fmt.Sprint(name))
	if n := len(workingGPUs(all)); n > 1 && !strings.Contains(text, ", ") {
		text = fmt.Sprintf("%d x %s", n, text)
	}
	return text
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
