package judge

import (
	"errors"
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/schema/facts/sql/findings"
	"prof/schema/say"
)

// oncePasses are the parts of accounting that rules of findings are about, where a single pass may hold nearly all of it.
var oncePasses = map[string]string{"host": "host", "call": "call", "wait": "wait", "queued": "queued", "exposed-collectives": "collective-exposed"}

// mostShared is the share of the time that collectives run alone from which on its cause is that they share a stream with computing.
const mostShared = 0.5

// hardlyWaits is the share of the median pass below which waiting in collectives is no matter of each pass.
const hardlyWaits = 0.1

// planAdvice is for a host that is busy before attention kernels of cuDNN.
const planAdvice = "cuDNN is likely to build a plan for each new length: warm up with every length that follows, or take another attention backend (torch.backends.cuda.enable_cudnn_sdp(False))"

// graphAdvice is for work of which CUDA graphs launch some, and launches one by one the rest.
const graphAdvice = "take what is still launched one by one into the CUDA graph too, or launch fewer, larger kernels"

// refineFindings fits the advice of findings to the run, and says what each could gain of its stage.
func (s *summariser) refineFindings() error {
	return s.refineAll(s.out.Findings)
}

func (s *summariser) refineAll(list []Finding) (err error) {
	for i := range list {
		err = errors.Join(err, s.refine(&list[i]))
		x := &list[i]
		if x.Gain = s.gainOf(*x); x.IsByPath {
			takes := "takes"
			if DurationText(x.Gain.ThenNs) == DurationText(x.Gain.NowNs) {
				takes = "still takes"
			}
			x.Evidence += fmt.Sprintf("; with launches free it %s %s%s, by the critical path", takes, DurationText(x.Gain.ThenNs), x.Gain.unit())
			if own, is := x.Figures.(interface{ Usual() float64 }); is && DurationText(x.PassSavingNs) != DurationText(own.Usual()) && x.PassSavingNs > own.Usual() {
				x.Evidence += ": the CPU then runs ahead, so other idle time goes too"
			}
		}
	}
	return err
}

// refined reads and refines another answer of findings.
func (s *summariser) refined(f *frame.Frame) ([]Finding, error) {
	list, err := s.findingsOf(f)
	return list, errors.Join(err, s.refineAll(list))
}

// refine fits the advice of a finding to what the run shows beyond it: what is copied, a GPU that comes late, a single gap, a single pass.
func (s *summariser) refine(a *Finding) error {
	key, device := keyOf(a.Stage), a.Device
	collectives, isCollectives := a.Figures.(findings.ExposedCollectives)
	if words, is := copyWords[a.Subject]; is && a.ID == "exposed-copies" {
		a.Advice = words.advice
		if n, is := a.Figures.(findings.ExposedCopies); is && n.IsPinned() && words.pinned != "" {
			a.Advice = words.pinned
		}
		return nil
	}
	if n, is := a.Figures.(findings.FP32Products); is && n.HasSmallInputs() {
		a.Advice = tensorAdvice
		return nil
	}
	if n, is := a.Figures.(findings.HostFigures); is && n.BuildsPlans() {
		a.Advice = planAdvice
		return nil
	}
	if n, is := a.Figures.(findings.LaunchBound); is && n.HasReplays() {
		a.Advice = graphAdvice
	}
	if a.ID == "collective-wait" {
		s.refineWait(a)
		return nil
	}
	if isCollectives && frame.Or(collectives.SharedNs, 0) >= mostShared*collectives.ExposedNs {
		a.Title = "Collectives not overlapped: they share a stream with compute"
		a.Advice = "run them on a separate stream and wait only where the result is needed (in PyTorch async_op=True and a later wait); split the work where all of it needs the result; or use a faster collective"
	}
	at := slices.IndexFunc(s.parts[key], func(d deviceParts) bool { return d.device == device })
	if at < 0 {
		return nil
	}
	gpu := s.parts[key][at]
	if at == 0 && a.ID == "queued" && gpu.idle()[0].bound == QueueBound {
		gaps, err := s.longGaps(key, gpu)
		if err != nil {
			return err
		}
		if gaps.count > 0 {
			a.Advice = fmt.Sprintf("find what the GPU or the profiler does in %s; fewer or larger kernels do not fix that", map[bool]string{true: "the one gap that has nearly all of it", false: "the few gaps that have nearly all of it"}[gaps.count == 1])
			a.Command = s.command("longest-gaps", "stage", a.Stage, "device", fmt.Sprint(device), "cause", a.ID, "source", s.r.Source)
			return nil
		}
	}
	if isCollectives && collectives.IsPart() {
		return nil // which pass has most of it says nothing of the rest
	}
	return s.refineOnce(a, gpu, key)
}

// refineWait says which GPU the others wait for in collectives, and what it does meanwhile.
func (s *summariser) refineWait(a *Finding) {
	wait, late := s.waitOf(a.Stage), s.lateIn(a)
	if e := (evidence{all: s.parts[keyOf(a.Stage)], wait: wait}); e.isShared() && wait.isLate() { // what a GPU does is not what one of its ranks does
		a.Evidence += fmt.Sprintf("; %s of the time in collectives is waiting, %s of that for %s", percentText(wait.WaitRatio), percentText(wait.ShareRatio), wait.Rank)
		a.Title = fmt.Sprintf("Ranks wait for %s in collectives", wait.Rank)
		a.Advice = fmt.Sprintf("find what makes %s late, and balance the work; a faster or overlapped collective does not fix that", wait.Rank)
		return
	}
	if late == nil {
		if wait.isMost() {
			a.Evidence += fmt.Sprintf("; %s of the time in collectives is waiting, %s of that for %s", percentText(wait.WaitRatio), percentText(wait.ShareRatio), wait.Rank)
		}
		return
	}
	var shared []string
	for _, x := range s.out.Findings {
		if x.Stage == a.Stage && x.Device == late.device && causeOf(x.ID) != "" {
			shared = append(shared, x.ID)
		}
	}
	if len(shared) > 0 {
		a.Evidence += fmt.Sprintf("; GPU %d is late for reasons that are findings of their own (%s): those savings and this one do not add up", late.device, say.List(shared))
	}
	if wait.isOutlier() && a.PassSavingNs < hardlyWaits*a.PassSpanNs {
		a.Title = fmt.Sprintf("GPU %d was late for collectives in one pass of %d", late.device, wait.Passes)
		a.Advice = fmt.Sprintf("check what differs on GPU %d in pass %d", late.device, wait.MostPass)
		if n, is := a.Figures.(findings.CollectiveWait); is && n.LateCall(late.device) != "" {
			a.Advice = fmt.Sprintf("keep %s out of pass %d on GPU %d: load code and allocate memory before the measured passes, by a warm-up with every shape that follows", n.LateCall(late.device), wait.MostPass, late.device)
		}
		return
	}
	a.Title = fmt.Sprintf("GPUs wait for GPU %d in collectives", late.device)
	a.Advice = fmt.Sprintf("find what makes GPU %d late, and balance the work; a faster or overlapped collective does not fix that", late.device)
	if first := late.idle()[0]; !wait.isExplained(*late) {
		a.Advice = fmt.Sprintf("find what GPU %d does before its passes, which begin late; a faster or overlapped collective does not fix that", late.device)
	} else if late.of(first.kinds...) >= wordShare*late.span {
		a.Advice = fmt.Sprintf("get GPU %d to the collectives in time (it %s); a faster or overlapped collective does not fix that", late.device, first.words)
	}
	if slices.ContainsFunc(s.out.Findings, func(x Finding) bool { return x.ID == "slow-gpu" && x.Stage == a.Stage && x.Device == late.device }) {
		a.Advice = fmt.Sprintf("find why GPU %d takes longer than the others for the same kernels (slow-gpu): clocks, power, temperature, other processes; balancing the work, a faster or an overlapped collective do not fix that", late.device)
	}
}

// refineOnce says of what happened in one pass of several where to look first.
func (s *summariser) refineOnce(a *Finding, gpu deviceParts, key string) error {
	name := oncePasses[a.ID]
	if name == "" {
		return nil
	}
	list, err := s.passesOn(key, gpu.device)
	if err != nil {
		return err
	}
	once := (evidence{gpu: gpu, passes: list}).once(gpu.named(name))
	look := s.command("passes", "stage", a.Stage, "source", s.r.Source)
	switch {
	case once.ns == 0:
	case once.pass == nil:
		a.Advice = fmt.Sprintf("check what differs in the one pass that has nearly all of it (%s); then %s", look, a.Advice)
	case once.pass.isFirst:
		a.Advice = fmt.Sprintf("nearly all of it is in pass %d, the first measured: if that is warm-up, exclude it (%s); otherwise %s", once.pass.number, s.leaveOut(a.Stage, once.pass.number), a.Advice)
	default:
		a.Advice = fmt.Sprintf("check what differs in pass %d, which has nearly all of it (%s); then %s", once.pass.number, look, a.Advice)
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

// lateIn returns the parts of the GPU that the one of a finding waits for in collectives; nil where there is none.
func (s *summariser) lateIn(a *Finding) *deviceParts {
	return evidence{gpu: deviceParts{device: a.Device}, all: s.parts[a.Stage], wait: s.waitOf(a.Stage)}.lateGPU()
}
