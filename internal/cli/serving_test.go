package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestServing ingests what load generators wrote, next to a capture, by itself and later, and asks what clients measured: as rows, on the screen, and by rules.
func TestServing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	from, err := filepath.Abs("../../testdata/serving")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(p.path("bench"), os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	write(t, p.path("bench/vllm-cut.json"), []byte(`{"model_id": "m", "duration": 1, "completed": 1, "request_throughput": 1, "output_throughput": 5, "mean_tt`))
	p.wantLike(1, "", `.*vllm-cut\.json: byte \d+: it ends inside an object: was it cut off\?\n`, "ingest", "bench/vllm-cut.json")
	p.ok("ingest", "--run", "r", exported(t, kernels), "bench/vllm.json")
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
	for _, want := range []string{"serving, measured by the client\nrate 4/s, 32 at once  3.75 requests/s, 481 output tokens/s, 2 failed\n", " TTFT 40.2 ms (p99 71.9 ms), TPOT 9 ms (p99 11.2 ms)\n", "\n16 at once ", "\nrate 2/s "} {
		if !strings.Contains(show, want) {
			t.Errorf("show gives\n%s\nwant %q", show, want)
		}
	}

	// A rule holds for each load, and cannot be judged where a figure is missing.
	p.wantLike(3, `(?s).*holds +serving\.ttft_p99 \(4 requests/s, 32 at once\) +71\.9 ms +<= 100ms\n.*broken +serving\.ttft_p99 \(16 at once\) +180 ms.*cannot judge +serving\.ttft_p99 \(2 requests/s\) .*the load generator did not report this figure.*`, "", "check", "r", "--rule", "serving.ttft_p99 <= 100ms")
	p.ok("ingest", "--run", "own", "bench/own.json")
	p.wantLike(0, `(?s)passed: 3 of 3 rules hold.*`, "", "check", "own", "--rule", "serving.ttft_p999 <= 80ms", "--rule", "serving.failed <= 0", "--rule", "serving.output_tokens_per_s >= 500")
	if got := p.ok("report", "own", "--out", "-", "--file", "report.md"); !strings.Contains(got, "## Serving benchmarks") || !strings.Contains(got, "## Latencies of serving") {
		t.Errorf("the report has no benchmarks:\n%s", got)
	}

	// A source that is taken out takes its figures along.
	p.ok("rm", "r", "--source", "2")
	if got := p.sql("SELECT tool, count(*) AS n FROM serving_benchmark GROUP BY tool ORDER BY tool"); got != "tool,n\nmy-client,1\nsglang-bench,2\n" {
		t.Errorf("after rm of a source: %s", got)
	}
}

// TestServingTrend follows latencies and throughput over 14 runs: from the eighth on TPOT at 32 requests at once is 6 % longer and their throughput 6 % lower, at 8 at once nothing changes.
func TestServingTrend(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
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
		write(t, p.path("b.json"), []byte(text))
		p.ok("ingest", "--run", fmt.Sprintf("bench-%02d", i), "b.json")
	}
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
