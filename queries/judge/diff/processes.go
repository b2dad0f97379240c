package diff

import (
	"context"
	"fmt"
	"math"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// processTime is what a stage took in one process on the machine of a side, by process-noise.
type processTime struct {
	run, stage string
	isProfiled bool
	time, busy float64 // ns; busy is 0 where it is not known
	kernels    float64 // 0 where they are not known
}

// loadProcesses asks what repeats on the machines of the runs took, once for each machine.
func loadProcesses(ctx context.Context, asker frame.Asker, runs ...[]Conditions) ([]*frame.Frame, error) {
	var list []frame.Question
	asked := map[[2]string]bool{}
	for _, c := range slices.Concat(runs...) {
		key := [2]string{c.value("host"), c.value("GPU")}
		if asked[key] {
			continue
		}
		asked[key] = true
		list = append(list, frame.Question{Query: "process-noise", Args: frame.Args{"run": c.Run.ID}, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, list)
	if err != nil {
		return nil, fmt.Errorf("read what processes on the machine took: %w", err)
	}
	return frames, nil
}

func readProcesses(frames []*frame.Frame) ([]processTime, error) {
	var out []processTime
	for _, f := range frames {
		t := table{f: f}
		for t.next() {
			p := processTime{run: t.text("run_id"), stage: t.text("stage"), isProfiled: t.text("tool") != "none"}
			for name, to := range map[string]*float64{"time_ns": &p.time, "busy_ns": &p.busy, "kernel_count": &p.kernels} {
				if v := t.amount(name); v != nil {
					*to = *v
				}
			}
			out = append(out, p)
		}
		if t.err != nil {
			return nil, t.err
		}
	}
	return out, nil
}

// learn tells the stages how much processes differ on their machine, where its runs say, and what they take without a profiler.
func (c *comparer) learn(known surroundings) {
	host := known.hostNoise()
	for _, s := range c.stages {
		s.host = host
		for i, side := range known.sides {
			s.unprofiled[i] = known.unprofiled(s.name, side)
		}
	}
}

// unprofiled are the times of a stage in the recordings without a profiler of some runs.
func (k surroundings) unprofiled(stage string, runs []string) (out []float64) {
	for _, p := range k.processes {
		if !p.isProfiled && p.stage == stage && slices.Contains(runs, p.run) {
			out = append(out, p.time)
		}
	}
	return out
}

// leastUnprofiled are the recordings without a profiler that a side needs to be compared by them.
const leastUnprofiled = 2

// judgeUnprofiled compares the recordings without a profiler: what the program takes, not what the profiler makes of it. They show their own noise; under a
// profiler processes were seen to differ more than twice as much.
func (s *stagePair) judgeUnprofiled(o stats.Options, among int) *Metric {
	a, b := s.unprofiled[0], s.unprofiled[1]
	if min(len(a), len(b)) < leastUnprofiled || !s.compares() || s.unit != PerPass { // of other tokens it is other work
		return nil
	}
	o.Comparisons = among
	if o.Noise == nil {
		o.Noise = s.alone(spanFigure)
	}
	return &Metric{Name: aloneMetric, Unit: "ns", LessIsBetter: true, Comparison: stats.CompareRuns(a, b, o)}
}

// leastHosted is the part of a stage's time that the host must say for the stage to tell of it.
const leastHosted = 0.3

// hostNoise is how much processes of other workloads on the machine differ where the host bounds them: what their stages differ by, each by its share of
// that. What is assumed where they are too few.
func (k surroundings) hostNoise() stats.Noise {
	type group struct{ logs, idle, hosted []float64 }
	groups := map[[2]string]*group{}
	var names [][2]string
	for _, p := range k.processes {
		if !p.isProfiled || p.busy <= 0 || p.time <= p.busy || slices.Contains(k.compared, p.run) {
			continue
		}
		key := [2]string{p.run, p.stage}
		g := groups[key]
		if g == nil {
			g = &group{}
			groups[key], names = g, append(names, key)
		}
		g.logs = append(g.logs, math.Log(p.time))
		g.idle, g.hosted = append(g.idle, 1-p.busy/p.time), append(g.hosted, hostedShare(p.time-p.busy, p.kernels))
	}
	squares, weight, df, processes := 0.0, 0.0, 0, 0
	for _, name := range names {
		g := groups[name]
		share := hostShare(median(g.idle), median(g.hosted))
		if len(g.logs) < 2 || share < leastHosted {
			continue
		}
		sd := *std(g.logs)
		free := len(g.logs) - 1
		squares, weight = squares+sd*sd*float64(free), weight+share*share*float64(free)
		df, processes = df+free, processes+len(g.logs)
	}
	if df < leastFreedom || squares == 0 {
		return assumedHost
	}
	return stats.Noise{SD: math.Sqrt(squares / weight), DF: df, From: fmt.Sprintf("%s of other workloads on this machine", countText(int64(processes), "process", "processes"))}
}
