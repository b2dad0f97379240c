package screen

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/doc"
	"prof/render/typeset"
)

// shownReported are the figures of other tools that a screen has room for, and what they are called after their subject.
var shownReported = map[string]string{"time_ns": "", "prefill_ns": "prefill ", "decode_ns": "decode ", "mfu_ratio": "MFU ", "tokens": "tokens ", "tokens_per_s": "tokens/s ", "parameter_count": "parameters ", "mac_count": "multiply-adds "}

// reportedRow is a row of reported-metrics.
type reportedRow struct {
	Scope    string   `col:"scope"`
	Subject  string   `col:"subject"`
	Metric   string   `col:"metric"`
	Unit     string   `col:"unit"`
	Value    *float64 `col:"value"`
	Std      *float64 `col:"std"`
	Computed *float64 `col:"computed"`
	Path     string   `col:"path"`
}

var reportedRows = frame.RowsOf[reportedRow]("reported-metrics")

// reported says what another tool reported of the run, each figure with what prof computes of the same, where it does.
func reported(s Screen) ([]doc.Block, error) {
	rows, err := rowsOf(s, reportedRows)
	if err != nil {
		return nil, err
	}
	var list []reportedValue
	for _, r := range rows {
		name, isShown := shownReported[r.Metric]
		if !isShown || r.Metric == "parameter_count" && r.Scope != "model" || !slices.Contains([]string{"run", "stage", "model"}, r.Scope) || r.Value == nil {
			continue
		}
		v := reportedValue{cmp.Or(r.Subject, r.Scope), name, r.text(), strings.TrimSuffix(filepath.Base(r.Path), filepath.Ext(r.Path))}
		if !slices.ContainsFunc(list, func(o reportedValue) bool { return o.isOf(v) && o.text == v.text }) { // else another file says the same
			list = append(list, v)
		}
	}
	var facts doc.Facts
	for i, v := range list {
		if !slices.ContainsFunc(list[:i], func(o reportedValue) bool { return o.subject == v.subject }) {
			facts = append(facts, reportedPairs(v.subject, list)...)
		}
	}
	if len(facts) == 0 {
		return nil, nil
	}
	return []doc.Block{doc.Section{Title: "reported by other tools", Blocks: []doc.Block{facts}}}, nil
}

// reportedValue is a figure as it is shown.
type reportedValue struct{ subject, name, text, file string }

func (v reportedValue) isOf(o reportedValue) bool { return v.subject == o.subject && v.name == o.name }

// reportedPairs are the figures of a subject: a line of those that all files agree on, and one for each of which files say different values.
func reportedPairs(subject string, list []reportedValue) (out [][2]string) {
	var agreed []string
	for i, v := range list {
		if v.subject != subject || slices.ContainsFunc(list[:i], v.isOf) {
			continue
		}
		var said []string
		for _, o := range list {
			if o.isOf(v) {
				said = append(said, o.text+" ("+typeset.Neutral(o.file)+")")
			}
		}
		if len(said) == 1 {
			agreed = append(agreed, v.name+v.text)
		} else {
			out = append(out, [2]string{subject, v.name + strings.Join(said, ", ")})
		}
	}
	if len(agreed) > 0 {
		out = slices.Insert(out, 0, [2]string{subject, strings.Join(agreed, ", ")})
	}
	return out
}

// text is the figure with its deviation, and what prof computes of the same.
func (r reportedRow) text() string {
	text := r.figure(*r.Value)
	if frame.Or(r.Std, 0) > 0 {
		text += " ± " + r.figure(*r.Std)
	}
	if r.Computed != nil {
		text += " (prof: " + r.figure(*r.Computed) + ")"
	}
	return text
}

// figure shows a value in the unit of the row.
func (r reportedRow) figure(v float64) string {
	switch {
	case r.Unit == "ns":
		return typeset.Nanoseconds(v)
	case r.Unit == "ratio":
		return typeset.Percent(v)
	case v < 1000:
		return typeset.Digits(v)
	}
	return typeset.Scaled(v)
}
