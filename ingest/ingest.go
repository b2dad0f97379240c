// Package ingest turns captured files into rows of the warehouse: one call makes one run, all of it or nothing.
package ingest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"prof/ingest/load"
	"prof/ingest/store"
	"prof/ingest/torch"
	"prof/ingest/workload"
	"prof/internal/mask"
	"prof/schema"
)

// Options say how Run ingests.
type Options struct {
	Name        string      // name of the run; "" makes one from the time and the first file
	OwnName     bool        // set by Run when it made the name
	RunID       string      // id of a new run, a UUID in text form; "" draws one
	Tags        [][2]string // tags of the run
	Now         time.Time   // time of the ingest
	ProfVersion string
	Load        load.Options
	Models      []string        // configurations of models, whatever the files are called
	Workloads   []string        // facts of workloads, whatever the files are called
	Pass        *workload.Facts // what holds for every pass; nil when nothing was said
	// Replace makes the named run anew, where it is there: with its id, the time it was made and its tags, and nothing else of what
	// it held. Without a name it is the one that would be made.
	Replace bool
	// Device names the GPUs of the run whose captures do not name them: as the driver would, a name that prof has peaks of. "" for none.
	Device string
	// Add adds captures and facts to the named run, which is there, to those that it has.
	Add bool
	// Warn is told what the user should know at once. It may be nil.
	Warn func(message string)

	isTight bool // DuckDB's memory did not suffice before
	lacks   bool // it does not suffice for the facts of the run, which is stored without
}

// Result says what an ingest did.
type Result struct {
	Run      schema.Run
	Sources  []Source
	Repeated []Repeat // files whose content the warehouse holds already
	Skipped  []Skip   // files of folders that were not read
	Made     bool     // false when every file was a repeat, so that no run was made
	Attached bool     // they were stored with a run that was there
	Named    int      // GPUs that got the name of Options.Device
}

// Source is one file or folder that was stored.
type Source struct {
	Path string
	Kind string
	Form string
	Rows int64
	Size int64
}

// Repeat is a file whose content is in the warehouse already.
type Repeat struct {
	Path, Run string
	Had       bool // the run had it before, and is not a new one
}

// Errors that Run's errors wrap.
var (
	ErrUnknownFormat = errors.New("no known format")
	ErrNothing       = errors.New("nothing to ingest")
	ErrHeld          = errors.New("the warehouse has part of this already")
	ErrChanging      = errors.New("the file is still being written")
	ErrSeveral       = errors.New("each is a separate run")
	ErrLess          = errors.New("the run would lose captures")
	ErrOther         = errors.New("the run is a different capture")
	ErrDevice        = errors.New("the GPU cannot be named so")
	ErrNoSource      = errors.New("the run has no such source")
	ErrNoRun         = errors.New("options without files add facts to a stored run: name it with --run, or give captures too")
)

// Check finds, before a warehouse is opened, mistakes in what Run would be given.
func Check(paths []string, o Options) error {
	if o.Name != "" && !o.Add {
		if err := schema.CheckRunName(o.Name); err != nil {
			return err
		}
	}
	_, err := o.find(paths, nil)
	return err
}

// find finds what to ingest in the paths and the options, but what is known to be broken.
func (o Options) find(paths []string, broken map[string]error) (*inputs, error) {
	in, err := findInputs(paths, broken)
	if err != nil {
		return nil, err
	}
	if err := in.addFacts(o); err != nil {
		return nil, err
	}
	if err := in.leaveTooLarge(); err != nil {
		return nil, err
	}
	in.joinFiles()
	return in, nil
}

// Run ingests files and folders as one run. Either all of it is stored or, on any error, nothing. What a capture left in its folder
// and cannot be read is passed over with a warning, since the rest of the run is worth having.
func Run(ctx context.Context, w *schema.Warehouse, paths []string, o Options) (*Result, error) {
	o.Warn = once(o.Warn)
	broken := map[string]error{}
	for {
		var res *Result
		tries := 0
		err := w.Again(ctx, func() (err error) {
			o.isTight = tries > 0
			tries++
			res, err = attempt(ctx, w, paths, o, broken)
			return err
		})
		if o.lacksFacts(err) {
			continue
		}
		var u *unreadable
		if !errors.As(err, &u) || broken[u.path] != nil {
			return res, err
		}
		// Part of it is stored already, and DuckDB takes back a whole transaction only.
		broken[u.path] = u.err
	}
}

// attempt ingests all but what is known to be broken.
func attempt(ctx context.Context, w *schema.Warehouse, paths []string, o Options, broken map[string]error) (*Result, error) {
	found, err := o.find(paths, broken)
	if err != nil {
		return nil, err
	}
	if len(found.list) == 0 && o.Pass == nil && o.Device == "" {
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
		if len(found.captures) > 0 {
			o.Name = found.captures[0].run.Manifest.Run
		}
	}
	if err := schema.CheckRunName(o.Name); err != nil {
		return nil, err
	}
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// DuckDB's threads call into Go for rows, and would wait there for the goroutine that hashes the file.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2))
	if most := w.Budget.Heap(); most > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(most))
	}
	o.Load.RecordsInMemory = cmp.Or(o.Load.RecordsInMemory, w.Budget.Records())
	in := &ingester{ctx: ctx, w: w, conn: conn, o: o, result: &Result{Skipped: found.skipped}, captures: found.captures, left: found.left}
	in.warnLeft(found)
	in.warnUnread()
	err = in.run(found.list)
	if err == nil && in.result.Made {
		err = w.Publish(ctx, in.result.Run)
	}
	if err != nil {
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
	target *store.Store
	seen   map[string][]holder // by capture id, to tell two forms of one capture
	known  known
	infos  []*load.SourceInfo

	isLarge     bool         // one of the captures is, see fewBytes
	isSpread    bool         // one of them is
	firstSource int          // last source_id that the run holds already
	kept        map[int]bool // facts among those that were given again
	before      string       // command of the timelines that the run holds already

	said  []string            // warnings of files, in order
	alike map[string][]string // the files of each

	captures captures   // whose run.json are among the inputs
	left     []input    // files that hold what another one holds better
	replaced *time.Time // when the run was made in whose place this one is; nil when there was none
}

func (in *ingester) run(inputs []input) error {
	captures, facts := split(inputs)
	id, err := in.attachTo(captures)
	if err != nil {
		return err
	}
	old, err := in.replacedRun()
	if err != nil {
		return err
	}
	if is := cmp.Or(id, old); is != "" {
		if err := in.w.Fetch(in.ctx, schema.Run{ID: is, Name: in.o.Name}); err != nil {
			return err
		}
	}
	fill, isNew := in.attach, id == ""
	if isNew && len(inputs) == 0 {
		return ErrNoRun
	}
	if isNew {
		fill = in.fill
		if id = in.o.RunID; id == "" {
			if id, err = schema.FreeRunID(in.ctx, in.conn); err != nil {
				return err
			}
		}
		if old != "" {
			id = old
		}
	}
	if in.target, err = store.New(in.conn, id, &in.shared, in.o.Load); err != nil {
		return err
	}
	if isNew || len(captures) > 0 { // a large run may get few facts more
		if err := in.size(inputs); err != nil {
			return err
		}
		if in.isLarge {
			if in.w.Budget.Heap() > 0 {
				defer debug.SetGCPercent(debug.SetGCPercent(tightPercent))
			}
			// What is small fits DuckDB's memory, and two settings take longer than some of its tables.
			if !in.o.isTight {
				in.target.Outside = func(ctx context.Context, statement string) error {
					_, err := in.w.DB.ExecContext(ctx, statement)
					return err
				}
			}
		}
	}
	// Queries sort, so nothing needs the order of insertion; but it makes one thread write. Of several, each keeps the rows of a statement that fill
	// no row group, not compressed, to the end of the transaction: of a hundred small sources, all of DuckDB's memory.
	if _, err := in.conn.ExecContext(in.ctx, fmt.Sprintf(`SET preserve_insertion_order = %v`, !in.isLarge)); err != nil {
		return err
	}
	inTwo := isNew && in.isLarge && in.replaced == nil
	err = in.transact(func() error {
		if err := fill(id, captures, facts); err != nil || !isNew || !in.result.Made || inTwo {
			return err
		}
		return in.publish(in.conn)
	})
	if err != nil || !in.result.Made || !inTwo {
		return err
	}
	return in.publishApart()
}

// publishApart makes a run of rows that are committed: DuckDB knows statistics of such rows only, and derives facts from them in half the
// time. Rows of no run, which a killed process leaves, are deleted when the warehouse is opened for writing next. A run whose facts do not fit
// DuckDB's memory lacks them.
func (in *ingester) publishApart() error {
	err := in.w.Beside(in.ctx, in.conn, []string{"run"}, in.publish, func() error { return nil })
	if schema.IsOutOfMemory(err) { // several statements at once need more than one
		err = in.w.Transact(in.ctx, in.conn, func() error { return in.publish(in.conn) })
	}
	if in.o.lacksFacts(err) {
		err = in.transact(func() error { return in.publish(in.conn) })
	}
	if err == nil || in.ctx.Err() != nil { // who interrupts does not want to wait
		return err
	}
	return errors.Join(err, in.w.ClearUnfinished(in.ctx))
}

// transact does something in a transaction, all of it or nothing.
func (in *ingester) transact(do func() error) error { return in.w.TransactOnce(in.ctx, in.conn, do) }

// lacksFacts reports whether the run is to be stored without its facts, since DuckDB's memory does not suffice to derive them.
func (o *Options) lacksFacts(err error) bool {
	if !errors.Is(err, schema.ErrMemory) || o.lacks {
		return false
	}
	if o.lacks = true; o.Warn != nil {
		o.Warn(fmt.Sprintf("what follows from the captures of run %s is missing: %v", o.Name, err))
	}
	return true
}

// fewBytes is the size of a capture, unpacked, above which it makes a run large: its rows are committed before facts are derived from them. Many small
// captures do not make one: each is forgotten before the next is read.
const fewBytes = 64 << 20

// manyBytes is the size of a capture, unpacked, above which several threads of DuckDB store it in less time than one. They take up to a third more CPU: threads
// without work poll for it.
const manyBytes = 256 << 20

// tightPercent is how much the heap grows between collections while large captures are read in bounded memory: it costs a tenth of the CPU, and saves a
// fourth of the process.
const tightPercent = 25

// usualPacking is how many times as large packed captures are unpacked, about.
const usualPacking = 8

// size finds the sizes of the inputs, and lets DuckDB store in one thread: load gives it more for what is large enough.
func (in *ingester) size(inputs []input) error {
	for _, f := range inputs {
		s, err := f.stat()
		if err != nil {
			return nil // its reader says what is wrong
		}
		size := f.unpacked(s.size)
		in.isLarge, in.isSpread = in.isLarge || size > fewBytes, in.isSpread || f.isSpread(size)
	}
	return in.setThreads(false)
}

// setThreads gives DuckDB all threads or one.
func (in *ingester) setThreads(all bool) error {
	set := `SET threads = 1`
	if all {
		set = in.w.Budget.AllThreads()
	}
	_, err := in.conn.ExecContext(in.ctx, set)
	return err
}

// isSpread reports whether several threads read and store an input of so many bytes, unpacked.
func (f input) isSpread(size int64) bool { return f.format.Spread && size > manyBytes }

func (in *ingester) fill(id string, captures, facts []input) error {
	var old []held
	if in.replaced != nil {
		var err error
		if old, err = in.heldBefore(id); err != nil {
			return err
		}
		if err := schema.Clear(in.ctx, in.conn, id); err != nil {
			return err
		}
	} else if err := in.checkFree(); err != nil {
		return err
	}
	if held, err := in.isFactsRun(captures, facts); held || err != nil {
		return err
	}
	in.seen = map[string][]holder{}
	if err := in.each(captures); err != nil {
		return err
	}
	if err := errors.Join(in.leaveMerged(id), in.tellGPUsApart(id)); err != nil {
		return err
	}
	store := in.storeFacts
	if len(captures) > 0 && len(in.result.Sources) == 0 && (len(in.captures) == 0 || len(in.result.Repeated) > 0) {
		store = in.leaveFacts
	}
	if err := store(facts); err != nil {
		return err
	}
	if len(in.result.Sources) == 0 {
		if len(in.result.Repeated) == 0 {
			return in.nothing()
		}
		if in.replaced == nil {
			return nil
		}
	}
	if err := in.isElsewhere(); err != nil {
		return err
	}
	if err := in.isLess(id, old); err != nil {
		return err
	}
	in.result.Made = true
	in.warnAlone(captures, facts)
	in.warnMixed()
	return in.finish(id)
}

// nothing says that no file was read and, of the last that seemed to be a capture or made of one, why.
func (in *ingester) nothing() error {
	for _, s := range slices.Backward(in.result.Skipped) {
		if !s.IsOther() {
			return fmt.Errorf("%w; %s: %s", ErrNothing, s.Path, s.Why)
		}
	}
	return ErrNothing
}

// isElsewhere refuses files that another run has. The same file twice is no loss.
func (in *ingester) isElsewhere() error {
	for _, r := range in.result.Repeated {
		if r.Run != in.o.Name {
			return fmt.Errorf("%w: %s is in run %s; omit it, or `prof rm %s`%s to store all of these files as one run", ErrHeld, r.Path, r.Run, r.Run, in.orReplace(r.Run))
		}
	}
	return nil
}

func (in *ingester) each(inputs []input) error {
	a := in.newAhead(inputs)
	defer a.stop()
	defer in.warnAlike()
	for i, f := range inputs {
		if err := in.ctx.Err(); err != nil {
			return err
		}
		if err := a.reach(i); err != nil {
			return err
		}
		if p := in.o.Load.Progress; p != nil {
			phase := a.phase(i)
			in.target.Options.Progress = func(what string, done, total int64) { p(phase+": "+what, done, total) }
			p(phase, 0, -1)
		}
		if err := in.source(f, a.of[i]); err != nil {
			return err
		}
		a.leave(i)
	}
	in.target.Gather(false)
	if err := in.target.Flush(in.ctx); err != nil || !in.isSpread {
		return err
	}
	return in.setThreads(true)
}

// finish stores what the sources share and what the run is given, all but the run itself.
func (in *ingester) finish(id string) error {
	if err := in.storeShared(); err != nil {
		return err
	}
	r := schema.Run{ID: id, Name: in.o.Name, CreatedAt: in.o.Now.UTC(), ProfVersion: in.o.ProfVersion}
	if in.replaced != nil {
		r.CreatedAt = *in.replaced
	}
	in.captures.describe(&r)
	for _, info := range in.infos {
		if len(in.captures) == 0 && info.StartedAt != nil && (r.StartedAt == nil || info.StartedAt.Before(*r.StartedAt)) {
			r.StartedAt = info.StartedAt
		}
		if r.Command == "" {
			r.Command = info.Command
		}
		if r.Host == "" {
			r.Host = info.Host
		}
	}
	r.Command, r.Host = mask.Stored(r.Command), mask.Stored(r.Host)
	in.result.Run = r
	if err := in.warnTwice(id); err != nil {
		return err
	}
	if err := errors.Join(in.linkPasses(id), in.nameSlices(id), in.nameDevices(id)); err != nil {
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
	return nil
}

// storeShared stores what the run's sources share.
func (in *ingester) storeShared() error {
	if err := in.target.StoreShared(in.ctx); err != nil {
		return err
	}
	return torch.StoreStacks(in.ctx, &in.target.Target)
}

// publish stores the run, with the facts that follow from its rows.
func (in *ingester) publish(q schema.SQL) error {
	r := in.result.Run
	if _, err := q.ExecContext(in.ctx, `INSERT INTO run VALUES (?::UUID, ?, ?, ?, nullif(?, ''), nullif(?, ''), ?)`,
		r.ID, r.Name, r.CreatedAt, r.StartedAt, r.Command, r.Host, r.ProfVersion); err != nil {
		return err
	}
	in.shared = load.Run{} // all of it is stored
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapInuse > fewBytes { // DuckDB sorts and groups in what the readers took
		debug.FreeOSMemory()
	}
	if p := in.o.Load.Progress; p != nil {
		p("deriving facts", 0, -1)
	}
	if in.o.lacks {
		return schema.LackFacts(in.ctx, q, in.w.Facts, r.ID)
	}
	return schema.Derive(in.ctx, q, in.w.Facts, r.ID)
}

// explain adds what to do to the errors that a machine gives rather than a file.
func explain(err error, home schema.Home) error {
	switch {
	case isFull(err) && schema.CommitStands(err):
		return fmt.Errorf("the disk of %s is full; the run was stored, but free some space before the next command: %w", home.Dir, err)
	case isFull(err):
		return fmt.Errorf("the disk of %s is full, or a limit of this user is reached; free some space and ingest again (nothing was stored): %w", home.Dir, err)
	case isForbidden(err):
		return fmt.Errorf("%s cannot be written; check its permissions, or choose another home with --home: %w", home.Dir, err)
	}
	return err
}

// isFull and isForbidden go by the text: the Go library writes it in lower case, DuckDB does not.
func isFull(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "no space left on device") || strings.Contains(text, "disk quota exceeded") || strings.Contains(text, "file too large")
}

func isForbidden(err error) bool {
	text := strings.ToLower(err.Error())
	return strings.Contains(text, "read-only file system") || strings.Contains(text, "permission denied")
}
