package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"prof/ingest/derive"
	"prof/internal/sample"
	"prof/internal/serve"
	"prof/internal/serve/ask"
	"prof/queries"
	"prof/schema"
)

// reply is an answer of a server.
type reply struct {
	status int
	header http.Header
	body   string
}

// call asks a server, without following or unpacking anything.
func call(t *testing.T, method, address, body string, headers ...string) reply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{got.StatusCode, got.Header, string(text)}
}

// TestServe compares the API with the command line, and tries what it must refuse.
func TestServe(t *testing.T) {
	t.Parallel()
	p := newStored(t, repeated)
	for _, r := range repeated {
		p.ok("tag", r.Name, "attn="+strings.TrimRight(r.Name, "-12"))
	}
	base := serveAt(t, p)
	for _, c := range []struct {
		name string
		test func(t *testing.T, p *place, base string)
	}{{"figures", servedFigures}, {"forms", servedForms}, {"lists", servedLists}, {"refused", servedRefused}, {"mcp", servedMCP}, {"fuzz", servedFuzz}, {"commits", servedCommits}, {"rules", servedRules}, {"kept", servedKept}} {
		t.Run(c.name, func(t *testing.T) { c.test(t, p, base) })
	}
}

// servedFigures compares the answers with those of the command line.
func servedFigures(t *testing.T, p *place, base string) {
	for path, args := range map[string][]string{
		"/api/v1/runs/tag:attn=eager":                                                          {"show", "eager"},
		"/api/v1/runs/eager/findings?top=0":                                                    {"explain", "eager", "--top", "0"},
		"/api/v1/diff?base=sdpa-1,sdpa-2&new=eager&by=family&top=3":                            {"diff", "sdpa-1,sdpa-2", "eager", "--by", "family", "--top", "3"},
		"/api/v1/trend?workload=eager&metric=gpu_busy_ns":                                      {"trend", "--workload", "eager", "--metric", "gpu_busy_ns"},
		"/api/v1/check?run=eager&baseline=sdpa-1&rule=stage.decode.gpu_span_ns+%3C%3D+%2B3%25": {"check", "eager", "--baseline", "sdpa-1", "--rule", "stage.decode.gpu_span_ns <= +3%"},
	} {
		got := call(t, "GET", base+path, "")
		want := p.run(append(args, "--format", "json")...)
		if got.status != 200 || got.body != want.out || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %d, %d bytes; the command line gives %d: %.300s", path, got.status, len(got.body), len(want.out), got.body)
		}
	}
	for _, q := range []string{"stages", "top-kernels", "sources"} {
		got := call(t, "GET", base+"/api/v1/runs/sdpa-2/queries/"+q, "")
		var rows struct{ Rows, Columns, Notes json.RawMessage }
		if err := json.Unmarshal([]byte(got.body), &rows); err != nil {
			t.Fatalf("%s: %v: %.200s", q, err, got.body)
		}
		var want struct{ Rows, Columns, Notes json.RawMessage }
		if err := json.Unmarshal([]byte(p.ok("query", q, "sdpa-2", "--format", "json")), &want); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(rows.Rows, want.Rows) || !bytes.Equal(rows.Columns, want.Columns) || !bytes.Equal(rows.Notes, want.Notes) {
			t.Errorf("%s differs from the command line's", q)
		}
	}
}

// servedForms asks in other forms, again for what has not changed, and compressed.
func servedForms(t *testing.T, p *place, base string) {
	path := base + "/api/v1/runs/eager/queries/top-kernels?top=3"
	csv := call(t, "GET", path+"&format=csv", "")
	if want := p.ok("query", "top-kernels", "eager", "--top", "3", "--format", "csv"); csv.body != want || !strings.HasPrefix(csv.header.Get("Content-Type"), "text/csv") {
		t.Errorf("csv: %q, want %q", csv.body, want)
	}
	if arrow := call(t, "GET", path+"&format=arrow", ""); !strings.HasPrefix(arrow.body, "ARROW1") {
		t.Errorf("arrow: %.20q", arrow.body)
	}
	plain := call(t, "GET", path, "")
	tag := plain.header.Get("ETag")
	if again := call(t, "GET", path, "", "If-None-Match", tag); again.status != 304 || again.body != "" || again.header.Get("ETag") != tag {
		t.Errorf("asked again: %d with %d bytes, ETag %s of %s", again.status, len(again.body), again.header.Get("ETag"), tag)
	}
	if other := call(t, "GET", path, "", "If-None-Match", `W/"0"`); other.status != 200 {
		t.Errorf("with another's ETag: %d", other.status)
	}
	packed := call(t, "GET", path, "", "Accept-Encoding", "gzip")
	z, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil {
		t.Fatalf("compressed: %v", err)
	}
	if text, err := io.ReadAll(z); err != nil || string(text) != plain.body {
		t.Errorf("compressed: %v, %d bytes of %d", err, len(text), len(plain.body))
	}
	html := call(t, "GET", base+"/api/v1/runs/eager/report/report.html", "")
	if policy := html.header.Get("Content-Security-Policy"); html.status != 200 || !strings.HasPrefix(policy, "sandbox allow-scripts;") || len(html.header.Values("Content-Security-Policy")) != 1 {
		t.Errorf("the report: %d, policy %q", html.status, policy)
	}
	if again := call(t, "GET", base+"/api/v1/runs/eager/report/report.html", "", "If-None-Match", html.header.Get("ETag")); again.status != 304 || again.header.Get("Content-Security-Policy") != html.header.Get("Content-Security-Policy") {
		t.Errorf("the report that a browser has: %d, policy %q", again.status, again.header.Values("Content-Security-Policy"))
	}
	if md := call(t, "GET", base+"/api/v1/runs/eager/report/report.md", ""); md.body != p.ok("report", "eager", "--out", "-") {
		t.Errorf("report.md differs from the command line's: %.200s", md.body)
	}
}

// servedLists pages through the runs and looks at the lists of queries and relations.
func servedLists(t *testing.T, p *place, base string) {
	type page struct {
		Runs []struct{ Name, Stage string }
		Next string
	}
	list := func(query string) (out page) {
		got := call(t, "GET", base+"/api/v1/runs?"+query, "")
		if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != 200 {
			t.Fatalf("%s: %d %v %.200s", query, got.status, err, got.body)
		}
		return out
	}
	names := func(p page) (out []string) {
		for _, r := range p.Runs {
			out = append(out, r.Name)
		}
		return out
	}
	for query, want := range map[string]string{"": "eager sdpa-2 sdpa-1", "search=SDPA": "sdpa-2 sdpa-1", "tag=attn%3Deager": "eager", "device=h200&search=-1": "sdpa-1", "since=2100-01-01": "", "until=2100-01-01T00:00:00Z&limit=1": "eager", "tag=attn%3Dsdpa&tag=attn%3Deager": ""} {
		if got := strings.Join(names(list(query)), " "); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	var all []string
	for next := ""; ; {
		got := list("limit=2&cursor=" + next)
		all = append(all, names(got)...)
		if next = got.Next; next == "" {
			break
		}
	}
	if got := strings.Join(all, " "); got != "eager sdpa-2 sdpa-1" {
		t.Errorf("page by page: %s", got)
	}
	if got := list("limit=1").Runs[0].Stage; got != "decode" {
		t.Errorf("the stage that takes most time is %s", got)
	}
	// The page after a run goes on where it was, also when the run is gone: here, one that is none of those there are.
	first := list("limit=1").Next
	if got := strings.Join(names(list("cursor="+first[:strings.Index(first, "/")+1]+"00000000-0000-7000-8000-000000000000")), " "); got != "sdpa-2 sdpa-1" {
		t.Errorf("after a run that is gone: %s", got)
	}
	for _, cursor := range []string{"sdpa-1", "2026-11-26", "2026-11-26/", "/" + first[strings.Index(first, "/")+1:]} {
		if got := call(t, "GET", base+"/api/v1/runs?cursor="+cursor, ""); got.status != 422 || !strings.Contains(got.body, "is no place in the list") {
			t.Errorf("cursor %s: %d %.200s", cursor, got.status, got.body)
		}
	}
	for path, want := range map[string]string{"/api/v1/queries": `"name":"top-kernels","version":`, "/api/v1/schema": `"name":"top_kernels","kind":"macro"`, "/openapi.json": `"/api/v1/runs/{run}/queries/top-kernels"`, "/openapi.json?": `"/mcp":{"post":`, "/docs": "/api/v1/runs/{run}/queries/top-kernels", "/api/v1/about": `"allow_run":false`} {
		if got := call(t, "GET", base+path, ""); got.status != 200 || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d without %s", path, got.status, want)
		}
	}
	docs := call(t, "GET", base+"/docs", "").body
	links := regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(docs, -1)
	for _, link := range links {
		if !strings.Contains(docs, `id="`+link[1]+`"`) {
			t.Errorf("/docs has a link to #%s, which is not there", link[1])
		}
	}
	if len(links) < 200 || !strings.Contains(docs, `id="type-StageForm"`) || !strings.Contains(docs, "<td><code>median_ns</code></td><td>ns</td>") {
		t.Errorf("/docs has %d links; the types of answers and the columns of rows must be there", len(links))
	}
}

// servedRefused asks for what there is not, what it must not do, and what would take too much.
func servedRefused(t *testing.T, p *place, base string) {
	sql := func(text string) string {
		body, err := json.Marshal(map[string]any{"sql": text})
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	secret := write(t, p.path("secret.txt"), []byte("secret words"))
	for _, c := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{"GET", "/api/v1/runs/nosuch", "", 404, "no such run"},
		{"GET", "/api/v1/runs/sdpa", "", 409, "sdpa-2, sdpa-1"},
		{"GET", "/api/v1/runs/--out=x", "", 404, "no such run"},
		{"GET", "/api/v1/diff?base=--out=" + url.QueryEscape(p.path("x")) + "&new=eager", "", 404, "no such run"},
		{"GET", "/api/v1/diff?base=eager", "", 422, "required query parameter is missing"},
		{"GET", "/api/v1/runs?since=inf", "", 422, "since inf is no time"},
		{"GET", "/api/v1/runs?until=-Infinity", "", 422, "until -Infinity is no time"},
		{"GET", "/api/v1/runs?since=999999-01-01", "", 422, "since 999999-01-01 is no time"},
		{"GET", "/api/v1/runs?cursor=infinity%2F01900000-0000-7000-8000-00000000000a", "", 422, "is no place in the list"},
		{"POST", "/api/v1/sql", `{"sql": "SELECT 'infinity'::TIMESTAMP AS t, 'nan'::DOUBLE AS n, '-inf'::FLOAT AS i"}`, 200, `{"t":"infinity","n":null,"i":null}`},
		{"GET", "/api/v1/diff?base=sdpa-1&new=eager&alpha=inf", "", 422, `"location":"query.alpha"`},
		{"GET", "/api/v1/diff?base=sdpa-1&new=eager&min_effect=-Inf", "", 422, `"location":"query.min_effect"`},
		{"GET", "/api/v1/diff?base=sdpa-1&new=eager&margin=infinity", "", 422, `"value":"infinity"`},
		{"GET", "/api/v1/diff?base=sdpa-1&new=eager&assume_noise=NaN", "", 422, "want a number"},
		{"GET", "/api/v1/diff?base=sdpa-1&new=eager&assume_noise=1e999", "", 422, "want a number"},
		{"GET", "/api/v1/diff?base=sdpa-1&new=eager&assume_noise=x", "", 422, "want a number"},
		{"GET", "/api/v1/diff?base=sdpa-1&new=eager&assume_noise=.05", "", 200, ""},
		{"GET", "/api/v1/check?run=eager&alpha=nan", "", 422, `"location":"query.alpha"`},
		{"GET", "/api/v1/runs/eager/findings?min_share=-inf", "", 422, `"location":"query.min_share"`},
		{"GET", "/api/v1/runs/eager/queries/mfu?peak=inf", "", 422, `"location":"query.peak"`},
		{"GET", "/api/v1/runs/eager/queries/mfu?peak=null", "", 422, `"location":"query.peak"`},
		{"GET", "/api/v1/runs/eager/queries/nosuch", "", 404, ""},
		{"GET", "/api/v1/runs/eager/queries/runs", "", 404, ""},
		{"GET", "/api/v1/runs/eager/queries/top-kernels?top=-1", "", 422, "query.top"},
		{"GET", "/api/v1/runs/eager/queries/top-kernels?top=1e3", "", 422, "whole number"},
		{"GET", "/api/v1/runs/eager/queries/top-kernels?nosuch=1", "", 422, "unknown query parameter"},
		{"GET", "/api/v1/runs/eager/queries/top-kernels?top=1&top=2", "", 422, "more than once"},
		{"GET", "/api/v1/runs/eager/queries/top-kernels?source=xyz", "", 422, "query.source"},
		{"GET", "/api/v1/runs/eager/queries/top-kernels?stage=nosuch", "", 404, "it has decode, prefill"},
		{"GET", "/api/v1/runs/eager/queries/top-kernels?stage=%00'", "", 404, "no stage"},
		{"GET", "/api/v1/runs/eager/report/../../../../etc/passwd", "", 307, ""},
		{"GET", "/api/v1/runs/eager/report/..%2F..%2Frules", "", 404, "a report has no file"},
		{"GET", "/..%2f..%2fwarehouse.duckdb", "", 404, ""},
		{"POST", "/api/v1/runs/eager", "", 405, ""},
		{"DELETE", "/api/v1/runs/eager", "", 405, ""},
		{"POST", "/api/v1/sql", sql("SELECT content FROM read_text('" + secret + "')"), 422, "disabled by configuration"},
		{"GET", "/api/v1/runs/eager/report/static_compute.md", "", 404, "run eager has no file static_compute.md: the run has no model"},
		{"GET", "/api/v1/runs?cursor=x", "", 422, ": cursor x is no place"},
		{"GET", "/api/v1/runs/eager/findings?stage=nope", "", 404, `"detail":"the run has no stage`},
		{"POST", "/api/v1/sql", sql("SELECT length(repeat('x', 3000000000)) AS n"), 422, "Out of Memory"},
		{"POST", "/api/v1/sql", sql("SELECT repeat('x', 20000000) AS n"), 422, "a row has more than 16 MB"},
		{"POST", "/api/v1/sql", `{"sql":"SELECT 1","limit":1000000}`, 422, "limit"},
		{"POST", "/api/v1/sql", `{"sql":""}`, 422, ""},
		{"POST", "/api/v1/sql", "{", 400, ""},
		{"POST", "/api/v1/sql", sql(strings.Repeat("x", 500_000)), 413, ""},
	} {
		got := call(t, c.method, base+c.path, c.body)
		if got.status != c.status || !strings.Contains(got.body, c.says) || strings.Contains(got.body, "secret words") {
			t.Errorf("%s %s %.80s: %d %.300s, want %d with %q", c.method, c.path, c.body, got.status, got.body, c.status, c.says)
		}
		if path, err := url.QueryUnescape(c.path); err != nil || strings.Contains(got.body, p.dir) && !strings.Contains(path+c.body, p.dir) {
			t.Errorf("%s %s names a folder of the server: %.300s", c.method, c.path, got.body)
		}
		if got.status >= 400 && got.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: the error is %s", c.method, c.path, got.header.Get("Content-Type"))
		}
	}
	if got := call(t, "POST", base+"/api/v1/sql", sql("FROM duckdb_settings()")); strings.Contains(got.body, p.dir) {
		t.Errorf("the settings name the home: %.300s", got.body)
	}
	statementsRefused(t, p, secret)
	if home, err := os.UserHomeDir(); err == nil {
		if got := call(t, "GET", base+"/api/v1/diff?base="+url.QueryEscape(home+"/x")+"&new=eager", ""); !strings.Contains(got.body, `\"~/x\"`) || strings.Contains(got.body, home+"/x") {
			t.Errorf("it names the home of its user: %.300s", got.body)
		}
	}
	if got := call(t, "POST", base+"/mcp", strings.Repeat("x", 2<<20), "Accept", "application/json, text/event-stream"); got.status != 413 {
		t.Errorf("a large request of an agent: %d %.100s", got.status, got.body)
	}
	cut := call(t, "POST", base+"/api/v1/sql", `{"sql":"FROM range(1000000000) r(i)","limit":3}`)
	if !strings.Contains(cut.body, `"is_cut":true`) || !strings.Contains(cut.body, `{"i":2}]`) || !strings.Contains(cut.body, "only the first 3 rows are here") {
		t.Errorf("a long answer: %d %.300s", cut.status, cut.body)
	}
	if got := call(t, "GET", base+"/api/v1/runs", "", "Origin", "https://evil.example"); got.status != 403 || strings.Contains(got.body, "eager") {
		t.Errorf("a page of another server: %d", got.status)
	}
}

// statementsRefused runs statements of others as the process does that the server starts for each, but for its limits.
func statementsRefused(t *testing.T, p *place, secret string) {
	w, err := schema.OpenCopy(t.Context(), schema.Home{Dir: p.path(".prof")}, write(t, filepath.Join(t.TempDir(), "copy.duckdb"), read(t, p.path(".prof/warehouse.duckdb"))), schema.Options{Defs: queries.Relations{}, Facts: derive.Facts{}, MemoryLimit: answering, Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for text, says := range map[string]string{
		"FROM '" + secret + "'":                          "",
		"FROM glob('/*')":                                "",
		"COPY (SELECT 1) TO '" + p.path("out.csv") + "'": "only reading is allowed",
		"ATTACH '" + p.path("x.duckdb") + "'":            "only reading is allowed",
		"DELETE FROM run":                                "only reading is allowed",
		"SET memory_limit = '1TB'":                       "only reading is allowed",
		"SELECT 1; DROP TABLE run":                       "",
		"SELECT nosuch FROM run":                         "nosuch",
	} {
		var out bytes.Buffer
		if err := ask.RunStatement(t.Context(), w, ask.Statement{SQL: text, Limit: 10, Form: "json"}, &out); !errors.Is(err, ask.ErrInvalid) || !strings.Contains(err.Error(), says) || strings.Contains(out.String()+err.Error(), "secret words") {
			t.Errorf("%s: %v, %.100s", text, err, out.String())
		}
	}
	var out bytes.Buffer
	if err := ask.RunStatement(t.Context(), w, ask.Statement{SQL: "FROM range(10) r(i)", Limit: 3, Form: "csv"}, &out); !errors.Is(err, ask.ErrInvalid) {
		t.Errorf("a long answer as csv, which cannot say that it is cut: %v %.100s", err, out.String())
	}
	for _, text := range []string{"FROM duckdb_databases()", "SELECT current_setting('temp_directory') AS x", "FROM pragma_database_list()"} {
		var out bytes.Buffer
		err := ask.RunStatement(t.Context(), w, ask.Statement{SQL: text, Limit: 10, Form: "json"}, &out)
		if strings.Contains(fmt.Sprint(out.String(), err), p.dir) {
			t.Errorf("%s names the home: %v, %.300s", text, err, out.String())
		}
	}
}

// servedMCP asks as an agent does, over HTTP and over stdio, and compares the answers with the command line.
func servedMCP(t *testing.T, p *place, base string) {
	for name, transport := range map[string]mcp.Transport{"http": &mcp.StreamableClientTransport{Endpoint: base + "/mcp"}, "stdio": &mcp.CommandTransport{Command: p.command("mcp")}} {
		t.Run(name, func(t *testing.T) {
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 9 {
				t.Fatalf("tools: %v, %v", tools, err)
			}
			for _, tool := range tools.Tools {
				if !tool.Annotations.ReadOnlyHint || len(tool.Description) < 20 || len(tool.Description) > 200 {
					t.Errorf("%s: %q, %+v", tool.Name, tool.Description, tool.Annotations)
				}
			}
			ask := func(tool string, args map[string]any) (text string, isError bool) {
				t.Helper()
				got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
				if err != nil {
					t.Fatalf("%s: %v", tool, err)
				}
				return got.Content[0].(*mcp.TextContent).Text, got.IsError
			}
			for tool, c := range map[string]struct {
				args map[string]any
				line []string
			}{
				"run_summary": {map[string]any{"run": "sdpa-1"}, []string{"show", "sdpa-1"}},
				"findings":    {map[string]any{"run": "eager", "stage": "decode"}, []string{"explain", "eager", "--stage", "decode"}},
				"diff":        {map[string]any{"base": "sdpa-1", "new": "eager"}, []string{"diff", "sdpa-1", "eager"}},
				"trend":       {map[string]any{"workload": "eager", "tags": []string{"attn=sdpa"}}, []string{"trend", "--workload", "eager", "--tag", "attn=sdpa"}},
				"check":       {map[string]any{"run": "eager", "rules": []string{"stage.decode.gpu_span_ns <= 1ms"}}, []string{"check", "eager", "--rule", "stage.decode.gpu_span_ns <= 1ms"}},
			} {
				if name == "stdio" && tool != "findings" && tool != "check" && !*sample.Whole {
					continue // the tools are those of HTTP
				}
				if got, failed := ask(tool, c.args); failed || got != p.run(append(c.line, "--format", "json")...).out {
					t.Errorf("%s differs from the command line: %.300s", tool, got)
				}
			}
			for _, c := range []struct {
				tool, says string
				args       map[string]any
				fails      bool
			}{
				{"list_runs", `"name":"sdpa-1"`, map[string]any{"search": "sdpa", "limit": 5}, false},
				{"query", `"is_cut":true`, map[string]any{"name": "top-kernels", "run": "eager", "parameters": map[string]any{"stage": "decode"}, "limit": 2}, false},
				{"query", "short", map[string]any{"name": "top-kernels", "run": "eager", "parameters": map[string]any{"top": 2, "short": true}}, true},
				{"query", "give it as run", map[string]any{"name": "top-kernels", "parameters": map[string]any{"run": "sdpa-1"}}, true},
				{"query", "leave out run", map[string]any{"name": "runs", "run": "eager"}, true},
				{"query", `"query":"runs"`, map[string]any{"name": "runs"}, false},
				{"query", "no such query", map[string]any{"name": "top-kernel"}, true},
				{"list_queries", `"name":"mfu"`, map[string]any{"search": "MFU"}, false},
				{"sql", `{"n":3}`, map[string]any{"sql": "SELECT count(*) AS n FROM run"}, false},
				{"sql", "only reading is allowed", map[string]any{"sql": "DELETE FROM run"}, true},
				{"diff", "missing properties", map[string]any{"base": "eager"}, true},
			} {
				if got, failed := ask(c.tool, c.args); failed != c.fails || !strings.Contains(got, c.says) {
					t.Errorf("%s %v: error %t, %.300s", c.tool, c.args, failed, got)
				}
			}
			for uri, says := range map[string]string{"prof://schema": `"name":"kernel_name"`, "prof://queries/mfu": "-- mfu v"} {
				got, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
				if err != nil || !strings.Contains(got.Contents[0].Text, says) {
					t.Errorf("%s: %v without %s", uri, err, says)
				}
			}
			if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "prof://queries/nosuch"}); err == nil {
				t.Error("a query that is not there can be read")
			}
		})
	}
}

// servedFuzz has schemathesis ask what the description allows, and what it does not.
func servedFuzz(t *testing.T, _ *place, base string) {
	program, err := exec.LookPath("schemathesis")
	if err != nil {
		t.Skip("schemathesis is not installed: the API is not fuzzed")
	}
	cmd := exec.CommandContext(t.Context(), program, "--config-file", "../../.ci/schemathesis.toml", "run", base+"/openapi.json", "--phases", "examples,coverage", "--request-timeout", "60", "--no-color")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// servedCommits changes the warehouse next to the server, which many clients read: what was stored is there at once, nobody waits for anybody, and
// the end of the server lets requests finish.
func servedCommits(t *testing.T, p *place, base string) {
	seen := func(name string) bool { return call(t, "GET", base+"/api/v1/runs/"+name, "").status == 200 }
	var clients sync.WaitGroup
	var stop atomic.Bool
	defer clients.Wait()
	defer stop.Store(true)
	for i := range 2 {
		clients.Go(func() {
			for n := 0; !stop.Load(); n++ {
				time.Sleep(200 * time.Millisecond) // the machine is to be busy with the ingest, too
				path := fmt.Sprintf("%s/api/v1/runs/%s/queries/%s?top=%d", base, []string{"eager", "sdpa-1"}[n%2], []string{"top-kernels", "top-operators"}[i%2], n)
				got, err := http.Get(path)
				if err != nil {
					t.Errorf("while others write: %v", err)
					return
				}
				text, _ := io.ReadAll(got.Body)
				got.Body.Close()
				if got.StatusCode != 200 {
					t.Errorf("while others write: %d %.200s", got.StatusCode, text)
				}
			}
		})
	}
	start := time.Now()
	command := p.command("ingest", "--run", "added", exported(t, kernels))
	command.Env = append(command.Environ(), "PROF_WAIT=0s")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("prof ingest next to a server does not wait: %v\n%s", err, out)
	}
	stored := time.Since(start)
	within(t, patience, "the run that was added", func() bool { return seen("added") })
	if out, err := p.command("rm", "added").CombinedOutput(); err != nil {
		t.Fatalf("prof rm next to a server: %v\n%s", err, out)
	}
	within(t, patience, "the removal", func() bool { return !seen("added") })
	t.Logf("stored in %s", stored)
}

// servedKept removes all runs but one, whose answers stay what they were, and tags it, which makes them anew.
func servedKept(t *testing.T, p *place, base string) {
	paths := []string{"/api/v1/runs/eager", "/api/v1/runs/eager/findings?top=0", "/api/v1/runs/eager/timeline?from_ns=0&to_ns=9000000000"}
	if *sample.Whole { // it asks most queries
		paths = append(paths, "/api/v1/runs/eager/report/report.html")
	}
	all, err := queries.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(slices.Clone(all), func(q queries.Query) bool { return !q.TakesRun() || strings.Contains(q.Key, "run_id") }) // which are of several runs
	for _, q := range sample.Of(all, 18) {
		paths = append(paths, "/api/v1/runs/eager/queries/"+q.Name)
	}
	before := map[string]reply{}
	for _, path := range paths {
		before[path] = call(t, "GET", base+path, "")
	}
	edition := func() string { return call(t, "GET", base+"/api/v1/runs", "").header.Get("ETag") }
	last := edition()
	p.ok("rm", "sdpa-1", "sdpa-2")
	within(t, patience, "the removal", func() bool { return edition() != last })
	anew, made := serveAt(t, p), 0
	for _, path := range paths {
		was := before[path]
		if fresh := call(t, "GET", anew+path, ""); fresh.body != was.body || fresh.status != was.status {
			t.Errorf("%s depends on other runs: %d %.300s; with them %d %.300s", path, fresh.status, fresh.body, was.status, was.body)
		}
		if was.status != 200 {
			continue // it is no answer
		}
		made++
		if again := call(t, "GET", base+path, "", "If-None-Match", was.header.Get("ETag")); again.status != 304 {
			t.Errorf("%s was made anew when other runs were removed: %d", path, again.status)
		}
	}
	if made < len(paths)/2 || len(all) < 60 {
		t.Errorf("only %d answers, and %d queries of one run", made, len(all))
	}
	last = edition()
	p.ok("tag", "eager", "kept="+p.path(".prof/log"))
	within(t, patience, "the tag", func() bool { return edition() != last })
	for _, path := range []string{"/api/v1/runs", "/api/v1/runs/eager"} {
		if got := call(t, "GET", base+path, "").body; strings.Contains(got, p.dir) || !strings.Contains(got, "$PROF_HOME/log") {
			t.Errorf("%s shows the folder of a tag: %.500s", path, got)
		}
	}
	if path := "/api/v1/runs/eager"; call(t, "GET", base+path, "", "If-None-Match", before[path].header.Get("ETag")).status != 200 {
		t.Error("a tag leaves the answers of its run")
	}
}

// servedRules judges by the rules that the home has now: no commit says that they have changed.
func servedRules(t *testing.T, p *place, base string) {
	path := p.path(".prof/rules")
	for _, rule := range []string{"stage.decode.gpu_span_ns <= 1s\n", "stage.decode.gpu_span_ns <= 1ns\n"} {
		write(t, path, []byte(rule))
		got, want := call(t, "GET", base+"/api/v1/check?run=eager", ""), p.run("check", "eager", "--format", "json")
		if outcome := regexp.MustCompile(`"outcome": "[^"]*"`); outcome.FindString(got.body) != outcome.FindString(want.out) || want.out == "" {
			t.Errorf("with the rule %s: %.60s, the command line says %.60s", rule, got.body, want.out)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := call(t, "GET", base+"/api/v1/check?run=eager", ""); got.status != 422 {
		t.Errorf("without a baseline and rules: %d %.60s", got.status, got.body)
	}
}

// TestServePatience: a server that is told to end has the time that its requests get.
func TestServePatience(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	said, says := io.Pipe()
	prof := newProgram([]string{"prof", "serve", "--listen", "127.0.0.1:0"}, strings.NewReader(""), io.Discard, says)
	prof.dir, prof.env, prof.stop = p.dir, p.environ(), &stopper{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int)
	go func() { ended <- prof.run(ctx) }()
	if _, err := bufio.NewReader(said).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, said)
	prof.stop.mu.Lock()
	within := prof.stop.within
	prof.stop.mu.Unlock()
	if within < serve.DrainTime+time.Second {
		t.Errorf("it is killed after %v, and lets requests finish for %v", within, serve.DrainTime)
	}
	cancel()
	if code := <-ended; code != exitOK {
		t.Errorf("exit %d", code)
	}
}

// TestServeOptions refuses what would open the warehouse to others, and stops when it is told to.
func TestServeOptions(t *testing.T) {
	t.Parallel()
	p := newFilled(t)
	weak, open, good := write(t, p.path("weak"), []byte("secret\n")), write(t, p.path("open"), []byte(strings.Repeat("x", 40))), write(t, p.path("good"), []byte(strings.Repeat("x", 40)+"\n"))
	for path, mode := range map[string]os.FileMode{weak: 0o600, open: 0o644, good: 0o600} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	for says, args := range map[string][]string{
		"write an address such as":         {"--trusted-proxy", "127.0.0.1,nosuch"},
		"can be reached by others":         {"--listen", "0.0.0.0:0"},
		"give --token-file":                {"--listen", "example.com:80"},
		"write ADDRESS:PORT":               {"--listen", "7321"},
		"16 characters or more":            {"--token-file", weak},
		"can be read by others: chmod 600": {"--token-file", open},
		"want at least":                    {"--memory", "1MB"},
	} {
		if got := p.run(append([]string{"serve"}, args...)...); got.code != exitUsage || !strings.Contains(got.err, says) {
			t.Errorf("%v: %d %s, want %s", args, got.code, got.err, says)
		}
	}
	// A credential of systemd that an access list lets the service's user read has the mode 0440. Here it is the short token, which is the next thing to refuse.
	for _, c := range []struct {
		mode os.FileMode
		dir  string
		says string
	}{{0o440, p.dir, "16 characters or more"}, {0o400, p.dir, "16 characters or more"}, {0o444, p.dir, "can be read by others"}, {0o460, p.dir, "can be read by others"}, {0o440, p.path(".prof"), "can be read by others"}} {
		if err := os.Chmod(weak, c.mode); err != nil {
			t.Fatal(err)
		}
		at := *p
		at.env = append(slices.Clone(p.env), "CREDENTIALS_DIRECTORY="+c.dir)
		if got := at.run("serve", "--token-file", weak); got.code != exitUsage || !strings.Contains(got.err, c.says) {
			t.Errorf("mode %o in %s: %d %s", c.mode, c.dir, got.code, got.err)
		}
	}
	cmd := p.command("serve", "--listen", "127.0.0.1:0", "--token-file", good)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 4096)
	n, err := said.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSpace(string(line[strings.Index(string(line[:n]), "http"):n]))
	if got := call(t, "GET", base+"/api/v1/runs", ""); got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
		t.Errorf("without the token: %d", got.status)
	}
	if got := call(t, "GET", base+"/api/v1/runs", "", "Authorization", "Bearer "+strings.Repeat("x", 40)); got.status != 200 {
		t.Errorf("with the token: %d", got.status)
	}
	slow := make(chan string, 1)
	go func() {
		defer close(slow) // call may give up
		slow <- call(t, "POST", base+"/api/v1/sql", `{"sql":"SELECT count(*) AS n FROM range(20000000) a(i) WHERE hash(i) > 0"}`, "Authorization", "Bearer "+strings.Repeat("x", 40)).body
	}()
	within(t, patience, "the statement runs", func() bool { return hasChild(cmd.Process.Pid) })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if body := <-slow; !strings.Contains(body, `"rows":`) {
		t.Errorf("what was asked before the end was answered with %q", body)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("SIGTERM ends it with %v", err)
	}
	left, err := filepath.Glob(filepath.Join(p.dir, ".prof", ".prof~*"))
	if err != nil || len(left) > 0 {
		t.Errorf("it left %v behind, %v", left, err)
	}
	if names := listing(t, filepath.Join(p.dir, ".prof")); slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, "~") }) {
		t.Errorf("it left %v", names)
	}
}

// hasChild reports whether a process has started another, as far as the system says it.
func hasChild(pid int) bool {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	return err != nil || len(lists) == 0 || slices.ContainsFunc(lists, func(list string) bool {
		pids, err := os.ReadFile(list)
		return err == nil && len(pids) > 0
	})
}
