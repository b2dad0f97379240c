package compare

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/trend"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// TrendOptions say where the output goes and how much of it is wanted.
type TrendOptions struct {
	typeset.Options
	Last    int    // runs that tables of table and md show at most, the latest; 0 for all
	Command string // command line of the workload; "" when not known
}

// TrendForms lists the ways to write the trend of a workload, the default one first. To add one of its own, write its function and add a value here.
func TrendForms() typeset.Forms[*trend.Result, TrendOptions] {
	return doc.Forms("a line a stage, what changed, the latest runs", trendDocument, func(o TrendOptions) typeset.Options { return o.Options },
		typeset.Form[*trend.Result, TrendOptions]{Name: "csv", Ending: ".csv", Doc: "every run and stage in base units and full precision, one header", Write: TrendCSV},
		typeset.Form[*trend.Result, TrendOptions]{Name: "json", Ending: ".json", Doc: "all that is known of the trend, in base units and full precision; null is not known", Write: TrendJSON})
}

// How much of a trend a terminal shows.
const (
	sparkCells  = 48
	leastSpark  = 12
	seriesSaid  = 8  // series with a line each
	changesSaid = 12 // changes, the latest
)

// trendDocument returns what is followed, a line for each stage, what changed, oldest first, and the latest runs as rows, newest last.
func trendDocument(r *trend.Result, o TrendOptions) []doc.Document {
	of := "stage"
	if r.Options.Metric.IsServing() {
		of = "load"
	}
	series := table.Table{Columns: []table.Column{
		{Title: of, Full: true, Least: typeset.ShortText, Keep: 9},
		{Title: "oldest first", Code: true, Full: true, Keep: 7, Least: leastSpark, Most: min(sparkCells, mostPoints(r.Series)), Draw: func(row, to int) string { return sparkline(pointValues(r.Series[row]), to) }},
		{Title: "level now", Right: true, Keep: 8}, {Title: "state", Full: true, Least: leastSpark, Keep: 9},
	}}
	for i, s := range r.Series {
		series.AddRow(words.SeriesLabel(r, i), sparkline(pointValues(s), sparkCells), words.LevelNow(r, i), words.StateWords(r, i))
	}
	var changes doc.Block = doc.Text(words.NoChanges(r))
	if len(r.Changes) > 0 {
		changes = doc.List{Ordered: true, Last: changesSaid, Items: typeset.Each(r.Changes, func(c trend.Change) doc.Item {
			item := doc.Item{Text: words.ChangeHeadline(r, c), Tone: changeTone(c)}
			for _, text := range []string{words.ChangeMoved(r, c), words.ChangeDiffers(c)} {
				if text != "" {
					item.Under = append(item.Under, text)
				}
			}
			return item
		})}
	}
	runs, left := trendFrame(r, o.Last)
	runs.Notes = words.TrendNotes(r, left)
	newest := newestRuns(r)
	newest.Notes = words.TrendNotes(r, 0)
	return []doc.Document{{Title: trendTitle(r, o), Blocks: []doc.Block{
		doc.Facts(trendFacts(r, o)),
		doc.Either{Page: []doc.Block{trendPlots(r)}, Other: []doc.Block{doc.Table{Of: series, Most: seriesSaid, Rest: func(left int) string {
			return fmt.Sprintf("and %s more: --format json or html has them", typeset.Plural(int64(left), "series", "series"))
		}}}},
		doc.Section{Title: "changes of level", Blocks: []doc.Block{changes}},
		doc.Either{
			Page: []doc.Block{doc.Section{Title: "runs, newest first", Brief: "runs", Blocks: []doc.Block{doc.Rows{Frame: newest}, doc.SQL{Queries: typeset.Each(r.Queries, func(q trend.Source) doc.Query {
				return doc.Query{Name: typeset.Neutral(q.Query), SQL: typeset.Whole(q.SQL)}
			})}}}},
			Other: []doc.Block{doc.Section{Title: "runs", Blocks: []doc.Block{doc.Rows{Frame: runs}}}},
		},
	}}}
}

func trendTitle(r *trend.Result, o TrendOptions) string {
	return "Trend of " + typeset.Shorten(typeset.Neutral(cmp.Or(o.Command, r.Workload)), typeset.LongName, 60)
}

// changeTone is the colour of a change.
func changeTone(c trend.Change) typeset.Tone {
	if c.Suspect {
		return typeset.ToneUnsure
	}
	return typeset.Tone(c.Verdict)
}

// mostPoints is how many points the longest series has.
func mostPoints(list []trend.Series) int {
	most := 0
	for _, s := range list {
		most = max(most, len(s.Points))
	}
	return most
}

// TrendCSV writes a row for each run and stage: the columns run, stage, the metric under its own name, change (change, suspect or empty),
// effect_ratio, level and what the run is. What is not known is an empty field.
func TrendCSV(w io.Writer, r *trend.Result, o TrendOptions) error {
	return table.CSV(w, r.Frame(), o.Options)
}

// trendFacts say what is followed.
func trendFacts(r *trend.Result, o TrendOptions) [][2]string {
	facts := [][2]string{{"workload", typeset.Neutral(r.Workload)}}
	if o.Command != "" && o.Command != r.Workload {
		facts = append(facts, [2]string{"command", typeset.Neutral(o.Command)})
	}
	first, last := r.Runs[0], r.Runs[len(r.Runs)-1]
	when := fmt.Sprintf("%s, %s", typeset.Plural(int64(len(r.Runs)), "run", "runs"), typeset.Minute(first.At))
	if typeset.Minute(last.At) != typeset.Minute(first.At) {
		when += " to " + typeset.Minute(last.At)
	}
	facts = append(facts, [2]string{"runs", when + " UTC"})
	if len(r.Options.Tags) > 0 {
		facts = append(facts, [2]string{"tags", typeset.Neutral(strings.Join(r.Options.Tags, ", "))})
	}
	return append(facts, [2]string{"shown", words.TrendMetric(r.Options.Metric)})
}

// trendFrame is the table of runs: one row a run with the stages beside each other, newest last. left is how many runs it leaves out.
func trendFrame(r *trend.Result, last int) (f *frame.Frame, left int) {
	f = &frame.Frame{Query: "trend", Columns: []frame.Column{{Name: "run"}}}
	main := r.Main()
	rows := map[int][]any{} // by run
	for n, i := range main {
		s := r.Series[i]
		name := typeset.Neutral(s.Stage)
		switch m := r.Options.Metric; {
		case m == trend.TokenRate:
			name += "_tokens_per_s"
		case m.IsServing() && len(main) == 1: // the load is above
			name = string(m)
		}
		f.Columns = append(f.Columns, frame.Column{Name: name, Type: frame.Float, Unit: r.Options.Metric.Unit()})
		for _, p := range s.Points {
			if rows[p.Run] == nil {
				rows[p.Run] = make([]any, len(main)+4)
			}
			if p.Value != nil {
				rows[p.Run][n+1] = *p.Value
			}
		}
	}
	f.Columns = append(f.Columns, frame.Column{Name: "change"}, frame.Column{Name: "at"}, frame.Column{Name: "commit"})
	marks := map[int][]string{}
	for i, c := range r.Changes {
		if r.Series[c.Series].Latest {
			marks[c.First] = append(marks[c.First], fmt.Sprintf("%d: %s", i+1, words.TrendMark(r, c)))
		}
	}
	for i, run := range r.Runs {
		row := rows[i]
		if row == nil {
			continue
		}
		row[0], row[len(main)+1], row[len(main)+2], row[len(main)+3] = run.Name, strings.Join(marks[i], "; "), typeset.Minute(run.At), runCommit(run)
		f.Rows = append(f.Rows, row)
	}
	if last > 0 && len(f.Rows) > last {
		left = len(f.Rows) - last
		f.Rows = f.Rows[left:]
	}
	return f, left
}

// runCommit is a run's commit in short, with a + where it held changes that were not committed; nil when not known.
func runCommit(run trend.Run) any {
	if run.Commit == "" {
		return nil
	}
	text := typeset.Prefix(typeset.Neutral(run.Commit), words.CommitDigits)
	if run.Dirty != nil && *run.Dirty {
		text += "+"
	}
	return text
}
