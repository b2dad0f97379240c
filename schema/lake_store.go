package schema

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"prof/internal/mask"
	"prof/internal/scratch"
)

// pushedTable is the table that only a lake has: what each run has, to know it again and to see that all of it came.
const pushedTable = `CREATE TABLE ` + lakeName + `.main.pushed_run (run_id UUID, digest VARCHAR, row_counts VARCHAR, pushed_at TIMESTAMP, pushed_by VARCHAR);
COMMENT ON TABLE ` + lakeName + `.main.pushed_run IS 'One row a run: what was pushed of it';
COMMENT ON COLUMN ` + lakeName + `.main.pushed_run.run_id IS 'The run';
COMMENT ON COLUMN ` + lakeName + `.main.pushed_run.digest IS 'Of all rows of the run but its tags and baselines; the same content has the same';
COMMENT ON COLUMN ` + lakeName + `.main.pushed_run.row_counts IS 'JSON: rows of each table that has any';
COMMENT ON COLUMN ` + lakeName + `.main.pushed_run.pushed_at IS 'UTC time of the push';
COMMENT ON COLUMN ` + lakeName + `.main.pushed_run.pushed_by IS 'Host that pushed it'`

// Moved is the outcome of pushing or pulling a run.
type Moved struct {
	Run   Run
	Rows  int64
	Tags  int  // that are new or other there
	There bool // it was there already, with the same content
}

// ErrDiffers is wrapped by errors about a run, or parts of one, that are there otherwise.
var ErrDiffers = errors.New("it is there with other content")

// PushOptions say how runs travel to a lake.
type PushOptions struct {
	Replace bool     // a run that is there with other content
	upgrade bool     // the lake, to the facts that the run has
	seen    string   // what the lake had of the run when it was fetched, see pushedState
	known   []string // tags that it had then, and that are not pushed
}

// Push writes runs of the warehouse into a lake, each in one transaction: all of it or nothing. A run that is there with the same content stays as it is. Baselines are
// names that a warehouse gives, and are not pushed. done is called after each run, with its error, and ends the push with the error that it returns. Errors
// wrap ErrDiffers, ErrNameTaken or ErrOtherRules where that is so.
func (w *Warehouse) Push(ctx context.Context, to *Lake, runs []Run, o PushOptions, done func(Moved, error) error) error {
	return w.withLake(ctx, to, toChange, func(conn *sql.Conn) error {
		for _, r := range runs {
			m := Moved{Run: r}
			err := w.pushTogether(ctx, conn, to, []*Moved{&m}, func(Run) PushOptions { return o })
			if err := done(m, err); err != nil {
				return err
			}
		}
		return nil
	})
}

// pushTogether writes runs in one transaction: all of them or none.
func (w *Warehouse) pushTogether(ctx context.Context, conn *sql.Conn, to *Lake, moved []*Moved, o func(Run) PushOptions) error {
	var names []string
	for _, m := range moved {
		sources, err := texts(w.DB.QueryContext(ctx, `SELECT DISTINCT 'source ' || s.sha256 FROM source s WHERE s.run_id = ?::UUID AND s.kind IN (`+capturedKinds()+`) ORDER BY 1`, m.Run.ID))
		if err != nil {
			return err
		}
		names = append(append(names, "name "+m.Run.Name, "run "+m.Run.ID), sources...)
	}
	release, err := w.lockLake(ctx, to, lakeWait, names...)
	if err != nil {
		return err
	}
	defer release()
	return again(ctx, func() error {
		return w.Transact(ctx, conn, func() error {
			for _, m := range moved {
				*m = Moved{Run: m.Run}
				if err := m.push(ctx, conn, o(m.Run)); err != nil {
					return fmt.Errorf("push run %s: %w", m.Run.Name, err)
				}
			}
			return nil
		})
	})
}

// withLake does something with a connection that has a lake next to the warehouse.
func (w *Warehouse) withLake(ctx context.Context, l *Lake, how string, do func(conn *sql.Conn) error) error {
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := l.attach(ctx, conn, how); err != nil {
		return err
	}
	err = do(conn)
	_, detach := conn.ExecContext(context.WithoutCancel(ctx), "DETACH "+lakeName)
	if err == nil {
		err = detach
	}
	return err
}

// mostTries is how often a change is tried that others' changes are in the way of.
const mostTries = 8

// again does something again where another writer of a lake was first.
func again(ctx context.Context, do func() error) error {
	pause := 50 * time.Millisecond
	for try := 1; ; try++ {
		err := do()
		if err == nil || try == mostTries || !strings.Contains(strings.ToLower(err.Error()), "transaction conflict") {
			return plainLakeError(err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
			pause *= 2
		}
	}
}

// lockLake takes names in a lake for this process until release, so that nobody else writes what they stand for: DuckLake finds two writers only where both delete the same
// rows. PostgreSQL gives the names back when a process is killed. A catalog in a file is open in one process at a time.
func (w *Warehouse) lockLake(ctx context.Context, l *Lake, wait time.Duration, names ...string) (release func(), err error) {
	if !l.usesPostgres() {
		return func() {}, nil
	}
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	release = func() { _ = tx.Rollback() }
	deadline := time.Now().Add(wait)
	for _, n := range names {
		for {
			var got string
			ask := "SELECT pg_try_advisory_xact_lock(hashtextextended(" + Quote("prof "+n) + ", 0))::text"
			if err := tx.QueryRowContext(ctx, "FROM postgres_query("+Quote(lakeMeta)+", "+Quote(ask)+")").Scan(&got); err != nil {
				release()
				return nil, err
			}
			if got == "true" {
				break
			}
			if time.Now().After(deadline) {
				release()
				return nil, fmt.Errorf("another process has been at work on the lake's %s for %s: try again later", n, wait)
			}
			select {
			case <-ctx.Done():
				release()
				return nil, ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return release, nil
}

// push writes a run from the warehouse's file into the attached lake.
func (m *Moved) push(ctx context.Context, q SQL, o PushOptions) error {
	tables, err := runTables(ctx, q)
	if err != nil {
		return err
	}
	tables = slices.DeleteFunc(tables, func(t string) bool { return slices.Contains(named, t) })
	counts, err := countRows(ctx, q, "", tables, m.Run.ID)
	if err != nil {
		return err
	}
	digest, err := contentOf(ctx, q, "", m.Run.ID)
	if err != nil {
		return err
	}
	there, err := pushedDigest(ctx, q, m.Run.ID)
	if err != nil {
		return err
	}
	if there != "" && there == digest && !o.upgrade {
		m.There = true
		return m.copyTags(ctx, q, "", lakeName+".main.", o.known)
	}
	if there != "" && !o.Replace {
		return fmt.Errorf("%w: --replace puts this one in its place", ErrDiffers)
	}
	if o.seen != "" {
		now, err := pushedState(ctx, q, m.Run.ID)
		if err != nil {
			return err
		}
		if now != o.seen {
			return errors.New("another process changed or removed the run meanwhile: run the command again")
		}
	}
	if err := sameFacts(ctx, q, m.Run.ID, o.upgrade); err != nil {
		return err
	}
	if there != "" {
		for _, t := range append(slices.Clone(tables), "pushed_run") {
			if _, err := q.ExecContext(ctx, `DELETE FROM lake.main.`+t+` WHERE run_id = ?::UUID`, m.Run.ID); err != nil {
				return fmt.Errorf("from %s: %w", t, err)
			}
		}
	}
	if !o.upgrade {
		if err := m.checkName(ctx, q); err != nil {
			return err
		}
	}
	if err := m.copyTags(ctx, q, "", lakeName+".main.", o.known); err != nil {
		return err
	}
	m.Rows = 0
	for _, t := range tables {
		if counts[t] == 0 {
			continue
		}
		if err := insertRows(ctx, q, lakeName+".main."+t, rowsOf("", t, m.Run.ID), counts[t]); err != nil {
			return fmt.Errorf("table %s: %w", t, err)
		}
		m.Rows += counts[t]
	}
	text, err := json.Marshal(counts)
	if err != nil {
		return err
	}
	host, _ := os.Hostname() // "" where it has no name
	_, err = q.ExecContext(ctx, `INSERT INTO lake.main.pushed_run VALUES (?::UUID, ?, ?, now()::TIMESTAMP, ?)`, m.Run.ID, digest, string(text), host)
	return err
}

// checkName reports whether a run's name is free in the lake, and whether its captures are in no other run there.
func (m *Moved) checkName(ctx context.Context, q SQL) error {
	taken, err := texts(q.QueryContext(ctx, `SELECT r.run_id::VARCHAR FROM lake.main.run r WHERE r.name = ? AND r.run_id <> ?::UUID`, m.Run.Name, m.Run.ID))
	if err == nil && len(taken) > 0 {
		err = fmt.Errorf("%w: %q, by run %s of the lake", ErrNameTaken, m.Run.Name, taken[0])
	}
	if err != nil {
		return err
	}
	clash, err := texts(q.QueryContext(ctx, `SELECT r.name FROM lake.main.run r WHERE r.run_id <> ?::UUID AND ('0x' || left(md5(r.run_id::VARCHAR), 9))::BIGINT = ? LIMIT 1`, m.Run.ID, IDBase(m.Run.ID)>>idBits))
	if err == nil && len(clash) > 0 {
		err = fmt.Errorf("%w: its numbers are those of run %s there; store it anew with `prof ingest`", ErrDiffers, clash[0])
	}
	if err != nil {
		return err
	}
	others, err := texts(q.QueryContext(ctx, `SELECT r.name FROM source s JOIN lake.main.source o ON o.sha256 = s.sha256 AND o.kind = s.kind AND o.run_id <> s.run_id JOIN lake.main.run r ON r.run_id = o.run_id
		WHERE s.run_id = ?::UUID AND s.kind IN (`+capturedKinds()+`) ORDER BY r.name LIMIT 1`, m.Run.ID))
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("%w: its captures are those of run %s there", ErrDiffers, others[0])
	}
	return err
}

// ErrOtherRules is wrapped by the error that a run's facts are not by the rules of the lake.
var ErrOtherRules = errors.New("its facts are by other rules than those of the lake")

// sameFacts reports whether a run's facts were derived as those of the lake, unless that is being upgraded. A run that lacks them is better there than nowhere.
func sameFacts(ctx context.Context, q SQL, runID string, upgrade bool) error {
	same, err := texts(q.QueryContext(ctx, `SELECT d.checksum FROM derivation d WHERE d.run_id = ?::UUID
		AND (? OR d.checksum IN (SELECT unnest([v.checksum, v.checksum || `+Quote(lacking)+`]) FROM lake.main.schema_version v WHERE v.version = `+strconv.Itoa(derivedVersion)+`))`, runID, upgrade))
	if err == nil && len(same) != 1 {
		err = ErrOtherRules
	}
	return err
}

// pushedDigest is the digest of what the lake has of a run; "" where it has none. One that another version of DuckDB made is made anew.
func pushedDigest(ctx context.Context, q SQL, runID string) (string, error) {
	there, err := texts(q.QueryContext(ctx, `SELECT coalesce((SELECT max(p.digest) FROM lake.main.pushed_run p WHERE p.run_id = r.run_id), 'unknown') FROM lake.main.run r WHERE r.run_id = ?::UUID`, runID))
	if err != nil || len(there) == 0 {
		return "", err
	}
	if by, _, _ := strings.Cut(there[0], " "); by == DuckDBVersion() {
		return there[0], nil
	}
	return contentOf(ctx, q, lakeName+".main.", runID)
}

// pushedState names what the lake has of a run, other each time it is pushed.
func pushedState(ctx context.Context, q SQL, runID string) (string, error) {
	now, err := texts(q.QueryContext(ctx, `SELECT concat_ws(' ', p.digest, p.pushed_at, p.pushed_by) FROM lake.main.pushed_run p WHERE p.run_id = ?::UUID`, runID))
	return strings.Join(now, " "), err
}

// copyTags copies the tags of a run, in place of others with the same keys; known ones, as KEY=VALUE, are left as they are.
func (m *Moved) copyTags(ctx context.Context, q SQL, from, to string, known []string) error {
	tags, err := texts(q.QueryContext(ctx, `SELECT t.key || '=' || t.value FROM `+from+`run_tag t WHERE t.run_id = ?::UUID
		AND NOT EXISTS (SELECT 1 FROM `+to+`run_tag o WHERE o.run_id = t.run_id AND o.key = t.key AND o.value = t.value) ORDER BY 1`, m.Run.ID))
	if err != nil {
		return err
	}
	for _, t := range tags {
		if slices.Contains(known, t) {
			continue
		}
		key, value, _ := strings.Cut(t, "=")
		key, value = mask.Stored(key), mask.Value(key, value)
		if _, err := q.ExecContext(ctx, `DELETE FROM `+to+`run_tag WHERE run_id = ?::UUID AND key = ?`, m.Run.ID, key); err != nil {
			return err
		}
		if _, err := q.ExecContext(ctx, `INSERT INTO `+to+`run_tag VALUES (?::UUID, ?, ?)`, m.Run.ID, key, value); err != nil {
			return err
		}
		m.Tags++
	}
	return nil
}

// rowsOf selects a run's rows of a table of a catalog.
func rowsOf(catalog, table, runID string) string {
	return `SELECT * FROM ` + catalog + table + ` WHERE run_id = ` + Quote(runID) + `::UUID`
}

// countRows counts a run's rows in each table that has any.
func countRows(ctx context.Context, q SQL, from string, tables []string, runID string) (map[string]int64, error) {
	parts := make([]string, len(tables))
	for i, t := range tables {
		parts[i] = fmt.Sprintf("SELECT '%s' AS name, count(*) AS n FROM %s%[1]s WHERE run_id = %[3]s::UUID", t, from, Quote(runID))
	}
	rows, err := q.QueryContext(ctx, "SELECT t.name, t.n FROM ("+strings.Join(parts, " UNION ALL ")+") t WHERE t.n > 0 ORDER BY t.name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]int64{}
	for rows.Next() {
		var name string
		var n int64
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		out[name] = n
	}
	return out, rows.Err()
}

// contentOf is a digest of what was captured of a run, all but the names that people gave it.
func contentOf(ctx context.Context, q SQL, from, runID string) (string, error) {
	tables, err := captured(ctx, q)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, t := range tables {
		if !slices.Contains(named, t) {
			parts = append(parts, fmt.Sprintf("SELECT '%s ' || count(*) || ' ' || sum(hash(t)) AS digest FROM %s%[1]s t WHERE run_id = %[3]s::UUID HAVING count(*) > 0", t, from, Quote(runID)))
		}
	}
	found, err := texts(q.QueryContext(ctx, "SELECT md5(string_agg(digest, ' ' ORDER BY digest)) FROM ("+strings.Join(parts, " UNION ALL ")+")"))
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("digest of the run: %w", err)
	}
	return DuckDBVersion() + " " + found[0], nil // which hashes
}

// Pull stores runs of a lake in the warehouse, each in one transaction. A run that is there with the same content stays as it is. done is called after each run.
func (w *Warehouse) Pull(ctx context.Context, from *Lake, runs []Run, done func(Moved)) error {
	return w.withLake(ctx, from, toRead, func(conn *sql.Conn) error {
		for _, r := range runs {
			m := Moved{Run: r}
			err := m.checkPull(ctx, conn)
			if err == nil && m.There {
				err = w.Transact(ctx, conn, func() error { return m.copyTags(ctx, conn, lakeName+".main.", "", nil) })
			} else if err == nil {
				err = w.Transact(ctx, conn, func() error {
					if err := m.pull(ctx, conn, w.Facts); err != nil {
						return err
					}
					return checkImported(ctx, conn, r.ID)
				})
			}
			if err != nil {
				return fmt.Errorf("pull run %s: %w", r.Name, err)
			}
			done(m)
		}
		return nil
	})
}

// checkPull reports whether a run may come, or is there.
func (m *Moved) checkPull(ctx context.Context, q SQL) error {
	there, err := texts(q.QueryContext(ctx, `SELECT r.run_id::VARCHAR FROM run r WHERE r.run_id = ?::UUID`, m.Run.ID))
	if err != nil {
		return err
	}
	if len(there) > 0 {
		have, err := contentOf(ctx, q, "", m.Run.ID)
		if err != nil {
			return err
		}
		pushed, err := pushedDigest(ctx, q, m.Run.ID)
		if m.There = err == nil && pushed == have; err == nil && !m.There {
			err = fmt.Errorf("%w: `prof rm %s` here first to have that of the lake", ErrDiffers, m.Run.Name)
		}
		return err
	}
	here, err := texts(q.QueryContext(ctx, `SELECT r.name || ' ' || r.run_id FROM run r`))
	for _, r := range here {
		if name, id, _ := strings.Cut(r, " "); err == nil {
			err = checkNumbers(m.Run.ID, id, name)
		}
	}
	return err
}

// pull writes a run of the attached lake into the warehouse's file. Facts that the lake has by other rules or another program are derived.
func (m *Moved) pull(ctx context.Context, q SQL, facts Facts) error {
	sum, err := facts.Checksum()
	if err != nil {
		return err
	}
	by, err := derivedBy(ctx, q, "", sum)
	if err != nil {
		return err
	}
	current, err := texts(q.QueryContext(ctx, `SELECT checksum FROM lake.main.derivation WHERE run_id = ?::UUID AND checksum = ?`, m.Run.ID, by))
	if err != nil {
		return err
	}
	tables, err := runTables(ctx, q)
	if err != nil {
		return err
	}
	made, err := captured(ctx, q)
	if err != nil {
		return err
	}
	columns, err := columnsOf(ctx, q, tables)
	if err != nil {
		return err
	}
	text, err := texts(q.QueryContext(ctx, `SELECT p.row_counts FROM lake.main.pushed_run p WHERE p.run_id = ?::UUID`, m.Run.ID))
	if err != nil {
		return err
	}
	if len(text) != 1 {
		return fmt.Errorf("%w in the lake", ErrUnknownRun)
	}
	var counts map[string]int64
	if err := json.Unmarshal([]byte(text[0]), &counts); err != nil {
		return fmt.Errorf("pushed_run.row_counts: %w", err)
	}
	from := arrival{id: m.Run.ID, tables: made, columns: columns, counts: counts, rows: func(table string) (string, error) {
		if counts[table] == 0 {
			return "", nil
		}
		return rowsOf(lakeName+".main.", table, m.Run.ID), nil
	}}
	if from.masking, err = from.findSecrets(ctx, q); err != nil {
		return err
	}
	isCurrent := len(current) > 0 && len(from.masking.texts) == 0 // facts have the texts too
	if isCurrent {
		from.tables, from.facts = tables, slices.DeleteFunc(slices.Clone(tables), func(t string) bool { return slices.Contains(made, t) })
	}
	if m.Rows, err = from.store(ctx, q); err != nil {
		return err
	}
	if err := m.copyTags(ctx, q, lakeName+".main.", "", nil); err != nil {
		return err
	}
	if isCurrent {
		return nil
	}
	return Derive(ctx, q, facts, m.Run.ID)
}

// plainLakeError returns what PostgreSQL said, without the statement, which has rows of the run in it.
func plainLakeError(err error) error {
	if err == nil || !strings.Contains(err.Error(), "Failed to execute query") && !strings.Contains(err.Error(), "Current transaction is aborted") {
		return err
	}
	text := err.Error()
	at := strings.LastIndex(text, "ERROR:")
	if at < 0 {
		return errors.New("PostgreSQL refuses a table of the lake: see the rights in docs/lake.md")
	}
	said, _, _ := strings.Cut(strings.TrimSpace(text[at+len("ERROR:"):]), "\n")
	if strings.Contains(said, "permission denied") {
		return fmt.Errorf("PostgreSQL does not let this user write the lake: %s", said)
	}
	return fmt.Errorf("PostgreSQL: %s", said)
}

// What is stored in a lake is made in a file first, as in any other warehouse, and then pushed: a run is derived in a file many times faster, and a lake sees all of it
// at once.

// indexTables are those by which an ingest finds what is there already.
var indexTables = []string{"run", "source", "source_fact", "model", "model_note", "workload", "workload_pass", "derivation", "run_tag", "baseline"}

// lakeWait is how long who writes into a lake waits for others that write the same.
const lakeWait = time.Minute

// openStore makes a file that knows what runs a lake has, and the lake's rules, for runs that Publish puts into the lake.
func openStore(ctx context.Context, home Home, o Options) (*Warehouse, error) {
	dir, err := scratch.Make("")
	if err != nil {
		return nil, err
	}
	w, err := openWrite(ctx, Home{Dir: dir.Path}, o)
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	release := w.release
	w.release = func() error { return errors.Join(release(), dir.Remove()) }
	w.lake, w.upgrading = home.Lake, o.unchecked
	err = w.withLake(ctx, w.lake, toRead, func(conn *sql.Conn) error { return w.copyIndex(ctx, conn, o) })
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// copyIndex copies the rules that all runs share, and by what runs are known, from the attached lake.
func (w *Warehouse) copyIndex(ctx context.Context, conn *sql.Conn, o Options) error {
	if err := checkLake(ctx, conn, lakeName+".main.", o); err != nil {
		return fmt.Errorf("%s: %w", w.lake, err)
	}
	known, err := knownMigrations()
	if err != nil {
		return err
	}
	shared, err := madeTables(known, func(t ddlTable) bool { return t.columns[0][0] != "run_id" })
	if err != nil {
		return err
	}
	return w.Transact(ctx, conn, func() error {
		for _, t := range slices.Concat(shared, indexTables) {
			for _, s := range []string{"DELETE FROM " + t, "INSERT INTO " + t + " BY NAME SELECT * FROM " + lakeName + ".main." + t} {
				if _, err := conn.ExecContext(ctx, s); err != nil {
					return fmt.Errorf("table %s: %w", t, err)
				}
			}
		}
		return nil
	})
}

// Fetch gets all of a run whose rows a change needs; a warehouse that is a file has them.
func (w *Warehouse) Fetch(ctx context.Context, run Run) error {
	if w.lake == nil {
		return nil
	}
	var f fetched
	err := w.withLake(ctx, w.lake, toRead, func(conn *sql.Conn) error {
		return w.Transact(ctx, conn, func() (err error) {
			if f.state, err = pushedState(ctx, conn, run.ID); err != nil {
				return err
			}
			if err := deleteRun(ctx, conn, run.ID, "baseline"); err != nil {
				return err
			}
			if err := (&Moved{Run: run}).pull(ctx, conn, w.Facts); err != nil {
				return err
			}
			f.tags, err = texts(conn.QueryContext(ctx, `SELECT key || '=' || value FROM run_tag WHERE run_id = ?::UUID`, run.ID))
			return err
		})
	})
	if w.fetched == nil {
		w.fetched = map[string]fetched{}
	}
	w.fetched[run.ID] = f
	if err != nil {
		err = fmt.Errorf("get run %s from the lake: %w", run.Name, err)
	}
	return err
}

// Publish puts runs where others see them, after they were stored or changed, all of them or none; those of a file are seen.
func (w *Warehouse) Publish(ctx context.Context, runs ...Run) error {
	if w.lake == nil || len(runs) == 0 {
		return nil
	}
	var moved []*Moved
	for _, r := range runs {
		moved = append(moved, &Moved{Run: r})
	}
	return w.withLake(ctx, w.lake, toChange, func(conn *sql.Conn) error {
		return w.pushTogether(ctx, conn, w.lake, moved, func(r Run) PushOptions {
			f := w.fetched[r.ID]
			return PushOptions{Replace: f.state != "", upgrade: w.upgrading, seen: f.state, known: f.tags}
		})
	})
}

// fetched is what a lake had of a run when it was fetched.
type fetched struct {
	state string // see pushedState
	tags  []string
}
