package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
)

// waitPart is the share of a time from which on waiting is most of it, and of waiting that is blamed on one GPU.
const waitPart = 0.5

// rankWait is what stragglers says of the measured passes of a stage.
type rankWait struct {
	waited, total float64 // ns that all ranks waited in collectives for the last to come, and that they were in them
	late          int64   // the GPU that was waited for most
	blamed        float64 // ns of waited that were waiting for it
	isTold        bool    // whether most was waiting, and for one GPU
}

// readWaits reads stragglers, where it was asked.
func (s *summariser) readWaits() error {
	s.waits = map[string]rankWait{}
	list, err := s.rows(waitsKey, "range", "pass", "slowest", "waited_ns", "blamed_ns", "total_ns", "is_warmup")
	if err != nil {
		return err
	}
	blamed := map[string]map[string]float64{}
	for _, r := range list {
		stage := r.Text("range")
		// A workload may call passes warm-up that stragglers, which goes by rules, does not.
		isMeasured := slices.ContainsFunc(s.passes[stage], func(p passTime) bool { return p.number == r.Count("pass") })
		if r.Value("is_warmup") == true || len(s.passes) > 0 && !isMeasured {
			continue
		}
		if blamed[stage] == nil {
			blamed[stage] = map[string]float64{}
		}
		w := s.waits[stage]
		w.waited, w.total = w.waited+r.Amount("waited_ns"), w.total+r.Amount("total_ns")
		s.waits[stage] = w
		blamed[stage][r.Text("slowest")] += r.Amount("blamed_ns")
	}
	for stage, of := range blamed {
		w := s.waits[stage]
		for rank, ns := range of {
			if w.waited < waitPart*w.total || ns <= waitPart*w.waited { // no more than one rank has more than half
				continue
			}
			device, err := s.gpuOf(rank)
			if err != nil {
				return err
			}
			if device != nil {
				w.late, w.blamed, w.isTold = *device, ns, true
			}
		}
		s.waits[stage] = w
	}
	return nil
}

// placeText is how a rank whose number is not known is written: GPU and process.
var placeText = regexp.MustCompile(`^GPU (\d+) \(`)

// gpuOf gives the GPU of a rank as stragglers names it; nil where it is not told.
func (s *summariser) gpuOf(rank string) (*int64, error) {
	if m := placeText.FindStringSubmatch(rank); m != nil {
		device, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("summary of %s: %q of stragglers names no GPU: %w", s.r.Name, rank, err)
		}
		return &device, nil
	}
	list, err := s.rows("collectives", "rank", "device")
	var found *int64
	for _, r := range list {
		if n := r.Whole("rank"); n == nil || "rank "+strconv.FormatInt(*n, 10) != rank {
			continue
		}
		device := r.Count("device")
		if found != nil && *found != device {
			return nil, err
		}
		found = &device
	}
	return found, err
}

// lateGPU gives the parts of the GPU that the judged one waits for in collectives; nil where there is no such GPU.
func (e evidence) lateGPU() *deviceParts {
	if !e.wait.isTold || e.wait.late == e.gpu.device {
		return nil
	}
	for i, d := range e.all {
		if d.device == e.wait.late {
			return &e.all[i]
		}
	}
	return nil
}

// idleNs is how long the GPU does no work of the stage, in ns.
func (d deviceParts) idleNs() float64 { return d.span - d.of("busy") }

// isExplained says whether the idle time of the late GPU in its own passes is enough for the others to wait so long.
func (w rankWait) isExplained(late deviceParts) bool { return late.idleNs() >= waitPart*w.blamed }

// lateVerdict says which GPU is waited for, and what that one does meanwhile.
func lateVerdict(e evidence, exposed part, late deviceParts) *verdict {
	v := &verdict{bound: LateBound, but: e.once(exposed).text(), meaning: fmt.Sprintf("GPU %d waits for GPU %d, which arrives late at collectives", e.gpu.device, late.device)}
	v.why = fmt.Sprintf("the GPU is in collectives and computes nothing %s; %s of the time that all GPUs spend in them (%s of %s) is waiting for a late GPU, %s of that for GPU %d",
		e.share(exposed.total), percentText(e.wait.waited/e.wait.total), DurationText(e.wait.waited), DurationText(e.wait.total), percentText(e.wait.blamed/e.wait.waited), late.device)
	if !e.wait.isExplained(late) {
		v.why += fmt.Sprintf("; that is more than GPU %d idles in its passes (%s): it begins them late", late.device, DurationText(late.idleNs()))
		return v
	}
	its := e
	its.gpu, its.passes = late, e.latePasses
	first := late.idle()[0]
	if ns := late.of(first.kinds...); ns >= wordShare*late.span {
		v.next = first.bound
		v.why += fmt.Sprintf("; GPU %d itself is busy %s of its time; it %s %s", late.device, percentText(late.of("busy")/late.span), first.words, its.share(ns))
		if once := its.once(late.in(first)...); once.ns > 0 {
			v.why += once.among()
		}
	}
	return v
}
