package queries_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/queries/judge/stats"
	"prof/schema"
	derived "prof/schema/facts"
	"prof/schema/rundir"
)

// passFacts are what is known of passes and what stages read.
var passFacts = []string{"stage_pass", "stage_share", "pass_alone", "stage_overhead", "caveat", "caveat_overhead", "caveat_pass", "caveat_workload"}

// timed is one execution of a stage as the helper writes it.
type timed struct {
	path          string
	cpu, gpu      int64 // gpu 0: not measured
	batch, tokens int64
	warm          int
	input         string
}

// timedFolder makes the folder of captured with the helper's times of its recordings, which of gives by their names.
func timedFolder(t *testing.T, ranges []timed, pid int, of func(recording string, nth int, r timed) *timed) string {
	t.Helper()
	dir := capturedFolder(t)
	run := filepath.Join(dir, rundir.ManifestName)
	m, err := rundir.ReadManifest(run)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Passes {
		p := &m.Passes[i]
		doc := struct {
			PID        int         `json:"pid"`
			Rank       *int        `json:"rank"`
			Paths      [][]string  `json:"paths"`
			Inputs     []string    `json:"inputs,omitempty"`
			Executions [][7]*int64 `json:"executions"`
		}{PID: pid}
		if p.Tool == rundir.ToolNone {
			doc.PID += 100 + i // a process of its own
		}
		for nth, r := range ranges {
			e := of(p.Name, nth, r)
			if e == nil {
				continue
			}
			at := int64(len(doc.Paths))
			doc.Paths = append(doc.Paths, strings.Split(e.path, " > "))
			warm := int64(e.warm)
			row := [7]*int64{&at, &e.cpu, nil, &e.batch, &e.tokens, &warm}
			if e.input != "" {
				place := int64(len(doc.Inputs))
				row[6], doc.Inputs = &place, append(doc.Inputs, e.input)
			}
			if e.gpu > 0 {
				row[2] = &e.gpu
			}
			doc.Executions = append(doc.Executions, row)
		}
		if len(doc.Executions) == 0 {
			continue
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprintf("%s-%d.json", p.Name, doc.PID)
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
		p.StageTimes = []string{name}
	}
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// llamaRanges are the passes of the stages in the timeline of captured.
func llamaRanges(t *testing.T, w *schema.Warehouse, run string) (ranges []timed, pid int) {
	t.Helper()
	f := testkit.Query(t, w, "passes", queries.Args{"run": run})
	for _, r := range f.Rows {
		if r[f.Index("repeat")] != int64(1) {
			continue
		}
		pid = int(r[f.Index("pid")].(int64))
		ranges = append(ranges, timed{path: r[f.Index("path")].(string), cpu: r[f.Index("cpu_ns")].(int64), gpu: r[f.Index("gpu_span_ns")].(int64), batch: 4, tokens: 9})
		if r[f.Index("is_warmup")] == true {
			ranges[len(ranges)-1].warm = -1 // by the timeline, not by the helper
		}
	}
	return ranges, pid
}

// rowOf returns the row of a frame by the values of some columns.
func rowOf(t *testing.T, f *frame.Frame, columns string, values ...any) []any {
	t.Helper()
	names := strings.Fields(columns)
	for _, r := range f.Rows {
		if !slices.ContainsFunc(names, func(n string) bool { return r[f.Index(n)] != values[slices.Index(names, n)] }) {
			return r
		}
	}
	t.Fatalf("no row of %v in %v", values, f.Rows)
	return nil
}

// TestStageOverhead holds what is made of the helper's times: which executions are compared, by which clock, and when nothing is said.
func TestStageOverhead(t *testing.T) {
	t.Parallel()
	ranges, pid := llamaRanges(t, testkit.Warehouse(t, testkit.Run{Name: "repeats", Files: []string{capturedFolder(t)}, Facts: passFacts}), "repeats")
	slower := func(recording string, nth int, r timed) *timed { // 500 us from the opening of the range to the first kernel
		r.gpu += 500_000
		if strings.HasPrefix(recording, "baseline") {
			r.gpu, r.cpu = r.gpu/2, r.cpu/4
		}
		if r.warm < 0 { // a cold pass says nothing
			r.gpu, r.warm = r.gpu*100, 0
		}
		return &r
	}
	cases := map[string]struct {
		of            func(recording string, nth int, r timed) *timed
		clock, reason any
		ratio         float64
	}{
		"twice as long": {of: slower, clock: "gpu", ratio: 1},
		"one baseline is off": {of: func(recording string, nth int, r timed) *timed {
			e := slower(recording, nth, r)
			if recording == "baseline-2" {
				e.gpu *= 7
			}
			return e
		}, clock: "gpu", reason: "noise"},
		"the host's clock": {of: func(recording string, nth int, r timed) *timed {
			e := slower(recording, nth, r)
			e.gpu = 0
			return e
		}, clock: "cpu", ratio: 3},
		"other work alone": {of: func(recording string, nth int, r timed) *timed {
			e := slower(recording, nth, r)
			if strings.HasPrefix(recording, "baseline") {
				e.tokens = 3
			}
			return e
		}, reason: "other-work"},
		"other streams": {of: func(recording string, nth int, r timed) *timed {
			e := slower(recording, nth, r)
			e.gpu /= 2
			return e
		}, reason: "unseen-work"},
		"all warm-up": {of: func(recording string, nth int, r timed) *timed {
			e := slower(recording, nth, r)
			e.warm = 1
			return e
		}, reason: "warm-up"},
		"not alone": {of: func(recording string, nth int, r timed) *timed {
			if strings.HasPrefix(recording, "baseline") {
				return nil
			}
			return slower(recording, nth, r)
		}, reason: "not-timed-alone"},
		"more than the timeline has": {of: func(recording string, nth int, r timed) *timed {
			e := slower(recording, nth, r)
			e.path = "other > " + r.path
			return e
		}, reason: "window"},
	}
	var runs []testkit.Run
	names := sample.Of(slices.Sorted(maps.Keys(cases)), 4)
	for _, name := range names {
		runs = append(runs, testkit.Run{Name: name, Sources: []string{"testdata/capture/repeats", "testdata/nsys/llama-graph-node", "testdata/workload", "queries/overhead_test.go", "queries/capture_test.go"}, Facts: slices.Concat(passFacts, []string{"pass_cost", "kernel_precision", "model_size"}),
			Make: func(string) ([]string, error) { return []string{timedFolder(t, ranges, pid, cases[name].of)}, nil }})
	}
	w := testkit.Warehouse(t, runs...)
	for _, name := range names {
		c := cases[name]
		f := testkit.Query(t, w, "overhead", queries.Args{"run": name})
		stages, mfu := testkit.Query(t, w, "stages", queries.Args{"run": name}), testkit.Query(t, w, "mfu", queries.Args{"run": name})
		for _, stage := range []string{"prefill", "decode"} {
			r := rowOf(t, f, "mode stage", "deep", stage)
			ratio, known := r[f.Index("overhead_ratio")].(float64)
			if r[f.Index("clock")] != c.clock || r[f.Index("reason")] != c.reason || known != (c.reason == nil) || math.Abs(ratio-c.ratio) > 0.02 {
				t.Errorf("%s: overhead of %s is %v", name, stage, r)
			}
			s := rowOf(t, stages, "stage", stage)
			if s[stages.Index("over_alone_ratio")] != r[f.Index("overhead_ratio")] || s[stages.Index("alone_median_ns")] != r[f.Index("baseline_median_ns")] || s[stages.Index("alone_clock")] != c.clock {
				t.Errorf("%s: stages says of %s %v", name, stage, s)
			}
			m := rowOf(t, mfu, "stage", stage)
			under, alone := m[mfu.Index("mfu_ratio")].(float64), m[mfu.Index("alone_mfu_ratio")]
			if c.clock != "gpu" {
				if alone != nil || s[stages.Index("alone_tokens_per_s")] != nil {
					t.Errorf("%s: of %s MFU is %v and tokens/s %v", name, stage, alone, s[stages.Index("alone_tokens_per_s")])
				}
				continue
			}
			span := m[mfu.Index("time_ns")].(float64)
			if want := (span + 500_000) / 2; math.Abs(m[mfu.Index("alone_time_ns")].(float64)-want) > 1 || math.Abs(alone.(float64)/(under*span/want)-1) > 1e-6 {
				t.Errorf("%s: MFU of %s alone is %v of %v ns, under the profiler %v of %v ns", name, stage, alone, m[mfu.Index("alone_time_ns")], under, span)
			}
			spanned := s[stages.Index("gpu_span_tokens_per_s")].(float64)
			if got := s[stages.Index("alone_tokens_per_s")].(float64); math.Abs(got/(spanned*span/((span+500_000)/2))-1) > 1e-6 {
				t.Errorf("%s: %s has %v tokens/s alone, %v under the profiler", name, stage, got, spanned)
			}
		}
		warned := slices.ContainsFunc(f.Notes, func(n string) bool { return strings.Contains(n, "made decode") && strings.Contains(n, "% slower") })
		if warned != (c.reason == nil) {
			t.Errorf("%s: notes %q", name, f.Notes)
		}
	}
}

// madeRecording is a recording of a made-up capture: "a 30 100,110" takes 30 ms as a process, and 100 and 110 ms in decode; a is alone, else it is the tool and its
// mode; "x" in place of times failed; "|" parts ranks.
type madeRecording string

// recordings are the rows of made-up recordings, in the order in which they ran.
func recordings(list ...madeRecording) (stmts []string) {
	stmts = append(stmts, "INSERT INTO capture (run_id, source_id, mode, command, workload_key, folder, started_at, status) SELECT $run, 1, 'deep', '', '', '', TIMESTAMP '2026-01-01', 'ok'")
	repeats := map[string]int{}
	for i, r := range list {
		words := strings.Fields(string(r))
		tool, mode, hasMode := strings.Cut(words[0], "/")
		switch {
		case words[0] == "a":
			tool, mode = "none", "baseline"
		case !hasMode:
			mode = "deep"
		}
		repeats[tool+mode]++
		status, ns := "ok", words[1]+"e6::BIGINT"
		if words[1] == "x" {
			status, ns = "failed", "NULL"
		}
		stmts = append(stmts, fmt.Sprintf(`INSERT INTO capture_pass (run_id, source_id, pass_id, name, tool, mode, repeat_id, command, started_at, status, is_marked, workload_ns)
			SELECT $run, 1, %d, '%s-%d', '%[2]s', '%[4]s', %[3]d, '', TIMESTAMP '2026-01-01', '%[5]s', true, %[6]s`, i+1, tool, repeats[tool+mode], mode, status, ns))
		if len(words) < 3 {
			continue
		}
		for rank, times := range strings.Split(words[2], "|") {
			for n, ms := range strings.Split(times, ",") {
				stmts = append(stmts, fmt.Sprintf(`INSERT INTO stage_execution SELECT $run, 1, %d, %d, %d, %d, 'decode_all', false, 1, 1, 1e6::BIGINT, %se6::BIGINT, NULL`, i+1, 100*(i+1)+rank, rank, n+1, ms))
			}
		}
	}
	return stmts
}

// TestOverhead holds what is said of made-up captures: medians of recordings, pairs of them, the noise between them, and why nothing is said.
func TestOverhead(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		made   []madeRecording
		want   []string // tool and mode, stage, ms alone and under it, ratio, noise, interval, reason, recordings of both and their pairs
		caveat []string // kind, stage, mode, tool, ratio, recordings under it and alone
	}{
		{"a cold cache, one against one", []madeRecording{"a 30 100", "prof 20 104"},
			[]string{"prof/deep decode 100.0 104.0 +4.0% noise ? .. ok 1:1:1", "prof/deep - 30.0 20.0 ? noise ? .. cold 0:1:0"}, []string{}},
		{"the profiler first, cold", []madeRecording{"prof 30 104", "a 20 100"},
			[]string{"prof/deep decode 100.0 104.0 +4.0% noise ? .. ok 1:1:1", "prof/deep - 20.0 30.0 ? noise ? .. cold 1:0:0"}, []string{}},
		{"one against one, without stages", []madeRecording{"a 30", "prof 20"},
			[]string{"prof/deep - 30.0 20.0 ? noise ? .. cold 0:1:0"}, []string{"overhead-of-one-recording"}},
		{"one warm one of each", []madeRecording{"a 60", "prof 22", "prof x", "a 20"},
			[]string{"prof/deep - 20.0 22.0 ? noise ? .. one-recording 1:1:0"}, []string{"overhead-of-one-recording"}},
		{"noise above the difference", []madeRecording{"a 20 100", "nsys 20 110", "nsys 20 90", "a 20 140", "a 20 80", "nsys 20 150"},
			[]string{"nsys/deep decode 100.0 110.0 ? noise 115.2% -48.9..+136.8 noise 3:3:3", "nsys/deep - 20.0 20.0 +0.0% noise 0.0% +0.0..+0.0 ok 2:3:2"}, []string{}},
		{"clear, three against three", []madeRecording{"a 60 414", "prof 22.1 431", "prof 22.0 433", "a 20.1 416", "a 20.2 412", "prof 22.2 430"},
			[]string{"prof/deep decode 414.0 431.0 +4.1% noise 0.5% +3.6..+4.6 ok 3:3:3", "prof/deep - 20.15 22.1 +9.7% noise 1.4% +8.2..+11.2 ok 2:3:2"}, []string{}},
		{"clear and much", []madeRecording{"a 60 414", "nsys 22.1 831", "nsys 22.0 833", "a 20.1 416", "a 20.2 412", "nsys 22.2 830"},
			[]string{"nsys/deep decode 414.0 831.0 +100.7% noise 1.0% +98.8..+102.6 ok 3:3:3", "nsys/deep - 20.15 22.1 +9.7% noise 1.4% +8.2..+11.2 ok 2:3:2"}, []string{"stage-slowed-by-profiling decode deep nsys 1.01 3 3"}},
		{"a machine that slows down", []madeRecording{"a 20 100", "prof 20 104.1", "prof 20 124.8", "a 20 120", "a 20 140", "prof 20 145.6"},
			[]string{"prof/deep decode 120.0 124.8 +4.0% noise 0.2% +3.8..+4.2 ok 3:3:3", "prof/deep - 20.0 20.0 +0.0% noise 0.0% +0.0..+0.0 ok 2:3:2"}, []string{}},
		{"every recording without a profiler failed", []madeRecording{"a x", "prof 20 104", "prof 20 104", "a x"},
			[]string{"prof/deep decode ? ? ? noise ? .. not-timed-alone 0:0:0", "prof/deep - ? 20.0 ? noise ? .. not-timed-alone 0:1:0"}, []string{"overhead-of-failed-baseline", "stage-not-compared decode deep prof"}},
		{"every recording under one failed", []madeRecording{"a 20 100", "prof x", "prof x", "a 20 101"},
			[]string{"prof/deep - 20.0 ? ? noise ? .. not-recorded 1:0:0"}, []string{}},
		{"the first failed, the next is cold", []madeRecording{"a x", "prof 60 104", "prof 20 105", "a 20 101", "a 20 100", "prof 20 104"},
			[]string{"prof/deep decode 100.5 104.0 +4.0% noise 2.0% +2.0..+6.0 ok 2:3:2", "prof/deep - 20.0 20.0 +0.0% noise 0.0% +0.0..+0.0 ok 2:2:2"}, []string{}},
		{"two ranks, one of them late", []madeRecording{"a 20 100|200", "prof 20 110|220", "prof 20 111|222", "a 20 101|202"},
			[]string{"prof/deep decode 150.75 165.75 +10.0% noise 2.9% +6.8..+13.2 ok 2:2:2", "prof/deep - 20.0 20.0 +0.0% noise 0.0% +0.0..+0.0 ok 1:2:1"}, []string{}},
		{"several executions each", []madeRecording{"a 20 100,101,900", "prof 20 110,111,112", "prof 20 110,112,111", "a 20 100,101,102"},
			[]string{"prof/deep decode 101.0 111.0 +9.9% noise 0.0% +9.9..+9.9 ok 2:2:2", "prof/deep - 20.0 20.0 +0.0% noise 0.0% +0.0..+0.0 ok 1:2:1"}, []string{}},
		{"one of a tool against three", []madeRecording{"a 60 100", "a 20 101", "a 20.4 99", "torch/operators 90 200"},
			[]string{"torch/operators decode 100.0 200.0 +100.0% noise 5.5% +89.7..+110.9 ok 3:1:1", "torch/operators - 20.2 90.0 +345.5% noise 24.3% +258.3..+454.0 ok 2:1:0"}, []string{"stage-slowed-by-profiling decode operators torch 1.0 1 3"}},
		{"faster than alone", []madeRecording{"a 20 100", "prof 20 80", "prof 20 80.5", "a 20 101", "a 20 100.5", "prof 20 81"},
			[]string{"prof/deep decode 100.5 80.5 -20.0% noise 1.6% -21.3..-18.7 ok 3:3:3", "prof/deep - 20.0 20.0 +0.0% noise 0.0% +0.0..+0.0 ok 2:3:2"}, []string{"stage-faster-under-profiling decode deep prof -0.2"}},
		{"whole processes", []madeRecording{"a 60", "prof 26", "prof 26.2", "a 20", "a 20.2", "prof 26.1"},
			[]string{"prof/deep - 20.1 26.1 +30.1% noise 1.7% +28.0..+32.3 ok 2:3:2"}, []string{"slowed-by-profiling deep prof 0.3"}},
		{"whole processes in noise", []madeRecording{"a 60", "prof 22", "prof 32", "a 20", "a 30", "prof 21"},
			[]string{"prof/deep - 25.0 22.0 ? noise 124.3% -52.8..+137.4 noise 2:3:2"}, []string{}},
		{"all alike", []madeRecording{"a 20 100", "prof 20 100", "prof 20 100", "a 20 100"},
			[]string{"prof/deep decode 100.0 100.0 +0.0% noise 0.0% +0.0..+0.0 ok 2:2:2", "prof/deep - 20.0 20.0 +0.0% noise 0.0% +0.0..+0.0 ok 1:2:1"}, []string{}},
		{"several tools and modes", []madeRecording{"a 60 100", "prof 22 130", "prof/light 21 104", "nsys 30 200", "nsys 30.1 201", "prof/light 21.2 105", "prof 22.1 131", "a 20 101", "a 20.1 102", "prof 22.1 132", "prof/light 21.1 106", "nsys 30.2 202"},
			[]string{"prof/deep decode 101.0 131.0 +29.7% noise 0.7% +28.8..+30.6 ok 3:3:3", "prof/deep - 20.05 22.1 +10.2% noise 1.0% +9.2..+11.3 ok 2:3:2", "prof/light decode 101.0 105.0 +4.0% noise 0.1% +3.8..+4.1 ok 3:3:3", "prof/light - 20.05 21.1 +5.5% noise 1.4% +4.0..+7.0 ok 2:3:2", "nsys/deep decode 101.0 201.0 +99.0% noise 1.5% +96.0..+102.1 ok 3:3:3", "nsys/deep - 20.05 30.1 +50.4% noise 1.1% +48.7..+52.0 ok 2:3:2"}, []string{"stage-slowed-by-profiling decode deep nsys 0.99 3 3", "stage-slowed-by-profiling decode deep prof 0.3 3 3"}},
	}
	var runs []drawing
	for _, c := range cases {
		runs = append(runs, drawing{[]string{"PD"}, nil, recordings(c.made...)})
	}
	w, drawn := drawAll(t, slices.Concat(passFacts, []string{"process_overhead"}), runs...)
	for i, c := range cases {
		got := rows(t, w, `SELECT concat_ws(' ', tool || '/' || mode, coalesce(stage, '-'), coalesce(round(baseline_median_ns / 1e6, 2)::VARCHAR, '?'), coalesce(round(workload_median_ns / 1e6, 2)::VARCHAR, '?'), coalesce(printf('%+.1f%%', 100 * overhead_ratio), '?'),
			coalesce(printf('noise %.1f%%', 100 * noise_ratio), 'noise ?'), coalesce(printf('%+.1f..%+.1f', 100 * low_ratio, 100 * high_ratio), '..'), coalesce(reason, 'ok'), baseline_recording_count || ':' || recording_count || ':' || pair_count) FROM overhead('`+drawn[i]+`')`)
		kinds := rows(t, w, "SELECT concat_ws(' ', kind, stage, subject, object, round(ratio, 2), item_count, of_count) FROM caveat WHERE topic = 'overhead' AND run_id = _run_id('"+drawn[i]+"') ORDER BY ALL")
		if want := bracketed(c.want); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if want := bracketed(c.caveat); !slices.Equal(kinds, want) {
			t.Errorf("%s says\n%s\nwant\n%s", c.name, strings.Join(kinds, "\n"), strings.Join(want, "\n"))
		}
	}
	// What stages show of a tool with several modes is one of them, and noise hides no time alone.
	last := drawn[len(drawn)-1]
	for query, want := range map[string]string{
		"SELECT count(*), round(any_value(over_alone_ratio), 3), any_value(alone_median_ns) FROM stages('" + last + "', source := 'nsys') WHERE stage = 'decode'": "[1 0.99 1.01e+08]",
		"SELECT over_alone_ratio, alone_median_ns FROM stages('" + drawn[4] + "', source := 'nsys') WHERE stage = 'decode'":                                       "[<nil> 1e+08]",
		"SELECT count(*) FROM stage_overhead WHERE is_shown AND run_id = _run_id('" + last + "')":                                                                 "[2]",
	} {
		if got := rows(t, w, query); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
}

// bracketed are values as rows of one column have them.
func bracketed(values []string) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = "[" + v + "]"
	}
	return out
}

// TestOverheadNoise holds the statistics to those of the comparisons, and counts how often noise alone is said to be an overhead.
func TestOverheadNoise(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, capturedRun(t))
	var quantiles []string
	for df := 1; df < 60; df++ {
		group := []float64{1}
		for range df {
			group = append(group, 1+0.001*float64(len(group)%7))
		}
		n := stats.LearnNoise([][]float64{group}, 0.05)
		quantiles = append(quantiles, fmt.Sprintf("(%d, %v)", df, math.Log1p(n.Floor)/n.SD/math.Sqrt2))
	}
	if got := rows(t, w, "SELECT df, t, _student_t(df) FROM (VALUES "+strings.Join(quantiles, ", ")+") v(df, t) WHERE NOT abs(_student_t(df) - t) < 2e-5"); len(got) > 0 {
		t.Errorf("t of some degrees of freedom is not as in comparisons: %v", got)
	}
	text, err := fs.ReadFile(derived.Files, "sql/capture/_overhead_noise.sql")
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(58, 3))
	const cases = 500
	for _, c := range []struct {
		name        string
		pairs       int
		drift       float64 // from one recording to the next
		effect      float64
		least, most int // of cases in which there is said to be an overhead
	}{
		{"two of each", 2, 0, 0, 0, 40}, {"three of each", 3, 0, 0, 0, 40}, {"six of each", 6, 0, 0, 0, 40}, {"three of each on a machine that slows down", 3, 0.01, 0, 0, 40},
		{"a tenth, of three each", 3, 0, 0.1, 440, cases}, {"a tenth, of three each on a machine that slows down", 3, 0.03, 0.1, 150, cases},
	} {
		testkit.Exec(t, w, "CREATE OR REPLACE TABLE _overhead_time (stage VARCHAR, tool VARCHAR, mode VARCHAR, is_profiled BOOLEAN, repeat_id INTEGER, is_cold BOOLEAN, ns DOUBLE)")
		var values []string
		for k := range cases {
			at := 0.0
			for n := range c.pairs {
				for side := range 2 {
					at += c.drift
					isProfiled := (side == 1) == (n%2 == 0)
					ns := 1e8 * math.Exp(at+0.02*r.NormFloat64())
					if isProfiled {
						ns *= 1 + c.effect
					}
					values = append(values, fmt.Sprintf("('s%d', 'prof', 'deep', %t, %d, false, %v)", k, isProfiled, n+1, ns))
				}
			}
		}
		testkit.Exec(t, w, "INSERT INTO _overhead_time VALUES "+strings.Join(values, ", "))
		got := rows(t, w, "SELECT count(*) FILTER (NOT is_noise), count(*) FROM ("+string(text)+")")
		var said, all int
		if _, err := fmt.Sscanf(got[0], "[%d %d]", &said, &all); err != nil || all != cases || said < c.least || said > c.most {
			t.Errorf("%s: of %s an overhead is said, want %d to %d of %d", c.name, got, c.least, c.most, cases)
		}
		t.Log(c.name, got)
	}
}

// TestTimedByWorkload: passes that the workload timed without a profiler are compared with the traced ones where both did the same work, and where its times of
// the traced ones are those of the stage; what prof's helper timed goes before.
func TestTimedByWorkload(t *testing.T) {
	t.Parallel()
	const both, other = "decode:68.4/88.4:3:1 prefill:10.2/11.2:3:1", "decode:other-work prefill:other-work"
	w := testkit.Copy(t, llamaRun)
	for _, c := range []struct{ change, want string }{
		{"", both},
		{"INSERT INTO workload_alone SELECT * REPLACE (98 AS source_id) FROM workload_alone", "decode:68.4/88.4:6:2 prefill:10.2/11.2:6:2"},
		{"UPDATE workload_alone SET decode_ns = NULL", "prefill:10.2/11.2:3:1"},
		{"UPDATE workload_alone SET vision_ns = 5", both}, // the timeline has no such stage
		{"UPDATE workload_alone SET batch_count = 2", other},
		{"UPDATE workload_alone SET decode_count = 31 WHERE pass_id = 2", other},
		{"UPDATE workload_alone SET input = 'invoice'", other},
		{"DELETE FROM workload_alone WHERE pass_id = 3", other},
		{"UPDATE workload_pass SET decode_ns = decode_ns // 32", "decode:other-work prefill:10.2/11.2:3:1"},
		{"UPDATE workload_pass SET decode_ns = NULL", "decode:other-work prefill:10.2/11.2:3:1"},
		{"UPDATE workload_pass SET decode_ns = NULL WHERE pass_id = 2", "decode:other-work prefill:10.2/11.2:3:1"},
		{"UPDATE workload_pass SET is_warmup = true WHERE pass_id = 1; UPDATE workload_alone SET is_warmup = true WHERE pass_id = 1", "decode:68.4/88.4:2:1 prefill:10.2/11.2:2:1"},
		{"INSERT INTO stage_execution (run_id, source_id, pass_id, pid, execution_id, path, is_warmup, cpu_ns) SELECT run_id, 97, 1, 1, 1, 'decode', false, 5 FROM run", ""},
	} {
		testkit.Exec(t, w, "CREATE OR REPLACE TEMP TABLE before AS FROM workload_pass; DELETE FROM workload_alone")
		testkit.Exec(t, w, `INSERT INTO workload_alone SELECT run_id, 99, pass_id, is_warmup, prefill_count, decode_count, batch_count, image_count, crop_count, prefill_ns - 1000000, decode_ns - 20000000, vision_ns, input FROM workload_pass; `+c.change)
		testkit.DeriveOnly(t, w, "stage_overhead")
		var got []string
		for _, r := range rowsOf(t, w, "SELECT stage || ':' || coalesce(reason, format('{:.1f}/{:.1f}:{}:{}', alone_median_ns / 1e6, profiled_median_ns / 1e6, alone_count, alone_recording_count)) FROM stage_overhead ORDER BY stage") {
			got = append(got, fmt.Sprint(r[0]))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s", c.change, got)
		}
		testkit.Exec(t, w, "DELETE FROM workload_pass; INSERT INTO workload_pass FROM before")
	}
}
