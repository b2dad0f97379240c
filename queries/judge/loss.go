package judge

import (
	"prof/queries/caveat"
	"prof/queries/frame"
)

// Loss is something that a run's captures did not record, in words.
type Loss struct {
	Stage string // "(none)" outside stages, "" when any may lack it
	IsCut bool   // by the beginning or the end of a capture: passes there are not whole, all others are
	Text  string
}

// Losses are those that a frame has caveats about, the gravest first.
func Losses(f *frame.Frame) []Loss {
	var out []Loss
	for _, c := range caveat.Losses(f.Caveats) {
		out = append(out, Loss{c.Stage, caveat.IsCut(c.Kind), c.Text})
	}
	return out
}
