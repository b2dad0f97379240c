package cli

import (
	"bytes"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/dialect"
	"prof/schema"
)

// engineForm begins the forms for engines that read a lake.
const engineForm = "sql-"

// exportEngine writes the statements with which an engine reads all runs of the lake.
func (p *program) exportEngine(c *cli.Context, w *schema.Warehouse, engine *dialect.Dialect) error {
	if w.Home.Lake == nil {
		return usagef("--to %s%s is for a lake, and %s is a file of DuckDB, which other engines do not read: `prof push --all --to LAKE` puts its runs into one", engineForm, engine.Name, w.Home.Warehouse())
	}
	list, err := queries.EngineRelations()
	if err != nil {
		return err
	}
	stored, err := w.LakeFiles(c.Context, dialect.TablesOf(list))
	if err != nil {
		return fmt.Errorf("--to %s%s: %w", engineForm, engine.Name, err)
	}
	tables := make([]dialect.Table, len(stored))
	for i, t := range stored {
		tables[i] = dialect.Table{Name: t.Name, Files: t.Files, Rows: t.Rows}
		for _, c := range t.Columns {
			tables[i].Columns = append(tables[i].Columns, dialect.Column{Name: c[0], Type: c[1]})
		}
	}
	head := fmt.Sprintf("prof's relations over the runs of %s, %s.\nThey are as of %s: runs that are pushed later are not in them. Written by prof %s; write it anew with prof export --to %s%s.",
		w.Home.Lake, engine.Doc, time.Now().UTC().Format("2006-01-02 15:04:05 UTC"), version(), engineForm, engine.Name)
	script, err := engine.Script(head, list, tables)
	if err != nil {
		return err
	}
	return p.writeOut(c.String("out"), bytes.NewBufferString(script))
}
