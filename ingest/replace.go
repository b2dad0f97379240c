package ingest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"prof/ingest/nsys/stats"
	"prof/internal/suggest"
	"prof/schema/rundir"
)

// held is a source that a run had before it is made anew.
type held struct {
	kind, form, path, sum string
	isOSRT                bool // sums of OS calls alone
}

// is reports whether another source is the same: its content, or another form or a newer state of the same file.
func (h held) is(o held) bool {
	return h.sum == o.sum || h.kind == o.kind && Stem(baseName(h.path)) == Stem(baseName(o.path))
}

// heldBefore returns the sources of a run, and refuses to put another capture in its place.
func (in *ingester) heldBefore(id string) ([]held, error) {
	if err := in.isSameCapture(id); err != nil {
		return nil, err
	}
	return in.sourcesOf(id)
}

// isSameCapture refuses folders of prof capture that are of another capture than the run.
func (in *ingester) isSameCapture(id string) error {
	// Of a job of several nodes one that was there is enough: others may be new.
	had, err := in.startsOf(id)
	if err != nil {
		return err
	}
	same := len(in.captures) == 0 || len(had) == 0
	for _, c := range in.captures {
		same = same || slices.ContainsFunc(had, c.began)
	}
	if !same {
		c := in.captures[0]
		return fmt.Errorf("%w: %s began at %s, and the capture of %s at %s; give another --run", ErrOther, in.o.Name, had[0].Format("2006-01-02 15:04:05"),
			c.dir, c.run.Manifest.StartedAt.UTC().Format("2006-01-02 15:04:05"))
	}
	return nil
}

// startsOf returns when the captures of a run began, the latest first.
func (in *ingester) startsOf(id string) (out []time.Time, err error) {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT started_at FROM capture WHERE run_id = ?::UUID ORDER BY started_at DESC`, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var at time.Time
		if err := rows.Scan(&at); err != nil {
			return nil, err
		}
		out = append(out, at.UTC())
	}
	return out, rows.Err()
}

// began reports whether the capture began at a time of the warehouse, which keeps microseconds.
func (c *capture) began(at time.Time) bool {
	return c.run.Manifest.StartedAt.UnixMicro() == at.UnixMicro()
}

func (in *ingester) sourcesOf(id string) (out []held, err error) {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT kind, form, path, sha256, NOT EXISTS (SELECT 1 FROM reported_sum r WHERE r.run_id = s.run_id AND r.source_id = s.source_id AND r.report <> 'osrt_call')
		FROM source s WHERE run_id = ?::UUID AND form <> ? ORDER BY source_id`, id, optionForm)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var h held
		if err := rows.Scan(&h.kind, &h.form, &h.path, &h.sum, &h.isOSRT); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

// isLess refuses a run that lacks captures which it had: their files may be gone, and the rows are all that is left of them. Of facts
// that were not given again it warns.
func (in *ingester) isLess(id string, old []held) error {
	now, err := in.sourcesOf(id)
	if err != nil {
		return err
	}
	// What sums say a timeline of the capture says too, but for OS calls, which are looked for where it is stored.
	hasTimeline := slices.ContainsFunc(now, func(n held) bool { return slices.Contains(holdsAll, n.form) })
	var captures, facts []string
	for _, h := range old {
		found := ofStats(h.kind, h.form) && (hasTimeline && !h.isOSRT || slices.ContainsFunc(in.left, func(f input) bool { return isSamePlace(h.path, f.path) }))
		for _, n := range now {
			found = found || h.is(n)
		}
		switch {
		case found:
		case h.kind == rundir.ToolNsys, h.kind == rundir.ToolProf, h.kind == rundir.ToolNcu, h.kind == rundir.ToolTorch, h.kind == stats.Kind:
			captures = append(captures, h.path)
		default:
			facts = append(facts, h.path)
		}
	}
	if len(captures) > 0 {
		return fmt.Errorf("%w: %s has %s, which could not be read this time; nothing was changed (to drop them: prof rm, then ingest)", ErrLess, in.o.Name, suggest.List(captures, 3))
	}
	if len(facts) > 0 {
		in.warn(fmt.Sprintf("run %s had facts that were not given again and are gone: %s", in.o.Name, suggest.List(facts, 3)))
	}
	return nil
}
