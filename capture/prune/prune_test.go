package prune

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"prof/schema/rundir"
)

var pruneNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// someRun makes a run's folder of a workload, started some days ago, with captured files and what stays.
func someRun(t *testing.T, dir, name, workload string, days int, change func(*rundir.Manifest)) {
	t.Helper()
	m := rundir.Manifest{Version: 1, Run: name, WorkloadKey: workload, StartedAt: pruneNow.AddDate(0, 0, -days), Status: rundir.StatusOK}
	if change != nil {
		change(&m)
	}
	for path, text := range map[string]string{
		"nsys/report-1.nsys-rep": strings.Repeat(name+" report ", 1000), "nsys/report-1.sqlite": strings.Repeat(name+" tables ", 2000), "ncu/report-1.ncu-rep": strings.Repeat(name+" kernels ", 500),
		"torch/trace.json": strings.Repeat(`{"a": 1}`, 500), "torch/workload.json": "{}", "nsys/report-1.log": "said", "nsys/report-1.samples.csv": "time_unix_ns", "model/config.json": "{}",
		"env.json": "{}", "config.yaml": "mode: deep\n", "inputs.yaml": "[]\n", "assumptions.md": "# none\n",
	} {
		path = filepath.Join(dir, name, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Write(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// captured are the paths of a run's captured files, in the order in which they go.
func captured(name string) []string {
	return []string{name + "/nsys/report-1.sqlite", name + "/ncu/report-1.ncu-rep", name + "/nsys/report-1.nsys-rep", name + "/torch/trace.json"}
}

// contents returns the content of every file below a folder by its path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		out[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func plan(t *testing.T, dir string, o Options) *Plan {
	t.Helper()
	if o.Stored == nil {
		o.Stored = func(time.Time, string) bool { return true }
	}
	p, err := Find(dir, pruneNow, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPruneNotStored: what the warehouse does not have stays, be it a whole run or one file, unless the run is named.
func TestPruneNotStored(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"r4", "r3", "r2", "r1"} {
		someRun(t, dir, name, "A", i+1, nil)
	}
	began := func(days int) time.Time { return pruneNow.AddDate(0, 0, -days) }
	o := Options{MaxTotal: 1, NotStored: []string{"r2"}, Stored: func(started time.Time, path string) bool {
		return started.Equal(began(4)) || started.Equal(began(1)) && path == "nsys/report-1.sqlite"
	}}
	p := plan(t, dir, o)
	if got, want := actions(p), append(all(Drop, "r1", "r2"), Drop+" r4/nsys/report-1.sqlite"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var skipped []string
	for _, s := range p.Skipped {
		skipped = append(skipped, s.Folder+": "+s.Reason)
	}
	if want := []string{"r3: " + notStored, "r4/ncu/report-1.ncu-rep: " + notStored, "r4/nsys/report-1.nsys-rep: " + notStored, "r4/torch/trace.json: " + notStored}; !slices.Equal(skipped, want) {
		t.Errorf("left alone: %q, want %q", skipped, want)
	}
	if p, err := Find(dir, pruneNow, Options{MaxTotal: 1}); err != nil || len(p.Actions) != 0 || len(p.Skipped) != 4 {
		t.Errorf("without a warehouse: %+v, %v", p, err)
	}
}

// actions are those of a plan as text: action and path.
func actions(p *Plan) []string {
	var out []string
	for _, a := range p.Actions {
		out = append(out, a.Action+" "+a.Path)
	}
	return out
}

func all(action string, runs ...string) []string {
	var out []string
	for _, r := range runs {
		for _, path := range captured(r) {
			out = append(out, action+" "+path)
		}
	}
	return out
}

func unpacked(t *testing.T, text string) string {
	t.Helper()
	d, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	out, err := d.DecodeAll([]byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestPruneCompresses(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		someRun(t, dir, fmt.Sprintf("a%d", i), "A", 10-i, nil)
	}
	someRun(t, dir, "b", "B", 90, nil) // the last of its own workload
	before := contents(t, dir)
	modified := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "a0/torch/trace.json"), modified, modified); err != nil {
		t.Fatal(err)
	}
	p := plan(t, dir, Options{Keep: 2})
	if got, want := actions(p), all(Compress, "a0", "a1"); !slices.Equal(got, want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	var planned, total int64
	for _, a := range p.Actions {
		planned += a.Bytes
		if a.Run != a.Path[:2] || a.Bytes != int64(len(before[a.Path])) || a.Reason != "beyond the latest 2 runs of its group" {
			t.Errorf("%+v", a)
		}
	}
	for _, text := range before {
		total += int64(len(text))
	}
	if p.TotalBytes != total || p.OverBytes != 0 || len(p.Skipped) != 0 {
		t.Errorf("total %d, want %d; over %d, skipped %v", p.TotalBytes, total, p.OverBytes, p.Skipped)
	}
	if !reflect.DeepEqual(contents(t, dir), before) {
		t.Fatal("planning changed files")
	}

	result, err := p.Apply(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	after := contents(t, dir)
	var packed int64
	for path, text := range before {
		if slices.Contains(all("", "a0", "a1"), " "+path) {
			if _, there := after[path]; there || unpacked(t, after[path+".zst"]) != text {
				t.Errorf("%s was not packed right", path)
			}
			packed += int64(len(after[path+".zst"]))
			delete(after, path+".zst")
		} else if after[path] != text {
			t.Errorf("%s has changed", path)
		}
		delete(after, path)
	}
	if len(after) != 0 {
		t.Errorf("prune left %v", after)
	}
	if result != (Result{Compressed: 8, FreedBytes: planned - packed}) {
		t.Errorf("%+v, want 8 files and %d bytes", result, planned-packed)
	}
	st, err := os.Stat(filepath.Join(dir, "a0/torch/trace.json.zst"))
	if err != nil || !st.ModTime().Equal(modified) || st.Mode().Perm() != 0o640 {
		t.Errorf("%v %v %v", st.ModTime(), st.Mode(), err)
	}

	if again := plan(t, dir, Options{Keep: 2}); len(again.Actions) != 0 {
		t.Errorf("what was done is planned again: %v", again.Actions)
	}
	if result, err := p.Apply(t.Context()); err != nil || result != (Result{}) {
		t.Errorf("done again: %+v, %v", result, err)
	}
}

// TestPruneFits holds that as much as possible stays below the limit, what is compressed counted as such, and that the plan tells the end.
func TestPruneFits(t *testing.T) {
	dir := t.TempDir()
	for i := range 4 {
		someRun(t, dir, fmt.Sprintf("a%d", i), "A", 10-i, nil)
	}
	size := func(p *Plan) int64 {
		t.Helper()
		result, err := p.Apply(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var total int64
		for _, text := range contents(t, dir) {
			total += int64(len(text))
		}
		if total != p.TotalBytes-result.FreedBytes {
			t.Errorf("%d bytes are left of %d, freed were %d", total, p.TotalBytes, result.FreedBytes)
		}
		return total
	}
	whole := plan(t, dir, Options{Keep: 1}).TotalBytes
	if p := plan(t, dir, Options{Keep: 1, MaxTotal: whole}); !slices.Equal(actions(p), all(Compress, "a0", "a1", "a2")) {
		t.Errorf("nothing exceeds the limit, but %q", actions(p))
	}
	if p := plan(t, dir, Options{Keep: 1, MaxTotal: whole - 1}); !slices.Equal(actions(p), all(Compress, "a0", "a1", "a2")) {
		t.Errorf("packed, nothing exceeds the limit, but %q", actions(p))
	}
	var packed int64 // of what a1 to a3 hold when a1 and a2 are packed, without what a0 captured
	for path, text := range contents(t, dir) {
		if slices.Contains(all("", "a1", "a2"), " "+path) {
			var n counter
			if _, _, err := pack(&n, strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
			packed += int64(n)
		} else if !slices.Contains(all("", "a0"), " "+path) {
			packed += int64(len(text))
		}
	}
	want := append(all(Drop, "a0"), all(Compress, "a1", "a2")...)
	p := plan(t, dir, Options{Keep: 1, MaxTotal: packed})
	if !slices.Equal(actions(p), want) || !strings.Contains(p.Actions[0].Reason, fmt.Sprintf("oldest files beyond %d bytes", packed)) {
		t.Fatalf("limit %d: got %q, want %q", packed, actions(p), want)
	}
	less := plan(t, dir, Options{Keep: 1, MaxTotal: packed - 1})
	want[4] = Drop + " " + captured("a1")[0]
	if !slices.Equal(actions(less), want) {
		t.Errorf("limit %d: got %q, want %q", packed-1, actions(less), want)
	}
	if got := size(p); got != packed {
		t.Errorf("%d bytes are left, want %d", got, packed)
	}
	p = plan(t, dir, Options{Keep: 1, MaxTotal: 1})
	want = nil
	for _, path := range append(captured("a1"), captured("a2")...) {
		want = append(want, Drop+" "+path+".zst")
	}
	if !slices.Equal(actions(p), want) {
		t.Errorf("got %q, want %q", actions(p), want)
	}
	if got := size(p); got != 1+p.OverBytes {
		t.Errorf("%d bytes are left, the plan said %d too many", got, p.OverBytes)
	}
	if p := plan(t, dir, Options{Keep: 1, MaxTotal: 1}); len(p.Actions) != 0 || p.OverBytes != p.TotalBytes-1 {
		t.Errorf("%q, over %d", actions(p), p.OverBytes)
	}
	for _, path := range captured("a3") {
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil {
			t.Errorf("what is kept is gone: %v", err)
		}
	}
}

func TestPruneLeavesAlone(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	someRun(t, dir, "kept", "A", 1, nil)
	someRun(t, dir, "protected", "A", 2, nil)
	someRun(t, dir, "at-work", "A", 0, func(m *rundir.Manifest) { m.Status, m.StartedAt = rundir.StatusRunning, pruneNow.Add(-23*time.Hour) })
	someRun(t, dir, "killed", "A", 3, func(m *rundir.Manifest) { m.Status = rundir.StatusRunning })
	someRun(t, dir, "newer", "A", 9, func(m *rundir.Manifest) { m.Version = rundir.ManifestVersion + 1 })
	someRun(t, dir, "broken", "A", 9, nil)
	someRun(t, dir, "no-manifest", "A", 9, nil)
	someRun(t, outside, "elsewhere", "A", 9, nil)
	for _, err := range []error{
		os.WriteFile(filepath.Join(dir, "broken/run.json"), []byte("{"), 0o644), os.Remove(filepath.Join(dir, "no-manifest/run.json")),
		os.Symlink(filepath.Join(outside, "elsewhere"), filepath.Join(dir, "link")),
		os.Symlink(filepath.Join(outside, "elsewhere/nsys"), filepath.Join(dir, "killed/more")),
		os.Symlink(filepath.Join(outside, "elsewhere/nsys/report-1.sqlite"), filepath.Join(dir, "killed/linked.sqlite")),
		os.Mkdir(filepath.Join(dir, "linked-manifest"), 0o755), os.Symlink(filepath.Join(outside, "elsewhere/run.json"), filepath.Join(dir, "linked-manifest/run.json")),
		os.WriteFile(filepath.Join(dir, "a file.sqlite"), []byte("x"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	before, elsewhere := contents(t, dir), contents(t, outside)
	p := plan(t, dir, Options{MaxTotal: 1, Protected: []string{"protected", "kept"}})
	if got, want := actions(p), all(Drop, "killed"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	says := map[string]string{"protected": "it is protected", "kept": "it is protected", "at-work": "it may still be running", "newer": "newer prof", "broken": "not a run.json of prof",
		"no-manifest": "it has no run.json", "link": "symbolic link", "linked-manifest": "not a regular file"}
	for _, s := range p.Skipped {
		if want, ok := says[s.Folder]; !ok || !strings.Contains(s.Reason, want) {
			t.Errorf("%s is left alone because %q", s.Folder, s.Reason)
		}
		delete(says, s.Folder)
	}
	if len(says) != 0 {
		t.Errorf("not told: %v", says)
	}
	if _, err := p.Apply(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := contents(t, dir)
	for _, path := range captured("killed") {
		delete(before, path)
	}
	if !reflect.DeepEqual(after, before) || !reflect.DeepEqual(contents(t, outside), elsewhere) {
		t.Error("other files were changed")
	}
	if _, err := os.Lstat(filepath.Join(dir, "killed/linked.sqlite")); err != nil {
		t.Errorf("a link is gone: %v", err)
	}
}

func TestPruneGroups(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"r4", "r3", "r2", "r1"} {
		someRun(t, dir, name, "A", i+1, nil)
	}
	someRun(t, dir, "s1", "", 50, nil)
	someRun(t, dir, "s2", "", 51, nil)
	for _, c := range []struct {
		o    Options
		want []string
	}{
		{Options{Keep: 4}, nil},
		{Options{Keep: 3}, all(Compress, "r1")},
		{Options{Keep: 1, Groups: map[string]string{"r4": "x", "r3": "y", "r2": "x"}}, all(Compress, "r2")},
		{Options{Keep: 1, Groups: map[string]string{"r1": "x", "r2": "x"}}, all(Compress, "r1", "r3")},
		{Options{Keep: 2, Protected: []string{"r3"}}, all(Compress, "r1", "r2")},
		{Options{Keep: 1, Protected: []string{"r2"}}, all(Compress, "r1", "r3")},
	} {
		if got := actions(plan(t, dir, c.o)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %q, want %q", c.o, got, c.want)
		}
	}
	if got := actions(plan(t, dir, Options{})); len(got) != 6*4 || !slices.Equal(got[:8], all(Compress, "s2", "s1")) {
		t.Errorf("got %q", got)
	}
	for _, o := range []Options{{Keep: -1}, {MaxTotal: -1}} {
		if _, err := Find(dir, pruneNow, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	p, err := Find(filepath.Join(dir, "none"), pruneNow, Options{})
	if err != nil || len(p.Actions) != 0 {
		t.Errorf("a folder that is not there: %+v, %v", p, err)
	}
	if result, err := p.Apply(t.Context()); err != nil || result != (Result{}) {
		t.Errorf("%+v, %v", result, err)
	}
}
