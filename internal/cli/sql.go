package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries"
	"prof/queries/frame"
	"prof/render/table"
	"prof/render/typeset"
)

func (p *program) sqlCommand() *cli.Command {
	return &cli.Command{
		Name:      "sql",
		Usage:     "query the warehouse with your own SQL",
		ArgsUsage: "['SELECT ...' | -]",
		Description: `One SELECT (or FROM, WITH, DESCRIBE, SHOW, EXPLAIN) in DuckDB's SQL; without it, or with -, from stdin. Writing is refused.
CSV, JSON and Arrow are written as rows come, however many there are; tables end after 10,000 rows and say so.

  prof sql "FROM top_kernels('baseline', top := 10)"
  prof sql "SELECT r.name, count(*) FROM kernel k JOIN run r USING (run_id) GROUP BY ALL"
  prof sql < question.sql --format csv`,
		Flags:  outputFlags(),
		Action: p.sql,
	}
}

// maxStatement bounds a statement from stdin, in bytes.
const maxStatement = 16 << 20

func (p *program) sql(c *cli.Context) (err error) {
	if c.NArg() > 1 {
		return usagef("sql takes one statement: put it in quotes; see `prof help sql`")
	}
	text := c.Args().First()
	if text == "" || text == "-" {
		if text, err = p.stdin(c.Context, maxStatement); err != nil {
			return err
		}
	}
	if strings.TrimSpace(text) == "" {
		return usagef("sql takes a statement as its argument or on stdin; see `prof help sql`")
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	return queries.Stream(c.Context, w, text, keptFor(c.String("format")), func(f *frame.Frame) error {
		if plan := f.Index("explain_value"); plan >= 0 && c.String("format") == "table" {
			for _, r := range f.Rows { // a drawing: as a cell it would be one line
				if _, err := fmt.Fprintln(p.out, r[plan]); err != nil {
					return err
				}
			}
			return nil
		}
		if !table.Streams(c.String("format")) {
			if err := cutRest(f); err != nil {
				return err
			}
		}
		return p.print(c, f)
	})
}

// mostKept is how much of a result is in memory before it is written: the columns of a table are as wide as their widest cells, and JSON must
// know whether the numbers of a column are such to all readers.
var mostKept = queries.Part{Rows: 10_000, Bytes: 16 << 20}

// keptFor is how much of a result is in memory before it is written in a form; CSV needs nothing of its columns.
func keptFor(form string) queries.Part {
	if form == "csv" {
		return queries.Part{Rows: 1}
	}
	return mostKept
}

// cutRest leaves out the rows that are not in memory, and says so.
func cutRest(f *frame.Frame) error {
	if f.Rest == nil {
		return nil
	}
	row, err := f.Rest()
	if row != nil {
		f.Notes = append(f.Notes, fmt.Sprintf("only the first %s rows are here; --format csv, json and arrow give all", typeset.Int(int64(len(f.Rows)))))
	}
	f.Rest = nil
	return err
}
