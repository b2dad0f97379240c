package ingest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/ingest/load"
	"prof/ingest/nsys"
)

// TestPlanIsWhatIsRead compares what is said before with what reading the same exports notes.
func TestPlanIsWhatIsRead(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("nsys/testdata/*.sqlite")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { // neither can be read
		return filepath.Base(p) == "no_cuda.sqlite" || filepath.Base(p) == "strings.sqlite"
	})
	for _, name := range []string{"kernels", "variants-node", "variants-graph"} {
		packed, err := os.ReadFile(filepath.Join("../testdata/nsys", name, name+".sqlite.gz"))
		if err != nil {
			t.Fatal(err)
		}
		data, err := gunzip(packed)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name+".sqlite")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, path := range paths {
		plan, err := nsys.Opener(nsys.SQLite).Plan(t.Context(), path, load.Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		w := newWarehouse(t)
		mustIngest(t, w, "a", path)
		read := map[string]int64{}
		for _, row := range rows(t, w, `SELECT part, read_count FROM source_part WHERE read_count IS NOT NULL`) {
			name, count, _ := strings.Cut(row, "|")
			if read[name], err = strconv.ParseInt(count, 10, 64); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, p := range plan.Tables {
			if n := read[p.Name]; p.Skipped == "" && (p.Rows < n*8/10 || p.Rows > n*12/10) { // those of large tables are estimates
				t.Errorf("%s: %s has %d rows, not %d", path, p.Name, n, p.Rows)
			}
			got = append(got, p.Name+"|"+p.Skipped)
		}
		slices.Sort(got)
		want := rows(t, w, `SELECT part, CASE WHEN read_count IS NULL THEN reason ELSE '' END FROM source_part
			WHERE read_count IS NOT NULL OR NOT starts_with(reason, 'only ') AND reason NOT LIKE 'this version %' ORDER BY 1`)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: planned\n%q, read\n%q", path, got, want)
		}
	}
}
