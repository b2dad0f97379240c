package cli

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prof/internal/testkit"
)

// TestOpen shows a file without keeping anything: by prof open, which opens a browser where there is a screen, and by prof serve.
func TestOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		env    string
		opened bool
	}{
		"open":       {[]string{"open", "--listen", "127.0.0.1:0"}, "DISPLAY=:0", true},
		"wayland":    {[]string{"open"}, "WAYLAND_DISPLAY=wayland-0", true},
		"no screen":  {[]string{"open"}, "", false},
		"no browser": {[]string{"open", "--no-browser"}, "DISPLAY=:0", false},
		"serve":      {[]string{"serve", "--listen", "127.0.0.1:0"}, "DISPLAY=:0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			bin := t.TempDir()
			if err := os.WriteFile(filepath.Join(bin, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" > "+filepath.Join(bin, "new")+" && mv "+filepath.Join(bin, "new")+" "+filepath.Join(bin, "opened")+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			at, end := beginServing(t, p, append(c.args, exported(t, kernels)), "PATH="+bin+":"+os.Getenv("PATH"), c.env)
			base, run, _ := strings.Cut(at, "/runs/")
			if r := call(t, "GET", at, ""); r.status != 200 {
				t.Errorf("%s: %d", at, r.status)
			}
			if r := call(t, "GET", base+"/api/v1/runs", ""); r.status != 200 || strings.Count(r.body, `"name"`) != 1 || !strings.Contains(r.body, run) || !strings.HasSuffix(run, "kernels") {
				t.Errorf("%s: %d %s", run, r.status, r.body)
			}
			opened := ""
			for late := time.Now().Add(5 * time.Second); c.opened && opened == "" && time.Now().Before(late); time.Sleep(time.Millisecond) {
				text, _ := os.ReadFile(filepath.Join(bin, "opened"))
				opened = strings.TrimSpace(string(text))
			}
			if c.opened && opened != at || exists(filepath.Join(bin, "opened")) != c.opened {
				t.Errorf("the browser opens %q, want %q", opened, at)
			}
			end()
			if left := glob(t, p.dir); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
	p := newPlace(t)
	for args, says := range map[string]string{
		"open":                      "prof: open takes files or folders, or a stored run with --run; prof serve shows the warehouse\n",
		"open x.sqlite --run a":     "prof: open takes files or folders, or a stored run with --run; not both\n",
		"open --run a --cause hots": "prof: no cause of idle time \"hots\"; did you mean host?; the causes are launch-bound, wait, call, host, profiler, queued, unknown\n",
		"open --run a --window 1s..2s --window=2s..3s": "prof: --window is given twice, and open shows one place\n",
		"open --run a --window 2s..":                   "prof: --window 2s..: give both times, as in 1.5s..2s\n",
		"open --run a --window 2s..1s":                 "prof: --window \"2s..1s\": give two times, the earlier first, as in 10ms..12.5ms\n",
		"open nosuch.sqlite":                           "prof: nosuch.sqlite: there is no such file or folder\n",
		"serve --allow-run x.y":                        "prof: --allow-run and --allow-ingest are for a warehouse, which that of files is not: it is removed at the end\n",
	} {
		if got := p.run(strings.Fields(args)...); got.code == 0 || got.err != says {
			t.Errorf("%s: %+v, want %q", args, got, says)
		}
	}
}

// TestOpenRun shows a stored run at the place of its timeline that options name; a run that is not there ends it.
func TestOpenRun(t *testing.T) {
	t.Parallel()
	p := newStored(t, []testkit.Run{{Name: "a run", Files: []string{"nsys/" + nccl}}})
	at, end := beginServing(t, p, p.homed([]string{"open", "--run", "a run", "--stage", "decode", "--device", "1", "--cause", "launch-bound", "--listen", "127.0.0.1:0"}))
	if !strings.HasSuffix(at, "/runs/a%20run/timeline?cause=launch-bound&device=1&stage=decode") {
		t.Errorf("it shows %s", at)
	}
	if r := call(t, "GET", at, ""); r.status != 200 {
		t.Errorf("%s: %d", at, r.status)
	}
	end()
	// Rows of queries have places too; an answer says how to see them.
	rows := []struct{ query, stage, of, place, at string }{
		{"longest-gaps", " --stage decode", ", stage := 'decode'", "start_ns || ',' || duration_ns || '&device=' || device", ""}, {"passes", "", "", "start_ns || ',' || cpu_ns", ""}, {"steps", "", "", "start_ns || ',' || gpu_span_ns || '&device=' || device", ""},
	}
	for i, c := range rows {
		at, end := beginServing(t, p, p.homed(append([]string{"open", "--run", "a run", "--row", c.query + ":2", "--listen", "127.0.0.1:0"}, strings.Fields(c.stage)...)))
		end()
		_, query, _ := strings.Cut(at, "?")
		if rows[i].at, _ = url.QueryUnescape(query); rows[i].at == "" {
			t.Errorf("%s is at %s", c.query, at)
		}
	}
	for _, c := range rows {
		if want := strings.Split(p.sql(fmt.Sprintf("SELECT 'at=' || source_id || ',' || %s AS place FROM %s('a run'%s) LIMIT 1 OFFSET 1", c.place, strings.ReplaceAll(c.query, "-", "_"), c.of)), "\n")[1]; c.at != strings.Trim(want, `"`) {
			t.Errorf("row 2 of %s is at %s, not %s", c.query, c.at, want)
		}
		said, command := strings.Join(strings.Fields(p.ok(append([]string{"query", c.query, "a run"}, strings.Fields(c.stage)...)...)), " "), "prof open --run 'a run'"+c.stage+" --row "+c.query+":1"
		if !strings.Contains(said, command) {
			t.Errorf("%s does not say %q: %s", c.query, command, said)
		}
	}
	for row, want := range map[string]string{"longest-gaps": "write QUERY:N", "longest-gaps:0": "write QUERY:N", "top-kernels:1": "no place on a timeline", "passes:999": "rows", "passed:1": "passes"} {
		if got := p.run("open", "--run", "a run", "--row", row); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("--row %s: %d %s", row, got.code, got.err)
		}
	}
	if got := p.run("open", "--run", "b"); got.code == 0 || !strings.HasPrefix(got.err, `prof: no such run: "b"`) {
		t.Errorf("of a run that is not there: %d, %q", got.code, got.err)
	}
}
