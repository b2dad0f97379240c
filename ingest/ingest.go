// Package ingest turns captured files into rows of the warehouse: one call makes one run, in one transaction.
package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"prof/ingest/load"
	"prof/ingest/torch"
	"prof/ingest/workload"
	"prof/schema"
)

// Options say how Run ingests.
type Options struct {
	Name        string      // name of the run; "" makes one from the time and the first file
	OwnName     bool        // set by Run when it made the name
	Tags        [][2]string // tags of the run
	Now         time.Time   // time of the ingest
	ProfVersion string
	Load        load.Options
	Models      []string        // configurations of models, whatever the files are called
	Workloads   []string        // facts of workloads, whatever the files are called
	Pass        *workload.Facts // what holds for every pass; nil when nothing was said
	// Warn is told what the user should know at once. It may be nil.
	Warn func(message string)
}

// Result says what an ingest did.
type Result struct {
	Run      schema.Run
	Sources  []Source
	Repeated []Repeat // files whose content the warehouse holds already
	Skipped  int      // files of a folder that no format knows
	Made     bool     // false when every file was a repeat, so that no run was made
	Attached bool     // facts were stored with a run that was there
}

// Source is one file or folder that was stored.
type Source struct {
	Path string
	Kind string
	Rows int64
	Size int64
}

// Repeat is a file whose content is in the warehouse already.
type Repeat struct {
	Path, Run string
	Facts     bool // they are facts that the run had before
}

// Errors that Run's errors wrap.
var (
	ErrUnknownFormat = errors.New("no known format")
	ErrNothing       = errors.New("nothing to ingest")
	ErrHeld          = errors.New("the warehouse holds part of this already")
	ErrChanging      = errors.New("the file is still being written")
	ErrNoRun         = errors.New("options alone are about a run that is there: name it with --run, or give captures with them")
)

// Check finds, before a warehouse is opened, mistakes in what Run would be given.
func Check(paths []string, o Options) error {
	if o.Name != "" {
		if err := checkName(o.Name); err != nil {
			return err
		}
	}
	_, err := o.find(paths)
	return err
}

// find finds what to ingest in the paths and the options.
func (o Options) find(paths []string) (*inputs, error) {
	in, err := findInputs(paths)
	if err != nil {
		return nil, err
	}
	return in, in.addFacts(o)
}

// Run ingests files and folders as one run. Either all of it is stored or, on any error, nothing.
func Run(ctx context.Context, w *schema.Warehouse, paths []string, o Options) (*Result, error) {
	found, err := o.find(paths)
	if err != nil {
		return nil, err
	}
	if len(found.list) == 0 && o.Pass == nil {
		return nil, ErrNothing
	}
	if o.Load.TempDir, err = makeTemp(w.Home); err != nil {
		return nil, explain(err, w.Home)
	}
	defer removeTemp(o.Load.TempDir)
	if o.Name == "" {
		first := "options"
		if len(found.list) > 0 {
			first = found.list[0].path
		}
		if len(paths) > 0 {
			first = paths[0]
		}
		o.Name, o.OwnName = defaultName(o.Now, first), true
	}
	if err := checkName(o.Name); err != nil {
		return nil, err
	}
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// DuckDB's threads call into Go for rows, and would wait there for the goroutine that hashes the file.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.NumCPU() + 2))
	in := &ingester{ctx: ctx, w: w, conn: conn, o: o, result: &Result{Skipped: found.skipped}}
	in.warnLeft(found.left)
	if err := in.run(found.list); err != nil {
		return nil, explain(err, w.Home)
	}
	return in.result, nil
}

// ingester is one ingest at work.
type ingester struct {
	ctx    context.Context
	w      *schema.Warehouse
	conn   *sql.Conn
	o      Options
	result *Result
	shared load.Run
	target *load.Target
	seen   map[string]string // capture id -> path, to tell two forms of one capture
	infos  []*load.SourceInfo

	firstSource int          // last source_id that the run holds already
	kept        map[int]bool // facts among those that were given again
}

func (in *ingester) run(inputs []input) error {
	captures, facts := split(inputs)
	id, err := in.attachTo(captures)
	if err != nil {
		return err
	}
	fill := in.attach
	if id == "" && len(inputs) == 0 {
		return ErrNoRun
	}
	if id == "" {
		fill = func(id string, facts []input) error { return in.fill(captures, facts, id) }
		if id, err = schema.NewRunID(); err != nil {
			return err
		}
	}
	if in.target, err = load.NewTarget(in.conn, id, &in.shared, in.o.Load); err != nil {
		return err
	}
	// Insertion order would make one thread write; queries sort, so nothing needs it.
	if _, err := in.conn.ExecContext(in.ctx, `SET preserve_insertion_order = false`); err != nil {
		return err
	}
	if _, err := in.conn.ExecContext(in.ctx, `BEGIN`); err != nil {
		return err
	}
	if err := fill(id, facts); err != nil {
		// The context may be cancelled by now, and the rollback must happen all the same.
		if _, rollback := in.conn.ExecContext(context.WithoutCancel(in.ctx), `ROLLBACK`); rollback != nil {
			err = errors.Join(err, rollback)
		}
		return err
	}
	_, err = in.conn.ExecContext(in.ctx, `COMMIT`)
	return err
}

func (in *ingester) fill(captures, facts []input, id string) error {
	if err := in.checkFree(); err != nil {
		return err
	}
	if held, err := in.isFactsRun(captures, facts); held || err != nil {
		return err
	}
	in.seen = map[string]string{}
	if err := in.each(captures); err != nil {
		return err
	}
	store := in.storeFacts
	if len(captures) > 0 && len(in.result.Sources) == 0 {
		store = in.leaveFacts
	}
	if err := store(facts); err != nil {
		return err
	}
	if len(in.result.Sources) == 0 {
		if len(in.result.Repeated) == 0 {
			return ErrNothing
		}
		return nil
	}
	for _, r := range in.result.Repeated {
		if r.Run != in.o.Name { // the same file twice is no loss
			return fmt.Errorf("%w: %s is in run %s; leave it out, or `prof rm %s` to store all of these files as one run", ErrHeld, r.Path, r.Run, r.Run)
		}
	}
	in.result.Made = true
	in.warnAlone(captures)
	in.warnMixed()
	return in.finish(id)
}

func (in *ingester) each(inputs []input) error {
	for _, f := range inputs {
		if err := in.ctx.Err(); err != nil {
			return err
		}
		if err := in.source(f); err != nil {
			return err
		}
	}
	return nil
}

// warnLeft says which pages of Nsight Compute are not read because its report is. Of Nsight Systems, an export and its report
// are one thing to everybody.
func (in *ingester) warnLeft(left []input) {
	var pages []string
	for _, f := range left {
		if f.format.Kind == "ncu" {
			pages = append(pages, f.path)
		}
	}
	if len(pages) > 0 {
		in.warn(fmt.Sprintf("left out, since the report beside them is of the same capture: %s", schema.List(pages, 3)))
	}
}

// warnMixed warns of a run whose timelines do not belong together by what they say of themselves. What Nsight Compute profiled
// adds up with nothing, and is mostly a shorter run of the same program.
func (in *ingester) warnMixed() {
	first := ""
	for i, info := range in.infos {
		if in.result.Sources[i].Kind == "ncu" || info.Command == "" { // the PyTorch profiler does not say
			continue
		}
		if first != "" && info.Command != first {
			in.warn(fmt.Sprintf("this run mixes captures of different commands (%q, %q): its totals and stages add them up", first, info.Command))
			return
		}
		first = info.Command
	}
}

// warnTwice warns of results of Nsight Compute that several sources hold: a report and pages of it under another name.
func (in *ingester) warnTwice(id string) error {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT s.path FROM source s
		WHERE s.run_id = ?::UUID AND s.source_id IN (
			SELECT unnest(x.sources) FROM (SELECT list(DISTINCT source_id) AS sources FROM ncu_launch WHERE run_id = ?::UUID
				GROUP BY pid, ncu_id, kind, grid_x, grid_y, grid_z, block_x, block_y, block_z HAVING count(DISTINCT source_id) > 1) x)
		ORDER BY s.path`, id, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	var paths []string
	for rows.Next() {
		var path string
		if err := rows.Scan(&path); err != nil {
			return err
		}
		paths = append(paths, path)
	}
	if len(paths) > 0 {
		in.warn(fmt.Sprintf("these hold launches of the same number, process and grid: are they one capture, which now counts twice? %s", schema.List(paths, 4)))
	}
	return rows.Err()
}

// checkFree refuses a run name that is in use; a name of our own making gets a number behind it instead.
func (in *ingester) checkFree() error {
	for base, i := in.o.Name, 2; in.o.OwnName; i++ {
		var n int
		if err := in.conn.QueryRowContext(in.ctx, `SELECT count(*) FROM run WHERE name = ?`, in.o.Name).Scan(&n); err != nil || n == 0 {
			return err
		}
		in.o.Name = fmt.Sprintf("%s-%d", base, i)
	}
	var n int
	err := in.conn.QueryRowContext(in.ctx, `SELECT count(*) FROM run WHERE name = ?`, in.o.Name).Scan(&n)
	if err == nil && n > 0 {
		err = fmt.Errorf("%w: %q; choose another --run, or `prof rm %s` first", schema.ErrNameTaken, in.o.Name, in.o.Name)
	}
	return err
}

// finish stores what the sources share, and the run itself last of all.
func (in *ingester) finish(id string) error {
	if err := in.target.StoreShared(in.ctx); err != nil {
		return err
	}
	if err := torch.StoreStacks(in.ctx, in.target); err != nil {
		return err
	}
	r := schema.Run{ID: id, Name: in.o.Name, CreatedAt: in.o.Now.UTC(), ProfVersion: in.o.ProfVersion}
	for _, info := range in.infos {
		if info.StartedAt != nil && (r.StartedAt == nil || info.StartedAt.Before(*r.StartedAt)) {
			r.StartedAt = info.StartedAt
		}
		if r.Command == "" {
			r.Command = info.Command
		}
		if r.Host == "" {
			r.Host = info.Host
		}
	}
	in.result.Run = r
	if err := in.warnTwice(id); err != nil {
		return err
	}
	rules, err := schema.LoadRules(in.ctx, in.conn)
	if err != nil {
		return err
	}
	if err := rules.Classify(in.ctx, in.conn, id); err != nil {
		return err
	}
	if err := in.aimFacts(id); err != nil {
		return err
	}
	for _, kv := range in.o.Tags {
		if err := schema.SetTag(in.ctx, in.conn, id, kv[0], kv[1]); err != nil {
			return err
		}
	}
	_, err = in.conn.ExecContext(in.ctx, `INSERT INTO run VALUES (?::UUID, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?)`,
		id, r.Name, r.CreatedAt, r.StartedAt, r.Command, r.Host, r.ProfVersion)
	return err
}

// defaultName is the UTC time and the first file's short name.
func defaultName(now time.Time, path string) string {
	base := stem(filepath.Base(filepath.Clean(path)))
	clean := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, base)
	return now.UTC().Format("20060102-150405") + "-" + strings.Trim(clean, "-.")
}

// checkName refuses names that could not be told from other ways to name a run.
func checkName(name string) error {
	switch {
	case strings.HasPrefix(name, "@"), strings.HasPrefix(name, "tag:"):
		return fmt.Errorf("run name %q: names that begin with @ or tag: mean runs already", name)
	case uuid.Validate(name) == nil:
		return fmt.Errorf("run name %q: it would be taken for the id of a run", name)
	case !utf8.ValidString(name):
		return fmt.Errorf("run name %q: it is not UTF-8", name)
	case strings.TrimSpace(name) != name, strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7F }):
		return fmt.Errorf("run name %q: it may not begin or end with blanks or hold control characters", name)
	}
	return nil
}

// explain adds what to do to the errors that a machine gives rather than a file.
func explain(err error, home schema.Home) error {
	text := strings.ToLower(err.Error()) // the Go library writes these texts in lower case, DuckDB does not
	switch {
	case strings.Contains(text, "no space left on device"):
		return fmt.Errorf("the disk of %s is full; free some space and ingest again (nothing was stored): %w", home.Dir, err)
	case strings.Contains(text, "read-only file system"), strings.Contains(text, "permission denied"):
		return fmt.Errorf("%s cannot be written; check its rights or name another home with --home: %w", home.Dir, err)
	}
	return err
}
