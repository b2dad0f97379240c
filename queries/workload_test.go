package queries_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// timelineRun is the id of a run made by draw.
const timelineRun = "01890000-0000-7000-8000-00000000000a"

// kinds are the ranges that timelines are drawn with, by letter: name, stage, note.
var kinds = map[rune][3]string{'P': {"prefill", "prefill"}, 'D': {"decode_all", "decode"}, 'S': {"decode_step[7]", "decode"}, 'E': {"encode", "encode"},
	'W': {"warmup", "prefill"}, 'V': {"vision", "prefill", "vision"}}

// draw makes the only run of a warehouse, with a timeline of Nsight Systems as source 1; see drawn.
func draw(t *testing.T, w *schema.Warehouse, processes ...string) {
	t.Helper()
	stmts := []string{"BEGIN"}
	for _, table := range []string{"run", "source", "range_path", "path_stage", "nvtx_range", "range_device", "workload", "workload_pass", "workload_process"} {
		stmts = append(stmts, "DELETE FROM "+table)
	}
	stmts = append(append(append(stmts, "INSERT INTO run SELECT '"+timelineRun+"', 'drawn', TIMESTAMP '2026-01-01', NULL, NULL, NULL, 'test'"), drawnRun(timelineRun, 0, processes...)...), "COMMIT")
	testkit.Exec(t, w, strings.Join(stmts, ";\n"))
}

// drawnRun returns a run, but for its row, the source 1, whose ranges are counted from a number on. There is a text for each of the processes 1, 2, ... with a letter for each of
// its ranges, 100 ns apart. A range takes 80 ns, and its GPU works from 10 to 60 ns after its start; a vision part is the first 30 ns of
// the prefill before it. A small letter is work on GPU 1 and not 0.
func drawnRun(run string, id int, processes ...string) []string {
	stmts := []string{sourceOf(run, 1, "nsys")}
	path, base := map[rune]int{}, id
	for pid, marks := range processes {
		at := 0
		for _, m := range marks {
			letter, gpu := m, 0
			if m >= 'a' {
				letter, gpu = m-'a'+'A', 1
			}
			k := kinds[letter]
			if path[letter] == 0 {
				n := base + len(path) + 1
				path[letter] = n
				stage, note := fmt.Sprint(n), "NULL"
				if k[2] != "" {
					stage, note = note, stage
				}
				stmts = append(stmts, fmt.Sprintf("INSERT INTO range_path SELECT '%s', %d, 1, '', '%[3]s', [%[2]d], '%[3]s'", run, n, k[0]),
					fmt.Sprintf("INSERT INTO path_stage SELECT '%s', %d, '%s', %s, nullif('%s', ''), %s, %t", run, n, k[1], stage, k[2], note, letter == 'W'))
			}
			start, duration := 100*at, 80
			if letter == 'V' {
				start, duration = start-100, 30
			} else {
				at++
			}
			id++
			stmts = append(stmts, fmt.Sprintf("INSERT INTO nvtx_range SELECT '%s', 1, %d, NULL, %d, %d, 1, NULL, 'push_pop', '', '%s', NULL, %d, %d", run, id, path[letter], pid+1, k[0], start, duration),
				fmt.Sprintf("INSERT INTO range_device SELECT '%s', %d, %d, %d, %d, 40, 45, 40, 3, 1, 0", run, id, gpu, start+10, start+60))
		}
	}
	return stmts
}

func sourceRow(id int, kind string) string { return sourceOf(timelineRun, id, kind) }

func sourceOf(run string, id int, kind string) string {
	return fmt.Sprintf("INSERT INTO source SELECT '%s', %d, '%s', '%[3]s', 'file-%[2]d', NULL, NULL, NULL, 1, 'sum-%[2]d', 1, 'ok', NULL, NULL, 1000, NULL, NULL, NULL", run, id, kind)
}

// drawing is one of the made-up runs of a warehouse: its timeline, and what is said of its workload, as the sources 2, 3, ...
type drawing struct {
	processes []string
	facts     []facts
	more      []string // statements
}

// drawAll returns a warehouse with runs and some of their facts, and the names of the runs.
func drawAll(t *testing.T, of []string, drawings ...drawing) (*schema.Warehouse, []string) {
	t.Helper()
	var runs []testkit.Run
	var names []string
	for i, d := range drawings {
		name := fmt.Sprint("drawn-", i+1)
		id := testkit.RunID(name)
		stmts := drawnRun(id, 1000*(i+1), d.processes...)
		for n, f := range d.facts {
			stmts = append(stmts, f.of(id, 2+n)...)
		}
		runs, names = append(runs, testkit.Run{Name: name, SQL: strings.Join(append(stmts, d.more...), ";\n"), Facts: of}), append(names, name)
	}
	return testkit.Warehouse(t, runs...), names
}

// facts are what a workload says.
type facts struct {
	passes   string // a word for each pass: prompt/steps, warm-up with w before, more as /batch/images; * before: every pass; PID: before: of that process
	warmups  string // NULL where empty
	capture  string
	parallel string // ranks that share the model of each process; NULL where empty
	isOption bool   // said on the command line, not in a file
	isTwice  bool   // of the process 1, which is listed as two
}

func addFacts(t *testing.T, w *schema.Warehouse, source int, f facts) {
	t.Helper()
	testkit.Exec(t, w, "BEGIN;\n"+strings.Join(f.of(timelineRun, source), ";\n")+";\nCOMMIT")
}

// of returns the rows of the facts as a source of a run.
func (f facts) of(run string, source int) []string {
	null := func(s, quote string) string {
		if s == "" || s == "?" {
			return "NULL"
		}
		return quote + s + quote
	}
	form := "workload"
	if f.isOption {
		form = "options"
	}
	stmts := []string{strings.Replace(sourceOf(run, source, "workload"), "'workload', 'workload'", "'workload', '"+form+"'", 1), fmt.Sprintf("INSERT INTO workload SELECT '%s', %d, NULL, %s, %s", run, source, null(f.warmups, ""), null(f.capture, "'"))}
	process := map[string]int{}
	for i, word := range strings.Fields(f.passes) {
		id, of := fmt.Sprint(i+1), "NULL"
		if pid, rest, ok := strings.Cut(word, ":"); ok {
			if word = rest; process[pid] == 0 {
				process[pid] = len(process) + 1
				stmts = append(stmts, fmt.Sprintf("INSERT INTO workload_process SELECT '%s', %d, %d, %s, %[3]d - 1, 2, %[5]s", run, source, process[pid], pid, null(f.parallel, "")))
			}
			of = fmt.Sprint(process[pid])
		}
		rest, each := strings.CutPrefix(word, "*")
		if each {
			id = "NULL"
		}
		rest, warm := strings.CutPrefix(rest, "w")
		n := append(strings.Split(rest, "/"), "", "", "")
		batch := n[2]
		if batch == "" {
			batch = "1"
		}
		stmts = append(stmts, fmt.Sprintf("INSERT INTO workload_pass SELECT '%s', %d, %s, %t, %s, %s, %s, %s, NULL, 1500, 2500, NULL, NULL, %s", run, source, id, warm, null(n[0], ""), null(n[1], ""), batch, null(n[3], ""), of))
	}
	if f.isTwice {
		stmts = append(stmts, fmt.Sprintf("INSERT INTO workload_process SELECT * REPLACE (9 AS process_id) FROM workload_process WHERE pid = 1 AND run_id = '%[1]s'; INSERT INTO workload_pass SELECT * REPLACE (9 AS process_id, 9 AS pass_id) FROM workload_pass WHERE process_id = 1 AND run_id = '%[1]s'", run))
	}
	return stmts
}

// matched returns a word for each pass in the order of process and time: (warm-up in brackets) prompt tokens of a prefill, steps@context
// before them of a decode, ? where nothing is said.
func matched(t *testing.T, w *schema.Warehouse, run, args string) string {
	t.Helper()
	f, err := queries.Raw(t.Context(), w, `SELECT CASE WHEN basis IS NULL THEN '?' WHEN stage = 'decode' THEN concat(step_count, '@', coalesce(before_count::VARCHAR, '?')) ELSE coalesce(prompt_length_count::VARCHAR, '-') END, is_warmup
		FROM _stage_pass(_run_id('`+run+`')`+args+`) ORDER BY source_id, pid, start_ns`)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range f.Rows {
		word := r[0].(string)
		if r[1].(bool) {
			word = "(" + word + ")"
		}
		out = append(out, word)
	}
	return strings.Join(out, " ")
}

// TestPassFacts holds which facts of the workload are taken for which pass of the timeline, which passes are warm-up by them, and what
// a reader is told where they do not fit.
func TestPassFacts(t *testing.T) {
	t.Parallel()
	const lost, none = "which ones, and their tokens, are unknown", ""
	cases := map[string]struct {
		timeline, want, note string
		facts                facts
	}{
		"as many":                    {"PDPD", "100 3@100 200 4@200", none, facts{passes: "100/3 200/4"}},
		"more in the timeline":       {"PDPDPD", "(?) (?) 100 3@100 200 4@200", none, facts{passes: "100/3 200/4"}},
		"fewer, alike":               {"PD", "100 3@100", "lists 2 measured passes, but the timeline has only 1 of prefill: all listed passes have the same tokens, so theirs are known", facts{passes: "100/3 100/3"}},
		"fewer, not alike":           {"PD", "? ?", "lists 2 measured passes, but the timeline has only 1 of prefill: " + lost, facts{passes: "100/3 200/4"}},
		"every pass":                 {"PDPD", "100 3@100 100 3@100", none, facts{passes: "*100/3"}},
		"every pass and a warm-up":   {"PDPDPD", "(100) (3@100) 100 3@100 100 3@100", none, facts{passes: "*100/3", warmups: "1"}},
		"warm-up alone":              {"PDPDPD", "(?) (?) ? ? ? ?", none, facts{warmups: "1"}},
		"nothing but warm-up":        {"PD", "(100) (3@100)", "the only prefill pass is warm-up", facts{passes: "*100/3", warmups: "2"}},
		"listed warm-up":             {"PDPDPD", "(10) (2@10) 100 3@100 200 4@200", none, facts{passes: "w10/2 100/3 200/4"}},
		"listed warm-up left out":    {"PDPD", "100 3@100 200 4@200", none, facts{passes: "w10/2 100/3 200/4"}},
		"warm-up before listed ones": {"PDPDPDPD", "(?) (?) (10) (2@10) 100 3@100 200 4@200", none, facts{passes: "w10/2 100/3 200/4"}},
		"warm-up between":            {"PDPDPD", "100 3@100 (10) (2@10) 200 4@200", none, facts{passes: "100/3 w10/2 200/4"}},
		"all listed are warm-up":     {"PDPDPD", "(?) (?) (10) (2@10) (20) (2@20)", "all 3 decode passes are warm-up according to the workload", facts{passes: "w10/2 w20/2"}},
		"warm-up by a rule":          {"WDPDPD", "(?) (?) 100 3@100 200 4@200", none, facts{passes: "100/3 200/4"}},
		"prefill alone as warm-up":   {"PPDPD", "(?) 100 3@100 200 4@200", none, facts{passes: "100/3 200/4"}},
		"all prefills first":         {"PPPDDD", "(?) 100 200 (?) 3@100 4@200", none, facts{passes: "100/3 200/4"}},
		"prompts unknown":            {"PDPD", "? 16@? ? 16@?", none, facts{passes: "*?/16"}},
		"steps unknown":              {"PDPD", "50 ? 50 ?", none, facts{passes: "*50/?"}},
		"another stage":              {"EPDEPD", "(?) (?) (?) ? 50 2@50", none, facts{passes: "50/2"}},
		"steps":                      {"PSSSPSSS", "100 1@100 1@101 1@102 100 1@100 1@101 1@102", "6 decode passes count as one decode step each, but the workload decodes up to 3 steps per pass", facts{passes: "*100/3"}},
		"steps and a warm-up":        {"PSSPSSS", "(100) (1@100) (1@101) 100 1@100 1@101 1@102", "3 decode passes count as one", facts{passes: "*100/3", warmups: "1"}},
		"steps of listed passes":     {"PSSPSSSPSSSS", "(?) (?) (?) 100 1@100 1@101 1@102 200 1@200 1@201 1@202 1@203", "7 decode passes count as one decode step each, but the workload decodes up to 4 steps per pass", facts{passes: "100/3 200/4"}},
		"steps cut off":              {"PSSSSPS", "9 1@9 1@10 1@11 1@12 9 1@9", "5 decode passes", facts{passes: "*9/4"}},
		"steps from the middle":      {"SSPSSS", "? ? 9 1@9 1@10 1@11", "2 decode passes do not match the number of steps", facts{passes: "*9/3"}},
		"one step short":             {"PSSSPSSS", "9 1@9 1@10 1@11 9 1@9 1@10 1@11", "6 decode passes count as one", facts{passes: "*9/4"}},
		"parts of several steps":     {"PSSPSS", "9 ? ? 9 ? ?", "4 decode passes do not match the number of steps", facts{passes: "*9/4"}},
		"more than the steps":        {"PSSSPSSS", "9 ? ? ? 9 ? ? ?", "6 decode passes do not match the number of steps", facts{passes: "*9/2"}},
		"one step a pass":            {"PSPS", "9 1@9 9 1@9", none, facts{passes: "*9/1"}},
		"no decode was needed":       {"PP", "9 9", none, facts{passes: "*9/0"}},
		"decode alone":               {"DDD", "(?) 3@100 4@200", "the workload gives tokens for prefill, but no range", facts{passes: "100/3 200/4"}},
		"decode alone, fewer":        {"D", "?", "the timeline has only 1 of decode: " + lost, facts{passes: "100/3 200/4"}},
		"decode alone, every pass":   {"DDDD", "2@100 2@100 2@100 2@100", "no range of the timeline is a prefill pass", facts{passes: "*100/2"}},
		"steps alone":                {"SSSSSSS", "(?) 1@100 1@101 1@200 1@201 1@202 1@203", "6 decode passes count as one", facts{passes: "100/2 200/4"}},
		"steps alone, every pass":    {"SSSSS", "(1@100) (1@101) 1@100 1@101 1@100", "3 decode passes count as one", facts{passes: "*100/2", warmups: "1"}},
		"prefill alone":              {"PP", "9 9", "the workload gives tokens for decode, but no range", facts{passes: "*9/4"}},
		"of another timeline":        {"PDPD", "? ? ? ?", "the workload file describes the other timeline", facts{passes: "9/4", capture: "torch"}},
		"of this timeline":           {"PDPD", "(?) (?) 9 4@9", none, facts{passes: "9/4", capture: "nsys"}},
	}
	names := slices.Sorted(maps.Keys(cases))
	var runs []drawing
	for _, what := range names {
		runs = append(runs, drawing{[]string{cases[what].timeline}, []facts{cases[what].facts}, nil})
	}
	w, drawn := drawAll(t, []string{"stage_pass", "caveat_workload"}, runs...)
	for i, run := range drawn {
		c := cases[names[i]]
		if got := matched(t, w, run, ""); got != c.want {
			t.Errorf("%s: %s of %+v is matched as %q, want %q", names[i], c.timeline, c.facts, got, c.want)
		}
		if got := strings.Join(notesOn(t, w, run, "workload"), "\n"); !strings.Contains(got, c.note) || c.note == "" && got != "" {
			t.Errorf("%s: %s of %+v: the notes are %q, want %q", names[i], c.timeline, c.facts, got, c.note)
		}
	}
}

// notesOn returns what is said of a run drawn by hand, of a topic.
func notesOn(t *testing.T, w *schema.Warehouse, run, topic string) []string {
	t.Helper()
	notes, err := queries.NewAsker(w).Notes(t.Context(), queries.Args{"run": testkit.RunID(run)}, topic)
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// TestPassesOfProcesses holds that each process has all passes of the workload, and that what a GPU did has no influence on it.
func TestPassesOfProcesses(t *testing.T) {
	t.Parallel()
	w, drawn := drawAll(t, []string{"stage_pass"}, drawing{[]string{"PDPdPD", "PDPD", "PDPSSSS"}, []facts{{passes: "100/3 200/4"}}, nil})
	run := drawn[0]
	all := []string{"(?) (?) 100 3@100 200 4@200", "100 3@100 200 4@200", "100 ? 200 1@200 1@201 1@202 1@203"}
	if got, want := matched(t, w, run, ""), strings.Join(all, " "); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := matched(t, w, run, ", device := 1"), "3@100"; got != want {
		t.Errorf("of GPU 1 got %q, want %q", got, want)
	}
}

// TestLatestFacts holds that facts given later go before, also those that say less, and that facts of the other timeline do not.
func TestLatestFacts(t *testing.T) {
	t.Parallel()
	w, drawn := drawAll(t, []string{"stage_pass", "caveat_workload"}, drawing{[]string{"PDPD"}, []facts{{passes: "100/3", warmups: "1"}, {passes: "*70/2"}, {passes: "*60/2", capture: "torch"}}, nil})
	run := drawn[0]
	if got, want := matched(t, w, run, ""), "70 2@70 70 2@70"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(notesOn(t, w, run, "workload")), "[2 files describe the passes of this timeline; the latest counts: file-3]"; got != want {
		t.Errorf("the notes are %q, want %q", got, want)
	}
	if got, want := fmt.Sprint(rows(t, w, "FROM workload_passes('"+run+"')")), "[[2 1 false 100 3 1 <nil> <nil> 1500 2500 <nil> <nil> <nil>] [3 <nil> false 70 2 1 <nil> <nil> 1500 2500 <nil> <nil> <nil>] [4 <nil> false 60 2 1 <nil> <nil> 1500 2500 <nil> <nil> <nil>]]"; got != want {
		t.Errorf("workload-passes gives %s, want %s", got, want)
	}
}

// TestJobFacts: passes belong to the process that says them. Tokens of ranks that share a batch count once, those of different batches add up, and where
// nothing shows which it is they are unknown.
func TestJobFacts(t *testing.T) {
	t.Parallel()
	const split, alone = "shared facts", "apart facts"
	cases := map[string]struct {
		timeline, facts, parallel string
		want, ranks, tokens, note string // of the prefill
	}{
		"tensor parallelism":              {"PD PD", "1:100/3 2:100/3", "2", "100 3@100 100 3@100", split, "100", ""},
		"as long as others":               {"PD PD", "1:100/3 2:100/3", "", "100 3@100 100 3@100", "unknown", "<nil>", "2 processes ran prefill: whether they worked on each pass together"},
		"batches of their own":            {"PD PD", "1:100/3 2:50/4", "", "100 3@100 50 4@50", alone, "150", ""},
		"own order, and number of passes": {"PDPD PD", "2:50/4 1:10/1 1:20/2", "", "10 1@10 20 2@20 50 4@50", alone, "80", ""},
		"warm-up of one":                  {"PDPD PDPD", "1:w9/1 1:100/3 2:w9/1 2:60/3", "", "(9) (1@9) 100 3@100 (9) (1@9) 60 3@60", alone, "160", ""},
		"cold on one rank":                {"PDPD PDPD", "1:w9/1 1:100/3 2:8/1 2:100/3", "2", "(9) (1@9) 100 3@100 8 1@8 100 3@100", split, "108", ""},
		"equal where both are":            {"PDPD PD", "2:10/1 1:10/1 1:20/2", "", "10 1@10 20 2@20 10 1@10", "unknown", "<nil>", "and so are the tokens of all of them"},
		"split, but unlike":               {"PD PD", "1:100/3 2:50/4", "2", "100 3@100 50 4@50", "unknown", "<nil>", ""},
		"groups of ranks":                 {"PD PD PD PD", "1:100/3 2:100/3 3:50/4 4:50/4", "2", "100 3@100 100 3@100 50 4@50 50 4@50", "unknown", "<nil>", ""},
		"two of three are alike":          {"PD PD PD", "1:100/3 2:100/3 3:50/4", "", "100 3@100 100 3@100 50 4@50", "unknown", "<nil>", ""},
		"one rank of two":                 {"PD", "1:100/3", "2", "100 3@100", "unknown", "100", ""},
		"one rank":                        {"PD", "1:100/3", "", "100 3@100", "apart", "100", ""},
		"a process without facts":         {"PD PD", "1:100/3", "", "100 3@100 ? ?", "unknown", "<nil>", "tell its processes apart and lack 1 process of the timeline"},
		"one id, two processes":           {"PD PD", "1:100/3 2:50/4", "", "? ? 50 4@50", "unknown", "<nil>", ""},
		"fewer passes":                    {"PD PD", "1:9/1 1:100/3 2:50/4", "", "? ? 50 4@50", "unknown", "<nil>", "lists 2 measured passes, but the timeline has only 1 of prefill"},
		"one file for all":                {"PD PD", "100/3", "", "100 3@100 100 3@100", "unknown", "<nil>", ""},
	}
	names := slices.Sorted(maps.Keys(cases))
	var runs []drawing
	for _, what := range names {
		c := cases[what]
		runs = append(runs, drawing{strings.Fields(c.timeline), []facts{{passes: c.facts, parallel: c.parallel, isTwice: what == "one id, two processes"}}, nil})
	}
	w, drawn := drawAll(t, []string{"stage_pass", "stage_share", "caveat_workload", "caveat_pass"}, runs...)
	for i, run := range drawn {
		c := cases[names[i]]
		if got := matched(t, w, run, ""); got != c.want {
			t.Errorf("%s: got %q, want %q", names[i], got, c.want)
		}
		ranks := rows(t, w, "SELECT CASE WHEN is_shared THEN 'shared' WHEN NOT is_shared THEN 'apart' ELSE 'unknown' END, basis FROM stage_share WHERE stage = 'prefill' AND run_id = '"+testkit.RunID(run)+"'")[0]
		if want := strings.Fields(c.ranks + " <nil>"); ranks != fmt.Sprint(want[:2]) {
			t.Errorf("%s: ranks: got %s, want %v", names[i], ranks, want[:2])
		}
		if got := strings.Trim(rows(t, w, "SELECT token_count FROM stages('"+run+"') WHERE stage = 'prefill'")[0], "[]"); got != c.tokens {
			t.Errorf("%s: tokens: got %s, want %s", names[i], got, c.tokens)
		}
		if notes := strings.Join(append(notesOn(t, w, run, "workload"), notesOn(t, w, run, "pass")...), "; "); !strings.Contains(notes, c.note) {
			t.Errorf("%s: notes: %q lack %q", names[i], notes, c.note)
		}
	}
}

// TestOptionsAndFile holds that options say only what they say, and the file the rest.
func TestOptionsAndFile(t *testing.T) {
	t.Parallel()
	cases := []struct {
		timeline, want, note string
		file, option         facts
	}{
		{"PDPDPD", "(?) (?) 70 3@70 70 4@70", "2 warm-up passes are excluded (the workload lists 2 measured passes)", facts{passes: "100/3 200/4"}, facts{passes: "*70/?"}},
		{"PDPDPD", "(?) (?) (100) (3@100) 200 4@200", "4 warm-up passes are excluded (the workload lists 2 measured passes and marks the first 2 of each process as warm-up)",
			facts{passes: "100/3 200/4"}, facts{warmups: "2"}},
		{"PDPD", "100 3@100 200 4@200", "", facts{passes: "100/3 200/4", warmups: "1"}, facts{passes: "*?/?"}}, // those of the file are not in the capture
		{"PDPD", "(100) (3@100) 100 3@100", "2 warm-up passes are excluded (the workload marks the first of each process as warm-up)", facts{passes: "*100/3"}, facts{passes: "*?/?", warmups: "1"}},
	}
	var runs []drawing
	for _, c := range cases {
		c.option.isOption = true
		runs = append(runs, drawing{[]string{c.timeline}, []facts{c.file, c.option}, nil})
	}
	w, drawn := drawAll(t, []string{"stage_pass", "caveat_workload", "caveat_pass"}, runs...)
	for i, run := range drawn {
		c := cases[i]
		if got := matched(t, w, run, ""); got != c.want {
			t.Errorf("%+v and the option %+v: got %q, want %q", c.file, c.option, got, c.want)
		}
		if got, want := strings.Join(notesOn(t, w, run, "pass"), ""), c.note; got != want {
			t.Errorf("%+v and the option %+v: the note is %q, want %q", c.file, c.option, got, want)
		}
		if got := notesOn(t, w, run, "workload"); len(got) > 0 {
			t.Errorf("%+v and the option %+v: the notes are %q", c.file, c.option, got)
		}
	}
}

// TestStagesOfFacts holds what stages, passes and stage-notes make of the facts.
func TestStagesOfFacts(t *testing.T) {
	t.Parallel()
	said := []facts{{passes: "100/3/2/1 200/4/2/1 210/4/2/1"}}
	short, warm := "UPDATE nvtx_range SET duration_ns = 20 WHERE range_id = (SELECT min(range_id) + 3 FROM nvtx_range WHERE run_id = $run)", "UPDATE path_stage SET is_warmup = true WHERE stage = 'decode' AND run_id = $run"
	w, drawn := drawAll(t, []string{"stage_pass", "stage_share", "note_range", "caveat_pass", "caveat_workload"}, drawing{[]string{"PVDPVDPVDPVD"}, nil, nil}, drawing{[]string{"PVDPVDPVDPVD"}, said, []string{short}},
		drawing{[]string{"PVDPVDPVDPVD"}, said, []string{short, warm}}, drawing{[]string{"PVDPVDPVDPVD"}, nil, []string{short, warm}})
	ask := func(nth int, name string) *frame.Frame {
		return testkit.Query(t, w, name, queries.Args{"run": drawn[nth]})
	}
	unknown := ask(0, "stages")
	if got := fmt.Sprint(column(unknown, "passes"), column(unknown, "token_count"), column(unknown, "gpu_span_tokens_per_s"), unknown.Notes); got != "[4 4] [<nil> <nil>] [<nil> <nil>] []" {
		t.Errorf("without facts stages gives %s", got)
	}
	stages := ask(1, "stages")
	for name, want := range map[string]string{"stage": "[prefill decode]", "passes": "[3 3]", "warmup_passes": "[1 1]", "kernel_count": "[9 9]", "token_count": "[1020 22]",
		"gpu_span_tokens_per_s": "[8e+09 1.6e+08]"} { // of the second of three passes of 50 ns
		if got := fmt.Sprint(column(stages, name)); got != want {
			t.Errorf("stages: %s is %s, want %s", name, got, want)
		}
	}
	if want := []string{"2 warm-up passes are excluded (the workload lists 3 measured passes)"}; !slices.Equal(stages.Notes, want) {
		t.Errorf("the notes are %q, want %q", stages.Notes, want)
	}
	passes := ask(1, "passes")
	for name, want := range map[string]string{"is_warmup": "[true true false false false false false false]", "prefill_count": "[<nil> <nil> 100 <nil> 200 <nil> 210 <nil>]",
		"decode_count": "[<nil> <nil> 0 3 0 4 0 4]", "batch_count": "[<nil> <nil> 2 2 2 2 2 2]", "image_count": "[<nil> <nil> 1 <nil> 1 <nil> 1 <nil>]", "before_count": "[<nil> <nil> <nil> 100 <nil> 200 <nil> 210]",
		"token_count": "[<nil> <nil> 200 6 400 8 420 8]", "basis": "[<nil> <nil> workload workload workload workload workload workload]", "pass": "[1 1 2 2 3 3 4 4]"} {
		if got := fmt.Sprint(column(passes, name)); got != want {
			t.Errorf("passes: %s is %s, want %s", name, got, want)
		}
	}
	if got := fmt.Sprint(column(ask(1, "stage-notes"), "instances")); got != "[3]" {
		t.Errorf("stage-notes counts %s parts, want 3", got)
	}
	if got, want := ask(2, "stages").Notes, "5 warm-up passes are excluded (the workload lists 3 measured passes)"; !slices.Contains(got, want) {
		t.Errorf("the notes are %q, want %q", got, want)
	}
	if got, want := ask(3, "stages").Notes, "4 warm-up passes are excluded"; !slices.Contains(got, want) {
		t.Errorf("by a rule alone the notes are %q, want %q", got, want)
	}
}

// TestPartsOfPasses: the parts of a pass are added up before passes are averaged, since a pass may call a part several times.
func TestPartsOfPasses(t *testing.T) {
	t.Parallel()
	said := []facts{{passes: "100/3/2/1 200/4/2/1 210/4/2/1"}}
	w, drawn := drawAll(t, []string{"stage_pass", "note_range"}, drawing{[]string{"PVVDPVVDPVVD"}, said, nil},
		drawing{[]string{"PVVDPVVDPVVD"}, said, []string{"UPDATE path_stage SET stage = NULL, stage_path_id = NULL WHERE stage = 'prefill' AND run_id = $run"}})
	f := testkit.Query(t, w, "stage-notes", queries.Args{"run": drawn[0]})
	for name, want := range map[string]string{"instances": "[6]", "gpu_span_mean_ns": "[50]", "passes": "[3]", "pass_mean_ns": "[100]", "pass_std_ns": "[0]", "image_mean_ns": "[50]"} { // two images a pass
		if got := fmt.Sprint(column(f, name)); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := testkit.Query(t, w, "stage-notes", queries.Args{"run": drawn[1]}); fmt.Sprint(column(got, "passes"), column(got, "pass_mean_ns")) != "[0] [<nil>]" {
		t.Errorf("outside of stages: %v", got.Rows)
	}
}

// TestCapturedWorkload holds the passes of a real capture against what its workload measured itself.
func TestCapturedWorkload(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, llamaRun)
	for _, r := range rows(t, w, `SELECT p.stage, p.pass, p.cpu_ns, w.prefill_ns, w.decode_ns FROM passes('llama') p JOIN workload_passes('llama') w ON w.pass = p.pass - 1
		WHERE p.is_warmup OR p.basis <> 'workload' OR abs(p.cpu_ns - CASE p.stage WHEN 'prefill' THEN w.prefill_ns ELSE w.decode_ns END) > 1e5
			OR p.token_count <> CASE p.stage WHEN 'prefill' THEN 512 ELSE 32 END`) {
		t.Errorf("a pass is not that of the workload: %s", r)
	}
	if got, want := fmt.Sprint(rows(t, w, "SELECT stage, passes, warmup_passes, token_count FROM stages('llama')")), "[[prefill 3 1 1536] [decode 3 1 96]]"; got != want {
		t.Errorf("stages are %s, want %s", got, want)
	}
	// Each pass holds 32 ranges that are steps: facts that say half as many are wrong, and no number of tokens follows. One less may be the first token.
	for said, want := range map[int]string{16: "<nil>", 31: "93", 30: "<nil>"} {
		testkit.Exec(t, w, fmt.Sprintf("UPDATE workload_pass SET decode_count = %d", said))
		testkit.DeriveOnly(t, w, "stage_pass", "stage_share", "caveat_pass", "caveat_workload")
		f := testkit.Query(t, w, "stages", queries.Args{"run": "llama"})
		note := slices.Contains(f.Notes, fmt.Sprintf("a decode pass has 32 steps by its ranges, but %d by the workload: its tokens are unknown", said))
		if got := fmt.Sprint(rows(t, w, "SELECT token_count FROM stages('llama') WHERE stage = 'decode'")); got != "[["+want+"]]" && got != "["+want+"]" || note != (want == "<nil>") {
			t.Errorf("%d steps said: tokens %s, want %s; notes %q", said, got, want, f.Notes)
		}
	}
	// Ranges of another name that are steps too, one in each, contradict nothing.
	testkit.Exec(t, w, `UPDATE workload_pass SET decode_count = 32;
		INSERT INTO range_path SELECT p.* REPLACE (p.path_id + 1000000 AS path_id, 'sampling_step[#]' AS name, list_append(p.lineage, p.path_id + 1000000) AS lineage, p.depth + 1 AS depth) FROM range_path p WHERE p.name = 'decode_step[#]';
		INSERT INTO path_stage SELECT s.* REPLACE (s.path_id + 1000000 AS path_id) FROM path_stage s WHERE s.path_id IN (SELECT p.path_id FROM range_path p WHERE p.name = 'decode_step[#]');
		INSERT INTO nvtx_range SELECT n.* REPLACE (n.range_id + 1000000 AS range_id, n.path_id + 1000000 AS path_id) FROM nvtx_range n WHERE n.path_id IN (SELECT p.path_id FROM range_path p WHERE p.name = 'decode_step[#]')`)
	testkit.Exec(t, w, "UPDATE range_path SET lineage = [path_id], depth = 1 WHERE name = 'sampling_step[#]'") // next to decode_step, not in it
	testkit.DeriveOnly(t, w, "stage_pass", "stage_share", "caveat_pass", "caveat_workload")
	if got := fmt.Sprint(rows(t, w, "SELECT token_count FROM stages('llama') WHERE stage = 'decode'")); got != "[[96]]" && got != "[96]" {
		t.Errorf("with steps of two names: tokens %s, want 96", got)
	}
}

// TestAnnotations holds what is read from the names that serving engines give their steps.
func TestAnnotations(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	read := func(name string) string {
		text, err := os.ReadFile("../schema/facts/sql/stages/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	step := regexp.MustCompile(`FROM _engine_range\b`).ReplaceAllLiteralString(read("_annotation.sql"), "FROM ("+read("_engine_range.sql")+")")
	cases := map[string]string{ // sequences, tokens, pairs, squares, keys of prompts; sequences, tokens, pairs, tokens in the contexts of generating requests
		"step[EXTEND bs=2 toks=300]":                                    "2 300 - - - 0 0 - -",
		"step[EXTEND bs=2 toks=300 c_sqsq=50000 c_sqsk=60000 c_sk=400]": "2 300 60000 50000 400 0 0 - -",
		"step[EXTEND bs=2 toks=0]":                                      "2 - - - - 0 0 - -",
		"step[DECODE bs=8]":                                             "0 0 - - - 8 8 - -",
		"step[DECODE bs=8 g_sqsq=8 g_sqsk=4096 g_sk=4096]":              "0 0 - - - 8 8 4096 4096",
		"step[MIXED bs=5]":                                              "- - - - - - - - -",
		"step[MIXED bs=5 c=1 g=4 c_sq=128 c_sk=130 c_sqsq=16384 c_sqsk=16640 g_sq=4 g_sk=900 g_sqsq=4 g_sqsk=900]": "1 128 16640 16384 130 4 4 900 900",
		"step[EXTEND bs=2 toks=3":                     "", // cut off
		"step[EXTEND bs=":                             "",
		"step[TARGET_VERIFY bs=8]":                    "",
		"step[EXTEND bs=99999999999999999999 toks=5]": "- - - - - 0 0 - -",
		"step[EXTEND bs=8 toks=5]":                    "8 - - - - 0 0 - -", // fewer tokens than sequences
		"execute_context_2(100)_generation_8(8)":      "2 100 - - - 8 8 - -",
		"execute_context_0(0)_generation_8(8)":        "0 0 - - - 8 8 - -",
		"execute_context_0(0)_generation_8(16)":       "0 0 - - - 8 16 - -", // speculative
		"execute_108_context_2(sq100sk150sqsq5000sqsk7500)_generation_8(sq8sk4096sqsq8sqsk4096)": "2 100 7500 5000 150 8 8 4096 4096",
		"execute_context_2(100)_generation_8(8":                                                  "",
		"execute_context_2(sq100sk150sqsq50)_generation_8(sq8)":                                  "2 100 - 50 150 8 8 - -",
		"execute_context_2()_generation_0()":                                                     "2 - - - - 0 - - -",
		"execute_model":                                                                          "",
		"[Executor] _forward_step 41: 2 ctx reqs, 300 ctx tokens, 8 gen reqs":                    "2 300 - - - 8 8 - -",
		"[Executor] _forward_step 41: 0 ctx reqs, 8 gen reqs":                                    "0 0 - - - 8 8 - -",
		"[Executor] _forward_step: 2 ctx reqs, 8 gen reqs":                                       "2 - - - - 8 8 - -",
		"[Executor] _forward_step 41: 2 ctx reqs, 300 ctx tok":                                   "2 - - - - - - - -",
		"[Executor] _forward_step 41: 2 ctx":                                                     "",
		"execute_7_context_0(sq0sk0sqsq0sqsk0)_generation_2(sq8sk2058sqsq32sqsk8232)":            "0 0 0 0 0 2 8 8232 2058", // speculative
	}
	names := slices.Sorted(maps.Keys(cases))
	draw(t, w, strings.Repeat("P", len(names)))
	for i, name := range names {
		testkit.Exec(t, w, fmt.Sprintf("UPDATE nvtx_range SET name = %s WHERE range_id = %d", schema.Quote(name), i+1))
	}
	f, err := queries.Raw(t.Context(), w, strings.ReplaceAll(step, "$run", "_run_id('drawn')")) // no fact is asked
	if err != nil {
		t.Fatal(err)
	}
	got := map[any]string{}
	for _, r := range f.Rows {
		got[r[0]] += strings.ReplaceAll(strings.Trim(fmt.Sprint(r[1:]), "[]"), "<nil>", "-")
	}
	for i, name := range names {
		if got[int64(i+1)] != cases[name] {
			t.Errorf("%s says %q, want %q", name, got[int64(i+1)], cases[name])
		}
	}
}

// TestAnnotatedPasses holds that a name which tells tokens goes before the workload, and one which does not leaves it to the workload.
func TestAnnotatedPasses(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	draw(t, w, "PDPD")
	addFacts(t, w, 2, facts{passes: "*100/3", warmups: "1"})
	for id, name := range map[int]string{1: "step[EXTEND bs=1 toks=7]", 2: "step[DECODE bs=4 g_sqsq=4 g_sqsk=90 g_sk=90]", 3: "[Executor] _forward_step 4: 1 ctx reqs, 0 gen reqs"} {
		testkit.Exec(t, w, fmt.Sprintf("UPDATE nvtx_range SET name = %s WHERE range_id = %d", schema.Quote(name), id))
	}
	testkit.DeriveOnly(t, w, "stage_pass")
	got := rows(t, w, "SELECT is_warmup, basis, prefill_count, decode_count, batch_count, before_count, token_count FROM passes('drawn')")
	want := []string{"[true annotation 7 0 1 <nil> 7]", "[true annotation <nil> 1 4 <nil> 4]", "[false workload 100 0 1 <nil> 100]", "[false workload <nil> 3 1 100 3]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUsedDevices: a GPU without any device work is known not to be used, and one with copies or graph replays alone is.
func TestUsedDevices(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t)
	draw(t, w, "P")
	account(t, w)
	testkit.Exec(t, w, "INSERT INTO device (run_id, source_id, device_id, name) SELECT run_id, 1, d, 'GPU' FROM run, range(3) r(d)")
	testkit.DeriveOnly(t, w, "timeline")
	if got := fmt.Sprint(column(testkit.Query(t, w, "devices", queries.Args{"run": "drawn"}), "is_used")); got != "[true false false]" {
		t.Errorf("used: %s", got)
	}
}
