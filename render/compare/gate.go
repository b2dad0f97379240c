package compare

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge/diff"
	"prof/queries/judge/gate"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
)

// GateForms lists the ways to write what rules say of a run, the default one first. To add one of its own, write its function and add a value here.
func GateForms() typeset.Forms[*gate.Result, typeset.Options] {
	return doc.Forms("verdict, each rule and why", gateDocument, func(o typeset.Options) typeset.Options { return o },
		typeset.Form[*gate.Result, typeset.Options]{Name: "json", Ending: ".json", Doc: "all that is known of each rule, in base units and full precision; null is not known", Write: GateJSON},
		typeset.Form[*gate.Result, typeset.Options]{Name: "junit", Ending: ".xml", Doc: "JUnit XML, as CI systems show it: a test a rule, failure where it is broken, error where it cannot be told", Write: GateJUnit})
}

// gateSigns are seen in a list of pull requests before they are read.
var gateSigns = map[gate.Outcome]string{gate.Holds: "✅", gate.Broken: "❌", gate.CannotTell: "❔"}

// gateDocument returns what rules say of a run: the verdict, each rule, why those that do not hold came out so, what else differs from the baseline, and why the others hold.
func gateDocument(r *gate.Result, _ typeset.Options) []doc.Document {
	d := doc.Document{Title: "prof check", Sign: gateSigns[r.Outcome], Blocks: []doc.Block{doc.Lead{Text: typeset.Neutral(r.Words), Tone: gateTone(r.Outcome)}, doc.Facts(gateSides(r)), doc.Table{Of: gateTable(r)}}}
	if list := slices.Concat(gateReasons(r, gate.Broken), gateReasons(r, gate.CannotTell)); len(list) > 0 {
		d.Blocks = append(d.Blocks, doc.List{Items: list})
	}
	d.Blocks = append(d.Blocks, differences(gateDifferences(r), gateDiff(r))...)
	var more []doc.Block
	title := "notes"
	if held := gateReasons(r, gate.Holds); len(held) > 0 {
		more, title = append(more, doc.List{Items: held}), "rules that hold"
	}
	if notes := neutralNotes(r.Notes); len(notes) > 0 {
		if len(more) > 0 {
			title += ", and notes"
		}
		more = append(more, notes)
	}
	if len(more) > 0 {
		d.Blocks = append(d.Blocks, doc.Section{Title: title, Folded: true, Blocks: more})
	}
	return []doc.Document{d}
}

// gateReasons are why rules of an outcome came out so.
func gateReasons(r *gate.Result, outcome gate.Outcome) []doc.Item {
	var out []doc.Item
	for _, c := range r.Checks {
		if reason := gateReason(c); c.Outcome == outcome && reason != "" {
			out = append(out, doc.Item{Sign: gateSigns[outcome], Name: typeset.Neutral(c.Subject), Text: reason, See: commandOf(c.See)})
		}
	}
	return out
}

// commandOf is a command, if there is one.
func commandOf(text string) []string {
	if text == "" {
		return nil
	}
	return []string{typeset.Neutral(text)}
}

func neutralNotes(notes []string) doc.Notes {
	return typeset.Each(notes, typeset.Neutral)
}

// gateTone is the colour of an outcome.
func gateTone(o gate.Outcome) typeset.Tone {
	switch o {
	case gate.Holds:
		return typeset.ToneBetter
	case gate.Broken:
		return typeset.ToneWorse
	}
	return typeset.ToneUnsure
}

// gateAmount shows a figure in its unit; "" of one that is not known.
func gateAmount(u gate.Unit, v *float64) string {
	if v == nil {
		return ""
	}
	switch u {
	case gate.Ns:
		return typeset.Nanoseconds(*v)
	case gate.Ratio:
		return typeset.Percent(*v)
	case gate.PerSec:
		return typeset.Amount(frame.None, *v) + "/s"
	}
	return typeset.Amount(frame.None, *v)
}

// gateCell is a cell of a figure.
func gateCell(u gate.Unit, v *float64) table.Cell {
	if v == nil {
		return table.Cell{}
	}
	return table.Number(gateAmount(u, v), *v)
}

// gateTable is the table of the rules.
func gateTable(r *gate.Result) table.Table {
	t := table.Table{Columns: []table.Column{
		{Name: "outcome", Title: "outcome", Doc: "holds, broken or cannot tell", Keep: 9},
		{Name: "figure", Title: "figure", Doc: "what the rule is about, with its stage", Least: 24, Keep: 9},
		{Name: "value", Title: "value", Doc: "of the run", Right: true, Keep: 8},
		{Name: "rule", Title: "limit", Doc: "as the rule says", Keep: 7},
		{Name: "limit", Title: "limit as value", Doc: "what the value may come to", Right: true, Keep: 4},
		{Name: "baseline", Title: "baseline", Doc: "of the baseline", Right: true, Keep: 5},
		{Name: "effect_ratio", Title: "change", Doc: "value over baseline less 1", Right: true, Keep: 6},
		{Name: "per", Title: "per", Doc: "what times and counts are for", Keep: 3},
	}}
	for _, c := range r.Checks {
		change, limit := table.Cell{}, table.Cell{}
		if c.Effect != nil {
			change = table.Number(typeset.SignedPercent(*c.Effect), *c.Effect)
		}
		if c.Rule.Relative {
			limit = gateCell(c.Unit, c.Limit)
		}
		outcome := table.Text(string(c.Outcome))
		outcome.Tone, outcome.Sign = gateTone(c.Outcome), gateSigns[c.Outcome]
		t.Rows = append(t.Rows, []table.Cell{outcome, {Text: typeset.Neutral(c.Subject), Code: true}, gateCell(c.Unit, c.Value), table.Text(c.Rule.Operator() + " " + c.Rule.Limit.String()), limit,
			gateCell(c.Unit, c.Baseline), change, table.Text(c.Per)})
	}
	known, _ := t.Known()
	return known
}

// gateReason is why a check came out as it did, with what a change comes from.
func gateReason(c gate.Check) string {
	text := typeset.Neutral(c.Reason)
	if words := gateContributors(c); words != "" {
		text = strings.TrimSuffix(text, ".") + "; it comes from " + words
	}
	return text
}

// gateSeen is the reason with the command that shows more, where there is one.
func gateSeen(c gate.Check) string {
	if c.See == "" {
		return gateReason(c)
	}
	return gateReason(c) + "; see: " + typeset.Neutral(c.See)
}

// gateContributors names what the change of a broken rule comes from; "" where that is not told.
func gateContributors(c gate.Check) string {
	var out []string
	for _, part := range c.Contributors {
		text := typeset.Neutral(part.Words)
		if text == "" {
			text = typeset.Neutral(part.Name)
		}
		if part.Words == "" || part.Effect != nil && *part.Effect > -1 { // else the words tell the time, having no change in percent
			text += " (" + typeset.SignedTime(float64(part.DeltaNs)) + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// gateRuleText is the rule with where it stands.
func gateRuleText(c gate.Check) string {
	at := c.Rule.At
	return fmt.Sprintf("%s (%s:%d)", typeset.Neutral(c.Rule.Text), typeset.Neutral(at.File), at.Line)
}

// gateSides say in a line what was judged, and against what.
func gateSides(r *gate.Result) [][2]string {
	out := [][2]string{{"run", sideText(r.Run)}}
	if r.Baseline != nil {
		out = append(out, [2]string{"baseline", sideText(*r.Baseline)})
	}
	return out
}

// gateDiff is the result as the tables of what differs take it.
func gateDiff(r *gate.Result) *diff.Result {
	d := &diff.Result{B: r.Run, Differences: r.Differences}
	if r.Baseline != nil {
		d.A = *r.Baseline
	}
	return d
}

// gateDifferences is the table of what else differs between baseline and run.
func gateDifferences(r *gate.Result) table.Table {
	t := differenceTable(gateDiff(r))
	t.Caption = "other differences from the baseline"
	for i := range t.Columns {
		switch t.Columns[i].Name {
		case "a":
			t.Columns[i].Title = "baseline"
		case "b":
			t.Columns[i].Title = "run"
		}
	}
	return t
}
