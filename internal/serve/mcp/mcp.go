// Package mcp answers agents over the Model Context Protocol: runs, what bounds them, whether a change helped, and SQL. Each answer has the queries
// behind its figures and what a reader must know of them.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"prof/internal/serve/ask"
	"prof/queries"
)

// instructions are what an agent reads first.
const instructions = `prof is the warehouse of profiles of LLM inference. A run is named by its name, id, @latest, @latest~N, tag:key=value or baseline:NAME.
Begin with list_runs or run_summary; findings says what could make a run faster; diff says whether a change helped and is certain; list_queries and query
give every figure; sql is for what they do not answer, with prof://schema. Times are in ns, sizes in bytes, shares are ratios, null is unknown. Quote figures
with the query behind them, and the notes that come with them.`

// New makes a server of tools over an Asker.
func New(a *ask.Asker, version string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "prof", Title: "prof, the profiler's warehouse", Version: version}, &mcp.ServerOptions{Instructions: instructions})
	addTools(s, a)
	addResources(s, a)
	return s
}

// mostBody bounds a request over HTTP.
const mostBody = 1 << 20

// Handler answers over HTTP, each request by itself. Who may ask is decided before it.
func Handler(s *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: mostBody, PropagateRequestCancellation: true})
}

// Inputs of tools that the API has in paths and bodies.
type (
	OfRun struct {
		Run string `json:"run" required:"false" minLength:"1" maxLength:"300" default:"@latest" doc:"name, id, a unique prefix of either, a unique part of a name, @latest, @latest~N, tag:key=value or baseline:NAME"`
	}
	findingsOf struct {
		OfRun
		ask.FindingsOf
	}
	named struct {
		Name       string         `json:"name" minLength:"1" maxLength:"100" doc:"query, as list_queries has it" example:"top-kernels"`
		Run        string         `json:"run" required:"false" maxLength:"300" default:"@latest" doc:"the run, of a query that takes one"`
		Parameters map[string]any `json:"parameters" required:"false" doc:"the query's parameters by name"`
		Limit      int            `json:"limit" required:"false" minimum:"1" maximum:"1000" default:"100" doc:"rows at most; the answer says whether it was cut"`
	}
	statement struct {
		SQL   string `json:"sql" minLength:"1" maxLength:"100000" doc:"one statement of DuckDB's SQL that only reads, such as FROM top_kernels('@latest')"`
		Limit int    `json:"limit" required:"false" minimum:"1" maximum:"1000" default:"100" doc:"rows at most; the answer says whether it was cut"`
	}
	about struct {
		Search string `json:"search" required:"false" maxLength:"100" doc:"only queries whose name or meaning contains this text"`
	}
)

func addTools(s *mcp.Server, a *ask.Asker) {
	add(s, "list_runs", "Runs, newest first, each with the stage that takes most of its time. next is the cursor of the next page.",
		func(ctx context.Context, in ask.RunFilter) (ask.Answer, error) { return a.Runs(ctx, in) })
	add(s, "run_summary", "A run on one screen: stages with time, MFU and what bounds each, why, and what to try first.",
		func(ctx context.Context, in OfRun) (ask.Answer, error) { return a.Summary(ctx, in.Run) })
	add(s, "findings", "What could make a run faster, ranked by the time it could save, with evidence, advice and the query behind each.",
		func(ctx context.Context, in findingsOf) (ask.Answer, error) {
			return a.Findings(ctx, in.Run, in.FindingsOf, "json")
		})
	add(s, "list_queries", "The named queries: what each answers, its parameters and columns.",
		func(_ context.Context, in about) (ask.Answer, error) { return catalogue(in.Search) })
	add(s, "query", "Rows of a named query, with its SQL, the unit and meaning of each column, and notes.",
		func(ctx context.Context, in named) (ask.Answer, error) { return query(ctx, a, in) })
	add(s, "diff", "What differs between runs: verdict by stage with its test and interval, and what adds up to the change.",
		func(ctx context.Context, in ask.Difference) (ask.Answer, error) { return a.Diff(ctx, in, "json") })
	add(s, "trend", "A workload over time: points by stage, where the level changed, and by what.",
		func(ctx context.Context, in ask.Course) (ask.Answer, error) { return a.Trend(ctx, in, "json") })
	add(s, "check", "A run judged by rules: which hold, which are broken, which cannot be told, and why.",
		func(ctx context.Context, in ask.Rules) (ask.Answer, error) { return a.Check(ctx, in, "json") })
	add(s, "sql", "Rows of one SQL statement that only reads. prof://schema has the relations. Stopped after 30 s.",
		func(ctx context.Context, in statement) (ask.Answer, error) {
			return a.SQL(ctx, in.SQL, in.Limit, "json")
		})
}

// add adds a tool that only reads. Its input is described as the API describes it.
func add[I any](s *mcp.Server, name, doc string, answer func(context.Context, I) (ask.Answer, error)) {
	closed := false
	input := huma.SchemaFromType(huma.NewMapRegistry("#/", huma.DefaultSchemaNamer), reflect.TypeFor[I]())
	tool := &mcp.Tool{Name: name, Description: doc, InputSchema: input, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &closed}}
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in I) (*mcp.CallToolResult, any, error) {
		made, err := answer(ctx, in)
		if err != nil {
			return nil, nil, err // the SDK makes it the tool's answer, so that an agent can mend its question
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(made.Body)}}}, nil, nil
	})
}

// latest is the run of a question that names none.
const latest = "@latest"

// query answers a named query.
func query(ctx context.Context, a *ask.Asker, in named) (ask.Answer, error) {
	q, err := queries.Find(in.Name)
	if err != nil {
		return ask.Answer{}, err
	}
	if _, ok := in.Parameters["run"]; ok { // it would be of the latest run all the same
		return ask.Answer{}, fmt.Errorf("the run is not among the parameters: give it as run")
	}
	args := queries.Args{}
	for name, value := range in.Parameters {
		switch v := value.(type) {
		case string:
			args[name] = v
		case bool, float64, json.Number:
			text, err := json.Marshal(v)
			if err != nil {
				return ask.Answer{}, err
			}
			args[name] = string(text)
		default:
			return ask.Answer{}, fmt.Errorf("parameter %s: want a text, a number or a truth value", name)
		}
	}
	run := in.Run
	if !q.TakesRun() {
		if run != latest {
			return ask.Answer{}, fmt.Errorf("the query %s is of all runs, and not of one: leave out run", q.Name)
		}
		run = ""
	}
	return a.Query(ctx, q, run, args, "json", in.Limit)
}

// catalogue lists queries.
func catalogue(search string) (ask.Answer, error) {
	all, err := ask.Catalogue()
	if err != nil {
		return ask.Answer{}, err
	}
	type brief struct {
		Name    string         `json:"name"`
		Doc     string         `json:"doc"`
		Grain   string         `json:"grain"`
		Params  []ask.ParamDoc `json:"params"`
		Columns []string       `json:"columns"`
	}
	out := []brief{}
	for _, q := range all {
		if !strings.Contains(strings.ToLower(q.Name+" "+q.Title+" "+q.Doc), strings.ToLower(search)) {
			continue
		}
		b := brief{Name: q.Name, Doc: q.Doc, Grain: q.Grain, Params: q.Params}
		for _, c := range q.Columns {
			b.Columns = append(b.Columns, c.Name)
		}
		out = append(out, b)
	}
	body, err := json.Marshal(map[string]any{"queries": out})
	return ask.Answer{Type: ask.JSON, Body: body}, err
}

// addResources adds what is to be read once: the relations for SQL, and the queries with all that is known of them.
func addResources(s *mcp.Server, a *ask.Asker) {
	read := func(answer func(ctx context.Context, uri string) (ask.Answer, error)) mcp.ResourceHandler {
		return func(ctx context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			made, err := answer(ctx, r.Params.URI)
			if errors.Is(err, queries.ErrUnknownQuery) {
				return nil, mcp.ResourceNotFoundError(r.Params.URI)
			}
			if err != nil {
				return nil, err
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: made.Type, Text: string(made.Body)}}}, nil
		}
	}
	s.AddResource(&mcp.Resource{URI: "prof://schema", Name: "schema", Description: "Tables, views and macros that SQL can select from, with the units and meaning of their columns.", MIMEType: ask.JSON},
		read(func(ctx context.Context, _ string) (ask.Answer, error) { return a.Relations(ctx) }))
	const prefix = "prof://queries/"
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: prefix + "{name}", Name: "query", Description: "A named query: its documentation and its SQL.", MIMEType: "text/plain"},
		read(func(_ context.Context, uri string) (ask.Answer, error) {
			q, err := queries.Find(strings.TrimPrefix(uri, prefix))
			if err != nil {
				return ask.Answer{}, err
			}
			args := queries.Args{}
			if q.TakesRun() {
				args["run"] = latest
			}
			text, err := q.Text(args)
			return ask.Answer{Type: "text/plain", Body: []byte(text)}, err
		}))
}
