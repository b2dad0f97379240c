package diff

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/stats"
)

// LoadHistory asks what runs of the same workloads on the same machines took, once for each workload and machine among the runs. Runs of
// which no workload is known have no history.
func LoadHistory(ctx context.Context, asker frame.Asker, runs ...[]Conditions) ([]*frame.Frame, error) {
	var list []frame.Question
	asked := map[[3]string]bool{}
	for _, c := range slices.Concat(runs...) {
		key := [3]string{c.value("workload key"), c.value("host"), c.value("GPU")}
		if key[0] == "" || asked[key] {
			continue
		}
		asked[key] = true
		list = append(list, frame.Question{Query: "run-noise", Args: frame.Args{"run": c.Run.ID}, Notes: frame.RowsOnly})
	}
	frames, err := asker.AskAll(ctx, list)
	if err != nil {
		return nil, fmt.Errorf("read what runs of the same workload took: %w", err)
	}
	return frames, nil
}

// History is how much processes of the same workload on the same machine vary in one metric of a stage, by what the warehouse holds of
// them.
type History struct {
	Noise     *stats.Noise // nil where no two processes are of the same thing
	Processes int          // runs, or repeats within runs, that it was learned from
	Commits   int          // of their code
}

// LearnHistory tells how much processes vary by themselves, from answers of run-noise, but those of the runs in without: what is compared
// is no witness of its own noise. A stage "" is all device work of runs without stages. A run that prof captured with repeats is as many
// processes, and run-noise gives each the median of its passes. A metric that run-noise has no column of is not known.
func LearnHistory(frames []*frame.Frame, stage, metric string, alpha float64, without ...string) History {
	return learn(tookOf(frames, stage, metric), alpha, without...)
}

// learn finds how much values vary within their groups: took has those of each group by run.
func learn(took map[string]map[string][]float64, alpha float64, without ...string) History {
	var h History
	var groups [][]float64
	commits := map[string]bool{}
	for _, group := range slices.Sorted(maps.Keys(took)) {
		var values []float64
		for _, id := range slices.Sorted(maps.Keys(took[group])) {
			if !slices.Contains(without, id) {
				values = append(values, took[group][id]...)
			}
		}
		if len(values) > 1 {
			commit, _, _ := strings.Cut(group, ",")
			groups, commits[commit] = append(groups, values), true
			h.Processes += len(values)
		}
	}
	h.Noise, h.Commits = stats.LearnNoise(groups, alpha), len(commits)
	if h.Noise == nil {
		return History{}
	}
	return h
}

// tookOf returns the values of a metric by group and run, those of a run by repeat. A run that several answers hold counts once.
func tookOf(frames []*frame.Frame, stage, metric string) map[string]map[string][]float64 {
	out := map[string]map[string][]float64{}
	type sample struct {
		id     string
		repeat int64
	}
	seen := map[sample]bool{}
	for _, f := range frames {
		group, id, repeat, name, value := f.Index("group_name"), f.Index("run_id"), f.Index("repeat"), f.Index("stage"), f.Index(metric)
		if group < 0 || id < 0 || repeat < 0 || name < 0 || value < 0 {
			continue
		}
		for _, r := range f.Rows {
			of, _ := r[name].(string) // NULL: all device work
			v, known := r[value].(float64)
			s := sample{fmt.Sprint(r[id]), 0}
			s.repeat, _ = r[repeat].(int64)
			if of != stage || !known || math.IsNaN(v) || v <= 0 || seen[s] {
				continue
			}
			seen[s] = true
			g := fmt.Sprint(r[group])
			if out[g] == nil {
				out[g] = map[string][]float64{}
			}
			out[g][s.id] = append(out[g][s.id], v)
		}
	}
	return out
}

// Words says what the history tells, for a note; "" where it tells nothing.
func (h History) Words() string {
	if h.Noise == nil {
		return ""
	}
	return fmt.Sprintf("noise between processes of this workload on this machine: up to %s (from %s of %s)", h.floor(), countText(int64(h.Processes), "process", "processes"), countText(int64(h.Commits), "commit", "commits"))
}

func (h History) floor() string {
	if h.Noise.Floor >= 1 {
		return fmt.Sprintf("a factor of %.2g", 1+h.Noise.Floor)
	}
	return fmt.Sprintf("%.2g %%", 100*h.Noise.Floor)
}

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
