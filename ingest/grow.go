package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"prof/internal/suggest"
	"prof/schema"
)

// grow stores captures next to those that a run has.
func (in *ingester) grow(id string, captures []input) error {
	if len(captures) == 0 {
		return nil
	}
	if err := in.isSameCapture(id); err != nil {
		return err
	}
	stored, err := in.storedSources(id)
	if err != nil {
		return err
	}
	if captures, err = in.leaveStored(captures, stored); err != nil {
		return err
	}
	for _, s := range stored {
		for _, c := range s.captures {
			in.saw(c, holder{s.path, s.id})
		}
		if s.kind != "ncu" && in.before == "" && !s.isLaunched {
			in.before = s.command
		}
	}
	if err := in.target.Resume(in.ctx); err != nil {
		return err
	}
	if err := in.each(captures); err != nil {
		return err
	}
	if err := errors.Join(in.leaveMerged(id), in.tellGPUsApart(id)); err != nil {
		return err
	}
	return in.isElsewhere()
}

// grown stores what follows at once from captures that were added.
func (in *ingester) grown(id string) error {
	if err := in.storeShared(); err != nil {
		return err
	}
	in.warnMixed()
	return errors.Join(in.warnTwice(id), in.nameSlices(id))
}

// followAnew makes anew what follows from the sources of a run: what they say of it as a whole, and its facts.
func (in *ingester) followAnew(id string) error {
	// What an older prof stored does not say which source gave the command and the host.
	_, err := in.conn.ExecContext(in.ctx, `UPDATE run SET started_at = s.started_at, command = CASE WHEN s.is_old THEN coalesce(run.command, s.command) ELSE s.command END, host = CASE WHEN s.is_old THEN coalesce(run.host, s.host) ELSE s.host END
		FROM (SELECT min(x.started_at) AS started_at, bool_or(x.added_at IS NULL) AS is_old, arg_min(x.command, x.source_id) FILTER (x.command IS NOT NULL) AS command, arg_min(x.host, x.source_id) FILTER (x.host IS NOT NULL) AS host
			FROM source x WHERE x.run_id = ?::UUID) s
		WHERE run.run_id = ?::UUID AND NOT EXISTS (SELECT 1 FROM capture c WHERE c.run_id = run.run_id)`, id, id)
	if err != nil {
		return err
	}
	if _, err := in.conn.ExecContext(in.ctx, `UPDATE workload SET capture = NULL WHERE run_id = ?::UUID AND capture IS NOT NULL`, id); err != nil {
		return err
	}
	if err := in.aimFacts(id); err != nil {
		return err
	}
	if in.o.lacks {
		return schema.LackFacts(in.ctx, in.conn, in.w.Facts, id)
	}
	return schema.DeriveAnew(in.ctx, in.conn, in.w.Facts, id)
}

// storedSource is a source that a run has.
type storedSource struct {
	id         int
	kind, form string
	path       string
	size       int64 // bytes
	command    string
	captures   []string // ids of what it captured
	isLaunched bool     // by prof capture, through a command of its own
}

// isFacts reports whether it captured nothing.
func (s storedSource) isFacts() bool { return s.form == optionForm || formOf(s.form).Facts }

func (in *ingester) storedSources(id string) (out []storedSource, err error) {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT s.source_id, s.kind, s.form, s.path, coalesce(s.size_bytes, 0), coalesce(s.command, ''), f.capture, EXISTS (SELECT 1 FROM capture_source c WHERE c.run_id = s.run_id AND c.captured_source_id = s.source_id)
		FROM source s LEFT JOIN (`+capturesOf+`) f USING (run_id, source_id) WHERE s.run_id = ?::UUID ORDER BY s.source_id`, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s storedSource
		var capture sql.NullString
		if err := rows.Scan(&s.id, &s.kind, &s.form, &s.path, &s.size, &s.command, &capture, &s.isLaunched); err != nil {
			return nil, err
		}
		switch {
		case s.kind == "nsys": // each process of a recording may say its own
			s.captures = strings.Split(capture.String, ",")
		case capture.String != "":
			s.captures = []string{capture.String}
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// leaveStored leaves out files whose capture the run has in a form that holds it better, and refuses pages of one of which it has other pages: what
// is kept of pages depends on all of them.
func (in *ingester) leaveStored(captures []input, stored []storedSource) (kept []input, err error) {
	found := &inputs{}
	for _, s := range stored {
		found.list = append(found.list, input{path: s.path, format: formOf(s.form)})
	}
	for _, f := range captures {
		isLess := ofStats(f.format.Kind, f.format.Name) && slices.ContainsFunc(stored, func(s storedSource) bool { return slices.Contains(holdsAll, s.form) })
		f.more = f.more || isLess && f.isOSRT()
		isLess = isLess && !f.more
		size := int64(-1)
		if st, err := f.stat(); err == nil {
			size = st.size
		}
		isStored := slices.ContainsFunc(stored, func(s storedSource) bool { // or what is in the same place: its content says which
			return s.form == f.format.Name && isSamePlace(s.path, f.path) && (f.format.Capture == nil || s.size == size)
		})
		for _, s := range stored {
			isLess = isLess || slices.Contains(f.format.GivesWayTo, s.form) && Stem(s.path) == Stem(f.path)
			if isStored || s.form != f.format.Name || !isPart(f, s) {
				continue
			}
			return nil, fmt.Errorf("%s: run %s has %s of the same capture: to have all of them, `prof rm %s --source %d`, then add them together", f.path, in.o.Name, s.path, in.o.Name, s.id)
		}
		if isLess {
			found.left = append(found.left, f)
		} else {
			kept = append(kept, f)
		}
	}
	in.warnLeft(found)
	return kept, nil
}

// isPart reports whether a file and a stored source are parts of one capture: pages of a report, or sums of nsys stats.
func isPart(f input, s storedSource) bool {
	switch {
	case f.format.Order != nil:
		return isSamePlace(Stem(s.path), Stem(f.path))
	case f.format.Capture != nil:
		return isSamePlace(f.format.Capture(s.path), f.format.Capture(f.path))
	}
	return false
}

// isSamePlace reports whether two paths, of which one may be stored, lead to the same place from here.
func isSamePlace(a, b string) bool {
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// RemoveSources takes sources out of a run, by their numbers: the run is then as if it had never had them. It gives their paths.
func RemoveSources(ctx context.Context, w *schema.Warehouse, run schema.Run, sources []int, warn func(string)) (paths []string, err error) {
	if err := w.Fetch(ctx, run); err != nil {
		return nil, err
	}
	conn, err := w.DB.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	in := &ingester{ctx: ctx, w: w, conn: conn, o: Options{Name: run.Name, Warn: warn}, result: &Result{}}
	err = in.transact(func() error {
		stored, err := in.storedSources(run.ID)
		if err != nil {
			return err
		}
		if paths, err = mayGo(run, stored, sources); err != nil {
			return err
		}
		var ids []string
		for _, s := range sources {
			ids = append(ids, strconv.Itoa(s))
		}
		if err := schema.ClearSources(ctx, conn, run.ID, ids...); err != nil {
			return err
		}
		return in.followAnew(run.ID)
	})
	if err == nil {
		err = w.Publish(ctx, run)
	}
	if err != nil {
		return nil, explain(err, w.Home)
	}
	return paths, nil
}

// mayGo returns the paths of sources that are to be taken out, and refuses those without which nothing is left, or not all of another.
func mayGo(run schema.Run, stored []storedSource, sources []int) (paths []string, err error) {
	for _, n := range sources {
		at := slices.IndexFunc(stored, func(s storedSource) bool { return s.id == n })
		if at < 0 {
			var has []string
			for _, s := range stored {
				has = append(has, strconv.Itoa(s.id))
			}
			return nil, fmt.Errorf("run %s: %w: %d; it has %s, see `prof show %s --facts`", run.Name, ErrNoSource, n, suggest.List(has, 10), run.Name)
		}
		paths = append(paths, stored[at].path)
	}
	goes := func(s storedSource) bool { return slices.Contains(sources, s.id) }
	hasCapture := slices.ContainsFunc(stored, func(s storedSource) bool { return !s.isFacts() })
	if !slices.ContainsFunc(stored, func(s storedSource) bool { return !goes(s) && !(hasCapture && s.isFacts()) }) {
		return nil, fmt.Errorf("run %s would have no capture left: to remove it, `prof rm %s`", run.Name, run.Name)
	}
	for _, first := range stored {
		for _, later := range stored { // it has no values of its own where the first page has them
			if goes(first) && !goes(later) && later.id > first.id && later.form == first.form && formOf(later.form).Order != nil && Stem(later.path) == Stem(first.path) {
				return nil, fmt.Errorf("run %s: source %d has other pages of the capture of source %d: take out both (--source %d --source %d)", run.Name, later.id, first.id, first.id, later.id)
			}
		}
	}
	return paths, nil
}
