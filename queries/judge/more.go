package judge

import (
	"maps"
	"slices"
	"strconv"

	"prof/queries/frame"
)

// Keys of answers that are asked of some stages and GPUs only.
const waitsKey = "slow-ranks"

func passesKey(device int64) string { return "passes of GPU " + strconv.FormatInt(device, 10) }
func copiesKey(stage string) string { return "memops of " + stage }
func gapsKey(stage string) string   { return "longest-gaps of " + stage }

// More gives what the first answers call for, by the key in Frames that its answer belongs to: who is waited for where collectives run alone,
// what is copied where copies take the time, where the gaps are that hold nearly all idle time, and the passes of the GPU that is judged
// where there are several.
func (r *Report) More(run string) (map[string]frame.Question, error) {
	s := summariser{r: r, name: r.Name}
	if err := s.readParts(); err != nil {
		return nil, err
	}
	out := map[string]frame.Question{}
	for stage, gpus := range s.parts {
		if stage == wholeCapture && len(s.parts) > 1 {
			continue
		}
		gpu, of := gpus[0], frame.Args{"run": run}
		if stage != wholeCapture {
			of["stage"] = stage
		}
		of["device"] = strconv.FormatInt(gpu.device, 10)
		if stage != wholeCapture && len(gpus) > 1 {
			for _, device := range []int64{gpu.device, leastExposed(gpus)} {
				out[passesKey(device)] = frame.Question{Query: "passes", Args: frame.Args{"run": run, "device": strconv.FormatInt(device, 10)}}
			}
		}
		if stage != wholeCapture && gpu.named("collective-exposed").total >= exposedShare*gpu.span {
			out[waitsKey] = frame.Question{Query: "slow-ranks", Args: frame.Args{"run": run}}
			if s.r.Frame("collectives") == nil { // which GPU a rank is
				out["collectives"] = frame.Question{Query: "collectives", Args: frame.Args{"run": run}}
			}
		}
		if gpu.named("copy").total >= copyShare*gpu.span {
			out[copiesKey(stage)] = frame.Question{Query: "memops", Args: of}
		}
		few, err := s.areFewGaps(stage, gpu)
		if err != nil {
			return nil, err
		}
		if few {
			args := maps.Clone(of)
			args["top"] = strconv.Itoa(2 * fewGaps)
			out[gapsKey(stage)] = frame.Question{Query: "longest-gaps", Args: args}
		}
	}
	return out, nil
}

// leastExposed is the GPU whose collectives run alone for the shortest time: where others wait, likely the one that they wait for.
func leastExposed(gpus []deviceParts) int64 {
	return slices.MinFunc(gpus, byKey(func(d deviceParts) float64 { return d.named("collective-exposed").total })).device
}
