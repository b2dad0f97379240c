package jobs

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A job goes from POST to the artifacts of its run.
func TestJobs(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	j := want[Job](s, http.StatusAccepted, "POST", jobsPath, object{"template": "do", "parameters": object{"word": "b=c", "mode": "deep"}, "tags": []string{"k=v w"}})
	j = s.await(j.ID, StatusDone)
	if len(j.Runs) != 1 || j.Runs[0].Name != j.ID || *j.ExitCode != 0 || j.StartedAt == nil || j.EndedAt == nil || j.Parameters["word"] != "b=c" {
		t.Errorf("%+v", j)
	}
	if got, want := s.log(j.ID), fmt.Sprintf("[\"--run=%s\",\"--tag=k=v w\",\"--mode=deep\",\"--repeats=2\",\"--tag=kind=test\",\"--\",\"say\",\"--say=b=c\"]\n", j.ID); got != want {
		t.Errorf("log %q, want %q", got, want)
	}
	a := want[struct {
		Status    string
		Artifacts []string
		Files     []Artifact
	}](s, 200, "GET", artifactsPath(j.ID), nil)
	if a.Status != StatusDone || !slices.Equal(a.Artifacts, []string{"nsys/report-1.sqlite"}) || len(a.Files) != 1 || a.Files[0].Size != 4 || len(a.Files[0].SHA256) != 64 {
		t.Fatalf("%+v", a)
	}
	if code, text, h := s.ask("GET", a.Files[0].URL, nil); code != 200 || text != "rows" || h.Get("Content-Length") != "4" {
		t.Errorf("%s: %d %q %v", a.Files[0].URL, code, text, h)
	}
	_, _, h := s.ask("GET", a.Files[0].URL, nil)
	tag := h.Get("ETag")
	if h.Get("Accept-Ranges") != "bytes" || tag == "" || strings.HasPrefix(tag, "W/") {
		t.Errorf("a broken download cannot go on: %v", h)
	}
	for _, c := range []struct {
		headers           []string
		code              int
		text, part, media string
	}{
		{[]string{"Range", "bytes=1-2"}, 206, "ow", "bytes 1-2/4", bytesType},
		{[]string{"Range", "bytes=2-"}, 206, "ws", "bytes 2-3/4", bytesType},
		{[]string{"Range", "bytes=-1"}, 206, "s", "bytes 3-3/4", bytesType},
		{[]string{"Range", "bytes=2-", "If-Range", tag}, 206, "ws", "bytes 2-3/4", bytesType},
		{[]string{"Range", "bytes=2-", "If-Range", `"another"`}, 200, "rows", "", bytesType},
		{[]string{"Range", "bytes=4-"}, 416, "the file has no such part", "bytes */4", "application/problem+json"},
		{[]string{"Range", "bytes=x"}, 416, "the file has no such part", "bytes */4", "application/problem+json"},
		{[]string{"Range", "bytes=2-1"}, 416, "the file has no such part", "bytes */4", "application/problem+json"},
		{[]string{"Range", "bytes=-0"}, 416, "the file has no such part", "bytes */4", "application/problem+json"},
		{[]string{"Range", "bytes=-0, -000"}, 416, "the file has no such part", "bytes */4", "application/problem+json"},
		{[]string{"Range", "bytes=99999999999999999999-"}, 416, "the file has no such part", "bytes */4", "application/problem+json"},
		{[]string{"Range", "bytes=-0,-1"}, 206, "s", "bytes 3-3/4", bytesType},
		{[]string{"Range", "bytes=1-99999999999999999999"}, 206, "ows", "bytes 1-3/4", bytesType},
		{[]string{"Range", "bytes=1-9223372036854775807"}, 206, "ows", "bytes 1-3/4", bytesType},
		{[]string{"Range", "bytes=000000000000000000001-000000000000000000002"}, 206, "ow", "bytes 1-2/4", bytesType},
		{[]string{"Range", "bytes=-99999999999999999999"}, 206, "rows", "bytes 0-3/4", bytesType},
		{[]string{"Range", "Bytes=1-2"}, 206, "ow", "bytes 1-2/4", bytesType},
		{[]string{"Range", "items=0-1"}, 200, "rows", "", bytesType},
		{[]string{"Range", "1-2"}, 200, "rows", "", bytesType},
		{[]string{"If-Match", `"another"`}, 412, "not the one", "", "application/problem+json"},
		{[]string{"If-None-Match", tag}, 304, "", "", ""},
	} {
		code, text, h := s.ask("GET", a.Files[0].URL, nil, c.headers...)
		if code != c.code || !strings.Contains(text, c.text) || code < 400 && text != c.text || h.Get("Content-Range") != c.part || h.Get("Content-Type") != c.media {
			t.Errorf("%q: %d %q %v", c.headers, code, text, h)
		}
	}
	odd := filepath.Join(s.home, "runs", j.ID, "kept", "b?d%#;\xff.txt")
	if err := errors.Join(os.Mkdir(filepath.Dir(odd), 0o700), os.WriteFile(odd, []byte("odd"), 0o600)); err == nil { // a Mac has no such names
		files := want[struct{ Files []Artifact }](s, 200, "GET", artifactsPath(j.ID), nil).Files
		if code, text, _ := s.ask("GET", files[0].URL, nil); code != 200 || text != "odd" || len(files) != 2 {
			t.Errorf("%s: %d %q", files[0].URL, code, text)
		}
	}
	for _, name := range []string{"..%2F..%2Fserve.yaml", "%2Fetc%2Fpasswd", "nsys", "none", "nsys%2F..%2F..%2F..%2Fstored"} {
		if code, text, _ := s.ask("GET", artifactsPath(j.ID)+"/"+name, nil); code != 404 || strings.Contains(text, s.home) {
			t.Errorf("artifact %s: %d %s", name, code, text)
		}
	}
	if r := want[ProfileReport](s, 200, "GET", "/reports/"+j.ID, nil); r.RunID != j.ID || r.Notes != "of "+j.ID || *r.MFUModelLevel != 0.25 {
		t.Errorf("%+v", r)
	}
	for _, path := range []string{"/reports/none", artifactsPath("none"), jobsPath + "/none", jobsPath + "/none/log", jobsPath + "/none/events"} {
		want[object](s, 404, "GET", path, nil)
	}
	want[object](s, 404, "DELETE", jobsPath+"/none", nil)
	info := want[struct{ Templates []Template }](s, 200, "GET", "/api/v1/templates", nil).Templates
	if len(info) != 1 || info[0].Name != "do" || info[0].Doc != "Do one thing" || info[0].Timeout != 2*time.Hour || len(info[0].Parameters) != 3 {
		t.Errorf("%+v", info)
	}
}

// What a workload fails with is the job's; neither it nor the log has a path of the server or a secret.
func TestFailedJob(t *testing.T) {
	t.Parallel()
	s := made(t, templates+`
  secret:
    command: [work, env, API_TOKEN]
    env: {API_TOKEN: hunter2-correct-horse}
  lines:
    command: [work, lines, "30000"]
`, func(o *Options) { o.Config.Jobs.LogSize = 128 << 10 })
	j := s.await(s.post("fail").ID, StatusFailed)
	if *j.ExitCode != 7 || j.Reason != "exit status 7: nothing works in .prof/runs" || len(j.Runs) > 0 {
		t.Errorf("%+v", j)
	}
	j = want[Job](s, 202, "POST", jobsPath, object{"template": "secret", "name": "named"})
	s.await(j.ID, StatusDone)
	if got := s.log(j.ID); strings.Contains(got, "hunter2") || strings.Contains(got, s.home) || !strings.Contains(got, "and home is .prof/runs/x") || j.Name != "named" {
		t.Errorf("%+v, log %q", j, got)
	}
	want[object](s, 422, "POST", jobsPath, object{"template": "secret", "name": "named"}) // there is one now
	j = want[Job](s, 202, "POST", jobsPath, object{"template": "lines"})
	s.await(j.ID, StatusDone)
	if got := s.log(j.ID); !strings.Contains(got, "line 100\n") || !strings.HasSuffix(got, "line 29998\nline 29999\n") || !strings.Contains(got, "lines omitted") || len(got) > 128<<10 {
		t.Errorf("%d bytes of log: %.200q ... %q", len(got), got, got[len(got)-200:])
	}
}

// Jobs run one at a time, in the order of their requests; those that wait can be canceled, and there are only so many.
func TestQueue(t *testing.T) {
	t.Parallel()
	s := made(t, templates, func(o *Options) { o.Config.Jobs.Queue, o.Config.Jobs.Keep = 3, 2 })
	first := s.post("sleep")
	s.begun(first.ID)
	var ids []string
	for i := range 3 {
		j := s.post("say")
		if ids = append(ids, j.ID); j.Ahead == nil || *j.Ahead != i+1 {
			t.Errorf("job %d: %+v", i, j)
		}
	}
	code, text, h := s.ask("POST", jobsPath, object{"template": "do"})
	if code != 429 || h.Get("Retry-After") == "" || !strings.Contains(text, "too many jobs in the queue: 3, the limit") {
		t.Errorf("%d %s", code, text)
	}
	if code, text, _ := s.ask("POST", jobsPath, object{"template": "do", "name": ids[1]}); code != 429 && code != 422 {
		t.Errorf("a name of another: %d %s", code, text)
	}
	if j := want[Job](s, 200, "DELETE", jobsPath+"/"+ids[1], nil); j.Status != StatusCanceled || j.Ahead != nil {
		t.Errorf("%+v", j)
	}
	if j := s.await(ids[2], StatusQueued); *j.Ahead != 2 {
		t.Errorf("%+v", j)
	}
	want[object](s, 409, "GET", "/reports/"+ids[2], nil)
	want[Job](s, 200, "DELETE", jobsPath+"/"+first.ID, nil)
	j := s.await(ids[2], StatusDone)
	list := want[struct{ Jobs []Job }](s, 200, "GET", jobsPath, nil).Jobs
	if len(list) != 2 || list[0].ID != ids[2] { // the others are forgotten
		t.Errorf("%+v", list)
	}
	if got, want := (fakeRuns{s.home}).names(), []string{first.ID, ids[0], j.ID}; !slices.Equal(got, want) {
		t.Errorf("stored %q, want %q", got, want)
	}
}

// A job that is canceled gets what Ctrl-C is; one that does not listen is killed, with all that it started. A job that takes too long likewise.
func TestStop(t *testing.T) {
	t.Parallel()
	s := made(t, templates, func(o *Options) { o.Config.Jobs.Grace = time.Minute })
	j := s.post("sleep")
	pid := s.begun(j.ID)
	if j = want[Job](s, 200, "DELETE", jobsPath+"/"+j.ID, nil); !j.Stopping && j.Status == StatusRunning {
		t.Errorf("%+v", j)
	}
	if j = s.await(j.ID, StatusCanceled); len(j.Runs) != 1 || *j.ExitCode != 130 || j.Stopping || !gone(pid) {
		t.Errorf("%+v, its child is gone: %v", j, gone(pid))
	}
	again := want[Job](s, 200, "DELETE", jobsPath+"/"+j.ID, nil)
	if again.Status != StatusCanceled {
		t.Errorf("%+v", again)
	}
	for limit := 250 * time.Millisecond; ; limit *= 2 { // on a busy machine a workload may take long to begin, and what is interrupted before that stores nothing
		s.mu.Lock()
		s.o.Config.Templates[0].Timeout = limit
		s.mu.Unlock()
		if j = s.await(s.post("sleep").ID, StatusTimeout); j.Reason != "timed out after "+limit.String() {
			t.Fatalf("%+v", j)
		}
		if strings.Contains(s.log(j.ID), "begun") {
			break
		}
	}
	if len(j.Runs) != 1 {
		t.Errorf("%+v", j)
	}
}

// Nothing is left of a job that ignores all that can be ignored when the server closes; it is interrupted, and what waited goes on with the next server.
func TestRestart(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	j := s.post("stubborn")
	pid := s.begun(j.ID)
	waiting := []string{s.post("say").ID, s.post("say").ID}
	if _, err := New(s.o); err == nil || !strings.Contains(err.Error(), "another server") {
		t.Errorf("a second server: %v", err)
	}
	s.close()
	if !gone(pid) {
		t.Error("a child of the job goes on")
	}
	s = serve(t, s.home, templates)
	if got := s.await(j.ID, StatusInterrupted); got.Reason != "the server was shut down" {
		t.Errorf("%+v", got)
	}
	s.await(waiting[1], StatusDone)
	if got := (fakeRuns{s.home}).names(); !slices.Equal(got, waiting) {
		t.Errorf("stored %q, want %q", got, waiting)
	}
}

// A server that was killed leaves a job that says it runs, and perhaps processes: the next one ends both. Other state that cannot be read is left alone.
func TestKilled(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), ".prof")
	id := newID("do")
	dir := filepath.Join(home, "serve", "jobs", id)
	broken := filepath.Join(home, "serve", "jobs", newID("do"))
	text, err := json.Marshal(saved{Job: Job{ID: id, Kind: KindCapture, Template: "do", Name: "n", Status: StatusRunning}, Chosen: map[string]any{"token": "sk-secret"}, Facts: []string{"--prefill=1"}, Made: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, broken} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "job.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "job.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := exec.Command("sleep", "600")
	left.Env, left.SysProcAttr = []string{"PATH=" + os.Getenv("PATH"), jobVariable + "=" + id}, &syscall.SysProcAttr{Setsid: true}
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- left.Wait() }()
	s := serve(t, home, templates)
	if text, err := os.ReadFile(filepath.Join(dir, "job.json")); err != nil || strings.Contains(string(text), "sk-secret") {
		t.Errorf("values that are not masked stay on disk: %v %s", err, text)
	}
	j := want[Job](s, 200, "GET", jobsPath+"/"+id, nil)
	if j.Status != StatusInterrupted || !strings.Contains(j.Reason, "the server was killed while the job was running") || !strings.Contains(j.Reason, "runs/n of the home") {
		t.Errorf("%+v", j)
	}
	select {
	case <-done:
	case <-time.After(patience):
		t.Error("what the job left goes on")
		_ = left.Process.Kill()
	}
	if list := s.List(); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

// events reads server-sent events: a name, an id and data each.
func events(t *testing.T, s *service, id, last string, each func(event, id, data string) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", s.http.URL+jobsPath+"/"+id+"/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%v", got.Header)
	}
	fields := map[string]string{}
	lines := bufio.NewScanner(got.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ": "); ok {
			fields[name] = value
		} else if lines.Text() == "" {
			if !each(fields["event"], fields["id"], fields["data"]) {
				return
			}
			fields = map[string]string{}
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
}

// Whoever follows a job gets each line once, also over a connection that broke, and the statuses up to the end.
func TestEvents(t *testing.T) {
	t.Parallel()
	s := made(t, templates+"  lines:\n    command: [work, lines, \"40000\"]\n")
	blocker := s.post("sleep")
	s.begun(blocker.ID)
	j := want[Job](s, 202, "POST", jobsPath, object{"template": "lines"})
	var got, statuses []string
	last, parts := "", 0
	take := func(stopAfter int) func(event, id, data string) bool {
		return func(event, id, data string) bool {
			switch event {
			case "log":
				var e LogEvent
				if err := json.Unmarshal([]byte(data), &e); err != nil {
					t.Error(err)
				}
				got, last = append(got, e.Lines...), id
				parts++
				return parts != stopAfter
			case "job":
				var job Job
				if err := json.Unmarshal([]byte(data), &job); err != nil {
					t.Error(err)
				}
				if statuses = append(statuses, job.Status); len(statuses) == 1 {
					go want[Job](s, 200, "DELETE", jobsPath+"/"+blocker.ID, nil)
				}
			}
			return true
		}
	}
	events(t, s, j.ID, "", take(2)) // the connection breaks after two parts
	events(t, s, j.ID, last, take(-1))
	if len(got) != 40001 || got[1] != "line 0" || got[40000] != "line 39999" || !slices.IsSortedFunc(got[1:], func(a, b string) int { return len(a) - len(b) }) {
		t.Errorf("%d lines", len(got))
	}
	if statuses[0] != StatusQueued || statuses[len(statuses)-1] != StatusDone {
		t.Errorf("statuses %q", statuses)
	}
	if strings.Join(got, "\n")+"\n" != s.log(j.ID) {
		t.Error("the events are not the log")
	}
	for _, bad := range []string{"x", "-1"} {
		want[object](s, 422, "GET", jobsPath+"/"+j.ID+"/events", nil, "Last-Event-ID", bad)
	}
}

// One client follows so many jobs at once; what it ends, it may follow again.
func TestManyEvents(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	j := s.post("sleep")
	s.begun(j.ID)
	ctx, cancel := context.WithCancel(t.Context())
	follow := func() int {
		r, err := http.NewRequestWithContext(ctx, "GET", s.http.URL+jobsPath+"/"+j.ID+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { got.Body.Close() })
		return got.StatusCode
	}
	for i := range mostStreams/2 + 1 {
		if got, want := follow(), map[bool]int{true: 200, false: 503}[i < mostStreams/2]; got != want {
			t.Errorf("stream %d: %d, want %d", i+1, got, want)
		}
	}
	cancel()
	ctx = t.Context()
	for end := time.Now().Add(patience); follow() != 200; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no place is given back")
		}
	}
	want[Job](s, 200, "DELETE", jobsPath+"/"+j.ID, nil)
}

// Without the options of the server nothing runs and nothing is written.
func TestForbidden(t *testing.T) {
	t.Parallel()
	s := made(t, templates, func(o *Options) { o.AllowRun, o.AllowIngest = false, false })
	for _, c := range []struct {
		method, path string
		body         any
		says         string
	}{
		{"GET", jobsPath, nil, "--allow-run or --allow-ingest"},
		{"POST", jobsPath, object{"template": "do"}, "--allow-run"},
		{"GET", jobsPath + "/x", nil, "--allow-run"},
		{"DELETE", jobsPath + "/x", nil, "--allow-run"},
		{"GET", jobsPath + "/x/log", nil, "--allow-run"},
		{"GET", jobsPath + "/x/events", nil, "--allow-run"},
		{"GET", "/api/v1/templates", nil, "--allow-run"},
		{"POST", "/profile/run", object{"model": "m", "inputs_manifest": "i"}, "--allow-run"},
		{"POST", "/profile/stage1", object{"model_path": "m", "input_dir": "i"}, "--allow-run"},
		{"GET", uploadsPath, nil, "--allow-ingest"},
		{"POST", uploadsPath, object{"name": "a.sqlite", "size": 1}, "--allow-ingest"},
		{"GET", uploadsPath + "/x", nil, "--allow-ingest"},
		{"PATCH", uploadsPath + "/x", "b", "--allow-ingest"},
		{"DELETE", uploadsPath + "/x", nil, "--allow-ingest"},
		{"POST", uploadsPath + "/x/ingest", object{}, "--allow-ingest"},
	} {
		if code, text, h := s.ask(c.method, c.path, c.body, "Upload-Offset", "0"); code != 403 || !strings.Contains(text, c.says) || h.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
	if _, err := os.Stat(filepath.Join(s.home, "serve")); err == nil {
		t.Error("it made a folder")
	}
	want[object](s, 404, "GET", "/reports/x", nil)
}

// The contract of profile services: its posts run the templates of its names, and say what is missing of these.
func TestProfile(t *testing.T) {
	t.Parallel()
	s := made(t, templates)
	run, stage := object{"model": "deepseek-ocr", "inputs_manifest": "a.yaml", "profiling_mode": "light"}, object{"model_path": "m", "input_dir": "in", "repeats": 2, "use_flash_attn": false}
	for path, body := range map[string]object{"/profile/run": run, "/profile/stage1": stage} {
		if code, text, _ := s.ask("POST", path, body); code != 409 || !strings.Contains(text, "has no template") {
			t.Errorf("%s: %d %s", path, code, text)
		}
	}
	s.close()
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "a.yaml"), []byte("inputs: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = serve(t, s.home, templates+fmt.Sprintf(`
  run:
    command: [work, say, "{model}"]
    options: {mode: "{profiling_mode}", inputs: "{inputs_manifest}"}
    parameters:
      model: {values: [deepseek-ocr]}
      inputs_manifest: {type: path, below: [%[1]s]}
      profiling_mode: {values: [deep, light]}
  stage1:
    command: [work, say, "--model={model_path}", "{input_dir}", "{repeats}", "{use_flash_attn}", "{device}", "{max_new_tokens}"]
    parameters:
      model_path: {}
      input_dir: {type: path, below: [%[1]s]}
      repeats: {type: integer, min: 1, max: 10}
      use_flash_attn: {type: boolean}
      device: {pattern: "cuda:[0-9]"}
      max_new_tokens: {type: integer, max: 1000}
`, data))
	id := want[struct{ Run_id string }](s, 202, "POST", "/profile/run", run).Run_id
	s.await(id, StatusDone)
	if got := s.log(id); !strings.Contains(got, `"--inputs=`+data+`/a.yaml","--mode=light","--","say","deepseek-ocr"]`) {
		t.Error(got)
	}
	out := want[struct{ Run_id, Status, Artifacts_dir string }](s, 202, "POST", "/profile/stage1", stage)
	if out.Artifacts_dir != "/profile/"+out.Run_id+"/artifacts" || out.Status != StatusQueued && out.Status != StatusRunning {
		t.Errorf("%+v", out)
	}
	j := s.await(out.Run_id, StatusDone)
	if got := s.log(out.Run_id); !strings.Contains(got, `"--","say","--model=m","`+data+`/in","2","false","cuda:0","64"]`) || j.Parameters["input_dir"] != "in" {
		t.Errorf("%v %s", j.Parameters, got)
	}
	for _, bad := range []object{{"model": "other", "inputs_manifest": "a.yaml"}, {"model": "deepseek-ocr", "inputs_manifest": "../b"}, {"model": "deepseek-ocr", "inputs_manifest": "/etc/passwd"},
		{"model": "deepseek-ocr"}, {"model": "deepseek-ocr", "inputs_manifest": "a.yaml", "profiling_mode": "--deep"}} {
		if code, text, _ := s.ask("POST", "/profile/run", bad); code != 422 || strings.Contains(text, data) {
			t.Errorf("%v: %d %s", bad, code, text)
		}
	}
}
