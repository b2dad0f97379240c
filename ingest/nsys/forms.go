package nsys

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"prof/ingest/load"
	"prof/ingest/nsys/sqlite"
	"prof/ingest/nsys/table"
	"prof/internal/child"
	"prof/internal/file"
)

// ErrNoNsys is wrapped by the error for a report when nsys is not installed.
var ErrNoNsys = errors.New("only nsys can read its reports, and it is not installed here")

// Opener opens one form of export.
type Opener func(path string) (table.Export, error)

// SQLite opens a .sqlite export.
func SQLite(path string) (table.Export, error) { return sqlite.Open(path) }

// IsOthers returns the error for a database of another program's: one without a table of Nsight Systems, whatever its journals hold. nil for every other
// file, and for what cannot be read.
func IsOthers(path string) error {
	f, err := file.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	db, err := sqlite.New(f, st.Size(), path)
	switch {
	case errors.Is(err, sqlite.ErrUTF16): // nsys writes none
	case err != nil:
		return nil
	default:
		if l := newLoader(db, path, nil); l.hasAny(workTables) || l.hasAny(otherTables) {
			return nil
		}
	}
	return ErrNotExport
}

// Identify reads what an export says of the whole capture.
func (open Opener) Identify(ctx context.Context, path, name string) (*load.SourceInfo, error) {
	return with(open, path, name, func(e table.Export) (*load.SourceInfo, error) { return Identify(ctx, e, name) })
}

// Load stores an export.
func (open Opener) Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	return with(open, path, name, func(e table.Export) (*load.SourceInfo, error) { return Load(ctx, e, name, t) })
}

// Plan returns what Load would read.
func (open Opener) Plan(ctx context.Context, path string, o load.Options) (*load.Plan, error) {
	return with(open, path, path, func(e table.Export) (*load.Plan, error) { return Plan(ctx, e, path, o) })
}

func with[T any](open Opener, path, name string, f func(e table.Export) (*T, error)) (*T, error) {
	e, err := open(path)
	if err != nil {
		return nil, renamed(err, path, name)
	}
	defer e.Close()
	out, err := f(e)
	return out, renamed(err, path, name)
}

// renamed says the name that the user gave in place of a temporary file's.
func renamed(err error, path, name string) error {
	if err == nil || path == name || !strings.Contains(err.Error(), path) {
		return err
	}
	return &renamedError{err, strings.ReplaceAll(err.Error(), path, name)}
}

type renamedError struct {
	err  error
	text string
}

func (e *renamedError) Error() string { return e.text }
func (e *renamedError) Unwrap() error { return e.err }

// IdentifyReport looks whether nsys is there to export the report; what the report says is known only after.
func IdentifyReport(_ context.Context, _, name string) (*load.SourceInfo, error) {
	if _, err := exec.LookPath("nsys"); err != nil {
		base := strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), filepath.Ext(strings.TrimSuffix(name, ".gz")))
		return nil, fmt.Errorf("%s: %w; on a machine that has it, run `nsys export --type sqlite --output %s.sqlite %s` and ingest that file", name, ErrNoNsys, base, name)
	}
	return &load.SourceInfo{}, nil
}

// LoadReport has nsys export the report into a temporary file and stores that.
func LoadReport(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	dir, err := os.MkdirTemp(t.Options.TempDir, "nsys-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "export.sqlite")
	if p := t.Options.Progress; p != nil {
		p("nsys export", 0, -1)
	}
	text, err := export(ctx, path, out, true)
	if err != nil && strings.Contains(text, "include-json") { // an nsys of before that option
		text, err = export(ctx, path, out, false)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: nsys export: %w: %s", name, err, lastLine(text))
	}
	return Opener(SQLite).Load(ctx, out, name, t)
}

// exportTimeout is far above what nsys takes for the largest reports that it can make.
const exportTimeout = 2 * time.Hour

// export has nsys export a report, and gives what it said.
func export(ctx context.Context, report, out string, payloads bool) (text string, err error) {
	ctx, cancel := context.WithTimeout(ctx, exportTimeout)
	defer cancel()
	said, err := child.Run(ctx, child.Command{Argv: append([]string{"nsys"}, ExportArgs(report, out, payloads)...), Env: os.Environ(), Chatty: true})
	return string(said.Stdout) + "\n" + string(said.Stderr), err
}

// ExportArgs are the arguments with which nsys exports a report to SQLite. Among the payloads of ranges are the sizes of NCCL's messages.
func ExportArgs(report, out string, payloads bool) []string {
	args := []string{"export", "--type", "sqlite", "--force-overwrite", "true"}
	if payloads {
		args = append(args, "--include-json", "true")
	}
	return append(args, "--output", out, report)
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
