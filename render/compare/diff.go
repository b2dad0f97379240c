// Package compare writes judgements of several runs: diffs, trends and gates.
package compare

import (
	"prof/queries/judge/diff"
	"prof/render/doc"
	"prof/render/typeset"
)

// DiffForms lists the ways to write comparisons, all with the same base, the default one first. To add one of its own, write its function and add a value here.
func DiffForms() typeset.Forms[[]*diff.Result, typeset.Options] {
	return doc.Forms("verdict, stages, what changed most", diffDocuments, func(o typeset.Options) typeset.Options { return o },
		typeset.Form[[]*diff.Result, typeset.Options]{Name: "csv", Ending: ".csv", Doc: "items in ns and full precision, one header; the parts of a stage add up to its row to the ns", Write: DiffCSV},
		typeset.Form[[]*diff.Result, typeset.Options]{Name: "json", Ending: ".json", Doc: "all that is known of the comparison, in base units and full precision; null is not known", Write: DiffJSON},
		typeset.Form[[]*diff.Result, typeset.Options]{Name: "html", Ending: ".html", Doc: "one page that needs no network, with a picture of which parts made the change", Write: DiffHTML})
}
