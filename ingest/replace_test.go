package ingest_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/ingest"
	"prof/schema/rundir"
)

// A run that is made anew does not lose what it had: not where files are gone or broken, and not to another capture of its name.
func TestReplaceKeeps(t *testing.T) {
	b := newBench(t)
	dir := b.captured("rep")
	b.ok(ingest.Options{}, dir)
	before := b.state()
	refused := func(what string, want error, o ingest.Options, paths ...string) {
		t.Helper()
		if _, err := b.try(o, paths...); !errors.Is(err, want) || b.state() != before {
			t.Errorf("%s: error %v, want %v; state changed: %v", what, err, want, b.state() != before)
		}
	}
	anew := ingest.Options{Replace: true}
	other := b.captured("other")
	manifest, err := rundir.ReadManifest(filepath.Join(other, rundir.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	manifest.StartedAt = manifest.StartedAt.AddDate(0, 0, 1)
	if err := manifest.Write(other); err != nil {
		t.Fatal(err)
	}
	refused("another capture of that name", ingest.ErrOther, anew, other)
	export := filepath.Join(dir, "nsys", "report-2.sqlite")
	data, err := os.ReadFile(export)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(export, 5000); err != nil {
		t.Fatal(err)
	}
	refused("a broken export", ingest.ErrLess, anew, dir)
	if err := os.Remove(export); err != nil {
		t.Fatal(err)
	}
	refused("an export that is gone", ingest.ErrLess, anew, dir)
	refused("no captures at all", ingest.ErrLess, ingest.Options{Name: "repeats", Replace: true}, b.file("m/config.json", llamaConfig(2)))
	if err := os.WriteFile(export, bytes.Clone(data), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := b.ok(anew, dir); !r.Made || r.Run.Name != "repeats" {
		t.Errorf("whole again: %+v", r)
	}
}

// Of repeats of which some were stopped, the whole ones count; where all were, what there is.
func TestStoppedRepeat(t *testing.T) {
	for _, c := range []struct {
		stopped []int
		sources string
		warned  bool
	}{{[]int{1}, "1", true}, {[]int{1, 2}, "2", false}} {
		b := newBench(t)
		dir := b.captured("rep")
		m, err := rundir.ReadManifest(filepath.Join(dir, rundir.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Passes {
			for _, n := range c.stopped {
				if m.Passes[i].Tool == rundir.ToolNsys && m.Passes[i].Repeat == n {
					m.Passes[i].Status = rundir.StatusTimeout
				}
			}
		}
		if err := m.Write(dir); err != nil {
			t.Fatal(err)
		}
		b.ok(ingest.Options{}, dir)
		if got := b.rows(`SELECT count(*) FROM source WHERE kind = 'nsys'`); got != c.sources {
			t.Errorf("stopped %v: %s timelines, want %s", c.stopped, got, c.sources)
		}
		if said := strings.Contains(strings.Join(b.warnings, "\n"), "its recording failed (timeout), and another repeat succeeded"); said != c.warned {
			t.Errorf("stopped %v: warnings %q", c.stopped, b.warnings)
		}
	}
}
