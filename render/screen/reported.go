package screen

import (
	"bytes"
	"cmp"
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
	var pairs [][2]string
	for _, row := range rows {
		name, isShown := shownReported[row.Text("metric")]
		if scope := row.Text("scope"); !isShown || row.Text("metric") == "parameter_count" && scope != "model" || scope != "run" && scope != "stage" && scope != "model" || row.Number("value") == nil {
			continue
		}
		subject := cmp.Or(row.Text("subject"), row.Text("scope"))
		at := slices.IndexFunc(pairs, func(p [2]string) bool { return p[0] == subject })
		if at < 0 {
			at = len(pairs)
			pairs = append(pairs, [2]string{subject, ""})
		}
		text := name + reportedFigure(row, "value")
		if row.Amount("std") > 0 {
			text += " ± " + reportedFigure(row, "std")
		}
		if row.Number("computed") != nil {
			text += " (prof: " + reportedFigure(row, "computed") + ")"
		}
		if known := strings.Split(pairs[at][1], ", "); slices.Contains(known, text) { // another file says the same
			continue
		}
		pairs[at][1] = strings.TrimPrefix(pairs[at][1]+", "+text, ", ")
	}
	if len(pairs) > 0 {
		out.WriteString("\n" + typeset.Style(o, typeset.Dim)("reported by other tools") + "\n")
		table.WriteFacts(out, pairs, o)
	}
	return nil
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
