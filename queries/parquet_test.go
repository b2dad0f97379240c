package queries_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// TestParquet: an answer is the same in a Parquet file: names, types and rows. Each column of the queries that are asked and give rows is in one of the files.
func TestParquet(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "x", Files: []string{"ncu/llama.sqlite.gz", "ncu/llama.ncu-rep.gz", "workload/llama-graph-node.workload.json"}})
	dir := t.TempDir()
	answers, seen := frames(t, w, sample.Of(catalogue(t), 3), "x", "", once), map[frame.Column]bool{}
	for _, name := range slices.Sorted(maps.Keys(answers)) {
		f := answers[name]
		if len(f.Rows) == 0 || !slices.ContainsFunc(f.Columns, func(c frame.Column) bool { return !seen[c] }) {
			continue
		}
		for _, c := range f.Columns {
			seen[c] = true
		}
		path := filepath.Join(dir, "answer.parquet")
		if err := queries.WriteParquet(t.Context(), w, f, path); err != nil {
			t.Error(err)
			continue
		}
		file := "read_parquet(" + schema.Quote(path) + ")"
		columns := func(from string) string {
			return fmt.Sprint(rows(t, w, "SELECT column_name, column_type FROM (DESCRIBE "+from+")"))
		}
		if got, want := columns("FROM "+file), columns(f.SQL); got != want {
			t.Errorf("%s has the columns\n%s\nwant\n%s", name, got, want)
		}
		if got := rows(t, w, "FROM "+file); !slices.Equal(got, asText(f)) {
			t.Errorf("%s: %d rows, not the %d of the answer, or others", name, len(got), len(f.Rows))
		}
		meta := rows(t, w, "SELECT decode(key) || '=' || decode(value) FROM parquet_kv_metadata("+schema.Quote(path)+")")
		for _, c := range f.Columns {
			if !slices.Contains(meta, fmt.Sprintf("[%s%s=%s]", schema.ParquetColumn, c.Name, c.Doc)) {
				t.Errorf("%s does not say what %s is: %v", name, c.Name, meta)
			}
		}
	}
}
