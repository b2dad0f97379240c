package cli

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"prof/internal/file"
	"prof/queries"
	"prof/queries/frame"
	"prof/render/sqlite"
	"prof/render/typeset"
	"prof/schema"
)

const (
	sqliteForm = "sqlite"
	sqliteDoc  = "tables kernels, memops, ranges and operators with all names, for sqlite3, Datasette and what reads their files"
)

// namedRows are the views that have names where the tables have ids.
var namedRows = []string{"kernels", "memops", "ranges", "operators"}

// exportSQLite writes a run's rows of the views with names into a database.
func (p *program) exportSQLite(c *cli.Context, w *schema.Warehouse, run schema.Run) error {
	out := c.String("out")
	if out == "" {
		return usagef("--to sqlite writes a database: name its file with --out FILE")
	}
	var rows int64
	err := file.ReplaceNamed(p.path(out), func(name string) (err error) {
		f, err := file.Create(name)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		db := sqlite.New(f)
		for _, view := range namedRows {
			n, err := sqliteTable(c, w, db, view, run)
			if err != nil {
				return fmt.Errorf("export %s of run %s: %w", view, run.Name, err)
			}
			rows += n
		}
		return db.Close()
	})
	if err == nil {
		fmt.Fprintf(p.err, "wrote %s: %s\n", out, typeset.Plural(rows, "row", "rows"))
	}
	return err
}

// sqliteTable writes a run's rows of a view, in the order of their columns.
func sqliteTable(c *cli.Context, w *schema.Warehouse, db *sqlite.Writer, view string, run schema.Run) (rows int64, err error) {
	docs, err := queries.Raw(c.Context, w, "SELECT column_name, comment FROM duckdb_columns() WHERE table_name = "+schema.Quote(view))
	if err != nil {
		return 0, err
	}
	said := map[any]string{}
	for _, row := range docs.Rows {
		said[row[0]], _ = row[1].(string)
	}
	stmt := "SELECT * EXCLUDE (run_id) FROM " + view + " WHERE run_id = " + schema.Quote(run.ID) + "::UUID ORDER BY ALL"
	err = queries.Stream(c.Context, w, stmt, mostKept, func(f *frame.Frame) error {
		for i := range f.Columns {
			f.Columns[i].Doc = said[f.Columns[i].Name]
		}
		rows, err = db.Table(view, f)
		return err
	})
	return rows, err
}
