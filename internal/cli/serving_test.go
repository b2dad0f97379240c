package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"prof/internal/testkit"
)

// newBenches returns a place with runs and with the results of load generators in testdata.
func newBenches(t *testing.T, runs ...testkit.Run) *place {
	t.Helper()
	p := newStored(t, runs)
	if err := os.CopyFS(p.path("bench"), os.DirFS("../../testdata/serving")); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestServing ingests what load generators wrote, next to a capture, by itself and later, and asks what clients measured: as rows, on the screen, and by rules.
func TestServing(t *testing.T) {
	t.Parallel()
	p := newBenches(t, testkit.Run{Name: "r", Files: []string{"nsys/" + kernels, "serving/vllm.json"}, TrueSums: true})
	write(t, p.path("bench/vllm-cut.json"), []byte(`{"model_id": "m", "duration": 1, "completed": 1, "request_throughput": 1, "output_throughput": 5, "mean_tt`))
	p.wantLike(1, "", `.*vllm-cut\.json: byte \d+: it ends inside an object: was it cut off\?\n`, "ingest", "bench/vllm-cut.json")
	if got, want := p.ok("query", "serving", "--run", "r", "-f", "csv"), "1,4,32,3.7546569,480.59608,40234567.8,71875000,9000000,11200000,,198,2,4325.36475,,202752,25344,52734512000,false,vllm-bench,,vllm,meta-llama/Llama-3.1-8B-Instruct,20251126-101500,"; !strings.Contains(got, want) {
		t.Errorf("serving gives\n%s\nwant\n%s", got, want)
	}
	p.wantLike(0, "r\n", `.*warning: .*benchmark 2: ttft is not stored: it is 0 in all of its figures, so no request had such a time\n.*`, "ingest", "--run", "r", "--add", "bench/sglang.jsonl")
	latency := p.ok("query", "serving-latency", "--run", "r", "-f", "csv")
	for _, want := range []string{"\n1,ttft,41519000,40234567.8,52000000,,71875000,,8125000,,,ttft,vllm-bench,", "\n1,itl,9050000,8700000,10500000,,24750000,,2250000,,,itl,vllm-bench,", "\n2,e2e,1950500000,1940250000,2020000000,,2101000000,,60000000,,,e2e_latency,sglang-bench,"} {
		if !strings.Contains(latency, want) {
			t.Errorf("serving-latency gives\n%s\nwant %s", latency, want)
		}
	}
	if strings.Count(latency, "\n") != 1+3+4 { // of the third benchmark no request succeeded
		t.Errorf("serving-latency gives\n%s", latency)
	}
	show := p.ok("show", "r")
	for _, want := range []string{"serving, measured by the client\nrate 4/s, 32 at once  3.75 requests/s, 481 output tokens/s, 2 of 200 requests failed\n", " TTFT 40.2 ms (p99 71.9 ms), TPOT 9 ms (p99 11.2 ms)\n", "\n16 at once ", "\nrate 2/s "} {
		if !strings.Contains(show, want) {
			t.Errorf("show gives\n%s\nwant %q", show, want)
		}
	}

	// A rule holds for each load, and cannot be told where a figure is missing.
	p.wantLike(3, `(?s).*holds +serving\.ttft_p99 \(rate=4 concurrency=32 in=1024 out=128\) +71\.9 ms +<= 100ms\n.*broken +serving\.ttft_p99 \(rate=inf concurrency=16 in=1024 out=128\) +180 ms.*cannot tell +serving\.ttft_p99 \(rate=2\) .*the load generator did not report this figure.*`, "", "check", "r", "--rule", "serving.ttft_p99 <= 100ms")
	if got := p.run("ingest", "--run", "own", "bench/own.json"); got.code != 0 || strings.Contains(got.err, "no capture") {
		t.Errorf("a benchmark alone is taken with %q", got.err)
	}
	p.wantLike(0, `(?s)passed: 3 of 3 rules hold.*`, "", "check", "own", "--rule", "serving.ttft_p999 <= 80ms", "--rule", "serving.failed <= 0", "--rule", "serving.output_tokens_per_s >= 500")
	if got := p.sql("SELECT r.token_time_ns IS NOT DISTINCT FROM s.tpot_p50_ns AND r.first_token_ns = s.ttft_p50_ns AND r.first_token_ns > 0 AS same FROM runs r, serving('own') s WHERE r.run = 'own'"); got != "same\ntrue\n" {
		t.Errorf("the list of runs has other times than the one benchmark of a run: %s", got)
	}
	if got := p.sql("SELECT token_time_ns, first_token_ns FROM runs WHERE run = 'r'"); got != "token_time_ns,first_token_ns\n,\n" {
		t.Errorf("the list of runs takes one of several benchmarks: %s", got)
	}
	if got := p.ok("explain", "own"); strings.Contains(got, "stage_rule") {
		t.Errorf("explain speaks of rules for ranges of a benchmark:\n%s", got)
	}
	// A run of nothing else begins with them.
	lead := "8 at once: 3.97 requests/s, 508 output tokens/s, TTFT 40.2 ms (p99 71.9 ms)"
	for _, args := range [][]string{{"show", "own"}, {"explain", "own"}, {"report", "own", "--out", "-", "--file", "stakeholder_summary.md"}} {
		if got := p.ok(args...); !strings.HasPrefix(strings.TrimPrefix(got, "# Run own: summary\n\n**"), lead) {
			t.Errorf("%s begins with\n%.300s\nwant %s", args[0], got, lead)
		}
	}
	if got := p.ok("report", "own", "--out", "-", "--file", "report.md"); !strings.Contains(got, "## Serving benchmarks") || strings.Index(got, "## Serving benchmarks") > strings.Index(got, "## Not known") {
		t.Errorf("the report begins with what the run lacks:\n%s", got)
	}
	if got := p.ok("report", "own", "--out", "-", "--file", "report.md"); !strings.Contains(got, ">Serving benchmarks</") && !strings.Contains(got, "## Serving benchmarks") || !strings.Contains(got, "Latencies of serving") {
		t.Errorf("the report has no benchmarks:\n%s", got)
	}

	// A benchmark that came later has another workload, which trend does not take for that of stages.
	if got := p.ok("trend"); !strings.Contains(got, "workload  ./kernels\n") {
		t.Errorf("trend does not follow the run with device work:\n%s", got)
	}
	if got := p.ok("trend", "--metric", "ttft_p99"); strings.Contains(got, "workload  ./kernels\n") {
		t.Errorf("trend of serving does not follow the latest benchmark:\n%s", got)
	}
	p.wantLike(1, "", `.*none of the runs of the workload ".+" has a stage, or device work in its timeline: --workload names another.*`, "trend", "--workload", "own")

	// A source that is taken out takes its figures along.
	p.ok("rm", "r", "--source", "2")
	if got := p.sql("SELECT tool, count(*) AS n FROM serving_benchmark GROUP BY tool ORDER BY tool"); got != "tool,n\nmy-client,1\nsglang-bench,2\n" {
		t.Errorf("after rm of a source: %s", got)
	}
}

// TestServingRequestFiles: the summary and the requests of one benchmark are one, whichever comes first, again, alone or in a folder, and figures of a file alone are those of its summary.
func TestServingRequestFiles(t *testing.T) {
	t.Parallel()
	summary := read(t, testkit.Path("serving/aiperf/profile_export_aiperf.json"))
	// A summary that does not have the figures of the requests is one of other requests; with their number and their time to the end, but not to the first token, of the same, which are then left out.
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(summary, &rest); err != nil {
		t.Fatal(err)
	}
	change := func(metric string) string {
		t.Helper()
		var one map[string]any
		if err := json.Unmarshal(rest[metric], &one); err != nil {
			t.Fatal(err)
		}
		one["avg"] = one["avg"].(float64) * 1.001
		changed := map[string]any{}
		for k, v := range rest {
			changed[k] = v
		}
		changed[metric] = one
		text, err := json.Marshal(changed)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	requests := []string{"serving/aiperf/profile_export.jsonl"}
	differ := textRun("differ", "other.json", change("time_to_first_token"))
	rest["time_to_first_token"] = json.RawMessage(`{"unit": "ms", "avg": 1}`)
	two := textRun("two", "other.json", change("request_latency"))
	differ.Files, two.Files = requests, requests
	p := newBenches(t, testkit.Run{Name: "whole", Files: []string{"serving/genai-perf-whole", "serving/aiperf-whole"}}, differ, two, testkit.Run{Name: "first", Files: requests}, testkit.Run{Name: "last", Files: []string{"serving/aiperf/profile_export_aiperf.json"}})
	for _, phase := range []string{"warmup", "profiling"} { // as aiperf writes next to them
		if err := os.MkdirAll(p.path("bench/aiperf/phases/"+phase), 0o755); err != nil {
			t.Fatal(err)
		}
		write(t, p.path("bench/aiperf/phases/"+phase+"/profile_export_aiperf.json"), append(summary, ' '))
	}
	is := func(run, want string) {
		t.Helper()
		got := p.sql(strings.ReplaceAll("SELECT d.benchmark, coalesce(b.concurrency_limit_count, -1) AS at_once, b.completed_count, (SELECT count(*) FROM serving_requests('RUN', top := 0)) AS requests, (SELECT count(*) FROM serving('RUN')) AS benchmarks FROM run r JOIN served d USING (run_id) JOIN serving_benchmark b USING (run_id, source_id, benchmark_id) WHERE r.name = 'RUN'", "RUN", run))
		if got != "benchmark,at_once,completed_count,requests,benchmarks\n"+want+"\n" {
			t.Errorf("%s is %s, want %s", run, got, want)
		}
	}
	const whole = "1,4,27,30,1"
	p.wantLike(0, "folder\n", "(?s).*phases/warmup/profile_export_aiperf.json: it is of one phase of the benchmark that .*bench/aiperf/profile_export_aiperf.json sums up.*", "ingest", "--run", "folder", "bench/aiperf")
	is("folder", whole)
	p.wantLike(1, "", ".*phases/warmup/profile_export_aiperf.json: it is of one phase of the benchmark that .*bench/aiperf/profile_export_aiperf.json sums up: give that file.*", "ingest", "bench/aiperf/phases/warmup/profile_export_aiperf.json")
	p.ok("ingest", "--run", "folder", "--add", "bench/aiperf") // again
	is("folder", whole)
	is("first", "1,-1,27,30,1")
	if got := p.ok("query", "serving", "--run", "first"); !strings.Contains(got, "note: 1 benchmark of aiperf is known by requests alone") {
		t.Errorf("a file of requests alone: %s", got)
	}
	p.ok("ingest", "--run", "first", "--add", "bench/aiperf/profile_export_aiperf.json")
	is("first", whole)
	p.ok("rm", "first", "--source", "2")
	is("first", "1,-1,27,30,1")
	p.ok("ingest", "--run", "last", "bench/aiperf/profile_export.jsonl") // requests do not replace a summary
	is("last", whole)
	p.wantLike(0, "last\n", "(?s).*replaced in run last: .*", "ingest", "--run", "last", "bench/genai-perf") // a newer summary replaces both
	is("last", "1,4,20,20,1")
	if got := p.sql("SELECT count(*) AS n, count(ttft_ns) AS ttft, count(e2e_ns) AS e2e FROM serving_requests('whole', top := 0)"); got != "n,ttft,e2e\n24,0,24\n" {
		t.Errorf("requests that were not streamed: %s", got)
	}
	if got := p.sql("SELECT string_agg(metric, ',' ORDER BY benchmark, metric) AS m FROM serving_latency('whole')"); got != "m\n\"e2e,e2e\"\n" {
		t.Errorf("latencies of what was not streamed: %s", got)
	}
	is("differ", "1,4,27,0,1")
	if got := p.ok("query", "serving-requests", "--run", "differ"); !strings.Contains(got, "note: the requests of 1 benchmark are left out: their times are not those of the summary") {
		t.Errorf("requests that differ: %s", got)
	}
	if got := p.sql("SELECT count(*) AS n FROM serving('two')"); got != "n\n2\n" {
		t.Errorf("a summary of other requests: %s", got)
	}
	p.wantLike(0, "(?s)passed: 1 of 1 rules hold.*", "", "check", "folder", "--rule", "serving{concurrency=4}.ttft_p99 <= 100ms")
	if got := p.ok("diff", "folder", "first"); !strings.Contains(got, "- only B was benchmarked under in=16 out=6 (aiperf)") {
		t.Errorf("diff with a file of requests alone: %s", got)
	}
}

// TestServingTrend follows latencies and throughput over 14 runs: from the eighth on TPOT at 32 requests at once is 6 % longer and their throughput 6 % lower, at 8 at once nothing changes.
func TestServingTrend(t *testing.T) {
	t.Parallel()
	var runs []testkit.Run
	one := func(concurrency, out int, tpot, rate float64) string {
		return fmt.Sprintf(`{"prof_serving": 1, "tool": "client", "model": "m", "completed": 100, "input_tokens": 102400, "output_tokens": %d, "request_rate": "inf", "max_concurrency": %d, "output_tokens_per_s": %g, "tpot_ms": {"p99": %g}}`, out, concurrency, rate, tpot)
	}
	for i := range 14 {
		f := 1 + 0.001*float64(i*7%3)
		step := f
		if i >= 7 {
			step *= 1.06
		}
		text := one(32, 12800+i, 10*step, 500/step) + one(32, 12800, 10*step, 500/step)
		if i > 0 { // so that the first load is the one that most runs share
			text = one(8, 12800, 4*f, 200/f) + text
		}
		if i == 3 {
			text = one(8, 12800, 4*f, 200/f) + one(32, 12800, 0, 500/step)
		}
		runs = append(runs, textRun(fmt.Sprintf("bench-%02d", i), "b.json", text))
	}
	p := reading(t, runs)
	type change struct {
		First, Last int
		Verdict     string
	}
	ask := func(args ...string) (out struct {
		Series []struct {
			Stage  string
			Points []struct {
				Run, Passes int
				Value       *float64
			}
		}
		Changes []change
		Notes   []string
	}) {
		t.Helper()
		if err := json.Unmarshal([]byte(p.ok(append([]string{"trend", "--format", "json"}, args...)...)), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	got := ask("--metric", "tpot_p99")
	if len(got.Series) != 1 || got.Series[0].Stage != "rate=inf concurrency=32 in=1024 out=128" || len(got.Series[0].Points) != 14 || got.Series[0].Points[3].Value != nil || *got.Series[0].Points[0].Value != 10e6 || got.Series[0].Points[1].Passes != 2 {
		t.Errorf("TPOT is %+v", got.Series)
	}
	if fmt.Sprint(got.Changes) != "[{7 6 worse}]" || !strings.Contains(strings.Join(got.Notes, "; "), "most runs share (14); --load shows others: rate=inf concurrency=8 in=1024 out=128; tpot_p99_ns is unknown at 1 of 14 points (a run and load each)") {
		t.Errorf("changes %+v, notes %q", got.Changes, got.Notes)
	}
	if got := ask("--metric", "output_tokens_per_s", "--load", "concurrency=32"); fmt.Sprint(got.Changes) != "[{7 6 worse}]" {
		t.Errorf("throughput changes %+v", got.Changes)
	}
	if got := ask("--metric", "tpot_p99_ns", "--load", "concurrency=8"); len(got.Changes) != 0 || len(got.Series) != 1 || len(got.Series[0].Points) != 13 {
		t.Errorf("at 8 at once %+v", got)
	}
	if got := ask("--metric", "tpot_p99_ns", "--load", "in=1024"); len(got.Series) != 2 || got.Series[0].Stage != "rate=inf concurrency=8 in=1024 out=128" || len(got.Changes) != 1 {
		t.Errorf("all loads: %+v", got)
	}
	table := p.ok("trend", "--metric", "tpot_p99", "--last", "2")
	for _, want := range []string{"workload  m\n", "load ", "p99 of TPOT (time per output token), as the client measured it; less is better", "out=128 6.", "slower from bench-07 on: 10.0 ms up to bench-06, 10.6 ms since"} {
		if !strings.Contains(table, want) {
			t.Errorf("it does not say %q:\n%s", want, table)
		}
	}
	if got := p.ok("trend", "--metric", "tpot_p99", "--format", "csv"); !strings.HasPrefix(got, "run,load,tpot_p99_ns,change,effect_ratio,level,mean,std,benchmarks,") {
		t.Errorf("csv gives\n%s", got)
	}
	if page := p.ok("trend", "--metric", "tpot_p99", "--format", "html"); !strings.Contains(page, ">Loads</h2>") {
		t.Error("the page calls loads stages")
	}
	p.wantLike(2, "", ".*stages have no load.*", "trend", "--load", "rate=4")
	p.wantLike(2, "", ".*write it as parts such as rate=4.*", "trend", "--metric", "tpot_p99", "--load", "32")
	p.wantLike(2, "", ".*a load generator does not see stages.*", "trend", "--metric", "tpot_p99", "--stage", "decode")
	p.wantLike(1, "", ".*no benchmark of this workload was under the load \"rate=4\"; there are rate=inf concurrency=.*", "trend", "--metric", "tpot_p99", "--load", "rate=4")
}

// detailed is a result of vllm bench serve with so many requests of 11 tokens, whose times between tokens spread by 20 % around tpot ms.
func detailed(concurrency, requests int, tpot float64) string {
	var ttfts, itls, in, out []string
	for i := range requests {
		gap := tpot * (0.9 + 0.2*float64(i*37%requests)/float64(requests)) / 1000
		ttfts, itls = append(ttfts, "0.02"), append(itls, "["+strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%.9f, ", gap), 10), ", ")+"]")
		in, out = append(in, "100"), append(out, "11")
	}
	list := func(items []string) string { return "[" + strings.Join(items, ", ") + "]" }
	return fmt.Sprintf(`{"model_id": "m", "max_concurrency": %d, "request_rate": "inf", "duration": 10, "completed": %d, "total_input_tokens": %d, "total_output_tokens": %d, "request_throughput": 1, "output_throughput": %g,
		"input_lens": %s, "output_lens": %s, "ttfts": %s, "itls": %s, "mean_ttft_ms": 20, "median_tpot_ms": %g, "p99_tpot_ms": %g}`,
		concurrency, requests, 100*requests, 11*requests, 1000/tpot, list(in), list(out), list(ttfts), list(itls), tpot, 1.1*tpot)
}

// TestServingDiff compares what clients measured: by requests where they were saved, by benchmarks where each side has several, and without an interval else.
func TestServingDiff(t *testing.T) {
	t.Parallel()
	p := reading(t, []testkit.Run{
		textRun("a", "a.json", detailed(8, 100, 10)+detailed(16, 4, 20)), textRun("b", "b.json", detailed(8, 100, 11)+detailed(32, 4, 40)),
		textRun("a1", "a1.json", detailed(8, 100, 10)), textRun("a2", "a2.json", detailed(8, 100, 10.05)), textRun("a3", "a3.json", detailed(8, 100, 9.95)),
		textRun("b1", "b1.json", detailed(8, 100, 12)), textRun("b2", "b2.json", detailed(8, 100, 12.05)), textRun("b3", "b3.json", detailed(8, 100, 11.95)),
		textRun("c", "c.json", detailed(64, 100, 10)),
	})
	if got := p.ok("query", "serving-requests", "--run", "a", "--top", "1", "-f", "csv"); !strings.HasSuffix(got, "\n1,1,100,11,20000000,9000000,9000000,110000000,vllm-bench,1\n") {
		t.Errorf("serving-requests gives %s", got)
	}
	type figure struct {
		Name, Basis, Verdict string
		A, B                 float64
		Comparison           struct {
			A_samples                           int
			Effect_ratio, Low_ratio, High_ratio *float64
			Why                                 string
		}
	}
	ask := func(args ...string) (figures map[string]figure, verdict, line string, loads []string) {
		t.Helper()
		var out struct {
			Comparisons []struct {
				Verdict, Words string
				Serving        []struct {
					Load                                 string
					A_benchmark_count, B_benchmark_count int
					Figures                              []figure
				}
			}
		}
		if err := json.Unmarshal([]byte(p.ok(append([]string{"diff", "--format", "json"}, args...)...)), &out); err != nil {
			t.Fatal(err)
		}
		figures = map[string]figure{}
		c := out.Comparisons[0]
		for _, l := range c.Serving {
			loads = append(loads, fmt.Sprint(l.Load, " ", l.A_benchmark_count, " ", l.B_benchmark_count, " ", len(l.Figures)))
			for _, f := range l.Figures {
				figures[f.Name] = f
			}
		}
		return figures, c.Verdict, c.Words, loads
	}
	figures, verdict, _, loads := ask("a", "b")
	if want := []string{"rate=inf concurrency=8 in=100 out=11 1 1 5", "rate=inf concurrency=16 in=100 out=11 1 0 0", "rate=inf concurrency=32 in=100 out=11 0 1 0"}; !slices.Equal(loads, want) {
		t.Errorf("loads %q, want %q", loads, want)
	}
	f := figures["tpot_p50_ns"]
	if f.A != 10e6 || f.B != 11e6 || f.Basis != "requests" || f.Comparison.A_samples != 100 || f.Verdict != "cannot tell" || verdict != "cannot tell" || !strings.Contains(f.Comparison.Why, "benchmarks of the same code may differ as well") {
		t.Errorf("by requests %+v, %s", f, verdict)
	}
	if c := f.Comparison; c.Low_ratio == nil || *c.Low_ratio > 0.1 || *c.High_ratio < 0.1 || *c.Low_ratio < 0.07 || *c.High_ratio > 0.13 {
		t.Errorf("the interval of the requests does not hold 10 %%: %+v", f)
	}
	if f := figures["tpot_p99_ns"]; f.Basis != "one measurement each: no interval" || f.Verdict != "cannot tell" || f.Comparison.Low_ratio != nil || f.Comparison.Why != f.Basis {
		t.Errorf("p99 is %+v", f)
	}
	figures, verdict, line, _ := ask("a", "b", "--assume-noise", "3%")
	if f := figures["tpot_p50_ns"]; f.Verdict != "worse" || verdict != "worse" || !strings.Contains(line, "TPOT p50 +10") {
		t.Errorf("with noise that is assumed %+v, %s, %s", f, verdict, line)
	}
	figures, verdict, _, _ = ask("a1,a2,a3", "b1,b2,b3")
	if f, rate := figures["tpot_p99_ns"], figures["output_tokens_per_s"]; f.Basis != "benchmarks" || f.Verdict != "worse" || rate.Verdict != "worse" || verdict != "worse" || figures["requests_per_s"].Verdict != "no change" {
		t.Errorf("of three benchmarks a side %+v", figures)
	}
	if figures, verdict, _, _ := ask("b1,b2,b3", "a1,a2,a3"); figures["tpot_p99_ns"].Verdict != "better" || verdict != "better" {
		t.Errorf("the other way round %+v", figures)
	}
	if figures, verdict, _, _ := ask("a1", "a1"); figures["tpot_p50_ns"].Verdict != "no change" || verdict != "no change" {
		t.Errorf("of itself %s, %+v", verdict, figures)
	}
	// The gate judges figures of serving as it does stages.
	p.wantLike(exitRegression, "Serving worse: .*", "prof: b1,b2,b3 against a1,a2,a3, serving under rate=inf concurrency=8 in=100 out=11: worse by more than 5 %: .*TPOT p99 by 20 %.*\n", "diff", "a1,a2,a3", "b1,b2,b3", "--fail-over", "5%")
	p.wantLike(0, "Serving worse: .*", "", "diff", "a1,a2,a3", "b1,b2,b3", "--fail-over", "30%")
	p.wantLike(0, "Serving better: .*", "", "diff", "b1,b2,b3", "a1,a2,a3", "--fail-over", "5%")
	p.wantLike(exitCannotTell, "Serving: cannot tell, one benchmark on each side.*", "(?s)prof: b against a, serving under .*: 5 of 5 figures cannot be told: .*", "diff", "a", "b", "--fail-over", "5%")
	p.wantLike(exitCannotTell, ".*", "prof: c against a, serving: cannot tell: there is no load that both sides were benchmarked under\n", "diff", "a", "c", "--fail-over", "5%")
	p.wantLike(0, ".*", "", "diff", "a1", "a1", "--fail-over", "5%")
	table := p.ok("diff", "a", "b")
	if strings.Contains(table, "\n\n\n") || strings.Contains(table, "no device work") || !strings.Contains(table, " 1 each ") {
		t.Errorf("the table has two blank lines, speaks of device work, or cuts what figures are based on:\n%s", table)
	}
	for form, want := range map[string][]string{
		"table": {"serving, as clients measured it, under the same load", "TPOT p50", "100 and 100 requests", "- only A was benchmarked under rate=inf concurrency=16 in=100 out=11 (vllm-bench)", "- only B was benchmarked under rate=inf concurrency=32"},
		"md":    {"### Serving, as clients measured it", "| TPOT p99 |", "- only A was benchmarked"},
		"html":  {">Serving, as clients measured it", "TPOT p50", "only B was benchmarked"},
		"csv":   {",rate=inf concurrency=8 in=100 out=11,,serving,tpot_p50_ns,"},
	} {
		got := p.ok("diff", "a", "b", "--format", form, "--wide")
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("as %s it does not have %q:\n%.3000s", form, text, got)
			}
		}
	}
	p.wantLike(1, "", ".*nothing to compare.*", "diff", "a", "b", "--stage", "decode")
}
