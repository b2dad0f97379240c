package serve

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/serve/ask"
	"prof/queries"
	"prof/schema"
)

// About says what a server is and may do.
type About struct {
	Version     string `json:"version" doc:"of prof"`
	DuckDB      string `json:"duckdb" doc:"version of DuckDB"`
	Queries     int    `json:"queries" doc:"named queries"`
	Stale       string `json:"stale,omitempty" doc:"why answers are from an older commit than the last"`
	AllowIngest bool   `json:"allow_ingest" doc:"it takes uploads"`
	AllowRun    bool   `json:"allow_run" doc:"it runs jobs"`
}

// get is an operation that only reads.
func get(id, path, tag, summary, doc string) huma.Operation {
	return huma.Operation{OperationID: id, Method: http.MethodGet, Path: path, Tags: []string{tag}, Summary: summary, Description: doc, Errors: failures, RejectUnknownQueryParameters: true}
}

func (s *Server) addAbout() error {
	all, err := queries.Catalogue()
	if err != nil {
		return err
	}
	huma.Register(s.api, get("about", "/api/v1/about", "warehouse", "What the server is and may do", ""), func(context.Context, *struct{}) (*struct{ Body About }, error) {
		return &struct{ Body About }{About{s.options.Version, schema.DuckDBVersion(), len(all), s.asker.Problem(), s.options.Jobs.AllowIngest, s.options.Jobs.AllowRun}}, nil
	})
	return nil
}

// NamesRun is a run in a path.
type NamesRun struct {
	Run string `path:"run" doc:"name, id, a prefix of either that fits no other, @latest, @latest~N, tag:key=value, or baseline:NAME" minLength:"1" maxLength:"300" example:"@latest"`
}

func (s *Server) addRuns() error {
	type list struct {
		Question
		ask.RunFilter
	}
	op := get("list-runs", "/api/v1/runs", "runs", "Runs, newest first", "A page at a time: next is the cursor of the page after.")
	addAnswer[ask.RunPage](s, op, func(ctx context.Context, in *list) (ask.Answer, error) { return s.asker.Runs(ctx, in.RunFilter) })
	return nil
}
