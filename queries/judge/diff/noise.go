package diff

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/diff/conditions"
	"prof/queries/judge/stats"
	"prof/schema/say"
)

// noiseRow is what a stage took in one process of a run of the same thing: a row of run-noise.
type noiseRow struct {
	Group  string   `col:"group_name"`
	RunID  string   `col:"run_id"`
	Repeat int64    `col:"repeat"`
	Stage  string   `col:"stage"`
	Span   *float64 `col:"gpu_span_ns"`
	Busy   *float64 `col:"gpu_busy_ns"`
	Sum    *float64 `col:"gpu_sum_ns"`
	CPU    *float64 `col:"cpu_ns"`

	Interval *float64 `col:"interval_ns"`
}

// metric returns a metric by name; nil where nothing is known of it.
func (r noiseRow) metric(name string) *float64 {
	return map[string]*float64{spanMetric: r.Span, busyMetric: r.Busy, sumMetric: r.Sum, "cpu_ns": r.CPU, intervalMetric: r.Interval}[name]
}

var (
	noiseRows   = frame.RowsOf[noiseRow]("run-noise")
	processRows = frame.RowsOf[processTime]("process-noise")
)

// askEach asks one of the runs of each key, which returns "" of those that are not asked, and returns the rows of all answers.
func askEach[T any](ctx context.Context, asker frame.Asker, rows frame.Rows[T], runs []conditions.Run, key func(conditions.Run) string) (out []T, sources []Source, err error) {
	var list []frame.Question
	asked := map[string]bool{"": true}
	for _, r := range runs {
		if k := key(r); !asked[k] {
			asked[k] = true
			list = append(list, frame.Question{Query: rows.Query, Args: frame.Args{"run": r.ID}, Notes: frame.RowsOnly})
		}
	}
	frames, err := asker.AskAll(ctx, list)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range frames {
		sources = append(sources, sourceOf("", f))
	}
	out, err = rows.Of(frames...)
	return out, sources, err
}

// History is how much processes of the same workload on the same machine vary in one metric of a stage, by what the warehouse holds of
// them.
type History struct {
	Noise     *stats.Noise // nil where no two processes are of the same thing
	Processes int          // runs, or repeats within runs, that it was learned from
	Commits   int          // of their code
}

// learnHistory returns how much processes vary by themselves, but those of the runs in without: what is compared is no witness of its own noise. A
// stage "" is all device work of runs without stages. A run that prof captured with repeats is as many processes, each with the median of its passes.
func learnHistory(rows []noiseRow, stage, metric string, alpha float64, without ...string) History {
	return learn(tookOf(rows, stage, metric), alpha, without...)
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
func tookOf(rows []noiseRow, stage, metric string) map[string]map[string][]float64 {
	out := map[string]map[string][]float64{}
	type sample struct {
		id     string
		repeat int64
	}
	seen := map[sample]bool{}
	for _, r := range rows {
		v, s := r.metric(metric), sample{r.RunID, r.Repeat}
		if r.Stage != stage || v == nil || *v <= 0 || seen[s] {
			continue
		}
		seen[s] = true
		if out[r.Group] == nil {
			out[r.Group] = map[string][]float64{}
		}
		out[r.Group][r.RunID] = append(out[r.Group][r.RunID], *v)
	}
	return out
}

// Words returns what the history tells, for a note; "" where it tells nothing.
func (h History) Words() string {
	if h.Noise == nil {
		return ""
	}
	return fmt.Sprintf("noise between processes of this workload on this machine: up to %s (from %s of %s)", h.floor(), say.Count(int64(h.Processes), "process", "processes"), say.Count(int64(h.Commits), "commit", "commits"))
}

func (h History) floor() string {
	if h.Noise.Floor >= 1 {
		return fmt.Sprintf("a factor of %.2g", 1+h.Noise.Floor)
	}
	return fmt.Sprintf("%.2g %%", 100*h.Noise.Floor)
}

// surroundings are what is known of the runs beside their work.
type surroundings struct {
	differences []conditions.Difference
	history     []noiseRow    // what runs of the same things took
	processes   []processTime // what repeats of any workload on these machines took
	compared    []string      // ids of the runs of both sides
	sides       [2][]string   // and of each
	alpha       float64
	sources     []Source
}

// surround asks what differs between the sides, and how much runs of the same things vary.
func surround(ctx context.Context, asker frame.Asker, a, b Side, o Options) (surroundings, error) {
	s := surroundings{alpha: o.Stats.Alpha, sides: [2][]string{a.ids(), b.ids()}}
	s.compared = slices.Concat(s.sides[0], s.sides[1])
	runs, f, err := conditions.Load(ctx, asker, s.compared)
	if err != nil || len(runs) == 0 {
		return s, err
	}
	s.sources = []Source{sourceOf("", f)}
	s.differences = conditions.Differences(runs[:len(a.Runs)], runs[len(a.Runs):])
	var sources [2][]Source
	machine := func(r conditions.Run) string { return r.Value("host") + "\n" + r.Value("GPU") }
	s.history, sources[0], err = askEach(ctx, asker, noiseRows, runs, func(r conditions.Run) string {
		if workload := r.Value("workload key"); workload != "" {
			return workload + "\n" + machine(r)
		}
		return "" // it has no history
	})
	if err == nil {
		s.processes, sources[1], err = askEach(ctx, asker, processRows, runs, machine)
	}
	if err != nil {
		return s, fmt.Errorf("read what earlier runs took: %w", err)
	}
	s.sources = slices.Concat(s.sources, sources[0], sources[1])
	return s, nil
}

// noise is how much runs of the same thing vary in a metric of a stage; nil when nothing tells.
func (s surroundings) noise(stage, metric string) *stats.Noise {
	return learnHistory(s.history, stage, metric, s.alpha, s.compared...).Noise
}

// noiseNote returns what is known of a stage's noise; "" for nothing.
func (s surroundings) noiseNote(stage *stagePair, metric string) string {
	h := learnHistory(s.history, stage.name, metric, s.alpha, s.compared...)
	if h.Noise == nil || !h.Noise.Assumed && h.Noise.DF < leastFreedom { // nothing is judged by it
		return ""
	}
	return fmt.Sprintf("%s, %s: %s", stageName(stage.name), metric, h.Words())
}
