package ingest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"prof/internal/suggest"
	"prof/schema"
)

// content is the work of one GPU, or of one process, in a source: where that of two sources is the same, it was recorded once.
type content struct {
	kernels int64
	sum     string // of names and durations of the kernels
	span    int64  // from the first start to the last
	at      int64  // the first start, ns since 1970; 0 unknown
}

// is reports whether two are the same. Times are written in microseconds by some profilers and mergers.
func (c content) is(o content) bool {
	return c.kernels == o.kernels && c.sum == o.sum && isNear(c.span, o.span) && (c.at == 0 || o.at == 0 || isNear(c.at, o.at))
}

func isNear(a, b int64) bool { return max(a-b, b-a) <= 2000 }

// leaveMerged leaves out what another source of the run holds too: a trace that was merged from others, where all of them are there; else those that
// the merged one holds. Which it is, only the content says.
func (in *ingester) leaveMerged(id string) error {
	if in.firstSource+len(in.result.Sources) < 2 || len(in.result.Sources) == 0 {
		return nil
	}
	for _, by := range []string{"k.device_id", "k.pid"} { // a merger that keeps the numbers of GPUs may tell processes apart
		of, paths, err := in.contents(id, by)
		if err != nil {
			return err
		}
		for _, whole := range slices.Sorted(maps.Keys(of)) {
			held, isAll := heldBy(whole, of)
			if len(held) == 0 {
				continue
			}
			goes, stays := held, []int{whole}
			if isNew := func(s int) bool { return s > in.firstSource }; isAll && (isNew(whole) || !slices.ContainsFunc(held, isNew)) {
				goes, stays = stays, goes
			}
			if err := in.leaveOut(id, goes, stays, paths); err != nil {
				return err
			}
			for _, s := range goes {
				delete(of, s)
			}
		}
	}
	return nil
}

// heldBy lists the sources all of whose work one source has too, beside other work, and reports whether they hold all that it has.
func heldBy(whole int, of map[int][]content) (held []int, isAll bool) {
	left := slices.Clone(of[whole])
	for _, part := range slices.Sorted(maps.Keys(of)) {
		if part == whole || len(of[part]) >= len(of[whole]) {
			continue
		}
		rest, isHeld := slices.Clone(left), true
		for _, c := range of[part] {
			at := slices.IndexFunc(rest, c.is)
			if isHeld = at >= 0; !isHeld {
				break
			}
			rest = slices.Delete(rest, at, at+1)
		}
		if isHeld {
			left, held = rest, append(held, part)
		}
	}
	return held, len(left) == 0
}

// contents are the kernels of the run's sources, of each GPU or each process, and the paths of the sources. Only kinds with several sources of which one
// has several GPUs or processes are asked for.
func (in *ingester) contents(id, by string) (of map[int][]content, paths map[int]string, err error) {
	rows, err := in.conn.QueryContext(in.ctx, fmt.Sprintf(`WITH few AS (
			SELECT x.source_id, count(*) AS n FROM (SELECT DISTINCT k.source_id, %[1]s FROM kernel k WHERE k.run_id = $1::UUID) x GROUP BY x.source_id
		), wanted AS (
			SELECT s.source_id, s.path, s.started_at FROM source s JOIN few f USING (source_id) WHERE s.run_id = $1::UUID
			QUALIFY max(f.n) OVER (PARTITION BY s.kind) > 1 AND min(f.n) OVER (PARTITION BY s.kind) < max(f.n) OVER (PARTITION BY s.kind)
		)
		SELECT w.source_id, w.path, count(*), sum((hash(k.kernel_name_id, k.duration_ns) >> 8)::HUGEINT)::VARCHAR, max(k.start_ns) - min(k.start_ns), coalesce(epoch_ns(w.started_at) + min(k.start_ns), 0)
		FROM kernel k JOIN wanted w USING (source_id) WHERE k.run_id = $1::UUID GROUP BY w.source_id, w.path, w.started_at, %[1]s`, by), id)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	of, paths = map[int][]content{}, map[int]string{}
	for rows.Next() {
		var source int
		var path string
		var c content
		if err := rows.Scan(&source, &path, &c.kernels, &c.sum, &c.span, &c.at); err != nil {
			return nil, nil, err
		}
		of[source], paths[source] = append(of[source], c), path
	}
	return of, paths, rows.Err()
}

// leaveOut takes sources out of the run that others hold.
func (in *ingester) leaveOut(id string, goes, stays []int, paths map[int]string) error {
	var ids, left, kept []string
	for _, s := range goes {
		ids, left = append(ids, strconv.Itoa(s)), append(left, paths[s])
		at := slices.IndexFunc(in.result.Sources, func(r Source) bool { return s > in.firstSource && r.Path == paths[s] })
		if at >= 0 {
			in.result.Sources, in.infos = slices.Delete(in.result.Sources, at, at+1), slices.Delete(in.infos, at, at+1)
		}
	}
	for _, s := range stays {
		kept = append(kept, paths[s])
	}
	if err := schema.ClearSources(in.ctx, in.conn, id, ids...); err != nil {
		return err
	}
	verb := "was"
	if len(left) > 1 {
		verb = "were"
	}
	in.warn(fmt.Sprintf("%s %s left out, so that nothing counts twice: the same kernels at the same times are in %s", suggest.List(left, 4), verb, suggest.List(kept, 4)))
	return nil
}
