package queries

import (
	"context"
	"slices"
	"strings"

	"prof/schema"
)

// Relation is something that SQL can select from: a table, a view, or a query as a macro of a table.
type Relation struct {
	Name    string
	Kind    string // table, view or macro
	Doc     string
	Params  []Param
	Columns []RelationColumn
}

// RelationColumn is a column of a relation.
type RelationColumn struct{ Name, Type, Doc string }

// relationColumns are the columns of tables and views, in their order.
const relationColumns = `SELECT c.table_name, t.kind, coalesce(t.comment, ''), c.column_name, c.data_type, coalesce(c.comment, '')
FROM duckdb_columns() c JOIN (
    SELECT x.table_oid AS oid, 'table' AS kind, x.comment FROM duckdb_tables() x WHERE NOT x.internal AND NOT x.temporary
    UNION ALL SELECT x.view_oid, 'view', x.comment FROM duckdb_views() x WHERE NOT x.internal AND NOT x.temporary
) t ON t.oid = c.table_oid
WHERE NOT c.internal AND NOT starts_with(c.table_name, '_') AND NOT regexp_matches(c.table_name, '_v[0-9]+$')
ORDER BY c.table_name, c.column_index`

// RelationsOf lists what SQL of the user's can select from, by name: tables, views, and the newest of each query.
func RelationsOf(ctx context.Context, w *schema.Warehouse) ([]Relation, error) {
	all, err := Catalogue()
	if err != nil {
		return nil, err
	}
	var out []Relation
	byName := map[string]Query{}
	for _, q := range all {
		byName[q.alias()] = q
		if len(q.Params) == 0 {
			continue // a view
		}
		r := Relation{Name: q.alias(), Kind: "macro", Doc: q.Doc, Params: q.Params}
		for _, c := range q.Columns {
			r.Columns = append(r.Columns, RelationColumn{Name: c[0], Doc: c[1]})
		}
		out = append(out, r)
	}
	f, err := Raw(ctx, w, relationColumns)
	if err != nil {
		return nil, err
	}
	for _, row := range f.Rows {
		name, kind, doc := row[0].(string), row[1].(string), firstLine(row[2].(string))
		if last := len(out) - 1; last < 0 || out[last].Name != name {
			out = append(out, Relation{Name: name, Kind: kind, Doc: doc})
		}
		column := RelationColumn{row[3].(string), row[4].(string), row[5].(string)}
		for _, c := range byName[name].Columns {
			if c[0] == column.Name {
				column.Doc = c[1]
			}
		}
		r := &out[len(out)-1]
		r.Columns = append(r.Columns, column)
	}
	slices.SortFunc(out, func(a, b Relation) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// firstLine is what the comment of a relation says it gives.
func firstLine(comment string) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(comment, schema.DocMark), "\n")
	if title, doc, ok := strings.Cut(line, ": "); ok && !strings.Contains(title, ".") {
		return doc
	}
	return line
}
