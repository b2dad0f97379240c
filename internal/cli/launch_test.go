package cli

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"prof/capture/attach"
	"prof/capture/capturetest"
	"prof/capture/machine"
	"prof/capture/tracer"
	"prof/schema/rundir"
)

// TestLaunch starts a program with the tracer loaded and off, in the place of prof, and records it twice.
func TestLaunch(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.machine.Build = func(context.Context, tracer.Places) (tracer.Library, error) {
		return tracer.Library{Path: "/tracer.so"}, nil
	}
	engine := capturetest.NewEngine(t)
	b.work = engine.Run
	m := b.machine.Capture(nil)
	var pid int
	b.machine.Exec = func(path string, argv, environ []string) error {
		if path != "/bin/work" || !slices.Equal(argv, []string{"work", "--tp", "8"}) || !slices.Contains(environ, "PROF_TRACE_EACH=1") || !slices.Contains(environ, "CUDA_INJECTION64_PATH=/tracer.so") {
			t.Errorf("%s %q %q", path, argv, environ)
		}
		var wait func() error
		var err error
		pid, wait, err = m.Start(machine.Start{Argv: argv, Env: environ, Dir: b.folder})
		t.Cleanup(func() {
			_ = m.Kill(-pid, 9)
			_ = wait()
		})
		return err
	}
	for _, args := range []string{"work", "--", "--name x python3 -u run.py"} {
		b.wantLike(2, "", "prof: write the command after --, as in: prof launch -- vllm serve MODEL\n", append([]string{"launch"}, strings.Fields(args)...)...)
	}
	b.wantLike(1, "", ".*no process of prof launch is running in \\S+: start it with prof launch -- CMD, or name its home with --home\n", "capture", "--attach")
	b.wantLike(0, "", "prof: llama runs with the tracer off; record it from another terminal: prof --home .* capture --attach llama --window 20s\n", "launch", "--name", "llama", "--", "work", "--tp", "8")
	folder := filepath.Join(b.path(".prof"), attach.Folder, "llama")
	if text := string(read(t, filepath.Join(folder, "windows"))); text != "off\n" {
		t.Errorf("the switch is %q", text)
	}
	// In the place of prof it would have the number that prof had.
	facts := strings.NewReplacer(`"started": ""`, `"started": "`+m.StartedAt(pid)+`"`).Replace(string(read(t, filepath.Join(folder, "launch.json"))))
	at := strings.Index(facts, `"pid": `)
	facts = facts[:at] + strings.Replace(facts[at:], `"pid": `+strings.TrimSuffix(strings.Fields(facts[at:])[1], ",")+",", `"pid": `+strconv.Itoa(pid)+",", 1)
	write(t, filepath.Join(folder, "launch.json"), []byte(facts))
	b.wantLike(2, "", ".*--attach records what runs already: omit the command.*", "capture", "--attach", "--", "work")
	b.wantLike(2, "", ".*--serving starts an engine, --attach records one that runs: omit one\n", "capture", "--attach", "--serving", "--ready", "http://127.0.0.1:1")
	b.wantLike(0, "# prof-1 of 1: under prof's own tracer\n# 1\\. attach to llama, process "+strconv.Itoa(pid)+", and its children: work --tp 8\n# 2\\. record 3s .*", "", "capture", "--attach", "--duration", "3s", "--dry-run")
	b.wantLike(1, "# refused on this machine: \"llama\" is the name of a running process: choose another --name\n\n# llama: started .*", "", "launch", "--name", "llama", "--dry-run", "--", "work")
	b.wantLike(1, "# refused on this machine: no process of prof launch is running as \"other\"; there are llama\n.*# 1\\. attach to other and its children\n.*", "", "capture", "--attach=other", "--dry-run")
	write(t, filepath.Join(folder, "recorder"), []byte(strconv.Itoa(pid)+" "+m.StartedAt(pid)+"\n"))
	b.wantLike(1, ".*\n# refused on this machine: llama: it is being recorded by prof, process "+strconv.Itoa(pid)+": one recording at a time\n# 1\\. attach .*", "", "capture", "--attach", "--dry-run")
	if err := os.Remove(filepath.Join(folder, "recorder")); err != nil {
		t.Error(err)
	}
	for run, attach := range map[string][]string{"one": {"--attach", "llama"}, "two": {"--attach=llama"}} {
		if r := b.prof(append([]string{"capture", "--window", "3s", "--run", run}, attach...)...); r.code != 0 || !strings.Contains(r.err, "recording for 3s\n") || strings.Contains(r.err, "steady") {
			t.Fatalf("%s: exit %d\n%s", run, r.code, r.err)
		}
		b.wantPasses(run, "prof-1,ok,-,\n")
		manifest, err := rundir.ReadManifest(filepath.Join(b.path(".prof"), "runs", run, rundir.ManifestName))
		if err != nil || manifest.Passes[0].Serving == nil || manifest.Passes[0].Serving.WindowNs < 2e9 {
			t.Errorf("%s: %+v %v", run, manifest, err)
		}
	}
	// The servers of one engine may be on several machines: windows of them are nodes of one run.
	b.wantLike(1, ".*# 4\\. leave the recording in \\S+/runs/pd-node1; prof ingest stores it\n", "", "capture", "--attach=other", "--dry-run", "--run", "pd", "--node-rank", "1", "--nodes", "2", "--job", "pd")
	var command string
	for _, node := range []string{"0", "1"} {
		r := b.prof("capture", "--attach", "llama", "--window", "3s", "--run", "pd", "--node-rank", node, "--nodes", "2", "--job", "pd")
		if r.code != 0 {
			t.Fatalf("node %s: exit %d\n%s", node, r.code, r.err)
		}
		command = printed(t, r.err, "store them as one run: ")
	}
	b.storing()
	b.ok(append(b.words(command)[1:], write(t, b.path("bench.jsonl"), read(t, "../../testdata/serving/sglang.jsonl")))...)
	b.wantRows(map[string]string{
		"SELECT node, pass, status FROM capture_passes('pd')":              "node,pass,status\n0,prof-1,ok\n1,prof-1,ok\n",
		"SELECT count(DISTINCT source_id) AS windows FROM serving_window":  "windows\n2\n",
		"SELECT count(DISTINCT tool) AS tools FROM serving('pd')":          "tools\n1\n",
		"SELECT count(*) AS said FROM caveat WHERE kind = 'several-nodes'": "said\n1\n",
	})
}

// TestCaptureServing captures an engine under load, and finds timeline, window and the client's figures in one run.
func TestCaptureServing(t *testing.T) {
	t.Parallel()
	b := newBench(t).storing()
	b.machine.Build = func(context.Context, tracer.Places) (tracer.Library, error) {
		return tracer.Library{Path: "/tracer.so"}, nil
	}
	engine := capturetest.NewEngine(t)
	b.work = engine.Run
	b.machine.Install("sh", capturetest.Load{Engine: engine, Takes: time.Minute, Result: "bench.json"}.Run)
	b.wantLike(2, "", ".*--serving needs --ready URL, which answers once the engine serves.*", "capture", "--serving", "--", "work")
	b.wantLike(2, "", ".*--window is \"20\": with --serving and --attach it is a time, such as 20s\n", "capture", "--serving", "--ready", engine.URL, "--window", "20", "--", "work")
	b.wantLike(2, "", ".*--window is \"20s\": it must be a number of instances of --range; a time is for --serving\n", "capture", "--mode", "light", "--range", "x", "--window", "20s", "--", "work")
	r := b.prof("capture", "--run", "s", "--serving", "--ready", engine.URL, "--load", "bench --save-result", "--window", "10s", "--", "work")
	if r.code != 0 || !strings.Contains(r.err, "the load's result: ") {
		t.Fatalf("exit %d\n%s", r.code, r.err)
	}
	b.wantRows(map[string]string{
		"SELECT kind, form FROM sources('s') WHERE kind = 'serving'": "kind,form\nserving,vllm-bench\n",
		"SELECT is_steady, process_count, window_ns // 1000000000 BETWEEN 9 AND 12 AS long, client_token_count > 5 AS tokens, round(client_tpot_ns / 1e6, 3) AS tpot_ms FROM serving_window": "is_steady,process_count,long,tokens,tpot_ms\ntrue,1,true,true,10\n",
		"SELECT tool, round(output_tokens_per_s) AS rate FROM serving('s')": "tool,rate\nvllm-bench,66\n",
	})
}

// TestServingDryRun holds that a dry run has each step of a recording under load, in the order in which it comes, and where the run goes.
func TestServingDryRun(t *testing.T) {
	t.Parallel()
	b := newBench(t).tracing()
	b.env = append(b.env, "COLUMNS=10000")
	const ready = "http://127.0.0.1:1/health"
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer other.Close()
	for _, c := range []struct {
		code       int
		args, want string
	}{
		{0, "capture --run s --serving --ready " + ready + " --load 'bench --api-key sesame' --grace 3s -- work --tp 8", `# prof-1 of 1: under prof's own tracer
# 1\. start the engine with the tracer loaded and off, in all its processes
# added to the workload's environment:
(#   [^\n]*\n)*work --tp 8
# 2\. wait until ` + ready + ` answers with a status of 2xx \(at most 20m, --ready-timeout\)
# 3\. start the load, in \S+
sh -c 'bench --api-key \*\*\*'
# 4\. wait until launches are steady: at least 5s under load \(--warm\), at most 1m \(--steady-timeout\)
# 5\. record 20s \(--window\) in every process that uses a GPU
# 6\. wait until the load ends by itself and has written its result \(at most 10m, --load-timeout\)
# 7\. end the engine: by SIGINT, 3s later by SIGTERM, and 3s later by SIGKILL \(--grace\)
# 8\. store it as the run s in \S+/\.prof, with the load's result \(JSON below \S+ that prof reads\); its files stay in \S+/\.prof/runs/s
`},
		{0, "capture --run s --serving --ready " + ready + " --load bench --load-result out/*.json --steady-timeout 0 --load-timeout 0 --no-ingest -- work", `.*
# 3\. start the load, in \S+
sh -c bench
# 4\. record 20s \(--window\) in every process that uses a GPU
# 5\. end the load \(--load-timeout 0\)
# 6\. end the engine: [^\n]*
# 7\. leave the recording in \S+/runs/s, with the load's result \(out/\*\.json\); prof ingest stores it
`},
		{0, "capture --serving --ready " + ready + " -- work", `.*\n# 3\. wait until launches are steady: at least 5s under load [^\n]*; requests come from elsewhere, without --load\n# 4\. record .*`},
		{1, "capture --serving --ready " + other.URL + " -- work", `.*\n# refused on this machine: http://\S+ answers before the engine is started: .*\n# 1\. start the engine .*`},
		{0, "capture --attach decode --run a --window 5s --ready " + ready + " --load bench", `# missing here: no process of prof launch is running in\s.*?--home

# prof-1 of 1: under prof's own tracer
# 1\. attach to decode and its children
# 2\. wait until ` + ready + ` answers [^\n]*
# 3\. start the load, in \S+
sh -c bench
# 4\. wait until launches are steady: [^\n]*
# 5\. record 5s \(--window\) in every process that uses a GPU
# 6\. wait until the load ends by itself [^\n]*
# 7\. turn the tracer off; the program goes on
# 8\. store it as the run a in [^\n]*
`},
		{0, "launch --name llama -- work --api-key sesame", `# llama: started with prof's own tracer loaded and off, in all its processes
# added to the workload's environment:
#   CUDA_INJECTION64_PATH=/lib/tracer.so
(#   [^\n]*\n)*work --api-key '\*\*\*'
# then, from another terminal and as often as wanted: prof --home \S+ capture --attach llama --window 20s
`},
		{0, "launch -- vllm serve M", `# missing here: vllm is not on the PATH\n\n# vllm: started .*`},
		{0, "launch -- python3 nosuch.py", `# there is no nosuch\.py in \S+ here\n\n# nosuch: started .*`},
	} {
		args := b.words(c.args)
		got := b.prof(append([]string{args[0], "--dry-run"}, args[1:]...)...)
		if got.code != c.code || !whole(c.want).MatchString(got.out) {
			t.Errorf("%s: exit %d, stdout:\n%s\nstderr:\n%s\nwant\n%s", c.args, got.code, got.out, got.err, c.want)
		}
	}
	b.machine.Build = nil
	for _, c := range [][2]string{
		{"capture --serving --ready " + ready + " -- work", `.*\n# missing here: no headers of CUPTI, and nothing else records a serving engine\n.*`},
		{"capture --attach", `# missing here: no process [^\n]*\n# missing here: no headers of CUPTI, without which prof launch starts nothing\n\n.*`},
		{"launch -- work", `# missing here: prof's own tracer cannot be built: no headers of CUPTI\n\n.*# tracer~\.so stands for the tracer, which cannot be built here\nwork\n.*`},
	} {
		args := b.words(c[0])
		if got := b.prof(append([]string{args[0], "--dry-run"}, args[1:]...)...); got.code != 0 || !whole(c[1]).MatchString(got.out) {
			t.Errorf("%s without the tracer: exit %d, stdout:\n%s\nstderr:\n%s", c[0], got.code, got.out, got.err)
		}
	}
	if made := listing(t, b.dir); len(made) > 0 {
		t.Errorf("a dry run made %q", made)
	}
}
