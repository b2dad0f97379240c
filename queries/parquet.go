package queries

import (
	"context"
	"fmt"
	"strings"

	"prof/queries/frame"
	"prof/schema"
)

// WriteParquet writes the rows of an answer into a file, in full precision and base units. Its metadata says which query it is (prof_query), what its
// columns hold (prof_column_NAME) and what to know about the rows (prof_notes).
func WriteParquet(ctx context.Context, w *schema.Warehouse, f *frame.Frame, path string) error {
	about := map[string]string{"prof_query": fmt.Sprintf("%s.v%d", f.Query, f.Version), "prof_notes": strings.Join(f.Notes, "\n")}
	for _, c := range f.Columns {
		about[schema.ParquetColumn+c.Name] = c.Doc
	}
	if _, err := w.WriteParquet(ctx, f.SQL, path, about); err != nil {
		return fmt.Errorf("query %s: %w", f.Query, err)
	}
	return nil
}
