package judge

import (
	"fmt"
	"slices"

	"prof/queries/frame"
)

// oncePasses are the parts of accounting that rules of findings are about, where a single pass may hold nearly all of it.
var oncePasses = map[string]string{"host-bound": "host", "cuda-calls": "call", "host-waits": "wait", "device-latency": "queued", "exposed-collectives": "collective-exposed"}

// refine fits the advice of a finding to what the run shows beyond it: a GPU that comes late, a single gap, a single pass.
func (s *summariser) refine(a *Advice, device int64) error {
	key := keyOf(a.Stage)
	if late := s.lateIn(a.Stage); late != nil && a.Rule == "exposed-collectives" {
		a.Title = fmt.Sprintf("GPUs that wait for GPU %d in collectives", late.device)
		a.Text = fmt.Sprintf("find out what makes GPU %d late, and balance the work; a faster collective, or one that computing overlaps, does not mend that", late.device)
		if first := late.idle()[0]; !s.waits[a.Stage].isExplained(*late) {
			a.Text = fmt.Sprintf("find out what GPU %d does before it begins its passes, which it does late; a faster collective, or one that computing overlaps, does not mend that", late.device)
		} else if late.of(first.kinds...) >= wordShare*late.span {
			a.Text = fmt.Sprintf("make GPU %d come in time (it %s); a faster collective, or one that computing overlaps, does not mend that", late.device, first.words)
		}
		a.Command = s.command(waitsKey)
		return nil
	}
	at := slices.IndexFunc(s.parts[key], func(d deviceParts) bool { return d.device == device })
	if at < 0 {
		return nil
	}
	gpu := s.parts[key][at]
	if at == 0 && a.Rule == "device-latency" && gpu.idle()[0].bound == QueueBound {
		gaps, err := s.longGaps(key, gpu)
		if err != nil {
			return err
		}
		if gaps.count > 0 {
			options := []string{"device", fmt.Sprint(device)}
			if key != wholeCapture {
				options = append([]string{"stage", key}, options...)
			}
			a.Text = fmt.Sprintf("find out what the GPU or the profiler does in %s; fewer or larger kernels do not mend that", map[bool]string{true: "the one gap that holds nearly all of it", false: "the few gaps that hold nearly all of it"}[gaps.count == 1])
			a.Command = s.command("longest-gaps", options...)
			return nil
		}
	}
	return s.refineOnce(a, gpu, key)
}

// refineOnce says of what happened in one pass of several where to look first.
func (s *summariser) refineOnce(a *Advice, gpu deviceParts, key string) error {
	name := oncePasses[a.Rule]
	if name == "" {
		return nil
	}
	list, err := s.passesOn(key, gpu.device)
	if err != nil {
		return err
	}
	once := (evidence{gpu: gpu, passes: list}).once(gpu.named(name))
	look := s.command("passes", "stage", a.Stage)
	switch {
	case once.ns == 0:
	case once.pass == nil:
		a.Text = fmt.Sprintf("see what is different in the one pass that holds nearly all of it (%s); then %s", look, a.Text)
	case once.pass.isFirst:
		a.Text = fmt.Sprintf("if pass %d, the first measured, which holds nearly all of it, is warm-up, leave it out (%s); else %s", once.pass.number, s.leaveOut(a.Stage, once.pass.number), a.Text)
	default:
		a.Text = fmt.Sprintf("see what is different in pass %d, which holds nearly all of it (%s); then %s", once.pass.number, look, a.Text)
	}
	return nil
}

// leaveOut is how the first passes become warm-up, up to the one of that number. A workload that lists its passes says so itself.
func (s *summariser) leaveOut(stage string, number int64) string {
	if s.kinds["workload"] {
		return s.command("passes", "stage", stage) + " shows it"
	}
	return fmt.Sprintf("prof ingest --run %s --warmup %d", ShellWord(s.name), number)
}

// lateIn gives the parts of the GPU that the others wait for in a stage; nil where none is.
func (s *summariser) lateIn(stage string) *deviceParts {
	for _, judged := range s.out.Stages {
		if judged.Stage == stage && judged.Bound == LateBound {
			return evidence{gpu: s.parts[stage][0], all: s.parts[stage], wait: s.waits[stage]}.lateGPU()
		}
	}
	return nil
}

// lateFirst puts findings of a GPU that is waited for before those of the GPUs that wait: what the latter are idle for ends with it.
func (s *summariser) lateFirst(list []frame.Record) []frame.Record {
	out := slices.Clone(list)
	slices.SortStableFunc(out, byKey(func(r frame.Record) int {
		if late := s.lateIn(r.Text("stage")); late != nil && r.Count("device") == late.device && r.Text("finding") != "exposed-collectives" {
			return 0
		}
		return 1
	}))
	return out
}
