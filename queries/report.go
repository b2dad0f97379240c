package queries

import (
	"context"
	"strings"

	"prof/schema"
)

// Section is one part of a report: a query's answer, or why there is none.
type Section struct {
	Title   string
	Frame   *Frame
	Missing string // why Frame has no rows; "" when it has
}

// sections are what a report shows, in order.
var sections = []struct {
	title, query string
	args         Args
}{
	{"Devices", "devices", nil},
	{"Stages", "stages", nil},
	{"Parts of stages", "stage-notes", nil},
	{"Model", "models", nil},
	{"Model FLOPs utilisation", "mfu", nil},
	{"Memory bandwidth utilisation", "mbu", nil},
	{"Top kernels", "top-kernels", Args{"top": "20"}},
	{"Top operators", "top-operators", Args{"top": "20"}},
	{"Sources", "sources", nil},
}

// Report asks what a report of a run shows.
func Report(ctx context.Context, w *schema.Warehouse, run string) ([]Section, error) {
	var out []Section
	for _, s := range sections {
		args := Args{"run": run}
		for k, v := range s.args {
			args[k] = v
		}
		f, err := ask(ctx, w, s.query, args)
		if err != nil {
			return nil, err
		}
		section := Section{Title: s.title, Frame: f}
		if len(f.Rows) == 0 {
			if section.Missing = strings.Join(f.Notes, "; "); section.Missing == "" {
				section.Missing = "nothing was captured of it"
			}
		}
		out = append(out, section)
	}
	return out, nil
}
