package judge

import (
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
)

func passesKey(device int64) string { return "passes of GPU " + strconv.FormatInt(device, 10) }
func gapsKey(stage string) string   { return "longest-gaps of " + stage }

// More returns what the first answers call for, by the key in Frames that its answer belongs to: who is slow where ranks exchange data,
// where the gaps are that hold nearly all idle time, and the passes of the GPU that is judged
// where there are several.
func (r *Report) More(run string) (map[string]frame.Question, error) {
	s := newSummariser(r)
	if err := s.readParts(); err != nil {
		return nil, err
	}
	out := map[string]frame.Question{}
	ask := func(key, query string, more ...string) {
		args := frame.Args{"run": run}
		for i, more := 0, append(more, "source", r.Source); i < len(more); i += 2 {
			if more[i+1] != "" {
				args[more[i]] = more[i+1]
			}
		}
		out[key] = frame.Question{Query: query, Args: args}
	}
	for stage, gpus := range s.parts {
		if s.r.Frame(lateKey) == nil && slices.ContainsFunc(gpus, func(d deviceParts) bool {
			return d.named("collective-exposed").total+d.named("collective-overlapped").total > 0
		}) {
			ask(lateKey, lateKey)
		}
		if stage == wholeCapture && len(s.parts) > 1 {
			continue
		}
		gpu := gpus[0]
		if stage != wholeCapture && len(gpus) > 1 {
			for _, device := range []int64{gpu.device, leastExposed(gpus)} {
				ask(passesKey(device), "passes", "device", strconv.FormatInt(device, 10))
			}
		}
		few, err := s.areFewGaps(stage, gpu)
		if err != nil {
			return nil, err
		}
		if few {
			ask(gapsKey(stage), "longest-gaps", "stage", strings.TrimSuffix(stage, wholeCapture), "device", strconv.FormatInt(gpu.device, 10), "top", strconv.Itoa(2*fewGaps))
		}
	}
	return out, nil
}

// leastExposed is the GPU whose collectives run alone for the shortest time: where others wait, likely the one that they wait for.
func leastExposed(gpus []deviceParts) int64 {
	return slices.MinFunc(gpus, byKey(func(d deviceParts) float64 { return d.named("collective-exposed").total })).device
}
