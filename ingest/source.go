package ingest

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/ingest/model"
	"prof/ingest/ncu/page"
	"prof/ingest/nsys"
	"prof/ingest/nsys/stats"
	"prof/ingest/rows"
	"prof/ingest/store"
	"prof/ingest/torch"
	"prof/internal/file"
	"prof/internal/mask"
	"prof/schema/rundir"
	"prof/schema/terms"
)

// source stores one input, perhaps read already, unless the warehouse or this run holds its content already. What a capture left and cannot be read is
// passed over, or begun again without where part of it is stored.
func (in *ingester) source(f input, read *reading) error {
	began := false
	err := in.store(f, read, func() { began = true })
	if f.of == nil || f.format.Name == runForm || !in.isOfFile(err) {
		return err
	}
	if began || in.hasOther(f) {
		return &unreadable{f.path, err}
	}
	f.of.passOver(f.path, err)
	in.warnUnread()
	return nil
}

// store stores one input, of which read is what was read already, if it was; it says when it begins to.
func (in *ingester) store(f input, read *reading, begin func()) error {
	if read == nil {
		before, err := f.stat()
		if err != nil {
			return err
		}
		read = &reading{before: before, hash: startHash(in.ctx, f, in.o.Load.TempDir)}
	}
	before, hash := read.before, read.hash
	defer hash.stop()
	if err := in.lookUp(); err != nil {
		return err
	}
	// Only a source of the same size can be a repeat: then it is worth waiting for the hash. Otherwise it is computed while
	// the rows are read.
	if f.format.Facts {
		if held, err := in.isFactHeld(f, hash); held || err != nil {
			return err
		}
	} else if before, again := in.known.sizes[before.size]; again || f.packed != plainFile && !f.unpacksItself() {
		if done, err := in.isRepeat(f, hash, before || f.packed != plainFile); done || err != nil {
			if err != nil {
				return err
			}
			return in.see(f, hash)
		}
	}
	path, err := f.plain(hash)
	if err != nil {
		return err
	}
	info, err := read.identify(in.ctx, f, path)
	if f.walked && (errors.Is(err, nsys.ErrNotExport) || errors.Is(err, model.ErrUnread)) {
		in.warn(err.Error() + "; skipped")
		return nil
	}
	if f.walked && f.of == nil && f.format.Leaves && err != nil && in.ctx.Err() == nil {
		in.result.Skipped = append(in.result.Skipped, Skip{f.path, mask.Text(strings.TrimPrefix(err.Error(), f.path+": "))})
		return nil
	}
	if err != nil {
		return err
	}
	if first, err := in.sameAs(info.CaptureID, func() (works, error) {
		if f.format.Work == nil {
			return nil, nil
		}
		return f.format.Work(in.ctx, path, f.path)
	}); err != nil {
		return err
	} else if first != nil {
		in.warn(fmt.Sprintf("%s is another form of the capture in %s and was skipped, so that nothing counts twice", f.path, first.path))
		return nil
	}
	if f.format.Facts {
		// The same facts may belong to many runs.
	} else if in.known.mayRepeatCapture(info.CaptureID) {
		if done, err := in.isRepeat(f, hash, true); done || err != nil {
			return err
		}
	}
	if f.more {
		if has, err := in.hasOSCalls(); err != nil || has {
			in.left = append(in.left, f)
			in.warnLeft(&inputs{left: []input{f}})
			return err
		}
	}
	in.target.SourceID = in.firstSource + len(in.result.Sources) + 1
	in.target.Devices = store.Devices{Offset: in.captures.of(f).node().Offset(), Limit: rundir.NodeStride}
	in.target.Gather(!f.format.Facts) // facts are few, and the next of them asks what those before said
	if !f.format.Facts {              // they are read whole before anything is stored
		begin()
	}
	info, err = in.load(f, path, read)
	if f.walked && (errors.Is(err, page.ErrNoResults) || errors.Is(err, torch.ErrNoEvents) || errors.Is(err, stats.ErrNoSums) || errors.Is(err, model.ErrUnknown) || errors.Is(err, load.ErrNothingWhole)) {
		in.warn(err.Error() + "; skipped")
		return nil
	}
	if err != nil {
		return err
	}
	// A report says only now which capture it holds.
	if f.format.Name == reportForm {
		if first, err := in.sameAs(info.CaptureID, func() (works, error) { return in.workOf(in.target.SourceID) }); err != nil {
			return err
		} else if first != nil {
			return fmt.Errorf("%s and %s are the same capture: ingest one of them", first.path, f.path)
		}
	}
	in.saw(info.CaptureID, holder{f.path, in.target.SourceID})
	if err := in.unchanged(f, before); err != nil {
		return err
	}
	sum := info.SHA256
	if sum == "" {
		if sum, err = hash.wait(); err != nil {
			return err
		}
	}
	if f.format.Name == runForm {
		in.judge(f.of, info)
	}
	if err := in.storeNode(f, info); err != nil {
		return err
	}
	for _, w := range info.Warnings {
		in.warnOf(f.path, w)
	}
	in.infos = append(in.infos, info)
	in.result.Sources = append(in.result.Sources, Source{Path: f.path, Kind: f.format.Kind, Form: f.format.Name, Rows: info.Rows, Size: before.size})
	in.known.sizes[before.size], in.known.sums[sum] = in.known.sizes[before.size], true
	if info.CaptureID != "" {
		in.known.captures = append(in.known.captures, info.CaptureID)
	}
	return in.storeSource(f, info, before.size, sum)
}

// hasOSCalls reports whether the run holds OS calls by now.
func (in *ingester) hasOSCalls() (has bool, err error) {
	if err := in.target.Flush(in.ctx); err != nil {
		return false, err
	}
	err = in.conn.QueryRowContext(in.ctx, `SELECT EXISTS (SELECT 1 FROM osrt_call WHERE run_id = ?::UUID)`, in.target.RunID).Scan(&has)
	return has, err
}

// holder is the source that a capture was read from.
type holder struct {
	path   string
	source int // 0: of another run, or not known
}

// capturesOf gives the capture.id of sources as SourceInfo.CaptureID has it: of Nsight Systems and prof's tracer with the start of the session.
var capturesOf = `SELECT f.run_id, f.source_id, CASE WHEN x.kind IN (` + terms.Quoted(terms.Kinds(terms.Source.HasCalls)) + `) AND x.started_at IS NOT NULL
		THEN replace(f.value, ',', ' ' || epoch_us(x.started_at) || ',') || ' ' || epoch_us(x.started_at) ELSE f.value END AS capture
	FROM source_fact f JOIN source x USING (run_id, source_id) WHERE f.key = 'capture.id'`

// works are the device work of a capture's processes.
type works = map[int32]load.Work

// saw notes a capture that is stored.
func (in *ingester) saw(capture string, h holder) {
	if capture != "" {
		in.seen[capture] = append(in.seen[capture], h)
	}
}

// sameAs returns the source that holds a capture of that name and the same work; nil where none does. Parts of one session differ in their work.
func (in *ingester) sameAs(capture string, work func() (works, error)) (*holder, error) {
	var own works
	for i, h := range in.seen[capture] {
		if h.source == 0 {
			return &h, nil
		}
		var err error
		if i == 0 {
			if own, err = work(); err != nil {
				return nil, err
			}
		}
		other, err := in.workOf(h.source)
		if err != nil {
			return nil, err
		}
		if len(own) == 0 || len(other) == 0 || isSameWork(own, other) { // of a capture without work its name alone tells
			return &h, nil
		}
	}
	return nil, nil
}

// isSameWork reports whether two captures of one session hold work of one process at one time, or the same amount of it, with other times.
func isSameWork(a, b works) bool {
	for pid, w := range a {
		if o, ok := b[pid]; ok && (w.Start < o.End && o.Start < w.End || w.Count == o.Count && w.Sum == o.Sum) {
			return true
		}
	}
	return false
}

// workOf returns the device work of a stored source.
func (in *ingester) workOf(source int) (works, error) {
	if err := in.target.Flush(in.ctx); err != nil {
		return nil, err
	}
	rows, err := in.conn.QueryContext(in.ctx, `SELECT coalesce(w.pid, 0), min(w.start_ns), max(w.start_ns + w.duration_ns), count(*), sum(w.duration_ns)::BIGINT
		FROM (SELECT run_id, source_id, pid, start_ns, duration_ns FROM kernel
			UNION ALL SELECT run_id, source_id, pid, start_ns, duration_ns FROM memop
			UNION ALL SELECT run_id, source_id, pid, start_ns, duration_ns FROM graph_launch WHERE mode = 'graph') w
		WHERE w.run_id = ?::UUID AND w.source_id = ? GROUP BY 1`, in.target.RunID, source)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := works{}
	for rows.Next() {
		var pid int32
		var w load.Work
		if err := rows.Scan(&pid, &w.Start, &w.End, &w.Count, &w.Sum); err != nil {
			return nil, err
		}
		out[pid] = w
	}
	return out, rows.Err()
}

// see notes the capture of a file that the warehouse holds, so that another form of it is not taken for a new capture.
func (in *ingester) see(f input, hash *hashing) error {
	if f.format.Name == reportForm { // says so only once nsys has exported it
		return nil
	}
	path, err := f.plain(hash)
	if err != nil {
		return err
	}
	info, err := f.format.Identify(in.ctx, path, f.path)
	if err == nil {
		in.saw(info.CaptureID, holder{path: f.path})
	}
	return err
}

// known is how one sees at once that a file is new: what the warehouse held before, asked once, and what the run holds by now.
type known struct {
	sizes    map[int64]bool  // of files as given; false where only the run holds one
	captures []string        // ids
	sums     map[string]bool // of the run's own sources
}

// lookUp reads what the warehouse holds, once.
func (in *ingester) lookUp() error {
	if in.known.sizes != nil {
		return nil
	}
	in.known = known{sizes: map[int64]bool{}, sums: map[string]bool{}}
	rows, err := in.conn.QueryContext(in.ctx, `SELECT DISTINCT size_bytes, NULL FROM source UNION ALL SELECT DISTINCT NULL, capture FROM (`+capturesOf+`)`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var size sql.NullInt64
		var capture sql.NullString
		if err := rows.Scan(&size, &capture); err != nil {
			return err
		}
		if size.Valid {
			in.known.sizes[size.Int64] = true
		} else {
			in.known.captures = append(in.known.captures, capture.String)
		}
	}
	return rows.Err()
}

// mayRepeatCapture reports whether the warehouse holds that capture: perhaps the same content in a gzip file of another size.
func (k *known) mayRepeatCapture(id string) bool {
	return id == "" || slices.ContainsFunc(k.captures, func(c string) bool { return strings.Contains(c, id) })
}

// isRepeat notes a file whose content the run holds, or the warehouse where that may be.
func (in *ingester) isRepeat(f input, h *hashing, mayBefore bool) (bool, error) {
	sum, err := h.wait()
	if err != nil {
		return false, err
	}
	run := sql.NullString{String: in.o.Name, Valid: in.known.sums[sum]}
	before := !run.Valid
	if before && mayBefore {
		err = in.conn.QueryRowContext(in.ctx, `SELECT max_by(r.name, (r.name = ?, r.name)) FROM source s JOIN run r USING (run_id) WHERE s.sha256 = ?`, in.o.Name, sum).Scan(&run)
	}
	if err != nil || !run.Valid {
		return false, err
	}
	in.result.Repeated = append(in.result.Repeated, Repeat{Path: f.path, Run: run.String, Had: before && in.o.Add && run.String == in.o.Name})
	return true, nil
}

// unchanged refuses a file that somebody wrote to while it was read.
func (in *ingester) unchanged(f input, before stamp) error {
	after, err := f.stat()
	if err != nil {
		return err
	}
	if after != before {
		return fmt.Errorf("%s: %w: it changed while it was read; ingest it again when the capture has finished", f.path, ErrChanging)
	}
	return nil
}

// rankName finds a rank in a file's name, as torchrun jobs and nsys' %q{RANK} patterns write it.
var rankName = regexp.MustCompile(`(?i)(?:^|[._-])rank[._-]?(\d+)(?:[._-]|$)`)

func (in *ingester) storeSource(f input, info *load.SourceInfo, size int64, sum string) error {
	var rank, startedAt, durationNs, addedAt any
	if !in.o.Now.IsZero() {
		addedAt = in.o.Now.UTC()
	}
	if info.StartedAt != nil {
		startedAt = *info.StartedAt
	}
	if info.DurationNs != nil {
		durationNs = *info.DurationNs
	}
	if info.Rank != nil {
		if *info.Rank != int64(int32(*info.Rank)) {
			return fmt.Errorf("%s: its rank is %d, which does not fit 32 bits", f.path, *info.Rank)
		}
		rank = int32(*info.Rank)
	} else if m := rankName.FindStringSubmatch(baseName(f.path)); m != nil {
		if v, err := strconv.ParseInt(m[1], 10, 32); err == nil {
			rank = int32(v)
		}
	}
	t := in.target
	_, err := t.Append(in.ctx, "source", func(add rows.Add) error {
		return add(t.RunID, int32(t.SourceID), f.format.Kind, f.format.Name, f.path, rank, load.TextOrNull(info.ToolVersion), load.TextOrNull(info.SchemaVersion),
			size, sum, info.Rows, cmp.Or(info.Status, "ok"), load.TextOrNull(info.Reason), startedAt, durationNs,
			addedAt, load.TextOrNull(info.Command), load.TextOrNull(info.Host))
	})
	return err
}

func makeTemp(home interface{ Temp() string }) (string, error) {
	if err := file.MakeDir(home.Temp()); err != nil {
		return "", fmt.Errorf("make a folder for temporary files: %w", err)
	}
	return os.MkdirTemp(home.Temp(), "ingest-")
}

func removeTemp(dir string) { os.RemoveAll(dir) }
