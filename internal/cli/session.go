package cli

import (
	"context"
	"errors"
	"io"
	"slices"

	"prof/queries"
	"prof/schema"
)

// Session runs commands of prof one after the other in this process, in a folder and an environment of its own, as tests do.
type Session struct {
	Dir  string   // the working folder
	Env  []string // as os.Environ has it
	read []*schema.Warehouse
	lent *schema.Warehouse // what reading verbs read in place of the home's
	asks *queries.Asker    // of what is lent, so that no command asks what another has
}

// readingVerbs leave the warehouse as it is.
var readingVerbs = []string{completeVerb, "check", "diff", "explain", "export", "model", "pack", "plot", "query", "report", "runs", "show", "sql", "trend"}

// Run runs a command and returns its exit code. A warehouse that it read stays open, so that the next command finds it so, until one may write
// or Settle is called.
func (s *Session) Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args ...string) int {
	verb := args
	if len(args) > 1 && args[0] == "--home" {
		verb = args[2:]
	}
	isReading := len(verb) > 0 && slices.Contains(readingVerbs, verb[0])
	if !isReading {
		if err := s.Settle(); err != nil {
			return exitFailed
		}
	}
	p := newProgram(append([]string{"prof"}, args...), stdin, stdout, stderr)
	p.dir, p.env = s.Dir, s.Env
	if isReading {
		p.lent, p.asks = s.lent, s.asks
	}
	code := p.run(ctx)
	s.read = append(s.read, p.read...)
	return code
}

// Settle closes the warehouses that are open: while one is, nobody writes to it.
func (s *Session) Settle() error {
	var err error
	for _, w := range s.read {
		err = errors.Join(err, w.Close())
	}
	s.read = nil
	return err
}
