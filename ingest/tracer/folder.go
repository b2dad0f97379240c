// Package tracer reads the traces that prof's own tracer writes; docs/trace-format.md is their format. A recording is a folder with a file for
// each process. Its tables are those of an Nsight Systems export, so that package nsys stores it.
//
// The files are indexed when they are opened, by the heads of their blocks; a block is read, checked and decoded when its rows are asked for.
// What a file holds is checked before it is used: a damaged one gives an *Error and no panic.
package tracer

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/ingest/nsys/table"
)

// Suffix ends the names of traces.
const Suffix = ".proftrace"

// Folder is an opened recording. All its methods are safe for concurrent use.
type Folder struct {
	name    string
	isFile  bool // it is one trace, not a folder
	traces  []*trace
	columns map[string][]string // by table
	texts   texts
}

var _ table.Export = (*Folder)(nil)

// Open opens a folder of traces, or one trace. The name is for messages.
func Open(path, name string) (*Folder, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	files := []string{""}
	if st.IsDir() {
		if files, err = tracesIn(path); err != nil {
			return nil, err
		}
	}
	if len(files) > maxFiles {
		return nil, fmt.Errorf("%s: %d traces; at most %d can be one recording", name, len(files), maxFiles)
	}
	d := &Folder{name: name, isFile: !st.IsDir(), columns: map[string][]string{}}
	blocks := 0
	for i, f := range files {
		t, err := openTrace(filepath.Join(path, f), filepath.Join(name, f), i, maxBlocks-blocks)
		if err == nil {
			err = t.settle()
		}
		if err != nil {
			return nil, err
		}
		blocks += t.blocks
		d.traces = append(d.traces, t)
		d.takeTables(t)
	}
	return d, nil
}

// tracesIn lists the names of a folder's traces.
func tracesIn(path string) ([]string, error) {
	all, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range all {
		if strings.HasSuffix(f.Name(), Suffix) && !f.IsDir() {
			out = append(out, f.Name())
		}
	}
	return out, nil
}

func (d *Folder) takeTables(t *trace) {
	for _, o := range t.tables {
		have := d.columns[o.name]
		for _, c := range o.columns {
			if !slices.Contains(have, c.name) {
				have = append(have, c.name)
			}
		}
		d.columns[o.name] = have
	}
}

// Has reports whether a trace has the table.
func (d *Folder) Has(name string) bool { return d.columns[name] != nil }

// Tables lists the tables of all traces.
func (d *Folder) Tables() []string {
	var out []string
	for name := range d.columns {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Columns returns the columns that a table has in any trace.
func (d *Folder) Columns(name string) []string { return slices.Clone(d.columns[name]) }

// Close does nothing: no file stays open.
func (d *Folder) Close() error { return nil }

// Notes say what is missing at the ends of the files.
func (d *Folder) Notes() []string {
	var open, cut, out []string
	lost := int64(0)
	for _, t := range d.traces {
		if !t.isDone {
			open = append(open, filepath.Base(t.name))
		} else if t.reason != ordinaryEnd {
			out = append(out, fmt.Sprintf("%s ends early: %s", filepath.Base(t.name), cmp.Or(t.reason, "it does not say why")))
		}
		if t.cut > 0 {
			cut, lost = append(cut, filepath.Base(t.name)), lost+t.cut
		}
	}
	if len(open) > 0 {
		out = append(out, fmt.Sprintf("%d of %d traces do not end in order (%s): the process was killed or left by _exit, and up to about a second of its end may be missing",
			len(open), len(d.traces), few(open)))
	}
	if len(cut) > 0 {
		out = append(out, fmt.Sprintf("the last block of %s is cut and was left out (%d bytes)", few(cut), lost))
	}
	return out
}

// few names the first of some files.
func few(names []string) string {
	const most = 3
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Scan prepares reading of some columns of all traces that have the table. A morsel is a block.
func (d *Folder) Scan(ctx context.Context, name string, wants []table.Want) (table.Scan, error) {
	if !d.Has(name) {
		return nil, fmt.Errorf("%s: no such table: %s", d.name, name)
	}
	s := &scan{ctx: ctx, wants: slices.Clone(wants)}
	for _, w := range wants {
		if w.Kind > table.Text {
			return nil, fmt.Errorf("%s: table %s: column %s: unknown kind %d", d.name, name, w.Name, w.Kind)
		}
	}
	for _, t := range d.traces {
		o := t.table(name)
		if o == nil {
			continue
		}
		p := &part{trace: t, table: o}
		for _, w := range wants {
			at := o.place(w.Name)
			if at < 0 && !w.Optional {
				return nil, &Error{File: t.name, Table: name, Msg: "column " + w.Name, Err: table.ErrNoColumn}
			}
			p.source = append(p.source, at)
			p.ids = append(p.ids, idOf(name, w.Name))
		}
		for i := range o.blocks {
			s.morsels = append(s.morsels, morsel{p, i})
		}
		s.rows += o.rows
	}
	s.missing = make([]bool, len(wants))
	for i, w := range wants {
		s.missing[i] = !slices.Contains(d.columns[name], w.Name)
	}
	return s, nil
}
