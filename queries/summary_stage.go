package queries

import (
	"fmt"
	"slices"
)

// wholeCapture is what accounting calls all device work of a GPU.
const wholeCapture = "(run)"

// addStages judges each stage that has measured passes.
func (s *summariser) addStages() error {
	list, err := s.rows("stages", "stage", "passes", "cpu_mean_ns", "cpu_std_ns", "gpu_span_mean_ns", "gpu_span_std_ns", "gpu_span_tokens_per_s", "busy_ratio", "warmup_passes")
	if err != nil {
		return err
	}
	all := 0.0
	for _, r := range list {
		all += r.amount("gpu_span_mean_ns") * r.amount("passes")
	}
	for _, r := range list {
		stage := StageSummary{Stage: r.text("stage"), Passes: r.count("passes"), StdNs: r.number("gpu_span_std_ns"), TokensPerS: r.number("gpu_span_tokens_per_s")}
		if stage.Passes == 0 {
			s.out.Doubts = append(s.out.Doubts, fmt.Sprintf("all passes of %s count as warm-up: of it nothing was measured", stage.Stage))
			continue
		}
		if mean := r.number("gpu_span_mean_ns"); mean != nil {
			stage.MeanNs, stage.ShareRatio = *mean, *mean*float64(stage.Passes)/all
		} else {
			stage.IsCPU, stage.MeanNs, stage.StdNs = true, r.amount("cpu_mean_ns"), r.number("cpu_std_ns")
		}
		if err := s.judge(&stage, stage.Stage); err != nil {
			return err
		}
		if r.number("busy_ratio") != nil { // each pass is of one GPU
			if usual := s.typical(stage.Stage); usual != "" {
				stage.But = usual
			}
		}
		s.out.Stages = append(s.out.Stages, stage)
	}
	slices.SortStableFunc(s.out.Stages, byKey(func(x StageSummary) float64 { return -x.ShareRatio }))
	return nil
}

// addAll judges the whole capture of a run without measured passes.
func (s *summariser) addAll() error {
	if len(s.out.Stages) > 0 || len(s.parts[wholeCapture]) == 0 {
		return nil
	}
	all := StageSummary{MeanNs: s.parts[wholeCapture][0].span, ShareRatio: 1}
	s.out.All = &all
	return s.judge(&all, wholeCapture)
}

// judge fills in how much of the hardware a stage uses and what bounds it.
func (s *summariser) judge(stage *StageSummary, key string) error {
	use, class := s.use[key], stageClass{}
	if key == wholeCapture {
		stage.Unknown = "the run has no stages whose operations could be counted"
	} else {
		var err error
		if class, err = s.classOf(key); err != nil {
			return err
		}
		stage.MFU, stage.MBU = use.mfu, use.mbu
		switch {
		case use.mfu != nil:
		case use.fault != "":
			stage.Unknown = use.fault
		default:
			stage.Unknown = s.noUsage
		}
	}
	e := evidence{stage: stage.Stage, use: use, class: class, gpus: len(s.parts[key]), isProbe: len(s.bounds) > 0}
	if e.gpus > 0 {
		e.gpu = s.parts[key][0]
	}
	if e.gpu.span > 0 {
		busy := e.gpu.of("busy") / e.gpu.span
		stage.BusyRatio = &busy
	}
	for _, rule := range boundRules {
		if v := rule.apply(e); v != nil {
			stage.Bound, stage.Next, stage.Why, stage.But = v.bound, v.next, v.why, v.but
			break
		}
	}
	if e.gpus > 1 {
		stage.Why = fmt.Sprintf("on GPU %d, whose passes take longest of %d GPUs, %s", e.gpu.device, e.gpus, stage.Why)
	}
	stage.Query = s.command("accounting", "stage", key)
	return nil
}

// typical says how much the GPU works in the median pass, where that is another picture than the mean: passes that load code or compile
// it are long, and few.
func (s *summariser) typical(stage string) string {
	list := slices.Clone(s.passes[stage])
	if len(list) < 3 {
		return ""
	}
	span, busy := 0.0, 0.0
	for _, p := range list {
		span, busy = span+p.span, busy+p.busy
	}
	slices.SortStableFunc(list, byKey(func(p passTime) float64 { return p.span }))
	median := list[(len(list)-1)/2]
	if median.busy/median.span < busyShare || busy/span >= busyShare {
		return ""
	}
	return fmt.Sprintf("in the median pass, of %s, the GPU works %s of the time: a few long passes make this picture, and may be warm-up", durationText(median.span), percentText(median.busy/median.span))
}
