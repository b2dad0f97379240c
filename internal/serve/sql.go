package serve

import (
	"context"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/serve/ask"
)

// addSQL adds SQL of the client's own, and what it can select from.
func (s *Server) addSQL() error {
	relations := get("list-relations", "/api/v1/schema", "warehouse", "Tables, views and macros that SQL can select from, with the units and meaning of their columns", "")
	addAnswer[ask.Relations](s, relations, func(ctx context.Context, _ *Question) (ask.Answer, error) { return s.asker.Relations(ctx) })

	op := get("run-sql", "/api/v1/sql", "warehouse", "SQL of one's own that only reads",
		"One statement in DuckDB's SQL, without files, network, extensions and settings. It is stopped after 30 s.")
	op.Method, op.MaxBodyBytes = http.MethodPost, 4*ask.SQLLength
	op.Errors = append(op.Errors, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	op.Responses = s.response(reflect.TypeFor[Rows](), "its rows", csvType, arrowType)
	delete(op.Responses, "304")
	huma.Register(s.api, op, func(ctx context.Context, in *struct {
		Format string `query:"format" enum:"json,texts,csv,arrow" default:"json"`
		Body   struct {
			SQL   string `json:"sql" minLength:"1" maxLength:"100000" example:"FROM top_kernels('@latest')"`
			Limit int    `json:"limit,omitempty" nullable:"true" minimum:"1" maximum:"10000" default:"1000" doc:"rows; JSON is cut there and says so, other forms are refused"`
		}
	}) (*answered, error) {
		return s.give(ctx, "", func(ctx context.Context) (ask.Answer, error) {
			return s.asker.SQL(ctx, in.Body.SQL, in.Body.Limit, in.Format)
		})
	})
	return nil
}
