package queries_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
	"prof/schema"
)

// nodes makes the two sources of a run those of two nodes of a job, which have clocks of their own.
func nodes(t *testing.T, w *schema.Warehouse, run string) {
	t.Helper()
	for node, source := range []int{1, 2} {
		id := fmt.Sprintf("(SELECT run_id FROM run WHERE name = '%s')", run)
		testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO capture_node SELECT %s, %d, %d, 2, 'machine-%d', 'job'`, id, 10+node, node, node))
		testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO capture_pass SELECT %s, %d, %d, 'torch-1', 'torch', 'operators', 1, '', NULL, TIMESTAMP '2025-01-02 03:04:05', NULL, NULL, 0, NULL, 'ok', NULL, NULL, false, NULL`, id, 10+node, 1000*node+1))
		testkit.Exec(t, w, fmt.Sprintf(`INSERT INTO capture_source SELECT %s, %d, %d`, id, 1000*node+1, source))
	}
}

// splitNCCL makes a source of each of the two processes of nccl2.
func splitNCCL(t *testing.T) *schema.Warehouse {
	t.Helper()
	w := testkit.Copy(t, testkit.Run{Name: "ranks", Files: []string{"nsys/nccl2/nccl2.sqlite.gz"}})
	testkit.Exec(t, w, `INSERT INTO source SELECT * REPLACE (2 AS source_id, 'split' AS sha256) FROM source WHERE source_id = 1`)
	testkit.Exec(t, w, `DELETE FROM source_fact WHERE key = 'host.name'`)
	for _, table := range []string{"kernel", "nvtx_range", "collective_call"} {
		testkit.Exec(t, w, fmt.Sprintf(`UPDATE %s SET source_id = 2 WHERE pid = 757`, table))
	}
	return w
}

// TestHostClocks moves the clock of one of two machines of a real capture, which ran on one. What was moved is found within the error that is
// stated, and so is every skew; sums and durations stay as they were, and no lateness within the error is laid on a rank.
func TestHostClocks(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(*testing.T) *schema.Warehouse{
		"traces": func(t *testing.T) *schema.Warehouse { return testkit.Copy(t, testkit.Named(t, "ranks")...) },
		"nccl2": func(t *testing.T) *schema.Warehouse {
			w := splitNCCL(t)
			testkit.DeriveOnly(t, w, rankFacts...)
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := make(t)
			const sums = `SELECT count(*), sum(duration_ns)::BIGINT, (SELECT sum(total_ns)::BIGINT FROM collectives('ranks', warmup := true)) FROM kernel`
			before := rows(t, w, sums)
			// By the one clock that both have: starts of the first kernel of each source are known to a microsecond.
			truth := map[string][]int64{} // by start on the first source's clock: skew, and start of the second rank less that of the first
			const starts = `SELECT match_id::VARCHAR, max(start_ns) FILTER (source_id = 1), max(own_start_ns) FILTER (source_id = 2) FROM rank_wait GROUP BY match_id ORDER BY 1`
			clock := testkit.Query(t, w, "clock-offsets", queries.Args{"run": "ranks"})
			offset := number(clock, clock.Rows[1], "offset_ns")
			slack := int64(0)
			if v := clock.Rows[1][clock.Index("error_max_ns")]; v != nil {
				slack = v.(int64) // the truth is no better known
			}
			for _, r := range rowsOf(t, w, starts) {
				truth[r[0].(string)] = []int64{r[1].(int64), r[2].(int64) + offset}
			}
			nodes(t, w, "ranks")
			matched := 0
			for _, c := range []struct {
				wall  string  // of the second machine's clock
				ns    int64   // its time 0
				drift float64 // how much slower it runs
			}{{"1 MICROSECOND", 1000, 0}, {"-3 MILLISECOND", -3e6, 20e-6}, {"2 HOUR", 7200e9, -300e-6}} {
				move := func(table, column string) {
					testkit.Exec(t, w, fmt.Sprintf(`UPDATE %s SET %s = round(%[2]s / (1 + %v::DOUBLE))::BIGINT - %d WHERE source_id = 2`, table, column, c.drift, c.ns))
				}
				testkit.Exec(t, w, `CREATE OR REPLACE TABLE kept_kernel AS SELECT * FROM kernel`)
				testkit.Exec(t, w, `CREATE OR REPLACE TABLE kept_call AS SELECT * FROM collective_call`)
				move("kernel", "start_ns")
				move("collective_call", "kernel_start_ns")
				testkit.Exec(t, w, fmt.Sprintf(`UPDATE source SET started_at = started_at + INTERVAL '%s' WHERE source_id = 2`, c.wall))
				testkit.DeriveOnly(t, w, rankFacts...)
				f := testkit.Query(t, w, "clock-offsets", queries.Args{"run": "ranks"})
				r := f.Rows[1]
				if r[f.Index("basis")] != "bounds" || r[f.Index("reason")] != nil || r[f.Index("reference_id")] != int64(1) || r[f.Index("host")] != "node 1" {
					t.Fatalf("%v: %v", c, r)
				}
				within := number(f, r, "error_ns") + slack
				if within > 1e6 {
					t.Errorf("%v: the error is %d ns", c, within)
				}
				told := 0
				skew := map[string]string{}
				for _, s := range rowsOf(t, w, `SELECT match_id::VARCHAR, skew_ns, coalesce(reason, '') FROM rank_skew('ranks', top := 0)`) {
					skew[s[0].(string)] = fmt.Sprint(s[2])
					want := truth[s[0].(string)]
					really := want[1] - want[0]
					if skew, ok := s[1].(int64); ok {
						told++
						if off := skew - max(really, -really); off > within || off < -within {
							t.Errorf("%v: match %s has a skew of %d, not %d, and an error of %d", c, s[0], skew, really, within)
						}
					}
				}
				for _, s := range rowsOf(t, w, `SELECT match_id::VARCHAR, max(start_ns) FILTER (source_id = 2), any_value(member) FILTER (is_last AND is_told), any_value(member) FILTER (source_id = 2), max(wait_ns) FROM rank_wait GROUP BY match_id`) {
					want := truth[s[0].(string)]
					if off := s[1].(int64) - want[1]; off > within || off < -within {
						t.Errorf("%v: match %s begins at %d, not %d, and the error is %d", c, s[0], s[1], want[1], within)
					}
					if really := want[1] - want[0]; s[2] != nil && (s[2] == s[3]) != (really > 0) && max(really, -really) > slack {
						t.Errorf("%v: match %s is laid on %v, and rank 1 came %d ns behind rank 0", c, s[0], s[2], really)
					} else if s[2] == nil && (skew[s[0].(string)] == "" || s[4] != nil) {
						t.Errorf("%v: match %s is laid on no rank, without a reason: %v", c, s[0], s)
					}
				}
				if after := rows(t, w, sums); !slices.Equal(before, after) {
					t.Errorf("%v: sums were %s and are %s", c, before, after)
				}
				matched += told
				if len(skew) == 0 {
					t.Errorf("%v: nothing is matched", c)
				}
				testkit.Exec(t, w, `DELETE FROM kernel`)
				testkit.Exec(t, w, `INSERT INTO kernel SELECT * FROM kept_kernel`)
				testkit.Exec(t, w, `DELETE FROM collective_call`)
				testkit.Exec(t, w, `INSERT INTO collective_call SELECT * FROM kept_call`)
				testkit.Exec(t, w, fmt.Sprintf(`UPDATE source SET started_at = started_at - INTERVAL '%s' WHERE source_id = 2`, c.wall))
				t.Logf("%v: error %d ns, drift %v, told %d of %d", c, within, r[f.Index("drift_ratio")], told, len(skew))
			}
			if matched == 0 {
				t.Error("no skew was told: nothing is tried")
			}
		})
	}
}

// TestHostsApart: where no line lies between all bounds, or ranks have different numbers of collectives, nothing is compared between the machines, and the
// reason says so.
func TestHostsApart(t *testing.T) {
	t.Parallel()
	for reason, change := range map[string]string{
		"no-line":       `UPDATE kernel SET start_ns = start_ns + CASE WHEN start_ns > (SELECT median(start_ns) FROM kernel WHERE source_id = 2) THEN 50000000 ELSE 0 END WHERE source_id = 2`,
		"uneven-counts": `DELETE FROM kernel WHERE source_id = 2 AND start_ns = (SELECT max(k.start_ns) FROM kernel k JOIN kernel_class c USING (run_id, kernel_name_id) WHERE k.source_id = 2 AND c.role = 'collective')`,
	} {
		w := splitNCCL(t)
		nodes(t, w, "ranks")
		testkit.Exec(t, w, change)
		testkit.DeriveOnly(t, w, rankFacts...)
		f := testkit.Query(t, w, "clock-offsets", queries.Args{"run": "ranks"})
		if r := f.Rows[1]; r[f.Index("reason")] != reason || r[f.Index("offset_ns")] != nil || r[f.Index("basis")] != nil {
			t.Errorf("%s: %v", reason, r)
		}
		if got := rowsOf(t, w, `SELECT count(*), count(wait_ns), count(*) FILTER (is_told), min(reason), max(reason) FROM rank_wait`)[0]; got[0] == int64(0) || got[1] != int64(0) || got[2] != int64(0) || got[3] != "hosts-apart" || got[4] != "hosts-apart" {
			t.Errorf("%s: %v", reason, got)
		}
		for _, q := range []string{"late-ranks", "stragglers", "rank-passes"} {
			if f := testkit.Query(t, w, q, queries.Args{"run": "ranks"}); len(f.Rows) > 0 || !strings.Contains(strings.Join(f.Notes, "\n"), "not aligned") {
				t.Errorf("%s: %s has %d rows and notes %q", reason, q, len(f.Rows), f.Notes)
			}
		}
	}
}
