package screen

import (
	"bytes"
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/table"
	"prof/render/typeset"
)

// shownReported are the figures of other tools that a screen has room for, and what they are called after their subject.
var shownReported = map[string]string{"time_ns": "", "prefill_ns": "prefill ", "decode_ns": "decode ", "mfu_ratio": "MFU ", "tokens": "tokens ", "tokens_per_s": "tokens/s ", "parameter_count": "parameters ", "mac_count": "multiply-adds "}

// writeScreenReported writes what another tool reported of the run, each figure with what prof computes of the same, where it does.
func writeScreenReported(out *bytes.Buffer, r *judge.Report, o typeset.Options) error {
	f := r.Frame("reported-metrics")
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	rows, err := f.Records("scope", "subject", "metric", "unit", "value", "std", "computed", "path", "source_id")
	if err != nil {
		return err
	}
	var list []reportedValue
	for _, row := range rows {
		name, isShown := shownReported[row.Text("metric")]
		if scope := row.Text("scope"); !isShown || row.Text("metric") == "parameter_count" && scope != "model" || scope != "run" && scope != "stage" && scope != "model" || row.Number("value") == nil {
			continue
		}
		v := reportedValue{cmp.Or(row.Text("subject"), row.Text("scope")), name, reportedText(row), strings.TrimSuffix(filepath.Base(row.Text("path")), filepath.Ext(row.Text("path")))}
		if !slices.ContainsFunc(list, func(o reportedValue) bool { return o.isOf(v) && o.text == v.text }) { // else another file says the same
			list = append(list, v)
		}
	}
	var pairs [][2]string
	for i, v := range list {
		if !slices.ContainsFunc(list[:i], func(o reportedValue) bool { return o.subject == v.subject }) {
			pairs = append(pairs, reportedPairs(v.subject, list)...)
		}
	}
	if len(pairs) > 0 {
		out.WriteString("\n" + typeset.Style(o, typeset.Dim)("reported by other tools") + "\n")
		table.WriteFacts(out, pairs, o)
	}
	return nil
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

// reportedText writes a figure with its deviation, and what prof computes of the same.
func reportedText(row frame.Record) string {
	text := reportedFigure(row, "value")
	if row.Amount("std") > 0 {
		text += " ± " + reportedFigure(row, "std")
	}
	if row.Number("computed") != nil {
		text += " (prof: " + reportedFigure(row, "computed") + ")"
	}
	return text
}

// reportedFigure writes one figure of a row in its unit.
func reportedFigure(row frame.Record, column string) string {
	v := row.Amount(column)
	switch row.Text("unit") {
	case "ns":
		return typeset.Nanoseconds(v)
	case "ratio":
		return typeset.Percent(v)
	}
	if v < 1000 {
		return typeset.Digits(v)
	}
	return typeset.Scaled(v)
}
