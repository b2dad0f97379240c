package words

import (
	"cmp"

	"prof/render/typeset"
)

// KernelStageLabel returns what the query's name for no stage means.
func KernelStageLabel(stage string) string {
	if stage == "(none)" {
		return "outside every stage"
	}
	return typeset.Neutral(stage)
}

// OutsideWords say what the rows of operator queries are that are no operators.
var OutsideWords = map[string]string{"(none)": "(outside operators)", "(graph replay)": "(CUDA graph replays)", "(no launch)": "(launch not captured)"}

// OperatorName is an operator, or in words what is none.
func OperatorName(name string) string { return cmp.Or(OutsideWords[name], name) }

// WholeRun is what the query accounting calls all work of a capture on a GPU.
const WholeRun = "(run)"
