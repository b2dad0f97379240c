package queries

import (
	"fmt"
	"slices"
	"strings"

	"prof/queries/dialect"
	"prof/schema"
)

// follows names the query that a relation for other engines has the columns of, where its name is another.
var follows = map[string]string{"run-trend": "trend"}

// EngineRelations are the relations over all runs that other engines can have: the views for SQL of one's own, and queries with the run as a column in place of a parameter.
func EngineRelations() ([]dialect.Relation, error) {
	list, err := views()
	if err != nil {
		return nil, err
	}
	var out []dialect.Relation
	for _, v := range list {
		r := dialect.Relation{Name: v.Name, Doc: strings.TrimPrefix(v.Doc, schema.DocMark+v.Name+": "), Body: v.Body}
		for _, c := range v.Columns {
			r.Columns = append(r.Columns, c[0])
		}
		out = append(out, r)
	}
	own, err := dialect.Own()
	if err != nil {
		return nil, err
	}
	for _, f := range own {
		name := f.Name
		if other := follows[name]; other != "" {
			name = other
		}
		q, err := Find(name)
		if err != nil {
			return nil, err
		}
		if q.Version != f.Version {
			return nil, fmt.Errorf("%s is of version %d of the query %s, which is at %d", f.Name, f.Version, q.Name, q.Version)
		}
		r := dialect.Relation{Name: strings.ReplaceAll(f.Name, "-", "_"), Doc: f.Doc, Body: f.Body}
		for _, c := range f.Columns {
			r.Columns = append(r.Columns, c.Name)
		}
		for _, o := range q.Optional {
			r.Left = append(r.Left, o[0])
		}
		for _, c := range q.Columns {
			if !slices.Contains(r.Left, c[0]) {
				r.Columns = append(r.Columns, c[0])
			}
		}
		out = append(out, r)
	}
	return out, nil
}
