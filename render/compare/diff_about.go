package compare

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"prof/queries/judge/diff"
	"prof/queries/judge/diff/conditions"
	"prof/render/table"
	"prof/render/typeset"
)

// diffTitle names a comparison.
func diffTitle(r *diff.Result) string {
	return typeset.Neutral(r.B.Label) + " against " + typeset.Neutral(r.A.Label)
}

// sideFacts say in a line what each side is.
func sideFacts(r *diff.Result) [][2]string {
	return [][2]string{{"A (base)", sideText(r.A)}, {"B", sideText(r.B)}}
}

// sideText names a side, its runs where it is not itself the name of one, and when they were captured.
func sideText(s diff.Side) string {
	label := typeset.Neutral(s.Label)
	switch len(s.Runs) {
	case 0:
		return label
	case 1:
		run := s.Runs[0]
		if run.Name != s.Label {
			label = typeset.Neutral(run.Name) + " (" + strings.TrimPrefix(label, "@") + ")" // an @ would call a user of GitHub by that name
		}
		when := "ingested " + run.CreatedAt.UTC().Format("2006-01-02 15:04 UTC")
		if run.StartedAt != nil {
			when = "captured " + run.StartedAt.UTC().Format("2006-01-02 15:04 UTC")
		}
		label += ", " + when
		if run.Host != "" {
			label += " on " + typeset.Neutral(run.Host)
		}
		return label
	}
	var names []string
	for _, run := range s.Runs {
		names = append(names, typeset.Neutral(run.Name))
	}
	first, left := typeset.FirstOf(names, 6)
	text := fmt.Sprintf("%s, %d runs: %s", label, len(names), strings.Join(first, ", "))
	if left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// weighty are the weights of differences that have a line of their own, with what is said of one that says nothing of itself.
var weighty = []struct {
	weight conditions.Weight
	words  string
}{{conditions.Decides, "different work or hardware: the comparison includes it"}, {conditions.Clouds, "may move times"}}

// differenceTable is the table of what differs between the sides beside times, but for what was changed on purpose.
func differenceTable(r *diff.Result) table.Table {
	t := table.Table{Caption: "other differences between A and B", Columns: []table.Column{
		{Name: "aspect", Title: "also differs", Doc: "what differs between the sides", Least: 14, Keep: 9},
		{Name: "a", Title: "A", Doc: "in A", Least: 10, Keep: 8},
		{Name: "b", Title: "B", Doc: "in B", Least: 10, Keep: 8},
		{Name: "effect", Title: "effect", Doc: "what it means for the comparison", Least: 20, Keep: 7},
	}}
	for _, w := range weighty {
		for _, d := range r.Differences {
			if d.Weight != w.weight {
				continue
			}
			row := []table.Cell{table.Text(d.Aspect), table.Text(aspectText(d.Aspect, d.A)), table.Text(aspectText(d.Aspect, d.B)), table.Text(cmp.Or(d.Effect, w.words))}
			if w.weight == conditions.Decides {
				row[0].Tone = typeset.ToneUnsure
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// wholeCommit is the name of a commit in full; its first commitShown digits tell it from others.
var wholeCommit = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

const commitShown = 12

// aspectText is what a side says of an aspect, the names of commits in short.
func aspectText(aspect, value string) string {
	if aspect != "commit" {
		return value
	}
	return wholeCommit.ReplaceAllStringFunc(value, func(name string) string { return name[:commitShown] })
}

// longValue is from how many letters on a value that differs is shown by what differs in it.
const longValue = 48

// toldDifferences are those that were made on purpose, in one line; "" for none.
func toldDifferences(r *diff.Result) string {
	var out []string
	for _, d := range r.Differences {
		if weightWords(d.Weight) == "" {
			before, after := typeset.Neutral(aspectText(d.Aspect, d.A)), typeset.Neutral(aspectText(d.Aspect, d.B))
			long := longValue
			if d.Aspect == "command" {
				before, after = changedWords(before, after)
				long *= 2
			}
			both := typeset.Shortener([]string{before, after}, long)
			out = append(out, typeset.Neutral(d.Aspect)+" "+both(before)+" → "+both(after))
		}
	}
	return strings.Join(out, "; ")
}

// mostWords is up to how many words of each command changedWords compares.
const mostWords = 500

// changedWords leaves of two command lines the words that differ, each with the option before it, and an ellipsis for words that both have there.
func changedWords(a, b string) (string, string) {
	x, y := strings.Fields(a), strings.Fields(b)
	if len(x) > mostWords || len(y) > mostWords {
		return a, b
	}
	common := make([][]int, len(x)+1) // words that what begins at i and k has in common, in order
	for i := range common {
		common[i] = make([]int, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for k := len(y) - 1; k >= 0; k-- {
			if common[i][k] = max(common[i+1][k], common[i][k+1]); x[i] == y[k] {
				common[i][k] = common[i+1][k+1] + 1
			}
		}
	}
	inX, inY := make([]bool, len(x)), make([]bool, len(y))
	for i, k := 0, 0; i < len(x) && k < len(y); {
		switch {
		case x[i] == y[k]:
			inX[i], inY[k] = true, true
			i, k = i+1, k+1
		case common[i+1][k] >= common[i][k+1]:
			i++
		default:
			k++
		}
	}
	return onlyChanged(x, inX), onlyChanged(y, inY)
}

func onlyChanged(words []string, inBoth []bool) string {
	var out []string
	for i, word := range words {
		option := i+1 < len(words) && !inBoth[i+1] && strings.HasPrefix(word, "-")
		switch {
		case !inBoth[i] || option:
			out = append(out, word)
		case len(out) == 0 || out[len(out)-1] != "…":
			out = append(out, "…")
		}
	}
	return strings.Join(out, " ")
}

// weightWords say what a difference of that weight means; "" of one that was made on purpose.
func weightWords(of conditions.Weight) string {
	for _, w := range weighty {
		if w.weight == of {
			return w.words
		}
	}
	return ""
}

// sourceLine names the queries that the figures are from.
func sourceLine(r *diff.Result) string {
	var names, runs []string
	for _, q := range r.Queries {
		names = append(names, typeset.Neutral(q.Query))
		if q.Run != "" {
			runs = append(runs, typeset.Neutral(q.Run))
		}
	}
	if len(names) == 0 {
		return ""
	}
	text := "from the queries " + strings.Join(typeset.Unique(names), ", ")
	if len(runs) > 0 {
		first, left := typeset.FirstOf(typeset.Unique(runs), 4)
		text += " of " + strings.Join(first, ", ")
		if left > 0 {
			text += fmt.Sprintf(" and %d more", left)
		}
	}
	return text
}
