package serving

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// isVLLM: vLLM writes what it asked and how much it got before its latencies, and these behind lists of every request.
func isVLLM(f fields) bool {
	return f.hasAny("model_id", "endpoint_type") && f.has("duration", "completed", "request_throughput") && f.hasAny("total_token_throughput", "output_throughput")
}

// theirs are the names that SGLang's benchmark has from vLLM's.
const theirs = "completed=completed input_tokens=total_input_tokens output_tokens=total_output_tokens,total_generated_tokens max_concurrency=max_concurrency request_rate=request_rate duration_s=duration " +
	"requests_per_s=request_throughput output_tokens_per_s=output_throughput total_tokens_per_s=total_token_throughput,total_throughput "

var vllm = generator{
	form: "vllm-bench", is: isVLLM, times: clientTimes,
	names: theirs + "label=label backend=backend,endpoint_type model=model_id date=date failed=failed",
	also: func(p *parser) {
		if p.b.Label == p.b.Backend { // which is what it calls a benchmark without a name
			p.b.Label = ""
		}
		if p.text("ramp_up_strategy") != "" {
			p.b.TargetRate, p.b.Unlimited = nil, nil
		}
		p.client()
	},
}

// isSGLang: arguments come first, then what the server says of itself, which may be long.
func isSGLang(f fields) bool {
	return f.has("backend", "dataset_name", "request_rate", "random_range_ratio") && f.hasAny("sharegpt_output_len", "random_input_len")
}

var sglang = generator{
	form: "sglang-bench", is: isSGLang, times: clientTimes,
	names: theirs + "label=tag backend=backend model=model_id,server_info/served_model_name,server_info/model_path mean_concurrency=concurrency",
	also: func(p *parser) {
		p.withoutText()
		p.client()
		if v := p.number(0, "accept_length"); v != nil && *v > 1 {
			p.warn(fmt.Sprintf("accept_length is %.3g: so many tokens come of a step of speculative decoding, which explains an ITL above TPOT", *v))
		}
	},
}

// withoutText puts right that SGLang takes requests for successes of which no text came, or less than it asked for: with details they are known.
func (p *parser) withoutText() {
	b := &p.b
	if n := p.textless(); b.Completed != nil && n > 0 && n <= *b.Completed {
		p.warn(fmt.Sprintf("no text came of %d of %d requests, as of a chat that fails within its stream: SGLang counts each as a success with a TTFT of 0 and all tokens that it asked for. "+
			"They count as failed, and ttft, tpot, e2e, output tokens and throughput are not stored", n, *b.Completed))
		for name := range p.f {
			if strings.HasSuffix(name, "_ttft_ms") || strings.HasSuffix(name, "_tpot_ms") || strings.HasSuffix(name, "_e2e_latency_ms") {
				p.f[name] = nil
			}
		}
		b.Completed, b.Failed = new(*b.Completed-n), new(n)
		b.OutputTokens, b.RequestsPerS, b.OutputTokensPerS, b.TotalTokensPerS = nil, nil, nil, nil
		p.lists.refuse("some of them have no text")
		return
	}
	if text := p.number(0, "total_output_tokens_retokenized"); text != nil && b.OutputTokens != nil && float64(*b.OutputTokens) > unseen**text {
		p.warn(fmt.Sprintf("%d output tokens are counted, and the text that came has %.0f: unless the model thinks first, answers failed within their stream or ended early, and TTFT, TPOT and tokens per second look better than they are", *b.OutputTokens, *text))
	}
}

// textless counts, in a file with details, the requests of which no text came: only text ends the time to the first token.
func (p *parser) textless() (n int64) {
	tokens, ttft := p.lists.values["output_lens"], p.lists.values["ttfts"]
	if p.lists.fault != "" || len(tokens) != len(ttft) {
		return 0
	}
	for i := range tokens {
		if tokens[i] > 0 && ttft[i] == 0 {
			n++
		}
	}
	return n
}

// client reads what a table does not say. Without a request that succeeded all figures are 0, and none is a measurement.
func (p *parser) client() {
	if p.b.Completed == nil && p.err == nil {
		p.wrong("completed", "the number of requests that succeeded")
	}
	p.requests()
}

func clientTimes(f fields, metric string) (reportedAs string, in unit, names [len(Statistics)]string) {
	if metric == "e2e" {
		metric = "e2el"
		if f.hasAny("mean_e2e_latency_ms", "median_e2e_latency_ms") {
			metric = "e2e_latency"
		}
	}
	at := func(statistic string) string { return statistic + "_" + metric + "_ms" }
	return metric, inMs, [...]string{at("mean"), at("std"), at("min"), at("median") + " " + at("p50"), at("p90"), at("p95"), at("p99"), at("p99.9"), at("max")}
}

// isGenAIPerf: genai-perf and aiperf write a metric as an object with its unit.
func isGenAIPerf(f fields) bool {
	f.flatten()
	return f.has("request_latency/unit") || f.has("request_throughput/unit") && f.hasAny("request_count/unit", "time_to_first_token/unit")
}

// flatten takes metrics out of the object that aiperf 0.1 has them in.
func (f fields) flatten() {
	for _, name := range slices.Collect(maps.Keys(f)) {
		if metric, nested := strings.CutPrefix(name, "records/"); nested && !f.has(metric) {
			f[metric] = f[name]
		}
	}
}

func genaiPerf(p *parser) {
	p.f.flatten()
	b := &p.b
	b.Tool = "genai-perf"
	config := "input_config/perf_analyzer/stimulus/"
	if p.f.hasAny("aiperf_version", "was_cancelled", "benchmark_duration/unit") || slices.ContainsFunc(slices.Collect(maps.Keys(p.f)), func(name string) bool { return strings.HasPrefix(name, "input_config/loadgen/") }) {
		b.Tool, config = "aiperf", "input_config/loadgen/"
	}
	for _, list := range []string{"input_config/model_names", "input_config/endpoint/model_names", "input_config/models/items"} {
		if p.items[list] < 2 { // of several models no single one was asked
			b.Model = p.text(list+"/0", list+"/0/name", list)
		}
		if b.Model != "" {
			break
		}
	}
	b.Backend, b.Date = p.text("input_config/endpoint/type", "input_config/endpoint/service_kind"), p.text("start_time")
	if phase := p.profilingPhase(); phase != "" {
		config = phase
	}
	b.ConcurrencyLimit, b.TargetRate = p.count(config+"concurrency"), p.number(0, config+"request_rate", config+"rate")
	if b.TargetRate != nil {
		b.Unlimited = new(false)
	}
	b.Completed, b.Failed = p.countOf("request_count"), p.countOf("error_request_count")
	b.InputTokens, b.OutputTokens = p.totalOf("total_isl", "input_sequence_length"), p.totalOf("total_osl", "output_sequence_length")
	b.DurationNs = p.rateOf("benchmark_duration")
	b.RequestsPerS, b.OutputTokensPerS, b.TotalTokensPerS = p.rateOf("request_throughput"), p.rateOf("output_token_throughput"), p.rateOf("total_token_throughput")
	// What both call inter-token latency is a mean for each request, which others call time per output token.
	for _, m := range [][2]string{{"ttft", "time_to_first_token"}, {"ttft", "ttft"}, {"tpot", "inter_token_latency"}, {"itl", "inter_chunk_latency"}, {"e2e", "request_latency"}} {
		power, ok := p.unit(m[1])
		if !ok || m[0] == "ttft" && p.f["input_config/endpoint/streaming"] == false { // genai-perf then has the whole request in its place
			continue
		}
		at := func(statistic string) string { return m[1] + "/" + statistic }
		p.latency(m[0], m[1], power, [...]string{at("avg"), at("std"), at("min"), at("p50"), at("p90"), at("p95"), at("p99"), at("p99.9"), at("max")})
	}
}

// powers are the units of genai-perf and aiperf as powers of ten of base units.
var powers = map[string]int{"ns": 0, "us": 3, "ms": 6, "s": 9, "sec": 9, "ms/token": 6, "s/token": 9, "requests/sec": 0, "tokens/sec": 0, "count": 0, "requests": 0, "tokens": 0, "": 0}

// unit returns the power of ten of a metric's unit; ok is false where there is no such metric.
func (p *parser) unit(metric string) (power int, ok bool) {
	if !p.f.has(metric + "/avg") {
		return 0, false
	}
	return p.power(metric)
}

// power returns that of a metric that is there.
func (p *parser) power(metric string) (power int, ok bool) {
	if power, ok = powers[p.text(metric+"/unit")]; !ok {
		p.wrong(metric+"/unit", "ns, us, ms, sec, requests/sec, tokens/sec or a count")
	}
	return power, ok
}

func (p *parser) rateOf(metric string) *float64 {
	if power, ok := p.unit(metric); ok {
		return p.number(power, metric+"/avg")
	}
	return nil
}

// profilingPhase is where newer versions of aiperf have the load: the only phase that is no warm-up; "" without one, and with several, whose results are of all of them.
func (p *parser) profilingPhase() (at string) {
	const list = "input_config/phases"
	for i := range min(p.items[list], keptItems) {
		if one := fmt.Sprintf("%s/%d/", list, i); p.f[one+"kind"] == "profiling" {
			if at != "" || p.items[list] > keptItems {
				return ""
			}
			at = one
		}
	}
	return at
}

// totalOf is a count of tokens, which genai-perf has as a mean of the requests.
func (p *parser) totalOf(metric, mean string) *int64 {
	if n := p.countOf(metric); n != nil || p.b.Completed == nil {
		return n
	}
	if _, ok := p.unit(mean); !ok {
		return nil
	}
	v := p.number(0, mean+"/avg")
	if v == nil || *v*float64(*p.b.Completed) > 1<<53 {
		return nil
	}
	return new(int64(math.Round(*v * float64(*p.b.Completed))))
}

func (p *parser) countOf(metric string) *int64 {
	if _, ok := p.unit(metric); ok {
		return p.count(metric + "/avg")
	}
	return nil
}

// isTRTLLM: the report of trtllm-bench has what ran, how it was asked, and what came of it.
func isTRTLLM(f fields) bool {
	return f.has("request_info/num_requests", "performance/request_throughput_req_s")
}

var trtllm = generator{
	form: "trtllm-bench", is: isTRTLLM, times: trtllmTimes,
	names: "backend=engine/backend model=engine/model duration_ms=performance/total_latency_ms completed=request_info/num_requests mean_concurrency=request_info/avg_num_concurrent_requests " +
		"requests_per_s=performance/request_throughput_req_s output_tokens_per_s=performance/system_output_throughput_tok_s total_tokens_per_s=performance/system_total_throughput_tok_s",
}

func trtllmTimes(_ fields, metric string) (reportedAs string, in unit, names [len(Statistics)]string) {
	of, mean := "streaming_metrics/"+metric+"_percentiles", "streaming_metrics/avg_"+metric+"_ms"
	switch metric {
	case "e2e":
		of, mean = "performance/request_latency_percentiles_ms", "performance/avg_request_latency_ms"
	case "itl":
		return "", inMs, names
	}
	at := func(statistic string) string { return of + "/" + statistic }
	return of[strings.IndexByte(of, '/')+1:], inMs, [...]string{at("average") + " " + mean, "", at("minimum"), at("p50"), at("p90"), at("p95"), at("p99"), "", at("maximum")}
}

// isOwn: prof's own form says so.
func isOwn(f fields) bool { return f.has("prof_serving") }

// own has the names by which tables call measures.
var own = generator{form: "prof-serving", is: isOwn, names: ownNames(), times: ownTimes, also: func(p *parser) {
	if v := p.count("prof_serving"); p.err == nil && (v == nil || *v != 1) {
		p.wrong("prof_serving", "1, the version of the form that this prof reads")
	}
	p.b.Tool = cmp.Or(p.text("tool"), p.b.Tool)
	known := []string{"prof_serving", "tool"}
	for _, m := range measures {
		known = append(known, m.name)
	}
	for _, metric := range Metrics {
		of, _, names := ownTimes(p.f, metric)
		if known = append(append(known, names[:]...), of); p.f[of] != nil {
			p.wrong(of, "an object of statistics")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.f)) {
		if !slices.Contains(known, name) || slices.ContainsFunc(measures, func(m measure) bool { return m.name == name && m.isTheirs() }) {
			p.warn(fmt.Sprintf("%.80s is not read: no such field", name))
		}
	}
}}

func ownNames() (out string) {
	for _, m := range measures {
		if !m.isTheirs() {
			out += m.name + "=" + m.name + " "
		}
	}
	return out
}

func ownTimes(_ fields, metric string) (reportedAs string, in unit, names [len(Statistics)]string) {
	for i, s := range Statistics {
		names[i] = metric + "_ms/" + s
	}
	return metric + "_ms", inMs, names
}

// guidellm is GuideLLM's JSON: of each metric the requests that succeeded, since in total a failed request counts as 0. What it calls inter-token latency is the mean time between the tokens of each
// request, as often as the request has such times.
var guidellm = generator{
	form: "guidellm", is: func(f fields) bool { return f.has("metadata/guidellm_version") }, each: "benchmarks",
	names: "label=config/strategy/type_ backend=config/backend/kind model=config/backend/model began_unix_s=start_time duration_s=duration " +
		"completed=metrics/request_totals/successful failed=metrics/request_totals/errored " +
		"input_tokens=metrics/prompt_token_count/successful/total_sum output_tokens=metrics/output_token_count/successful/total_sum " +
		"request_rate=config/strategy/rate max_concurrency=config/strategy/max_concurrency,config/strategy/streams mean_concurrency=metrics/request_concurrency/total/mean " +
		"requests_per_s=metrics/requests_per_second/successful/mean output_tokens_per_s=metrics/output_tokens_per_second/successful/mean total_tokens_per_s=metrics/tokens_per_second/successful/mean",
	times: timeTable(map[unit]string{
		inMs: "ttft=metrics/time_to_first_token_ms/successful:time_to_first_token_ms tpot=metrics/inter_token_latency_ms/successful:inter_token_latency_ms",
		inS:  "e2e=metrics/request_latency/successful:request_latency",
	}, "mean std_dev min percentiles/p50 percentiles/p90 percentiles/p95 percentiles/p99 percentiles/p999 max"),
	requests: requestTable{
		lists: "requests/successful requests/errored", failed: "info/error",
		names: "input_tokens=prompt_tokens output_tokens=output_tokens ttft_ms=time_to_first_token_ms tpot_ms=inter_token_latency_ms e2e_s=request_latency tokens_received=info/timings/token_iterations",
	},
	also: func(p *parser) {
		if version := p.outer["metadata/version"]; version != json.Number("2") {
			p.err = errors.Join(p.err, fmt.Errorf("metadata/version is %v, want 2, as GuideLLM 0.8 writes it", version))
		}
		if p.b.Label == "throughput" {
			p.b.Unlimited = new(true)
		}
		if incomplete := p.count("metrics/request_totals/incomplete"); incomplete != nil && *incomplete > 0 {
			p.warn(fmt.Sprintf("%d requests had not ended when the benchmark did: they count neither as completed nor as failed", *incomplete))
		}
		// Its figures are 0.0 where there are no values.
		for metric, figures := range map[string]func(){
			"prompt_token_count": func() { p.b.InputTokens = nil }, "output_token_count": func() { p.b.OutputTokens = nil },
			"output_tokens_per_second": func() { p.b.OutputTokensPerS = nil }, "tokens_per_second": func() { p.b.TotalTokensPerS = nil },
		} {
			if n := p.count("metrics/" + metric + "/successful/count"); n != nil && *n == 0 {
				figures()
			}
		}
	},
}

// inferencePerf are the summaries of inference-perf: of a stage, or of all together, in which the time of pauses counts.
var inferencePerf = generator{
	form: "inference-perf", is: func(f fields) bool {
		return f.has("benchmark_time_seconds", "load_summary/count") && f.hasAny("successes/count", "load_summary/schedule_delay/mean")
	},
	before: func(p *parser) { p.noNegative("load_summary/requested_rate") },
	names: "duration_s=benchmark_time_seconds completed=successes/count failed=failures/count input_tokens=successes/prompt_tokens/total output_tokens=successes/output_tokens/total " +
		"request_rate=load_summary/requested_rate max_concurrency=load_summary/concurrency " +
		"requests_per_s=successes/throughput/requests_per_sec output_tokens_per_s=successes/throughput/output_tokens_per_sec total_tokens_per_s=successes/throughput/total_tokens_per_sec",
	times: timeTable(map[unit]string{inS: "ttft=successes/latency/time_to_first_token tpot=successes/latency/time_per_output_token itl=successes/latency/inter_token_latency e2e=successes/latency/request_latency"},
		"mean - min median p90 p95 p99 p99.9 max"),
	also: func(p *parser) {
		if server, client := p.number(0, "successes/output_tokens/mean"), p.number(0, "successes/output_len/mean"); server != nil && client != nil && *server > unseen**client {
			for name := range p.f {
				if strings.HasPrefix(name, "successes/latency/time_to_first_token/") || strings.HasPrefix(name, "successes/latency/time_per_output_token/") {
					p.f[name] = nil
				}
			}
			p.b.OutputTokensPerS, p.b.TotalTokensPerS = nil, nil
			p.warn(fmt.Sprintf("time_to_first_token, time_per_output_token and tokens per second are not stored: the server counted %.3g tokens an answer and the client saw %.3g, as of a model that thinks first, whose thinking it does not time", *server, *client))
		}
		switch {
		case p.b.ConcurrencyLimit != nil: // which then says the load
			p.b.TargetRate, p.b.Unlimited = nil, nil
		case p.b.TargetRate == nil:
			p.b.DurationNs, p.b.RequestsPerS, p.b.OutputTokensPerS, p.b.TotalTokensPerS = nil, nil, nil, nil
			p.b.Label = "all stages"
			p.warn("duration and throughput are not stored: it sums up all stages, and they hold the pauses between these; the files of the stages have those of each")
		}
	},
}

// unseen is by which factor the tokens that are counted for answers may be above those of the text that came.
const unseen = 1.2

// inferencePerfTimes are the times of a request, as inference-perf computes its figures of them.
var inferencePerfTimes = requestTable{failed: "error,error/error_type", names: "input_tokens=info/request_metrics/text/input_tokens,info/input_tokens output_tokens=info/response_metrics/output_tokens,info/output_tokens began_s=start_time ended_s=end_time " +
	"first_s=info/response_metrics/output_token_times/0,info/output_token_times/0 last_s=info/response_metrics/output_token_times/last,info/output_token_times/last " +
	"tokens_received=info/response_metrics/output_token_times/count,info/output_token_times/count"}

// genaiBench is a scenario and a concurrency of genai-bench; what it asked is in a file next to it.
var genaiBench = generator{
	form: "genai-bench", is: func(f fields) bool { return f.has("aggregated_metrics/run_duration", "aggregated_metrics/scenario") },
	beside: []string{"experiment_metadata.json"},
	names: "label=aggregated_metrics/scenario backend=experiment_metadata.json/server_engine,experiment_metadata.json/api_backend model=experiment_metadata.json/api_model_name,experiment_metadata.json/model " +
		"duration_s=aggregated_metrics/run_duration completed=aggregated_metrics/num_completed_requests failed=aggregated_metrics/num_error_requests " +
		"input_tokens=aggregated_metrics/stats/num_input_tokens/sum output_tokens=aggregated_metrics/stats/num_output_tokens/sum max_concurrency=aggregated_metrics/num_concurrency " +
		"requests_per_s=aggregated_metrics/requests_per_second output_tokens_per_s=aggregated_metrics/mean_output_throughput_tokens_per_s total_tokens_per_s=aggregated_metrics/mean_total_tokens_throughput_tokens_per_s",
	times: func(f fields, metric string) (string, unit, [len(Statistics)]string) {
		in := inS
		if f["_time_unit"] == "ms" { // of times alone: run_duration stays in s
			in = inMs
		}
		of := "aggregated_metrics/stats/"
		return timeTable(map[unit]string{in: "ttft=" + of + "ttft tpot=" + of + "tpot e2e=" + of + "e2e_latency"}, "mean stddev min p50 p90 p95 p99 - max")(f, metric)
	},
	requests: requestTable{
		lists: "individual_request_metrics", failed: "error_code",
		names: "input_tokens=num_input_tokens output_tokens=num_output_tokens ttft_s=ttft tpot_s=tpot after_s=output_latency e2e_s=e2e_latency",
	},
	also: func(p *parser) {
		switch p.text("_time_unit") {
		case "s", "": // as older versions, which do not say
		case "ms":
			for _, q := range p.lists.requests {
				for _, v := range []*float64{q.TTFTNs, q.AfterNs, q.E2ENs} {
					if v != nil {
						*v /= 1000
					}
				}
			}
		default:
			p.wrong("_time_unit", "s or ms")
		}
		if p.f["aggregated_metrics/iteration_type"] == "batch_size" {
			p.b.ConcurrencyLimit = nil
		}
		var all tokenSum
		for _, q := range p.lists.requests {
			all.add(q.OutputTokens)
		}
		if sum := all.value(); len(p.lists.requests) > 0 && sum != nil && p.b.OutputTokens != nil && *sum != *p.b.OutputTokens {
			p.b.InputTokens, p.b.OutputTokens, p.b.OutputTokensPerS, p.b.TotalTokensPerS = nil, nil, nil, nil
			p.warn("tokens and their throughput are not stored: --warmup-ratio or --cooldown-ratio left requests out of the tokens, and not out of the time that they are divided by")
			p.lists.refuse("they have those of --warmup-ratio and --cooldown-ratio")
		}
	},
}

// evalScope is the summary of EvalScope's perf, with percentiles in a file next to it and what was asked in another. Units are in the names. What it does not know is -1.
var evalScope = generator{
	form: "evalscope", is: func(f fields) bool { return f.has("Test Duration (s)", "Success Requests") },
	beside: []string{"benchmark_percentile.json", "benchmark_args.json"},
	before: func(p *parser) { p.noNegative("") },
	names: "backend=benchmark_args.json/api model=benchmark_args.json/model duration_s=Test~Duration~(s) completed=Success~Requests failed=Failed~Requests request_rate=Request~Rate~(req/s) max_concurrency=Concurrency " +
		"requests_per_s=Req~Throughput~(req/s) output_tokens_per_s=Output~Throughput~(tok/s) total_tokens_per_s=Total~Throughput~(tok/s)",
	times: evalScopeTimes,
	also: func(p *parser) {
		if p.b.TargetRate == nil && p.f.has("Request Rate (req/s)") {
			p.b.Unlimited = new(true)
		}
		p.b.InputTokens, p.b.OutputTokens = p.tokensOf("Avg Input Tokens"), p.tokensOf("Avg Output Tokens")
		if p.f["benchmark_args.json/open_loop"] == true {
			p.b.ConcurrencyLimit = nil
		}
		if !p.f.has("benchmark_percentile.json/0/Percentiles") {
			p.warn("percentiles are not known: they are in benchmark_percentile.json, which does not lie next to it")
		}
	},
}

// noNegative takes negative numbers, of fields whose names begin so, for what is not known.
func (p *parser) noNegative(begin string) {
	for name, v := range p.f {
		if n, ok := v.(json.Number); ok && strings.HasPrefix(name, begin) && strings.HasPrefix(n.String(), "-") {
			p.f[name] = nil
		}
	}
}

// tokensOf is the sum of which a field has the mean over the requests that succeeded, to four decimals; nil where that does not tell it.
func (p *parser) tokensOf(mean string) *int64 {
	v, n := p.number(0, mean), p.b.Completed
	if v == nil || n == nil || *n == 0 || *n >= 10_000 || *v*float64(*n) > 1<<53 {
		return nil
	}
	return new(int64(math.Round(*v * float64(*n))))
}

func evalScopeTimes(f fields, metric string) (reportedAs string, in unit, names [len(Statistics)]string) {
	column := map[string]string{"ttft": "TTFT (ms)", "tpot": "TPOT (ms)", "itl": "ITL (ms)", "e2e": "Latency (s)"}[metric]
	if in = inMs; metric == "e2e" {
		in = inS
	}
	column = strings.ReplaceAll(column, " ", "~")
	names[0] = "Avg~" + column
	for i := range besideKept {
		row := fmt.Sprintf("benchmark_percentile.json/%d/", i)
		label, _ := f[row+"Percentiles"].(string)
		if at := slices.Index([]string{"min", "50%", "90%", "95%", "99%", "max"}, label); at >= 0 {
			names[[]int{2, 3, 4, 5, 6, 8}[at]] = row + column
		}
	}
	return strings.ReplaceAll(column, "~", " "), in, names
}

// vllmLatency is the JSON of vllm bench latency (vllm/benchmarks/latency.py of 00cae075): the time of one batch of requests, again and again. Warm-up is not in it.
var vllmLatency = generator{
	form: "vllm-bench-latency", is: func(f fields) bool {
		return f.has("avg_latency", "percentiles/50") || f.has("avg_latency", "latencies/0")
	},
	times: func(_ fields, metric string) (string, unit, [len(Statistics)]string) {
		if metric != "e2e" {
			return "", inS, [len(Statistics)]string{}
		}
		return "latency", inS, [...]string{"avg_latency", "std_latency", "", "percentiles/50", "percentiles/90", "", "percentiles/99", "", ""}
	},
}

// vllmThroughput is the JSON of vllm bench throughput (vllm/benchmarks/throughput.py of 02028314): all requests at once.
var vllmThroughput = generator{
	form: "vllm-bench-throughput", is: func(f fields) bool {
		return f.has("elapsed_time", "num_requests", "total_num_tokens", "requests_per_second")
	},
	names: "duration_s=elapsed_time completed=num_requests requests_per_s=requests_per_second total_tokens_per_s=tokens_per_second",
	times: func(fields, string) (string, unit, [len(Statistics)]string) { return "", 0, [len(Statistics)]string{} },
	also:  func(p *parser) { p.b.Unlimited = new(true) },
}

// llmPerf is the summary of LLMPerf (ray-project/llmperf of 004d3afb). Its inter-token latency is the time to the last token, prefill included, by all tokens, and is not read.
var llmPerf = generator{
	form: "llmperf", is: func(f fields) bool { return f.has("num_concurrent_requests", "results_ttft_s_mean") },
	names: "model=model began_unix_s=timestamp max_concurrency=num_concurrent_requests completed=results_num_completed_requests failed=results_number_errors " +
		"requests_per_min=results_num_completed_requests_per_min output_tokens_per_s=results_mean_output_throughput_token_per_s",
	times: func(_ fields, metric string) (string, unit, [len(Statistics)]string) {
		called := map[string]string{"ttft": "ttft_s", "e2e": "end_to_end_latency_s"}[metric]
		at := func(statistic string) string { return "results_" + called + "_" + statistic }
		return called, inS, [...]string{at("mean"), at("stddev"), at("min"), at("quantiles_p50"), at("quantiles_p90"), at("quantiles_p95"), at("quantiles_p99"), "", at("max")}
	},
}
