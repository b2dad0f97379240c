package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/serve/ask"
	"prof/queries"
)

// Rows is the answer to a query.
type Rows struct {
	Query   string              `json:"query" doc:"empty for SQL of one's own"`
	Version int                 `json:"version"`
	SQL     string              `json:"sql" doc:"the statement that gives these rows in any DuckDB client"`
	IsCut   bool                `json:"is_cut" doc:"there are more rows than these"`
	Columns []RowsColumn        `json:"columns" nullable:"false"`
	Rows    []map[string]any    `json:"rows" nullable:"false" doc:"each with its columns by name, in base units and full precision; null is unknown"`
	Texts   []map[string]string `json:"texts,omitempty" doc:"with format=texts: of each row the cells that people see other than as they are, such as numbers"`
	Notes   []string            `json:"notes" nullable:"false" doc:"what a reader must know of the rows"`
	Caveats []map[string]any    `json:"caveats" nullable:"false" doc:"the same as data: each with its topic, its kind and the figures of that kind, such as item_count and time_ns of what a ranking leaves out"`
}

// RowsColumn is a column of an answer.
type RowsColumn struct {
	Name string `json:"name"`
	Type string `json:"type" enum:"int,float,text,bool"`
	Unit string `json:"unit"`
	Doc  string `json:"doc"`

	Title   string  `json:"title,omitempty" doc:"with format=texts: its name in words, with the unit of its texts"`
	IsCode  *bool   `json:"is_code,omitempty" doc:"with format=texts: it holds names as a machine knows them"`
	Scale   float64 `json:"scale,omitempty" doc:"with format=texts: how much one of the unit of its texts is"`
	ShownIn string  `json:"shown_in,omitempty" doc:"with format=texts: that unit"`
}

// Forms of answers to queries, other than JSON.
const (
	csvType   = "text/csv"
	arrowType = "application/vnd.apache.arrow.file"
)

// addQueries adds an operation for each query, with its own parameters, and the list of them.
func (s *Server) addQueries() error {
	docs, err := ask.Catalogue()
	if err != nil {
		return err
	}
	type QueryList struct {
		Queries []ask.QueryDoc `json:"queries" nullable:"false"`
		Titles  []string       `json:"titles" nullable:"false" doc:"the questions that queries answer, in the order in which a reader asks them"`
	}
	list := QueryList{Queries: docs}
	for _, g := range queries.Groups() {
		list.Titles = append(list.Titles, g.Title)
	}
	body, err := json.Marshal(list)
	if err != nil {
		return err
	}
	op := get("list-queries", "/api/v1/queries", "warehouse", "All named queries, with what they take and give", "")
	addAnswer[QueryList](s, op, func(context.Context, *Question) (ask.Answer, error) {
		return ask.Answer{Type: ask.JSON, Body: body, Tag: s.asker.Tag("queries " + s.options.Version)}, nil
	})
	schema := s.response(reflect.TypeFor[Rows](), "its rows", csvType, arrowType)
	for _, d := range docs {
		q, err := queries.Find(d.Name)
		if err != nil {
			return err
		}
		if err := s.addQuery(q, d, schema); err != nil {
			return err
		}
	}
	return nil
}

// Asks is what a query is asked. Its parameters differ from query to query.
type Asks struct {
	Question
	Values url.Values
}

// Resolve reads the parameters, see huma.Resolver.
func (a *Asks) Resolve(ctx huma.Context) []error {
	u := ctx.URL()
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return []error{err}
	}
	a.Values = values
	return nil
}

// columnsKey is what the description of an operation has the columns of its rows under.
const columnsKey = "x-columns"

// addQuery adds the operation of one query.
func (s *Server) addQuery(q queries.Query, d ask.QueryDoc, responses map[string]*huma.Response) error {
	params := []*huma.Param{{Name: "format", In: "query", Description: "form of the answer, all in base units; texts is json with what people see of each cell", Schema: &huma.Schema{Type: huma.TypeString, Enum: ask.Forms, Default: "json"}}}
	for _, p := range d.Params {
		limits, err := q.LimitsOf(p.Name)
		if err != nil {
			return err
		}
		params = append(params, paramOf(p, limits))
	}
	op := get(q.Name, "/api/v1/queries/"+q.Name, d.Title, d.Doc, "One row is "+d.Grain+". Key: "+d.Key+".")
	op.RejectUnknownQueryParameters = false // answer does
	op.Parameters, op.Responses = params, responses
	op.Extensions = map[string]any{columnsKey: d.Columns}
	answer := func(ctx context.Context, run string, in *Asks) (*answered, error) {
		args, form, err := arguments(params, in.Values)
		if err != nil {
			return nil, err
		}
		return s.give(ctx, in.IfNoneMatch, func(ctx context.Context) (ask.Answer, error) { return s.asker.Query(ctx, q, run, args, form, 0) })
	}
	if !q.TakesRun() {
		huma.Register(s.api, op, func(ctx context.Context, in *Asks) (*answered, error) { return answer(ctx, "", in) })
		return nil
	}
	op.Path = "/api/v1/runs/{run}/queries/" + q.Name
	huma.Register(s.api, op, func(ctx context.Context, in *struct {
		NamesRun
		Asks
	}) (*answered, error) {
		return answer(ctx, in.Run, &in.Asks)
	})
	return nil
}

// paramOf describes a parameter.
func paramOf(p ask.ParamDoc, limits queries.Limits) *huma.Param {
	out := &huma.Param{Name: p.Name, In: "query", Description: p.Doc, Schema: &huma.Schema{Type: p.Type}}
	zero, most := 0.0, 300
	switch p.Type {
	case huma.TypeInteger:
		out.Schema.Format = "int64"
		if p.Name == "device" {
			zero = -1 // work by whose GPU the capture does not say
		}
		if !isTime(p.Name) {
			out.Schema.Minimum = &zero
		}
	case huma.TypeString:
		out.Schema.MaxLength = &most
	}
	if value, err := valueOf(p.Type, p.Default); err == nil && p.Default != "" {
		out.Schema.Default = value
	}
	for _, c := range limits.Choices {
		out.Schema.Enum = append(out.Schema.Enum, c)
	}
	if limits.Min != nil {
		out.Schema.Minimum, out.Schema.Maximum = limits.Min, limits.Max
	}
	out.Schema.PrecomputeMessages()
	return out
}

// isTime reports whether a parameter is a time of the capture, which may lie before its start.
func isTime(name string) bool { return len(name) > 5 && name[len(name)-5:] == "_time" }

// valueOf reads a parameter as its type says, and no other way: what the description refuses is refused.
func valueOf(kind, text string) (any, error) {
	switch kind {
	case huma.TypeInteger:
		if v, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(v, 10) == text {
			return v, nil
		}
		return nil, fmt.Errorf("want a whole number")
	case huma.TypeNumber:
		var v float64
		if err := json.Unmarshal([]byte(text), &v); err != nil || text == "null" {
			return nil, fmt.Errorf("want a number")
		}
		return v, nil
	case huma.TypeBoolean:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("want true or false")
		}
		return text == "true", nil
	}
	return text, nil
}

// arguments reads the parameters of a request as they are described.
func arguments(params []*huma.Param, values url.Values) (args queries.Args, form string, err error) {
	args, form = queries.Args{}, "json"
	known := map[string]*huma.Param{}
	for _, p := range params {
		known[p.Name] = p
	}
	var wrong huma.ValidateResult
	for name, given := range values {
		p := known[name]
		switch {
		case p == nil:
			wrong.Errors = append(wrong.Errors, &huma.ErrorDetail{Location: "query." + name, Message: "unknown query parameter"})
			continue
		case len(given) > 1:
			wrong.Errors = append(wrong.Errors, &huma.ErrorDetail{Location: "query." + name, Message: "it is given more than once"})
			continue
		}
		v, err := valueOf(p.Schema.Type, given[0])
		if err != nil {
			wrong.Errors = append(wrong.Errors, &huma.ErrorDetail{Location: "query." + name, Message: err.Error(), Value: given[0]})
			continue
		}
		at := huma.NewPathBuffer([]byte{}, 0)
		at.Push("query")
		at.Push(name)
		huma.Validate(nil, p.Schema, at, huma.ModeWriteToServer, v, &wrong)
		if name == "format" {
			form = given[0]
		} else {
			args[name] = given[0]
		}
	}
	if len(wrong.Errors) > 0 {
		return nil, "", huma.NewError(http.StatusUnprocessableEntity, "validation failed", wrong.Errors...)
	}
	return args, form, nil
}
