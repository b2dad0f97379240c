package diff

import (
	"context"
	"fmt"
	"slices"

	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// surroundings are what is known of the runs beside their work.
type surroundings struct {
	differences []Difference
	history     []*frame.Frame // what runs of the same things took
	processes   []processTime  // what repeats of any workload on these machines took
	compared    []string       // ids of the runs of both sides
	sides       [2][]string    // and of each
	alpha       float64
	sources     []Source
}

// surround asks what differs between the sides, and how much runs of the same things vary unless the caller says.
func surround(ctx context.Context, asker frame.Asker, a, b Side, o Options) (surroundings, error) {
	s := surroundings{alpha: o.Stats.Alpha}
	var sides [2][]Conditions
	both, err := LoadConditions(ctx, asker, slices.Concat(a.Runs, b.Runs))
	if err != nil {
		return s, err
	}
	sides[0], sides[1] = both[:len(a.Runs)], both[len(a.Runs):]
	for i, side := range sides {
		for _, c := range side {
			s.sides[i] = append(s.sides[i], c.Run.ID)
		}
	}
	s.compared = slices.Concat(s.sides[0], s.sides[1])
	if len(both) > 0 { // one statement tells of all
		from := both[0].From
		from.Run = ""
		s.sources = append(s.sources, from)
	}
	s.differences = Differences(sides[0], sides[1])
	if o.Stats.Noise != nil {
		return s, nil
	}
	s.history, err = LoadHistory(ctx, asker, sides[0], sides[1])
	for _, f := range s.history {
		s.sources = append(s.sources, sourceOf("", f))
	}
	if err != nil {
		return s, err
	}
	frames, err := loadProcesses(ctx, asker, sides[0], sides[1])
	for _, f := range frames {
		s.sources = append(s.sources, sourceOf("", f))
	}
	if err == nil {
		s.processes, err = readProcesses(frames)
	}
	return s, err
}

// noise is how much runs of the same thing vary in a metric of a stage; nil when nothing tells.
func (s surroundings) noise(stage, metric string) *stats.Noise {
	return LearnHistory(s.history, stage, metric, s.alpha, s.compared...).Noise
}

// expected says in words what the differences between the sides explain of a stage's change.
func (s surroundings) expected(stage string) string { return Expected(s.differences, stage) }

// noiseNote says what is known of a stage's noise; "" for nothing.
func (s surroundings) noiseNote(stage *stagePair, metric string) string {
	h := LearnHistory(s.history, stage.name, metric, s.alpha, s.compared...)
	if h.Noise == nil || !h.Noise.Assumed && h.Noise.DF < leastFreedom { // nothing is judged by it
		return ""
	}
	return fmt.Sprintf("%s, %s: %s", stageName(stage.name), metric, h.Words())
}
