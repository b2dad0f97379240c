package tracer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/ingest/nsys"
)

// IsFolder reports whether a folder is a recording: it holds traces, and but for logs nothing else, which would be left out.
func IsFolder(path string) bool {
	all, err := os.ReadDir(path)
	other := func(f os.DirEntry) bool {
		return f.IsDir() || !strings.HasSuffix(f.Name(), Suffix) && !strings.HasSuffix(f.Name(), ".log")
	}
	return err == nil && slices.ContainsFunc(all, func(f os.DirEntry) bool { return strings.HasSuffix(f.Name(), Suffix) }) && !slices.ContainsFunc(all, other)
}

// Sniff reports whether a file begins as a trace.
func Sniff(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

// Identify reads what a recording says of itself.
func Identify(ctx context.Context, path, name string) (*load.SourceInfo, error) {
	return with(path, name, func(d *Folder) (*load.SourceInfo, error) { return d.own(nsys.Identify(ctx, d, name)) })
}

// Load stores a recording.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	return with(path, name, func(d *Folder) (*load.SourceInfo, error) { return d.own(nsys.Load(ctx, d, name, t)) })
}

// Work returns the device work of each process.
func Work(ctx context.Context, path, name string) (map[int32]load.Work, error) {
	work, err := with(path, name, func(d *Folder) (*map[int32]load.Work, error) { return nsys.Work(ctx, d, name) })
	if err != nil {
		return nil, err
	}
	return *work, nil
}

// isEmptyByCut reports whether a trace was cut, be it where its records begin, and none has a record of work, a call or a range.
func (d *Folder) isEmptyByCut() bool {
	cut := false
	for _, t := range d.traces {
		cut = cut || t.cut > 0
		for _, o := range t.tables {
			if !strings.HasPrefix(o.name, "CUPTI_") && o.name != "NVTX_EVENTS" {
				continue
			}
			if o.rows > 0 {
				return false
			}
			cut = cut || !t.isDone
		}
	}
	return cut
}

// own returns a trace that is read by itself an identity of its own: that of the recording is in all its files.
func (d *Folder) own(info *load.SourceInfo, err error) (*load.SourceInfo, error) {
	if err == nil && d.isFile && info.CaptureID != "" {
		info.CaptureID += " " + filepath.Base(d.name)
	}
	return info, err
}

// Plan returns what Load would read.
func Plan(ctx context.Context, path string, o load.Options) (*load.Plan, error) {
	return with(path, path, func(d *Folder) (*load.Plan, error) { return nsys.Plan(ctx, d, path, o) })
}

func with[T any](path, name string, do func(d *Folder) (*T, error)) (*T, error) {
	d, err := Open(path, name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	if d.isEmptyByCut() {
		return nil, fmt.Errorf("%s: %w", name, load.ErrNothingWhole)
	}
	out, err := do(d)
	if errors.Is(err, nsys.ErrNoCUDA) || errors.Is(err, nsys.ErrNotExport) {
		return nil, fmt.Errorf("%s: %w in %d processes", name, ErrNoWork, len(d.traces))
	}
	return out, err
}
