package derive

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"prof/ingest/cost"
	"prof/ingest/critical"
	"prof/ingest/steady"
	"prof/schema"
)

// computed are steps whose rows Go computes, by the run as SQL and what their SELECT gives.
var computed = map[string]func(ctx context.Context, q schema.SQL, table, run, query string) (int64, error){"_op_formula": operatorCosts, "_critical_row": textRows("$critical", critical.Rows), "_part_row": textRows("$parts", steady.Rows)}

// textRows stores what a package finds of what is derived so far: one text, which the SELECT takes apart.
func textRows(name string, find func(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (string, error)) func(ctx context.Context, q schema.SQL, table, run, query string) (int64, error) {
	return func(ctx context.Context, q schema.SQL, table, run, query string) (int64, error) {
		rows, err := find(ctx, q.QueryContext, run)
		if err != nil {
			return 0, err
		}
		result, err := q.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s BY NAME SELECT * FROM (\n%s\n)", table, strings.ReplaceAll(query, name, "$1")), rows)
		if err != nil {
			return 0, err
		}
		return result.RowsAffected()
	}
}

// costBatch is how many rows an INSERT has.
const costBatch = 1000

// operatorCosts stores the costs of the operators with formulas.
func operatorCosts(ctx context.Context, q schema.SQL, table, _, query string) (int64, error) {
	values, err := costValues(ctx, q, query)
	if err != nil {
		return 0, err
	}
	for from := 0; from < len(values); from += costBatch {
		batch := values[from:min(from+costBatch, len(values))]
		if _, err := q.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s VALUES %s", table, strings.Join(batch, ", "))); err != nil {
			return 0, err
		}
	}
	return int64(len(values)), nil
}

// costValues gives the rows as SQL: the order of the columns is that of the file.
func costValues(ctx context.Context, q schema.SQL, query string) ([]string, error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var values []string
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
		values = append(values, fmt.Sprintf("(%d, %d, %s, %s, %s, %s, %s, %s, %s, %s)", nameID, inputID, known(c.Group), count(c.FLOP), count(c.MaskedFLOP), count(c.Read), count(c.Write), known(c.Bound), known(c.Precision), known(c.Unknown)))
	}
	return values, rows.Err()
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
