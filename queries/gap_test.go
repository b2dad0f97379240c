package queries_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/queries/frame"
	"prof/schema"
)

// gapless returns a warehouse with a drawn run of a prefill and a decode of two steps, and kernels named by number.
func gapless(t *testing.T) *schema.Warehouse {
	t.Helper()
	w := testkit.Copy(t)
	draw(t, w, "PDD")
	testkit.Exec(t, w, "INSERT INTO kernel_name SELECT run_id, i, 'kernel ' || i, 'k', i FROM run, range(1, 4) r(i)")
	return w
}

// shownCells returns some columns of each row as one text.
func shownCells(f *frame.Frame, columns ...string) []string {
	var out []string
	for _, r := range f.Rows {
		var line []any
		for _, c := range columns {
			line = append(line, r[f.Index(c)], "|")
		}
		out = append(out, fmt.Sprint(line[:len(line)-1]...))
	}
	return out
}

// TestGaps holds what gaps adds up: rows of ingest over sources, GPUs and paths of one stage, in the order of their time.
func TestGaps(t *testing.T) {
	t.Parallel()
	w := gapless(t)
	pattern := 0
	gap := func(source, device int, path string, before, after string, parts ...int) {
		sum := 0
		for _, p := range parts {
			sum += p
		}
		pattern++
		testkit.Exec(t, w, fmt.Sprintf("INSERT INTO gap_sum SELECT run_id, %d, %d, %d, NULL, %s, 0, %s, %s, 2, %d, %d, 0 FROM run", source, pattern, device, path, before, after, sum, sum-1))
		for i, name := range []string{"launch", "launch-delay", "wait", "call", "host", "profiler", "queued", "unknown"} {
			if parts[i] > 0 {
				testkit.Exec(t, w, fmt.Sprintf("INSERT INTO gap_sum_part SELECT run_id, %d, %d, '%s', %d FROM run", source, pattern, name, parts[i]))
			}
		}
	}
	testkit.Exec(t, w, sourceRow(2, "nsys"))
	testkit.Exec(t, w, sourceRow(3, "torch"))
	gap(1, 0, "2", "1, NULL", "2, NULL", 1, 0, 2, 0, 0, 0, 0, 0)
	gap(2, 0, "2", "1, NULL", "2, NULL", 5, 0, 2, 0, 0, 0, 0, 0)
	gap(1, 1, "2", "1, NULL", "2, NULL", 0, 0, 10, 0, 0, 0, 0, 0)
	gap(1, 0, "1", "1, NULL", "2, NULL", 0, 0, 0, 0, 100, 0, 0, 0)
	gap(1, 0, "0", "NULL, 'memset'", "3, NULL", 0, 3, 0, 0, 0, 3, 0, 0)
	gap(1, 0, "NULL", "3, NULL", "NULL, 'graph replay'", 0, 0, 0, 0, 0, 0, 0, 8)
	gap(3, 0, "2", "1, NULL", "2, NULL", 0, 0, 0, 0, 0, 0, 1000, 0)
	check := func(args queries.Args, want ...string) {
		t.Helper()
		args["run"] = "drawn"
		if args["warmup"] == "" {
			args["warmup"] = "true"
		}
		if got := shownCells(testkit.Query(t, w, "gaps", args), "rank", "stage", "before", "after", "cause", "gap_count", "total_ns", "idle_ratio", "mean_ns", "max_ns", "launch_ns", "launch_delay_ns", "wait_ns", "host_ns", "unknown_ns"); !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	testkit.DeriveOnly(t, w, accountFacts...)
	all := []string{
		"1|prefill|kernel 1|kernel 2|host|2|100|0.746268656716418|50|99|0|0|0|100|0",
		"2|decode|kernel 1|kernel 2|wait|6|20|0.14925373134328357|3.3333333333333335|9|6|0|14|0|0",
		"3|(none)|kernel 3|graph replay|unknown|2|8|0.05970149253731343|4|7|0|0|0|0|8",
		"4|(none)|memset|kernel 3|launch-delay|2|6|0.04477611940298507|3|5|0|3|0|0|0", // of equal parts the first
	}
	check(queries.Args{}, all...)
	check(queries.Args{"warmup": "false"}, "1|prefill|kernel 1|kernel 2|host|2|100|0.8333333333333334|50|99|0|0|0|100|0", "2|decode|kernel 1|kernel 2|wait|6|20|0.16666666666666666|3.3333333333333335|9|6|0|14|0|0")
	check(queries.Args{"top": "2"}, all[:2]...)
	check(queries.Args{"top": "0"}, all...)
	check(queries.Args{"device": "1"}, "1|decode|kernel 1|kernel 2|wait|2|10|1|5|9|0|0|10|0|0")
	check(queries.Args{"stage": "(none)", "top": "1"}, "1|(none)|kernel 3|graph replay|unknown|2|8|0.5714285714285714|4|7|0|0|0|0|8")
	check(queries.Args{"source": "torch"}, "1|decode|kernel 1|kernel 2|queued|2|1000|1|500|999|0|0|0|0|0")
}

// TestLongestGaps holds what longest-gaps says of the thread that launches next: the range at the start of the gap, the operator that was open
// for half of it, the function of the operating system that it was in for as long; each of that thread alone.
func TestLongestGaps(t *testing.T) {
	t.Parallel()
	w := gapless(t) // its ranges are of thread 1 of process 1: from 0 to 80, 100 to 180 and 200 to 280 ns
	testkit.Exec(t, w, sourceRow(2, "torch"))
	gap := func(source, start, duration int, thread string) {
		testkit.Exec(t, w, fmt.Sprintf("INSERT INTO gap SELECT run_id, %[1]d, 0, %[2]d, %[3]d, 'host', %[4]s, 0, 1, NULL, NULL, 'memcpy Host-to-Device' FROM run; INSERT INTO gap_part SELECT run_id, %[1]d, 0, %[2]d, 'host', %[3]d FROM run", source, start, duration, thread))
	}
	gap(1, 110, 50, "1, 1, 2, 2")
	gap(1, 85, 10, "1, 1, 0, 0")
	gap(1, 210, 20, "1, 2, 0, 0")             // another thread, outside ranges
	gap(1, 300, 15, "NULL, NULL, NULL, NULL") // launch not captured
	gap(2, 110, 500, "1, 1, 2, 2")            // another kind of capture
	id := 0
	op := func(name, tid, depth, start, end int) {
		id++
		testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO op (run_id, source_id, op_id, depth, pid, tid, op_name_id, is_folded, is_nested, start_ns, duration_ns, self_cpu_ns, range_context_id, path_id)
			SELECT run_id, 1, %d, %d, 1, %d, %d, false, false, %d, %d, 0, 0, 0 FROM run`, id, depth, tid, name, start, end-start))
	}
	testkit.Exec(t, w, "INSERT INTO op_name SELECT run_id, i, 'op ' || i FROM run, range(1, 9) r(i); INSERT INTO api_name SELECT run_id, i, 'call ' || i FROM run, range(1, 9) r(i)")
	op(1, 1, 1, 0, 1000) // open all the time
	op(2, 1, 2, 120, 150)
	op(3, 1, 3, 122, 148) // 26 of the 50 ns from 110 to 160
	op(4, 1, 4, 123, 140) // fewer than half
	op(5, 2, 1, 205, 212) // of the other thread: 2 of 20 ns
	op(6, 2, 1, 225, 229) // 4: too little to name the gap
	call := func(name, tid, start, end int) {
		testkit.Exec(t, w, fmt.Sprintf("INSERT INTO osrt_call SELECT run_id, 1, 1, %d, %d, %d, %d FROM run", tid, start, end-start, name))
	}
	call(1, 1, 0, 115)   // 5 ns of it in the longest gap
	call(2, 1, 115, 130) // the two have half of it
	call(2, 1, 136, 146)
	call(4, 1, 146, 155)
	call(3, 2, 110, 160) // of another thread
	testkit.Exec(t, w, "INSERT INTO nvtx_range SELECT run_id, 1, 90, NULL, path_id, 1, 2, NULL, 'push_pop', '', 'other thread', NULL, 100, 60 FROM nvtx_range LIMIT 1")
	check := func(args queries.Args, want ...string) {
		t.Helper()
		args["run"], args["warmup"] = "drawn", "true"
		if got := shownCells(testkit.Query(t, w, "longest-gaps", args), "rank", "duration_ns", "start_ns", "cause", "host_range", "operator", "os_call", "os_call_sum_ns", "before", "after", "stage", "range", "pid", "tid"); !slices.Equal(got, want) {
			t.Errorf("%v: %q, want %q", args, got, want)
		}
	}
	testkit.DeriveOnly(t, w, accountFacts...)
	all := []string{
		"1|50|110|host|decode_all|op 3|call 2|25|kernel 1|memcpy Host-to-Device|decode|decode_all|1|1",
		"2|20|210|host|<nil>|<nil>|<nil>|<nil>|kernel 1|memcpy Host-to-Device|(none)|<nil>|1|2",
		"3|15|300|host|<nil>|<nil>|<nil>|<nil>|kernel 1|memcpy Host-to-Device|(none)|<nil>|<nil>|<nil>",
		"4|10|85|host|<nil>|op 1|call 1|10|kernel 1|memcpy Host-to-Device|(none)|<nil>|1|1",
	}
	check(queries.Args{}, all...)
	check(queries.Args{"top": "1"}, all[0])
	check(queries.Args{"stage": "decode"}, all[0])
	check(queries.Args{"device": "1"})
	accounted(t, w, "UPDATE nvtx_range SET style = 'start_end', tid = 7") // these are open on every thread of their process
	check(queries.Args{"top": "2"}, "1|50|110|host|other thread|op 3|call 2|25|kernel 1|memcpy Host-to-Device|decode|decode_all|1|1", "2|20|210|host|decode_all|<nil>|<nil>|<nil>|kernel 1|memcpy Host-to-Device|(none)|<nil>|1|2")
	accounted(t, w, "UPDATE nvtx_range SET duration_ns = NULL, start_ns = 290 WHERE range_id = 90", // never ended
		"UPDATE gap SET start_ns = 295 WHERE start_ns = 85; UPDATE gap_part SET start_ns = 295 WHERE start_ns = 85")
	check(queries.Args{}, all[0], "2|20|210|host|decode_all|<nil>|<nil>|<nil>|kernel 1|memcpy Host-to-Device|(none)|<nil>|1|2", all[2],
		"4|10|295|host|other thread|op 1|<nil>|<nil>|kernel 1|memcpy Host-to-Device|(none)|<nil>|1|1")
}

// TestBetweenPasses holds that gaps between passes are, on every GPU, the idle time from whatever ran last to the first work of each measured pass that directly
// follows one of its stage in its process, that single gaps say the same, and that causes and places pick rows.
func TestBetweenPasses(t *testing.T) {
	t.Parallel()
	w := testkit.Copy(t, testkit.Named(t, "lost-steps", "engine-node", "nccl2")...)
	for run, want := range map[string]string{"lost-steps": "[[decode 9 10800000]]", "engine-node": "[[decode 5 2489816] [mixed 8 4989136]]", "nccl2": "[]"} {
		const counted = `SELECT stage, count(*), sum(ns)::BIGINT FROM (
				SELECT p.stage, d.first_start_ns - max(k.end_ns) AS ns
				FROM (
					SELECT run_id, source_id, range_id, stage, is_warmup OR lag(is_warmup) OVER o AS is_cold, lag(stage) OVER o AS before
					FROM stage_pass WINDOW o AS (PARTITION BY run_id, source_id, pid ORDER BY start_ns)
				) p JOIN range_device d USING (run_id, range_id)
				JOIN (SELECT run_id, source_id, device_id, start_ns, start_ns + duration_ns AS end_ns FROM kernel UNION ALL SELECT run_id, source_id, device_id, start_ns, start_ns + duration_ns FROM memop) k
					ON k.run_id = p.run_id AND k.source_id = p.source_id AND k.device_id = d.device_id AND k.start_ns < d.first_start_ns
				WHERE p.run_id = _run_id('%s') AND NOT p.is_cold AND p.stage = p.before GROUP BY p.stage, p.range_id, d.device_id, d.first_start_ns
			) WHERE ns > 0 GROUP BY stage ORDER BY stage`
		const grouped = "SELECT stage, sum(gap_count)::BIGINT, sum(total_ns)::BIGINT FROM gaps('%s', place := 'between-passes', top := 0) GROUP BY stage ORDER BY stage"
		const single = "SELECT stage, count(*), sum(duration_ns)::BIGINT FROM longest_gaps('%s', place := 'between-passes', top := 0) GROUP BY stage ORDER BY stage"
		for _, stmt := range []string{counted, grouped, single} {
			if got := fmt.Sprint(rowsOf(t, w, stmt, run)); got != want {
				t.Errorf("%s: %s, want %s by %s", run, got, want, stmt)
			}
		}
		for _, query := range []string{"gaps", "longest-gaps"} {
			all := testkit.Query(t, w, query, queries.Args{"run": run, "top": "0"})
			time := map[string]string{"gaps": "total_ns", "longest-gaps": "duration_ns"}[query]
			whole := total(all, time)
			for _, picks := range []struct {
				param  string
				values []string
			}{{"place", []string{"in-pass", "between-passes", "outside"}}, {"cause", []string{"launch-bound", "wait", "call", "host", "profiler", "queued", "unknown"}}, {"cause", idleParts}} {
				sum := int64(0)
				for _, value := range picks.values {
					f := testkit.Query(t, w, query, queries.Args{"run": run, "top": "0", picks.param: value})
					sum += total(f, time)
					for _, r := range f.Rows {
						if is := r[f.Index(picks.param)]; is != value && !(value == "launch-bound" && strings.HasPrefix(is.(string), "launch")) {
							t.Errorf("%s of %s: --%s %s gives %v", query, run, picks.param, value, is)
						}
					}
				}
				if sum != whole || whole == 0 {
					t.Errorf("%s of %s: all of --%s give %d ns of %d", query, run, picks.param, sum, whole)
				}
			}
			q, err := queries.Find(query)
			if err != nil {
				t.Fatal(err)
			}
			for _, param := range []string{"cause", "place"} {
				if _, err := queries.Run(t.Context(), w, q, queries.Args{"run": run, param: "late"}); !errors.Is(err, queries.ErrBadArgument) {
					t.Errorf("%s --%s late: %v", query, param, err)
				}
			}
		}
	}
}
