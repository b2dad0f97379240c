package queries_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
	"prof/schema/rundir"
)

// nodeFolders makes the folders of two nodes of a job, whose processes have the same id, as in containers: the capture of one, copied. Each says what it
// worked on.
func nodeFolders(t *testing.T, facts ...string) (dirs []string) {
	t.Helper()
	for node, text := range facts {
		dir := capturedFolder(t)
		withInputs(t, dir, "job", givenInputs())
		m, err := rundir.ReadManifest(filepath.Join(dir, rundir.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		m.Node = &rundir.Node{Rank: node, Count: len(facts), Job: "j", JobBy: "--run"}
		if err := m.Write(dir); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"report-1", "report-2"} {
			file := filepath.Join(dir, "nsys", name+".sqlite")
			data, err := os.ReadFile(file)
			id := regexp.MustCompile(`PROFILING_SESSION_UUID[0-9a-f-]{36}`).Find(data)
			if err != nil || id == nil {
				t.Fatal(err, id)
			}
			if err := os.WriteFile(file, bytes.ReplaceAll(data, id[len(id)-6:], []byte(strings.Repeat(string(rune('a'+node)), 6))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(dir, "nsys", "workload.json")
		if text == "" {
			err = os.Remove(file)
		} else {
			err = os.WriteFile(file, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// nodeRun is a run of the folders of two nodes.
func nodeRun(t *testing.T, name string, facts ...string) testkit.Run {
	return testkit.Run{Name: name, Key: strings.Join(facts, "\n"), Sources: []string{"testdata/capture/repeats", "testdata/nsys/llama-graph-node", "queries/node_facts_test.go", "queries/capture_test.go", "queries/input_test.go"},
		Make: func(string) ([]string, error) { return nodeFolders(t, facts...), nil }}
}

// TestNodeFacts: what a node's facts say is about that node's processes, also where those of another have the same ids.
func TestNodeFacts(t *testing.T) {
	t.Parallel()
	passes := func(prefill int, input string) string {
		one := fmt.Sprintf(`{"prefill_len": %[1]d, "vision_ms": %[1]d, "new_tokens": 32, "input": "%[2]s"}`, prefill, input)
		return "[" + strings.Join([]string{one, one, one}, ", ") + "]"
	}
	pid := capturedPID(t)
	ranks := func(rank, prefill int, input string, more ...string) string {
		return fmt.Sprintf(`{"processes": [{"pid": %s, "rank": %d, "world_size": 2, %s"runs": %s}]}`, pid, rank, strings.Join(more, ""), passes(prefill, input))
	}
	const split = `"tensor_parallel": 2, `
	plain := func(prefill int, input string) string { return `{"runs": ` + passes(prefill, input) + `}` }
	const tokens = `SELECT h.node_rank, min(s.prompt_token_count), max(s.prompt_token_count), count(s.prompt_token_count) = count(*), min(i.input), max(i.input) FROM stage_pass s JOIN source_host h USING (run_id, source_id) LEFT JOIN pass_input i USING (run_id, range_id)
		WHERE s.stage = 'prefill' AND NOT s.is_warmup AND s.run_id = _run_id('%s') GROUP BY 1 ORDER BY 1`
	cases := map[string]struct {
		facts []string
		want  string
		total string // of the prefill: three passes of each node in each of two repeats
	}{
		"a file each":   {[]string{plain(100, "a"), plain(7, "b")}, "[0 100 100 true a a] [1 7 7 true b b]", "<nil>"},
		"a rank each":   {[]string{ranks(0, 100, "a"), ranks(1, 7, "b")}, "[0 100 100 true a a] [1 7 7 true b b]", fmt.Sprint(6 * 107)},
		"a model split": {[]string{ranks(0, 100, "a", split), ranks(1, 100, "a", split)}, "[0 100 100 true a a] [1 100 100 true a a]", fmt.Sprint(6 * 100)},
		"one is split":  {[]string{ranks(0, 100, "a"), ranks(1, 100, "a", split)}, "[0 100 100 true a a] [1 100 100 true a a]", "<nil>"},
		"a rank of two": {[]string{ranks(0, 100, "a"), plain(7, "b")}, "[0 100 100 true a a] [1 7 7 true b b]", "<nil>"},
		"one of a node": {[]string{ranks(0, 100, "a"), ""}, "[0 100 100 true a a] [1 <nil> <nil> false <nil> <nil>]", "<nil>"},
		"the same file": {[]string{plain(100, "a"), plain(100, "a")}, "[0 100 100 true a a] [1 100 100 true a a]", "<nil>"},
	}
	names := sample.Of(slices.Sorted(maps.Keys(cases)), 3)
	of := []string{"stage_pass", "stage_share", "pass_input", "source_host", "pass_time", "caveat_workload"}
	var runs []testkit.Run
	for _, what := range names {
		r := nodeRun(t, what, cases[what].facts...)
		r.Facts = of
		runs = append(runs, r)
		if what == "a model split" { // nodes that call different files the same
			r.Name, r.SQL = "another a", "UPDATE capture_input SET sha256 = 'another' WHERE run_id = $run AND input = 'a' AND source_id = (SELECT max(source_id) FROM capture_input WHERE run_id = $run)"
			runs = append(runs, r)
		}
	}
	w := testkit.Warehouse(t, runs...)
	for _, what := range names {
		c := cases[what]
		t.Run(what, func(t *testing.T) {
			if got := strings.Join(rows(t, w, fmt.Sprintf(tokens, what)), " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := strings.Trim(rows(t, w, fmt.Sprintf("SELECT token_count FROM stages('%s') WHERE stage = 'prefill'", what))[0], "[]"); got != c.total {
				t.Errorf("tokens: got %s, want %s", got, c.total)
			}
			inputs := map[string]string{"a rank each": "[a 600] [b 42]", "a model split": "[a 600]"}[what]
			if got := strings.Join(rows(t, w, fmt.Sprintf("SELECT input, token_count FROM input_stages('%s', stage := 'prefill') WHERE token_count IS NOT NULL", what)), " "); got != inputs {
				t.Errorf("tokens of inputs: %q, want %q", got, inputs)
			}
			if what == "a file each" {
				if got := fmt.Sprint(rows(t, w, "SELECT metric, mean, passes FROM aggregates('"+what+"') WHERE stage = 'vision'")); got != "[[workload_vision_ns 5.35e+07 6]]" {
					t.Errorf("times by the workload: %s", got)
				}
			}
			if what == "a model split" {
				if got := rows(t, w, "SELECT input, path FROM input_stages('another a') WHERE input IS NOT NULL"); len(got) > 0 {
					t.Errorf("an input that is two: %q", got)
				}
			}
			want := map[string]string{"one of a node": "process-without-facts steps-do-not-match"}[what]
			if got := strings.Trim(rows(t, w, fmt.Sprintf("SELECT coalesce(string_agg(kind, ' ' ORDER BY kind), '') FROM caveat WHERE topic = 'workload' AND run_id = _run_id('%s')", what))[0], "[]"); got != want {
				t.Errorf("notes: %q, want %q", got, want)
			}
		})
	}
}

// capturedPID is the process of the captured folder's ranges.
func capturedPID(t *testing.T) string {
	t.Helper()
	return strings.Trim(rows(t, testkit.All(t), "SELECT DISTINCT pid FROM nvtx_range WHERE run_id = _run_id('llama-graph-node')")[0], "[]")
}

// TestNodeFactsOfAll: facts of the whole job say nothing of processes whose id two of its nodes have, and of no input where several processes ran.
func TestNodeFactsOfAll(t *testing.T) {
	t.Parallel()
	const one = `[{"prefill_len": 100, "new_tokens": 32, "input": "a"}]`
	var runs []testkit.Run
	for _, c := range [][2]string{{"with processes", `{"processes": [{"pid": ` + capturedPID(t) + `, "rank": 0, "runs": ` + one + `}]}`}, {"without", `{"runs": ` + one + `}`}} {
		file := filepath.Join(t.TempDir(), "workload.json")
		if err := os.WriteFile(file, []byte(c[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		r := nodeRun(t, c[0], "", "")
		r.Options.Workloads, r.Facts = []string{file}, []string{"stage_pass", "pass_input", "source_host"}
		runs = append(runs, r)
	}
	w := testkit.Warehouse(t, runs...)
	for what, want := range map[string]string{"with processes": "[0 0 0] [1 0 0]", "without": "[0 2 0] [1 2 0]"} {
		if got := strings.Join(rows(t, w, `SELECT h.node_rank, count(s.prompt_token_count), count(i.input) FROM stage_pass s JOIN source_host h USING (run_id, source_id) LEFT JOIN pass_input i USING (run_id, range_id)
			WHERE s.stage = 'prefill' AND NOT s.is_warmup AND s.run_id = _run_id('`+what+`') GROUP BY 1 ORDER BY 1`), " "); got != want {
			t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
}

// TestNodeOverhead: how long a job took is unknown where it is of one of its nodes.
func TestNodeOverhead(t *testing.T) {
	t.Parallel()
	cases := map[string]string{"12": "[12 <nil>]", "NULL": "[<nil> <nil>]"}
	others := slices.Sorted(maps.Keys(cases))
	var runs []drawing
	for _, other := range others {
		runs = append(runs, drawing{[]string{"PD"}, nil, []string{fmt.Sprintf(`INSERT INTO capture_pass (run_id, source_id, pass_id, name, tool, mode, repeat_id, command, started_at, status, is_marked, workload_ns)
			SELECT $run, s, p, 'n', tool, tool, 1, '', TIMESTAMP '2026-01-01', 'ok', true, ns FROM (VALUES (2, 1, 'none', 10), (3, 1001, 'none', %s), (2, 2, 'nsys', 20), (3, 1002, 'nsys', NULL)) v(s, p, tool, ns)`, other)}})
	}
	w, drawn := drawAll(t, []string{"process_overhead"}, runs...)
	for i, other := range others {
		if got := rows(t, w, "SELECT baseline_median_ns, workload_median_ns FROM overhead('"+drawn[i]+"') WHERE stage IS NULL"); fmt.Sprint(got) != "["+cases[other]+"]" {
			t.Errorf("another node's time is %s: %v, want %s", other, got, cases[other])
		}
	}
}
