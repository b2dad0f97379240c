package nsys_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
	"prof/ingest/rows/rowstest"
)

// TestPlanIsWhatIsRead compares what is said before with what reading the same exports notes.
func TestPlanIsWhatIsRead(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.sqlite")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { // neither can be read
		return filepath.Base(p) == "no_cuda.sqlite" || filepath.Base(p) == "strings.sqlite"
	})
	for _, name := range []string{"kernels", "variants-node", "variants-graph"} {
		paths = append(paths, rowstest.Plain(t, filepath.Join("../../testdata/nsys", name, name+".sqlite.gz")))
	}
	for _, path := range paths {
		plan, err := nsys.Opener(nsys.SQLite).Plan(t.Context(), path, load.Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		k, _ := stored(t, path)
		read, want := map[string]int64{}, []string{}
		for _, r := range k.Table("source_part") {
			reason := r.Text("reason")
			if r.Get("read_count") != nil {
				read[r.Text("part")], reason = r.Int("read_count"), ""
			} else if strings.HasPrefix(reason, "only ") || strings.HasPrefix(reason, "this version ") {
				continue
			}
			want = append(want, r.Text("part")+"|"+reason)
		}
		var got []string
		for _, p := range plan.Tables {
			if n := read[p.Name]; p.Skipped == "" && (p.Rows < n*8/10 || p.Rows > n*12/10) { // those of large tables are estimates
				t.Errorf("%s: %s has %d rows, not %d", path, p.Name, n, p.Rows)
			}
			got = append(got, p.Name+"|"+p.Skipped)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: planned\n%q, read\n%q", path, got, want)
		}
	}
}
