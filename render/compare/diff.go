// Package compare writes judgements of several runs: diffs, trends and gates.
package compare

import (
	"prof/queries/judge/diff"
	"prof/render/typeset"
)

// DiffForms lists the ways to write comparisons, all with the same base, the default one first. To add one, write its function and add a value here.
func DiffForms() typeset.Forms[[]*diff.Result, typeset.Options] {
	return typeset.Forms[[]*diff.Result, typeset.Options]{
		{Name: "table", Ending: ".txt", Doc: "for people: verdict, stages, what changed most, fitted to the terminal", Write: DiffTable},
		{Name: "md", Ending: ".md", Doc: "the same as GitHub-flavoured Markdown, for a pull request", Write: DiffMarkdown},
		{Name: "csv", Ending: ".csv", Doc: "items in ns and full precision, one header; the parts of a stage add up to its row to the ns", Write: DiffCSV},
		{Name: "json", Ending: ".json", Doc: "all that is known of the comparison, in base units and full precision; null is not known", Write: DiffJSON},
		{Name: "html", Ending: ".html", Doc: "one page that needs no network, with a picture of which parts made the change", Write: DiffHTML},
	}
}
