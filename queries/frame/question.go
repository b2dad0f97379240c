package frame

import (
	"context"
	"errors"
)

// ErrBadArgument is wrapped by errors about what was asked, and not what was found.
var ErrBadArgument = errors.New("invalid argument")

// Args are the arguments of a query by parameter, as text.
type Args map[string]string

// Question is what a query is asked.
type Question struct {
	Query string // the newest of that name
	Args  Args   // those that it does not take are passed over
	// Notes picks the topics of caveats that are wanted, beside what is missing from the run's sources; nil takes all.
	Notes func(topic string) bool
}

// RowsOnly picks no topics.
func RowsOnly(string) bool { return false }

// Asker answers questions about the runs of a warehouse. Nobody may change the frames that it gives.
type Asker interface {
	// Ask runs the newest query of that name.
	Ask(ctx context.Context, query string, args Args) (*Frame, error)
	// AskAll answers questions in their order; those that take longest should come first.
	AskAll(ctx context.Context, list []Question) ([]*Frame, error)
}
