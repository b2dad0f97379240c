package ncu_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"prof/ingest/load"
	"prof/ingest/ncu"
	"prof/ingest/rows/rowstest"
	"prof/internal/sample"
)

// tryStored stores reports, packed or not, as the sources of one run, in memory.
func tryStored(t testing.TB, paths ...string) (*rowstest.Kept, []*load.SourceInfo, error) {
	t.Helper()
	k := rowstest.New(t, load.Options{Threads: 2})
	var infos []*load.SourceInfo
	for i, path := range paths {
		k.SourceID = i + 1
		path = rowstest.Plain(t, path)
		info, err := ncu.LoadReport(t.Context(), path, path, k.Target)
		if err != nil {
			return nil, nil, err
		}
		infos = append(infos, info)
	}
	return k, infos, k.StoreShared(t.Context())
}

// stored is tryStored of reports that are read without an error.
func stored(t testing.TB, paths ...string) (*rowstest.Kept, []*load.SourceInfo) {
	t.Helper()
	k, infos, err := tryStored(t, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return k, infos
}

// saved writes a report into a folder of the test's own.
func saved(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// metricTexts are the metrics of results by their places: launch, name, value, text.
func metricTexts(k *rowstest.Kept) (out []string) {
	for _, r := range k.Table("ncu_metric") {
		out = append(out, fmt.Sprintf("%d|%s|%s|%s", r.Int("launch_id")-1, r.Text("metric_id.name"), r.Text("value"), r.Text("text")))
	}
	return out
}

// launchTexts are the launches as launchText says them.
func launchTexts(k *rowstest.Kept) (out []string) {
	ranges := map[int64][]string{}
	for _, r := range k.Table("ncu_range").By("launch_id depth") {
		ranges[r.Int("launch_id")] = append(ranges[r.Int("launch_id")], r.Text("style")+" "+r.Text("domain")+"/"+r.Text("name"))
	}
	for _, r := range k.Table("ncu_launch") {
		at := "~"
		if created, ok := r.Get("captured_at").(time.Time); ok {
			at = fmt.Sprint(created.Unix())
		}
		row := rowstest.Table{r}.Texts("ncu_id kind pid tid device_id context_id stream_id kernel_name_id.name kernel_name_id.short_name symbol grid_x grid_y grid_z block_x block_y block_z")[0]
		out = append(out, fmt.Sprintf("%d|%s|%s|%s|%s", r.Int("launch_id")-1, row, at, r.Text("is_clock_locked"), strings.Join(ranges[r.Int("launch_id")], " > ")))
	}
	return out
}

// TestStoreValues: what is stored of every report is what the reader gives, value by value.
func TestStoreValues(t *testing.T) {
	for _, c := range sample.Of(realReports(t), 2) {
		t.Run(c.name, func(t *testing.T) {
			k, infos := stored(t, c.report)
			info := infos[0]
			for _, m := range info.Warnings {
				t.Errorf("warned: %s", m)
			}
			_, got := results(t, fileBytes(t, c.report))
			var want, launches, units []string
			seen := map[string]bool{}
			for i := range got {
				launches = append(launches, launchText(&got[i]))
				for _, m := range got[i].Metrics {
					if !seen[fmt.Sprint(i, m.Name)] { // TestReportIsPage says whether one is there twice
						seen[fmt.Sprint(i, m.Name)] = true
						want = append(want, fmt.Sprint(i, "|", m.Name, "|", valueText(m)))
					}
					if !seen[m.Name] {
						seen[m.Name] = true
						units = append(units, m.Name+"|"+unitText(m.Unit))
					}
				}
			}
			compareSorted(t, "metrics", metricTexts(k), want)
			compareSorted(t, "units", slices.Compact(slices.Sorted(slices.Values(k.Table("ncu_metric").Texts("metric_id.name metric_id.unit")))), units)
			compareSorted(t, "launches", launchTexts(k), launches)
			noFaults(t, k)
			rows := int64(0)
			for _, table := range []string{"ncu_metric", "ncu_launch", "ncu_range", "ncu_rule", "ncu_rule_metric", "ncu_section", "device", "process", "source_fact", "ncu_instance", "ncu_instruction", "ncu_function", "ncu_source_file", "ncu_sample", "ncu_rule_cell"} {
				rows += int64(k.Count(table))
			}
			if got := fmt.Sprint(info.ToolVersion, "|", info.SchemaVersion, "|", info.Status, "|", info.Reason, "|", info.Rows == rows); got != "2025.3.1.0 (build 36398880) (public-release)|7|||true" {
				t.Errorf("the source is %s, with %d rows of %d", got, info.Rows, rows)
			}
			k.Table("device").Expect(t, "device_id name chip compute_capability sm_count clock_hz memory_bytes l2_bytes max_warp_per_sm_count shared_per_sm_bytes",
				"0|NVIDIA H200|~|9.0|132|1980000000|150109880320|62914560|64|233472")
		})
	}
}

// storeFaults find rows that must not be.
var storeFaults = map[string]func(k *rowstest.Kept) []string{
	"a metric is there twice": repeated("ncu_metric", "launch_id metric_id"),
	"a metric has no name":    without("ncu_metric", "metric_id.name"),
	"a metric has no launch":  without("ncu_metric", "launch_id.ncu_id"),
	"a name is there twice":   repeated("ncu_metric_name", "name"),
	"a launch is there twice": repeated("ncu_launch", "launch_id"),
	"a launch has no kernel name": func(k *rowstest.Kept) []string {
		return k.Table("ncu_launch").Is("kind", "kernel").Is("kernel_name_id.name", "~").Texts("launch_id")
	},
	"a path is missing": func(k *rowstest.Kept) []string {
		return k.Table("ncu_launch").Where(hasPath).Is("path_id.path", "~").Texts("launch_id")
	},
	"a path is not its last range's": func(k *rowstest.Kept) []string {
		last := map[int64]int64{}
		for _, r := range k.Table("ncu_range").By("launch_id depth") {
			last[r.Int("launch_id")] = r.Int("path_id")
		}
		return k.Table("ncu_launch").Where(func(r rowstest.Row) bool { return r.Int("path_id") != last[r.Int("launch_id")] }).Texts("launch_id")
	},
	"a section shows a metric twice": repeated("ncu_section", "source_id section metric_id"),
	"a place in a section is taken":  repeated("ncu_section", "source_id section position"),
	"a section's metric has no name": without("ncu_section", "metric_id.name"),
	"a finding is there twice":       repeated("ncu_rule", "launch_id finding_id"),
	"a finding's metric has none": func(k *rowstest.Kept) []string {
		rules := k.Table("ncu_rule").Texts("launch_id finding_id")
		return slices.DeleteFunc(k.Table("ncu_rule_metric").Texts("launch_id finding_id"), func(s string) bool { return slices.Contains(rules, s) })
	},
	"a speedup without a scope": func(k *rowstest.Kept) []string {
		return k.Table("ncu_rule").Where(func(r rowstest.Row) bool {
			ratio, has := r.Get("speedup_ratio").(float64)
			return (r.Get("speedup_scope") == nil) == has || ratio < 0 || ratio > 1
		}).Texts("rule")
	},
	"a rule's markup is left": func(k *rowstest.Kept) []string {
		return k.Table("ncu_rule").Where(func(r rowstest.Row) bool { return strings.Contains(r.Text("message"), "@") }).Texts("message")
	},
	"a part that is not all stored": func(k *rowstest.Kept) []string {
		return k.Table("source_part").Where(func(r rowstest.Row) bool {
			return (r.Int("read_count") != r.Int("stored_count")) != (r.Get("reason") != nil)
		}).Texts("part")
	},
	"launches not as source_part says": func(k *rowstest.Kept) (out []string) {
		for _, kind := range []string{"kernel", "graph", "range", "application"} {
			if n, said := len(k.Table("ncu_launch").Is("kind", kind)), k.Table("source_part").Is("part", kind+" results").Sum("stored_count"); int64(n) != said {
				out = append(out, kind)
			}
		}
		return out
	},
	"metrics not as source_part says": func(k *rowstest.Kept) (out []string) {
		for _, p := range k.Table("source_part").Is("part", "metrics") {
			if len(k.Table("ncu_metric").Is("source_id", p.Text("source_id"))) != int(p.Int("stored_count")) {
				out = append(out, p.Text("stored_count"))
			}
		}
		return out
	},
	"a fact is there twice": repeated("source_fact", "key"),
}

func repeated(table, columns string) func(k *rowstest.Kept) []string {
	return func(k *rowstest.Kept) []string { return k.Table(table).Repeated(columns) }
}

func without(table, column string) func(k *rowstest.Kept) []string {
	return func(k *rowstest.Kept) []string { return k.Table(table).Is(column, "~").Texts("run_id") }
}

func hasPath(r rowstest.Row) bool { return r.Int("path_id") > 0 }

// noFaults fails with what storeFaults find but those that are allowed.
func noFaults(t *testing.T, k *rowstest.Kept, allowed ...string) {
	t.Helper()
	for what, find := range storeFaults {
		if rows := find(k); len(rows) > 0 && !slices.Contains(allowed, what) {
			t.Errorf("%s: %d rows, the first %s", what, len(rows), rows[0])
		}
	}
}

func valueText(m ncu.Metric) string {
	switch {
	case m.IsText:
		return "~|" + m.Text
	case math.IsNaN(m.Value), math.IsInf(m.Value, 0):
		return "~|" + strconv.FormatFloat(m.Value, 'f', -1, 64)
	case m.Text != "":
		return fmt.Sprint(m.Value) + "|" + m.Text
	}
	return fmt.Sprint(m.Value) + "|~"
}

func unitText(unit string) string {
	if unit == ncu.UnknownUnit {
		return "~"
	}
	return unit
}

// launchText is a result as launchTexts says it.
func launchText(r *ncu.Result) string {
	known := func(v int32, unknown int32) string {
		if v == unknown {
			return "~"
		}
		return fmt.Sprint(v)
	}
	clock, names, sizes := "~", "~|~|~", "~|~|~|~|~|~"
	if r.ClockLocked != nil {
		clock = fmt.Sprint(*r.ClockLocked)
	}
	if r.Kind == ncu.Kernel {
		names = r.Name + "|" + r.Function + "|" + r.Symbol
		sizes = fmt.Sprintf("%d|%d|%d|%d|%d|%d", r.Grid[0], r.Grid[1], r.Grid[2], r.Block[0], r.Block[1], r.Block[2])
	}
	var ranges []string
	for _, x := range r.Ranges {
		style := "push_pop "
		if x.StartEnd {
			style = "start_end "
		}
		ranges = append(ranges, style+x.Domain+"/"+x.Name)
	}
	return fmt.Sprintf("%d|%d|%v|%d|%s|%s|%s|%s|%s|%s|%d|%s|%s", r.ID, r.ID, r.Kind, r.PID, known(r.TID, 0), known(r.Device, -1), known(r.Context, -1),
		known(r.Stream, -1), names, sizes, r.Created, clock, strings.Join(ranges, " > "))
}

func compareSorted(t testing.TB, what string, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s: stored %s, want %s", what, got[i], want[i])
			break
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s: %d stored, want %d", what, len(got), len(want))
	}
}

// TestStoreCut: of a report that was cut off the whole results are stored, and the run says so.
func TestStoreCut(t *testing.T) {
	data := reportOf(t, "kernels-range")
	_, parts := takeApart(t, data)
	_, whole := results(t, data)
	for _, p := range parts {
		if p.results == 0 {
			continue
		}
		for _, at := range []int{p.at + 4 + len(p.header), p.ends[0] - 1, p.ends[0] - 100} {
			want, _ := wholeBefore(parts, len(data), at)
			k, infos, err := tryStored(t, saved(t, "cut.ncu-rep", data[:at]))
			if want == 0 {
				if !errors.Is(err, load.ErrNothingWhole) {
					t.Errorf("cut at %d, before the first result: %v", at, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			info := infos[0]
			if info.Status != "partial" || info.Reason == "" || len(info.Warnings) != 1 || !strings.Contains(info.Warnings[0], "cut off") {
				t.Errorf("cut at %d: %+v", at, info)
			}
			if launches, metrics := k.Count("ncu_launch"), k.Count("ncu_metric"); launches != want || metrics != len(whole[0].Metrics)*want {
				t.Errorf("cut at %d: %d launches and %d metrics, want %d launches", at, launches, metrics, want)
			}
			if said := k.Table("diagnostic").Is("severity", "warning").Texts("message"); len(said) != 1 || !strings.Contains(said[0], "cut off") {
				t.Errorf("cut at %d: it says %q", at, said)
			}
		}
	}
	for _, at := range []int{12, len(data) / 100, parts[0].at + 1} {
		if _, _, err := tryStored(t, saved(t, "cut.ncu-rep", data[:at])); err == nil {
			t.Errorf("cut at %d: it is stored", at)
		}
	}
}

// TestStoreMany: what is stored piece by piece is stored once and whole.
func TestStoreMany(t *testing.T) {
	const launches = 96 // of 1,381 metrics: the pieces are of 65,536
	data := bigReport(t, launches)
	metrics, sum := 0, 0.0
	_, got := results(t, data)
	for _, x := range got {
		for _, m := range x.Metrics {
			if metrics++; !math.IsNaN(m.Value) {
				sum += m.Value
			}
		}
	}
	k, _ := stored(t, saved(t, "many.ncu-rep", data))
	total, size, of, launchesOf := 0.0, 0.0, map[[2]int64]bool{}, map[int64]bool{}
	for _, r := range k.Table("ncu_metric") {
		v, _ := r.Get("value").(float64)
		total, size = total+v, size+math.Abs(v)
		of[[2]int64{r.Int("launch_id"), r.Int("metric_id")}], launchesOf[r.Int("launch_id")] = true, true
	}
	if n := k.Count("ncu_metric"); n != metrics || len(of) != metrics || len(launchesOf) != launches || k.Count("ncu_launch") != launches {
		t.Errorf("%d metrics, %d of them different, of %d launches, and %d launches: want %d of %d", n, len(of), len(launchesOf), k.Count("ncu_launch"), metrics, launches)
	}
	if math.Abs(total-sum) > 1e-12*size {
		t.Errorf("the values add up to %g, want %g", total, sum)
	}
	if metrics < 2<<16 {
		t.Errorf("only %d metrics", metrics)
	}
}
