package queries_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/workload"
	"prof/internal/testkit"
	"prof/queries"
)

// cut are the captures that are parts of longer ones: the beginning and the end cut off what was under way.
var cut = map[string]string{
	"foreign-mtia":   "launched-before-capture 24",
	"peers-resnet":   "launched-before-capture 757",
	"sglang-decode":  "waited-for-unseen-work",
	"windows-before": "launched-before-capture 24, ran-after-capture 20",
	"windows-after":  "launched-before-capture 10, ran-after-capture 3",
}

// TestWholeCaptures holds that nothing is missed in captures that are whole, and what is in those that are not.
func TestWholeCaptures(t *testing.T) {
	t.Parallel()
	want := maps.Clone(cut)
	maps.Copy(want, map[string]string{
		"lost-tp4-rank0":  "launches-without-work 18",
		"lost-steps-head": "launches-without-work 4",
		"lost-burst":      "stream-order 250",
		"first":           "totals-differ", // its table of kernels is the beginning of one
	})
	got := map[string]string{}
	for _, row := range testkit.Rows(t, testkit.All(t), `SELECT r.name || ': ' || string_agg(concat_ws(' ', l.kind, l.n), ', ' ORDER BY l.kind)
		FROM (SELECT l.run_id, l.kind, sum(l.item_count) AS n FROM loss l GROUP BY ALL) l JOIN run r ON r.run_id = l.run_id GROUP BY r.name`) {
		run, losses, _ := strings.Cut(row, ": ")
		got[run] = losses
	}
	for _, run := range slices.Sorted(maps.Keys(got)) {
		if got[run] != want[run] {
			t.Errorf("%s: %s, want %q", run, got[run], want[run])
		}
	}
	for run := range want {
		if got[run] == "" {
			t.Errorf("%s is said to be whole, want %s", run, want[run])
		}
	}
}

// TestLostFigures holds that figures of a stage that lost work are of the passes that are whole, and say of how many.
func TestLostFigures(t *testing.T) {
	t.Parallel()
	one, prefill := int64(1), int64(128)
	said := ingest.Options{Pass: workload.Uniform(workload.Pass{Prefill: &prefill, Decode: &one, Batch: 8}, nil)}
	runs := testkit.Named(t, "lost-tp4", "lost-tp4-rank0", "lost-steps", "lost-steps-head", "lost-burst")
	for i := range runs[:4] {
		runs[i].Options = said
	}
	w := testkit.Warehouse(t, runs...)
	for run, want := range map[string]string{
		"lost-tp4":        "6 6 590250 2361000 13553.6 24",
		"lost-tp4-rank0":  "6 6 700250 <nil> 11424.5 <nil>",
		"lost-steps":      "10 10 800000 800000 10000.0 20",
		"lost-steps-head": "10 8 800000 800000 10000.0 16",
		"lost-burst":      "10 0 <nil> <nil> <nil> <nil>",
	} {
		f := testkit.Query(t, w, "stages", queries.Args{"run": run})
		var got []string
		for _, column := range []string{"passes", "known_pass_count", "gpu_span_mean_ns", "gpu_busy_mean_ns", "gpu_span_tokens_per_s", "kernel_count"} {
			switch v := f.Rows[0][f.Index(column)].(type) {
			case float64:
				if column == "gpu_span_tokens_per_s" {
					got = append(got, fmt.Sprintf("%.1f", v))
					continue
				}
				got = append(got, fmt.Sprintf("%.0f", v))
			default:
				got = append(got, fmt.Sprint(v))
			}
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %s, want %s", run, text, want)
		}
	}
	for run, want := range map[string]string{"lost-tp4": "[24 0 true true]", "lost-tp4-rank0": "[6 18 false false]", "lost-burst": "[280 0 true false]"} {
		f := testkit.Query(t, w, "conservation", queries.Args{"run": run})
		var got []any
		for _, column := range []string{"kernel_count", "unmet_count", "is_exact", "is_whole"} {
			got = append(got, f.Rows[0][f.Index(column)])
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", run, got, want)
		}
	}
}

// TestEarlyStarts: the time in which a kernel ran beside the one before it on its stream is said, equal to what its times say, and is no loss.
func TestEarlyStarts(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "pdl", Files: []string{"odd/pdl-node.sqlite.gz"}})
	testkit.Expect(t, w, "SELECT kind, item_count FROM work_fault JOIN loss USING (run_id, kind)")
	said := testkit.Rows(t, w, "SELECT item_count, time_ns::BIGINT, of_time_ns::BIGINT FROM caveat WHERE kind = 'early-starts'")
	want := testkit.Rows(t, w, `WITH k AS (
			SELECT start_ns, duration_ns, max(start_ns + duration_ns) OVER (ORDER BY start_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS until FROM kernel
		)
		SELECT count(*) FILTER (until > start_ns), sum(until - start_ns) FILTER (until > start_ns)::BIGINT, sum(duration_ns)::BIGINT FROM k`)
	if !slices.Equal(said, want) || len(said) != 1 || !strings.HasPrefix(said[0], "79|") {
		t.Errorf("said of early starts: %q, want %q, of 79 kernels", said, want)
	}
	testkit.Expect(t, testkit.All(t), "SELECT r.name FROM caveat c JOIN run r USING (run_id) WHERE c.kind = 'early-starts' ORDER BY ALL")
}
