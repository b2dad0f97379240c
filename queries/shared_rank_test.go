package queries_test

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"prof/ingest"
	"prof/ingest/workload"
	"prof/internal/testkit"
	"prof/queries"
)

// TestSharedRanks holds that ranks are known to share a batch where the capture shows it, and that the user is asked where it does not.
func TestSharedRanks(t *testing.T) {
	t.Parallel()
	pass := workload.Uniform(workload.Pass{Prefill: new(int64(512)), Decode: new(int64(4)), Batch: 1}, nil)
	run := func(name, sql string) testkit.Run {
		return testkit.Run{Name: name, Files: []string{"nsys/nccl2/nccl2.sqlite.gz"}, Options: ingest.Options{Models: []string{"model/deepseek-ocr.config.json"}, Pass: pass}, SQL: sql, Facts: append([]string{"stage_figure"}, useFacts...)}
	}
	cases := map[string]string{
		"other shapes": `INSERT INTO kernel_shape SELECT * REPLACE (kernel_shape_id + 1000 AS kernel_shape_id, grid_x + 1000 AS grid_x) FROM kernel_shape WHERE run_id = $run;
			UPDATE kernel SET kernel_shape_id = kernel_shape_id + 1000 WHERE pid = 757 AND run_id = $run`,
		"no all-reduces": "UPDATE kernel_class SET family = 'nccl something' WHERE family = 'nccl all-reduce' AND run_id = $run",
		"an all-reduce less": `DELETE FROM kernel WHERE run_id = $run AND start_ns = (SELECT max(k.start_ns) FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id) JOIN path_stage s USING (run_id, path_id)
			WHERE k.run_id = $run AND n.name LIKE '%AllReduce%' AND k.pid = 757 AND s.stage = 'decode')`,
	}
	runs := []testkit.Run{run("r", ""), run("one GPU", `UPDATE kernel SET device_id = 0 WHERE run_id = $run; UPDATE range_device SET device_id = 0 WHERE run_id = $run`)}
	for _, what := range slices.Sorted(maps.Keys(cases)) {
		runs = append(runs, run(what, cases[what]))
	}
	w := testkit.Warehouse(t, runs...)
	of := "r"
	ratio := func(args queries.Args) (float64, string) {
		t.Helper()
		args["run"], args["compute"] = of, "bf16"
		got, f := utilisation(t, w, args)
		return got["decode"].number(t, "mfu_ratio"), strings.Join(f.Notes, "\n")
	}
	shared, notes := ratio(queries.Args{})
	if !strings.Contains(notes, "the 2 processes of decode and prefill are assumed to share one batch") || strings.Contains(notes, "give --ranks") {
		t.Errorf("notes: %s", notes)
	}
	said, _ := ratio(queries.Args{"ranks": "shared"})
	own, _ := ratio(queries.Args{"ranks": "own"})
	if !(shared > 0) || shared != said || math.Abs(own-2*shared) > 1e-12 {
		t.Errorf("by default %v, shared %v, own %v", shared, said, own)
	}
	if one, _ := ratio(queries.Args{"device": "0"}); !(one > 0.8*shared && one < 1.25*shared) { // a GPU does half of the work
		t.Errorf("on one GPU %v, on both %v", one, shared)
	}
	of = "one GPU" // NCCL takes ranks of one GPU for two machines by NCCL_HOSTID
	if v, _ := ratio(queries.Args{"ranks": "shared"}); math.Abs(v-2*shared) > 1e-12 {
		t.Errorf("ranks that share a GPU use %v of its peak, those of two GPUs %v of theirs", v, shared)
	}
	if v, _ := ratio(queries.Args{"ranks": "shared", "time_basis": "gpu_busy"}); !math.IsNaN(v) {
		t.Errorf("%v, by the busy time of one rank of two that share a GPU", v)
	}
	if got := strings.Join(rows(t, w, `SELECT r.name, f.device_ns / u.time_ns FROM stage_figure f JOIN run r USING (run_id), LATERAL (SELECT median(t.gpu_span_ns) AS time_ns FROM pass_time t WHERE t.run_id = r.run_id AND t.stage = 'decode' AND t.device_id IS NULL) u
		WHERE f.stage = 'decode' ORDER BY 1`), " "); got != "[an all-reduce less <nil>] [no all-reduces <nil>] [one GPU <nil>] [other shapes <nil>] [r 2]" {
		t.Errorf("GPUs that trends count: %s", got)
	}
	if got := rows(t, w, "SELECT r.name, c.item_count, c.of_count FROM caveat c JOIN run r USING (run_id) WHERE c.kind = 'processes-share-gpu'"); strings.Join(got, " ") != "[one GPU 2 1]" {
		t.Errorf("processes that share a GPU: %v", got)
	}
	for of = range cases {
		if v, notes := ratio(queries.Args{}); !math.IsNaN(v) || !strings.Contains(notes, "give --ranks shared") {
			t.Errorf("%s: %v, notes %s", of, v, notes)
		}
	}
}
