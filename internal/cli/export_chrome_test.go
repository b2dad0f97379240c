package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// TestExportChrome holds the JSON of a run to the run: stored again as a trace of PyTorch's it has the same kernels on the same streams, to the nanosecond, the same launches
// and work of operators, and HTA, which reads such traces, adds up the same kernels.
func TestExportChrome(t *testing.T) {
	t.Parallel()
	const kernelsOf = `SELECT kernel, coalesce(stream_id, -1) AS stream, count(*) AS n, sum(duration_ns) AS ns, count(launch_start_ns) AS launched, sum(start_ns - launch_start_ns) AS delay_ns
		FROM kernels WHERE run = '%s' GROUP BY ALL ORDER BY ALL`
	const operatorsOf = `SELECT operator, calls, self_device_ns FROM top_operators('%s', top := 0) ORDER BY ALL`
	runs := []string{"nccl2", "torch-graph", "train-stack"}
	p := newStored(t, testkit.Named(t, runs...))
	for i, run := range runs {
		file := p.path(run + []string{".json", ".json.gz"}[i%2])
		p.ok("export", run, "--to", "chrome", "--out", file)
		p.ok("ingest", "--run", "again-"+run, file)
		for _, sql := range []string{kernelsOf, operatorsOf} {
			before, after := p.sql(fmt.Sprintf(sql, run)), p.sql(fmt.Sprintf(sql, "again-"+run))
			if run == "nccl2" && sql == operatorsOf {
				continue // it has none
			}
			if before != after || strings.Count(before, "\n") < 5 {
				t.Errorf("%s: %s\nread again as\n%s", run, before, after)
			}
		}
		t.Run("HTA "+run, func(t *testing.T) { p.of(t).addedByHTA(run, file) })
	}
	if got := p.run("export", "nccl2", "--to", "chrome", "--stage", "nothing"); got.code == 0 || strings.HasPrefix(got.out, "{") {
		t.Errorf("of no stage it gives %d: %.100s %s", got.code, got.out, got.err)
	}
}

// addedByHTA compares sums by kernel with those of HTA, where it is installed. Unless it is told not to, it rounds times to microseconds and omits the last step.
func (p *place) addedByHTA(run, file string) {
	p.t.Helper()
	python := cmp.Or(os.Getenv("PROF_TEST_HTA"), "python3")
	if exec.Command(python, "-c", "import hta").Run() != nil {
		p.t.Skip("HTA is not installed: pip install HolisticTraceAnalysis==0.5.0, and PROF_TEST_HTA names its python")
	}
	const program = `
import json, sys
from hta.trace_analysis import TraceAnalysis
a = TraceAnalysis(trace_files={0: sys.argv[1]}, include_last_profiler_step=True)
df, names = a.t.get_trace(0), a.t.symbol_table.get_sym_table()
k = df[(df["cat"] == names.index("kernel"))]
sums = k.groupby("name")["dur"].agg(["count", "sum"])
print(json.dumps({"kernels": {names[n]: [int(r["count"]), round(r["sum"] * 1000)] for n, r in sums.iterrows()}, "launched": int((k["index_correlation"] > 0).sum())}))`
	c := exec.CommandContext(p.t.Context(), python, "-c", program, file)
	c.Env = append(os.Environ(), "HTA_DISABLE_NS_ROUNDING=1")
	text, err := c.Output()
	if err != nil {
		p.t.Fatalf("HTA: %v", err)
	}
	var got struct {
		Kernels  map[string][2]int64
		Launched int64
	}
	if err := json.Unmarshal(text[strings.LastIndex(strings.TrimSpace(string(text)), "\n")+1:], &got); err != nil {
		p.t.Fatalf("%v: %s", err, text)
	}
	rows, launched := 0, p.sql("SELECT count(launch_start_ns) FROM kernels WHERE run = '"+run+"'")
	for _, row := range p.rows("top-kernels", "--run", run, "--warmup", "--top", "0") {
		rows++
		if has := got.Kernels[row["kernel"]]; fmt.Sprint(has[0]) != row["calls"] || fmt.Sprint(has[1]) != row["total_ns"] {
			p.t.Errorf("%s has %s calls and %s ns, HTA says %v", row["kernel"], row["calls"], row["total_ns"], has)
		}
	}
	if rows != len(got.Kernels) || rows == 0 || !strings.HasSuffix(strings.TrimSpace(launched), fmt.Sprint("\n", got.Launched)) {
		p.t.Errorf("%d kernels, HTA has %d; HTA finds the launches of %d, prof %s", rows, len(got.Kernels), got.Launched, launched)
	}
}
