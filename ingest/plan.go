package ingest

import (
	"context"
	"database/sql"

	"prof/ingest/load"
	"prof/schema"
)

// Planned is a file that Run would read, or leave out.
type Planned struct {
	Path, Form string
	Packed     string // how; "" where it is not
	LeftOut    bool   // another file holds the capture better
	Size       int64  // in bytes, as it is
	// Growth is about how many bytes the warehouse would grow by; 0 where that is not known.
	Growth int64
	// SameSize and SameCapture name a run with a file of that size and with that capture. The content is not compared: it would have to
	// be read whole.
	SameSize, SameCapture string
	Tables                []load.PlannedTable // nil where only reading the file could say
}

// Plan returns what Run would read, and stores nothing. The warehouse may be nil; of folders it also returns the files that
// it would not read.
func Plan(ctx context.Context, w *schema.Warehouse, paths []string, o Options) (files []Planned, skipped []Skip, err error) {
	found, err := o.find(paths, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range found.list {
		p, err := f.planned(ctx, w, o.Load)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, *p)
	}
	for _, f := range found.left {
		files = append(files, Planned{Path: f.path, Form: f.format.Name, LeftOut: true})
	}
	return files, found.skipped, nil
}

func (f input) planned(ctx context.Context, w *schema.Warehouse, o load.Options) (*Planned, error) {
	st, err := f.stat()
	if err != nil {
		return nil, err
	}
	p := &Planned{Path: f.path, Form: f.format.Name, Size: st.size}
	unpacked := st.size
	if f.packed != plainFile {
		p.Packed, unpacked = f.packed.String(), unpacked*usualPacking
	}
	p.Growth = int64(float64(unpacked) * f.format.Growth)
	capture := ""
	if f.format.Plan != nil && f.packed == plainFile {
		plan, err := f.format.Plan(ctx, f.path, o)
		if err != nil {
			return nil, err
		}
		p.Tables, capture = plan.Tables, plan.CaptureID
	}
	if w == nil {
		return p, nil
	}
	if p.SameSize, err = runWith(ctx, w, `SELECT max(r.name) FROM source s JOIN run r USING (run_id) WHERE s.size_bytes = ?`, st.size); err != nil {
		return nil, err
	}
	if capture != "" {
		p.SameCapture, err = runWith(ctx, w, `SELECT max(r.name) FROM (`+capturesOf+`) f JOIN run r USING (run_id) WHERE contains(f.capture, ?)`, capture)
	}
	return p, err
}

func runWith(ctx context.Context, w *schema.Warehouse, query string, arg any) (string, error) {
	var run sql.NullString
	err := w.DB.QueryRowContext(ctx, query, arg).Scan(&run)
	return run.String, err
}
