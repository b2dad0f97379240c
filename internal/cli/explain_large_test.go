package cli

import (
	"encoding/csv"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/internal/sample"
	"prof/internal/testkit"
)

// largeSQL adds up the kernels of the median pass of each stage, of an even number of passes the mean of the two in the middle, or of runs without any, as explain
// is to find them: those with a tenth of its GPU time, side by side in proportion to their durations.
const largeSQL = `WITH staged AS (
	SELECT DISTINCT p.run_id, t.kind FROM stage_pass p JOIN timeline t USING (run_id, source_id) WHERE NOT p.is_warmup AND p.lost_count = 0
), pass AS (
	SELECT d.run_id, d.device_id, d.range_id, p.stage, t.kind, d.kernel_ns, d.kernel_ns + d.graph_ns + d.copy_ns AS busy_ns,
		row_number() OVER (PARTITION BY d.run_id, t.kind, p.stage, d.device_id ORDER BY d.end_ns - d.start_ns, d.range_id) AS nth,
		count(*) OVER (PARTITION BY d.run_id, t.kind, p.stage, d.device_id) AS n
	FROM device_time d JOIN stage_pass p USING (run_id, range_id) JOIN timeline t ON t.run_id = d.run_id AND t.source_id = d.source_id
	WHERE NOT p.is_warmup AND p.lost_count = 0 AND t.is_counted
), middle AS (
	SELECT * FROM pass WHERE nth BETWEEN (n + 1) // 2 AND n // 2 + 1
), d AS (
	SELECT run_id, stage, device_id, sum(kernel_ns) AS kernel_ns, sum(busy_ns) AS busy_ns FROM middle GROUP BY ALL
	UNION ALL
	SELECT d.run_id, NULL, d.device_id, sum(d.kernel_ns), sum(d.kernel_ns + d.graph_ns + d.copy_ns)
	FROM device_time d JOIN timeline t USING (run_id, source_id)
	LEFT JOIN staged s ON s.run_id = d.run_id AND s.kind = t.kind
	WHERE t.is_counted AND d.range_id IS NULL AND s.run_id IS NULL
	GROUP BY ALL
), k AS (
	SELECT k.run, k.run_id, m.stage, k.device_id, k.kernel, sum(k.duration_ns) AS ns
	FROM kernels k JOIN middle m ON m.run_id = k.run_id AND m.range_id = k.pass_range_id AND m.device_id = k.device_id
	WHERE k.is_counted
	GROUP BY ALL
	UNION ALL
	SELECT k.run, k.run_id, NULL, k.device_id, k.kernel, sum(k.duration_ns)
	FROM kernels k JOIN timeline t USING (run_id, source_id)
	LEFT JOIN staged s ON s.run_id = k.run_id AND s.kind = t.kind
	WHERE k.is_counted AND s.run_id IS NULL
	GROUP BY ALL
), q AS (
	SELECT k.run, k.stage, k.kernel, k.ns * least(1, d.kernel_ns / sum(k.ns) OVER (PARTITION BY k.run_id, k.stage, k.device_id)) / d.busy_ns AS share
	FROM k JOIN d ON d.run_id = k.run_id AND d.stage IS NOT DISTINCT FROM k.stage AND d.device_id = k.device_id
	WHERE d.busy_ns > 0
)
SELECT run, coalesce(stage, '') AS stage, kernel, max(share) AS share FROM q GROUP BY ALL HAVING share >= 0.1 ORDER BY ALL`

// TestLargestKernels holds, of every capture, that explain passes over no kernel that takes a tenth of a stage's GPU time: it says what limits it, or that nothing is known and what to capture.
func TestLargestKernels(t *testing.T) {
	t.Parallel()
	p := reading(t, testkit.Captures)
	rows, err := csv.NewReader(strings.NewReader(p.sql(largeSQL))).ReadAll()
	if err != nil || len(rows) < 50 {
		t.Fatalf("%v: %d rows", err, len(rows))
	}
	type key struct{ run, stage, kernel string }
	want, limits := map[key]string{}, map[string]int{}
	var runs []string
	for _, r := range rows[1:] {
		runs = append(runs, r[0])
	}
	runs = sample.Of(slices.Compact(runs), 9)
	for _, r := range rows[1:] {
		if slices.Contains(runs, r[0]) {
			want[key{r[0], r[1], r[2]}] = r[3]
		}
	}
	for _, run := range runs {
		var got struct {
			Findings []struct{ Subject string }
			Kernels  []struct {
				Stage, Kernel, Limit, Words, Command string
				ShareRatio                           float64 `json:"share_ratio"`
			}
		}
		if err := json.Unmarshal([]byte(p.ok("explain", run, "--format", "json")), &got); err != nil {
			t.Fatal(err)
		}
		for _, k := range got.Kernels {
			limits[k.Limit]++
			at := key{run, k.Stage, k.Kernel}
			share, err := strconv.ParseFloat(want[at], 64)
			if delete(want, at); err != nil || k.ShareRatio < share-1e-9 || k.ShareRatio > share+1e-9 {
				t.Errorf("%q: share %v, want %v", at, k.ShareRatio, share)
			}
			isUnknown := strings.HasPrefix(k.Words, "limit unknown")
			if k.Words == "" || isUnknown != (k.Limit == "") || isUnknown && !strings.Contains(k.Command, "nsys,ncu") && !strings.Contains(k.Words, "no tool that measures it") {
				t.Errorf("%q: %+v", at, k)
			}
		}
	}
	for at, share := range want {
		t.Errorf("explain %s says nothing of %s of %q, with %s of its GPU time", at.run, at.kernel, at.stage, share)
	}
	if *sample.Whole && (limits["roof"] == 0 || limits["below-roof"] == 0 || limits["grid"] == 0 || limits["ranks"] == 0 || limits[""] == 0) {
		t.Errorf("what limits them: %v", limits)
	}
}

// TestPassedOver is about captures in which explain once said nothing of the largest kernel, or advised what is done already.
func TestPassedOver(t *testing.T) {
	t.Parallel()
	needsDsocr(t)
	p := reading(t, dsocrTwice)
	text := strings.Join(strings.Fields(p.ok("explain", dsocrTwice[0].Name, "--stage", "prefill")), " ")
	if !strings.Contains(text, "1 prefill: precomputed_convolve_sgemm<__nv_bfloat16, 128, 6, 7, 3, 3, 5, 1, 0> takes 20.1 % of the median pass's GPU time: 7.02 ms in 1 call "+
		"multiplies BF16 in FP32, outside tensor cores; 24 blocks on 132 SMs; as traced, the pass would take as long without it: by the critical path, launches, which tracing delays, or other work end later try: get a kernel that uses tensor cores") {
		t.Errorf("explain gives %s", text)
	}
	p = reading(t, []testkit.Run{{Name: "copies", Files: []string{"../../shared/captures/others/h100_2gpu_1s.sqlite.gz"}}})
	if text := strings.Join(strings.Fields(p.ok("explain", "copies")), " "); !strings.Contains(text, "at 27.7 GB/s, from pinned memory; all are on stream 7") || strings.Contains(text, "copy from pinned") {
		t.Errorf("explain gives %s", text)
	}
}
