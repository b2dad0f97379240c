package queries_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/internal/testkit"
	"prof/queries"
)

// TestProfiledGraphs: graphs that Nsight Compute profiled as wholes stand in bottlenecks, with the means of what ncu's own page says of them.
func TestProfiledGraphs(t *testing.T) {
	t.Parallel()
	w := testkit.Warehouse(t, testkit.Run{Name: "r", Files: []string{"odd/graphwhole.ncu-rep.gz"}, Facts: []string{"ncu_whole", "ncu_shape"}})
	f := testkit.Query(t, w, "bottlenecks", queries.Args{"run": "r"})
	if len(f.Rows) != 1 {
		t.Fatalf("%d rows", len(f.Rows))
	}
	r := f.Rows[0]
	cell := func(column string) any { return r[f.Index(column)] }
	if cell("kind") != "graph" || cell("kernel") != "(graph)" || cell("bound") != "latency" || cell("limiter") != nil || cell("missing") != nil || cell("launches") != int64(5) {
		t.Errorf("%v", r)
	}
	page := rawPage(t, "../testdata/odd/graphwhole.raw-base.csv.gz")
	for column, metric := range map[string]string{"replayed_mean_ns": "gpu__time_duration.sum", "sm_ratio": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
		"memory_ratio": "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "occupancy_ratio": "sm__warps_active.avg.pct_of_peak_sustained_active"} {
		sum := 0.0
		for _, launch := range page {
			v, err := strconv.ParseFloat(strings.ReplaceAll(launch[metric], ",", ""), 64)
			if err != nil {
				t.Fatalf("%s: %v", metric, err)
			}
			sum += v
		}
		mean := sum / float64(len(page))
		if strings.HasSuffix(column, "_ratio") {
			mean /= 100
		}
		same(t, column, cell(column), mean, 0.01) // the page rounds
	}
}

// TestProfiledWholes: ranges and command lists stand there too, each kind by itself, and what is missing for a verdict is named.
func TestProfiledWholes(t *testing.T) {
	t.Parallel()
	facts := []string{"ncu_whole", "ncu_shape"}
	w := testkit.Warehouse(t, testkit.Run{Name: "ranges", Files: []string{"ncu/kernels-range.ncu-rep.gz"}, Facts: facts},
		testkit.Run{Name: "lists", Files: []string{"ncu/kernels-range.ncu-rep.gz"}, Facts: facts, SQL: "UPDATE ncu_launch SET kind = 'cmdlist', path_id = NULL WHERE run_id = $run"})
	const memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"
	for run, want := range map[string][]string{
		"ranges": {"range (range) prefill 2 667680 unknown " + memory, "range (range) decode_all 2 551344 unknown " + memory},
		"lists":  {"cmdlist (command list) 2 667680 unknown " + memory, "cmdlist (command list) 2 551344 unknown " + memory},
	} {
		f := testkit.Query(t, w, "bottlenecks", queries.Args{"run": run})
		var got []string
		for _, r := range f.Rows {
			cell := func(column string) any { return r[f.Index(column)] }
			got = append(got, fmt.Sprintf("%v %v %v %.0f %v %v", cell("kind"), cell("kernel"), cell("launches"), cell("replayed_mean_ns"), cell("bound"), cell("missing")))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", run, got, want)
		}
	}
}
