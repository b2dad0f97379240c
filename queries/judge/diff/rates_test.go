package diff

import (
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"prof/internal/golden"
	some "prof/internal/sample"
	"prof/queries/judge/stats"
	"prof/testdata"
)

// noiseProcess is one process of the program in testdata/noise under prof's tracer: span and busy time of each pass, ns.
type noiseProcess struct {
	machine string
	passes  []struct{ span, busy int64 }
}

// noiseProcesses are those of a stage, by the GPU they ran on.
func noiseProcesses(t testing.TB, stage string) [][]noiseProcess {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "..", "testdata", "noise", "processes.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var out [][]noiseProcess
	last := ""
	for _, r := range rows[1:] { // card, machine, tool, process, stage, pass, wall_ns, gpu_span_ns, gpu_busy_ns
		if r[2] != "prof" || r[4] != stage {
			continue
		}
		if len(out) == 0 || out[len(out)-1][0].machine != r[1] {
			out = append(out, nil)
		}
		list := &out[len(out)-1]
		if key := r[1] + r[3]; key != last {
			*list, last = append(*list, noiseProcess{machine: r[1]}), key
		}
		at := &(*list)[len(*list)-1]
		span, e1 := strconv.ParseInt(r[7], 10, 64)
		busy, e2 := strconv.ParseInt(r[8], 10, 64)
		if err := errors.Join(e1, e2); err != nil {
			t.Fatal(err)
		}
		at.passes = append(at.passes, struct{ span, busy int64 }{span, busy})
	}
	return out
}

// noiseStages are what was measured, with what of it a pass launches.
var noiseStages = []struct {
	stage, doc string
	kernels    int64 // 0: graphs, traced as a whole
}{
	{"prefill", "prefill, the GPU works half of the time", 1004},
	{"decode", "eager decode, 15 %", 16080},
	{"graph", "decode by a CUDA graph traced as a whole, 92 %", 0},
}

// run is a process as the warehouse would hold it, its work and its idle time so many times as long.
func (p noiseProcess) run(name string, kernels int64, work, idle float64) runData {
	out := runData{run: Run{ID: name, Name: name}, hashes: []string{name}}
	for i, x := range p.passes {
		busy := int64(float64(x.busy) * work)
		rest := int64(float64(x.span-x.busy) * idle)
		q := pass{stage: "decode", number: int64(i + 1), repeat: 1, source: 1, kernels: &kernels, busy: busy, sum: busy, parts: parts{work: busy}}
		w := work1("kernel", "gemm", max(kernels, 1), busy)
		if kernels == 0 {
			q.kernels, w = nil, work1("graph", "graph replay", 16, busy)
		}
		q.parts.idle[0] = rest
		q.time = new(busy + rest)
		q.span, q.cpu = q.time, q.time
		w.number = q.number
		out.passes, out.work = append(out.passes, q), append(out.work, w)
	}
	return out
}

// work1 is work of one name.
func work1(kind, name string, calls, ns int64) work {
	return work{stage: "decode", repeat: 1, kind: kind, name: name, tally: tally{calls: calls, total: ns, min: ns / calls, max: ns / calls, m2: math.NaN()}}
}

// log is the logarithm of the median pass.
func (p noiseProcess) log() float64 {
	var spans []float64
	for _, x := range p.passes {
		spans = append(spans, float64(x.span))
	}
	return math.Log(stats.Centre(spans))
}

// TestErrorRates measures how often diff says what of a change that is known, by processes a side drawn from those in testdata/noise, and that
// docs/verdicts.md says the same. Beside it stands how often a test would find the change that knows how much these very processes differ.
func TestErrorRates(t *testing.T) {
	t.Parallel()
	const head = "| stage | change | processes a side | better | worse | no change | cannot tell | its GPU work: worse | no change | found by whoever knows the spread |\n|---|---|---|---|---|---|---|---|---|---|\n"
	type row struct {
		stage      int
		name       string
		work, idle float64
		processes  int
	}
	var rows []row
	for s := range noiseStages {
		for _, change := range []row{{name: "none (A/A)", work: 1, idle: 1}, {name: "GPU work +5 %", work: 1.05, idle: 1}, {name: "all +10 %", work: 1.1, idle: 1.1}, {name: "all +20 %", work: 1.2, idle: 1.2}} {
			for _, processes := range []int{1, 3, 5} {
				rows = append(rows, row{s, change.name, change.work, change.idle, processes})
			}
		}
	}
	tried := some.Of(rows, 5)
	if *golden.Update {
		tried = rows
	}
	var lines []string
	for _, c := range tried {
		of := noiseStages[c.stage]
		machines := noiseProcesses(t, of.stage)
		tries := 300
		if c.work == 1 {
			tries = 3000
		}
		said, gpu, oracle := map[Verdict]int{}, map[Verdict]int{}, 0
		for try := range tries {
			r := rand.New(rand.NewPCG(uint64(c.stage), uint64(10000*c.processes+try)))
			all := machines[r.IntN(len(machines))]
			order := r.Perm(len(all))
			var a, b []runData
			shift, spread := 0.0, 0.0
			for i := range c.processes {
				x, y := all[order[i]], all[order[c.processes+i]]
				a, b = append(a, x.run(fmt.Sprint("a", i), of.kernels, 1, 1)), append(b, y.run(fmt.Sprint("b", i), of.kernels, c.work, c.idle))
				shift += (math.Log(stats.Centre(spansOf(b[i]))) - math.Log(stats.Centre(spansOf(a[i])))) / float64(c.processes)
			}
			var logs []float64
			for _, p := range all {
				logs = append(logs, p.log())
			}
			spread = *std(logs)
			if shift/(spread*math.Sqrt(2/float64(c.processes))) > 2.5758 { // of a normal variable, 1 % on both sides
				oracle++
			}
			st := stageOf(t, compared(t, a, b, bare), "decode")
			said[st.Verdict]++
			for _, m := range st.More {
				if m.Name == busyMetric {
					gpu[m.Verdict]++
				}
			}
		}
		share := func(n int) string { return fmt.Sprintf("%.3g %%", math.Round(1000*float64(n)/float64(tries))/10) }
		name := fmt.Sprintf("%s, %s, %d", of.doc, c.name, c.processes)
		if c.work == 1 && (said[Better]+said[Worse] > tries/100 || gpu[Better]+gpu[Worse] > tries/100) || c.work > 1 && said[Better] > tries/50 || c.work > 1.05 && said[NoChange] > tries/50 {
			t.Errorf("%s: %v, its GPU work %v of %d", name, said, gpu, tries)
		}
		lines = append(lines, fmt.Sprintf("| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |\n", of.doc, c.name, c.processes,
			share(said[Better]), share(said[Worse]), share(said[NoChange]), share(said[CannotTell]), share(gpu[Worse]), share(gpu[NoChange]), share(oracle)))
	}
	checkTable(t, "error rates", head, lines, len(tried) == len(rows))
}

// spansOf are the spans of a run's passes.
func spansOf(d runData) (out []float64) {
	for _, p := range d.passes {
		out = append(out, float64(*p.span))
	}
	return out
}

// TestAssumedNoise holds that what is assumed of processes covers those that were measured: of each stage on each GPU, within what so few show.
func TestAssumedNoise(t *testing.T) {
	t.Parallel()
	for _, of := range noiseStages {
		for _, list := range noiseProcesses(t, of.stage) {
			var spans, works []float64
			for _, p := range list {
				var busy []float64
				for _, x := range p.passes {
					busy = append(busy, float64(x.busy))
				}
				spans, works = append(spans, p.log()), append(works, math.Log(stats.Centre(busy)))
			}
			side := newStageSide()
			for _, d := range []runData{list[0].run("a", of.kernels, 1, 1)} {
				for _, p := range d.passes {
					side.addPass(0, p)
				}
			}
			s := &stagePair{a: side, b: side, host: assumedHost}
			for kind, seen := range map[figureKind]float64{spanFigure: *std(spans), workFigure: *std(works)} {
				// 1.3: so much more than is true a standard deviation of 11 processes shows in one of ten.
				if assumed := s.alone(kind).SD; seen > 1.3*assumed {
					t.Errorf("%s on GPU %s: figure %d differs by %.2g %% between processes, %.2g %% are assumed", of.stage, list[0].machine, kind, 100*seen, 100*assumed)
				} else {
					t.Logf("%s on GPU %s: figure %d: %.2g %%, assumed %.2g %%", of.stage, list[0].machine, kind, 100*seen, 100*assumed)
				}
			}
		}
	}
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
