package diff

import (
	"fmt"
	"strings"
	"testing"

	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
)

// served is a benchmark at so many requests at once, with requests whose TTFT spreads by 10 % around it.
func served(concurrency string, ttft, rate float64, requests int) benchmark {
	b := benchmark{serving.Load{Concurrency: concurrency}, "vllm-bench", map[string]float64{"ttft_p50_ns": ttft, "output_tokens_per_s": rate}, map[string][]float64{}}
	for i := range requests {
		b.samples["ttft"] = append(b.samples["ttft"], ttft*(0.95+0.1*float64(i*37%requests)/float64(requests)))
	}
	return b
}

// TestServing holds what benchmarks tell: several a side are samples, one a side has the interval of its requests and no verdict, and loads of one side are listed.
func TestServing(t *testing.T) {
	several := func(concurrency string, ttft, rate float64) (out []benchmark) {
		for _, f := range []float64{0.999, 1, 1.001, 1.0005} {
			out = append(out, served(concurrency, ttft*f, rate*f, 0))
		}
		return out
	}
	noise := stats.DefaultOptions()
	noise.Noise = stats.AssumeNoise(0.03)
	for name, c := range map[string]struct {
		a, b    []benchmark
		o       stats.Options
		figures string
		verdict string
	}{
		"worse":         {several("8", 100, 50), several("8", 110, 45), stats.DefaultOptions(), "ttft_p50_ns worse of benchmarks, output_tokens_per_s worse of benchmarks", "worse: serving worse: concurrency=8 ttft_p50_ns +"},
		"better":        {several("8", 110, 45), several("8", 100, 50), stats.DefaultOptions(), "ttft_p50_ns better of benchmarks, output_tokens_per_s better of benchmarks", "better: serving better: "},
		"mixed":         {several("8", 100, 45), several("8", 110, 50), stats.DefaultOptions(), "ttft_p50_ns worse of benchmarks, output_tokens_per_s better of benchmarks", "cannot tell: serving better in some, worse in others: "},
		"unchanged":     {several("8", 100, 50), several("8", 100, 50), stats.DefaultOptions(), "ttft_p50_ns no change of benchmarks, output_tokens_per_s no change of benchmarks", "no change: serving unchanged"},
		"one each":      {[]benchmark{served("8", 100, 50, 0)}, []benchmark{served("8", 200, 25, 0)}, stats.DefaultOptions(), "ttft_p50_ns cannot tell of " + ofOne + ", output_tokens_per_s cannot tell of " + ofOne, "cannot tell: serving: no figure changed for sure"},
		"requests":      {[]benchmark{served("8", 100, 50, 200)}, []benchmark{served("8", 110, 50, 200)}, stats.DefaultOptions(), "ttft_p50_ns cannot tell of requests, output_tokens_per_s cannot tell of " + ofOne, "cannot tell: serving: no figure changed for sure"},
		"assumed noise": {[]benchmark{served("8", 100, 50, 200)}, []benchmark{served("8", 110, 50, 200)}, noise, "ttft_p50_ns worse of requests, output_tokens_per_s no change of " + ofOne, "worse: serving worse: concurrency=8 ttft_p50_ns +10 %"},
		"other loads":   {several("8", 100, 50), several("16", 100, 50), stats.DefaultOptions(), "", "cannot tell: no load that both sides were benchmarked under"},
	} {
		r := &Result{Options: Options{Stats: c.o}}
		r.compareServing(c.a, c.b)
		var got []string
		loads := 0
		for _, l := range r.Serving {
			loads += l.A + l.B
			for _, f := range l.Figures {
				got = append(got, fmt.Sprintf("%s %s of %s", f.Name, f.Verdict, f.Basis))
				said.Add(f.Comparison.Why)
			}
		}
		verdict, words := r.servingVerdict()
		said.Add(words)
		if strings.Join(got, ", ") != c.figures || !strings.HasPrefix(string(verdict)+": "+words, c.verdict) || loads != len(c.a)+len(c.b) {
			t.Errorf("%s: %q, %s: %s; want %s, %s", name, got, verdict, words, c.figures, c.verdict)
		}
	}
}
