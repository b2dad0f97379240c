package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// patience is how long tests wait for what surely comes: a busy machine may take long.
const patience = time.Minute

// TestMain makes the test binary stand in for prof where a job starts it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == SuperviseVerb {
		os.Exit(Supervise(os.Args[2:]))
	}
	if os.Getenv(jobVariable) != "" {
		os.Exit(fakeProf(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeProf is `prof --home HOME VERB ...`: it prints its arguments, stores a run by a line in a file, and does what the workload's first word says.
func fakeProf(args []string) int {
	home, verb, args := strings.TrimPrefix(args[0], "--home="), args[1], args[2:]
	name, files := "", []string{}
	for i, a := range args {
		if a == "--" {
			files = args[i+1:]
			break
		}
		if v, ok := strings.CutPrefix(a, "--run="); ok {
			name = v
		} else if !strings.HasPrefix(a, "-") {
			files = append(files, a)
		}
	}
	text, _ := json.Marshal(args)
	store := func() int {
		f, err := os.OpenFile(filepath.Join(home, "stored"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(f, name)
		}
		if err = errors.Join(err, os.MkdirAll(filepath.Join(home, "runs", name, "nsys"), 0o700), os.WriteFile(filepath.Join(home, "runs", name, "nsys", "report-1.sqlite"), []byte("rows"), 0o600)); err != nil {
			fmt.Fprintln(os.Stderr, "prof:", err)
			return 1
		}
		return 0
	}
	if verb == "ingest" {
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil || string(data) == "bad" {
				fmt.Fprintf(os.Stderr, "prof: %s: cannot be read %v\n", path, err)
				return 1
			}
			fmt.Fprintf(os.Stderr, "%s %s\n", filepath.Base(path), data)
		}
		if name == "" {
			name = "packed"
		}
		fmt.Fprintln(os.Stderr, string(text))
		fmt.Println(name)
		return store()
	}
	fmt.Println(string(text))
	word := append(files, "")
	switch word[0] {
	case "fail":
		fmt.Fprintln(os.Stderr, "prof: nothing works in "+home+"/runs")
		return 7
	case "lines":
		var n int
		fmt.Sscan(word[1], &n)
		for i := range n {
			fmt.Printf("line %d\n", i)
		}
	case "sleep", "stubborn":
		signals := make(chan os.Signal, 1)
		if word[0] == "sleep" {
			signal.Notify(signals, os.Interrupt)
		} else {
			signal.Ignore(os.Interrupt, syscall.SIGTERM)
		}
		child := exec.Command("sleep", "600")
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as what a profiler starts
		if err := child.Start(); err != nil {
			return 1
		}
		fmt.Println("begun", child.Process.Pid)
		select {
		case <-signals:
			store()
			return 130
		case <-time.After(10 * patience):
		}
	case "large":
		memory := make([]byte, 512<<20)
		for i := 0; i < len(memory); i += 4096 {
			memory[i] = 1
		}
		fmt.Println("begun")
		time.Sleep(10 * patience)
		fmt.Println(memory[0])
	case "env":
		fmt.Println("secret is", os.Getenv(word[1]), "and home is", home+"/runs/x")
	}
	return store()
}

// fakeRuns are the runs that fakeProf stored.
type fakeRuns struct{ home string }

func (f fakeRuns) names() []string {
	text, err := os.ReadFile(filepath.Join(f.home, "stored"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

func (f fakeRuns) Find(_ context.Context, ref string) (StoredRun, error) {
	if at := slices.Index(f.names(), ref); at >= 0 {
		return StoredRun{ID: fmt.Sprint("id-", at), Name: ref}, nil
	}
	return StoredRun{}, fmt.Errorf("%w: %q", ErrNoRun, ref)
}

func (f fakeRuns) Check(_ context.Context, name string, tags []string) error {
	if strings.HasPrefix(name, "-") || slices.Contains(f.names(), name) || slices.ContainsFunc(tags, func(t string) bool { return !strings.Contains(t, "=") }) {
		return fmt.Errorf("%w: %q", ErrInvalid, name)
	}
	return nil
}

func (f fakeRuns) Report(_ context.Context, run StoredRun) (*ProfileReport, error) {
	mfu := 0.25
	return &ProfileReport{MFUModelLevel: &mfu, MFUPerStage: map[string]*float64{"decode": nil}, TopOperators: []ReportOperator{}, Aggregates: map[string]Spread{}, Notes: "of " + run.Name}, nil
}

// service is a service and a server of its API.
type service struct {
	*Service
	t    *testing.T
	home string
	http *httptest.Server
}

// templates is a serve.yaml for most tests.
const templates = `
jobs: {grace: 5s}
templates:
  do:
    doc: Do one thing
    command: [work, "{what}", "--say={word}"]
    options: {mode: "{mode}", tag: [kind=test], repeats: 2}
    parameters:
      what: {values: [say, fail, sleep, stubborn, lines, env], default: say}
      word: {default: hello}
      mode: {values: [deep, light], default: light}
`

// made is a service of a new home.
func made(t *testing.T, yaml string, change ...func(*Options)) *service {
	t.Helper()
	home := filepath.Join(t.TempDir(), ".prof")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return serve(t, home, yaml, change...)
}

// captures are options of prof capture, for tests.
var captures = CaptureOptions{Names: []string{"mode", "tag", "repeats", "inputs", "subset"}, Check: func(args []string) error {
	all := strings.Join(args, " ") + " "
	switch {
	case strings.Contains(all, "--repeats=0 "):
		return errors.New("--repeats is 0: it must be 1 or more")
	case strings.Contains(all, "--mode=") && !strings.Contains(all, "--mode=deep ") && !strings.Contains(all, "--mode=light "):
		return errors.New("--mode must be deep or light")
	case strings.Contains(all, "--subset=") && !strings.Contains(all, "--inputs="):
		return errors.New("--subset needs --inputs")
	case strings.Contains(all, "--mode=deep ") && strings.Contains(all, "--repeats=7 "):
		return errors.New("--mode deep does not repeat 7 times")
	}
	return nil
}}

func serve(t *testing.T, home, yaml string, change ...func(*Options)) *service {
	t.Helper()
	path := filepath.Join(home, ConfigName)
	if err := os.WriteFile(path, []byte(yaml), 0o600); err != nil {
		t.Fatal(err)
	}
	config, err := ReadConfig(path, captures)
	if err != nil {
		t.Fatal(err)
	}
	for _, tmpl := range config.Templates {
		tmpl.command = tmpl.command[1:] // there is no program work: its first argument says what to do
	}
	o := Options{Home: home, Config: config, Command: []string{os.Args[0], "--home=" + home}, AllowRun: true, AllowIngest: true, Runs: fakeRuns{home},
		Warn: func(m string) { t.Log(m) }, CaptureFolders: filepath.Join(home, "runs")}
	for _, f := range change {
		f(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	Register(humago.New(mux, huma.DefaultConfig("test", "1")), s)
	out := &service{s, t, home, httptest.NewServer(mux)}
	t.Cleanup(out.http.Close)
	t.Cleanup(out.close)
	return out
}

// close ends the service, at once.
func (s *service) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	if s.lock == nil || s.ctx.Err() == nil {
		if err := s.Close(ctx); err != nil {
			s.t.Error(err)
		}
	}
}

// ask sends a request and gives its answer; a body that is no text is sent as JSON.
func (s *service) ask(method, path string, body any, headers ...string) (int, string, http.Header) {
	s.t.Helper()
	var text io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		text = strings.NewReader(b)
	case io.Reader:
		text = b
	default:
		data, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		text, headers = strings.NewReader(string(data)), append(headers, "Content-Type", "application/json")
	}
	r, err := http.NewRequest(method, s.http.URL+path, text)
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	out, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return got.StatusCode, string(out), got.Header
}

type object = map[string]any

// want asks, checks the status, and reads the answer into a value.
func want[T any](s *service, status int, method, path string, body any, headers ...string) (out T) {
	s.t.Helper()
	code, text, _ := s.ask(method, path, body, headers...)
	if code != status {
		s.t.Fatalf("%s %s: %d, not %d: %s", method, path, code, status, text)
	}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			s.t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return out
}

// post queues a job.
func (s *service) post(what string, more ...any) Job {
	s.t.Helper()
	parameters := object{"what": what}
	for i := 0; i < len(more); i += 2 {
		parameters[more[i].(string)] = more[i+1]
	}
	return want[Job](s, http.StatusAccepted, "POST", jobsPath, object{"template": "do", "parameters": parameters})
}

// await waits for a status of a job.
func (s *service) await(id, status string) Job {
	s.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		j := want[Job](s, http.StatusOK, "GET", jobsPath+"/"+id, nil)
		if j.Status == status {
			return j
		}
		if time.Now().After(end) || j.ended() {
			s.t.Fatalf("job is %+v, not %s; log:\n%s", j, status, s.log(id))
		}
	}
}

func (s *service) log(id string) string {
	s.t.Helper()
	code, text, _ := s.ask("GET", jobsPath+"/"+id+"/log", nil)
	if code != http.StatusOK {
		s.t.Fatalf("log of %s: %d %s", id, code, text)
	}
	return text
}

// begun waits until a workload that sleeps has begun, and gives the id of the process that it left in a session of its own.
func (s *service) begun(id string) (pid int) {
	s.t.Helper()
	s.await(id, StatusRunning)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if _, rest, ok := strings.Cut(s.log(id), "begun "); ok && strings.Contains(rest, "\n") {
			fmt.Sscan(rest, &pid)
			return pid
		}
	}
	s.t.Fatal("the workload has not begun")
	return 0
}
