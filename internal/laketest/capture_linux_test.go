//go:build lake

package laketest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"prof/internal/golden"
)

// faking is the machine with a stand-in for nsys, which captures what testdata has.
func (m machine) faking(name string) machine {
	m.t.Helper()
	tools, err := filepath.Abs(filepath.Join("..", "cli", "testdata", "fake"))
	if err != nil {
		m.t.Fatal(err)
	}
	path := filepath.Join(m.t.TempDir(), "report.sqlite")
	if err := os.WriteFile(path, golden.Unpacked(m.t, capture(name)), 0o644); err != nil {
		m.t.Fatal(err)
	}
	m.env = append([]string{"PATH=" + tools + string(os.PathListSeparator) + os.Getenv("PATH"), "PROF_NSYS=", "PROF_NCU=", "NSYS_FAKE_REPORT=" + path}, m.env...)
	return m
}

// TestCapture captures on a machine whose warehouse is the lake, on one that pushes what it captured, and takes an upload; prune knows what the lake has.
func TestCapture(t *testing.T) {
	s := newSite(t)
	direct := s.machine(s.lake).faking("nsys/kernels/kernels.sqlite.gz")
	if r := direct.run("capture", "--push", "--run", "direct", "--", "true"); r.code != 2 || !strings.Contains(r.err, "omit --push") {
		t.Errorf("pushing from a lake: exit %d, %s", r.code, r.err)
	}
	direct.ok("capture", "--run", "direct", "--mode", "light", "--tag", "night=1", "--", "sh", "-c", "true")
	pushing := s.machine("").faking("nsys/variants-graph/variants-graph.sqlite.gz")
	pushing.ok("capture", "--push", "--run", "pushed", "--mode", "light", "--", "sh", "-c", "true")
	const stored = "SELECT r.name, t.value, (SELECT count(*) FROM kernel k WHERE k.run_id = r.run_id) AS kernels, (SELECT count(*) FROM capture c WHERE c.run_id = r.run_id) AS captures FROM run r LEFT JOIN run_tag t USING (run_id) ORDER BY 1"
	if got, want := direct.ok("sql", "--format", "csv", stored), "name,value,kernels,captures\ndirect,1,16,1\npushed,,108,1\n"; got != want {
		t.Errorf("the lake has\n%swant\n%s", got, want)
	}
	same(t, "passes", direct.ok("query", "capture-passes", "--run", "pushed", "--format", "json"), pushing.ok("query", "capture-passes", "--run", "pushed", "--format", "json"))

	// A lake has no folder: what it captured lies in that of the machine, and prune asks the lake what is stored.
	if out := direct.run("prune", "--keep", "0"); out.code != 0 || !strings.Contains(out.out, "compress direct/") || !strings.Contains(out.err, "compressed 1 and deleted 0 files") {
		t.Errorf("prune: exit %d, %s%s", out.code, out.out, out.err)
	}
	if got, err := filepath.Glob(filepath.Join(direct.dir, ".prof", "runs", "direct", "nsys", "*.zst")); err != nil || len(got) != 1 {
		t.Errorf("packed: %q, %v", got, err)
	}
	direct.ok("rm", "direct")
	direct.ok("ingest", filepath.Join(".prof", "runs", "direct"))
	if got := direct.ok("sql", "--format", "csv", "SELECT count(*) AS n FROM kernel k JOIN run r USING (run_id) WHERE r.name = 'direct'"); got != "n\n16\n" {
		t.Errorf("ingested from what is packed: %q", got)
	}
	testUpload(t, direct)
	testAgent(t, direct)
}

// testUpload sends a capture to a server on the lake, which stores it there. What it keeps of jobs lies in the folder whose configuration names the lake.
func testUpload(t *testing.T, lake machine) {
	address := lake.home
	lake.home = filepath.Join(lake.dir, ".prof")
	if err := os.WriteFile(filepath.Join(lake.home, "config.yaml"), []byte("warehouse:\n  catalog: \""+address+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := lake.serve(t, "--allow-ingest")
	ask := func(method, path, body string, into any, headers ...string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, at+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode >= 300 {
			t.Fatalf("%s %s: %s %s %v", method, path, answer.Status, text, err)
		}
		if into != nil {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatalf("%s %s: %s: %v", method, path, text, err)
			}
		}
	}
	text := golden.Unpacked(t, capture("nsys/nccl2/nccl2.sqlite.gz"))
	var upload, job struct{ ID string }
	ask("POST", "/api/v1/uploads", fmt.Sprintf(`{"name":"nccl2.sqlite","size":%d,"sha256":"%x"}`, len(text), sha256.Sum256(text)), &upload)
	ask("PATCH", "/api/v1/uploads/"+upload.ID, string(text), nil, "Upload-Offset", "0", "Content-Type", "application/octet-stream")
	ask("POST", "/api/v1/uploads/"+upload.ID+"/ingest", `{"name":"uploaded"}`, &job)
	var done struct {
		Status, Reason string
		Runs           []struct{ Name string }
	}
	for end := time.Now().Add(2 * time.Minute); done.Status != "done"; time.Sleep(100 * time.Millisecond) {
		if ask("GET", "/api/v1/jobs/"+job.ID, "", &done); time.Now().After(end) || done.Status == "failed" {
			t.Fatalf("%+v", done)
		}
	}
	if len(done.Runs) != 1 || done.Runs[0].Name != "uploaded" {
		t.Errorf("%+v", done)
	}
	if got := lake.ok("sql", "--format", "csv", "SELECT count(*) AS n FROM run WHERE name = 'uploaded'"); got != "n\n1\n" {
		t.Errorf("the lake has %q", got)
	}
}

// testAgent asks the lake as an agent does.
func testAgent(t *testing.T, lake machine) {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: lake.command("mcp")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "run_summary", Arguments: map[string]any{"run": "direct"}})
	if err != nil || got.IsError {
		t.Fatalf("%+v, %v", got, err)
	}
	if text := got.Content[0].(*mcp.TextContent).Text; text != lake.ok("show", "direct", "--format", "json") {
		t.Errorf("an agent is told %.300s", text)
	}
}
