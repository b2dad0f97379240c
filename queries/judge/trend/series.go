package trend

import (
	"cmp"
	"fmt"
	"slices"

	"prof/queries/frame"
)

// addSeries reads the runs and puts the stages of those together that can be compared.
func (r *Result) addSeries(f *frame.Frame) error {
	if err := needs(f, "run", "stage", "value", "mean", "std", "passes", "at", "commit", "branch", "is_dirty", "gpu", "driver", "tool", "tool_version", "prompt_token_count",
		"decode_token_count", "sequence_count", "is_varying", "host", "prof_version", "workload", "run_id"); err != nil {
		return err
	}
	series := map[string]int{}
	for _, cells := range f.Rows {
		x := f.Record(cells)
		at := r.run(x)
		same := Same{GPU: x.Text("gpu"), Tool: x.Text("tool"), Prompt: x.Whole("prompt_token_count"), Decode: x.Whole("decode_token_count"), Sequences: x.Whole("sequence_count"),
			Varying: *cmp.Or(x.Flag("is_varying"), new(bool))}
		key := x.Text("stage") + "\n" + same.key()
		to, known := series[key]
		if !known {
			to = len(r.Series)
			series[key] = to
			r.Series = append(r.Series, Series{Stage: x.Text("stage"), Same: same})
		}
		p := Point{Run: at, Value: x.Number("value"), Mean: x.Number("mean"), Std: x.Number("std")}
		if n := x.Whole("passes"); n != nil {
			p.Passes = *n
		}
		r.Series[to].Points = append(r.Series[to].Points, p)
	}
	r.orderSeries(stages)
	return nil
}

// run is the place of the run that a row is of; the rows of a run follow one another.
func (r *Result) run(x frame.Record) int {
	if n := len(r.Runs); n > 0 && r.Runs[n-1].ID == x.Text("run_id") {
		return n - 1
	}
	r.Workload = x.Text("workload")
	run := Run{ID: x.Text("run_id"), Name: x.Text("run"), At: x.Text("at"), Commit: x.Text("commit"), Branch: x.Text("branch"), Dirty: x.Flag("is_dirty"),
		Driver: x.Text("driver"), Host: x.Text("host"), ProfVersion: x.Text("prof_version")}
	if x.Has("tool_version") {
		run.ToolVersion = x.Text("tool_version")
	}
	r.Runs = append(r.Runs, run)
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

// addItems reads what passes are made of. A kernel that a run's passes did not run took 0 of them; of passes without any device work, and
// of idle time without a row, nothing is known.
func (r *Result) addItems(f *frame.Frame) error {
	if f == nil {
		return nil
	}
	if err := needs(f, "run_id", "stage", "kind", "name", "pass_ns", "pass_launch_count", "family"); err != nil {
		return err
	}
	places := map[[2]string]place{} // by run and stage
	for i, s := range r.Series {
		for j, p := range s.Points {
			places[[2]string{r.Runs[p.Run].ID, s.Stage}] = place{i, j}
		}
	}
	known, some := map[[3]string]int{}, map[place]bool{} // by series, kind and name
	for _, cells := range f.Rows {
		x := f.Record(cells)
		at, found := places[[2]string{x.Text("run_id"), x.Text("stage")}]
		if !found || x.Text("kind") == idle && (r.Options.Metric == GPUBusy || r.Options.Metric == GPUSum) { // no part of work
			continue
		}
		s := &r.Series[at.series]
		key := [3]string{fmt.Sprint(at.series), x.Text("kind"), x.Text("name")}
		n, seen := known[key]
		if !seen {
			n = len(s.Items)
			known[key] = n
			s.Items = append(s.Items, Item{Kind: x.Text("kind"), Name: x.Text("name"), Family: x.Text("family"), Values: make([]*float64, len(s.Points)),
				Calls: make([]*float64, len(s.Points))})
		}
		s.Items[n].Values[at.point] = x.Number("pass_ns")
		s.Items[n].Calls[at.point] = x.Number("pass_launch_count")
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
