package trend

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/frame"
)

// runRow is what a row of trend and of trend-serving says of its run.
type runRow struct {
	ID          string `col:"run_id"`
	Run         string `col:"run"`
	At          string `col:"at"`
	Commit      string `col:"commit"`
	Branch      string `col:"branch"`
	IsDirty     *bool  `col:"is_dirty"`
	GPU         string `col:"gpu"`
	Driver      string `col:"driver"`
	Host        string `col:"host"`
	ProfVersion string `col:"prof_version"`
	Workload    string `col:"workload"`
}

// stageRow is a stage of a run.
type stageRow struct {
	runRow
	Stage       string   `col:"stage"`
	Value       *float64 `col:"value"`
	Mean        *float64 `col:"mean"`
	Std         *float64 `col:"std"`
	Passes      *int64   `col:"passes"`
	Tool        string   `col:"tool"`
	ToolVersion string   `col:"tool_version"`
	Prompt      *int64   `col:"prompt_token_count"`
	Decode      *int64   `col:"decode_token_count"`
	Sequences   *int64   `col:"sequence_count"`
	IsVarying   *bool    `col:"is_varying"`
}

var stageRows = frame.RowsOf[stageRow]("trend")

// addSeries reads the runs and puts the stages of those together that can be compared.
func (r *Result) addSeries(f *frame.Frame) error {
	rows, err := stageRows.Of(f)
	if err != nil {
		return err
	}
	series := map[string]int{}
	for _, x := range rows {
		at := r.run(x.runRow, x.ToolVersion)
		same := Same{GPU: x.GPU, Tool: x.Tool, Prompt: x.Prompt, Decode: x.Decode, Sequences: x.Sequences, Varying: frame.Or(x.IsVarying, false)}
		key := x.Stage + "\n" + same.key()
		to, known := series[key]
		if !known {
			to = len(r.Series)
			series[key] = to
			r.Series = append(r.Series, Series{Stage: x.Stage, Same: same})
		}
		r.Series[to].Points = append(r.Series[to].Points, Point{Run: at, Value: x.Value, Mean: x.Mean, Std: x.Std, Passes: frame.Or(x.Passes, 0)})
	}
	r.orderSeries(stages)
	return nil
}

// run is the place of the run that a row is of; the rows of a run follow one another.
func (r *Result) run(x runRow, toolVersion string) int {
	if n := len(r.Runs); n > 0 && r.Runs[n-1].ID == x.ID {
		return n - 1
	}
	r.Workload = x.Workload
	r.Runs = append(r.Runs, Run{ID: x.ID, Name: x.Run, At: x.At, Commit: x.Commit, Branch: x.Branch, Dirty: x.IsDirty, Driver: x.Driver, Host: x.Host, ProfVersion: x.ProfVersion, ToolVersion: toolVersion})
	return len(r.Runs) - 1
}

// key tells series of a stage apart.
func (s Same) key() string {
	text := s.GPU + "\n" + s.Tool
	for _, n := range []*int64{s.Prompt, s.Decode, s.Sequences} {
		if n == nil {
			text += "\n-"
		} else {
			text += fmt.Sprintf("\n%d", *n)
		}
	}
	return fmt.Sprintf("%s\n%t", text, s.Varying)
}

// stages come first in this order; others by the alphabet.
var stages = []string{"prefill", "decode"}

// orderSeries sorts by stage, those named first, and of a stage the series with the latest run first, which is marked.
func (r *Result) orderSeries(stages []string) {
	place := func(stage string) int {
		if at := slices.Index(stages, stage); at >= 0 {
			return at
		}
		return len(stages)
	}
	last := func(s Series) int { return s.Points[len(s.Points)-1].Run }
	slices.SortStableFunc(r.Series, func(a, b Series) int {
		return cmp.Or(cmp.Compare(place(a.Stage), place(b.Stage)), cmp.Compare(a.Stage, b.Stage), -cmp.Compare(last(a), last(b)))
	})
	for i := range r.Series {
		r.Series[i].Latest = i == 0 || r.Series[i].Stage != r.Series[i-1].Stage
	}
}

// itemRow is what passes of a stage in a run are made of: one kernel, copy or idle time.
type itemRow struct {
	RunID    string   `col:"run_id"`
	Stage    string   `col:"stage"`
	Kind     string   `col:"kind"`
	Name     string   `col:"name"`
	Ns       *float64 `col:"pass_ns"`
	Launches *float64 `col:"pass_launch_count"`
	Family   string   `col:"family"`
}

var itemRows = frame.RowsOf[itemRow]("trend-work")

// addItems reads what passes are made of. A kernel that a run's passes did not run took 0 of them; of passes without any device work, and
// of idle time without a row, nothing is known.
func (r *Result) addItems(f *frame.Frame) error {
	if f == nil {
		return nil
	}
	rows, err := itemRows.Of(f)
	if err != nil {
		return err
	}
	places := map[[2]string]place{} // by run and stage
	for i, s := range r.Series {
		for j, p := range s.Points {
			places[[2]string{r.Runs[p.Run].ID, s.Stage}] = place{i, j}
		}
	}
	known, some := map[[3]string]int{}, map[place]bool{} // by series, kind and name
	for _, x := range rows {
		at, found := places[[2]string{x.RunID, x.Stage}]
		if !found || x.Kind == idle && (r.Options.Metric == GPUBusy || r.Options.Metric == GPUSum) { // no part of work
			continue
		}
		s := &r.Series[at.series]
		key := [3]string{fmt.Sprint(at.series), x.Kind, x.Name}
		n, seen := known[key]
		if !seen {
			n = len(s.Items)
			known[key] = n
			s.Items = append(s.Items, Item{Kind: x.Kind, Name: x.Name, Family: x.Family, Values: make([]*float64, len(s.Points)), Calls: make([]*float64, len(s.Points))})
		}
		s.Items[n].Values[at.point], s.Items[n].Calls[at.point] = x.Ns, x.Launches
		some[at] = true
	}
	for i := range r.Series {
		r.Series[i].fillAbsent(func(point int) bool { return some[place{i, point}] })
		slices.SortStableFunc(r.Series[i].Items, func(a, b Item) int { return -cmp.Compare(a.most(), b.most()) })
	}
	return nil
}

// place is a point of a series.
type place struct{ series, point int }

// idle is the kind of the item that is no work.
const idle = "idle"

// fillAbsent puts 0 where passes did other work and none of an item.
func (s *Series) fillAbsent(worked func(point int) bool) {
	for _, it := range s.Items {
		for j, v := range it.Values {
			if v == nil && it.Kind != idle && worked(j) {
				it.Values[j], it.Calls[j] = new(float64), new(float64)
			}
		}
	}
}

// most is the largest of its values.
func (it Item) most() float64 {
	most := 0.0
	for _, v := range it.Values {
		if v != nil {
			most = max(most, *v)
		}
	}
	return most
}
