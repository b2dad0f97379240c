package schema

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"prof/internal/file"
)

// Live keeps a warehouse readable in a process that stays, while others write it. It reads a copy of the last commit and never has the file itself
// open in DuckDB: no writer waits for it, and it waits for no writer.
type Live struct {
	home    Home
	options Options
	lake    *lakeWatch // nil for a file

	mutex   sync.Mutex
	now     *Edition
	problem string // why the last commit cannot be read, as it was said

	failed string // the commit that could not be read
	again  time.Time
	pause  time.Duration

	stop context.CancelFunc
	done chan struct{}
	asks chan chan struct{} // of Look
}

// Edition is what was committed at one time.
type Edition struct {
	*Warehouse
	ID     string // of no other edition, whichever process reads it
	commit string
	users  int
	old    bool
	ended  bool // it is closed, or is about to be

	digesting chan struct{} // one at a time
	digests   map[string]Digest
	isWhole   bool // digests has all runs
}

// digestAtOnce is the size of a warehouse below which a Live makes the digests of all runs when it takes over a commit, before anyone waits for one: they take a third of a
// second or less. Of a larger one, it makes those that are asked for.
const digestAtOnce = 256 << 20

// Digest returns the digest of a run by its id.
func (e *Edition) Digest(ctx context.Context, runID string) (Digest, error) {
	select {
	case e.digesting <- struct{}{}:
		defer func() { <-e.digesting }()
	case <-ctx.Done():
		return Digest{}, ctx.Err()
	}
	d, known := e.digests[runID]
	if known || e.isWhole {
		return d, nil
	}
	found, err := e.Warehouse.digests(ctx, runID)
	if err == nil {
		e.digests[runID] = found[runID]
	}
	return found[runID], err
}

// liveEvery is how often a Live looks for a new commit, and mostPause how long it leaves alone one that it could not read: each try copies the file.
const (
	liveEvery = 50 * time.Millisecond
	mostPause = 10 * time.Second
)

// liveConnections is how many connections stay open between questions: opening one takes as long as a small query.
const liveConnections = 32

// OpenLive opens a warehouse for reading until Close, and brings it up to date first. What Options say of a copy and its DuckDB goes for each edition;
// Talk gets why a new commit cannot be read. There must be room for a copy of the file.
func OpenLive(ctx context.Context, home Home, o Options) (*Live, error) {
	plain := o
	plain.Sandbox = false
	w, err := Open(ctx, home, plain)
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	l := &Live{home: home, options: o, done: make(chan struct{}), asks: make(chan chan struct{})}
	if home.Lake != nil {
		if l.lake, err = watchLake(ctx, home.Lake); err != nil {
			return nil, err
		}
	}
	if err := l.refresh(ctx); err != nil {
		return nil, errors.Join(err, l.lake.close())
	}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	go l.watch(ctx)
	return l, nil
}

// Use returns the last commit until done is called.
func (l *Live) Use() (e *Edition, done func()) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	e = l.now
	e.users++
	return e, sync.OnceFunc(func() { l.release(e, 1) })
}

// release ends uses of an edition, which is closed after its last one once there is a newer.
func (l *Live) release(e *Edition, uses int) {
	l.mutex.Lock()
	e.users -= uses
	last := e.old && e.users == 0 && !e.ended // its last user and who replaces it may both find it so
	e.ended = e.ended || last
	l.mutex.Unlock()
	if last {
		e.lent = false
		_ = e.Close() // a copy that nobody reads
	}
}

// Problem returns why the last commit cannot be read; "" if it can.
func (l *Live) Problem() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.problem
}

// Close ends the reading. Who still uses an edition keeps it until done.
func (l *Live) Close() {
	l.stop()
	<-l.done
	l.replace(nil)
	_ = l.lake.close() // which was only read
}

// Look returns when Use gives what had been committed when it was called, or something newer.
func (l *Live) Look(ctx context.Context) error {
	looked := make(chan struct{})
	select {
	case l.asks <- looked:
	case <-l.done:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-looked:
		return nil
	case <-l.done:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// errEnded is of a Live that was closed.
var errEnded = errors.New("the warehouse is not watched any more")

// watch takes over each commit.
func (l *Live) watch(ctx context.Context) {
	defer close(l.done)
	every := liveEvery
	if l.lake != nil {
		every = lakeEvery
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	var waiting []chan struct{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case looked := <-l.asks:
			waiting = append(waiting, looked)
		}
		err := l.refresh(ctx)
		if ctx.Err() != nil {
			return
		}
		if !errors.Is(err, errSame) {
			l.say(err)
		}
		if err == nil {
			for _, looked := range waiting {
				close(looked)
			}
			waiting = nil
		}
	}
}

// say passes on a new problem, once.
func (l *Live) say(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	l.mutex.Lock()
	isNew := text != l.problem
	l.problem = text
	l.mutex.Unlock()
	if isNew && text != "" && l.options.Talk != nil {
		l.options.Talk("the last commit cannot be read, answers are from the one before: " + text)
	}
}

// refresh opens a copy of the last commit, unless that is the one that is open.
func (l *Live) refresh(ctx context.Context) error {
	id, err := l.commit(ctx)
	if err != nil || l.now != nil && l.now.commit == id { // only this goroutine changes it
		return err
	}
	if id == l.failed && time.Now().Before(l.again) {
		return errSame
	}
	if err := l.take(ctx, id); err != nil {
		l.pause = min(max(liveEvery, 2*l.pause), mostPause)
		if id != l.failed {
			l.failed, l.pause = id, liveEvery
		}
		l.again = time.Now().Add(l.pause)
		return err
	}
	l.failed = ""
	return nil
}

// commit names the last commit.
func (l *Live) commit(ctx context.Context) (string, error) {
	if l.lake != nil {
		return l.lake.commit(ctx)
	}
	if l.home.wasKilled() {
		l.home.repair(ctx, Options{})
	}
	return l.home.commit()
}

// errSame is of a commit that could not be read a moment ago.
var errSame = errors.New("the commit could not be read")

// take opens a copy of the commit with this id.
func (l *Live) take(ctx context.Context, id string) error {
	var w *Warehouse
	var atOnce bool
	var err error
	if l.lake != nil { // which says of each run what it has
		w, err = openLake(ctx, l.home, l.options)
		atOnce = true
	} else {
		w, atOnce, err = l.copy(ctx)
	}
	if err != nil {
		return err
	}
	w.DB.SetMaxIdleConns(liveConnections)
	e := &Edition{Warehouse: w, ID: rand.Text(), commit: id, digesting: make(chan struct{}, 1), digests: map[string]Digest{}}
	if atOnce {
		if e.digests, err = w.digests(ctx, ""); err != nil {
			return errors.Join(err, w.Close())
		}
		e.isWhole = true
	}
	w.lent = true
	l.replace(e)
	return nil
}

// copy opens a copy of the file, and reports whether it is small enough to make the digests of all runs at once.
func (l *Live) copy(ctx context.Context) (w *Warehouse, atOnce bool, err error) {
	spill := takeSpill()
	db, copied, err := l.home.openCopy(ctx, l.options, spill)
	if err != nil {
		return nil, false, errors.Join(plainOpenError(err, l.home), dropSpill())
	}
	w = &Warehouse{DB: db, Home: l.home, copied: copied, release: func() error { return errors.Join(copied.Close(), dropSpill()) }}
	current, err := isCurrent(ctx, db, l.options)
	if err == nil && !current {
		err = fmt.Errorf("%w: another version of prof has written it, or rules have changed; start again", ErrOutdated)
	}
	if err != nil {
		return nil, false, errors.Join(err, w.Close())
	}
	st, err := copied.Stat()
	return w, err == nil && st.Size() < digestAtOnce, nil
}

// replace makes an edition the current one.
func (l *Live) replace(e *Edition) {
	l.mutex.Lock()
	before := l.now
	l.now = e
	if before != nil {
		before.old = true
	}
	l.mutex.Unlock()
	if before != nil {
		l.release(before, 0)
	}
}

// commit names the last commit of a warehouse by its file and the headers of that, one of which each commit writes. The process must not have the file open
// in DuckDB; see copyCommitted.
func (h Home) commit() (string, error) {
	f, err := file.Open(h.Warehouse())
	if err != nil {
		return "", err
	}
	defer f.Close()
	headers, err := readHeaders(f)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", h.Warehouse(), err)
	}
	st, err := f.Stat()
	if err != nil {
		return "", err
	}
	if own, ok := st.Sys().(*syscall.Stat_t); ok { // another file, as from a backup, may have the same headers
		headers = fmt.Appendf(headers, "%d %d", own.Dev, own.Ino)
	}
	sum := sha256.Sum256(headers)
	return hex.EncodeToString(sum[:8]), nil
}

// lakeEvery is how often a Live looks for a new commit of a lake: each look is a question to PostgreSQL.
const lakeEvery = time.Second

// lakeWatch sees commits of a lake.
type lakeWatch struct {
	db   *sql.DB
	conn *sql.Conn
}

func watchLake(ctx context.Context, l *Lake) (*lakeWatch, error) {
	db, err := connect(ctx, "", "READ_WRITE", "", Options{})
	if err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err == nil {
		err = l.attach(ctx, conn, toRead)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &lakeWatch{db, conn}, nil
}

// commit names the last commit.
func (w *lakeWatch) commit(ctx context.Context) (id string, err error) {
	return id, w.conn.QueryRowContext(ctx, "SELECT id::VARCHAR FROM "+lakeName+".current_snapshot()").Scan(&id)
}

func (w *lakeWatch) close() error {
	if w == nil {
		return nil
	}
	return errors.Join(w.conn.Close(), w.db.Close())
}

// Digest names what a warehouse has of a run: while it stays the same in a process, so do the answers about the run, however often the warehouse was written. What
// writes rows, and when, need not be known: each is hashed.
type Digest struct {
	Rows  string // of the run's rows, and of the rules and peaks that all runs share
	Names string // of its tags and baselines
}

// named are the tables of the names that people give runs.
var named = []string{"run_tag", "baseline"}

// digests returns the digests of all runs by id, or with an id that of one run. A gigabyte of rows takes about a second.
func (w *Warehouse) digests(ctx context.Context, runID string) (map[string]Digest, error) {
	tables, err := runTables(ctx, w.DB)
	if err != nil {
		return nil, err
	}
	if w.Home.Lake != nil { // what was pushed of each run, the lake knows
		tables = append([]string{"pushed_run", "derivation"}, named...)
	}
	of := ""
	if runID != "" {
		of = " WHERE run_id = " + Quote(runID) + "::UUID"
	}
	var parts []string
	for _, t := range tables {
		isName := slices.Contains(named, t)
		parts = append(parts, fmt.Sprintf("SELECT run_id, %t AS is_name, '%s ' || count(*) || ' ' || sum(hash(t)) AS digest FROM %[2]s t%s GROUP BY run_id", isName, t, of))
	}
	known, err := knownMigrations()
	if err != nil {
		return nil, err
	}
	shared, err := madeTables(known, func(t ddlTable) bool { return t.columns[0][0] != "run_id" })
	if err != nil {
		return nil, err
	}
	for _, t := range shared {
		parts = append(parts, fmt.Sprintf("SELECT NULL, false, '%s ' || count(*) || ' ' || coalesce(sum(hash(t)), 0) FROM %[1]s t", t))
	}
	rows, err := w.DB.QueryContext(ctx, "SELECT run_id::VARCHAR, is_name, md5(string_agg(digest, ' ' ORDER BY digest)) FROM ("+strings.Join(parts, "\nUNION ALL ")+") GROUP BY run_id, is_name")
	if err != nil {
		return nil, fmt.Errorf("digest of runs: %w", err)
	}
	defer rows.Close()
	out, ofShared := map[string]Digest{}, ""
	for rows.Next() {
		var id sql.NullString
		var isName bool
		var digest string
		if err := rows.Scan(&id, &isName, &digest); err != nil {
			return nil, fmt.Errorf("digest of runs: %w", err)
		}
		d := out[id.String]
		switch {
		case !id.Valid:
			ofShared = digest
			continue
		case isName:
			d.Names = digest
		default:
			d.Rows = digest
		}
		out[id.String] = d
	}
	for id, d := range out {
		d.Rows += ofShared
		out[id] = d
	}
	return out, rows.Err()
}
