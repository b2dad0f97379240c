package prune

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPruneInterrupted holds what a prune finds that was stopped at any point before.
func TestPruneInterrupted(t *testing.T) {
	dir := t.TempDir()
	someRun(t, dir, "a", "A", 9, nil)
	before := contents(t, dir)
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	p := plan(t, dir, Options{})
	if result, err := p.Apply(stopped); !errors.Is(err, context.Canceled) || result != (Result{}) || !reflect.DeepEqual(contents(t, dir), before) {
		t.Errorf("%+v, %v", result, err)
	}
	// Stopped while it packs: nothing is left of it.
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	name := captured("a")[0]
	st, err := root.Lstat(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := compress(stopped, root, name, st); !errors.Is(err, context.Canceled) || !reflect.DeepEqual(contents(t, dir), before) {
		t.Errorf("%v", err)
	}
	// Killed while it packed, long ago and just now, and killed before it removed what it had packed.
	var packed bytes.Buffer
	if _, _, err := pack(&packed, strings.NewReader(before[name])); err != nil {
		t.Fatal(err)
	}
	for _, file := range []struct {
		path string
		age  time.Duration
	}{{"a/nsys/.x.1" + partialEnd, 25 * time.Hour}, {"a/nsys/.x.2" + partialEnd, time.Hour}, {name + packedEnd, time.Hour}} {
		at := pruneNow.Add(-file.age)
		if err := errors.Join(os.WriteFile(filepath.Join(dir, file.path), packed.Bytes(), 0o644), os.Chtimes(filepath.Join(dir, file.path), at, at)); err != nil {
			t.Fatal(err)
		}
	}
	p = plan(t, dir, Options{})
	want := append([]string{Drop + " a/nsys/.x.1" + partialEnd}, all(Compress, "a")...)
	if !slices.Equal(actions(p), want) {
		t.Errorf("got %q, want %q", actions(p), want)
	}
	if _, err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := contents(t, dir)
	for _, path := range captured("a") {
		if unpacked(t, after[path+packedEnd]) != before[path] {
			t.Errorf("%s was not packed right", path)
		}
	}
	if _, there := after["a/nsys/.x.1"+partialEnd]; there || after["a/nsys/.x.2"+partialEnd] == "" {
		t.Error("of the partial files the old one should go and the new one stay")
	}
}

// TestPruneChanged holds that what is no longer as it was planned is left alone, and that the other files are dealt with.
func TestPruneChanged(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	someRun(t, dir, "a", "A", 9, nil)
	someRun(t, outside, "b", "A", 9, nil)
	p := plan(t, dir, Options{})
	p.Actions = append(p.Actions, Action{Path: "../" + filepath.Base(outside) + "/b/nsys/report-1.sqlite", Action: Drop}, Action{Path: "a/env.json", Bytes: 2, Action: "shrink"})
	elsewhere := contents(t, outside)
	path := filepath.Join(dir, captured("a")[0])
	for _, err := range []error{
		os.WriteFile(path, []byte("grown since"), 0o644), os.Rename(filepath.Join(dir, "a/ncu"), filepath.Join(dir, "a/moved")), os.Symlink(filepath.Join(outside, "b/ncu"), filepath.Join(dir, "a/ncu")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	result, err := p.Apply(t.Context())
	if result.Compressed != 2 || result.Dropped != 0 || err == nil {
		t.Errorf("%+v, %v", result, err)
	}
	for _, says := range []string{"compress a/nsys/report-1.sqlite: it has changed in the meantime", "a/ncu/report-1.ncu-rep: its path has a symbolic link", "path escapes from parent", "unknown action shrink"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q in %v", says, err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "grown since" {
		t.Errorf("%q, %v", text, err)
	}
	if !reflect.DeepEqual(contents(t, outside), elsewhere) {
		t.Error("files elsewhere were changed")
	}
}

func TestIsCaptured(t *testing.T) {
	for name, want := range map[string]bool{
		"nsys/report-1.nsys-rep": true, "nsys/report-1.2.SQLITE": true, "ncu/x.ncu-rep.gz": true, "torch/trace.json": true, "torch/trace.json.gz": true, "torch/rank0.trace.json.zst": true,
		"nsys/report-1.qdstrm": true, "old.qdrep": true, "torch/trace-1.json": true,
		"run.json": false, "env.json": false, "workload.json": false, "torch/workload.json.gz": false, "model/config.json": false, "config.yaml": false, "assumptions.md": false, "nsys/report-1.log": false,
		"nsys/report-1.facts.json": false, "nsys/report-1.samples.csv": false, "traces/notes.txt": false, "reports/report.html": false,
	} {
		if got := isCaptured("run/" + name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
