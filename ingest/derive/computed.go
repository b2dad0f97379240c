package derive

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prof/ingest/cost"
	"prof/ingest/critical"
	"prof/ingest/steady"
	"prof/schema"
)

// computed are steps whose rows Go computes. Each reads what it needs on the connection, given the run as SQL and the query of its file, and returns what finds the rows without the connection.
var computed = map[string]func(ctx context.Context, q schema.SQL, run, query string) (computation, error){"_op_formula": operatorCosts, "_critical_row": textRows("$critical", critical.Read), "_part_row": textRows("$parts", steady.Read)}

// computation finds rows.
type computation func(ctx context.Context) ([]values, error)

// values are rows to insert: what follows the name of the table in the statement, and its arguments.
type values struct {
	sql  string
	args []any
}

// textRows has a package find rows in what is derived so far: one text, which the query takes apart.
func textRows(name string, read func(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (func(ctx context.Context) (string, error), error)) func(ctx context.Context, q schema.SQL, run, query string) (computation, error) {
	return func(ctx context.Context, q schema.SQL, run, query string) (computation, error) {
		find, err := read(ctx, q.QueryContext, run)
		return func(ctx context.Context) ([]values, error) {
			rows, err := find(ctx)
			return []values{{byName("*", strings.ReplaceAll(query, name, "$1")), []any{rows}}}, err
		}, err
	}
}

// costBatch is how many rows an INSERT has.
const costBatch = 1000

// operatorCosts returns the costs of the operators with formulas. They are computed as their inputs are read, which are long.
func operatorCosts(ctx context.Context, q schema.SQL, _, query string) (computation, error) {
	rows, err := costRows(ctx, q, query)
	return func(context.Context) (out []values, _ error) {
		for batch := range slices.Chunk(rows, costBatch) {
			out = append(out, values{sql: "VALUES " + strings.Join(batch, ", ")})
		}
		return out, nil
	}, err
}

// costRows returns the rows as SQL: the order of the columns is that of the file.
func costRows(ctx context.Context, q schema.SQL, query string) ([]string, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []string
	for rows.Next() {
		var nameID, inputID int64
		var name string
		var in cost.Inputs
		if err := rows.Scan(&nameID, &inputID, &name, &in.Shapes, &in.Types, &in.Strides, &in.Concrete); err != nil {
			return nil, err
		}
		c, ok := cost.Of(name, in)
		if !ok {
			continue
		}
		all = append(all, fmt.Sprintf("(%d, %d, %s, %s, %s, %s, %s, %s, %s, %s)", nameID, inputID, known(c.Group), count(c.FLOP), count(c.MaskedFLOP), count(c.Read), count(c.Write), known(c.Bound), known(c.Precision), known(c.Unknown)))
	}
	return all, rows.Err()
}

func count(n int64) string {
	if n < 0 {
		return "NULL"
	}
	return strconv.FormatInt(n, 10)
}

func known(text string) string {
	if text == "" {
		return "NULL"
	}
	return schema.Quote(text)
}
