package diff

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prof/internal/golden"
	some "prof/internal/sample"
	"prof/testdata"
)

// rateWorkloads are made of what processes of one code were seen to differ by on an H200: GPU work by 0.2 %, idle time by a fourth (standard
// deviations; testdata/capture/llama). Passes of a process differ by 1 %.
var rateWorkloads = []struct {
	name string
	gap  float64 // ns before each kernel of 9 us
}{{"launch-bound: the GPU works 20 % of the time", 36_000}, {"GPU-bound: it works 98 % of the time", 180}}

const (
	workVaries, idleVaries = 0.002, 0.25
	rateTries              = 300
)

// process makes one process of a workload whose kernels and gaps take so many times as long.
func process(name string, r *rand.Rand, gap, times float64) runData {
	work, idle := times*math.Exp(workVaries*r.NormFloat64()), times*math.Exp(idleVaries*r.NormFloat64())
	return made(name, r.Uint64(), madeStage{name: "decode", passes: 5, decode: 16, gap: gap * idle, passNoise: 0.01, kernels: []kernel{
		{"gemm", "gemm", "64 x 1 x 1", 12, 9000 * work}, {"attention", "attention", "32 x 8 x 1", 4, 9000 * work}}})
}

// TestErrorRates measures how often diff says what of a change that is known, by processes a side, and that docs/verdicts.md says the same.
func TestErrorRates(t *testing.T) {
	t.Parallel()
	const head = "| workload | change | processes a side | better | worse | no change | cannot tell | its GPU work: worse | no change |\n|---|---|---|---|---|---|---|---|---|\n"
	type row struct {
		workload  int
		times     float64
		processes int
	}
	var rows []row
	for w := range rateWorkloads {
		for _, times := range []float64{1, 1.02, 1.05, 1.2} {
			for _, processes := range []int{1, 3, 5} {
				rows = append(rows, row{w, times, processes})
			}
		}
	}
	tried := some.Of(rows, 5)
	if *golden.Update {
		tried = rows
	}
	var lines []string
	for _, c := range tried {
		workload := rateWorkloads[c.workload]
		said, work := map[Verdict]int{}, map[Verdict]int{}
		for try := range rateTries {
			r := rand.New(rand.NewPCG(uint64(c.workload), uint64(1000*c.processes+try)))
			var a, b []runData
			for i := range c.processes {
				a, b = append(a, process(fmt.Sprint("a", i), r, workload.gap, 1)), append(b, process(fmt.Sprint("b", i), r, workload.gap, c.times))
			}
			st := stageOf(t, compared(t, a, b, bare), "decode")
			said[st.Verdict]++
			for _, m := range st.More {
				if m.Name == "gpu_busy_ns" {
					work[m.Verdict]++
				}
			}
		}
		const most = 8 // 1 %, and three standard deviations
		if c.times == 1 && said[Better]+said[Worse] > most || c.times > 1 && said[Better] > most || c.times > 1.05 && said[NoChange] > most {
			t.Errorf("%s, %+.0f %%, %d processes: %v", workload.name, 100*(c.times-1), c.processes, said)
		}
		share := func(n int) string { return fmt.Sprintf("%.0f %%", 100*float64(n)/rateTries) }
		name := "none (A/A)"
		if c.times != 1 {
			name = fmt.Sprintf("%+.0f %%", 100*(c.times-1))
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %s | %s | %s |\n", workload.name, name, c.processes,
			share(said[Better]), share(said[Worse]), share(said[NoChange]), share(said[CannotTell]), share(work[Worse]), share(work[NoChange])))
	}
	checkTable(t, "error rates", head, lines, len(tried) == len(rows))
}

// checkTable holds that docs/verdicts.md has a table between its marks, or some of its rows, or writes it.
func checkTable(t *testing.T, name, head string, rows []string, isWhole bool) {
	t.Helper()
	table := head + strings.Join(rows, "")
	path := filepath.Join("..", "..", "..", "docs", "verdicts.md")
	old, changed, err := testdata.Marked(path, name, table)
	switch {
	case err != nil:
		t.Fatal(err)
	case *golden.Update:
		if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
	case !isWhole:
		for _, row := range rows {
			if !strings.Contains(old, row) {
				t.Errorf("docs/verdicts.md says otherwise than\n%s", row)
			}
		}
	case old != table:
		t.Errorf("docs/verdicts.md says otherwise; -update writes:\n%s", table)
	}
}
