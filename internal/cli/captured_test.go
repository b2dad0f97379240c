package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"prof/ingest"
	"prof/internal/testkit"
)

// captured puts the folder of a captured run, with a timeline of its first pass under nsys, into the place.
func captured(t *testing.T, p *place) {
	t.Helper()
	if err := writeCaptured(p.path("run")); err != nil {
		t.Fatal(err)
	}
}

func writeCaptured(dir string) error {
	if err := os.CopyFS(dir, os.DirFS(testkit.Path("capture/repeats"))); err != nil {
		return err
	}
	timeline, err := os.ReadFile(testkit.Path("nsys/" + kernels))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "nsys/report-1.sqlite.gz"), timeline, 0o644)
}

// capturedRuns are a run without stages, and that of captured.
var capturedRuns = []testkit.Run{{Name: "w", Files: []string{"torch/cpu.trace.json.gz"}}, {Name: "repeats", Options: ingest.Options{Tags: [][2]string{{"k", "v"}}}, TrueSums: true,
	Key: "captured", Sources: []string{"testdata/capture/repeats", "testdata/nsys/kernels"}, Make: func(dir string) ([]string, error) {
		dir = filepath.Join(dir, "run")
		return []string{dir}, writeCaptured(dir)
	}}}

// TestShowCapture holds what show and report say of a run that prof capture made.
func TestShowCapture(t *testing.T) {
	t.Parallel()
	p := reading(t, capturedRuns)
	shown := p.ok("show", "--facts")
	flat := unwrapped(shown)
	for _, line := range []string{
		`capture +mode deep, partial, git 0123456789ab \(main\) with uncommitted changes`,
		`passes +baseline 3 ok, nsys 2 ok, ncu 1 failed: ncu may not read the GPU's counters \(ERR_NVGPUCTRPERM\)`,
		`overhead +the whole process: alone 1\.00 s, recorded by Nsight Systems 1\.32 s: \+32 % \(2 recordings each, noise 11 %\)`,
		`note +Nsight Systems \(deep\) made the workload 32 % slower: .*--mode light`,
		`note +GPU 0 was throttled \(sw_power_cap\) in 12 % of its busy samples: .*prof query throttling`,
		`command +python3 run\.py --tokens 32`,
		`captured +2025-11-21 09:40:00 UTC on box`,
		`tags +k=v`,
	} {
		if !regexp.MustCompile(`(?m)^` + line).MatchString(flat) {
			t.Errorf("show has no line %s:\n%s", line, shown)
		}
	}
	p.ok("report", "--out", "out")
	report := string(read(t, p.path("out/report.md")))
	for _, section := range []string{"<summary>Capture</summary>", "<summary>Overhead of profiling</summary>", "<summary>Use of devices</summary>", "<summary>Throttling</summary>", "nothing of recording nsys-2 could be read"} {
		if !strings.Contains(report, section) {
			t.Errorf("the report lacks %q", section)
		}
	}
	// Other runs have no such lines; TestReportFiles holds that they have no such sections.
	p = reading(t, various)
	if shown := p.ok("show", "--facts", "nccl"); strings.Contains(shown, "\npasses") || strings.Contains(shown, "\ncapture ") || strings.Contains(shown, "overhead") {
		t.Errorf("show of another run:\n%s", shown)
	}
}
