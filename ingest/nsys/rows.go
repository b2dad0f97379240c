package nsys

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// fillFunc turns one batch of an export's table into rows of the warehouse and gives how many there are. Each worker has
// its own, so it may keep state.
type fillFunc func(b *table.Batch, c *rows.Chunk) (int, error)

// scanRows is a table of the export on its way into a table of the warehouse.
type scanRows struct {
	cols    []rows.Column
	scan    table.Scan
	newFill func() fillFunc
	next    atomic.Int64 // next morsel to hand out
	read    atomic.Int64 // rows read so far
	report  func(done, total int64)
}

func (r *scanRows) Columns() []rows.Column { return r.cols }
func (r *scanRows) Estimate() int64        { return r.scan.Rows() }
func (r *scanRows) Worker() rows.Worker {
	return &scanWorker{rows: r, cursor: r.scan.Open(), fill: r.newFill()}
}

type scanWorker struct {
	rows   *scanRows
	cursor table.Cursor
	fill   fillFunc
	batch  table.Batch
	open   bool
}

// Fill fills the chunk from the next batch. After an error DuckDB asks no more, so it ends the reading then too.
func (w *scanWorker) Fill(c *rows.Chunk) (int, error) {
	n, err := w.next(c)
	if err != nil {
		w.cursor.Close()
	}
	return n, err
}

// next hands morsels out in file order, so that each worker sees its rows in file order too.
func (w *scanWorker) next(c *rows.Chunk) (int, error) {
	for {
		if !w.open {
			m := w.rows.next.Add(1) - 1
			if m >= int64(w.rows.scan.Morsels()) {
				return 0, w.cursor.Close()
			}
			if err := w.cursor.Seek(int(m)); err != nil {
				return 0, err
			}
			w.open = true
		}
		more, err := w.cursor.Next(&w.batch)
		if err != nil {
			return 0, err
		}
		if !more {
			w.open = false
			if w.rows.report != nil {
				w.rows.report(w.rows.read.Load(), w.rows.scan.Rows())
			}
			continue
		}
		w.rows.read.Add(int64(w.batch.N))
		n, err := w.fill(&w.batch, c)
		if err != nil || n > 0 {
			return n, err
		}
	}
}

// eachBatch reads a table from its first row to its last.
func eachBatch(ctx context.Context, e table.Export, name string, wants []table.Want, f func(b *table.Batch) error) error {
	scan, err := e.Scan(ctx, name, wants)
	if err != nil {
		return err
	}
	return table.Each(scan, f)
}

// want reads `start end nameId? text?:text` into wants: a ? makes a column optional, :text and :float give its kind.
func want(spec string) []table.Want {
	var out []table.Want
	for _, f := range strings.Fields(spec) {
		name, kind, _ := strings.Cut(f, ":")
		w := table.Want{Name: strings.TrimSuffix(name, "?"), Optional: strings.HasSuffix(name, "?")}
		switch kind {
		case "":
		case "text":
			w.Kind = table.Text
		case "float":
			w.Kind = table.Float
		default:
			panic(fmt.Sprintf("nsys: kind %q of column %s", kind, name))
		}
		out = append(out, w)
	}
	return out
}

// columns reads `pid:int start_ns tid:int operation:text` into bulk columns; without a kind a column is a BIGINT.
func columns(spec string) []rows.Column {
	var out []rows.Column
	for _, f := range strings.Fields(spec) {
		name, kind, _ := strings.Cut(f, ":")
		t := map[string]rows.Type{"": rows.BigInt, "int": rows.Integer, "double": rows.Double, "text": rows.Varchar}[kind]
		out = append(out, rows.Column{Name: name, Type: t})
	}
	return out
}

const farthest = load.Farthest

// isInterval reports whether two times are the start and the end of something.
func isInterval(start, end int64) bool { return start <= end && start > -farthest && end < farthest }

// moment returns a nullable time; one that cannot be is unknown.
func (l *loader) moment(v *table.Vector, i int) any {
	if v.Null(i) {
		return nil
	}
	if t := v.Ints[i]; t <= -farthest || t >= farthest {
		l.odd.Add("times of messages", t)
		return nil
	}
	return v.Ints[i]
}

// globalPid and globalTid ids carry VM, process and thread: bits 24 and up name the process, see notes on serialized ids in
// NVIDIA's exporter documentation ("globalTid / 0x1000000 % 0x1000000 is the PID, globalTid % 0x1000000 the TID").
func procOf(global int64) int64 { return global >> 24 }
func pidOf(global int64) int32  { return int32(global >> 24 & 0xFFFFFF) }
func tidOf(global int64) int32  { return int32(global & 0xFFFFFF) }
