package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"prof/capture/plan"
	"prof/ingest/derive"
	"prof/internal/scratch"
	"prof/internal/serve/ask"
	"prof/queries"
	"prof/schema"
)

// SQL of others runs in a process of its own. DuckDB bounds the memory of its operators, and stops between them; what one function of SQL takes it
// neither counts nor interrupts. A process has a limit that the kernel keeps, and can be killed.

// statementVerb is the verb of that process.
const statementVerb = "statement"

// statementRequest is what the process reads from stdin. Its file 3 is the copy of the warehouse.
type statementRequest struct {
	ask.Statement
	Home, Memory string
}

const (
	copiedFile = "/dev/fd/3"
	// besidesDuckDB is the address space of the process beyond what DuckDB may take: Go's, threads' stacks, the program, and values in functions.
	besidesDuckDB = 2 << 30
	// mostAnswer bounds what it writes: each byte of a text may take six in JSON.
	mostAnswer = 128 << 20
	mostSaid   = 1 << 20
	// exitRefused is its exit code where the author of the statement can mend it. Go's runtime ends a program that lacks memory with 2.
	exitRefused = 64
)

// runnerOf runs statements in processes with the memory that the command line gives DuckDB.
func (p *program) runnerOf(c *cli.Context) (ask.Runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	limit, _, err := p.answerLimit(c)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, w *schema.Warehouse, s ask.Statement, out *bytes.Buffer) error {
		if w.Copied() == nil {
			return fmt.Errorf("%w: the warehouse is a lake, on which the server runs no SQL of others: it would be run by PostgreSQL too, with the server's rights; `prof sql` runs it with your own", ask.ErrInvalid)
		}
		request, err := json.Marshal(statementRequest{s, w.Home.Dir, limit})
		if err != nil {
			return err
		}
		dir, err := scratch.Make("") // it may be killed before it clears up
		if err != nil {
			return err
		}
		defer dir.Remove()
		wrote, said := &bounded{most: mostAnswer}, &bounded{most: mostSaid}
		cmd := exec.CommandContext(ctx, self, statementVerb)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(request), wrote, said
		cmd.ExtraFiles = []*os.File{w.Copied()}
		cmd.Env = append(slices.Clone(p.env), "TMPDIR="+dir.Path)
		switch err = cmd.Run(); {
		case err == nil:
			out.Write(wrote.text)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		}
		return statementError(err, wrote, said)
	}, nil
}

// statementError is why the process failed.
func statementError(err error, wrote, said *bounded) error {
	var exit *exec.ExitError
	switch {
	case wrote.full != nil: // of which it may have died
		return wrote.full
	case !errors.As(err, &exit):
		return err
	case exit.ExitCode() == exitRefused:
		return fmt.Errorf("%w: %s", ask.ErrInvalid, bytes.TrimSpace(said.text))
	case exit.ExitCode() == exitFailed:
		return fmt.Errorf("%s: %s", statementVerb, bytes.TrimSpace(said.text))
	}
	return fmt.Errorf("%w: the statement needs more memory than it may take: ask for less at once", ask.ErrInvalid) // Go's runtime, C++ or the kernel ended it
}

// bounded keeps what is written, and refuses more than it may be.
type bounded struct {
	text []byte
	most int
	full error // once more was written
}

func (b *bounded) Write(text []byte) (int, error) {
	if len(b.text)+len(text) > b.most {
		b.full = fmt.Errorf("%w: the answer has more than %d MB", ask.ErrInvalid, b.most>>20)
		return 0, b.full
	}
	b.text = append(b.text, text...)
	return len(text), nil
}

// runStatement is the process: it writes the answer to stdout and what is wrong to stderr.
func runStatement(stdin io.Reader, stdout, stderr io.Writer) int {
	var out bytes.Buffer
	err := answerStatement(context.Background(), stdin, &out)
	if err == nil {
		_, err = stdout.Write(out.Bytes())
	}
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, ask.ErrInvalid):
		fmt.Fprintln(stderr, strings.TrimPrefix(err.Error(), ask.ErrInvalid.Error()+": "))
		return exitRefused
	}
	fmt.Fprintln(stderr, err)
	return exitFailed
}

func answerStatement(ctx context.Context, stdin io.Reader, out *bytes.Buffer) error {
	var r statementRequest
	if err := json.NewDecoder(io.LimitReader(stdin, maxStatement)).Decode(&r); err != nil {
		return fmt.Errorf("%s is started by prof serve and prof mcp: %w", statementVerb, err)
	}
	memory, err := plan.ParseSize(r.Memory)
	if err != nil {
		return err
	}
	for what, most := range map[int]uint64{syscall.RLIMIT_AS: uint64(memory) + besidesDuckDB, syscall.RLIMIT_CPU: uint64(ask.SQLTime.Seconds()+1) * uint64(runtime.NumCPU())} { // the latter should nobody be left to kill it
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("limit a statement: %w", err)
		}
	}
	w, err := schema.OpenCopy(ctx, schema.Home{Dir: r.Home}, copiedFile, schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, MemoryLimit: r.Memory, Sandbox: true})
	if err != nil {
		return err
	}
	defer w.Close()
	return ask.RunStatement(ctx, w, r.Statement, out)
}
