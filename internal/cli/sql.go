package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"prof/queries"
)

func (p *program) sqlCommand() *cli.Command {
	return &cli.Command{
		Name:      "sql",
		Usage:     "query the warehouse with your own SQL",
		ArgsUsage: "['SELECT ...' | -]",
		Description: `One SELECT (or FROM, WITH, DESCRIBE, SHOW, EXPLAIN) in DuckDB's SQL; without it, or with -, from stdin. Writing is refused.

  prof sql "FROM top_kernels('baseline', top := 10)"
  prof sql "SELECT r.name, count(*) FROM kernel k JOIN run r USING (run_id) GROUP BY ALL"
  prof sql < question.sql --format csv`,
		Flags:  outputFlags(),
		Action: p.sql,
	}
}

func (p *program) sql(c *cli.Context) (err error) {
	if c.NArg() > 1 {
		return usagef("sql takes one statement: put it in quotes; see `prof help sql`")
	}
	text := c.Args().First()
	if text == "" || text == "-" {
		in, err := io.ReadAll(p.in)
		if err != nil {
			return err
		}
		text = string(in)
	}
	if strings.TrimSpace(text) == "" {
		return usagef("sql takes a statement as its argument or on stdin; see `prof help sql`")
	}
	w, err := p.open(c, false)
	if err != nil {
		return err
	}
	defer closing(w, &err)
	f, err := queries.Raw(c.Context, w, text)
	if err != nil {
		return err
	}
	if plan := f.Index("explain_value"); plan >= 0 && c.String("format") == "table" {
		for _, r := range f.Rows { // a drawing: as a cell it would be one line
			if _, err := fmt.Fprintln(p.out, r[plan]); err != nil {
				return err
			}
		}
		return nil
	}
	return p.print(c, f)
}
