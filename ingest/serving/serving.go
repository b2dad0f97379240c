// Package serving reads what load generators measured of a serving engine at the client: latencies, throughput, load and counts. Each
// figure is stored as it was measured, in base units. What a file does not say is NULL.
//
// Files are known by their content, whatever they are called:
//
//	vllm-bench      vllm bench serve --save-result, --append-result, --save-detailed (benchmark_serving.py wrote the same): JSON
//	sglang-bench    python -m sglang.bench_serving: JSON, a benchmark a line
//	genai-perf      profile_export_genai_perf.json of genai-perf, and profile_export_aiperf.json of aiperf
//	trtllm-bench    trtllm-bench throughput or latency --report_json: JSON
//	mlperf-loadgen  mlperf_log_summary.txt of MLPerf's LoadGen
//	guidellm        benchmarks.json of GuideLLM 0.8: JSON, a benchmark for each load
//	inference-perf  stage_N_lifecycle_metrics.json of inference-perf, and summary_lifecycle_metrics.json of all stages
//	genai-bench     a JSON for each scenario and concurrency of genai-bench, with experiment_metadata.json next to it
//	evalscope       benchmark_summary.json of EvalScope's perf, with benchmark_percentile.json and benchmark_args.json next to it
//	llm-d           benchmark reports of llm-d from version 0.2: YAML
//	llmperf         NAME_summary.json of LLMPerf
//	vllm-bench-latency, vllm-bench-throughput  what vllm bench latency and throughput wrote with --output-json
//	prof-serving    prof's own form, for other load generators: JSON, one object a benchmark
//	aiperf-requests      profile_export.jsonl of aiperf: requests one by one, a line each
//	genai-perf-requests  profile_export.json of perf_analyzer, which genai-perf runs: the times of each response
//	inference-perf-requests  per_request_lifecycle_metrics.json of inference-perf
//
// The last three have the requests of a benchmark whose summary is another file. What it says of them all is computed here as the tool does, so that a file without its summary is a benchmark too; the fact
// served has each benchmark once.
//
// # prof's own form
//
// Each object is a benchmark; a file may hold several, one after the other. Every field but the first may be left out or be null, which
// means that it is not known; a field that is not listed is ignored with a warning.
//
//	{
//	  "prof_serving": 1,
//	  "tool": "my-client", "label": "8 users", "backend": "vllm", "model": "llama-8b", "date": "2026-11-26T10:00:00Z",
//	  "duration_s": 60.5, "completed": 240, "failed": 0, "input_tokens": 245760, "output_tokens": 30720,
//	  "request_rate": 4, "max_concurrency": 32, "mean_concurrency": 30.25,
//	  "requests_per_s": 3.97, "output_tokens_per_s": 507.8, "total_tokens_per_s": 4570,
//	  "ttft_ms": {"mean": 41.5, "std": 8.1, "min": 30, "p50": 40.2, "p90": 52, "p95": 60.1, "p99": 71.9, "p99.9": 80, "max": 81},
//	  "tpot_ms": {"mean": 9.1, "p99": 11.2}, "itl_ms": {}, "e2e_ms": {}
//	}
//
// request_rate is a number of requests per second, or "inf" where requests were sent without waiting. A statistic that is not listed is ignored with a warning.
package serving

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
	"prof/internal/file"
)

// MaxBytes bounds a file: those with details list every token of every request.
const MaxBytes = 4 << 30

// maxBenchmarks bounds what one file may hold.
const maxBenchmarks = 10_000

// Benchmark is one benchmark of a file, in base units. nil is what the file does not say.
type Benchmark struct {
	Tool, Label, Backend, Model, Date               string // "" where the file does not say
	DurationNs                                      *float64
	Completed, Failed, InputTokens, OutputTokens    *int64
	TargetRate                                      *float64 // requests per second as asked for
	Unlimited                                       *bool    // no rate was asked for
	ConcurrencyLimit                                *int64
	ConcurrencyMean                                 *float64
	RequestsPerS, OutputTokensPerS, TotalTokensPerS *float64
	Latencies                                       []Latency // of each metric at most one, in the order of Metrics
	Requests                                        []Request // those of details; nil without
	Warnings                                        []string
}

// Latency is one latency of a benchmark over its requests or tokens.
type Latency struct {
	Metric     string // of Metrics
	ReportedAs string // as the file calls it
	Ns         [len(Statistics)]*float64
}

// Metrics are the latencies that are stored, Statistics what is stored of each, in the order of the columns.
var (
	Metrics    = []string{"ttft", "tpot", "itl", "e2e"}
	Statistics = [...]string{"mean", "std", "min", "p50", "p90", "p95", "p99", "p99.9", "max"}
)

// Form is one kind of file.
type Form struct {
	Name     string // as source.form
	MaxBytes int64
	// Sniff reports whether a file is one, by its lower-case name and its beginning.
	Sniff func(name string, head []byte) bool
	read  func(in io.Reader) ([]Benchmark, error)
	// readIn makes a read that knows the folder in which the file lies; nil for files that say all themselves.
	readIn func(folder string) func(in io.Reader) ([]Benchmark, error)
	known  *identified // what Identify read, for Load
}

// identified is what a file was found to hold.
type identified struct {
	path string
	list []Benchmark
}

// Forms are the kinds of files.
func Forms() []Form {
	var out []Form
	for _, g := range generators() {
		out = append(out, g.formOf())
	}
	out = append(out, []Form{
		{Name: "genai-perf", MaxBytes: MaxBytes, Sniff: sniffKeys(isGenAIPerf), read: objects(nil, genaiPerf)},
		{Name: "mlperf-loadgen", MaxBytes: maxSummary, Sniff: sniffLoadGen, read: readLoadGen},
		{Name: llmd.form, MaxBytes: load.MaxYAML, Sniff: sniffLLMD, read: readLLMD},
		{Name: "aiperf-requests", MaxBytes: MaxBytes, Sniff: sniffKeys(isAIPerfRequests), read: aiperfRequests},
		{Name: "genai-perf-requests", MaxBytes: MaxBytes, Sniff: sniffKeys(isGenAIPerfRequests), read: genaiPerfRequests},
		{Name: "inference-perf-requests", MaxBytes: MaxBytes, Sniff: sniffInferencePerfRequests, read: inferencePerfRequests},
	}...)
	for i := range out {
		out[i].known = new(identified)
	}
	return out
}

// OfRequests reports whether a form has the requests of a benchmark, and another file its summary.
func OfRequests(form string) bool { return strings.HasSuffix(form, "-requests") }

// Identify reads the file, so that what cannot be read is found before anything is stored.
func (f Form) Identify(_ context.Context, path, name string) (*load.SourceInfo, error) {
	if whole := wholeOf(name); whole != "" {
		return nil, fmt.Errorf("%s: it is of one phase of the benchmark that %s sums up: give that file", name, whole)
	}
	if stage := stageOf(name); stage != "" {
		return nil, fmt.Errorf("%s: it is of the stage that %s has with more of its figures: give that file", name, stage)
	}
	list, err := f.open(path, name)
	if err == nil && f.known != nil {
		*f.known = identified{path, list}
	}
	return &load.SourceInfo{}, err
}

// wholeOf is the summary that a summary of aiperf is a part of: phases/NAME next to it has what it has of each phase, warm-up too. "" where there is none.
func wholeOf(path string) string {
	phases := filepath.Dir(filepath.Dir(path))
	if filepath.Base(phases) != "phases" {
		return ""
	}
	whole := filepath.Join(filepath.Dir(phases), filepath.Base(path))
	if st, err := os.Stat(whole); err != nil || !st.Mode().IsRegular() {
		return ""
	}
	return whole
}

// stageOf is inference-perf's own file of a stage of which a file is its part of a report of llm-d. "" where there is none.
func stageOf(path string) string {
	stage, isPart := strings.CutPrefix(strings.TrimSuffix(filepath.Base(path), ".yaml"), "inference-perf.partial.")
	own := filepath.Join(filepath.Dir(path), stage+"_lifecycle_metrics.json")
	if _, err := os.Stat(own); !isPart || err != nil {
		return ""
	}
	return own
}

func (f Form) open(path, name string) ([]Benchmark, error) {
	in, err := file.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	read := f.read
	if f.readIn != nil {
		read = f.readIn(filepath.Dir(name))
	}
	list, err := read(in)
	if err == nil && len(list) == 0 {
		err = errors.New("it has no benchmark")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return list, nil
}

// Load stores a file as one source of the target's run.
func (f Form) Load(ctx context.Context, path, name string, t *load.Target) (info *load.SourceInfo, err error) {
	var list []Benchmark
	if f.known != nil && f.known.path == path {
		list = f.known.list
		*f.known = identified{}
	} else if list, err = f.open(path, name); err != nil {
		return nil, err
	}
	info = &load.SourceInfo{Warnings: warnings(list)}
	info.Rows, err = store(ctx, t, list, info.Warnings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return info, nil
}

// warnings are those of all benchmarks, each once, with the first benchmark that it is about where the file has several.
func warnings(list []Benchmark) (out []string) {
	type place struct{ first, more int }
	seen := map[string]*place{}
	var order []string
	for i, b := range list {
		for _, w := range b.Warnings {
			if p := seen[w]; p != nil {
				p.more++
				continue
			}
			seen[w], order = &place{first: i + 1}, append(order, w)
		}
	}
	for _, w := range order {
		switch p := seen[w]; {
		case len(list) == 1:
			out = append(out, w)
		case p.more == 0:
			out = append(out, fmt.Sprintf("benchmark %d: %s", p.first, w))
		default:
			out = append(out, fmt.Sprintf("benchmark %d and %d more: %s", p.first, p.more, w))
		}
	}
	return out
}

func store(ctx context.Context, t *load.Target, list []Benchmark, warnings []string) (stored int64, err error) {
	run, source := t.RunID, int32(t.SourceID)
	_, err = t.Append(ctx, "diagnostic", func(add rows.Add) error {
		for _, w := range warnings {
			if err := add(run, source, "ingest", "warning", nil, nil, w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	stored, err = t.Append(ctx, "serving_benchmark", func(add rows.Add) error {
		for i, b := range list {
			if err := add(run, source, int32(i+1), b.Tool, load.TextOrNull(b.Label), load.TextOrNull(b.Backend), load.TextOrNull(b.Model), load.TextOrNull(b.Date), load.OrNull(b.DurationNs), load.OrNull(b.Completed), load.OrNull(b.Failed),
				load.OrNull(b.InputTokens), load.OrNull(b.OutputTokens), load.OrNull(b.TargetRate), load.OrNull(b.Unlimited), load.OrNull(b.ConcurrencyLimit), load.OrNull(b.ConcurrencyMean), load.OrNull(b.RequestsPerS), load.OrNull(b.OutputTokensPerS), load.OrNull(b.TotalTokensPerS)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return stored, err
	}
	n, err := t.Append(ctx, "serving_benchmark_latency", func(add rows.Add) error {
		for i, b := range list {
			for _, l := range b.Latencies {
				row := []any{run, source, int32(i + 1), l.Metric, l.ReportedAs}
				for _, ns := range l.Ns {
					row = append(row, load.OrNull(ns))
				}
				if err := add(row...); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return stored + n, err
	}
	stored += n
	n, err = t.Append(ctx, "serving_request", func(add rows.Add) error {
		for i, b := range list {
			for k, q := range b.Requests {
				if err := add(run, source, int32(i+1), int32(k+1), load.OrNull(q.InputTokens), load.OrNull(q.OutputTokens), load.OrNull(q.TTFTNs), load.OrNull(q.AfterNs), load.OrNull(q.Gaps), load.OrNull(q.E2ENs)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return stored + n, err
}
