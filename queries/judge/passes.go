package judge

import (
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// passTime is one measured pass that has device work.
type passTime struct {
	span, busy  float64  // ns from its first start to its last end, and how much of that GPUs worked
	start       float64  // ns on the clock of its source: when its range opened
	interval    *float64 // ns from then to the start of the next pass; nil where that does not follow directly
	number      int64    // 1, 2, ... within the stage and process, warm-up counted
	source, pid int64
	repeat      int64   // 1, 2, ... the run of the workload
	steps       float64 // that make a token for each sequence of its batch; 0 in a pass that does something else, or where that is unknown
	kernels     *int64  // nil when not known
	isFirst     bool    // the first measured one of its process: what may be warm-up that no rule knows
	ranks       int64   // processes that do it together
}

// idle is how long no GPU worked in it, in ns.
func (p passTime) idle() float64 { return p.span - p.busy }

// readPasses reads the measured passes that have device work. What several processes do together, as those of the same number in a repeat of the workload,
// is one pass, which lasts until the last of them is done. Windows of one session are one process, whose passes are numbered on.
func (s *summariser) readPasses() error {
	type pass struct{ repeat, number int64 }
	s.passes = map[string][]passTime{}
	of, err := s.passesOf("passes")
	for stage, list := range of {
		at := map[pass]int{}
		var whole []passTime
		for _, p := range list {
			i, known := at[pass{p.repeat, p.number}]
			if !known {
				at[pass{p.repeat, p.number}], whole = len(whole), append(whole, p)
				continue
			}
			ranks := whole[i].ranks + 1
			if p.span > whole[i].span {
				whole[i] = p
			}
			whole[i].ranks = ranks
		}
		s.passes[stage] = whole
	}
	return err
}

// passesOf returns the measured passes of an answer of passes by stage, in order of time.
func (s *summariser) passesOf(key string) (map[string][]passTime, error) {
	list, err := readAt(s, passRows, key)
	slices.SortStableFunc(list, byKey(func(r passRow) int64 { return r.StartNs }))
	out := map[string][]passTime{}
	for _, r := range list {
		span := r.GPUSpanNs
		if span == nil || *span <= 0 || r.GPUBusyNs == nil || r.IsWarmup {
			continue
		}
		stage := r.Stage
		p := passTime{span: *span, busy: *r.GPUBusyNs, start: float64(r.StartNs), interval: r.Interval, number: r.Pass, source: r.SourceID, pid: r.PID, repeat: r.Repeat, kernels: r.KernelCount, ranks: 1}
		if r.TokenTimeNs != nil {
			p.steps = float64(frame.Or(r.Steps, 0))
		}
		p.isFirst = !slices.ContainsFunc(out[stage], func(q passTime) bool { return q.source == p.source && q.pid == p.pid })
		out[stage] = append(out[stage], p)
	}
	return out, err
}

// passesOn returns the measured passes of a stage on one GPU; none where several worked in it and this one was not asked for.
func (s *summariser) passesOn(stage string, device int64) ([]passTime, error) {
	if s.r.Frame(passesKey(device)) != nil {
		of, err := s.passesOf(passesKey(device))
		return of[stage], err
	}
	if len(s.parts[stage]) > 1 {
		return nil, nil
	}
	return s.passes[stage], nil
}

// apart returns how far apart passes of a stage begin that directly follow each other, by the median; 0 for fewer than two such distances, and of passes of several
// ranks. Time on the CPU before the first work and after the last is in no pass on the GPU.
func (s *summariser) apart(stage string) float64 {
	var list []float64
	for _, p := range s.passes[stage] {
		if p.interval != nil && p.ranks == 1 {
			list = append(list, *p.interval)
		}
	}
	if len(list) < 2 {
		return 0
	}
	return stats.Centre(list)
}

// holder returns the only pass that can hold some time of one pass: idle time, or any; nil where it is not told.
func holder(list []passTime, ns float64, isIdle bool) *passTime {
	var found *passTime
	for i, p := range list {
		if has := p.span; ns > 0 && (has >= ns && !isIdle || p.idle() >= ns) {
			if found != nil {
				return nil
			}
			found = &list[i]
		}
	}
	return found
}

// slowStart says that the first measured pass of a process takes much longer than its others; "" when none does.
func slowStart(list []passTime) string {
	for _, first := range list {
		if !first.isFirst {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(list), func(p passTime) bool { return p.isFirst || p.source != first.source || p.pid != first.pid })
		if len(others) == 0 {
			continue
		}
		slices.SortStableFunc(others, byKey(func(p passTime) float64 { return p.span }))
		name, usual := "the median of the others", (others[(len(others)-1)/2].span+others[len(others)/2].span)/2
		if len(others) == 1 {
			name = "the other"
		}
		if first.span > slowFirst*usual {
			return fmt.Sprintf("takes %s, %s %s: it may be warm-up", DurationText(first.span), name, DurationText(usual))
		}
	}
	return ""
}
