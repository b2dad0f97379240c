package ingest

import (
	"fmt"
	"path/filepath"
	"slices"

	"prof/ingest/nsys/stats"
	"prof/internal/mask"
	"prof/internal/suggest"
	"prof/schema/say"
)

func (in *ingester) warn(message string) {
	if in.o.Warn != nil {
		in.o.Warn(mask.Text(message))
	}
}

// warnOf warns of what was found in a file. What several say alike is said once: pages of Nsight Compute by the dozen lack the same metrics.
func (in *ingester) warnOf(path, text string) {
	if in.alike == nil {
		in.alike = map[string][]string{}
	}
	if in.alike[text] == nil {
		in.said = append(in.said, text)
	}
	in.alike[text] = append(in.alike[text], path)
}

// warnAlike says what files were warned of.
func (in *ingester) warnAlike() {
	for _, text := range in.said {
		paths := in.alike[text]
		more := ""
		if n := len(paths) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		in.warn(paths[0] + more + ": " + text)
	}
	in.said, in.alike = nil, nil
}

// once passes on each message once: an ingest that is begun again says the same again.
func once(warn func(string)) func(string) {
	said := map[string]bool{}
	return func(message string) {
		if warn != nil && !said[message] {
			said[message] = true
			warn(message)
		}
	}
}

// warnLeft says which pages of Nsight Compute are not read because its report is. Of Nsight Systems, an export and its report
// are one thing to everybody.
func (in *ingester) warnLeft(found *inputs) {
	var pages, sums, reports []string
	isRead := func(f input) bool { // in another form
		return slices.ContainsFunc(found.list, func(o input) bool {
			return slices.Contains(f.format.GivesWayTo, o.format.Name) && Stem(o.path) == Stem(f.path)
		})
	}
	for _, f := range found.left {
		switch {
		case f.format.Kind == "ncu":
			pages = append(pages, f.path)
		case f.format.Kind == stats.Kind:
			sums = append(sums, f.path)
		case f.format.Name == reportForm && !isRead(f):
			reports = append(reports, f.path)
		}
	}
	if len(reports) > 0 {
		in.warn(fmt.Sprintf("skipped, because only nsys can read them and it is not installed here: %s; the sums in the folder are stored", suggest.List(reports, 3)))
	}
	if len(sums) > 0 {
		in.warn(fmt.Sprintf("left out %s, whose work the timeline of the run has: %s", say.Count(int64(len(sums)), "file of nsys stats", "files of nsys stats"), suggest.List(folders(sums), 3)))
	}
	if len(pages) > 0 {
		in.warn(fmt.Sprintf("skipped, because the report next to them is of the same capture: %s", suggest.List(pages, 3)))
	}
}

// folders are those that files are in, each once.
func folders(paths []string) []string {
	var out []string
	for _, p := range paths {
		out = append(out, filepath.Dir(p))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// warnMixed warns of a run whose timelines do not belong together by what they say of themselves. What Nsight Compute profiled
// adds up with nothing, and is mostly a shorter run of the same program.
func (in *ingester) warnMixed() {
	first := in.before
	for i, info := range in.infos {
		if in.result.Sources[i].Kind == "ncu" || info.Command == "" { // the PyTorch profiler does not say
			continue
		}
		if in.captures.holds(in.result.Sources[i].Path) { // its passes ran one workload, each through a command of its own
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
				GROUP BY device_id, pid, ncu_id, kind, grid_x, grid_y, grid_z, block_x, block_y, block_z HAVING count(DISTINCT source_id) > 1) x)
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
		in.warn(fmt.Sprintf("these files have launches of equal number, process and grid; if they are the same capture, it counts twice: %s", suggest.List(paths, 4)))
	}
	return rows.Err()
}
