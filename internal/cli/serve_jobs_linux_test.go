package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// jobServer is `prof serve` at work.
type jobServer struct {
	*place
	cmd  *exec.Cmd
	url  string
	said *bytes.Buffer
	done chan error
}

// servingJobs starts a server on the home of a place, with jobs by these templates and uploads.
func servingJobs(t *testing.T, p *place, templates string) *jobServer {
	t.Helper()
	if err := os.Chmod(p.path(".prof"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(write(t, p.path(".prof/serve.yaml"), []byte(templates)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &jobServer{place: p, said: &bytes.Buffer{}, done: make(chan error, 1)}
	s.cmd = p.command("serve", "--listen", "127.0.0.1:0", "--allow-run", "--allow-ingest")
	errs, err := s.cmd.StderrPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	lines := bufio.NewReader(io.TeeReader(errs, s.said))
	for s.url == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("it does not serve: %v\n%s", err, s.said)
		}
		if m := servingOn.FindStringSubmatch(line); m != nil {
			s.url = m[1]
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		s.done <- s.cmd.Wait()
	}()
	return s
}

// ask sends a request and reads the answer, which must have a status below 300, into a value.
func (s *jobServer) ask(method, path, body string, into any, headers ...string) {
	s.t.Helper()
	s.settle() // what was read in this process keeps a job from storing
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || got.StatusCode >= 300 {
		s.t.Fatalf("%s %s: %d %v %s", method, path, got.StatusCode, err, text)
	}
}

type servedJob struct {
	Status, Reason, Name string
	Runs                 []struct{ ID, Name string }
}

// await waits for a status of a job.
func (s *jobServer) await(id, status string) (j servedJob) {
	s.t.Helper()
	within(s.t, patience, "job is "+status, func() bool {
		s.ask("GET", "/api/v1/jobs/"+id, "", &j)
		if j.Status == "failed" && status != "failed" {
			s.t.Fatalf("%+v", j)
		}
		return j.Status == status
	})
	return j
}

const profileTemplate = `
templates:
  run:
    command: [sh, work.sh, "{model}", "{seconds}"]
    options: {mode: "{profiling_mode}", inputs: "{inputs_manifest}", tag: ["model={model}"]}
    dir: ..
    parameters:
      model: {}
      inputs_manifest: {type: path, below: [%[1]s]}
      profiling_mode: {values: [deep, light]}
      seconds: {type: integer, default: %[2]d}
`

// profiling is a place with fake profilers, a workload and its inputs, and a server whose template run sleeps for some seconds.
func profiling(t *testing.T, seconds int) *jobServer {
	t.Helper()
	p := fakes(t)
	write(t, p.path("work.sh"), []byte("#!/bin/sh\necho $$ >pid\nsetsid env -i sleep $2 &\necho $! >child\necho the model is $1\nsleep $2\n"))
	write(t, p.path("data/a.txt"), []byte("a"))
	write(t, p.path("data/inputs.yaml"), []byte("inputs: [{path: a.txt}]\n"))
	return servingJobs(t, p, fmt.Sprintf(profileTemplate, p.path("data"), seconds))
}

// The contract of profile services, on the program: from the post over nsys and ncu to artifacts and a report; and uploads become a run.
func TestServeProfile(t *testing.T) {
	t.Parallel()
	s := profiling(t, 0)
	var run struct {
		ID string `json:"run_id"`
	}
	s.ask("POST", "/profile/run", `{"model":"ocr","inputs_manifest":"inputs.yaml","profiling_mode":"deep"}`, &run)
	if j := s.await(run.ID, "done"); len(j.Runs) != 1 || j.Runs[0].Name != run.ID {
		t.Errorf("%+v", j)
	}
	var list struct{ Artifacts []string }
	s.ask("GET", "/profile/"+run.ID+"/artifacts", "", &list)
	if all := strings.Join(list.Artifacts, " "); !strings.Contains(all, "nsys/report-1.sqlite") || !strings.Contains(all, "ncu/report-1.ncu-rep") || !strings.Contains(all, "run.json") {
		t.Errorf("artifacts: %s", all)
	}
	var report struct {
		RunID      string         `json:"run_id"`
		Stages     map[string]any `json:"mfu_per_stage"`
		Aggregates map[string]*struct{ Mean *float64 }
		Notes      string
	}
	s.ask("GET", "/reports/"+run.ID, "", &report)
	// The decode time of the capture kernels, as `prof query aggregates` has it.
	want := strings.TrimSpace(strings.TrimPrefix(s.sql("SELECT value / 1e6 AS v FROM aggregates('"+run.ID+"') WHERE metric = 'decode_ns'"), "v\n"))
	if got := report.Aggregates["decode_ms"]; got == nil || got.Mean == nil || fmt.Sprint(*got.Mean) != want || report.RunID != run.ID || !strings.Contains(report.Notes, "mfu_model_level: ") {
		t.Errorf("%+v, decode_ms is %s", report, want)
	}
	if tags := s.sql("SELECT key, value FROM run_tag"); tags != "key,value\nmodel,ocr\n" {
		t.Errorf("tags %q", tags)
	}

	text := unpacked(t, llama)
	var upload struct{ ID string }
	s.ask("POST", "/api/v1/uploads", fmt.Sprintf(`{"name":"llama.sqlite","size":%d}`, len(text)), &upload)
	half := len(text) / 2
	s.ask("PATCH", "/api/v1/uploads/"+upload.ID, string(text[:half]), nil, "Upload-Offset", "0", "Content-Type", "application/octet-stream")
	s.ask("PATCH", "/api/v1/uploads/"+upload.ID, string(text[half:]), nil, "Upload-Offset", fmt.Sprint(half), "Content-Type", "application/octet-stream")
	var job struct{ ID string }
	s.ask("POST", "/api/v1/uploads/"+upload.ID+"/ingest", `{"name":"uploaded","tags":["from=upload"]}`, &job)
	if j := s.await(job.ID, "done"); len(j.Runs) != 1 || j.Runs[0].Name != "uploaded" {
		t.Errorf("%+v", j)
	}
	if got := s.sql("SELECT count(*) AS n FROM run WHERE name = 'uploaded'"); got != "n\n1\n" {
		t.Errorf("%q", got)
	}
	// The same content again is no run of its own, and the job names the one that has it.
	s.ask("POST", "/api/v1/uploads", fmt.Sprintf(`{"name":"again.sqlite","size":%d}`, len(text)), &upload)
	s.ask("PATCH", "/api/v1/uploads/"+upload.ID, string(text), nil, "Upload-Offset", "0", "Content-Type", "application/octet-stream")
	s.ask("POST", "/api/v1/uploads/"+upload.ID+"/ingest", `{"name":"other"}`, &job)
	if j := s.await(job.ID, "done"); len(j.Runs) != 1 || j.Runs[0].Name != "uploaded" {
		t.Errorf("%+v", j)
	}
}

// TestServeNew: a server that takes uploads starts where there is no warehouse yet, and so does one in a folder that was made for it. Any other may be the
// wrong folder.
func TestServeNew(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.wantLike(exitFailed, "", "prof: no warehouse yet in .*\n", "serve", "--listen", "127.0.0.1:0")
	write(t, p.path("other/notes.txt"), []byte("x"))
	p.wantLike(exitFailed, "", "prof: no warehouse yet in .*\n", "serve", "--listen", "127.0.0.1:0", "--home", p.path("other"))
	if exists(p.path(".prof")) || exists(p.path("other/warehouse.duckdb")) {
		t.Error("it made a warehouse in a folder that may be the wrong one")
	}
	if err := os.Mkdir(p.path("volume"), 0o700); err != nil {
		t.Fatal(err)
	}
	const none = `{"runs":[],"next":""}` + "\n"
	if got := call(t, "GET", serveAt(t, p, "--home", p.path("volume"))+"/api/v1/runs", ""); got.status != 200 || got.body != none {
		t.Errorf("in an empty folder: %d %s", got.status, got.body)
	}
	if got := call(t, "GET", serveAt(t, p, "--home", p.path("below/home"), "--allow-ingest")+"/api/v1/runs/@latest", ""); got.status != 404 {
		t.Errorf("in none: %d %s", got.status, got.body)
	}
	if err := os.Mkdir(p.path(".prof"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := servingJobs(t, p, "templates: {}\n")
	if got := call(t, "GET", s.url+"/api/v1/runs", ""); got.status != 200 || got.body != none {
		t.Errorf("before the first upload: %d %s", got.status, got.body)
	}
	text := unpacked(t, kernels)
	var upload, job struct{ ID string }
	s.ask("POST", "/api/v1/uploads", fmt.Sprintf(`{"name":"kernels.sqlite","size":%d}`, len(text)), &upload)
	s.ask("PATCH", "/api/v1/uploads/"+upload.ID, string(text), nil, "Upload-Offset", "0", "Content-Type", "application/octet-stream")
	s.ask("POST", "/api/v1/uploads/"+upload.ID+"/ingest", `{"name":"first"}`, &job)
	s.await(job.ID, "done")
	within(t, patience, "the run is served", func() bool { return call(t, "GET", s.url+"/api/v1/runs/first", "").status == 200 })
}

// begun posts a job and waits until its workload is at work; it gives the ids of two of its processes.
func (s *jobServer) begun() (id string, pids []string) {
	s.t.Helper()
	var run struct {
		ID string `json:"run_id"`
	}
	s.ask("POST", "/profile/run", `{"model":"ocr","inputs_manifest":"inputs.yaml","profiling_mode":"light"}`, &run)
	for _, name := range []string{"pid", "child"} {
		within(s.t, patience, "the workload begins", func() bool { return exists(s.path(name)) && len(read(s.t, s.path(name))) > 0 })
		pids = append(pids, strings.TrimSpace(string(read(s.t, s.path(name)))))
	}
	return run.ID, pids
}

// A job that is canceled keeps what was captured, as after Ctrl-C.
func TestServeCancel(t *testing.T) {
	t.Parallel()
	s := profiling(t, 300)
	id, pids := s.begun()
	s.ask("DELETE", "/api/v1/jobs/"+id, "", nil)
	if j := s.await(id, "canceled"); len(j.Runs) != 1 {
		t.Errorf("%+v", j)
	}
	if !gone(pids[0]) || !gone(pids[1]) {
		t.Error("the workload goes on")
	}
	if got := s.passes(id); !strings.Contains(got, "nsys-1,interrupted,") {
		t.Errorf("passes: %s", got)
	}
}

// A server that is killed takes the job with it, also what has a session and an environment of its own. SIGTERM stores what was captured.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	s := profiling(t, 300)
	id, pids := s.begun()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-s.done
	within(t, patience, "the workload ends with the server", func() bool { return gone(pids[0]) && gone(pids[1]) })
	s = servingJobs(t, s.place, string(read(t, s.path(".prof/serve.yaml"))))
	if j := s.await(id, "interrupted"); !strings.Contains(j.Reason, "the server was killed while the job was running") {
		t.Errorf("%+v", j)
	}
	for _, name := range []string{"pid", "child"} {
		if err := os.Remove(s.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	id, pids = s.begun()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		t.Fatal("the server does not end")
	}
	if code := s.cmd.ProcessState.ExitCode(); code != 0 || !gone(pids[0]) || !gone(pids[1]) {
		t.Errorf("exit %d\n%s", code, s.said)
	}
	if got := s.passes(id); !strings.Contains(got, "nsys-1,interrupted,") {
		t.Errorf("passes: %s", got)
	}
}

// A server whose serve.yaml is wrong says where, also where prof capture would refuse the options of a template.
func TestServeConfig(t *testing.T) {
	t.Parallel()
	p := fakes(t)
	p.apart = false // it starts nothing
	if err := os.Chmod(p.path(".prof"), 0o700); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", "--listen", "127.0.0.1:0", "--allow-run"}
	for options, says := range map[string]string{
		`{home: y}`:                                            "4: invalid settings: templates.a: a template cannot set an option home of prof capture; available: .*",
		`{load: "curl {p}"}`:                                   "4: invalid settings: templates.a: a template cannot set an option load of prof capture; did you mean workload\\?", // the shell would read what a request chose
		"\n      repeats: 2\n      mode: fast":                 `6: invalid settings: templates.a: capture options: --mode is "fast": it must be one of light, deep, custom`,
		"\n      repeats: many\n      mode: light":             `5: invalid settings: templates.a: invalid value "many" for flag -repeats: parse error`,
		"\n      repeats: 2\n      tag: [a=b, c]":              `6: invalid settings: templates.a: tag "c": .*`,
		"\n      prefill: -4":                                  "5: invalid settings: templates.a: --prefill -4: want .*",
		"\n      image_size: 5":                                "5: invalid settings: templates.a: --image-size \"5\": .*",
		"\n      max-artifact-size: 2 parsecs":                 "5: invalid settings: templates.a: --max-artifact-size: .*",
		"\n      tag: a=b\n      range: x\n      window: 3":    "7: invalid settings: templates.a: capture options: --after, --window and --paused with ncu: .*",
		"\n      mode: '{m}'\n      range: x\n      window: 3": `7: invalid settings: templates.a: m is "deep": capture options: --after, --window and --paused with ncu: .*`,
		"\n      subset: x\n      inputs: '{p}'\n      mode: '{m}'\n      sample_hz: -1": "8: invalid settings: templates.a: capture options: --sample-hz is -1: .*",
		"\n      mode: '{m}'\n      ncu_top: 3":                                          `5: invalid settings: templates.a: m is "light": capture options: --ncu-top with --mode light: .*`,
	} {
		text := "templates:\n  a:\n    command: [x, '{m}', '{p}']\n    options: " + options + "\n    parameters: {m: {values: [light, deep]}, p: {}}\n"
		if err := os.Chmod(write(t, p.path(".prof/serve.yaml"), []byte(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		p.wantLike(exitUsage, "", `prof: .*\.prof/serve.yaml:`+says+"\n", serve...)
	}
	p.wantLike(exitUsage, "", `prof: --config is for --allow-run and --allow-ingest\n`, "serve", "--listen", "127.0.0.1:0", "--config", "x")
}
