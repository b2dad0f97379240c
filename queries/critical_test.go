package queries_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prof/internal/diagnosis"
	"prof/internal/testkit"
)

// TestCriticalPath holds, on every capture, that a path is whole: its stretches follow each other from the start of the step to its end, and lie where the timeline
// has such work; that what is added up of it is its length; and that a saving is at most what is on it.
func TestCriticalPath(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	p := newPlans(t, w)
	found := map[string]int{}
	for _, run := range append(slices.Clone(timelines), utilised, "ranks") {
		id := testkit.RunID(run)
		none := func(what, stmt string) {
			t.Helper()
			if got := p.ask(stmt, id); len(got.Rows) > 0 {
				t.Errorf("%s: %s: %d rows, first %v", run, what, len(got.Rows), got.Rows[0])
			}
		}
		const of = ` FROM critical_step s JOIN run r ON r.run_id = s.run_id AND r.run_id = ?::UUID `
		none("the stretches are not the step", `SELECT s.step_id, s.duration_ns, sum(g.duration_ns), count(*), s.segment_count`+of+`LEFT JOIN critical_segment g ON g.run_id = s.run_id AND g.step_id = s.step_id WHERE s.reason IS NULL
			GROUP BY ALL HAVING sum(g.duration_ns) IS DISTINCT FROM s.duration_ns OR min(g.start_ns) <> s.start_ns OR max(g.start_ns + g.duration_ns) <> s.end_ns OR count(*) <> s.segment_count`)
		none("a stretch does not follow the one before", `SELECT g.step_id, g.nth, g.start_ns`+of+`JOIN critical_segment g ON g.run_id = s.run_id AND g.step_id = s.step_id
			QUALIFY lag(g.start_ns + g.duration_ns) OVER (PARTITION BY g.step_id ORDER BY g.nth) <> g.start_ns OR g.duration_ns <= 0`)
		none("the sums are not the step", `SELECT s.step_id, x.grouping_kind, sum(x.duration_ns)`+of+`LEFT JOIN critical_what_if x ON x.run_id = s.run_id AND x.step_id = s.step_id AND x.grouping_kind IN ('subject', 'cause') AND x.cause <> 'launch-bound'
			WHERE s.segment_count IS NOT NULL GROUP BY ALL HAVING sum(x.duration_ns) IS DISTINCT FROM s.duration_ns`)
		none("a saving cannot be", `SELECT x.step_id, x.grouping_kind, x.nth, x.saving_ns, x.duration_ns`+of+`JOIN critical_what_if x ON x.run_id = s.run_id AND x.step_id = s.step_id
			WHERE x.saving_ns < 0 OR x.saving_ns > x.duration_ns OR x.nth <= 100 AND x.saving_ns IS NULL AND x.cause NOT IN ('unknown', 'earlier')`)
		none("a kernel did not run then", `SELECT g.step_id, g.nth`+of+`JOIN critical_segment g ON g.run_id = s.run_id AND g.step_id = s.step_id
			ANTI JOIN kernel k ON k.run_id = s.run_id AND k.source_id = s.source_id AND k.device_id = g.device_id AND k.stream_id IS NOT DISTINCT FROM g.stream_id AND k.kernel_name_id = g.kernel_name_id
				AND k.start_ns <= g.start_ns AND k.start_ns + k.duration_ns >= g.start_ns + g.duration_ns
			WHERE g.cause IN ('kernel', 'collective', 'collective-wait')`)
		none("a call was not made then", `SELECT g.step_id, g.nth`+of+`JOIN critical_segment g ON g.run_id = s.run_id AND g.step_id = s.step_id
			ANTI JOIN (SELECT run_id, source_id, tid, api_name_id, start_ns, duration_ns FROM api_call UNION ALL SELECT run_id, source_id, tid, launch_name_id, launch_start_ns, launch_duration_ns FROM kernel
				UNION ALL SELECT run_id, source_id, tid, launch_name_id, launch_start_ns, launch_duration_ns FROM memop UNION ALL SELECT run_id, source_id, tid, launch_name_id, launch_start_ns, launch_duration_ns FROM graph_launch) c ON c.run_id = s.run_id AND c.source_id = s.source_id AND c.tid = g.tid AND c.api_name_id = g.api_name_id AND c.start_ns <= g.start_ns AND c.start_ns + c.duration_ns >= g.start_ns + g.duration_ns
			WHERE g.cause IN ('launch', 'wait', 'call')`)
		none("a step of periods has another time", `SELECT s.step_id, s.duration_ns, p.time_ns`+of+`JOIN step p ON p.run_id = s.run_id AND p.is_default AND p.source_id = s.source_id AND p.pid IS NOT DISTINCT FROM s.pid AND p.device_id = s.device_id AND p.stage = s.stage AND p.nth = s.nth
			WHERE s.basis = 'period' AND p.time_ns IS DISTINCT FROM s.duration_ns`)
		for _, r := range asText(p.ask(`SELECT DISTINCT s.basis`+of+`WHERE s.reason IS NULL`, id)) {
			found[r]++
		}
	}
	if got := rows(t, w, `SELECT s.is_median, s.reason FROM critical_step s JOIN run r ON r.run_id = s.run_id AND r.name = 'llama-graph-node' WHERE s.basis = 'pass' AND s.stage = 'decode' ORDER BY ALL`); fmt.Sprint(got) != "[[false size] [true segments]]" {
		t.Errorf("of decode passes with 26,000 kernels there is %s", got)
	}
	if found["[pass]"] < 5 || found["[period]"] < 5 {
		t.Errorf("paths of %v captures", found)
	}
}

// TestCriticalPathSaving holds what a stage pass is said to be shorter by without a kernel to captures edited so that the kernel takes no time, with everything behind it moved to
// where it would have been by the rules of internal/diagnosis, which knows nothing of paths.
func TestCriticalPathSaving(t *testing.T) {
	t.Parallel()
	bases := slices.DeleteFunc(slices.Clone(diagnosis.Bases), func(b diagnosis.Base) bool { return b.Samples != "" || strings.HasPrefix(b.Name, "two ranks") })
	const launch = 10_000 // the two may take another latency for a launch that stood in a queue
	var captures []*diagnosis.Capture
	var stored []testkit.Run
	for i, b := range bases {
		base, err := b.Load("../testdata")
		if err != nil {
			t.Fatal(err)
		}
		captures = append(captures, base)
		sources := []string{"internal/diagnosis", "internal/exports"}
		for _, of := range append(slices.Clone(b.Files), b.Profile) {
			if of != "" {
				sources = append(sources, "testdata/"+of)
			}
		}
		name := fmt.Sprint("base-", i)
		stored = append(stored, testkit.Run{Name: name, Key: b.Only, Sources: sources, Facts: []string{"critical_step", "critical_what_if"}, Make: func(dir string) ([]string, error) { return base.Write(dir, name) }})
	}
	w := testkit.Warehouse(t, stored...)
	compared, equal := 0, 0
	for i, b := range bases {
		base := captures[i]
		for _, r := range rowsOf(t, w, `SELECT n.name, (SELECT count(*) FROM nvtx_range m WHERE m.run_id = n.run_id AND m.name = n.name AND m.start_ns < n.start_ns), s.duration_ns, k.name, x.duration_ns, x.saving_ns
			FROM critical_step s JOIN nvtx_range n ON n.run_id = s.run_id AND n.range_id = s.range_id JOIN critical_what_if x ON x.run_id = s.run_id AND x.step_id = s.step_id JOIN kernel_name k ON k.run_id = x.run_id AND k.kernel_name_id = x.kernel_name_id
			WHERE s.run_id = _run_id('%s') AND s.basis = 'pass' AND x.grouping_kind = 'subject' AND x.cause = 'kernel' QUALIFY row_number() OVER (PARTITION BY s.step_id ORDER BY x.duration_ns DESC) <= 4 ORDER BY s.step_id, x.duration_ns DESC`, stored[i].Name) {
			name, before, length, kernel, on, saving := r[0].(string), int(r[1].(int64)), r[2].(int64), r[3].(string), r[4].(int64), r[5].(int64)
			edited := base.Clone()
			pass := func() *diagnosis.Event { return edited.Ranges("^" + regexp.QuoteMeta(name) + "$")[before] }
			for _, k := range edited.Kernels(pass(), "^"+regexp.QuoteMeta(kernel)+"$") {
				k.Longer = k.Start - k.End
			}
			edited.Replay()
			p := pass()
			end := p.End
			for _, k := range edited.Kernels(p, "") {
				end = max(end, k.End)
			}
			compared++
			want := length - (end - p.Start)
			if saving == want {
				equal++
			}
			if saving < want-launch || saving > want+launch || saving > on {
				t.Errorf("%s, %s (%d ns): without %s, %d ns on the path, it is said to be %d ns shorter; edited so it is %d ns shorter", b.Name, name, length, kernel, on, saving, want)
			}
		}
	}
	if compared < 30 || equal*5 < compared*4 {
		t.Errorf("of %d savings %d are equal", compared, equal)
	}
}

// TestCriticalShortCalls holds that launches in calls too short for api_call are on the path: before the first work of each step of an engine comes all
// of its scheduler.
func TestCriticalShortCalls(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"engine-node", "engine-trace"} {
		got := rowsOf(t, w, `SELECT c.time_ns, c.time_ns IN (SELECT n.duration_ns FROM nvtx_range n WHERE n.name = 'scheduler: schedule') FROM critical_path('%s', stage := 'decode') c WHERE c.basis = 'period' AND c.cause = 'host' AND c.subject = 'scheduler: schedule'`, run)
		if len(got) != 1 || got[0][1] != true {
			t.Errorf("%s: the scheduler has %v of the path, not the time of one of its ranges", run, got)
		}
		if queued := one(t, w, fmt.Sprintf(`SELECT sum(time_ns)::BIGINT FROM critical_path('%s', stage := 'decode', per := 'cause') WHERE basis = 'period' AND cause = 'queued'`, run)); queued > 50_000 {
			t.Errorf("%s: work of a decode step waited %d ns although its turn had come", run, queued)
		}
	}
}

// TestStreamWaits holds the paths of a program whose streams wait for each other by events (testdata/events/streams.py) to what it does: they lead over the work that each event was recorded behind,
// whichever other work ended just before; under Nsight Systems, and under the PyTorch profiler with and without its rows of synchronisation.
func TestStreamWaits(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	for _, run := range []string{"events", "events-sync", "events-plain"} {
		for stage, want := range map[string]string{
			"decode":  "spin stream-wait:spin cos cudaStreamSynchronize",
			"prefill": "spin cudaEventSynchronize cos cudaStreamSynchronize spin stream-wait:spin cos cudaStreamSynchronize",
		} {
			got := rowsOf(t, w, `SELECT s.step_id, string_agg(CASE g.cause WHEN 'kernel' THEN '' WHEN 'wait' THEN '' ELSE g.cause || ':' END || coalesce(nullif(regexp_extract(k.name, 'spin|cos'), ''), a.name, '?'), ' ' ORDER BY g.nth)
				FROM run r JOIN critical_step s USING (run_id) JOIN critical_segment g USING (run_id, step_id) LEFT JOIN kernel_name k ON k.run_id = r.run_id AND k.kernel_name_id = g.kernel_name_id LEFT JOIN api_name a ON a.run_id = r.run_id AND a.api_name_id = g.api_name_id
				WHERE r.name = '%s' AND s.basis = 'pass' AND s.stage = '%s' AND g.cause IN ('kernel', 'queued', 'stream-wait', 'wait') GROUP BY ALL`, run, stage)
			if len(got) != 2 {
				t.Errorf("%s: paths of %d passes of %s", run, len(got), stage)
			}
			for _, r := range got {
				if r[1] != want {
					t.Errorf("%s: %s goes over %v, want %s", run, stage, r[1], want)
				}
			}
		}
		// All of the work on stream a, behind which nothing else can be hidden: without it a decode step takes what its launches take.
		if got := rowsOf(t, w, `SELECT count(*) FROM run r JOIN critical_step s USING (run_id) JOIN critical_what_if x USING (run_id, step_id) JOIN kernel_name k ON k.run_id = r.run_id AND k.kernel_name_id = x.kernel_name_id
			WHERE r.name = '%s' AND s.basis = 'pass' AND s.stage = 'decode' AND x.grouping_kind = 'subject' AND x.cause = 'kernel' AND contains(k.name, 'spin') AND x.saving_ns BETWEEN 0.5 * x.duration_ns AND x.duration_ns`, run); fmt.Sprint(got) != "[[2]]" {
			t.Errorf("%s: savings of %v decode steps", run, got)
		}
	}
}

// TestUnnamedWaits holds a step of ROCm, whose captures do not say which stream a call makes wait: copies that start 14 to 17 us after a collective waited for it. Of the four collectives of
// the step three are on the path, as long as the trace has them.
func TestUnnamedWaits(t *testing.T) {
	t.Parallel()
	w := testkit.All(t)
	got := rowsOf(t, w, `SELECT g.cause, sum(g.duration_ns)::BIGINT, count(DISTINCT g.start_ns) FROM critical_step s JOIN critical_segment g USING (run_id, step_id) WHERE s.run_id = _run_id('peers-resnet') AND s.is_median AND g.cause IN ('collective', 'queued', 'stream-wait') GROUP BY ALL ORDER BY ALL`)
	if len(got) != 3 || fmt.Sprint(got[0]) != fmt.Sprint([]any{"collective", int64(14_319 + 6_911_678 + 8_932_626), int64(3)}) || got[1][1].(int64) > 100_000 || got[2][1].(int64) > 100_000 {
		t.Errorf("the path has %v", got)
	}
}
