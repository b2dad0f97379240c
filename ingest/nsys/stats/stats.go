// Package stats reads what `nsys stats` makes of a capture: CSV files of its reports, or what it prints of them (--format csv). They hold sums by
// kernel, operation, function and range, and no timeline.
//
// A table is known by its columns. Several files of one capture, which nsys names alike, are one source.
package stats

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/internal/file"
	"prof/schema/terms"
)

// Kind is the kind of its sources.
const Kind = terms.NsysStats

// MaxBytes bounds a file.
const MaxBytes = 256 << 20

// ErrNoSums is wrapped by the error for files of nsys stats without a row that is stored.
var ErrNoSums = errors.New("it has no sums that prof stores")

// Sniff reports whether a file holds tables of nsys stats, by its lower-case name and its beginning. nsys leaves a file empty whose report has
// no rows.
func Sniff(name string, head []byte) bool {
	if len(head) == 0 || ofFile(name) != "" && bytes.IndexByte(head, 0) < 0 && strings.HasSuffix(name, ".csv") {
		return ofFile(name) != ""
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	for line := range bytes.Lines(file.PastMark(head)) {
		if headerOf(strings.TrimRight(string(line), "\r\n")) != nil {
			return true
		}
	}
	return false
}

// Identify knows no more of them than that they are: they do not name their capture.
func Identify(context.Context, string, string) (*load.SourceInfo, error) {
	return &load.SourceInfo{}, nil
}

// Load stores a file, or the files of a folder that are of one capture, as one source of the target's run.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	files, err := load.Parts(path, name)
	if err != nil {
		return nil, err
	}
	l := &loader{ctx: ctx, t: t, files: files, name: name}
	return l.load()
}

// each reads the tables of the files, and says which files have none.
func (l *loader) each(none func(f load.Part, isEmpty bool), s sink) error {
	for _, f := range l.files {
		in, err := file.Open(f.Path)
		if err != nil {
			return err
		}
		tables := 0
		begin := s.begin
		cut, lines, err := read(l.ctx, in, f.Name, sink{row: s.row, begin: func(t *table) error {
			tables++
			return begin(t)
		}})
		if err = errors.Join(err, in.Close()); err != nil {
			return err
		}
		if cut != "" {
			l.info.Status, l.info.Reason = "partial", cut
		}
		if tables == 0 {
			none(f, lines == 0)
		}
	}
	return nil
}

// load reads the files twice: what another table says better is known only behind the last one.
func (l *loader) load() (*load.SourceInfo, error) {
	l.first = map[key]*table{}
	if err := l.each(func(load.Part, bool) {}, sink{begin: func(t *table) error {
		if k := t.key(); t.what != "" && l.first[k] == nil {
			l.first[k] = t
		}
		return nil
	}, row: func(*table, row) error { return nil }}); err != nil {
		return nil, err
	}
	if err := l.store(); err != nil {
		return nil, err
	}
	if l.info.Rows == 0 {
		instead := ""
		if slices.ContainsFunc(l.parts, func(p *part) bool { return p.reason == noQuery }) {
			instead = "; give the report's export (nsys export --type sqlite), or its cuda_gpu_trace or _sum reports"
		}
		return nil, fmt.Errorf("%s: %w: %s%s", l.name, ErrNoSums, strings.Join(l.reasons(), "; "), instead)
	}
	if l.info.Reason != "" {
		l.info.Warnings = append(l.info.Warnings, l.info.Reason)
	}
	l.warnHeld()
	return &l.info, l.describe()
}
