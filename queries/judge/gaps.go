package judge

import (
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/schema/facts/sql/findings"
	"prof/schema/terms"
)

const (
	// fewGaps is how many gaps may hold nearly all idle time for it to be theirs, and not of many small ones.
	fewGaps = 3
	// A gap that begins or ends within this part of its length from an end of the capture is at its edge.
	edgePart = 0.01
)

// inGap adds up the parts of a gap that are of a group, in ns.
func (g idleGroup) inGap(gap idleTimes) float64 {
	sum := 0.0
	for _, kind := range g.kinds {
		for _, p := range terms.PartsOf(kind) {
			sum += gap.of(p.Name)
		}
	}
	return sum
}

// of returns one part of idle time; 0 of what is no idle time.
func (t idleTimes) of(part string) float64 {
	return map[string]float64{"launch": t.LaunchNs, "launch-delay": t.LaunchDelayNs, "launch-latency": t.LaunchLatencyNs, "wait": t.WaitNs, "call": t.CallNs, "host": t.HostNs, "profiler": t.ProfilerNs, "queued": t.QueuedNs, "unknown": t.UnknownNs}[part]
}

// areFewGaps reports whether gaps, which counts warm-up too, has few gaps that could hold nearly all of the idle time that a stage is judged by.
func (s *summariser) areFewGaps(stage string, gpu deviceParts) (bool, error) {
	if !gpu.isIdle() {
		return false, nil
	}
	first := gpu.idle()[0]
	if s.r.Frame("gaps") == nil { // then only what would change the advice
		return first.bound == QueueBound, nil
	}
	list, err := read(s, gapRows)
	sum := 0.0
	for _, r := range list {
		if (stage == wholeCapture || r.Stage == stage) && r.GapCount <= fewGaps {
			sum += first.inGap(r.idleTimes)
		}
	}
	return sum >= findings.OncePart*gpu.inAll(first.kinds...), err
}

// fewLong are the gaps that hold nearly all idle time of one cause.
type fewLong struct {
	count   int // 0 where many gaps hold it, or it is not known
	longest float64
	edge    string // how the longest lies at an end of the capture; "" elsewhere
}

// longGaps returns the few gaps of measured passes that hold nearly all of the idle time that a stage is judged by.
func (s *summariser) longGaps(stage string, gpu deviceParts) (fewLong, error) {
	if len(s.parts[stage]) == 0 || !gpu.isIdle() {
		return fewLong{}, nil
	}
	first := gpu.idle()[0]
	list, err := readAt(s, longGapRows, gapsKey(stage))
	if err != nil {
		return fewLong{}, err
	}
	out, sum, all := fewLong{}, 0.0, gpu.inAll(first.kinds...)
	for _, r := range list {
		is, err := s.isMeasured(stage, gpu.device, r)
		if err != nil {
			return fewLong{}, err
		}
		if !is || out.count == fewGaps {
			continue
		}
		if out.count == 0 {
			out.longest = r.DurationNs
			if out.edge, err = s.edgeOf(r); err != nil {
				return fewLong{}, err
			}
		}
		out.count++
		if sum += first.inGap(r.idleTimes); sum >= findings.OncePart*all {
			return out, nil
		}
	}
	return fewLong{}, nil
}

// isMeasured reports whether a gap lies in a measured pass: the last that its process began before it.
func (s *summariser) isMeasured(stage string, device int64, gap longGapRow) (bool, error) {
	if stage == wholeCapture {
		return true, nil
	}
	key := "passes"
	if s.r.Frame(passesKey(device)) != nil {
		key = passesKey(device)
	}
	list, err := readAt(s, passRows, key)
	list = slices.DeleteFunc(list, func(r passRow) bool {
		return r.Stage != stage || r.SourceID != gap.SourceID || gap.PID != nil && r.PID != *gap.PID || float64(r.StartNs) > gap.StartNs
	})
	if err != nil || len(list) == 0 {
		return false, err
	}
	last := slices.MaxFunc(list, byKey(func(r passRow) int64 { return r.StartNs }))
	return !last.IsWarmup && frame.Or(last.GPUSpanNs, 0) >= gap.DurationNs, nil
}

// edgeOf returns how a gap lies at an end of the capture; "" when it does not.
func (s *summariser) edgeOf(gap longGapRow) (string, error) {
	near := edgePart * gap.DurationNs
	if start := gap.StartNs; start <= near {
		return fmt.Sprintf("begins %s after the start of the capture", DurationText(start)), nil
	}
	list, err := read(s, SourceRows)
	for _, r := range list {
		whole := r.DurationNs
		if whole == nil || r.SourceID != gap.SourceID {
			continue
		}
		if rest := *whole - gap.StartNs - gap.DurationNs; rest <= near {
			return fmt.Sprintf("ends %s before the end of the capture", DurationText(max(0, rest))), nil
		}
	}
	return "", err
}

// text returns how much of an idle time the gaps hold.
func (g fewLong) text() string {
	switch g.count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", nearly all of it in one gap of %s", DurationText(g.longest))
	}
	return fmt.Sprintf(", nearly all of it in %d gaps, the longest of %s", g.count, DurationText(g.longest))
}
