package ingest

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"prof/internal/suggest"
)

// timed is a capture of a timeline, or facts about one.
type timed struct {
	id               int
	kind, path, node string
}

// aimFacts decides which timelines each workload's facts are about: where several files of facts lie beside captures of several
// kinds, those of the capture with the same stem, else of the same folder.
func (in *ingester) aimFacts(id string) error {
	facts, timelines, err := in.timed(id)
	if err != nil || len(facts) < 2 {
		return err
	}
	several := slices.ContainsFunc(timelines, func(t timed) bool { return t.kind != timelines[0].kind })
	about := map[[2]string][]string{} // by kind and node
	for _, f := range facts {
		kind := nearest(f.path, timelines)
		about[[2]string{kind, f.node}] = append(about[[2]string{kind, f.node}], f.path)
		if kind == "" && several {
			in.warn(fmt.Sprintf("%s: neither its name nor its folder shows which capture it describes; it is applied to all captures of the run", f.path))
		}
		if _, err := in.conn.ExecContext(in.ctx, `UPDATE workload SET capture = nullif(?, '') WHERE run_id = ?::UUID AND source_id = ?`, kind, id, f.id); err != nil {
			return err
		}
	}
	for _, which := range slices.SortedFunc(maps.Keys(about), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if paths := about[which]; len(paths) > 1 {
			in.warn(fmt.Sprintf("several files describe the passes of the same captures, and the last one counts: %s", suggest.List(paths, 4)))
		}
	}
	return nil
}

// timed lists a run's files of facts about a workload, and its captures of timelines.
func (in *ingester) timed(id string) (facts, timelines []timed, err error) {
	rows, err := in.conn.QueryContext(in.ctx, `SELECT source_id, kind, path, coalesce((SELECT min(f.value) FROM source_fact f WHERE f.run_id = s.run_id AND f.source_id = s.source_id AND f.key = ?), '') FROM source s WHERE run_id = ?::UUID AND kind IN ('nsys', 'prof', 'torch', ?) AND form <> ? ORDER BY source_id`,
		nodeKey, id, workloadKind, optionForm)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s timed
		if err := rows.Scan(&s.id, &s.kind, &s.path, &s.node); err != nil {
			return nil, nil, err
		}
		if s.kind == workloadKind {
			facts = append(facts, s)
		} else {
			timelines = append(timelines, s)
		}
	}
	return facts, timelines, rows.Err()
}

// nearest returns the kind of the captures that facts are about by their names; "" where captures of two kinds are as near, or none is.
func nearest(facts string, timelines []timed) (kind string) {
	best := 0
	for _, t := range timelines {
		switch n := nearness(facts, t.path); {
		case n > best:
			kind, best = t.kind, n
		case n == best && n > 0 && t.kind != kind:
			kind = ""
		}
	}
	return kind
}

// ofRank is what the name of a capture of one rank or process of a job has behind its stem.
var ofRank = regexp.MustCompile(`^(-rank\d+)?(-\d+)?$`)

// nearness returns how much the paths of facts and of a capture have in common: 3 folder and stem, 2 the stem, 1 the folder, 0 neither.
func nearness(facts, capture string) (n int) {
	facts, capture = filepath.Clean(facts), filepath.Clean(capture)
	base := strings.TrimSuffix(strings.TrimSuffix(Stem(filepath.Base(facts)), "workload"), "metrics")
	base = strings.TrimRight(base, "._-")
	if rest, is := strings.CutPrefix(Stem(filepath.Base(capture)), base); is && base != "" && ofRank.MatchString(rest) {
		n += 2
	}
	if filepath.Dir(facts) == filepath.Dir(capture) {
		n++
	}
	return n
}
