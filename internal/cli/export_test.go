package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/workload"
	"prof/internal/golden"
	"prof/internal/testkit"
	"prof/render/perfettotest"
)

// TestExport writes a run's stacks in each form, to a file and to standard output.
func TestExport(t *testing.T) {
	t.Parallel()
	p := reading(t, filled)
	total := strings.Fields(p.ok("sql", "--format", "csv", "SELECT sum(duration_ns) AS n FROM kernel"))[1]
	var sum int64
	for line := range strings.Lines(p.ok("export", "--to", "folded", "--warmup")) {
		stack, ns, found := strings.Cut(strings.TrimSpace(line[strings.LastIndexByte(line, ' '):]), " ")
		if found {
			t.Errorf("a line has more than one number at its end: %q", ns)
		}
		n, err := strconv.ParseInt(stack, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if strconv.FormatInt(sum, 10) != total {
		t.Errorf("stacks add up to %d ns, kernels to %s", sum, total)
	}
	file := p.path("a.pb.gz")
	p.ok("export", "--out", file)
	text, err := os.ReadFile(file)
	if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		t.Errorf("%d bytes of a profile: %v", len(text), err)
	}
	if got := p.run("export"); got.code != 0 || got.out != string(text) {
		t.Errorf("to standard output: code %d, %d bytes of %d", got.code, len(got.out), len(text))
	}
	for want, args := range map[string][]string{
		"--to sqlite is no more: use --to parquet":                          {"export", "--to", "sqlite"},
		`unknown format "prof": did you mean pprof?`:                        {"export", "--to", "prof"},
		`the run has no stage "decoding"`:                                   {"export", "--stage", "decoding"},
		"prof: nothing has --device 7; the run has the GPUs 0\n":            {"export", "--device", "7"},
		"prof: nothing has --source torch; the run has the captures nsys\n": {"export", "--source", "torch", "--stage", "decode"},
	} {
		if got := p.run(args...); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("%q: code %d, %s", args, got.code, got.err)
		}
	}
}

// withStacks are a run without stacks, and one with them.
var withStacks = []testkit.Run{filled[0], {Name: "llama", Files: []string{"torch/llama-stack.trace.json.gz"}}}

// TestPprofTop holds what go tool pprof prints of a trace with modules and FLOP, and that it subtracts a profile without FLOP.
func TestPprofTop(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed")
	}
	p := reading(t, withStacks)
	file, base := p.path("llama.pb.gz"), p.path("a.pb.gz")
	if got := p.run("export", "llama", "--warmup", "--out", file); got.code != 0 || !strings.Contains(got.err, "note: FLOP known for 69.7 % of the GPU time: PyTorch's formulas") || !strings.Contains(got.err, "note: no bytes of kernels are known\n") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
	if got := p.run("export", "a", "--out", base); got.code != 0 || !strings.Contains(got.err, "note: no FLOP and bytes of kernels are known") {
		t.Errorf("code %d, %s", got.code, got.err)
	}
	var all bytes.Buffer
	for _, args := range [][]string{{"-top", "-nodecount=8", file}, {"-top", "-nodecount=8", "-sample_index=flop", "-tagfocus=stage=decode", file}, {"-peek=Linear_14", file}, {"-top", "-nodecount=4", "-diff_base=" + base, file}} {
		c := exec.Command("go", append([]string{"tool", "pprof"}, args...)...)
		c.Env = append(os.Environ(), "TZ=UTC", "PPROF_TMPDIR="+t.TempDir())
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		all.Write(regexp.MustCompile(`(?m)^(Time|Duration): .*\n`).ReplaceAll(out, nil))
		all.WriteString("\n")
	}
	golden.Compare(t, filepath.Join("testdata", "pprof.txt"), all.Bytes())
}

// TestImport: a run goes to another home as Parquet, under its name or another.
func TestImport(t *testing.T) {
	t.Parallel()
	from, to := reading(t, filled), newPlace(t)
	dir := from.path("runs")
	if got := from.run("export", "a", "--to", "parquet", "--out", dir); got.code != 0 || !strings.Contains(got.err, "wrote run a, ") {
		t.Fatalf("code %d, %s", got.code, got.err)
	}
	if got := to.run("import", to.path("none")); got.code == 0 || !strings.Contains(got.err, "has no runs") {
		t.Errorf("of nothing: code %d, %s", got.code, got.err)
	}
	if _, err := os.Stat(to.path(".prof")); err == nil {
		t.Error("a home was made for nothing")
	}
	if got := to.run("import", dir, "--run", "@b"); got.code != 2 {
		t.Errorf("under a name that is none: code %d, %s", got.code, got.err)
	}
	if got := to.run("import", dir, "--run", "b"); got.code != 0 || got.err != "imported run b\n" {
		t.Errorf("code %d, %s", got.code, got.err)
	}
	if got := to.run("import", dir); got.code != 0 || got.err != "run b is in the warehouse already\n" {
		t.Errorf("again: code %d, %s", got.code, got.err)
	}
	if got, want := to.ok("query", "top-kernels", "b", "--format", "csv"), from.ok("query", "top-kernels", "a", "--format", "csv"); got != want {
		t.Errorf("top kernels are\n%s\nwant\n%s", got, want)
	}
	answer := from.path("answer.parquet")
	if got := from.run("query", "top-kernels", "a", "--format", "parquet", "--out", answer); got.code != 0 || got.out != "" {
		t.Errorf("an answer: code %d, %s%s", got.code, got.out, got.err)
	}
	if got, want := from.ok("sql", "--format", "csv", "FROM read_parquet('"+answer+"')"), from.ok("query", "top-kernels", "a", "--format", "csv"); got != want {
		t.Errorf("the answer is\n%s\nwant\n%s", got, want)
	}
	for want, args := range map[string][]string{
		"writes a file: name it with --out FILE":                                                            {"query", "top-kernels", "a", "--format", "parquet"},
		"--out needs --format parquet; other forms":                                                         {"query", "top-kernels", "a", "--out", answer},
		"use one of table, md, html, blocks, csv, json, arrow, parquet":                                     {"query", "top-kernels", "a", "--format", "nosuch"},
		"use one of pprof, folded, perfetto, chrome, parquet, openmetrics, otlp-json, sql-spark, sql-trino": {"export", "--to", "nosuch"},
		"is for a lake, and ": {"export", "--to", "sql-spark"},
		"--to sql-trino takes no run: it is for all runs of a lake": {"export", "a", "--to", "sql-trino"},
		"--to sql-spark takes no --stage":                           {"export", "--to", "sql-spark", "--stage", "decode"},
		"name it with --out DIR":                                    {"export", "--to", "parquet"},
		"--to parquet takes no --stage: it writes all of the run":   {"export", "--to", "parquet", "--out", dir, "--stage", "decode"},
		"import takes the file or folder to import; see `pr":        {"import"},
	} {
		if got := from.run(args...); got.code != 2 || !strings.Contains(got.err, want) {
			t.Errorf("%q: code %d, %s", args, got.code, got.err)
		}
	}
}

// TestExportPerfetto writes a trace, of all and of parts, and says what is wrong with what is asked.
func TestExportPerfetto(t *testing.T) {
	t.Parallel()
	warmups := int64(1)
	p := reading(t, []testkit.Run{{Name: "warm", Files: []string{"nsys/" + kernels}, Options: ingest.Options{Pass: workload.Uniform(workload.Pass{}, &warmups)}}, filled[0], {Name: "ncu", Files: []string{"ncu/llama.ncu-rep.gz"}}})
	file := p.path("a.pftrace.gz")
	if got := p.run("export", "a", "--to", "perfetto", "--out", file); got.code != 0 || !strings.Contains(got.err, "wrote "+file+": ") || !strings.Contains(got.err, " of them device work, ") {
		t.Fatalf("code %d, %s", got.code, got.err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := perfettotest.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	count, ns, findings := 0, int64(0), 0
	for _, s := range trace.Slices {
		switch s.Category {
		case "kernel":
			count++
			ns += s.End - s.Start
		case "finding":
			if findings++; !strings.HasPrefix(fmt.Sprint(s.Args["query"]), "prof query ") {
				t.Errorf("finding %s has %v", s.Name, s.Args)
			}
		}
	}
	if got, want := fmt.Sprintf("n,ns\n%d,%d\n", count, ns), p.ok("sql", "--format", "csv", "SELECT count(*) AS n, sum(duration_ns)::BIGINT AS ns FROM kernels WHERE run = 'a'"); got != want || findings == 0 {
		t.Errorf("%s, want %s; %d findings", got, want, findings)
	}
	if got := p.run("export", "a", "--to", "perfetto"); got.code != 0 || got.out != string(text) {
		t.Errorf("to standard output: code %d, %d bytes of %d", got.code, len(got.out), len(text))
	}
	if got := p.run("export", "a", "--to", "perfetto", "--stage", "decode", "--pass", "1", "--window", "..1h", "--out", file); got.code != 0 {
		t.Errorf("a pass: %+v", got)
	}
	if part, err := os.ReadFile(file); err != nil || len(part) == 0 || len(part) >= len(text) {
		t.Errorf("a pass has %d bytes of %d: %v", len(part), len(text), err)
	}
	for want, args := range map[string][]string{
		"--pass needs --stage":                              {"--pass", "1"},
		"--to perfetto takes no --warmup; it takes --stage": {"--warmup"},
		`the run has no stage "decoding"`:                   {"--stage", "decoding"},
		`"soon" is no time`:                                 {"--window", "soon..1s"},
		"give two times, the earlier first":                 {"--window", "2s..1s"},
		`--window "1s": give two times`:                     {"--window", "1s"},
		"nothing has --device 7; the run has the GPUs 0":    {"--device", "7"},
		"nothing has --source torch; the run has the captu": {"--source", "torch", "--stage", "decode"},
		"--source is prof, nsys, rocprof, torch, xla, prot": {"--source", "ncu"},
		"--pass -1: passes are numbered from 1":             {"--stage", "decode", "--pass", "-1"},
		"run a has nothing to export with --window 1h..2h":  {"--window", "1h..2h"},
		"nothing to export with --stage decode --pass 99":   {"--stage", "decode", "--pass", "99"},
		"run ncu has no kernels to export: it has no timel": {"ncu"},
	} {
		got := p.run(append([]string{"export", "--run", "a", "--to", "perfetto", "--out", p.path("none.gz")}, args...)...)
		if args[0] == "ncu" {
			got = p.run("export", "ncu", "--to", "perfetto", "--out", p.path("none.gz"))
		}
		if got.code == 0 || strings.Count(got.err, want) != 1 || strings.Contains(got.err, "none.gz") {
			t.Errorf("%q: code %d, %s", args, got.code, got.err)
		}
	}
	if got := p.run("export", "ncu", "--to", "perfetto"); got.code != 1 || got.out != "" {
		t.Errorf("of no timeline: code %d, %d bytes", got.code, len(got.out))
	}
	if got := p.run("export", "--run", "a", "--to", "perfetto", "--out", p.path("no/dir.gz")); got.code != 1 || !strings.Contains(got.err, "prof: write "+p.path("no/dir.gz")+": ") {
		t.Errorf("into no folder: code %d, %s", got.code, got.err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{{"note: 2 warm-up or cold passes included: 1 of decode, 1 of prefill; see prof query passes\n", nil}, {"note: 1 warm-up or cold pass of decode included", []string{"--stage", "decode", "--pass", "1"}}, {"", []string{"--stage", "decode", "--pass", "2"}}} {
		if got := p.run(append([]string{"export", "warm", "--to", "perfetto", "--out", file}, c.args...)...); got.code != 0 || !strings.Contains(got.err, c.want) || c.want == "" && strings.Contains(got.err, "warm-up") {
			t.Errorf("%q: code %d, %s", c.args, got.code, got.err)
		}
	}
	if got := p.ok("export", "--help"); strings.Contains(got, "(default: 0)") {
		t.Error("the help has defaults that none has")
	}
	if _, err := os.Stat(p.path("none.gz")); err == nil {
		t.Error("a file is left of a trace without events")
	}
	for _, args := range [][]string{{"--pass", "1"}, {"--window", "1s..2s"}} {
		if got := p.run(append([]string{"export"}, args...)...); got.code != 2 || !strings.Contains(got.err, "--to pprof takes no "+args[0]) {
			t.Errorf("%q: code %d, %s", args, got.code, got.err)
		}
	}
}
