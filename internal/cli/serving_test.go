package cli

import (
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
