package cli

import (
	"context"
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
	b.wantLike(2, "", ".*write the command after --.*", "launch", "work")
	b.wantLike(1, "", ".*no process of prof launch is running: start it with prof launch -- CMD\n", "capture", "--attach")
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
	b.wantLike(0, "# a window of 3s in llama, process "+strconv.Itoa(pid)+", and its children: work --tp 8\n", "", "capture", "--attach", "--duration", "3s", "--dry-run")
	for _, run := range []string{"one", "two"} {
		if r := b.prof("capture", "--attach", "llama", "--window", "3s", "--run", run); r.code != 0 || !strings.Contains(r.err, "recording for 3s\n") || strings.Contains(r.err, "steady") {
			t.Fatalf("%s: exit %d\n%s", run, r.code, r.err)
		}
		b.wantPasses(run, "prof-1,ok,-,\n")
		manifest, err := rundir.ReadManifest(filepath.Join(b.path(".prof"), "runs", run, rundir.ManifestName))
		if err != nil || manifest.Passes[0].Serving == nil || manifest.Passes[0].Serving.WindowNs < 2e9 {
			t.Errorf("%s: %+v %v", run, manifest, err)
		}
	}
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
