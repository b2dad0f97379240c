package serve

import (
	"context"
	"mime"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"prof/internal/serve/ask"
	"prof/render/report"
)

// ReportFile is a file of a report.
type ReportFile struct {
	Name string `json:"name"`
	Doc  string `json:"doc"`
}

// sandbox is the policy for the page of a report, which has its scripts and styles in it: it runs as if it came from nowhere.
const sandbox = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'"

// addReports adds the files of reports.
func (s *Server) addReports() error {
	type ReportFileList struct {
		Files []ReportFile `json:"files" nullable:"false"`
	}
	var all ReportFileList
	for _, f := range report.Files() {
		all.Files = append(all.Files, ReportFile{f.Name, f.Doc})
	}
	huma.Register(s.api, get("list-report-files", "/api/v1/report-files", "reports", "The files that a report may have", ""), func(context.Context, *struct{}) (*struct{ Body ReportFileList }, error) {
		return &struct{ Body ReportFileList }{all}, nil
	})

	op := get("get-report-file", "/api/v1/runs/{run}/report/{file}", "reports", "A file of a run's report", "As prof report --out - --file NAME. A file for which the run has nothing is an error that says why.")
	op.Responses = s.response(reflect.TypeFor[Fields](), "the file", "text/html", "text/markdown", csvType, "text/plain")
	huma.Register(s.api, op, func(ctx context.Context, in *struct {
		Question
		NamesRun
		File string `path:"file" maxLength:"100" doc:"one of report-files" example:"report.html"`
	}) (*answered, error) {
		if !slices.ContainsFunc(all.Files, func(f ReportFile) bool { return f.Name == in.File }) {
			return nil, huma.Error404NotFound("a report has no file " + in.File)
		}
		a, err := s.give(ctx, in.IfNoneMatch, func(ctx context.Context) (ask.Answer, error) {
			return s.asker.VerbOfRun(ctx, typeOf(in.File), in.Run, "report", "--out=-", "--file="+in.File)
		})
		if err == nil && strings.HasSuffix(in.File, ".html") {
			a.Policy = sandbox
		}
		return a, err
	})
	return nil
}

// typeOf is the media type of a file by its name.
func typeOf(name string) string {
	switch kind := path.Ext(name); kind {
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".csv":
		return ask.CSV
	case ".json":
		return ask.JSON
	default:
		return mime.TypeByExtension(kind)
	}
}
