// Package derive fills the facts of schema/facts, with the rows that Go computes for some of them.
package derive

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"prof/ingest/cost"
	"prof/ingest/critical"
	"prof/ingest/layers"
	"prof/ingest/steady"
	"prof/schema"
	"prof/schema/facts"
	"prof/schema/sqlfile"
)

// Facts fills the tables of facts, see schema.Facts. The zero value is ready.
type Facts struct {
	Only []string // of these files; nil for all, empty for none
}

// Model are the facts of models alone.
var Model = Facts{Only: []string{"layer_cost", "model_size"}}

// Behind are the named files and those that they are made from.
func Behind(names ...string) (Facts, error) {
	only, err := facts.Behind(names...)
	return Facts{Only: only}, err
}

// Tables are the tables of facts.
func (f Facts) Tables() ([]schema.Table, error) { return facts.Tables(f.Only) }

// Checksum identifies the definitions of the facts, and what Go computes for them.
func (Facts) Checksum() (string, error) {
	sum, err := facts.Checksum()
	if err != nil {
		return "", err
	}
	costs, err := formulas()
	return sum + costs + critical.Version + steady.Version + layers.Version, err
}

var formulas = sync.OnceValues(func() (string, error) { return sqlfile.Checksum(cost.Sources, "*.go") })

// Derive fills the tables with the facts of a run that has none.
func (f Facts) Derive(ctx context.Context, q schema.SQL, runID string) error {
	return facts.Derive(ctx, q, runID, f.Only, computed)
}

// Lack stores the caveat that a run lacks its facts.
func (Facts) Lack(ctx context.Context, q schema.SQL, runID string) error {
	return facts.Lack(ctx, q, runID)
}

// computed are steps whose rows Go computes.
var computed = map[string]facts.Computed{"_op_formula": operatorCosts, "_critical_row": textRows("$critical", critical.Read), "_part_row": textRows("$parts", steady.Read), "_layer_row": textRows("$layers", layers.Read)}

// textRows has a package find rows in what is derived so far: one text, which the query takes apart.
func textRows(name string, read func(ctx context.Context, query func(ctx context.Context, statement string, args ...any) (*sql.Rows, error), run string) (func(ctx context.Context) (string, error), error)) facts.Computed {
	return func(ctx context.Context, q schema.SQL, run, query string) (facts.Computation, error) {
		find, err := read(ctx, q.QueryContext, run)
		return func(ctx context.Context) ([]facts.Rows, error) {
			rows, err := find(ctx)
			return []facts.Rows{facts.ByName("*", strings.ReplaceAll(query, name, "$1"), rows)}, err
		}, err
	}
}

// costBatch is how many rows an INSERT has.
const costBatch = 1000

// operatorCosts returns the costs of the operators with formulas. They are computed as their inputs are read, which are long.
func operatorCosts(ctx context.Context, q schema.SQL, _, query string) (facts.Computation, error) {
	rows, err := costRows(ctx, q, query)
	return func(context.Context) (out []facts.Rows, _ error) {
		for batch := range slices.Chunk(rows, costBatch) {
			out = append(out, facts.Rows{SQL: "VALUES " + strings.Join(batch, ", ")})
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
