package serving

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
)

const folder = "../../testdata/serving/"

// samples are the files of the folder and their forms.
var samples = map[string]string{"vllm.json": "vllm-bench", "sglang.jsonl": "sglang-bench", "profile_export_genai_perf.json": "genai-perf", "profile_export_aiperf.json": "genai-perf",
	"trtllm.json": "trtllm-bench", "mlperf_log_summary.txt": "mlperf-loadgen", "own.json": "prof-serving",
	"aiperf/profile_export.jsonl": "aiperf-requests", "aiperf-whole/profile_export.jsonl": "aiperf-requests", "genai-perf/profile_export.json": "genai-perf-requests", "genai-perf-whole/profile_export.json": "genai-perf-requests",
	"guidellm/benchmarks.json": "guidellm", "inference-perf/stage_0_lifecycle_metrics.json": "inference-perf", "inference-perf/summary_lifecycle_metrics.json": "inference-perf",
	"inference-perf/per_request_lifecycle_metrics.json": "inference-perf-requests", "genai-bench/concurrency_2.json": "genai-bench",
	"evalscope/benchmark_summary.json": "evalscope", "llm-d/benchmark_report.yaml": "llm-d", "llmperf.json": "llmperf", "vllm_latency.json": "vllm-bench-latency", "vllm_throughput.json": "vllm-bench-throughput"}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(folder + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func form(t testing.TB, name string) Form {
	t.Helper()
	for _, f := range Forms() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no form %s", name)
	return Form{}
}

func formsOf(text []byte) (out []string) {
	for _, f := range Forms() {
		if f.Sniff("whatever", text[:min(len(text), 64<<10)]) {
			out = append(out, f.Name)
		}
	}
	return out
}

func shown[T any](v *T) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprint(*v)
}

// lines are what a benchmark says, figures in full.
func (b Benchmark) lines() []string {
	full := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return fmt.Sprintf("%.17g", *v)
	}
	out := []string{strings.Join([]string{b.Tool, b.Label, b.Backend, b.Model, b.Date}, "|"),
		strings.Join([]string{full(b.DurationNs), shown(b.Completed), shown(b.Failed), shown(b.InputTokens), shown(b.OutputTokens), full(b.TargetRate), shown(b.Unlimited), shown(b.ConcurrencyLimit), full(b.ConcurrencyMean),
			full(b.RequestsPerS), full(b.OutputTokensPerS), full(b.TotalTokensPerS)}, " ")}
	for _, l := range b.Latencies {
		line := l.Metric + " " + l.ReportedAs + ":"
		for _, v := range l.Ns {
			line += " " + full(v)
		}
		out = append(out, line)
	}
	return append(out, b.Warnings...)
}

// TestSamples holds that each form has a sample, which TestRead reads.
func TestSamples(t *testing.T) {
	for _, g := range Forms() {
		if !slices.Contains(slices.Collect(maps.Values(samples)), g.Name) {
			t.Errorf("no sample of %s", g.Name)
		}
	}
}

// TestRead: each form, known by its content alone and by no other, in base units as exact as the file's decimal numbers.
func TestRead(t *testing.T) {
	for name, want := range map[string][]string{
		"vllm.json": {"vllm-bench||vllm|meta-llama/Llama-3.1-8B-Instruct|20251126-101500", "52734512000 198 2 202752 25344 4 false 32 - 3.7546569000000001 480.59607999999997 4325.3647499999997",
			"ttft ttft: 41519000 8125000 - 40234567.799999997 52000000 - 71875000 - -", "tpot tpot: 9100000 500000 - 9000000 9800000 - 11200000 - -", "itl itl: 9050000 2250000 - 8700000 10500000 - 24750000 - -",
			"the requests one by one are not stored: 2 of them have tokens, and completed is 198"}, // the sample has only the first of each list
		"sglang.jsonl": {"sglang-bench|sweep|sglang|Qwen/Qwen2.5-7B-Instruct|", "20500000000 160 - 163840 20480 - true 16 15.2234 7.8048780000000004 999.02439000000004 8991.2194999999992",
			"ttft ttft: 95000000 30000000 - 88000000 - - 180500000 - -", "tpot tpot: 14600000 300000 - 14500000 - - 15200000 - -", "itl itl: 14700000 6000000 - 14100000 - 16000000 40000000 - 171250000",
			"e2e e2e_latency: 1950500000 60000000 - 1940250000 2020000000 - 2101000000 - -",
			"sglang-bench|sweep|sglang|Qwen/Qwen2.5-7B-Instruct|", "5250000000 0 - 0 0 2 false - 0 0 0 0", // none succeeded: its latencies of 0 are no times
			"ttft is not stored: it is 0 in all of its figures, so no request had such a time", "tpot is not stored: it is 0 in all of its figures, so no request had such a time",
			"itl is not stored: it is 0 in all of its figures, so no request had such a time", "e2e_latency is not stored: it is 0 in all of its figures, so no request had such a time"},
		"profile_export_genai_perf.json": {"genai-perf||kserve|gpt2|", "- 20 - 11000 319 - - 2 - 27.800000000000001 443.38999999999999 -",
			"ttft time_to_first_token: 11590000 7750000 6380000 10250000 17290000 30000000 41110000 - 43230000", "tpot inter_token_latency: 4030000 125000 3880000 4000000 4260000 4300000 4370000 - 4390000",
			"e2e request_latency: 71890000 8500000 64630000 70500000 78000000 90500000 102050000 - 103020000"},
		"profile_export_aiperf.json": {"aiperf||chat|Qwen/Qwen3-0.6B|2025-10-10T18:47:32.125000", "20000000000 110 3 60500 990 5.5 false 4 - 5.5 49.5 -",
			"ttft time_to_first_token: 255900000 10000000 200000000 250000000 260000000 262000000 270500000 - 271000000", "tpot inter_token_latency: 5250000 250000 4900000 5200000 5500000 5600000 5900000 - 6000000",
			"itl inter_chunk_latency: 5200000 500000 4800000 5100000 5600000 5800000 7500000 - 12000000", "e2e request_latency: 297500000 12500000 250000000 290000000 310250000 315000000 330000000 - 331500000"},
		"trtllm.json": {"trtllm-bench||Pytorch|meta-llama/Llama-3.1-8B|", "8123456789 1000 - - - - - - 211.5 123.09999999999999 15757 31514",
			"ttft ttft_percentiles: 95500000 - 20000000 90000000 150000000 170000000 200500000 - 210000000", "tpot tpot_percentiles: 12750000 - 11000000 12700000 13000000 13100000 13500000 - 14000000",
			"e2e request_latency_percentiles_ms: 1718250000 - 900000000 1710500000 1800000000 1820000000 1850250000 - 1900500000"},
		"mlperf_log_summary.txt": {"mlperf-loadgen|Server|PySUT||", "- - - - - 76 false - - 74.959999999999994 22020.919999999998 -",
			"ttft first token latency: 200849949 - 18033503 187392125 256051079 556051079 2056051079 2400000000 2492253501", "tpot time to output token: 50849949 - 9033503 47392125 56051079 66051079 86051079 96051079 192253501",
			"e2e latency: 17499356575 - 81813000 14710161989 32087812398 40555938229 58057076953 60924598064 61410540255", "LoadGen calls this result INVALID: it does not meet the rules of MLPerf"},
		"llmperf.json": {"llmperf|||mock|2026-11-27T23:31:28Z", "- 16 4 - - - - 2 - 9.3249999999999993 102.5 -",
			"ttft ttft_s: 51560000 750000 50500000 51500000 52500000 52750000 53000000 - 53100000", "e2e end_to_end_latency_s: 151560000 750000 150500000 151500000 152500000 152750000 153000000 - 153100000"},
		"vllm_latency.json":    {"vllm-bench-latency||||", "- - - - - - - - - - - -", "e2e latency: 1251562500 20312500 - 1245312500 1271875000 - 1280312500 - -"},
		"vllm_throughput.json": {"vllm-bench-throughput||||", "12500000000 100 - - - - true - - 8 - 3840"},
		"llm-d/benchmark_report.yaml": {"llm-d|guidellm|||2026-11-27T23:31:26Z", "1717204570.7702637 16 4 - - - - 2 - 9.3174687933791667 102.49215672717084 400.65115811530427",
			"ttft time_to_first_token: 51967382.431030273 540354.47340026288 51337718.963623047 51800489.42565918 53020715.713500977 53026676.177978516 53026676.177978516 53026676.177978516 53026676.177978516",
			"tpot inter_token_latency: 10023592.412471771 59248.737542372262 9879136.0855102539 10033154.487609863 10080528.259277344 10147047.04284668 10147047.04284668 10147047.04284668 10147047.04284668",
			"e2e request_latency: 152790874.24278259 676942.64288911154 151789665.22216797 152483701.70593262 153686285.0189209 154013872.14660645 154013872.14660645 154013872.14660645 154013872.14660645"},
		"own.json": {"my-client|8 users|vllm|llama-8b|2026-11-26T10:00:00Z", "60500000000 240 0 245760 30720 - true 8 7.75 3.9700000000000002 507.80000000000001 4570",
			"ttft ttft_ms: 41500000 8100000 30000000 40200000 52000000 60100000 71900000 80000000 81000000", "tpot tpot_ms: 9100000 - - - - - 11200000 - -", "tpot_ms/p98 is not read: no such field"},
	} {
		text := sample(t, name)
		if got := formsOf(text); !slices.Equal(got, []string{samples[name]}) {
			t.Errorf("%s is taken for %q", name, got)
		}
		list, err := form(t, samples[name]).open(folder+name, name)
		var got []string
		for _, b := range list {
			got = append(got, b.lines()...)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v\n  %s\nwant\n  %s", name, err, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
		}
	}
	if got := warnings([]Benchmark{{}, {Warnings: []string{"a", "b"}}, {Warnings: []string{"a"}}}); !slices.Equal(got, []string{"benchmark 2 and 1 more: a", "benchmark 2: b"}) {
		t.Errorf("%q", got)
	}
}

// TestVariants: older and other spellings.
func TestVariants(t *testing.T) {
	const ok = `"duration": 2, "completed": 1, "request_throughput": 0.5, "output_throughput": 8`
	for in, want := range map[[2]string]string{
		{"vllm-bench", "\xef\xbb\xbf" + `{"model_id": "m", "request_rate": "inf", "label": "x", ` + ok + `}` + "\n" + `{"model_id": "m", "request_rate": 3, "ramp_up_strategy": "linear", ` + ok + `}`}:                                     "vllm-bench|x||m| 2000000000 1 - - - - true - - 0.5 8 - vllm-bench|||m| 2000000000 1 - - - - - - - 0.5 8 -",
		{"vllm-bench", `{"model_id": "m", "mean_e2el_ms": 5, "p50_e2el_ms": 4, "median_tpot_ms": -0.001, "p99_tpot_ms": 7, "mean_ttft_ms": NaN, ` + ok + `}`}:                                                                               "vllm-bench|||m| 2000000000 1 - - - - - - - 0.5 8 - tpot tpot: - - - - - - 7000000 - - e2e e2el: 5000000 - - 4000000 - - - - - median_tpot_ms is not stored: it is negative",
		{"genai-perf", `{"request_latency": {"unit": "us", "avg": 1500}, "input_config": {"model_names": ["a", "b"], "loadgen": {}}}`}:                                                                                                      "genai-perf|||| - - - - - - - - - - - - e2e request_latency: 1500000 - - - - - - - -",
		{"trtllm-bench", `{"request_info": {"num_requests": 3}, "performance": {"request_throughput_req_s": 2, "avg_request_latency_ms": 1.5}}`}:                                                                                            "trtllm-bench|||| - 3 - - - - - - - 2 - - e2e request_latency_percentiles_ms: 1500000 - - - - - - - -",
		{"mlperf-loadgen", "=\nMLPerf Results Summary\n=\nSUT name : x\nScenario : Offline\nMode     : Performance\nSamples per second: 1669.67\nTokens per second: 1e3\nResult is : VALID\nMean latency (ns)    : 84\n"}:                   "mlperf-loadgen|Offline|x|| - - - - - - - - - 1669.6700000000001 1000 - e2e latency: 84 - - - - - - - -",
		{"genai-perf", `{"records": {"ttft": {"unit": "ms", "avg": 2}, "request_latency": {"unit": "ms", "avg": 9}}, "input_config": {"endpoint": {"model_names": ["m"], "type": "chat"}, "loadgen": {"concurrency": 100}}}`}:               "aiperf||chat|m| - - - - - - - 100 - - - - ttft ttft: 2000000 - - - - - - - - e2e request_latency: 9000000 - - - - - - - -", // aiperf 0.1
		{"genai-perf", `{"aiperf_version": "0.13.0", "request_latency": {"unit": "ms", "avg": 9}, "input_config": {"models": {"items": [{"name": "m"}]}, "phases": [{"kind": "profiling", "rate": 5}, {"kind": "profiling", "rate": 6}]}}`}: "aiperf|||m| - - - - - - - - - - - - e2e request_latency: 9000000 - - - - - - - -",                                          // of two loads
		{"genai-perf", `{"request_latency": {"unit": "ms", "avg": 9}, "time_to_first_token": {"unit": "ms", "avg": 9}, "input_config": {"endpoint": {"streaming": false}}}`}:                                                                "genai-perf|||| - - - - - - - - - - - - e2e request_latency: 9000000 - - - - - - - -",
		{"prof-serving", `{"prof_serving": 1}`}: "prof-serving|||| - - - - - - - - - - - -",
	} {
		if got := formsOf([]byte(in[1])); !slices.Equal(got, in[:1]) {
			t.Errorf("%s is taken for %q", in[1], got)
		}
		list, err := form(t, in[0]).read(strings.NewReader(in[1]))
		var got []string
		for _, b := range list {
			got = append(got, b.lines()...)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v\n  %s\nwant\n  %s", in[1], err, strings.Join(got, " "), want)
		}
	}
	for _, other := range []string{`{"model_type": "llama"}`, `{"traceEvents": []}`, `{"backend": "x", "request_rate": 1}`, `[{"prof_serving": 1}]`, `MLPerf Results Summary`, "", "{", `{"completed": 1, "duration": 2}`} {
		if got := formsOf([]byte(other)); got != nil {
			t.Errorf("%s is taken for %q", other, got)
		}
	}
}

// TestWrong: errors say where.
func TestWrong(t *testing.T) {
	const whole = `{"model_id": "m", "duration": 2, "completed": 1, "request_throughput": 0.5, "output_throughput": 8}`
	for in, want := range map[[2]string]string{
		{"vllm-bench", whole[:40]}:                                                       "byte 31: it ends inside an object: was it cut off?",
		{"vllm-bench", whole + "\n" + whole[:40]}:                                        "it ends inside an object: was it cut off?",
		{"vllm-bench", whole + "\n[1]"}:                                                  "byte 101: want an object",
		{"vllm-bench", strings.Replace(whole, "1", `"x"`, 1)}:                            `benchmark 1, which ends at byte 101: completed is "x", want a number`,
		{"vllm-bench", strings.Replace(whole, "1", "1.5", 1)}:                            "completed is 1.5, want a whole number",
		{"vllm-bench", strings.Replace(whole, "1", "-1", 1)}:                             `completed is "-1", want a number of 0 or more`,
		{"vllm-bench", strings.Replace(whole, `"completed": 1`, `"completed": null`, 1)}: "want the number of requests that succeeded",
		{"vllm-bench", strings.Replace(whole, "0.5", "1e999", 1)}:                        "request_throughput is",
		{"vllm-bench", `{"a": 1, "a": 2}`}:                                               `"a" is there twice`,
		{"vllm-bench", strings.Repeat(`{"a":`, 50)}:                                      "nested more than 32 deep",
		{"vllm-bench", `{"a": [1, 2, ` + strings.Repeat(`[`, 50)}:                        "nested more than 32 deep",
		{"vllm-bench", `{"a": [1, 2, 3`}:                                                 "was it cut off?",
		{"genai-perf", `{"request_latency": {"unit": "hours", "avg": 1}}`}:               `request_latency/unit is "hours", want ns, us, ms`,
		{"prof-serving", `{"prof_serving": 2}`}:                                          `prof_serving is "2", want 1`,
		{"prof-serving", `{"prof_serving": 1, "ttft_ms": 5}`}:                            "ttft_ms is \"5\", want an object of statistics",
		{"mlperf-loadgen", "Mode : AccuracyOnly\n"}:                                      `line 1: mode is "AccuracyOnly"`,
		{"mlperf-loadgen", "Mode : Performance\n"}:                                       "neither samples per second nor latencies",
		{"mlperf-loadgen", "Mode : Performance\nSamples per second: many\n"}:             `line 2: samples per second is "many"`,
		{"mlperf-loadgen", strings.Repeat("x", maxSummary+1)}:                            "larger than",
	} {
		if list, err := form(t, in[0]).read(strings.NewReader(in[1])); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %+v, %v, want %q", in[1], list, err, want)
		}
	}
}

// TestBounded: lists of any length are passed over, and no text is held whole.
func TestBounded(t *testing.T) {
	text := `{"model_id": "m", "itls": [` + strings.Repeat("[0.5, 0.25], ", 50_000) + `[]], "duration": 2, "completed": 1, "request_throughput": 0.5, "generated_texts": ["` + strings.Repeat("x", 1<<20) + `"]}`
	list, err := form(t, "vllm-bench").read(strings.NewReader(text))
	if err != nil || len(list) != 1 || *list[0].Completed != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := form(t, "vllm-bench").read(&endless{}); err == nil || !strings.Contains(err.Error(), "is longer than 8 MiB") {
		t.Errorf("a text without an end: %v", err)
	}
}

// TestRequests: details are kept where they are those of the benchmark, and else the file says why not.
func TestRequests(t *testing.T) {
	const detailed = `{"model_id": "m", "duration": 2, "completed": 3, "request_throughput": 0.5, "output_throughput": 5, "mean_ttft_ms": 20, "input_lens": [8, 8, 9, 8], "output_lens": [4, 1, 3, 0], "ttfts": [0.01, 0.02, 0.03, 0.0], "itls": [[0.001, 0.002, 0.003], [], [0.004], []]}`
	read := func(text string) Benchmark {
		t.Helper()
		list, err := form(t, "vllm-bench").read(strings.NewReader(text))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v", text, err)
		}
		return list[0]
	}
	var got []string
	for _, q := range read(detailed).Requests {
		got = append(got, fmt.Sprint(shown(q.InputTokens), " ", shown(q.OutputTokens), " ", shown(q.TTFTNs), " ", shown(q.AfterNs), " ", shown(q.Gaps)))
	}
	if want := []string{"8 4 1e+07 6e+06 3", "8 1 2e+07 0 0", "9 3 3e+07 4e+06 1", "8 0 - - -"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	for old, changed := range map[string][2]string{
		`"ttfts": [0.01, `:  {`"ttfts": [`, "their lists differ in length"},
		`"completed": 3`:    {`"completed": 4`, "3 of them have tokens, and completed is 4"},
		`_ms": 20`:          {`_ms": 21`, "the mean of ttfts is not mean_ttft_ms"},
		`[0.001, `:          {`[null, `, `itls has "<nil>", want numbers of 0 or more`},
		`[[0.001`:           {`[{"a": [1]}, [0.001`, "itls has an item that is no list"},
		`"ttfts": [0.01`:    {`"ttfts": [[[1], {}]`, `ttfts has "[", want numbers of 0 or more`},
		`"output_lens": [4`: {`"output_lens": [4.5`, "output_lens has a part of a token"},
		`0.02, 0.03`:        {`-0.02, 0.03`, `ttfts has "-0.02", want numbers of 0 or more`},
	} {
		b := read(strings.Replace(detailed, old, changed[0], 1))
		if want := []string{"the requests one by one are not stored: " + changed[1]}; b.Requests != nil || !slices.Equal(b.Warnings, want) {
			t.Errorf("%s: %d requests, warnings %q, want %q", changed[0], len(b.Requests), b.Warnings, want)
		}
	}
	for tpot, want := range map[string]string{`"mean_tpot_ms": 2, "median_tpot_ms": 2`: "", `"mean_tpot_ms": 3`: "mean_tpot_ms", `"median_tpot_ms": 1.5`: "median_tpot_ms"} { // TPOT of both requests of several tokens is 2 ms
		b := read(strings.Replace(detailed, `"mean_ttft_ms"`, tpot+`, "mean_ttft_ms"`, 1))
		if got := strings.Join(b.Warnings, "; "); len(b.Requests) != 4 || (b.Requests[0].AfterNs == nil) != (want != "") || want == "" && got != "" || !strings.HasSuffix(got, want) || b.Requests[0].TTFTNs == nil {
			t.Errorf("%s: %+v, warnings %q", tpot, b.Requests, got)
		}
	}
	if b := read(strings.Replace(strings.Replace(detailed, `[0.004]`, `[]`, 1), `"mean_ttft_ms"`, `"mean_tpot_ms": 7, "mean_ttft_ms"`, 1)); len(b.Requests) != 4 || len(b.Warnings) > 0 || *b.Requests[2].Gaps != 0 {
		t.Errorf("with a request of one chunk: %+v, warnings %q", b.Requests, b.Warnings)
	}
	if b := read(strings.Replace(detailed, `, "itls": [[0.001, 0.002, 0.003], [], [0.004], []]`, "", 1)); len(b.Requests) != 4 || b.Requests[0].AfterNs != nil || b.Requests[0].TTFTNs == nil {
		t.Errorf("without itls: %+v", b)
	}
	if _, err := form(t, "vllm-bench").read(strings.NewReader(strings.Replace(detailed, `"duration"`, `"itls": [], "duration"`, 1))); err == nil || !strings.Contains(err.Error(), `"itls" is there twice`) {
		t.Errorf("a list that is there twice: %v", err)
	}
}

// endless is an object whose key does not end.
type endless struct{ began bool }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	if !e.began {
		copy(p, `{"`)
	}
	e.began = true
	return len(p), nil
}

// FuzzRead holds the readers to what their callers rely on, whatever the bytes.
func FuzzRead(f *testing.F) {
	for i, one := range Forms() {
		for name, of := range samples {
			if of == one.Name {
				text := sample(f, name)
				f.Add(i, text)
				f.Add(i, text[:len(text)/2])
			}
		}
	}
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		formsOf(text)
		all := Forms()
		if which < 0 || which >= len(all) {
			return
		}
		list, err := all[which].read(strings.NewReader(string(text)))
		if err != nil {
			return
		}
		for _, b := range list {
			for _, v := range append([]*float64{b.DurationNs, b.TargetRate, b.ConcurrencyMean, b.RequestsPerS, b.OutputTokensPerS, b.TotalTokensPerS}, flat(b.Latencies)...) {
				if v != nil && !(*v >= 0 && !math.IsInf(*v, 1)) {
					t.Errorf("%+v: %v", b, *v)
				}
			}
			if b.Tool == "" || len(b.Latencies) > len(Metrics) || len(b.Requests) > maxRequests {
				t.Errorf("%+v", b)
			}
			for _, q := range b.Requests {
				for _, v := range []*float64{q.TTFTNs, q.AfterNs, q.E2ENs} {
					if v != nil && !(*v >= 0 && !math.IsInf(*v, 1)) {
						t.Errorf("%+v: %v", q, *v)
					}
				}
			}
		}
	})
}

func flat(list []Latency) (out []*float64) {
	for _, l := range list {
		out = append(out, l.Ns[:]...)
	}
	return out
}
