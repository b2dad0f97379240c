package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// document is what an OpenAPI document says of operations.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]form }
}

type operation struct {
	Parameters []struct {
		Name, In string
		Required bool
		Schema   form
	}
	RequestBody struct {
		Content map[string]struct{ Schema form }
	}
}

// form is the schema of a value.
type form struct {
	Ref        string `json:"$ref"`
	Type       any    // a name or several
	Enum       []any
	Items      *form
	Properties map[string]form
	Required   []string
}

// endpoint is one operation of the server.
type endpoint struct {
	method, path string
	operation
}

func (d document) endpoints() (out []endpoint) {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			out = append(out, endpoint{strings.ToUpper(method), path, d.Paths[path][method]})
		}
	}
	return out
}

// caller makes calls of a server's operations: values that fit, and such that attack.
type caller struct {
	document
	rng     *rand.Rand
	hostile float64  // how many of the values attack
	seen    []string // values of answers
	never   string   // the path of a file outside the home that no answer may show
}

func (c *caller) one(of ...string) string { return of[c.rng.IntN(len(of))] }

// text is a value for a parameter.
func (c *caller) text(name string, f form) string {
	if f.Ref != "" {
		f = c.Components.Schemas[filepath.Base(f.Ref)]
	}
	if c.rng.Float64() < c.hostile {
		up := strings.Repeat("../", 1+c.rng.IntN(9))
		return c.one("", " ", "0", "-1", "-9223372036854775808", "9223372036854775807", "99999999999999999999999", "1e308", "NaN", "Infinity", "-0", "0x10", "null", "true", "[]", "{}", "é\u0301", "𝔘𝔫𝔦", "\u202e", "\ufeff",
			"\x00", "a\x00b", "\xff\xfe", "\r\nX-Made: up", "'", "''; DROP TABLE run; --", `"`, "%", "%00", "%2e%2e%2f", "*", "\\", ";", "@latest~999999999999999999999", "@", "tag:", "tag:=", strings.Repeat("x", 1<<c.rng.IntN(16)),
			strings.Repeat("[", 10000), up, up+"etc/passwd", c.never, "file://"+c.never, up+strings.TrimPrefix(c.never, "/"), "..%2f..%2foutside.txt", "../outside.txt", "../../outside.txt")
	}
	if len(f.Enum) > 0 {
		return fmt.Sprint(f.Enum[c.rng.IntN(len(f.Enum))])
	}
	if len(c.seen) > 0 && c.rng.IntN(8) == 0 {
		return c.one(c.seen...)
	}
	switch {
	case name == "sql":
		return c.one("FROM run", "SELECT 1/0", "FROM top_kernels('@latest')", "SELECT * FROM read_text('"+c.never+"')", "COPY (SELECT 1) TO '"+c.never+".copied'", "ATTACH '"+c.never+"' AS a", "SELECT getenv('HOME')", "SELECT * FROM glob('/*')",
			"INSTALL httpfs", "SET memory_limit = '99GB'", "SELECT 1; SELECT 2", "SELECT repeat('x', 1000000000)", "SELECT count(*) FROM range(100000000000) a, range(100000) b", "DELETE FROM run", "SELECT "+strings.Repeat("(", 5000), "SELECT unnest(range(1000000))")
	case name == "file":
		return c.one("report.html", "report.md", "metrics.json", "stakeholder_summary.md", "../report.html")
	case slices.Contains([]string{"run", "run_id", "runs", "base", "new", "baseline"}, name):
		return c.one("kernels", "operators", "@latest", "@latest~1", "tag:k=v")
	case name == "stage":
		return c.one("prefill", "decode")
	case fmt.Sprint(f.Type) == "boolean":
		return c.one("true", "false")
	case strings.Contains(fmt.Sprint(f.Type), "integer"), strings.Contains(fmt.Sprint(f.Type), "number"):
		return c.one("0", "1", "7", "500", "0.05", "1000000000")
	}
	return c.one("kernels", "2026-01-02", "a=b", "x.sqlite", "ab12")
}

// value is a value of a body.
func (c *caller) value(name string, f form, deep int) any {
	if f.Ref != "" {
		f = c.Components.Schemas[filepath.Base(f.Ref)]
	}
	kind := fmt.Sprint(f.Type)
	switch {
	case deep > 4 || c.rng.Float64() < c.hostile/4:
		return []any{nil, true, -1, 1e300, "", []any{}, map[string]any{}, map[string]any{"": nil}, []any{[]any{[]any{}}}, strings.Repeat("x", 1<<17)}[c.rng.IntN(10)]
	case len(f.Properties) > 0:
		out := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(f.Properties)) {
			if slices.Contains(f.Required, key) && c.rng.IntN(20) > 0 || c.rng.IntN(2) == 0 {
				out[key] = c.value(key, f.Properties[key], deep+1)
			}
		}
		return out
	case f.Items != nil:
		var out []any
		for range c.rng.IntN(4) {
			out = append(out, c.value(name, *f.Items, deep+1))
		}
		return out
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"), kind == "boolean":
		var out any
		if json.Unmarshal([]byte(c.text(name, f)), &out) == nil {
			return out
		}
	}
	return c.text(name, f)
}

// request makes a call of an operation.
func (c *caller) request(ctx context.Context, at string, e endpoint) (*http.Request, error) {
	path, query, header := e.path, url.Values{}, http.Header{}
	for _, p := range e.Parameters {
		value := c.text(p.Name, p.Schema)
		switch p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		case "query":
			for p.Required || c.rng.IntN(3) == 0 {
				query.Add(p.Name, value)
				if c.rng.IntN(4) > 0 {
					break
				}
				value = c.text(p.Name, p.Schema)
			}
		case "header":
			if !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) && c.rng.IntN(2) == 0 {
				header.Set(p.Name, value)
			}
		}
	}
	var body io.Reader
	for _, kind := range slices.Sorted(maps.Keys(e.RequestBody.Content)) {
		b, err := json.Marshal(c.value("", e.RequestBody.Content[kind].Schema, 0))
		if err != nil {
			return nil, err
		}
		if c.rng.Float64() < c.hostile/4 {
			b, _ = damaged(c.rng, b)
		}
		body = bytes.NewReader(b)
		header.Set("Content-Type", kind)
	}
	if c.rng.Float64() < c.hostile/8 {
		query.Add(c.text("", form{}), c.text("", form{}))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, e.method, at+path, body)
	if err == nil {
		maps.Copy(r.Header, header)
	}
	return r, err
}

// calls asks a server all that it offers, by its own description, with values that fit and such that attack: no answer is 5xx, late, or of a file outside.
func (l *lab) calls(ctx context.Context, n int) (string, error) {
	if n == 0 {
		return "none tried", nil
	}
	p, err := l.base(ctx, "kernels", "operators")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(p.dir)
	const secret = "only-the-file-outside-says-this"
	never := filepath.Join(p.dir, "outside.txt")
	if err := os.WriteFile(never, []byte(secret), 0o644); err != nil {
		return "", err
	}
	before, err := p.state(ctx)
	if err != nil {
		return "", err
	}
	s, err := p.serve(ctx, "--allow-run", "--allow-ingest")
	if err != nil {
		return "", err
	}
	text, _, err := s.get(ctx, "/openapi.json")
	var d document
	if err == nil {
		err = json.Unmarshal([]byte(text), &d)
	}
	all := d.endpoints()
	if err != nil || len(all) == 0 {
		return "", fmt.Errorf("openapi.json: %d operations, %w", len(all), err)
	}
	files := s.descriptors()
	var mu sync.Mutex
	answers, seen, slowest, slow := map[int]int{}, []string{}, time.Duration(0), ""
	tried := l.each(ctx, n, func(ctx context.Context, trial int, rng *rand.Rand) {
		mu.Lock()
		c := &caller{d, rng, []float64{0, 0.1, 0.4}[rng.IntN(3)], slices.Clone(seen), never}
		mu.Unlock()
		e := all[trial%len(all)]
		r, err := c.request(ctx, s.url, e)
		if err != nil {
			l.fail("calls %d: %s %s: %v", trial, e.method, e.path, err)
			return
		}
		begun := time.Now()
		status, text, err := s.answer(r)
		lasted := time.Since(begun)
		if ctx.Err() != nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		answers[status/100]++
		if lasted > slowest {
			slowest, slow = lasted, e.method+" "+e.path
		}
		if err != nil || status >= 500 && !(status == http.StatusServiceUnavailable && e.path == "/api/v1/sql") || strings.Contains(text, secret) || strings.Contains(text, "goroutine ") || strings.Contains(text, "INTERNAL Error") { // SQL has few places
			l.fail("calls %d: %s %.300s: %d after %v, %v: %.300q", trial, r.Method, r.URL, status, lasted.Round(time.Millisecond), err, text)
		}
		var has struct{ ID string }
		if json.Unmarshal([]byte(text), &has) == nil && has.ID != "" && len(seen) < 100 {
			seen = append(seen, has.ID)
		}
	})
	if text, status, err := s.get(ctx, "/api/v1/runs/kernels"); ctx.Err() == nil && (status != http.StatusOK || err != nil) {
		l.fail("calls: afterwards the server says %d, %v: %.300s", status, err, text)
	}
	more := s.holds(files)
	r := s.end()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if r.crashed() || r.code != 0 {
		l.fail("calls: the server: exit %d, hung %v: %.3000s", r.code, r.hung, r.err)
	}
	if more > 0 {
		l.fail("calls: the server has %d more open files than before", more)
	}
	after, err := p.state(ctx)
	if err != nil || after["kernels"] != before["kernels"] || after["operators"] != before["operators"] {
		l.fail("calls: before them %v, after them %v, %v", before, after, err)
	}
	if made, _ := filepath.Glob(never + "?*"); len(made) > 0 {
		l.fail("calls: they made %q", made)
	}
	return fmt.Sprintf("%d of %d operations: %d answered, %d refused, slowest %v (%s); %d MB of memory", tried, len(all), answers[2]+answers[3], answers[4], slowest.Round(time.Millisecond), slow, r.memory>>20), nil
}

// answer makes a call. Of a stream it reads the first second.
func (s *server) answer(r *http.Request) (status int, text string, err error) {
	a, err := s.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer a.Body.Close()
	if strings.HasPrefix(a.Header.Get("Content-Type"), "text/event-stream") {
		defer time.AfterFunc(time.Second, func() { a.Body.Close() }).Stop()
		b, _ := io.ReadAll(a.Body) // it is cut
		return a.StatusCode, string(b), nil
	}
	b, err := io.ReadAll(a.Body)
	return a.StatusCode, string(b), err
}
