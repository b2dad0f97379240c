package judge

import (
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/schema/terms"
)

const (
	// fewGaps is how many gaps may hold nearly all idle time for it to be theirs, and not of many small ones.
	fewGaps = 3
	// A gap that begins or ends within this part of its length from an end of the capture is at its edge.
	edgePart = 0.01
)

// columns are those of a gap's time that is of a group.
func (g idleGroup) columns() []string {
	var out []string
	for _, kind := range g.kinds {
		for _, p := range terms.PartsOf(kind) {
			out = append(out, p.Column())
		}
	}
	return out
}

// inGap adds up the parts of a gap that are of a group, in ns.
func (g idleGroup) inGap(r frame.Record) float64 {
	sum := 0.0
	for _, column := range g.columns() {
		sum += r.Amount(column)
	}
	return sum
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
	list, err := s.rows("gaps", append([]string{"stage", "gap_count"}, first.columns()...)...)
	sum := 0.0
	for _, r := range list {
		if (stage == wholeCapture || r.Text("stage") == stage) && r.Count("gap_count") <= fewGaps {
			sum += first.inGap(r)
		}
	}
	return sum >= oncePart*gpu.of(first.kinds...), err
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
	list, err := s.rows(gapsKey(stage), append([]string{"duration_ns", "start_ns", "source_id", "pid"}, first.columns()...)...)
	if err != nil {
		return fewLong{}, err
	}
	out, sum, all := fewLong{}, 0.0, gpu.of(first.kinds...)
	for _, r := range list {
		is, err := s.isMeasured(stage, gpu.device, r)
		if err != nil {
			return fewLong{}, err
		}
		if !is || out.count == fewGaps {
			continue
		}
		if out.count == 0 {
			out.longest = r.Amount("duration_ns")
			if out.edge, err = s.edgeOf(r); err != nil {
				return fewLong{}, err
			}
		}
		out.count++
		if sum += first.inGap(r); sum >= oncePart*all {
			return out, nil
		}
	}
	return fewLong{}, nil
}

// isMeasured reports whether a gap lies in a measured pass: the last that its process began before it.
func (s *summariser) isMeasured(stage string, device int64, gap frame.Record) (bool, error) {
	if stage == wholeCapture {
		return true, nil
	}
	key := "passes"
	if s.r.Frame(passesKey(device)) != nil {
		key = passesKey(device)
	}
	list, err := s.rows(key, "stage", "is_warmup", "gpu_span_ns", "start_ns", "source_id", "pid")
	list = slices.DeleteFunc(list, func(r frame.Record) bool {
		return r.Text("stage") != stage || r.Count("source_id") != gap.Count("source_id") || gap.Whole("pid") != nil && r.Count("pid") != gap.Count("pid") || r.Count("start_ns") > gap.Count("start_ns")
	})
	if err != nil || len(list) == 0 {
		return false, err
	}
	last := slices.MaxFunc(list, byKey(func(r frame.Record) int64 { return r.Count("start_ns") }))
	return last.Value("is_warmup") == false && last.Amount("gpu_span_ns") >= gap.Amount("duration_ns"), nil
}

// edgeOf says how a gap lies at an end of the capture; "" when it does not.
func (s *summariser) edgeOf(gap frame.Record) (string, error) {
	near := edgePart * gap.Amount("duration_ns")
	if start := gap.Amount("start_ns"); start <= near {
		return fmt.Sprintf("begins %s after the start of the capture", DurationText(start)), nil
	}
	if f := s.r.Frame("sources"); f == nil || f.Index("source_id") < 0 {
		return "", nil
	}
	list, err := s.rows("sources", "source_id", "duration_ns")
	for _, r := range list {
		whole := r.Number("duration_ns")
		if whole == nil || r.Count("source_id") != gap.Count("source_id") {
			continue
		}
		if rest := *whole - gap.Amount("start_ns") - gap.Amount("duration_ns"); rest <= near {
			return fmt.Sprintf("ends %s before the end of the capture", DurationText(max(0, rest))), nil
		}
	}
	return "", err
}

// text says how much of an idle time the gaps hold.
func (g fewLong) text() string {
	switch g.count {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(", nearly all of it in one gap of %s", DurationText(g.longest))
	}
	return fmt.Sprintf(", nearly all of it in %d gaps, the longest of %s", g.count, DurationText(g.longest))
}
