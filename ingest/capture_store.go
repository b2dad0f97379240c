package ingest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/mask"
	"prof/internal/suggest"
	"prof/schema"
	"prof/schema/rundir"
)

// warnUnread says which files of a capture's folder were passed over.
func (in *ingester) warnUnread() {
	for _, c := range in.captures {
		for ; c.warned < len(c.unread); c.warned++ {
			in.warn(c.unread[c.warned].path + ": " + c.unread[c.warned].why + "; skipped")
		}
	}
}

// isOfFile reports whether an error is the fault of the file that was read, and not of the machine or the warehouse.
func (in *ingester) isOfFile(err error) bool {
	var db *duckdb.Error
	return err != nil && in.ctx.Err() == nil && !errors.Is(err, context.Canceled) && !errors.As(err, &db) && !errors.Is(err, ErrChanging) && !isFull(err)
}

// hasOther reports whether another form of what a file holds was left out for it.
func (in *ingester) hasOther(f input) bool {
	return slices.ContainsFunc(in.left, func(other input) bool {
		return Stem(other.path) == Stem(f.path) && slices.Contains(other.format.GivesWayTo, f.format.Name)
	})
}

// holds reports whether a file came out of a pass of one of the captures.
func (cs captures) holds(path string) bool {
	return slices.ContainsFunc(cs, func(c *capture) bool {
		_, ok := c.run.PassOf(path)
		return ok
	})
}

// describe says what run.json knows of the run better than the captures do: the tools were started by prof, and ran its launcher. Of several
// nodes the first one stands for the job.
func (cs captures) describe(r *schema.Run) {
	if len(cs) == 0 {
		return
	}
	started := cs[0].run.Manifest.StartedAt.UTC()
	r.StartedAt, r.Command, r.Host = &started, cs[0].run.Command(), cs[0].run.Manifest.Host
}

// judge says in the source of a capture's run.json what is missing of it: no sum of the run holds that.
func (in *ingester) judge(c *capture, info *load.SourceInfo) {
	why := append(c.run.Faults(), info.Warnings...)
	for _, u := range c.unread {
		other := func(s Source) bool { return Stem(s.Path) == Stem(u.path) }
		if !slices.ContainsFunc(in.result.Sources, other) { // else another form of the same was read
			why = append(why, c.name(u.path)+": "+u.why)
		}
	}
	for _, p := range c.run.Manifest.Passes {
		if len(p.Artifacts) == 0 || p.Tool == rundir.ToolNone || slices.ContainsFunc(in.result.Sources, func(s Source) bool {
			pass, ok := c.run.PassOf(s.Path)
			return ok && pass == p.ID
		}) {
			continue
		}
		if in.firstSource == 0 { // else its captures are in the run already
			why = append(why, fmt.Sprintf("nothing of recording %s could be read (%s)", p.Name, suggest.List(p.Artifacts, 3)))
		}
	}
	if len(why) > 0 {
		info.Status, info.Reason = "partial", suggest.List(why, maxReasons)
	}
}

// maxReasons bounds what is said of a capture in one sentence; diagnostics have the rest.
const maxReasons = 5

// orReplace adds to the advice what a captured folder allows.
func (in *ingester) orReplace(run string) string {
	if len(in.captures) == 0 {
		return ""
	}
	return fmt.Sprintf(" or `prof ingest --replace --run %s %s`", run, strings.Join(in.captures.dirs(), " "))
}

// linkPasses stores which sources came out of which pass of the capture.
func (in *ingester) linkPasses(id string) error {
	if len(in.captures) == 0 {
		return nil
	}
	found, err := in.conn.QueryContext(in.ctx, `SELECT source_id, path FROM source WHERE run_id = ?::UUID AND form NOT IN (?, ?) ORDER BY source_id`, id, runForm, optionForm)
	if err != nil {
		return err
	}
	defer found.Close()
	var links [][2]int
	for found.Next() {
		var source int
		var path string
		if err := found.Scan(&source, &path); err != nil {
			return err
		}
		for _, c := range in.captures {
			if pass, ok := c.run.PassOf(path); ok {
				links = append(links, [2]int{pass, source})
			}
		}
	}
	if err := found.Err(); err != nil {
		return err
	}
	_, err = in.target.Append(in.ctx, "capture_source", func(add rows.Add) error {
		for _, l := range links {
			if err := add(in.target.RunID, int32(l[0]), int32(l[1])); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// nameSlices names instances of partitioned GPUs (MIG) as such where only NVML says that they are: the figures of the whole GPU are not
// theirs, and no table has those of "NAME MIG".
func (in *ingester) nameSlices(id string) error {
	_, err := in.conn.ExecContext(in.ctx, `UPDATE device SET name = name || ' MIG' WHERE run_id = ?::UUID AND NOT contains(name, ' MIG') AND (starts_with(uuid, 'MIG-') OR EXISTS (
		SELECT 1 FROM capture_device c WHERE c.run_id = device.run_id AND c.is_mig AND c.device_id // ? = device.device_id // ?
			AND (replace(c.uuid, 'GPU-', '') = replace(device.uuid, 'GPU-', '') OR right(lower(c.bus_id), 12) = right(lower(device.bus_id), 12))))`, id, rundir.NodeStride, rundir.NodeStride)
	return err
}

// attachCapture makes a run.json that was given for a run which is there tell of that run.
func (in *ingester) attachCapture(id string) error {
	if len(in.captures) == 0 {
		return nil
	}
	if _, err := in.conn.ExecContext(in.ctx, `DELETE FROM capture_source WHERE run_id = ?::UUID`, id); err != nil {
		return err
	}
	var r schema.Run
	in.captures.describe(&r)
	if _, err := in.conn.ExecContext(in.ctx, `UPDATE run SET started_at = ?, command = ?, host = coalesce(nullif(?, ''), host) WHERE run_id = ?::UUID`,
		r.StartedAt, mask.Stored(r.Command), r.Host, id); err != nil {
		return err
	}
	return errors.Join(in.linkPasses(id), in.nameSlices(id))
}

// replacedRun finds the run in whose place this one is made; "" when there is none.
func (in *ingester) replacedRun() (id string, err error) {
	if !in.o.Replace {
		return "", nil
	}
	var made time.Time
	err = in.conn.QueryRowContext(in.ctx, `SELECT run_id::VARCHAR, created_at FROM run WHERE name = ?`, in.o.Name).Scan(&id, &made)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	in.replaced = &made
	return id, err
}
