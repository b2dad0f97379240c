package queries_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/queries"
	"prof/schema/rundir"
)

// givenInputs are inputs of a manifest: a has two pages, b and c are other files, and c has the content of b.
func givenInputs() []rundir.Input {
	n, pages := int64(3), int64(2)
	return []rundir.Input{{ID: "a", Path: "/data/a.png", Size: &n, SHA256: strings.Repeat("aa", 32), Pages: &pages, Width: &n, Tags: map[string]string{"language": "de"}},
		{ID: "b", Path: "/data/b.png", Size: &n, SHA256: strings.Repeat("bb", 32)}, {ID: "c", Path: "/data/c.png", Size: &n, SHA256: strings.Repeat("bb", 32)}}
}

// withInputs gives the run of a captured folder inputs, and the passes of its facts those that are named, in order; none leaves the facts.
func withInputs(t *testing.T, dir, run string, given []rundir.Input, worked ...string) {
	t.Helper()
	m, err := rundir.ReadManifest(filepath.Join(dir, rundir.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	m.Run, m.Inputs = run, given
	if err := m.Write(dir); err != nil {
		t.Fatal(err)
	}
	facts := filepath.Join(dir, "nsys", "workload.json")
	text, err := os.ReadFile(facts)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	runs := doc["runs"].([]any)
	for len(runs) < len(worked) {
		runs = append(runs, runs[0])
	}
	for i, input := range worked {
		one := map[string]any{"input": input}
		for k, v := range runs[i].(map[string]any) {
			if k != "input" {
				one[k] = v
			}
		}
		runs[i] = one
	}
	doc["runs"] = runs
	if text, err = json.Marshal(doc); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(facts, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// inputFacts are what is known of inputs and of the passes that worked on them, and all that is said with them.
var inputFacts = []string{"pass_input", "input_alone", "stage_pass", "stage_overhead", "range_sum", "caveat", "caveat_input", "caveat_iteration", "caveat_overhead", "caveat_pass", "caveat_work", "caveat_workload"}

// inputRun returns a captured folder with inputs as a run.
func inputRun(t *testing.T, name string, given []rundir.Input, worked ...string) testkit.Run {
	t.Helper()
	dir := capturedFolder(t)
	withInputs(t, dir, name, given, worked...)
	return testkit.Run{Name: name, Files: []string{dir}, Facts: inputFacts}
}

// TestInputStages holds which pass is taken to have worked on which input by the facts of the workload, and what is made of that.
func TestInputStages(t *testing.T) {
	t.Parallel()
	cases := sample.Of([]struct {
		name   string
		worked []string
		given  []rundir.Input
		want   string // input, stage, passes
		notes  string
	}{
		{"each is known", []string{"a", "b", "a"}, givenInputs(), "a prefill 4, b prefill 2, a decode 4, b decode 2", ""},
		{"one is not listed", []string{"a", "z", "a"}, givenInputs(), "a prefill 4, <nil> prefill 2, a decode 4, <nil> decode 2", `names 1 input that is not in the manifest of --inputs, such as "z"`},
		{"one is not said", []string{"a", "", "b"}, givenInputs(), "a prefill 2, b prefill 2, <nil> prefill 2, a decode 2, b decode 2, <nil> decode 2", "the input of 2 of 6 prefill passes is unknown"},
		{"more passes than the timeline has", []string{"a", "b", "a", "b"}, givenInputs(), "", "the input of 6 of 6 prefill passes is unknown"},
		{"no manifest", []string{"a", "b", "a"}, nil, "", "the workload names inputs, but the run has no manifest of them"},
		{"nothing said", nil, givenInputs(), "", "the input of 6 of 6 prefill passes is unknown"},
		{"neither", nil, nil, "", ""},
	}, 3)
	var runs []testkit.Run
	for _, c := range cases {
		runs = append(runs, inputRun(t, c.name, c.given, c.worked...))
	}
	w := testkit.Warehouse(t, append(runs, severalProcesses(t))...)
	for _, c := range cases {
		f := testkit.Query(t, w, "input-stages", queries.Args{"run": c.name})
		var got []string
		for _, r := range f.Rows {
			got = append(got, fmt.Sprintf("%v %v %v", r[f.Index("input")], r[f.Index("stage")], r[f.Index("passes")]))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: got  %s\nwant %s", c.name, strings.Join(got, ", "), c.want)
		}
		if said := strings.Join(f.Notes, "\n"); !strings.Contains(said, c.notes) || c.notes == "" && strings.Contains(said, "input") {
			t.Errorf("%s: notes:\n%s", c.name, said)
		}
	}
	// By hand: the passes of each repeat in their order, and the first of each is not listed.
	want := rows(t, w, `SELECT CASE WHEN s.pass_id = 3 THEN 'b' ELSE 'a' END AS input, s.stage, median(s.gpu_span_ns), sum(s.prompt_token_count + s.decode_token_count), median(s.gpu_span_ns) / CASE WHEN s.pass_id <> 3 THEN 2 END
		FROM stage_pass s WHERE s.run_id = _run_id('each is known') AND NOT s.is_warmup GROUP BY 1, 2, s.pass_id <> 3 ORDER BY s.stage DESC, 1`)
	if got := rows(t, w, `SELECT input, stage, gpu_span_median_ns, token_count, gpu_span_per_page_ns FROM input_stages('each is known')`); !slices.Equal(got, want) || len(want) != 4 {
		t.Errorf("by input:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := rows(t, w, `SELECT input, width_count, page_count, tags FROM inputs('each is known')`); !slices.Equal(got, []string{"[a 3 2 language=de]", "[b <nil> <nil> <nil>]", "[c <nil> <nil> <nil>]"}) {
		t.Errorf("inputs: %q", got)
	}
	// Facts of one process say nothing of the passes of others.
	if f := testkit.Query(t, w, "input-stages", queries.Args{"run": "several"}); len(f.Rows) > 0 || !strings.Contains(strings.Join(f.Notes, "\n"), "as with several processes") {
		t.Errorf("several processes: %v %q", f.Rows, f.Notes)
	}
}

// severalProcesses returns a run whose two timelines are of one recording, as of two ranks.
func severalProcesses(t *testing.T) testkit.Run {
	t.Helper()
	run := inputRun(t, "several", givenInputs(), "a", "b", "a")
	m, err := rundir.ReadManifest(filepath.Join(run.Files[0], rundir.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Passes {
		p := &m.Passes[i]
		switch p.Name {
		case "nsys-1":
			p.Artifacts = []string{"nsys/report-1.sqlite", "nsys/report-2.sqlite"}
		case "nsys-2":
			p.Artifacts = nil
		}
	}
	if err := m.Write(run.Files[0]); err != nil {
		t.Fatal(err)
	}
	return run
}

// TestInputAlone holds the times of inputs without a profiler, and that executions on different inputs are not compared.
func TestInputAlone(t *testing.T) {
	t.Parallel()
	ranges, pid := llamaRanges(t, testkit.Warehouse(t, capturedRun(t)), "repeats")
	order := map[int]string{}
	for nth, r := range ranges { // of each stage the passes in turn
		n := 0
		for _, before := range ranges[:nth] {
			if before.path == r.path {
				n++
			}
		}
		order[nth] = []string{"a", "b", "c"}[n]
	}
	var runs []testkit.Run
	for _, name := range []string{"as given", "shuffled"} {
		dir := timedFolder(t, ranges, pid, func(recording string, nth int, r timed) *timed {
			r.input, r.warm = order[nth], 0
			r.gpu += 500_000
			if strings.HasPrefix(recording, "baseline") {
				r.gpu = int64(len(order[nth])) * 1_000_000 * int64(order[nth][0]-'a'+1)
				if name == "shuffled" && r.input != "a" {
					r.input = map[string]string{"b": "c", "c": "b"}[r.input]
				}
			}
			return &r
		})
		withInputs(t, dir, name, givenInputs())
		runs = append(runs, testkit.Run{Name: name, Files: []string{dir}, Facts: inputFacts})
	}
	w := testkit.Warehouse(t, runs...)
	for run, want := range map[string][]string{"as given": {"[b prefill 2 2e+06 3 gpu 2e+06]", "[c prefill 2 3e+06 3 gpu 3e+06]"}, "shuffled": {"[b prefill 2 3e+06 3 gpu 3e+06]", "[c prefill 2 2e+06 3 gpu 2e+06]"}} {
		if got := rows(t, w, `SELECT input, stage, passes, alone_median_ns, alone_count, alone_clock, alone_mean_ns FROM input_stages('`+run+`', stage := 'prefill') WHERE input <> 'a'`); !slices.Equal(got, want) {
			t.Errorf("%s: %q", run, got)
		}
		reason := testkit.Query(t, w, "overhead", queries.Args{"run": run})
		if got := rowOf(t, reason, "mode stage", "deep", "prefill")[reason.Index("reason")]; (got == "other-work") != (run == "shuffled") {
			t.Errorf("%s: the reason is %v", run, got)
		}
		// c has the content of b: over runs they are one.
		if got := rows(t, w, `SELECT input, run_count, passes, alone_median_ns FROM input_times(stage := 'prefill', runs := '`+run+`') WHERE page_count IS NULL`); !slices.Equal(got, []string{"[b, c 1 4 2.5e+06]"}) {
			t.Errorf("%s, over runs: %q", run, got)
		}
	}
}

// TestInputTimes holds the same inputs over several runs.
func TestInputTimes(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, inputRun(t, "one", givenInputs(), "a", "b", "a"), inputRun(t, "two", givenInputs(), "a", "b", "a"))
	testkit.Exec(t, w, "INSERT INTO run_tag SELECT run_id, 'suite', name FROM run; UPDATE stage_pass SET gpu_span_ns = 3 * gpu_span_ns WHERE run_id = _run_id('two')")
	for call, want := range map[string]string{"": "2 true one two", "runs := 'two'": "1 false two two", "runs := 'one,two'": "2 true one two", "tag := 'suite=one'": "1 true one one"} {
		got := rows(t, w, `SELECT input, stage, run_count, gpu_span_median_ns = (SELECT median(s.gpu_span_ns) FROM stage_pass s JOIN pass_input i USING (run_id, range_id) WHERE s.run_id = _run_id('one') AND NOT s.is_warmup AND s.stage = 'decode' AND i.input = 'b') * CASE run_count WHEN 2 THEN 2 ELSE 1 END AS is_so, fastest_run, slowest_run
			FROM input_times(`+call+`) WHERE input = 'b, c' AND stage = 'decode'`)
		if !slices.Equal(got, []string{"[b, c decode " + want + "]"}) {
			t.Errorf("%s: %q", call, got)
		}
	}
	if got := rows(t, w, `FROM input_times(runs := 'three')`); len(got) > 0 {
		t.Errorf("of no run: %q", got)
	}
}

// TestInputTokens: tokens of executions that are more than the warehouse can count are unknown.
func TestInputTokens(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	for counts, want := range map[[2]int64]string{{3, 1}: "6", {1 << 40, 1 << 40}: "<nil>", {1 << 22, 1 << 40}: "<nil>"} { // the last: each can be counted, but not all
		draw(t, w, "P")
		testkit.Exec(t, w, fmt.Sprintf(`DELETE FROM capture_pass; DELETE FROM capture_input; DELETE FROM stage_execution;
			INSERT INTO capture_pass (run_id, source_id, pass_id, name, tool, mode, repeat_id, command, started_at, status, is_marked) SELECT '%[1]s', 2, 1, 'baseline-1', 'none', 'baseline', 1, '', TIMESTAMP '2026-01-01', 'ok', true;
			INSERT INTO capture_input (run_id, source_id, path, input) SELECT '%[1]s', 2, 'a.png', 'a';
			INSERT INTO stage_execution (run_id, source_id, pass_id, pid, execution_id, path, is_warmup, batch_count, token_count, cpu_ns, input) SELECT '%[1]s', 2, 1, 7, n, 'prefill', false, %[2]d, %[3]d, 5, 'a' FROM range(1, 3) r(n)`, timelineRun, counts[0], counts[1]))
		testkit.DeriveOnly(t, w, "input_alone")
		if got := rows(t, w, "SELECT alone_count, token_count FROM input_alone"); fmt.Sprint(got) != "[[2 "+want+"]]" {
			t.Errorf("%d sequences and tokens: %v, want %s", counts, got, want)
		}
	}
}
