package judge

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"prof/queries/caveat"
	"prof/queries/frame"
	"prof/queries/judge/stats"
	"prof/schema/terms"
)

// The thresholds of doubts.
const (
	// From 5 % on the times of a profiled run are not those of the run alone.
	overheadShare = 0.05
	// A first pass that takes half as long again as the median one did something that the others did not.
	slowFirst = 1.5
	// Steady passes repeat where nine tenths of them are within this share of their median, unless another is asked for.
	Repeatability = 0.1
	// A percent of the time without a reason is worth a word.
	unexplainedShare = 0.01
)

// notWhole returns what the captures did not record: the two gravest things, and where the others are.
func (s *summariser) notWhole() string {
	conservation := s.r.Frame("conservation")
	if conservation == nil {
		return ""
	}
	var texts []string
	for _, l := range Losses(conservation) {
		texts = append(texts, l.Text)
	}
	if len(texts) == 0 {
		return ""
	}
	return strings.Join(texts[:min(len(texts), 2)], "; ") + "; " + s.command("losses")
}

// addDoubts says what the figures are to be read with.
func (s *summariser) addDoubts() error {
	s.out.NotWhole = s.notWhole()
	if s.out.Lacking != "" {
		s.doubt("%s", s.out.Lacking)
	}
	for _, add := range []func() error{s.doubtClocks, s.doubtOverhead, s.doubtPasses, s.doubtTime, s.doubtLost, s.doubtUtilisation} {
		if err := add(); err != nil {
			return err
		}
	}
	return nil
}

func (s *summariser) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.out.Doubts, text) {
		s.out.Doubts = append(s.out.Doubts, text)
	}
}

// doubtClocks is about clocks that were held down: work takes longer than it could, whatever else bounds it.
func (s *summariser) doubtClocks() error {
	list, err := read(s, throttleRows)
	type held struct {
		share   float64
		isKnown bool // whether the GPU was at work
		reason  string
		pass    string // the one in which it was held down most
	}
	worst, order := map[int64]held{}, []int64{}
	for _, r := range list {
		if !frame.Or(r.IsSlowdown, false) || r.BusySamples != nil && *r.BusySamples == 0 {
			continue
		}
		device, share := r.Device, r.BusyShareRatio
		was, is := worst[device]
		if !is {
			order = append(order, device)
		}
		now := held{reason: r.Reason, pass: r.Pass, isKnown: share != nil}
		if share != nil {
			now.share = *share
		}
		if !is || now.share > was.share {
			worst[device] = now
		}
	}
	for _, device := range order {
		in := fmt.Sprintf("%s of the busy samples of recording %s", percentText(worst[device].share), worst[device].pass)
		if !worst[device].isKnown {
			in = "samples of recording " + worst[device].pass + " (whether it was busy is unknown)"
		}
		s.doubt("GPU %d was throttled (%s) in %s: with enough power and cooling times would be shorter; %s", device, worst[device].reason, in, s.command("throttling"))
	}
	if err != nil {
		return err
	}
	return s.doubtShared()
}

// doubtShared is about GPUs that others used at the same time.
func (s *summariser) doubtShared() error {
	list, err := read(s, deviceUseRows)
	for _, r := range list {
		if r.OtherProcessMaxCount > 0 {
			s.doubt("other processes used GPU %d while the workload ran: times are not the workload's alone", r.Device)
		}
	}
	return err
}

// doubtOverhead says how much longer the workload took under the profilers, or that this was not measured. Times under Nsight Compute are
// not used.
func (s *summariser) doubtOverhead() error {
	f := s.r.Frame("overhead")
	if f == nil || len(s.parts) == 0 {
		return nil
	}
	list, err := read(s, OverheadRows)
	staged := stagedOverhead(list)
	isMeasured := false
	for _, r := range list {
		if !r.IsMeasured() || r.Tool == "ncu" {
			continue
		}
		isMeasured = true
		what := "the whole workload"
		if r.Stage != "" {
			what = "a pass of " + r.Stage
		} else if staged[recorded{r.Tool, r.Mode}] {
			continue
		}
		tool := fmt.Sprintf("%s (%s)", terms.SourceLabel(r.Tool), r.Mode)
		switch ratio := r.OverheadRatio; {
		case ratio == nil && r.NoiseRatio != nil && *r.NoiseRatio >= overheadShare:
			s.doubt("profiling overhead: how much longer %s takes under %s is not measurable, since recordings differ by up to %s by chance", what, tool, shareText(*r.NoiseRatio))
		case ratio == nil:
		case *ratio >= overheadShare:
			s.doubt("profiling overhead: under %s %s took %s longer than without a profiler, mostly in launches", tool, what, percentText(*ratio))
		case *ratio <= -overheadShare:
			s.doubt("under %s %s took %s less time than without a profiler: recordings differ by more than the profiling overhead", tool, what, percentText(-*ratio))
		}
	}
	if !isMeasured {
		why := strings.Join(f.Notes, "; ")
		if why == "" {
			why = "no recording without a profiler succeeded"
		}
		s.doubt("profiling overhead was not measured: %s", why)
	}
	return err
}

// doubtPasses is about stages of few or unlike passes: first what the figures have in them, then what they leave out, of each the dearest first.
func (s *summariser) doubtPasses() error {
	type doubted struct {
		ns   float64
		text string
	}
	var held, left []doubted
	if f := s.r.Frame("stages"); f != nil {
		for _, c := range f.Caveats {
			if c.Kind == "earlier-window" || c.Kind == "processes-share-gpu" {
				s.doubt("%s", c.Text)
			}
		}
	}
	for _, stage := range s.out.Stages {
		name := stageText(stage.Stage)
		for _, c := range s.r.Frame("stages").Caveats {
			if (c.Kind == "cold-passes" || c.Kind == "other-work" || c.Kind == "unseen-work" || c.Kind == "idle-between-steps") && c.Stage == stage.Stage {
				list := &held
				if c.Kind == "cold-passes" {
					list = &left
				}
				*list = append(*list, doubted{c.TimeNs, c.Text})
			}
		}
		doubt := func(format string, args ...any) {
			held = append(held, doubted{stage.MaxNs - stage.MedianNs, fmt.Sprintf(format, args...)})
		}
		own, err := s.passesOn(stage.Stage, stage.Device)
		if err != nil {
			return err
		}
		first := slowStart(own)
		if every := s.apart(stage.Stage); !stage.IsCPU && every > (1+s.within())*stage.MedianNs {
			s.doubt("passes of %s begin %s apart (median), and their work on the GPU takes %s of that: what the CPU does between is in no pass; %s", name, DurationText(every), DurationText(stage.MedianNs), s.command("gaps", "stage", stage.Stage, "place", "between-passes"))
		}
		if text := s.unlikeRepeats(stage); text != "" {
			doubt("%s", text)
		}
		switch {
		case stage.Passes == 1:
			doubt("%s was measured once: its spread is unknown", name)
		case !s.isRepeatable(stage):
			if first != "" {
				first = "; the first measured one " + first
			}
			if did := caveat.LongestDid(s.r.Frame("stages").Caveats, stage.Stage); did != "" {
				first += "; " + did
			}
			doubt("the passes of %s vary by more than %s: %s to %s, median %s%s; %s", name, percentText(s.within()), DurationText(stage.MinNs), DurationText(stage.MaxNs), DurationText(stage.MedianNs), first, s.command("passes", "stage", stage.Stage))
			first = ""
		case stage.Passes == 2:
			doubt("%s was measured twice: two passes do not show its spread", name)
		}
		if stage.Workless > 0 && s.out.NotWhole == "" {
			doubt("the GPU time of %s is the mean over %d of its %d passes: the others have no GPU work", name, stage.Passes, stage.Passes+stage.Workless)
		}
		if first != "" {
			doubt("the first measured pass of %s %s", name, first)
		}
	}
	for _, list := range [][]doubted{held, left} {
		slices.SortStableFunc(list, func(x, y doubted) int { return cmp.Compare(y.ns, x.ns) })
		for _, d := range list {
			s.doubt("%s", d.text)
		}
	}
	return nil
}

func (s *summariser) within() float64 { return cmp.Or(s.r.Within, Repeatability) }

// unlikeRepeats says that the runs of the workload that a capture made do not repeat, by the median pass of each; "" where they do, or it made one.
func (s *summariser) unlikeRepeats(stage StageSummary) string {
	of := map[int64][]float64{}
	for _, p := range s.passes[stage.Stage] {
		of[p.repeat] = append(of[p.repeat], p.span)
	}
	if len(of) < 2 || stage.IsCPU {
		return ""
	}
	var medians []float64
	for _, repeat := range slices.Sorted(maps.Keys(of)) {
		medians = append(medians, stats.Centre(of[repeat]))
	}
	centre, least, most := stats.Centre(medians), slices.Min(medians), slices.Max(medians)
	if max(most-centre, centre-least) <= s.within()*centre {
		return ""
	}
	return fmt.Sprintf("the %d repeats of %s vary by more than %s: their medians are %s to %s", len(medians), stageText(stage.Stage), percentText(s.within()), DurationText(least), DurationText(most))
}

// isRepeatable reports whether nine tenths of a stage's passes are close to their median; of fewer than ten passes all must be.
func (s *summariser) isRepeatable(stage StageSummary) bool {
	limit, far := s.within()*stage.MedianNs, 0
	if list := s.passes[stage.Stage]; !stage.IsCPU && len(list) >= 10 {
		for _, p := range list {
			if math.Abs(p.span-stage.MedianNs) > limit {
				far++
			}
		}
		return 10*far <= len(list)
	}
	return max(stage.MaxNs-stage.MedianNs, stage.MedianNs-stage.MinNs) <= limit
}

// doubtTime is about time that has no reason or no stage.
func (s *summariser) doubtTime() error {
	stages := []string{}
	for _, stage := range s.out.Stages {
		stages = append(stages, stage.Stage)
	}
	if s.out.All != nil {
		stages = []string{wholeCapture}
		if s.out.Timeless != "" {
			s.doubt("the scopes of %s have no times: figures cover the whole capture, maybe with loading and warm-up; %s", s.out.Timeless, s.command("stage-kernels"))
		} else if len(s.out.WarmOnly) > 0 {
			s.doubt("no stage has a measured pass: figures cover the whole capture, loading and warm-up included")
		} else {
			s.doubt("no range of the capture is named as a stage: figures cover the whole capture, maybe with loading and warm-up")
		}
	}
	if len(s.parts) == 0 && s.r.Frame("accounting") != nil && s.out.Lacking == "" {
		s.doubt("the run has no timeline with GPU work: times within the workload are unknown")
	}
	for _, stage := range stages {
		if len(s.parts[stage]) == 0 {
			continue
		}
		gpu := s.parts[stage][0]
		for _, why := range [][2]string{{"unknown", "before work whose launch was not captured: the cause is unknown"}, {"profiler", "while the profiler worked"}} {
			if ns := gpu.of(why[0]); ns >= unexplainedShare*gpu.span {
				s.doubt("for %s of the time of %s, GPU %d was idle %s", percentText(ns/gpu.span), strings.Replace(stage, wholeCapture, "the capture", 1), gpu.device, why[1])
			}
		}
	}
	return nil
}

// doubtUtilisation returns why MFU is not known, and what is wrong with that which is.
func (s *summariser) doubtUtilisation() error {
	if len(s.out.Stages) == 0 || s.r.Frame("mfu") == nil {
		return nil
	}
	isKnown := s.doubtOver("MFU", "the model as a whole", s.use["model"].mfu)
	s.doubtOver("MBU", "the model as a whole", s.use["model"].mbu)
	for _, stage := range s.out.Stages {
		isKnown = s.doubtOver("MFU", stage.Stage, stage.MFU) || isKnown
		s.doubtOver("MBU", stage.Stage, stage.MBU)
	}
	if !isKnown {
		s.doubt("MFU is unknown: %s", s.out.Stages[0].Unknown)
		return nil
	}
	for _, note := range s.utilisationNotes() {
		s.doubt("MFU and MBU: %s", note)
	}
	return nil
}

// doubtOver doubts a utilisation of more than all; it reports whether there is one.
func (s *summariser) doubtOver(name, stage string, ratio *float64) bool {
	if ratio != nil && *ratio > 1 {
		s.doubt("%s of %s is %s: over 100 %% means that an input is wrong (tokens, model, peak or precision)", name, stage, percentText(*ratio))
	}
	return ratio != nil
}
