package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"prof/ingest"
	"prof/internal/golden"
	"prof/schema/rundir"
)

var sessionID = regexp.MustCompile(`PROFILING_SESSION_UUID[0-9a-f-]{36}`)

// repeated is the same capture as of another session: what a second run of the workload would leave.
func repeated(t *testing.T, data []byte) []byte {
	t.Helper()
	id := sessionID.Find(data)
	if id == nil {
		t.Fatal("the capture has no id")
	}
	id = id[len("PROFILING_SESSION_UUID"):]
	return bytes.ReplaceAll(data, id, []byte("00000000-1111-2222-3333-444444444444"))
}

// captured makes the folder of a captured run: the one in testdata with a timeline of each of its repeats.
func (b *bench) captured(name string) string {
	b.t.Helper()
	dir := b.path(name)
	if err := os.CopyFS(dir, os.DirFS("../testdata/capture/repeats")); err != nil {
		b.t.Fatal(err)
	}
	data := golden.Unpacked(b.t, kernels)
	b.file(name+"/nsys/report-1.sqlite", string(data))
	b.file(name+"/nsys/report-1.nsys-rep", "a report")
	b.file(name+"/nsys/report-2.sqlite", string(repeated(b.t, data)))
	b.file(name+"/nsys/workload.json", passes(5))
	return dir
}

const (
	ncuFailed  = "recording ncu-1: failed: ncu may not read the GPU's counters (ERR_NVGPUCTRPERM)"
	sourceRows = `SELECT s.source_id, s.kind, s.form, s.status, s.reason FROM source s JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY 1`
	links      = `SELECT p.name, s.kind, s.source_id FROM capture_source c JOIN capture_pass p USING (run_id, pass_id) JOIN source s ON s.run_id = c.run_id AND s.source_id = c.captured_source_id
		JOIN run r ON r.run_id = c.run_id WHERE r.name = '%s' ORDER BY 1, 2, 3`
)

// TestCapture holds what a captured folder becomes: a run of its name, whose passes are tied to what they captured.
func TestCapture(t *testing.T) {
	b := newBench(t)
	dir := b.captured("moved/here")
	r := b.ok(ingest.Options{}, dir)
	if r.Run.Name != "repeats" || len(r.Skipped) != 0 || len(r.Sources) != 4 {
		t.Errorf("%+v", r)
	}
	b.warned()
	b.of("repeats", sourceRows, "1 nsys sqlite ok ~|2 nsys sqlite ok ~|3 workload workload ok ~|4 capture prof-run partial "+ncuFailed)
	b.of("repeats", links, "nsys-1 nsys 1|nsys-2 nsys 2")
	b.of("repeats", `SELECT p.prefill_count FROM workload_pass p JOIN run r USING (run_id) WHERE r.name = '%s'`, "5")
	b.of("repeats", `SELECT command, host, started_at::VARCHAR FROM run WHERE name = '%s'`, "python3 run.py --tokens 32 box 2025-11-21 09:40:00")
	b.of("repeats", `SELECT c.mode, c.command, c.git_commit[:4], c.git_branch, c.is_git_dirty, c.duration_ns, c.status FROM capture c JOIN run r USING (run_id) WHERE r.name = '%s'`,
		"deep python3 run.py --tokens 32 0123 main true 14000000000 partial")
	b.of("repeats", `SELECT p.pass_id, p.name, p.tool, p.mode, p.repeat_id, p.status, p.workload_ns, p.exit_code, p.artifact_bytes, p.clock_control FROM capture_pass p JOIN run r USING (run_id) WHERE r.name = '%s' AND p.pass_id > 2 ORDER BY 1`,
		"3 baseline-3 none baseline 3 ok 980000000 0 ~ ~|4 nsys-1 nsys deep 1 ok 1300000000 0 2000000 ~|5 nsys-2 nsys deep 2 ok 1340000000 0 2000000 ~|6 ncu-1 ncu kernels 1 failed 400000000 1 ~ none")
	b.of("repeats", `SELECT i.path, i.size_bytes, i.sha256[:3] FROM capture_input i JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY 1`, "gone.txt ~ ~|prompt.txt 12 aaa")
	b.of("repeats", `SELECT d.device_id, d.name, d.power_limit_w, d.is_ecc, d.other_process_count FROM capture_device d JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY 1`, "0 NVIDIA H200 700 true 0|1 NVIDIA H200 ~ ~ 2")
	b.of("repeats", `SELECT s.pass_id, count(*), min(s.time_ns), max(s.time_ns), max(s.power_w), bit_or(s.throttle_mask), max(s.other_process_count), count(s.sm_clock_hz) FROM device_sample s JOIN run r USING (run_id) WHERE r.name = '%s' GROUP BY 1 ORDER BY 1`,
		"4 26 -100000000 1100000000 650.5 5 2 13|5 26 -100000000 1100000000 650.5 1 2 13")
	b.of("repeats", `SELECT f.key, f.value FROM source_fact f JOIN run r USING (run_id) WHERE r.name = '%s' AND f.key LIKE 'env.%%' ORDER BY 1`,
		"env.cpu.model a CPU|env.cpu.usable 8|env.devices.0.device 0|env.devices.0.uuid GPU-e835296f-5e8e-aa0b-5f6c-4bf5e7a2ea39|env.driver_version 580.159|env.host box|"+
			"env.python.packages torch 2.11.0, transformers 5.17.0|env.python.version 3.12.3|env.variables.CUDA_VISIBLE_DEVICES 0")
	b.of("repeats", `SELECT d.origin, d.message FROM diagnostic d JOIN run r USING (run_id) JOIN source s USING (run_id, source_id) WHERE r.name = '%s' AND s.kind = 'capture' ORDER BY 2`,
		"capture gone.txt: there is no such file|capture the second GPU is used by others")
	b.whole()
	// The same again, wherever it lies, is nothing new.
	before := b.state()
	if err := os.Rename(dir, b.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	if r = b.ok(ingest.Options{}, b.path("elsewhere")); r.Made || len(r.Repeated) != 2 || b.state() != before {
		t.Errorf("again: %+v", r)
	}
	b.warned()
	// A run.json that came to say more is not passed over in silence.
	m, err := rundir.ReadManifest(b.path("elsewhere/run.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.Mode = rundir.ToolNsys
	if err := m.Write(b.path("elsewhere")); err != nil {
		t.Fatal(err)
	}
	b.ok(ingest.Options{}, b.path("elsewhere"))
	b.warned("elsewhere/run.json was not stored, because its captures are already in run repeats; to store that run again from its folder: prof ingest --replace --run repeats elsewhere")
}

// TestCaptureByPaths: files given one by one, by other paths of them, packed, and with the run.json later.
func TestCaptureByPaths(t *testing.T) {
	b := newBench(t)
	dir := b.captured("run")
	b.file("run/nsys/report-2.sqlite.gz", string(repeated(t, golden.Unpacked(t, kernels))))
	t.Chdir(filepath.Dir(dir))
	if err := os.Remove("run/nsys/report-2.sqlite"); err != nil {
		t.Fatal(err)
	}
	b.ok(ingest.Options{Name: "x"}, "run/nsys/report-1.sqlite", b.path("run/nsys/report-2.sqlite.gz"), "./run/../run/run.json")
	b.of("x", links, "nsys-1 nsys 1|nsys-2 nsys 2")
	b.remove("x")
	b.ok(ingest.Options{Name: "x"}, "run/nsys/report-1.sqlite")
	r := b.ok(ingest.Options{Name: "x"}, "run/run.json")
	if !r.Attached {
		t.Errorf("%+v", r)
	}
	b.of("x", links, "nsys-1 nsys 1")
	b.of("x", `SELECT command, host FROM run WHERE name = '%s'`, "python3 run.py --tokens 32 box")
	b.of("x", `SELECT count(*) FROM capture JOIN run r USING (run_id) WHERE r.name = '%s'`, "1")
	// Another one in its place leaves nothing of it.
	m, err := rundir.ReadManifest("run/run.json")
	if err != nil {
		t.Fatal(err)
	}
	m.Passes, m.Inputs, m.Devices = m.Passes[3:4], nil, nil
	if err := m.Write("run"); err != nil {
		t.Fatal(err)
	}
	b.ok(ingest.Options{Name: "x"}, "run/run.json")
	b.of("x", `SELECT (SELECT count(*) FROM capture), (SELECT count(*) FROM capture_pass), (SELECT count(*) FROM capture_input), (SELECT count(*) FROM capture_device),
		(SELECT count(DISTINCT source_id) FROM device_sample), (SELECT count(DISTINCT source_id) FROM source_fact WHERE key LIKE 'env.%%') FROM run WHERE name = '%s'`, "1 1 0 0 1 1")
	b.of("x", links, "nsys-1 nsys 1")
	b.whole()
}

// TestCaptureAlone: a run without anything captured is one too.
func TestCaptureAlone(t *testing.T) {
	b := newBench(t)
	dir := b.captured("run")
	if err := os.RemoveAll(filepath.Join(dir, "nsys")); err != nil {
		t.Fatal(err)
	}
	m, err := rundir.ReadManifest(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	m.Passes, m.Status = m.Passes[:3], rundir.StatusOK
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
	r := b.ok(ingest.Options{Name: "cpu"}, dir)
	if !r.Made || r.Run.Name != "cpu" {
		t.Errorf("%+v", r)
	}
	b.warned()
	b.of("cpu", sourceRows, "1 workload workload ok ~|2 capture prof-run ok ~") // what ncu's pass said is all there is
	if r = b.ok(ingest.Options{}, dir); r.Made || len(r.Repeated) != 2 {
		t.Errorf("again: %+v", r)
	}
}

// TestKilledCapture: what a capture that was killed leaves is taken up, and says what is missing.
func TestKilledCapture(t *testing.T) {
	whole := golden.Unpacked(t, kernels)
	for name, c := range map[string]struct {
		spoil func(b *bench)
		want  string // status and reason of run.json
		links string
		warns []string
	}{
		"empty export and report": {func(b *bench) {
			b.file("run/nsys/report-2.sqlite", "")
			b.file("run/nsys/report-3.qdstrm", "raw")
		}, ncuFailed + ", nsys/report-2.sqlite: it is empty, nsys/report-3.qdstrm: nsys was stopped before it wrote a report; where nsys is installed, its QdstrmImporter converts the file, " +
			"nothing of recording nsys-2 could be read (nsys/report-2.nsys-rep, nsys/report-2.sqlite)", "nsys-1 nsys 1",
			[]string{"run/nsys/report-2.sqlite: it is empty; skipped", "run/nsys/report-3.qdstrm: nsys was stopped before it wrote a report; where nsys is installed, its QdstrmImporter converts the file; skipped"}},
		"cut export": {func(b *bench) { b.file("run/nsys/report-2.sqlite", string(whole[:len(whole)/2])) }, "nsys/report-2.sqlite", "nsys-1 nsys 1", []string{"run/nsys/report-2.sqlite"}},
		"damaged pages": {func(b *bench) {
			data := bytes.Clone(repeated(t, whole))
			for i := len(data) / 3; i < len(data); i++ {
				data[i] = 0xEE
			}
			b.file("run/nsys/report-2.sqlite", string(data))
		}, "nsys/report-2.sqlite", "nsys-1 nsys 1", []string{"run/nsys/report-2.sqlite"}},
		"no export, no nsys": {func(b *bench) {
			if err := os.Remove(b.path("run/nsys/report-2.sqlite")); err != nil {
				t.Fatal(err)
			}
			b.file("run/nsys/report-2.nsys-rep", "a report")
		}, "nsys/report-2.nsys-rep: only nsys can read its reports", "nsys-1 nsys 1", []string{"run/nsys/report-2.nsys-rep"}},
		"facts and samples": {func(b *bench) {
			b.file("run/nsys/workload.json", `{"runs": [{"prefill_len": 5, "new`)
			b.file("run/env.json", "{")
			b.file("run/nsys/report-1.samples.csv", strings.Join(rundir.SampleColumns, ",")+"\n1763718006000000000,0,,,,,,,,,\n1763718006100000000,0,0.")
			b.file("run/nsys/report-2.samples.csv", strings.Join(rundir.SampleColumns, ",")+"\n1763718006000000000,0,half,,,,,,,,\n")
		}, "env.json: it is not a JSON object", "nsys-1 nsys 1|nsys-2 nsys 2", []string{"run/run.json: env.json: it is not a JSON object: unexpected EOF; it is not stored",
			"run/run.json: nsys/report-1.samples.csv: the last line is cut off and not stored",
			"run/run.json: nsys/report-2.samples.csv: line 2: sm_ratio is \"half\", want a number from 0 to 1, or nothing; the samples of recording nsys-2 are not stored"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PATH", "")
			b := newBench(t)
			dir := b.captured("run")
			c.spoil(b)
			b.ok(ingest.Options{}, dir)
			got := b.rows(`SELECT status, reason FROM source WHERE form = 'prof-run'`)
			if !strings.HasPrefix(got, "partial ") || !strings.Contains(got, c.want) {
				t.Errorf("run.json is %s, want %s", got, c.want)
			}
			b.of("repeats", links, c.links)
			for _, w := range c.warns {
				if !strings.Contains(strings.Join(b.warnings, "\n"), w) {
					t.Errorf("no warning %q among %q", w, b.warnings)
				}
			}
			b.expect(`SELECT count(*) FROM kernel`, fmt.Sprint(16*strings.Count(c.links, "nsys-")))
			b.whole()
			if r := b.ok(ingest.Options{}, dir); r.Made {
				t.Errorf("again: %+v", r)
			}
		})
	}
}

// TestReportOfBrokenExport: where an export is broken and nsys is there, its report is read.
func TestReportOfBrokenExport(t *testing.T) {
	b := newBench(t)
	dir := b.captured("run")
	whole := golden.Unpacked(t, kernels)
	good := b.file("good.sqlite", string(whole))
	b.file("run/nsys/report-1.sqlite", string(whole[:len(whole)/2]))
	nsys := b.file("bin/nsys", "#!/bin/sh\nfor a; do [ \"$last\" = --output ] && out=$a; last=$a; done\n/bin/cp "+good+" \"$out\"\n")
	if err := os.Chmod(nsys, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", b.path("bin"))
	b.ok(ingest.Options{}, dir)
	b.of("repeats", links, "nsys-1 nsys 2|nsys-2 nsys 1")
	b.of("repeats", `SELECT s.form FROM source s JOIN run r USING (run_id) WHERE r.name = '%s' AND s.kind = 'nsys' ORDER BY s.source_id`, "sqlite|nsys-rep")
	b.expect(`SELECT count(*) FROM kernel`, "32")
	b.expect(`SELECT reason FROM source WHERE form = 'prof-run'`, ncuFailed)
	if len(b.warnings) != 1 || !strings.HasPrefix(b.warnings[0], "run/nsys/report-1.sqlite: ") {
		t.Errorf("warnings %q", b.warnings)
	}
}

// TestBrokenElsewhere: outside a captured folder a broken file fails all of it, as before; and so does a run.json that is none.
func TestBrokenElsewhere(t *testing.T) {
	b := newBench(t)
	dir := b.captured("run")
	whole := golden.Unpacked(t, kernels)
	b.file("plain/a.sqlite", string(whole[:len(whole)/2]))
	if _, err := b.try(ingest.Options{Name: "x"}, b.path("plain")); err == nil {
		t.Error("a broken export in a plain folder was passed over")
	}
	if err := os.CopyFS(b.path("other"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.try(ingest.Options{Name: "x"}, dir, b.path("other")); !errors.Is(err, ingest.ErrSeveral) {
		t.Errorf("two captures as one run: %v", err)
	}
	for text, is := range map[string]string{
		`{"version": 2, "prof_version": "9", "run": "x", "started_at": "2025-01-02T03:04:05Z", "passes": []}`:                                                                               "update prof",
		`{"version": 1, "prof_version": "9", "run": "x", "passes": []}`:                                                                                                                     "no version, run or started_at",
		`{"version": 1, "prof_version": "9", "run": "x", "started_at": "2025-01-02T03:04:05Z", "passes": [{"pass": 1, "name": "a", "tool": "nsys", "status": "ok", "samples": "../../x"}]}`: "not inside its folder",
		`{"version": 1, "prof_version": "9", "run": "x", "started_at": "2025-01-02T03:04:05Z", "passes": [{"pass": 0, "name": "a", "tool": "nsys", "status": "ok"}]}`:                       "passes[0].pass is 0",
		`{"prof_version": "9", "passes": [`: "unexpected end",
	} {
		b.file("run/run.json", text)
		if _, err := b.try(ingest.Options{Name: "x"}, dir); !errors.Is(err, rundir.ErrManifest) && is != "update prof" || err == nil || !strings.Contains(err.Error(), is) {
			t.Errorf("%s: %v", text, err)
		}
	}
	b.expect(`SELECT count(*) FROM run`, "0")
}

// TestReplace: a run made anew keeps its id, its age and its tags, and nothing else.
func TestReplace(t *testing.T) {
	b := newBench(t)
	dir := b.captured("run")
	b.ok(ingest.Options{Name: "other", Tags: [][2]string{{"keep", "me"}}}, graphs)
	first := b.ok(ingest.Options{Name: "x", Replace: true, Tags: [][2]string{{"a", "1"}, {"b", "2"}}, Models: []string{b.file("config.json", llamaConfig(2))}}, dir+"/nsys/report-1.sqlite")
	other := b.rows(`SELECT (SELECT count(*) FROM kernel k WHERE k.run_id = r.run_id), (SELECT count(*) FROM run_tag t WHERE t.run_id = r.run_id) FROM run r WHERE name = 'other'`)
	if _, err := b.w.DB.Exec(`UPDATE run SET created_at = '2024-01-01 00:00:00' WHERE name = 'x'`); err != nil {
		t.Fatal(err)
	}
	for range 2 { // in one process, as prof capture does
		r := b.ok(ingest.Options{Name: "x", Replace: true, Tags: [][2]string{{"b", "3"}, {"c", "4"}}}, dir)
		if !r.Made || r.Attached || r.Run.ID != first.Run.ID || len(r.Repeated) != 0 {
			t.Errorf("%+v", r)
		}
		b.of("x", `SELECT created_at::VARCHAR, command FROM run WHERE name = '%s'`, "2024-01-01 00:00:00 python3 run.py --tokens 32")
		b.of("x", `SELECT t.key, t.value FROM run_tag t JOIN run r USING (run_id) WHERE r.name = '%s' ORDER BY 1`, "a 1|b 3|c 4")
		b.of("x", `SELECT (SELECT count(*) FROM model m WHERE m.run_id = r.run_id), (SELECT count(*) FROM kernel k WHERE k.run_id = r.run_id), (SELECT count(*) FROM source s WHERE s.run_id = r.run_id) FROM run r WHERE name = '%s'`, "0 32 4")
		b.of("x", links, "nsys-1 nsys 1|nsys-2 nsys 2")
		b.whole()
	}
	// An error leaves the old one.
	before := b.state()
	if _, err := b.try(ingest.Options{Name: "x", Replace: true}, graphs); !errors.Is(err, ingest.ErrHeld) || b.state() != before {
		t.Errorf("in its place what another run holds: %v", err)
	}
	if _, err := b.try(ingest.Options{Name: "x", Replace: true}, b.file("bad.sqlite", "SQLite format 3\x00")); err == nil || b.state() != before {
		t.Errorf("in its place a broken file: %v", err)
	}
	// Without a name it is the one that run.json says.
	if r := b.ok(ingest.Options{Replace: true}, b.file("m/config.json", llamaConfig(3))); !r.Made || r.Run.Name == "x" {
		t.Errorf("%+v", r)
	}
	b.remove("x")
	for range 2 {
		if r := b.ok(ingest.Options{Replace: true}, dir); !r.Made || r.Run.Name != "repeats" {
			t.Errorf("%+v", r)
		}
	}
	b.expect(`SELECT count(*) FROM run WHERE name LIKE 'repeats%'`, "1")
	if got := b.rows(`SELECT (SELECT count(*) FROM kernel k WHERE k.run_id = r.run_id), (SELECT count(*) FROM run_tag t WHERE t.run_id = r.run_id) FROM run r WHERE name = 'other'`); got != other {
		t.Errorf("the other run became %s of %s", got, other)
	}
}

// TestZstd: a file packed with zstd is the same content as the plain one, and one that was cut says so.
func TestZstd(t *testing.T) {
	b := newBench(t)
	pack := func(name string, data []byte) string {
		var packed bytes.Buffer
		z, err := zstd.NewWriter(&packed)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.file(name, packed.String())
	}
	timeline, trace := golden.Unpacked(t, kernels), golden.Unpacked(t, cpuTrace)
	r := b.ok(ingest.Options{Name: "x"}, pack("a.sqlite.zst", timeline), pack("t/b.trace.json.zst", trace), pack("a.workload.json.zst", []byte(passes(9))), pack("config.json.zst", []byte(llamaConfig(2))))
	if len(r.Sources) != 4 {
		t.Errorf("%+v", r)
	}
	b.of("x", `SELECT (SELECT count(*) FROM kernel), (SELECT count(*) > 0 FROM op), (SELECT max(prefill_count) FROM workload_pass), (SELECT count(*) FROM model) FROM run WHERE name = '%s'`, "16 true 9 1")
	for _, same := range []string{kernels, cpuTrace} {
		if r := b.ok(ingest.Options{}, same); r.Made || len(r.Repeated) != 1 {
			t.Errorf("%s: %+v", same, r)
		}
	}
	b.remove("x")
	packed, err := os.ReadFile(b.path("a.sqlite.zst"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{8, len(packed) / 2, len(packed) - 1} {
		_, err := b.try(ingest.Options{Name: "y"}, b.file("cut.sqlite.zst", string(packed[:n])))
		if err == nil || !strings.Contains(err.Error(), "zstd file is cut short") {
			t.Errorf("cut at %d of %d: %v", n, len(packed), err)
		}
	}
	b.expect(`SELECT count(*) FROM run`, "0")
}
