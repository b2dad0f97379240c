package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/schema/say"
	"prof/schema/terms"
)

// wholeCapture is what accounting calls all device work of a GPU.
const wholeCapture = "(run)"

// addStages judges each stage that has measured passes.
func (s *summariser) addStages() error {
	list, err := read(s, StageRows)
	if err != nil {
		return err
	}
	if f := s.r.Frame("stages"); f != nil {
		for _, c := range f.Caveats {
			if c.Kind == "stages-without-passes" {
				s.out.Timeless = c.Subject
			}
		}
	}
	all := 0.0
	for _, r := range list {
		all += s.measured(r)
	}
	for _, r := range list {
		stage := StageSummary{Stage: r.Stage, Passes: r.Passes, StdNs: r.GPUSpanStdNs, TokensPerS: r.GPUSpanTokensPerS}
		if r.AloneClock == "gpu" || r.AloneClock == "workload" { // the host's may be that of launching alone
			stage.Alone.MedianNs, stage.Alone.TokensPerS = r.AloneMedianNs, r.AloneTokensPerS
		}
		if stage.Passes == 0 && r.AloneMedianNs != nil {
			continue // timed without a profiler only: there is nothing to judge
		}
		if stage.Passes == 0 {
			s.out.WarmOnly = append(s.out.WarmOnly, stage.Stage)
			s.out.Doubts = append(s.out.Doubts, fmt.Sprintf("all passes of %s count as warm-up: none was measured", stage.Stage))
			continue
		}
		onGPU, isOnGPU := frame.Finite(r.GPUSpanMeanNs)
		onCPU, isOnCPU := frame.Finite(r.CPUMeanNs)
		if !isOnGPU && !isOnCPU {
			s.out.Doubts = append(s.out.Doubts, fmt.Sprintf("no time of %s is known: no pass of it has GPU work, or ended", stage.Stage))
			continue
		}
		if isOnGPU {
			if n := int64(len(s.passes[stage.Stage])); n > 0 && n < stage.Passes {
				stage.Passes, stage.Workless = n, stage.Passes-n
			}
			stage.MeanNs, stage.MinNs, stage.MaxNs = onGPU, frame.Or(r.GPUSpanMinNs, 0), frame.Or(r.GPUSpanMaxNs, 0)
			stage.MedianNs, _ = frame.Finite(r.GPUSpanMedianNs)
			if all > 0 {
				stage.ShareRatio = s.measured(r) / all
			}
		} else {
			stage.IsCPU, stage.MeanNs, stage.StdNs = true, onCPU, r.CPUStdNs
			stage.MinNs, stage.MaxNs = frame.Or(r.CPUMinNs, 0), frame.Or(r.CPUMaxNs, 0)
			stage.MedianNs, _ = frame.Finite(r.CPUMedianNs)
		}
		for _, p := range s.passes[stage.Stage] {
			stage.Ranks = max(stage.Ranks, p.ranks)
		}
		if err := s.judge(&stage, stage.Stage); err != nil {
			return err
		}
		stage.Token = s.tokenOf(stage)
		if stage.Graphs, err = s.graphsOf(stage.Stage); err != nil {
			return err
		}
		s.out.Stages = append(s.out.Stages, stage)
	}
	slices.SortStableFunc(s.out.Stages, byKey(func(x StageSummary) float64 { return -x.ShareRatio }))
	return nil
}

// measured is what a stage takes of the measured time: its median pass, as often as it has passes with device work. One long pass is no more
// than one of them.
func (s *summariser) measured(stage StageRow) float64 {
	passes := int64(len(s.passes[stage.Stage]))
	if passes == 0 {
		passes = stage.Passes
	}
	median, _ := frame.Finite(stage.GPUSpanMedianNs)
	return median * float64(passes)
}

// addAll judges the whole capture of a run without measured passes.
func (s *summariser) addAll() error {
	if len(s.out.Stages) > 0 || len(s.parts[wholeCapture]) == 0 {
		return nil
	}
	span := s.parts[wholeCapture][0].span
	all := StageSummary{MeanNs: span, MedianNs: span, MinNs: span, MaxNs: span, ShareRatio: 1}
	s.out.All = &all
	return s.judge(&all, wholeCapture)
}

// addRest says what is known of a run of which neither a timeline nor counters are: sums of kernels or operators, or what else its files are.
func (s *summariser) addRest() error {
	if len(s.parts) > 0 || s.out.Profiled != "" || len(s.out.Stages) > 0 {
		return nil
	}
	kernels, err := read(s, KernelRows)
	if err != nil {
		return err
	}
	if len(kernels) > 0 && kernels[0].ShareRatio > 0 {
		s.out.Rest = fmt.Sprintf("Kernels take %s on the GPU; only their sums are known, not when each ran", DurationText(float64(kernels[0].TotalNs)/kernels[0].ShareRatio))
		return nil
	}
	operators, err := read(s, operatorRows)
	if err != nil {
		return err
	}
	operators = slices.DeleteFunc(operators, func(r operatorRow) bool { return strings.HasPrefix(r.Operator, "(") })
	if len(operators) > 0 {
		switch first := operators[0]; {
		case frame.Or(first.SelfDeviceNs, 0) > 0 && frame.Or(first.ShareRatio, 0) > 0:
			s.out.Rest = fmt.Sprintf("Operators take %s on the GPU, %s of it in %s; only their sums are known, not when each ran", DurationText(float64(*first.SelfDeviceNs) / *first.ShareRatio), percentText(*first.ShareRatio), first.Operator)
		case first.SelfCPUNs != nil:
			s.out.Rest = fmt.Sprintf("No GPU work was recorded; of the operators on the CPU %s takes most, %s", first.Operator, DurationText(*first.SelfCPUNs))
		}
		return nil
	}
	var labels []string
	for _, kind := range terms.Sources {
		if s.kinds[kind.Name] && kind.IsTimeline() {
			return nil
		} else if s.kinds[kind.Name] {
			labels = append(labels, kind.Label)
		}
	}
	if len(labels) > 0 {
		s.out.Rest = "No GPU timeline was recorded: all that is known is from " + say.List(labels)
	}
	return nil
}

// keyOf is how accounting calls a stage.
func keyOf(stage string) string {
	if stage == "" {
		return wholeCapture
	}
	return stage
}

// judge fills in how much of the hardware a stage uses and what bounds it.
func (s *summariser) judge(stage *StageSummary, key string) error {
	e, err := s.evidenceOf(stage.Stage, key)
	if err != nil {
		return err
	}
	if key == wholeCapture {
		stage.Unknown = "the run has no measured stages whose operations could be counted"
	} else {
		stage.MFU, stage.MBU, stage.IsLeast = e.use.mfu, e.use.mbu, e.use.isLeast
		stage.Alone.MFU, stage.Alone.MBU = e.use.aloneMFU, e.use.aloneMBU
		switch {
		case e.use.mfu != nil:
		case e.use.fault != "":
			stage.Unknown = e.use.fault
		default:
			stage.Unknown = s.noUsage
		}
	}
	stage.Device, stage.GPUs = e.gpu.device, len(e.all)
	busy, span := 0.0, 0.0
	for _, d := range e.all {
		busy, span = busy+d.of("busy"), span+d.span
	}
	if span > 0 {
		stage.BusyRatio = new(busy / span)
	}
	for _, rule := range boundRules {
		if v := rule.apply(e); v != nil {
			stage.Bound, stage.Next, stage.Why, stage.But, stage.Label, stage.Meaning = v.bound, v.next, v.why, v.but, cmp.Or(v.label, v.bound.Label()), cmp.Or(v.meaning, v.bound.Meaning())
			break
		}
	}
	if n := len(e.all); n > 1 {
		most, of := "the most measured time", fmt.Sprintf("%d GPUs", n)
		if key == wholeCapture {
			most = "the longest span of work"
		}
		if e.gpu.device != e.all[0].device {
			of = "those that wait for " + e.lateName()
		}
		which := fmt.Sprintf("has %s of %s", most, of)
		if n == 2 && e.gpu.device != e.all[0].device {
			which = "waits for " + e.lateName()
		}
		stage.Why = fmt.Sprintf("on GPU %d, which %s, %s", e.gpu.device, which, stage.Why)
	}
	stage.Query = s.command("accounting", "stage", key)
	return nil
}

// evidenceOf gathers what a verdict follows from.
func (s *summariser) evidenceOf(stage, key string) (e evidence, err error) {
	e = evidence{stage: stage, all: s.parts[key], use: s.use[key], isProbe: len(s.bounds) > 0, isForeign: s.isForeign, wait: s.waitOf(key), lost: s.lost, copies: s.copiesOf(stage)}
	e.gpu = e.judged()
	for _, read := range []func() error{
		func() (err error) { e.passes, err = s.passesOn(key, e.gpu.device); return err },
		func() (err error) { e.gaps, err = s.longGaps(key, e.gpu); return err },
		func() (err error) {
			if e.lateGPU() != nil {
				e.latePasses, err = s.passesOn(key, e.wait.Device)
			}
			return err
		},
		func() (err error) {
			if key != wholeCapture {
				e.class, err = s.classOf(key)
			}
			return err
		},
	} {
		if err := read(); err != nil {
			return e, err
		}
	}
	return e, nil
}

// graphsOf words the CUDA graphs that a stage replays; "" for none.
func (s *summariser) graphsOf(stage string) (string, error) {
	list, err := read(s, graphRows)
	list = slices.DeleteFunc(slices.Clone(list), func(r graphRow) bool { return r.Stage != stage })
	if err != nil || len(list) == 0 {
		return "", err
	}
	var sizes []int64
	for _, r := range list {
		if r.Kernels == nil {
			return "CUDA graphs", nil // traced as wholes
		}
		sizes = append(sizes, *r.Kernels)
	}
	if least, most := slices.Min(sizes), slices.Max(sizes); least < most {
		return fmt.Sprintf("CUDA graphs of %d to %s", least, say.Count(most, "kernel", "kernels")), nil
	}
	return "a CUDA graph of " + say.Count(sizes[0], "kernel", "kernels"), nil
}
