package serving

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"prof/ingest/load"
)

// byHand are the mean, the standard deviation of the values themselves, and percentiles by their nearest rank, or between the two nearest values.
func byHand(values []float64, interpolated bool) func(statistic string) float64 {
	slices.Sort(values)
	n, mean, variance := len(values), 0.0, 0.0
	for _, v := range values {
		mean += v / float64(n)
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(n)
	}
	return func(statistic string) float64 {
		switch statistic {
		case "mean":
			return mean
		case "std":
			return math.Sqrt(variance)
		case "min":
			return values[0]
		case "max":
			return values[n-1]
		}
		p := map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p99.9": 0.999}[statistic]
		if !interpolated {
			return values[max(int(math.Ceil(p*float64(n)-1e-9)), 1)-1]
		}
		at := p * float64(n-1)
		low := int(at)
		return values[low] + (at-float64(low))*(values[min(low+1, n-1)]-values[low])
	}
}

// recorded reads a file into a plain value.
func recorded[T any](t *testing.T, name string) (out T) {
	t.Helper()
	if err := json.Unmarshal(sample(t, name), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestByHand: what the files of GuideLLM, inference-perf and genai-bench say is what their own records of requests add up to, in base units.
func TestByHand(t *testing.T) {
	type request struct{ ttft, tpot, e2e float64 } // in ns
	type whole struct {
		file         string
		requests     []request
		gaps         []float64 // between tokens
		weight       int       // how often the TPOT of a request counts
		interpolated bool
		std, p999    bool
		// by how many ns the file rounds percentiles, means, and both of the whole request, at most
		round, roundMean, roundWhole float64
	}
	var all []whole

	g := recorded[struct {
		Benchmarks []struct {
			Requests struct {
				Successful []struct {
					Latency float64 `json:"request_latency"`
					Info    struct {
						Timings struct {
							Start float64 `json:"request_start"`
							First float64 `json:"first_token_iteration"`
							Last  float64 `json:"last_token_iteration"`
						}
					}
				}
			}
		}
	}](t, "guidellm/benchmarks.json")
	guide := whole{file: "guidellm/benchmarks.json", weight: 10, std: true, p999: true}
	for _, r := range g.Benchmarks[0].Requests.Successful {
		at := r.Info.Timings
		guide.requests = append(guide.requests, request{1e9 * (at.First - at.Start), 1e8 * (at.Last - at.First), 1e9 * r.Latency})
	}
	all = append(all, guide)

	perf := recorded[[]struct {
		Start float64 `json:"start_time"`
		End   float64 `json:"end_time"`
		Error any
		Info  struct {
			Response struct {
				Times []float64 `json:"output_token_times"`
			} `json:"response_metrics"`
		}
	}](t, "inference-perf/per_request_lifecycle_metrics.json")
	for file, n := range map[string]int{"inference-perf/stage_0_lifecycle_metrics.json": 20, "inference-perf/summary_lifecycle_metrics.json": 44, "inference-perf/per_request_lifecycle_metrics.json": 44} { // the first stage sent 20
		one := whole{file: file, interpolated: true, p999: true, weight: 1}
		for _, r := range perf[:n] {
			if at := r.Info.Response.Times; r.Error == nil {
				one.requests = append(one.requests, request{1e9 * (at[0] - r.Start), 1e8 * (at[10] - at[0]), 1e9 * (r.End - r.Start)})
				for i := range at[1:] {
					if samples[file] == "inference-perf-requests" { // which keeps no single times
						break
					}
					one.gaps = append(one.gaps, 1e9*(at[i+1]-at[i]))
				}
			}
		}
		all = append(all, one)
	}

	const scenario = "genai-bench/concurrency_2.json"
	b := recorded[struct {
		Requests []struct {
			TTFT, TPOT float64
			E2E        float64 `json:"e2e_latency"`
			Error      any     `json:"error_code"`
		} `json:"individual_request_metrics"`
	}](t, scenario)
	bench := whole{file: scenario, interpolated: true, std: true, weight: 1}
	for _, r := range b.Requests {
		if r.Error == nil {
			bench.requests = append(bench.requests, request{1e9 * r.TTFT, 1e9 * r.TPOT, 1e9 * r.E2E})
		}
	}
	all = append(all, bench)

	// EvalScope writes times of four decimals, and means of two.
	records := recorded[[]struct {
		Success        int
		Latency        float64
		First          float64   `json:"first_chunk_latency"`
		PerOutputToken float64   `json:"time_per_output_token"`
		Gaps           []float64 `json:"inter_token_latencies"`
	}](t, "evalscope.records.json")
	scope := whole{file: "evalscope/benchmark_summary.json", weight: 1, round: 50, roundMean: 5_000, roundWhole: 50_000}
	for _, r := range records {
		if r.Success == 1 {
			scope.requests = append(scope.requests, request{1e9 * r.First, 1e9 * r.PerOutputToken, 1e9 * r.Latency})
			for _, gap := range r.Gaps {
				scope.gaps = append(scope.gaps, 1e9*gap)
			}
		}
	}
	all = append(all, scope)

	for _, c := range all {
		list, err := form(t, samples[c.file]).open(folder+c.file, folder+c.file)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d benchmarks, %v", c.file, len(list), err)
		}
		got := list[0]
		if *got.Completed != int64(len(c.requests)) {
			t.Errorf("%s: %d completed, want %d", c.file, *got.Completed, len(c.requests))
		}
		values := map[string][]float64{"itl": c.gaps}
		for _, r := range c.requests {
			values["ttft"], values["e2e"] = append(values["ttft"], r.ttft), append(values["e2e"], r.e2e)
			for range c.weight {
				values["tpot"] = append(values["tpot"], r.tpot)
			}
		}
		for _, metric := range Metrics {
			at := slices.IndexFunc(got.Latencies, func(l Latency) bool { return l.Metric == metric })
			if has := at >= 0; has != (len(values[metric]) > 0) {
				t.Errorf("%s: %s is there: %v", c.file, metric, has)
				continue
			} else if !has {
				continue
			}
			of := byHand(values[metric], c.interpolated)
			rounded := func(metric, statistic string) float64 {
				switch {
				case metric == "e2e":
					return c.roundWhole
				case statistic == "mean":
					return c.roundMean
				}
				return c.round
			}
			for i, statistic := range Statistics {
				v := got.Latencies[at].Ns[i]
				if has := statistic != "std" && statistic != "p99.9" || statistic == "std" && c.std || statistic == "p99.9" && c.p999; has != (v != nil) {
					t.Errorf("%s: %s of %s is %s", c.file, statistic, metric, shown(v))
				} else if has && math.Abs(*v-of(statistic)) > 1e-13*of("mean")+rounded(metric, statistic) {
					t.Errorf("%s: %s of %s is %v, by hand %v", c.file, statistic, metric, *v, of(statistic))
				}
			}
		}
	}
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(sample(t, strings.TrimPrefix(from, folder))))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestKnownTimes: a server sent the first of 31 tokens after 120 ms and one every 20 ms, with 200 ms more before the sixteenth. Of five tools, and of inference-perf's report for llm-d, prof has what these
// times give by their definitions, to what a client adds.
func TestKnownTimes(t *testing.T) {
	const clients, jitter = 3.5e6, 1e5 // in ns
	for name, tool := range map[string]string{
		"aiperf/profile_export_aiperf.json.gz": "genai-perf", "guidellm/benchmarks.json.gz": "guidellm", "genai-bench/concurrency_2.json.gz": "genai-bench", "evalscope/benchmark_summary.json": "evalscope",
		"inference-perf/stage_0_lifecycle_metrics.json": "inference-perf", "inference-perf/inference-perf.partial.stage_0.yaml": "llm-d",
	} {
		path := folder + "stalled/" + name
		if packed, isPacked := strings.CutSuffix(path, ".gz"); isPacked {
			path = filepath.Join(t.TempDir(), filepath.Base(packed))
			unpack(t, packed+".gz", path)
		}
		list, err := form(t, tool).open(path, path)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %d benchmarks, %v", name, len(list), err)
		}
		b := list[0]
		if *b.Completed != 30 || *b.Failed != 10 || b.OutputTokens != nil && *b.OutputTokens != 30*31 || math.Abs(*b.OutputTokensPerS / *b.RequestsPerS - 31) > 0.01 {
			t.Errorf("%s: %d completed, %d failed, %s tokens, %v a request", name, *b.Completed, *b.Failed, shown(b.OutputTokens), *b.OutputTokensPerS / *b.RequestsPerS)
		}
		measured := ""
		for _, l := range b.Latencies {
			measured += l.Metric + " "
			near := func(statistic string, want, less, more float64) {
				t.Helper()
				if got := *l.Ns[slices.Index(Statistics[:], statistic)]; got < want-less || got > want+more {
					t.Errorf("%s: %s of %s is %v, want %v", name, statistic, l.Metric, got, want)
				}
			}
			switch l.Metric {
			case "ttft":
				near("p50", 120e6, 0, clients)
			case "tpot":
				near("p50", 800e6/30, jitter, jitter)
			case "itl":
				near("mean", 800e6/30, jitter, jitter)
				near("p50", 20e6, jitter, jitter)
				near("p99", 220e6, jitter, jitter)
			case "e2e":
				near("min", 920e6, 0, clients)
			}
		}
		if hasGaps := tool != "guidellm" && tool != "genai-bench"; hasGaps && measured != "ttft tpot itl e2e " || !hasGaps && measured != "ttft tpot e2e " {
			t.Errorf("%s has %s", name, measured)
		}
	}
}

// TestRequestLists: the requests that the files list are those of the benchmark.
func TestRequestLists(t *testing.T) {
	for name, want := range map[string]string{ // completed, failed, tokens; then the requests
		"guidellm/benchmarks.json":                          "16 4 512 176: 20 requests, the first 32 11 5.302071571350098e+07 1.0039043426513672e+08 10 1.5401387214660645e+08, the last 32 0 - - - -",
		"inference-perf/per_request_lifecycle_metrics.json": "36 8 1152 396: 44 requests, the first 32 11 5.656682200014984e+07 1.0042695199990703e+08 10 1.581947460003903e+08",
		"genai-bench/concurrency_2.json":                    "20 4 406 220: 24 requests, the first 20 11 6.164244799992957e+07 9.954930399999285e+07 - 1.6119175199992242e+08",
	} {
		list, err := form(t, samples[name]).open(folder+name, folder+name)
		if err != nil || len(list) != 1 || len(list[0].Requests) == 0 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		b, lines := list[0], list[0].requestLines()
		if got := fmt.Sprintf("%s %s %s %s: %d requests, the first %s, the last %s", shown(b.Completed), shown(b.Failed), shown(b.InputTokens), shown(b.OutputTokens), len(lines), lines[0], lines[len(lines)-1]); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestReport: llm-d's report of a benchmark of GuideLLM has its figures.
func TestReport(t *testing.T) {
	of := map[string][]Latency{}
	for _, name := range []string{"guidellm/benchmarks.json", "llm-d/benchmark_report.yaml"} {
		list, err := form(t, samples[name]).open(folder+name, folder+name)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %+v, %v", name, list, err)
		}
		of[name] = list[0].Latencies
	}
	for i, l := range of["guidellm/benchmarks.json"] {
		r := of["llm-d/benchmark_report.yaml"][i]
		for s := range Statistics {
			if l.Metric != r.Metric || *l.Ns[s] != *r.Ns[s] {
				t.Errorf("%s of %s is %v, in the report %v", Statistics[s], l.Metric, *l.Ns[s], *r.Ns[s])
			}
		}
	}
}

// TestPitfalls: what the tools write where nothing was measured, in other units, or of another load.
func TestPitfalls(t *testing.T) {
	const guide = `{"metadata": {"version": 2, "guidellm_version": "0.8.1"}, "benchmarks": [{"config": {"strategy": {"type_": "constant", "rate": 2.5}}, "duration": 4, "metrics": {` +
		`"request_totals": {"successful": 0, "errored": 3, "incomplete": 1}, "prompt_token_count": {"successful": {"count": 0, "total_sum": 0.0}}, "tokens_per_second": {"successful": {"count": 0, "mean": 0.0}}, ` +
		`"request_latency": {"successful": {"count": 0, "mean": 0.0, "percentiles": {"p50": 0.0}}, "total": {"count": 3, "mean": 0.5}}}}`
	const bench = `{"aggregated_metrics": {"scenario": "D(1,2)", "num_concurrency": 4, "iteration_type": "num_concurrency", "run_duration": 2, "error_rate": 0, "num_error_requests": 1, "num_completed_requests": 2, ` +
		`"stats": {"ttft": {"mean": 50.5, "p99": 60}}}, "individual_request_metrics": [{"ttft": 50, "num_output_tokens": 3, "error_code": null}, {"ttft": 51, "num_output_tokens": 3}, {"error_code": 500}], "_time_unit": "ms"}`
	const perf = `{"benchmark_time_seconds": 5, "load_summary": {"count": 2, "requested_rate": 100.0, "concurrency": 8}, "successes": {"count": 2, "latency": {"request_latency": {"mean": 0.5, "median": 0.5, "p99.9": 0.75}, "time_to_first_token": null}, "throughput": {"requests_per_sec": 0.4}}, "failures": {"count": 0}}`
	const scope = `{"Test Duration (s)": 1.5, "Concurrency": 2, "Request Rate (req/s)": -1.0, "Success Requests": 0, "Failed Requests": 4, "Req Throughput (req/s)": -1, "Avg Latency (s)": -1, "Avg TTFT (ms)": -1000, "Avg Input Tokens": -1, "Input Throughput (tok/s)": 0.0}`
	const report = "results:\n  request_performance:\n    aggregate:\n      latency:\n        inter_token_latency: {units: s/token, mean: 0.01, p99p9: 0.02}\n        time_to_first_token: {units: ms, mean: 50}\n" +
		"      requests: {total: 20, failures: 4, incomplete: 1}\n      throughput:\n        request_rate: {units: queries/s, mean: 2.5}\nrun:\n  time: {duration: PT1M2.5S}\nversion: 0.2.1\n"
	const sgl = `{"backend": "sglang", "dataset_name": "random", "request_rate": "inf", "random_input_len": 8, "random_range_ratio": 0, "completed": 2, "mean_itl_ms": 30, "mean_tpot_ms": 10, "accept_length": 3.0625}`
	const textless = `"total_input_tokens": 16, "total_output_tokens": 40, "request_throughput": 2, "output_throughput": 20, "total_throughput": 28, "mean_ttft_ms": 25, "mean_e2e_latency_ms": 120, ` +
		`"input_lens": [8, 8], "output_lens": [20, 20], "ttfts": [0.05, 0.0], "itls": [[0.01, 0.01], []]`
	for in, want := range map[[2]string]string{
		{"evalscope", scope}: "evalscope|||| 1500000000 0 4 - - - true 2 - - - - percentiles are not known: they are in benchmark_percentile.json, which does not lie next to it",
		{"llm-d", report}: "llm-d|||| 62500000000 15 4 - - - - - - 2.5 - - ttft time_to_first_token: 50000000 - - - - - - - - " +
			"inter_token_latency is not stored: without scenario.load.standardized.tool it may be of requests or of single tokens",
		{"llm-d", report + "scenario:\n  load:\n    standardized: {tool: vllm-benchmark, rate_qps: 4, concurrency: 8}\n"}: "llm-d|vllm-benchmark||| 62500000000 15 4 - - 4 false 8 - 2.5 - - ttft time_to_first_token: 50000000 - - - - - - - - " +
			"itl inter_token_latency: 10000000 - - - - - - 20000000 -",
		{"sglang-bench", sgl}: "sglang-bench||sglang|| - 2 - - - - true - - - - - tpot tpot: 10000000 - - - - - - - - itl itl: 30000000 - - - - - - - - " +
			"accept_length is 3.06: so many tokens come of a step of speculative decoding, which explains an ITL above TPOT",
		{"sglang-bench", strings.Replace(sgl, `"accept_length": 3.0625`, textless, 1)}: "sglang-bench||sglang|| - 1 1 16 - - true - - - - - itl itl: 30000000 - - - - - - - - " +
			"no text came of 1 of 2 requests, as of a chat that fails within its stream: SGLang counts each as a success with a TTFT of 0 and all tokens that it asked for. " +
			"They count as failed, and ttft, tpot, e2e, output tokens and throughput are not stored the requests one by one are not stored: some of them have no text",
		{"sglang-bench", strings.Replace(sgl, `"accept_length": 3.0625`, `"total_output_tokens": 40, "total_output_tokens_retokenized": 20`, 1)}: "sglang-bench||sglang|| - 2 - - 40 - true - - - - - tpot tpot: 10000000 - - - - - - - - itl itl: 30000000 - - - - - - - - " +
			"40 output tokens are counted, and the text that came has 20: unless the model thinks first, answers failed within their stream or ended early, and TTFT, TPOT and tokens per second look better than they are",
		{"guidellm", guide + `]}`}: "guidellm|constant||| 4000000000 0 3 - - 2.5 false - - - - - " +
			"1 requests had not ended when the benchmark did: they count neither as completed nor as failed request_latency is not stored: it is 0 in all of its figures, so no request had such a time",
		{"guidellm", guide + `, {"config": {"strategy": {"type_": "throughput"}}, "start_time": 1795822286.9}]}`}: "guidellm|constant||| 4000000000 0 3 - - 2.5 false - - - - - " +
			"1 requests had not ended when the benchmark did: they count neither as completed nor as failed request_latency is not stored: it is 0 in all of its figures, so no request had such a time " +
			"guidellm|throughput|||2026-11-27T23:31:26Z - - - - - - true - - - - -",
		{"genai-bench", bench}: "genai-bench|D(1,2)||| 2000000000 2 1 - - - - 4 - - - - ttft ttft: 50500000 - - - - - 60000000 - - - 3 5e+07 - - - - 3 5.1e+07 - - - - 0 - - - -",
		{"genai-bench", strings.Replace(strings.Replace(bench, `"ms"`, `"s"`, 1), `"ttft": 51`, `"ttft": 57`, 1)}: "genai-bench|D(1,2)||| 2000000000 2 1 - - - - 4 - - - - ttft ttft: 50500000000 - - - - - 60000000000 - - " +
			"the requests one by one are not stored: the mean of their ttft is not that of ttft",
		{"inference-perf", strings.Replace(perf, `"requested_rate": 100.0`, `"requested_rate": -1`, 1)}: "inference-perf|||| 5000000000 2 0 - - - - 8 - 0.40000000000000002 - - e2e request_latency: 500000000 - - 500000000 - - - 750000000 -",
		{"inference-perf", strings.Replace(strings.Replace(perf, `"time_to_first_token": null`, `"time_to_first_token": {"mean": 9.1}`, 1), `"throughput": {`, `"output_len": {"mean": 10}, "output_tokens": {"total": 200, "mean": 100}, "throughput": {"output_tokens_per_sec": 9.9, `, 1)}: "inference-perf|||| 5000000000 2 0 - 200 - - 8 - 0.40000000000000002 - - e2e request_latency: 500000000 - - 500000000 - - - 750000000 - " +
			"time_to_first_token, time_per_output_token and tokens per second are not stored: the server counted 100 tokens an answer and the client saw 10, as of a model that thinks first, whose thinking it does not time",
		{"genai-bench", strings.Replace(bench, `"stats": {`, `"mean_output_throughput_tokens_per_s": 1.5, "stats": {"num_output_tokens": {"sum": 3}, `, 1)}: "genai-bench|D(1,2)||| 2000000000 2 1 - - - - 4 - - - - ttft ttft: 50500000 - - - - - 60000000 - - " +
			"tokens and their throughput are not stored: --warmup-ratio or --cooldown-ratio left requests out of the tokens, and not out of the time that they are divided by the requests one by one are not stored: they have those of --warmup-ratio and --cooldown-ratio",
		{"inference-perf", perf}: "inference-perf|||| 5000000000 2 0 - - - - 8 - 0.40000000000000002 - - e2e request_latency: 500000000 - - 500000000 - - - 750000000 -",
		{"inference-perf", strings.Replace(perf, `, "requested_rate": 100.0, "concurrency": 8`, "", 1)}: "inference-perf|all stages||| - 2 0 - - - - - - - - - e2e request_latency: 500000000 - - 500000000 - - - 750000000 - " +
			"duration and throughput are not stored: it sums up all stages, and they hold the pauses between these; the files of the stages have those of each",
		{"inference-perf-requests", `[{"start_time": 1.5, "end_time": 2, "request": "x", "info": {"response_metrics": {"output_tokens": 1, "output_token_times": [1.75]}}, "error": null}]`}: "inference-perf|||| - 1 0 - 1 - - - - - - - e2e request_latency: 500000000 - 500000000 500000000 500000000 500000000 500000000 500000000 500000000 - 1 - - 0 5e+08",
	} {
		if got := formsOf([]byte(in[1])); !slices.Equal(got, in[:1]) {
			t.Errorf("%s is taken for %q", in[1], got)
		}
		list, err := form(t, in[0]).read(strings.NewReader(in[1]))
		var got []string
		for _, b := range list {
			got = append(append(got, b.lines()...), b.requestLines()...)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: %v\n  %s\nwant\n  %s", in[1], err, strings.Join(got, " "), want)
		}
	}
	for in, want := range map[[2]string]string{
		{"guidellm", strings.Replace(guide, `"version": 2`, `"version": 3`, 1) + `]}`}: "benchmark 1, which ends at byte 490: metadata/version is 3, want 2, as GuideLLM 0.8 writes it",
		{"guidellm", guide}: "it ends inside an object: was it cut off?",
		{"guidellm", strings.Replace(guide, `"errored": 3`, `"errored": "x"`, 1)}:                                                        `metrics/request_totals/errored is "x", want a number`,
		{"guidellm", `{"metadata": {"guidellm_version": "0.8.1"}, "benchmarks": [5]}`}:                                                   "byte 60: want a {",
		{"llm-d", strings.Replace(report, "0.2.1", "0.3", 1)}:                                                                            `version is "0.3", want 0.2, or a later one of 0.2`,
		{"llm-d", strings.Replace(report, "s/token", "min", 1) + "scenario:\n  load:\n    standardized: {tool: x}\n"}:                    `inter_token_latency/units is "min", want ms, s, ms/token or s/token`,
		{"llm-d", strings.Replace(report, "queries/s", "queries/min", 1)}:                                                                `request_rate/units is "queries/min", want queries/s`,
		{"llm-d", strings.Replace(report, "total: 20", "total: 2", 1)}:                                                                   "want no fewer than failures and incomplete",
		{"llm-d", report + "&a [*a]"}:                                                                                                    "line ",
		{"llm-d", "results:\n  request_performance:\nversion: '0.2'\n"}:                                                                  "it has neither latencies nor a rate of requests",
		{"llm-d", strings.Repeat("x", load.MaxYAML+1)}:                                                                                   "larger than",
		{"genai-bench", strings.Replace(bench, `"ms"`, `"h"`, 1)}:                                                                        `_time_unit is "h", want s or ms`,
		{"genai-bench", strings.Replace(bench, `[{"ttft"`, `[5, {"ttft"`, 1)}:                                                            "want a {",
		{"inference-perf-requests", `[{"start_time": 1.5, "end_time": 1, "info": {}}]`}:                                                  "request 1: it has no start_time or end_time",
		{"inference-perf-requests", `[{"start_time": 1.5, "end_time": 2, "info": {"response_metrics": {"output_token_times": [[1]]}}}]`}: "output_token_times is a list of lists or objects, want numbers",
		{"inference-perf-requests", `[{"start_time": 1.5, "end_time": 2, "info": {}}] 5`}:                                                "want nothing behind the list",
		{"inference-perf-requests", `[{"start_time": 1.5, "end_time": 2,`}:                                                               "it ends inside an object: was it cut off?",
	} {
		if list, err := form(t, in[0]).read(strings.NewReader(in[1])); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.300s: %+v, %v, want %q", in[1], list, err, want)
		}
	}
}

// BenchmarkRequestLists reads 10,000 requests, with the texts that the tools keep of each.
func BenchmarkRequestLists(b *testing.B) {
	text := strings.Repeat(`data: {\"choices\": [{\"text\": \"a\"}]}\n\n`, 100)
	for _, c := range []struct{ file, list, texts string }{
		{"inference-perf/per_request_lifecycle_metrics.json", "[", `"response": "`},
		{"guidellm/benchmarks.json", `"successful": [`, `"output": "`},
		{"genai-bench/concurrency_2.json", `"individual_request_metrics": [`, ""},
	} {
		head, rest, _ := strings.Cut(string(sample(b, c.file)), c.list+`{`)
		one, end, _ := strings.Cut(rest, "}, {")
		if c.texts != "" {
			one = strings.Replace(strings.Replace(one, c.texts, c.texts+text, 1), `"output": null`, `"output": "`+text+`"`, 1)
		}
		in := head + c.list + strings.Repeat("{"+one+"}, ", 10_000) + "{" + end
		b.Run(samples[c.file], func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if list, err := form(b, samples[c.file]).read(strings.NewReader(in)); err != nil || len(list) != 1 {
					b.Fatal(list, err)
				}
			}
		})
	}
}
