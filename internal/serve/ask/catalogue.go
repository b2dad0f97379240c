package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// QueryDoc is what is known of a query.
type QueryDoc struct {
	Name     string      `json:"name"`
	Version  int         `json:"version" doc:"raised when its meaning changes"`
	Domain   string      `json:"domain"`
	Title    string      `json:"title" doc:"the question that the queries of its domain answer"`
	Doc      string      `json:"doc"`
	Grain    string      `json:"grain" doc:"what one row is"`
	Key      string      `json:"key" doc:"columns that identify a row"`
	TakesRun bool        `json:"takes_run" doc:"it is of one run"`
	Params   []ParamDoc  `json:"params" nullable:"false" doc:"parameters, but for the run"`
	Columns  []ColumnDoc `json:"columns" nullable:"false"`
	Lengths  []string    `json:"lengths,omitempty" doc:"of rows with a place on the timeline: the columns that say how long a row lasts from its start_ns; the first that is known counts"`
}

// ParamDoc is a parameter of a query.
type ParamDoc struct {
	Name    string `json:"name"`
	Type    string `json:"type" enum:"integer,number,boolean,string"`
	Default string `json:"default,omitempty"`
	Doc     string `json:"doc"`
}

// ColumnDoc is a column.
type ColumnDoc struct {
	Name  string `json:"name"`
	Type  string `json:"type,omitempty" doc:"as SQL names it, where it is known"`
	Unit  string `json:"unit,omitempty"`
	Doc   string `json:"doc,omitempty"`
	Needs string `json:"needs,omitempty" doc:"parameter without which it is not there"`
}

// Catalogue returns all queries.
func Catalogue() ([]QueryDoc, error) {
	all, err := queries.Catalogue()
	if err != nil {
		return nil, err
	}
	titles := map[string]string{}
	for _, g := range queries.Groups() {
		titles[g.Domain] = g.Title
	}
	out := make([]QueryDoc, len(all))
	for i, q := range all {
		out[i] = docOf(q, titles[q.Domain])
	}
	return out, nil
}

func docOf(q queries.Query, title string) QueryDoc {
	d := QueryDoc{Name: q.Name, Version: q.Version, Domain: q.Domain, Title: title, Doc: q.Doc, Grain: q.Grain, Key: q.Key, TakesRun: q.TakesRun(), Lengths: q.Lengths(), Params: []ParamDoc{}, Columns: []ColumnDoc{}}
	for _, p := range q.Params {
		if p.Name != "run" {
			d.Params = append(d.Params, ParamDoc{p.Name, TypeOf(p), DefaultOf(p), p.Doc})
		}
	}
	for _, c := range q.Columns {
		column := ColumnDoc{Name: c[0], Unit: string(frame.UnitOf(c[0])), Doc: c[1]}
		for _, o := range q.Optional {
			if o[0] == c[0] {
				column.Needs = o[1]
			}
		}
		d.Columns = append(d.Columns, column)
	}
	return d
}

// TypeOf is the type of a parameter as JSON Schema names it.
func TypeOf(p queries.Param) string {
	switch p.Type {
	case "BIGINT":
		return "integer"
	case "DOUBLE":
		return "number"
	case "BOOLEAN":
		return "boolean"
	}
	return "string"
}

// DefaultOf is what a parameter is without a value; "" where that is nothing.
func DefaultOf(p queries.Param) string {
	if p.Default == "NULL" {
		return ""
	}
	return strings.Trim(p.Default, "'")
}

// Relation is something that SQL can select from.
type Relation struct {
	Name    string      `json:"name"`
	Kind    string      `json:"kind" enum:"table,view,macro" doc:"a macro is called with its parameters"`
	Doc     string      `json:"doc"`
	Params  []ParamDoc  `json:"params" nullable:"false"`
	Columns []ColumnDoc `json:"columns" nullable:"false"`
}

// Relations are all that SQL can select from.
type Relations struct {
	Relations []Relation `json:"relations" nullable:"false"`
}

// Relations returns what SQL can select from, as Relations.
func (a *Asker) Relations(ctx context.Context) (Answer, error) {
	return a.Make(ctx, "relations", func(ctx context.Context, w *schema.Warehouse, out *bytes.Buffer) (string, error) {
		list, err := queries.RelationsOf(ctx, w)
		if err != nil {
			return "", err
		}
		all := Relations{Relations: []Relation{}}
		for _, r := range list {
			relation := Relation{Name: r.Name, Kind: r.Kind, Doc: r.Doc, Params: []ParamDoc{}, Columns: []ColumnDoc{}}
			for _, p := range r.Params {
				relation.Params = append(relation.Params, ParamDoc{p.Name, TypeOf(p), DefaultOf(p), p.Doc})
			}
			for _, c := range r.Columns {
				relation.Columns = append(relation.Columns, ColumnDoc{Name: c.Name, Type: c.Type, Unit: string(frame.UnitOf(c.Name)), Doc: c.Doc})
			}
			all.Relations = append(all.Relations, relation)
		}
		return JSON, json.NewEncoder(out).Encode(all)
	})
}
