package cli

import (
	"encoding/csv"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/workload"
	"prof/internal/testkit"
	"prof/queries/judge/stats"
	"prof/render/typeset"
)

// rows returns the rows of a query by the names of its columns.
func (p *place) rows(args ...string) []map[string]string {
	p.t.Helper()
	r := p.run(append(append([]string{"query"}, args...), "-f", "csv")...)
	if r.code != 0 {
		p.t.Fatalf("prof query %q: %+v", args, r)
	}
	lines, err := csv.NewReader(strings.NewReader(r.out)).ReadAll()
	if err != nil {
		p.t.Fatal(err)
	}
	var out []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		out = append(out, row)
	}
	return out
}

// wantShown holds that a figure on the screen is the query's, to the digits that are shown.
func wantShown(t *testing.T, what, cell, unit, base string) {
	t.Helper()
	scale := map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "%": 0.01, "": 1}[unit]
	shown, err := strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
	if err != nil {
		t.Fatalf("%s: %q is no number", what, cell)
	}
	exact, err := strconv.ParseFloat(base, 64)
	if err != nil {
		t.Fatalf("%s: the query has %q", what, base)
	}
	_, decimals, _ := strings.Cut(cell, ".")
	half := 0.5000001
	for range decimals {
		half /= 10
	}
	if diff := shown - exact/scale; diff > half || diff < -half {
		t.Errorf("%s is %s %s on the screen, and %s in the query", what, cell, unit, base)
	}
}

// llamaWithFacts is a run with facts of its workload, a model and one GPU.
var llamaWithFacts = []testkit.Run{{Name: "a", Files: []string{"nsys/" + llama, "workload/llama-graph-node.workload.json"}}}

// TestShowFigures holds that the screen shows what the queries say, of a run with facts of its workload, a model and one GPU.
func TestShowFigures(t *testing.T) {
	t.Parallel()
	p := reading(t, llamaWithFacts)
	p.env = []string{"COLUMNS=160"}
	screen := p.ok("show", "a")
	find := func(pattern string) []string {
		m := regexp.MustCompile(`(?m)^` + pattern).FindStringSubmatch(screen)
		if m == nil {
			t.Fatalf("no line is like %s:\n%s", pattern, screen)
		}
		return m[1:]
	}
	mfu := map[string]map[string]string{}
	for _, r := range p.rows("mfu", "--run", "a") {
		mfu[r["stage"]] = r
	}
	stages := p.rows("stages", "--run", "a")
	for _, r := range stages {
		name := r["stage"]
		m := find(name + ` +([\d.]+) (\w+) +([\d.]+) to ([\d.]+) (\w+) +(\d+)  \S+ +([\d.]+) % +([\d,.]+) +([\d.]+) % +([\d.]+) %  (\w+)`)
		wantShown(t, name, m[0], m[1], r["gpu_span_median_ns"])
		wantShown(t, name+" at least", m[2], m[4], r["gpu_span_min_ns"])
		wantShown(t, name+" at most", m[3], m[4], r["gpu_span_max_ns"])
		wantShown(t, name+" passes", m[5], "", r["passes"])
		wantShown(t, name+" busy", m[6], "%", r["busy_ratio"])
		wantShown(t, name+" tokens/s", m[7], "", r["gpu_span_tokens_per_s"])
		wantShown(t, name+" MFU", m[8], "%", mfu[name]["mfu_ratio"])
		wantShown(t, name+" MBU", m[9], "%", mfu[name]["mbu_ratio"])
	}
	kernels := p.rows("top-kernels", "--run", "a", "--top", "5")
	for _, r := range kernels {
		start := regexp.QuoteMeta(typeset.PlainNames([]string{r["kernel"]})[0][:18])
		m := find(start + `.*  +[█▉▊▋▌▍▎▏]+ +(` + regexp.QuoteMeta(strconv.FormatFloat(percentOf(t, r["share_ratio"]), 'f', 1, 64)) + `) % +([\d.]+) (\w+) +` + grouped(r["calls"]) + `  ` + r["role"] + ` `)
		wantShown(t, "mean of "+r["kernel"], m[1], m[2], r["mean_ns"])
	}
	if len(stages) < 2 || len(kernels) < 5 {
		t.Errorf("%d stages and %d kernels were compared", len(stages), len(kernels))
	}
	first := p.rows("findings", "--run", "a", "--top", "1")[0]
	m := find(`1  ` + first["stage"] + `, ` + first["bound"] + ` ([\d.]+) -> ([\d.]+) ms/token: ` + first["title"] + `\n`)
	before, after := percentOf(t, m[0]), percentOf(t, m[1])
	if want := percentOf(t, first["pass_saving_ns"]) / percentOf(t, first["pass_span_ns"]); math.Abs((before-after)/before-want) > 0.005 {
		t.Errorf("the first finding takes %v to %v, and %.3f of the pass less in the query", m[0], m[1], want)
	}
	wantShown(t, "time per token", m[0], "ms", p.rows("runs")[0]["token_time_ns"])
	find(`attribution  exact, ` + grouped(p.rows("conservation", "--run", "a")[0]["kernel_count"]) + ` kernels\n`)
}

func percentOf(t *testing.T, ratio string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(ratio, 64)
	if err != nil {
		t.Fatal(err)
	}
	return 100 * v
}

// grouped writes the digits of a number as a screen does.
func grouped(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return digits
	}
	return typeset.Int(n)
}

// TestShowCapturedScreen holds what the screen says of a captured run of which a pass failed, and of kernel time that does not add up.
func TestShowCapturedScreen(t *testing.T) {
	t.Parallel()
	lacks := capturedRuns[1]
	lacks.Name, lacks.TrueSums = "lacks", false
	lacks.SQL = "DELETE FROM range_context WHERE run_id = $run AND range_context_id = (SELECT min(range_context_id) FROM range_context WHERE run_id = $run)"
	p := reading(t, []testkit.Run{lacks, capturedRuns[1]})
	p.env = []string{"COLUMNS=300"}
	screen := p.ok("show")
	for _, line := range []string{`run +repeats  captured 2025-11-21 09:40 UTC on box`, `gpus +1 x NVIDIA H200`, `from +nsys [\d.]+, capture \S+`, `command +python3 run\.py --tokens 32`, `tags +k=v`,
		`passes +baseline 3 ok, nsys 2 ok, ncu 1 failed`, `attribution +exact, 16 kernels`, `! .*ncu may not read the GPU's counters.*`, `! .*throttled \(sw_power_cap\).*`, `more +prof explain repeats .*`} {
		if !regexp.MustCompile(`(?m)^` + line + `$`).MatchString(screen) {
			t.Errorf("the screen has no line %s:\n%s", line, screen)
		}
	}
	if strings.Count(screen, "ERR_NVGPUCTRPERM") != 1 {
		t.Errorf("what is partial is said more than once:\n%s", screen)
	}
	if strings.Contains(screen, "\x1b") || strings.Count(screen, "\n") > 45 {
		t.Errorf("a screen in a pipe:\n%s", screen)
	}
	for _, text := range []string{"## repeats\n\n**Decode dominates with 55.7 %", "\n- run: repeats", "\n- gpus: 1 x NVIDIA H200\n", "| stage ", "\n- ⚠️ ", "\nMore: `prof explain repeats`, "} {
		if md := p.ok("show", "repeats", "--format", "md"); !strings.Contains(md, text) {
			t.Errorf("as Markdown it has no %q:\n%s", text, md)
		}
	}
	if md := p.ok("show", "repeats", "--facts", "--format", "md"); !strings.Contains(md, "\n### Devices\n\n|") {
		t.Errorf("facts as Markdown:\n%s", md)
	}
	if screen := p.ok("show", "lacks"); !strings.Contains(screen, "attribution  DOES NOT ADD UP, 16 kernels\n") || !strings.Contains(screen, "\n! attribution of nsys does not add up") {
		t.Errorf("of kernel time that does not add up:\n%s", screen)
	}
}

// TestShowCold holds that a cold first pass is set apart on the screen and in explain, and counted with --warmup 0.
func TestShowCold(t *testing.T) {
	t.Parallel()
	none := int64(0)
	p := reading(t, []testkit.Run{{Name: "found", Files: []string{"nsys/" + nccl}}, {Name: "counted", Files: []string{"nsys/" + nccl}, Options: ingest.Options{Pass: workload.Uniform(workload.Pass{}, &none)}}})
	found, counted := p.ok("show", "found", "--wide"), p.ok("show", "counted", "--wide")
	for text, lines := range map[string][]string{
		found:                    {`prefill +778 us +753 us to 13\.3 ms +5 x 2 GPUs `, `! the first prefill pass is cold and excluded: it takes 179 ms, 230 times the median pass of 778 us \(loading code 42\.0 ms, .*`, `! the passes of prefill vary by more than 10\.0 %: .*`},
		counted:                  {`prefill +803 us +753 us to 179 ms +6 x 2 GPUs `},
		p.ok("explain", "found"): {`note: the first prefill pass is cold and excluded: .*`},
	} {
		for _, line := range lines {
			if !regexp.MustCompile(`(?m)^` + line).MatchString(text) {
				t.Errorf("no line is like %s:\n%s", line, text)
			}
		}
	}
	if wide := p.ok("show", "found", "--wide", "--repeatability", "900%"); strings.Contains(wide, "decode vary by more") || !strings.Contains(wide, "prefill vary by more than 900.0 %") {
		t.Errorf("--repeatability 900%%:\n%s", wide)
	}
	for _, wrong := range []string{"0%", "5", "x%"} {
		if r := p.run("show", "found", "--repeatability", wrong); r.code != 2 || !strings.Contains(r.err, "--repeatability "+wrong) {
			t.Errorf("--repeatability %s: %+v", wrong, r)
		}
	}
	if strings.Contains(counted, "cold") {
		t.Errorf("with --warmup 0:\n%s", counted)
	}
}

// TestOneTime holds that a stage of several GPUs takes the same time in whatever says it: a pass of all ranks lasts until the last of them is done.
func TestOneTime(t *testing.T) {
	t.Parallel()
	none := int64(0)
	p := reading(t, []testkit.Run{{Name: "a", Files: []string{"nsys/" + nccl}}, {Name: "b", Files: []string{"nsys/" + nccl}, Options: ingest.Options{Pass: workload.Uniform(workload.Pass{}, &none)}}})
	type stage struct {
		Stage     string
		MedianNs  float64 `json:"median_ns"`
		GPUSpanNs float64 `json:"gpu_span_median_ns"`
		Passes    int
		A         struct{ Samples []float64 }
	}
	var stages struct{ Rows []stage }
	var shown struct{ Stages []stage }
	var explained struct {
		Findings []struct {
			Stage string
			NowNs float64 `json:"now_ns"`
		}
	}
	var compared struct{ Comparisons []struct{ Stages []stage } }
	var figures struct {
		Rows []struct {
			Metric string
			Value  float64
			Passes int
		}
	}
	p.decoded(&stages, "query", "stages", "--run", "a", "--format", "json")
	p.decoded(&shown, "show", "a", "--format", "json")
	p.decoded(&explained, "explain", "a", "--format", "json")
	p.decoded(&compared, "diff", "a", "b", "--format", "json")
	p.decoded(&figures, "query", "aggregates", "--run", "a", "--format", "json")
	said := map[string][]float64{}
	for _, s := range stages.Rows {
		said[s.Stage] = append(said[s.Stage], s.GPUSpanNs, float64(s.Passes))
	}
	check := func(what, stage string, ns float64, passes int) {
		t.Helper()
		if want := said[stage]; len(want) != 2 || want[0] != ns || want[1] != float64(passes) {
			t.Errorf("%s: %s takes %v in %d passes, by stages %v", what, stage, ns, passes, want)
		}
	}
	for _, s := range shown.Stages {
		check("show", s.Stage, s.MedianNs, s.Passes)
	}
	for _, x := range explained.Findings {
		check("explain", x.Stage, x.NowNs, 5)
	}
	for _, s := range compared.Comparisons[0].Stages {
		if len(said[s.Stage]) > 0 {
			check("diff", s.Stage, stats.Centre(s.A.Samples), len(s.A.Samples))
		}
	}
	for _, x := range figures.Rows {
		check("aggregates", strings.TrimSuffix(x.Metric, "_ns"), x.Value, x.Passes)
	}
	if len(shown.Stages) != 2 || len(explained.Findings) == 0 || len(figures.Rows) != 2 {
		t.Errorf("%d stages shown, %d findings, %d figures", len(shown.Stages), len(explained.Findings), len(figures.Rows))
	}
	if text := p.ok("explain", "a"); !strings.Contains(text, "\nprefill  778 us median of 5 passes, busy 97.6 % on GPU 0, 97.4 % on GPU 1\n") {
		t.Errorf("explain says\n%s", text)
	}
	if got := p.ok("sql", "--format", "csv", medianKernels); got != "kernels,fit\n4,4\n" {
		t.Errorf("large kernels, and those that take what they take in the median pass: %s", got)
	}
}

// medianKernels counts large kernels of a run of 5 passes, and those that take what its kernels take in the third longest.
const medianKernels = `WITH pass AS (
    SELECT k.stage, k.device_id, k.kernel, p.gpu_span_ns, sum(k.duration_ns) AS ns, count(*) AS calls
    FROM passes('a') p JOIN kernels k ON k.run = 'a' AND k.pass_range_id = p.range_id AND NOT p.is_warmup
    GROUP BY ALL
), median AS (
    SELECT stage, device_id, kernel, list({'ns': ns, 'calls': calls} ORDER BY gpu_span_ns)[3] AS pass FROM pass GROUP BY ALL
)
SELECT count(*) AS kernels, count(*) FILTER (m.pass.ns = l.pass_ns AND m.pass.calls = l.pass_calls) AS fit
FROM large_kernels('a') l JOIN median m ON m.stage = l.stage AND m.device_id = l.device AND m.kernel = l.kernel`
