package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prof/ingest"
	"prof/internal/testkit"
)

var (
	sampleLine = regexp.MustCompile(`^(prof_[a-z_]+)\{(.*)\} (\S+) (\S+)$`)
	labelPair  = regexp.MustCompile(`([a-z_0-9A-Z]+)="((?:[^"\\]|\\.)*)"`)
)

// point is a point of a metric by its name, its stage and what else names it.
type point struct{ name, stage, more string }

// openMetrics reads what export wrote, and checks its frame: a TYPE for each family, samples of a family together, EOF last.
func openMetrics(t *testing.T, text string) (values map[point]string, labels map[point]map[string]string) {
	t.Helper()
	if !strings.HasSuffix(text, "\n# EOF\n") || strings.Count(text, "# EOF") != 1 {
		t.Errorf("it ends with %q", text[max(0, len(text)-40):])
	}
	values, labels = map[point]string{}, map[point]map[string]string{}
	family, seen := "", map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if name, found := strings.CutPrefix(line, "# TYPE "); found {
			family = strings.TrimSuffix(name, " gauge")
			if seen[family] || family == name {
				t.Errorf("%q", line)
			}
			seen[family] = true
		}
		if unit, found := strings.CutPrefix(line, "# UNIT "+family+" "); found && !strings.HasSuffix(family, "_"+unit) {
			t.Errorf("%q: the name does not end in the unit", line)
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || m[1] != family {
			t.Fatalf("the line %q in %s", line, family)
		}
		own := map[string]string{}
		for _, l := range labelPair.FindAllStringSubmatch(m[2], -1) {
			own[l[1]] = l[2]
		}
		x := point{m[1], own["stage"], own["mode"] + own["tool"] + own["basis"] + own["device"]}
		if _, twice := values[x]; twice {
			t.Errorf("%v is there twice", x)
		}
		values[x], labels[x] = m[3], own
	}
	return values, labels
}

// TestExportMetrics compares each figure with the query that it is from: what has a number there is there, and what has none is not.
func TestExportMetrics(t *testing.T) {
	t.Parallel()
	p := reading(t, []testkit.Run{{Name: "a", Files: []string{"nsys/" + llama, "workload/llama-graph-node.workload.json"}, Options: ingest.Options{Tags: [][2]string{{"git.branch", "a\"b\\c"}, {"git-branch", "2"}}}}})
	text := p.ok("export", "a", "--to", "openmetrics")
	values, labels := openMetrics(t, text)
	compared := 0
	for query, columns := range map[string]map[string]string{
		"stages": {"passes": "stage_passes", "cpu_mean_ns": "stage_cpu_mean_seconds", "gpu_span_mean_ns": "stage_gpu_span_mean_seconds", "gpu_span_median_ns": "stage_gpu_span_median_seconds", "gpu_span_std_ns": "stage_gpu_span_std_seconds", "busy_ratio": "stage_gpu_busy_ratio",
			"gpu_busy_mean_ns": "stage_gpu_busy_mean_seconds", "gpu_span_tokens_per_s": "stage_gpu_span_tokens_per_second", "alone_median_ns": "stage_alone_median_seconds", "alone_tokens_per_s": "stage_alone_tokens_per_second",
			"over_alone_ratio": "stage_over_alone_ratio", "token_count": "stage_tokens", "kernel_count": "stage_kernels"},
		"mfu": {"mfu_ratio": "stage_mfu_ratio", "mbu_ratio": "stage_mbu_ratio", "alone_mfu_ratio": "stage_alone_mfu_ratio", "alone_mbu_ratio": "stage_alone_mbu_ratio"},
	} {
		rows, err := csv.NewReader(strings.NewReader(p.ok("query", query, "a", "--format", "csv"))).ReadAll()
		if err != nil || len(rows) < 3 {
			t.Fatal(rows, err)
		}
		for i, column := range rows[0] {
			name, exported := columns[column]
			if !exported {
				continue
			}
			delete(columns, column)
			for _, row := range rows[1:] {
				want := ""
				if n, err := strconv.ParseFloat(row[i], 64); err == nil {
					if strings.HasSuffix(column, "_ns") {
						n /= 1e9
					}
					want = strconv.FormatFloat(n, 'g', -1, 64)
					compared++
				}
				if got := values[point{"prof_" + name, row[0], ""}]; got != want {
					t.Errorf("%s of %s: %q, the query %s says %q", name, row[0], got, query, row[i])
				}
			}
		}
		if len(columns) > 0 {
			t.Errorf("the query %s lacks %v", query, columns)
		}
	}
	if compared < 20 {
		t.Errorf("only %d figures were compared", compared)
	}
	own := labels[point{"prof_stage_mfu_ratio", "decode", ""}]
	if fmt.Sprint(own) != `map[gpu:NVIDIA H200 lower_bound:false model:llama precision:bf16 run:a stage:decode tag_git_branch:2 tag_git_branch__2:a\"b\\c]` {
		t.Errorf("labels: %v", own)
	}
	if !strings.Contains(text, " 1795253988.748667\n") {
		t.Errorf("no sample has the start of the capture: %.300s", text)
	}
	testOTLP(t, p.ok("export", "a", "--to", "otlp-json"), values)
	file := p.path("m.txt")
	p.wantLike(0, "", "(note: .*\n)+wrote "+regexp.QuoteMeta(file)+"\n", "export", "a", "--to", "openmetrics", "--out", file)
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("%d bytes in the file, %d on stdout: %v", len(got), len(text), err)
	}
	p.wantLike(2, "", "prof: --to openmetrics takes no --stage.*", "export", "a", "--to", "openmetrics", "--stage", "decode")
	p.wantLike(2, "", `.*did you mean openmetrics\?.*`, "export", "a", "--to", "openmetric")
}

// testOTLP checks that OpenTelemetry's JSON has the same points.
func testOTLP(t *testing.T, text string, want map[point]string) {
	t.Helper()
	var request struct {
		ResourceMetrics []struct {
			ScopeMetrics []struct {
				Metrics []struct {
					Name, Unit string
					Gauge      struct {
						DataPoints []struct {
							Attributes []struct {
								Key   string
								Value struct{ StringValue string }
							}
							TimeUnixNano, AsInt string
							AsDouble            json.Number
						}
					}
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &request); err != nil {
		t.Fatal(err)
	}
	points := 0
	for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
		for _, d := range m.Gauge.DataPoints {
			points++
			x := point{name: m.Name}
			for _, a := range d.Attributes {
				switch a.Key {
				case "stage":
					x.stage = a.Value.StringValue
				case "mode":
					x.more = a.Value.StringValue
				}
			}
			value, err := strconv.ParseFloat(d.AsInt+d.AsDouble.String(), 64)
			if strconv.FormatFloat(value, 'g', -1, 64) != want[x] || err != nil || d.TimeUnixNano != "1795253988748667000" {
				t.Errorf("%v: %v%v at %s, OpenMetrics says %s", x, d.AsInt, d.AsDouble, d.TimeUnixNano, want[x])
			}
		}
	}
	if points != len(want) {
		t.Errorf("%d points, OpenMetrics has %d", points, len(want))
	}
}

// TestExportMetricsOfCapture: overhead of profiling, without a stage and with it, and a run without stages.
func TestExportMetricsOfCapture(t *testing.T) {
	t.Parallel()
	p := reading(t, capturedRuns)
	values, _ := openMetrics(t, p.ok("export", "--to", "openmetrics"))
	want, err := strconv.ParseFloat(strings.Fields(p.sql("SELECT overhead_ratio FROM overhead('@latest') WHERE stage IS NULL AND mode = 'deep'"))[1], 64)
	if got := values[point{"prof_profiling_overhead_ratio", "", "deepnsys"}]; err != nil || got != strconv.FormatFloat(want, 'g', -1, 64) {
		t.Errorf("overhead %q, the query says %v (%v)", got, want, err)
	}
	p.wantLike(1, "", "prof: run w has no stages, and so no figures to export\n", "export", "w", "--to", "otlp-json")
}
