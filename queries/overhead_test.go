package queries_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
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
		}, clock: "gpu", ratio: 1},
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
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		runs = append(runs, testkit.Run{Name: name, Sources: []string{"testdata/capture/repeats", "testdata/nsys/llama-graph-node", "testdata/workload", "queries/overhead_test.go", "queries/capture_test.go"}, Facts: slices.Concat(passFacts, []string{"pass_cost", "kernel_precision", "model_size"}),
			Make: func(string) ([]string, error) { return []string{timedFolder(t, ranges, pid, cases[name].of)}, nil }})
	}
	w := testkit.Warehouse(t, runs...)
	for name, c := range cases {
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
