package gate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge/diff"
)

// madeRuns answers as a warehouse of these runs would.
type madeRuns map[string]madeRun

// madeRun holds rows by query, without the columns that all made runs have alike.
type madeRun struct {
	stages         []madeStage
	mfu, overheads [][]any
	serving, times [][]any // benchmarks and their latencies
}

// madeStage is a stage of three passes with one kernel each.
type madeStage struct {
	name, kernel          string
	ns                    int64 // of the kernel in a pass
	idle                  []int64
	tokens, cpu, launches any
	isGraph, isCopy       bool
	isSum                 bool // of which nothing else is known
}

// madeColumns are the columns that callers read, by query.
var madeColumns = map[string]string{
	"stage-samples": "stage pass repeat source_id is_warmup prompt_token_count decode_token_count step_count cpu_ns interval_ns gpu_span_ns gpu_busy_ns gpu_sum_ns time_ns kernel_count kernel_ns graph_ns copy_ns other_ns" +
		" wait_ns call_ns host_ns profiler_ns queued_ns unknown_ns launch_ns launch_delay_ns launch_latency_ns lost_count device_count",
	"pass-work":       "stage pass repeat is_warmup kind name family role grid block launch_count sum_ns min_ns max_ns deviation_ns2",
	"sources":         "sha256 source_id kind",
	"run-conditions":  "run_id aspect value weight source_id",
	"mfu":             "stage mfu_ratio mbu_ratio fault is_least part_of",
	"overhead":        "mode tool overhead_ratio stage reason noise_ratio high_ratio recording_count baseline_recording_count",
	"serving":         "benchmark target_requests_per_s concurrency_limit_count requests_per_s failed_count is_rate_unlimited completed_count input_token_count output_token_count tool label model",
	"serving-latency": "benchmark metric p99_ns",
	"steps":           "source_id pid device step",
}

func (m madeRuns) Ask(_ context.Context, query string, args frame.Args) (*frame.Frame, error) {
	f := &frame.Frame{Query: query, Version: 1}
	for _, name := range strings.Fields(madeColumns[query]) {
		f.Columns = append(f.Columns, frame.Column{Name: name, Unit: frame.UnitOf(name)})
	}
	run := m[args["run"]]
	switch query {
	case "sources":
		kind := map[bool]string{true: "nsys-stats", false: "nsys"}[args["run"] == "sums"]
		f.Rows = [][]any{{"hash of " + args["run"], int64(1), kind}}
	case "mfu":
		f.Rows = run.mfu
	case "overhead":
		for _, row := range run.overheads { // the last columns of those that have them
			f.Rows = append(f.Rows, append(slices.Clone(row), []any{nil, nil, nil, nil, nil, nil, nil, int64(0), int64(0)}[len(row):]...))
		}
	case "serving":
		for _, row := range run.serving { // the last columns of those that have them
			f.Rows = append(f.Rows, append(slices.Clone(row), make([]any, len(f.Columns)-len(row))...))
		}
	case "serving-latency":
		f.Rows = run.times
	case "losses":
		if args["run"] == "lost" {
			f.Rows, f.Caveats = [][]any{{}}, []frame.Caveat{{Kind: "launches-without-work", Stage: "decode", Text: "18 of 24 launches in decode have no GPU work in the capture"}}
		}
	case "stage-samples", "pass-work":
		for _, s := range run.stages {
			if s.name == outside && query == "stage-samples" { // it is of no pass
				continue
			}
			for n, idle := range s.idle {
				f.Rows = append(f.Rows, s.row(query, int64(n+1), idle, len(f.Columns)))
			}
		}
	}
	for i, c := range f.Columns { // those that are asked by name
		switch {
		case strings.HasPrefix(query, "serving") && (c.Name == "requests_per_s" || c.Name == "p99_ns"):
			f.Columns[i].Type = frame.Float
		case query == "stage-samples" && c.Unit == frame.Ns:
			f.Columns[i].Type = frame.Int
		}
	}
	f.Rows = slices.Clone(f.Rows) // which Fill writes to
	return frametest.Fill(frametest.Typed(f)), nil
}

func (s madeStage) row(query string, n, idle int64, columns int) []any {
	if s.ns > 0 { // work varies a little too
		s.ns += idle / 100
	}
	kind, kernelNs, graphNs, copyNs := "kernel", s.ns, int64(0), int64(0)
	switch {
	case s.isGraph:
		kind, kernelNs, graphNs = "graph", 0, s.ns
	case s.isCopy:
		kind, kernelNs, copyNs = "copy", 0, s.ns
	}
	if query == "pass-work" {
		return []any{s.name, n, int64(1), false, kind, s.kernel, nil, nil, "1 x 1 x 1", "32 x 1 x 1", int64(1), s.ns, s.ns, s.ns, 0.0}
	}
	row := []any{s.name, n, int64(1), int64(1), false, s.tokens, s.tokens, s.tokens, s.cpu, nil, s.ns + idle, s.ns, s.ns, s.ns + idle, s.launches, kernelNs, graphNs, copyNs, int64(0), int64(0), int64(0), idle}
	if s.ns == 0 || s.isSum {
		row[10], row[13], row[21] = nil, nil, int64(0)
	}
	for len(row) < columns {
		row = append(row, int64(0))
	}
	return row
}

func (m madeRuns) AskAll(ctx context.Context, list []frame.Question) (out []*frame.Frame, err error) {
	for _, q := range list {
		f, err := m.Ask(ctx, q.Query, q.Args)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	return out, nil
}

func sideOf(name string) diff.Side {
	return diff.Side{Label: name, Runs: []diff.Run{{ID: name, Name: name}}}
}

// TestOverheadRule holds what a rule on the overhead of profiling is about: stages before the whole process, one tool; noise is at most what it allows for.
func TestOverheadRule(t *testing.T) {
	runs := madeRuns{
		"staged": {overheads: [][]any{{"deep", "nsys", 1.0, "decode"}, {"deep", "nsys", 0.1, "prefill", nil, 0.02}, {"deep", "nsys", 0.2, nil}, {"kernels", "ncu", 40.0, nil}, {"light", "prof", 0.04, "decode"}}},
		"noisy":  {overheads: [][]any{{"deep", "prof", nil, "decode", "noise", 0.4, 0.5, int64(3), int64(3)}, {"deep", "prof", nil, "prefill", "noise", 0.05, 0.08, int64(3), int64(3)}, {"deep", "prof", nil, nil, "noise", 0.1, 0.2, int64(3), int64(2)}}},
		"whole":  {overheads: [][]any{{"deep", "prof", 0.3, nil, nil, 0.1}, {"operators", "torch", 4.0, "decode"}, {"deep", "prof", nil, "decode", "window"}}},
		"cold":   {overheads: [][]any{{"deep", "prof", nil, nil, "cold"}}},
	}
	for _, c := range []struct {
		run, rule string
		want      []string
	}{
		{"staged", "overhead <= 25%", []string{"overhead.light of decode holds"}}, // of the tool that figures rest on, not of the one beside it
		{"staged", "overhead.deep <= 25%", []string{"overhead.deep of decode broken", "overhead.deep of prefill holds"}},
		{"staged", "overhead.light <= 25%", []string{"overhead.light of decode holds"}},
		{"staged", "overhead.kernels <= 25%", []string{"overhead.kernels broken"}},
		{"noisy", "overhead <= 25%", []string{"overhead.deep of decode cannot tell: profiling overhead is unknown: not measurable (3 recordings each, noise 40 %)", "overhead.deep of prefill holds"}},
		{"whole", "overhead <= 25%", []string{"overhead.deep broken"}},
		{"whole", "overhead.operators <= 500%", []string{"overhead.operators of decode holds"}},
		{"cold", "overhead <= 25%", []string{"overhead.deep cannot tell: profiling overhead is unknown: on one side there is only the first recording of the capture, which loads and compiles what later ones find in caches"}},
	} {
		list, err := Parse("f", c.rule)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Judge(t.Context(), runs, sideOf(c.run), nil, list, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, k := range r.Checks {
			text := fmt.Sprint(k.Subject, " ", k.Outcome)
			if k.Outcome == CannotTell {
				text += ": " + k.Reason
			}
			got = append(got, text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.run, c.rule, got, c.want)
		}
	}
}

// sayMade says what rules come to on made runs.
func sayMade(t *testing.T) {
	one, idle := int64(1), []int64{100, 110, 90}
	stage := func(name, kernel string, change func(*madeStage)) madeStage {
		s := madeStage{name: name, kernel: kernel, ns: 1e6, idle: idle, tokens: int64(512), cpu: int64(2e6), launches: one}
		if change != nil {
			change(&s)
		}
		return s
	}
	graph := stage("graphs", "replay", func(s *madeStage) { s.isGraph, s.launches = true, nil })
	copies := stage("copies", "memcpy", func(s *madeStage) { s.isCopy, s.launches = true, int64(0) })
	bare := stage("bare", "k", func(s *madeStage) { s.tokens, s.cpu = nil, nil })
	idleOnly := stage("no-work", "k", func(s *madeStage) { s.ns = 0 })
	outsideWork := stage(outside, "k", nil)
	uneven := stage("uneven", "k", func(s *madeStage) { s.idle = []int64{1e6, 11e5, 9e5, 12e5, 8e5, 1e6, 105e4, 95e4} })
	uneven2 := stage("uneven", "k", func(s *madeStage) { s.idle = []int64{1e6, 115e4, 9e5, 12e5, 85e4, 1e6, 105e4, 95e4} })
	runs := madeRuns{
		"base": {stages: []madeStage{stage("prefill", "gemm", nil), stage("decode", "old", nil), stage("tail", "k", nil), graph, copies, bare, idleOnly, outsideWork, uneven}},
		"pr": {stages: []madeStage{stage("prefill", "gemm", func(s *madeStage) { s.tokens = int64(1024) }), stage("decode", "fresh", func(s *madeStage) { s.idle = []int64{100, 100, 400000} }), stage("extra", "k", nil), graph, copies, bare, idleOnly, outsideWork, uneven2},
			mfu: [][]any{{"prefill", nil, 0.2, "mfu-over-1", false, nil}}, overheads: [][]any{{"light", "nsys", nil, nil}}},
		"plain": {stages: []madeStage{stage("", "k", nil)}},
		"sums":  {stages: []madeStage{stage("", "k", func(s *madeStage) { s.isSum = true })}},
		"empty": {},
		"lost":  {stages: []madeStage{stage("prefill", "gemm", nil), stage("decode", "old", nil)}, mfu: [][]any{{"decode", 0.2, nil, nil, false, nil}}},
	}
	for name, rules := range map[string]string{
		"pr": "stage.nosuch.gpu_span_ns <= 1ms\nstage.decoed.gpu_span_ns <= 1ms\nstage.tail.gpu_span_ns <= +5%\nstage.extra.gpu_span_ns <= +5%\nstage.bare.tokens_per_s >= 1\nstage.bare.cpu_ns <= 1ms\nstage.bare.interval_ns <= 1ms\nstage.(none).cpu_ns <= 1ms\n" +
			"stage.no-work.gpu_span_ns <= 1ms\nkernel:/nothing/.mean_ns <= 1ms\nstage.decode.kernel:/old/.mean_ns <= +5%\nstage.decode.kernel:/nothing/.mean_ns <= 1ms\nstage.decode.kernel:/fresh/.mean_ns <= +5%\n" +
			"stage.graphs.kernel:/k/.mean_ns <= 1ms\nstage.graphs.launches <= 1\nstage.graphs.new_kernels <= 0\nstage.copies.new_kernels <= 0\nstage.decode.new_kernels <= 0\nnew_kernels <= 0\nmfu.prefill >= 0.3\nmfu.nosuch >= 0.3\noverhead <= 25%\n" +
			"overhead.deep <= 25%\nstage.prefill.gpu_span_ns <= +1ms\nstage.prefill.gpu_span_ns <= +3%\nstage.decode.gpu_span_ns <= +5%",
		"plain": "stage.decode.gpu_span_ns <= 1ms\noverhead <= 25%\nstage.*.kernel:/nothing/.calls <= 1",
		"sums":  "stage.*.gpu_span_ns <= 1ms",
		"empty": "stage.*.gpu_span_ns <= 1ms",
		"lost":  "stage.decode.gpu_span_ns <= 1s\nstage.decode.gpu_busy_ns <= +50%\nstage.decode.kernel:/old/.mean_ns <= 1s\nnew_kernels <= 1000\nmfu.decode >= 0.1\nstage.prefill.gpu_span_ns <= 1s",
	} {
		list, err := Parse("f", rules)
		if err != nil {
			t.Fatal(err)
		}
		baseline := sideOf("base")
		r, err := Judge(t.Context(), runs, sideOf(name), &baseline, append(list, Default()...), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Checks {
			said.Add(c.Reason)
			if name == "lost" && c.Outcome == Holds && c.Stage != "prefill" {
				t.Errorf("%s holds on a run that lost work", c.Rule.Text)
			}
		}
		said.Add(r.Words)
	}
	judged(t, "stage.decode.gpu_span_ns <= +3%", zero[:1], zero[:1], diff.Options{}.Stats)
	said.Add([]string{Default()[0].Text, stageWords("")})
}
