package diff

import (
	"fmt"
	"math"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/stats"
	"prof/schema/say"
)

// processTime is what a stage took in one process on the machine of a side: a row of process-noise.
type processTime struct {
	Run     string   `col:"run_id"`
	Stage   string   `col:"stage"`
	Tool    string   `col:"tool"` // none without a profiler
	Time    float64  `col:"time_ns"`
	Busy    *float64 `col:"busy_ns"`
	Kernels *float64 `col:"kernel_count"`
}

func (p processTime) isProfiled() bool { return p.Tool != "none" }

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
		if !p.isProfiled() && p.Stage == stage && slices.Contains(runs, p.Run) {
			out = append(out, p.Time)
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
	o.Noise = o.Noise.Over(s.alone(spanFigure))
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
		if !p.isProfiled() || p.Busy == nil || *p.Busy <= 0 || p.Time <= *p.Busy || slices.Contains(k.compared, p.Run) {
			continue
		}
		key := [2]string{p.Run, p.Stage}
		g := groups[key]
		if g == nil {
			g = &group{}
			groups[key], names = g, append(names, key)
		}
		idle := p.Time - *p.Busy
		g.logs = append(g.logs, math.Log(p.Time))
		g.idle, g.hosted = append(g.idle, idle/p.Time), append(g.hosted, hostedShare(idle, frame.Or(p.Kernels, 0))) // graphs that were traced whole are launched at once
	}
	squares, weight, df, processes := 0.0, 0.0, 0, 0
	for _, name := range names {
		g := groups[name]
		share := hostShare(stats.Centre(g.idle), stats.Centre(g.hosted))
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
	return stats.Noise{SD: math.Sqrt(squares / weight), DF: df, From: fmt.Sprintf("%s of other workloads on this machine", say.Count(int64(processes), "process", "processes"))}
}
