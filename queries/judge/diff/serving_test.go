package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/frame/frametest"
	"prof/queries/judge/serving"
	"prof/queries/judge/stats"
)

// served is a benchmark at so many requests at once, with requests whose TTFT spreads by 10 % around it.
func served(concurrency string, ttft, rate float64, requests int) benchmark {
	b := benchmark{load: serving.Load{Concurrency: concurrency}, tool: "vllm-bench", figures: map[string]float64{"ttft_p50_ns": ttft, "output_tokens_per_s": rate}, samples: map[string][]float64{}}
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
	failing := func(list []benchmark, failed int64) []benchmark {
		for i := range list {
			list[i].sent = serving.Sent{Completed: 100 - failed, Failed: failed, Known: true}
		}
		return list
	}
	noise := stats.DefaultOptions()
	noise.Noise = stats.AssumeNoise(0.03)
	for name, c := range map[string]struct {
		a, b    []benchmark
		o       stats.Options
		figures string
		verdict string
	}{
		"worse":         {several("8", 100, 50), several("8", 110, 45), stats.DefaultOptions(), "ttft_p50_ns worse of benchmarks, output_tokens_per_s worse of benchmarks", "worse: serving worse: output tokens/s -10 %, TTFT p50 +10 % (concurrency=8)"},
		"better":        {several("8", 110, 45), several("8", 100, 50), stats.DefaultOptions(), "ttft_p50_ns better of benchmarks, output_tokens_per_s better of benchmarks", "better: serving better: "},
		"mixed":         {several("8", 100, 45), several("8", 110, 50), stats.DefaultOptions(), "ttft_p50_ns worse of benchmarks, output_tokens_per_s better of benchmarks", "cannot tell: serving worse: TTFT p50 +10 % (concurrency=8); better: output tokens/s +11"},
		"unchanged":     {several("8", 100, 50), several("8", 100, 50), stats.DefaultOptions(), "ttft_p50_ns no change of benchmarks, output_tokens_per_s no change of benchmarks", "no change: serving unchanged"},
		"one each":      {[]benchmark{served("8", 100, 50, 0)}, []benchmark{served("8", 200, 25, 0)}, stats.DefaultOptions(), "ttft_p50_ns cannot tell of " + ofOne + ", output_tokens_per_s cannot tell of " + ofOne, "cannot tell: serving: cannot tell, one benchmark on each side"},
		"scattered":     {[]benchmark{served("8", 100, 50, 0), served("8", 130, 40, 0)}, []benchmark{served("8", 105, 48, 0), served("8", 140, 42, 0)}, stats.DefaultOptions(), "ttft_p50_ns cannot tell of benchmarks, output_tokens_per_s cannot tell of benchmarks", "cannot tell: serving: no significant change"},
		"requests":      {[]benchmark{served("8", 100, 50, 200)}, []benchmark{served("8", 110, 50, 200)}, stats.DefaultOptions(), "ttft_p50_ns cannot tell of requests, output_tokens_per_s cannot tell of " + ofOne, "cannot tell: serving: cannot tell, one benchmark on each side"},
		"assumed noise": {[]benchmark{served("8", 100, 50, 200)}, []benchmark{served("8", 110, 50, 200)}, noise, "ttft_p50_ns worse of requests, output_tokens_per_s no change of " + ofOne, "worse: serving worse: TTFT p50 +10 % (concurrency=8)"},
		"more failed":   {failing(several("8", 110, 45), 0), failing(several("8", 100, 50), 50), stats.DefaultOptions(), "ttft_p50_ns cannot tell of benchmarks, output_tokens_per_s cannot tell of benchmarks", "cannot tell: serving: more requests failed: 0 → 200 of 400 (concurrency=8)"},
		"fewer failed":  {failing(several("8", 110, 45), 50), failing(several("8", 100, 50), 0), stats.DefaultOptions(), "ttft_p50_ns better of benchmarks, output_tokens_per_s better of benchmarks", "better: serving better: "},
		"failed, worse": {failing(several("8", 100, 50), 0), failing(several("8", 110, 45), 1), stats.DefaultOptions(), "ttft_p50_ns worse of benchmarks, output_tokens_per_s worse of benchmarks", "worse: serving worse: "},
		"other loads":   {several("8", 100, 50), several("16", 100, 50), stats.DefaultOptions(), "", "cannot tell: no load that both sides were benchmarked under"},
	} {
		r := &Result{Options: Options{Stats: c.o}}
		r.compareServing(c.a, c.b, nil)
		var got []string
		loads := 0
		for _, l := range r.Serving {
			loads += l.A + l.B
			for _, f := range l.Figures {
				got = append(got, fmt.Sprintf("%s %s of %s", f.Name, f.Verdict, f.Basis))
				said.Add(f.Comparison.Why)
			}
		}
		verdict, words, _ := r.servingVerdict()
		said.Add(words)
		if strings.Join(got, ", ") != c.figures || !strings.HasPrefix(string(verdict)+": "+words, c.verdict) || loads != len(c.a)+len(c.b) {
			t.Errorf("%s: %q, %s: %s; want %s, %s", name, got, verdict, words, c.figures, c.verdict)
		}
	}
}

// TestServingVerdicts: benchmarks have a say in the verdict of runs that have stages too, and one-sided benchmarks have none.
func TestServingVerdicts(t *testing.T) {
	for _, c := range []struct{ stages, serving, want Verdict }{
		{NoChange, Worse, Worse}, {Better, Worse, CannotTell}, {Worse, Worse, Worse}, {CannotTell, Better, Better}, {Better, CannotTell, Better}, {NoChange, CannotTell, CannotTell}, {NoChange, NoChange, NoChange},
	} {
		if got := both(c.stages, c.serving); got != c.want {
			t.Errorf("stages %s and serving %s are %s, want %s", c.stages, c.serving, got, c.want)
		}
	}
	r := &Result{Options: Options{Stats: stats.DefaultOptions()}, Stages: []Stage{{Name: "decode"}}, Verdict: NoChange, Words: "decode unchanged"}
	var a, b []benchmark
	for _, f := range []float64{0.999, 1, 1.001, 1.0005} {
		a, b = append(a, served("8", 100*f, 50*f, 0)), append(b, served("8", 130*f, 50*f, 0))
	}
	r.compareServing(a, nil, nil)
	if r.addServing(); r.Verdict != NoChange || r.Words != "decode unchanged" {
		t.Errorf("with benchmarks of one side %s: %s", r.Verdict, r.Words)
	}
	r.Serving = nil
	r.compareServing(a, b, nil)
	if r.addServing(); r.Verdict != Worse || r.Words != "decode unchanged; serving worse: TTFT p50 +30 % (concurrency=8)" {
		t.Errorf("with benchmarks %s: %s", r.Verdict, r.Words)
	}
}

// TestServingLine: the line names three figures of a load, those that changed most, and the load once.
func TestServingLine(t *testing.T) {
	l := ServingLoad{Load: "concurrency=8", A: 1, B: 1}
	for i, name := range []string{"ttft_mean_ns", "ttft_p50_ns", "tpot_p99_ns", "e2e_p99_ns", "requests_per_s"} {
		l.Figures = append(l.Figures, ServingFigure{Name: name, Verdict: Worse, Comparison: stats.Comparison{Effect: new(0.1 * float64(1+i))}})
	}
	r := &Result{Serving: []ServingLoad{l}}
	if _, words, _ := r.servingVerdict(); words != "serving worse: requests/s +50 %, E2E p99 +40 %, TPOT p99 +30 % and 2 more (concurrency=8)" {
		t.Error(words)
	}
}

// TestRequestChange: the change of requests lies in its interval, whatever their medians are, and has no p of its own.
func TestRequestChange(t *testing.T) {
	a, b := served("8", 100, 50, 0), served("8", 100, 50, 0)
	for i := range 60 { // two humps: the medians are one in each
		low, high := 100+float64(i)/100, 200+float64(i)/100
		if i < 31 {
			a.samples["ttft"], b.samples["ttft"] = append(a.samples["ttft"], low), append(b.samples["ttft"], high)
		} else {
			a.samples["ttft"], b.samples["ttft"] = append(a.samples["ttft"], high), append(b.samples["ttft"], low)
		}
	}
	r := &Result{Options: Options{Stats: stats.DefaultOptions()}}
	r.compareServing([]benchmark{a}, []benchmark{b}, nil)
	c := r.Serving[0].Figures[0].Comparison
	if c.Effect == nil || c.Low == nil || *c.Effect < *c.Low || *c.Effect > *c.High || *c.Effect > 0.9 || c.JudgedP() != nil {
		t.Errorf("change %v between %v and %v, p %v", *c.Effect, *c.Low, *c.High, c.JudgedP())
	}
}

// pastOf makes an answer of serving-noise: of each text a run, its code, requests at once, tool, and TTFT p50 in ms and output tokens per second.
func pastOf(t *testing.T, texts ...string) []pastBenchmark {
	t.Helper()
	f := frametest.Answer("serving-noise", "group_name run_id concurrency_limit_count")
	for _, name := range slices.Concat(servingRates, latencyFigures()) {
		f.Columns = append(f.Columns, frame.Column{Name: name, Type: frame.Float})
	}
	for _, text := range texts {
		v := strings.Fields(text)
		row := make([]any, len(f.Columns))
		for i, name := range []string{"run_id", "group_name", "concurrency_limit_count", "tool", "ttft_p50_ns", "output_tokens_per_s"} {
			row[f.Index(name)] = v[i]
			if n, err := strconv.ParseFloat(v[i], 64); err == nil && i > 1 {
				row[f.Index(name)] = n
			}
		}
		f.Rows = append(f.Rows, row)
	}
	past, err := addPast(nil, f)
	if err == nil {
		past, err = addPast(past, f) // as both sides ask
	}
	if err != nil || len(past) != len(texts) {
		t.Fatalf("%d of %d: %v", len(past), len(texts), err)
	}
	return past
}

// TestServingHistory: earlier benchmarks of the same load, tool and code say how much one varies, and so what one benchmark a side shows.
func TestServingHistory(t *testing.T) {
	var known []string // TTFT and throughput that vary by some 1 %, of two commits at different levels
	for i, f := range []float64{0.99, 1.01, 1, 0.995, 1.005, 0.99, 1.01, 1} {
		code, level := "commit one, driver 1", 100.0
		if i >= 4 {
			code, level = "commit two, driver 1", 150
		}
		known = append(known, fmt.Sprintf("run%d %s 8 vllm-bench %g %g", i, strings.ReplaceAll(code, " ", "_"), level*f, 500*f))
	}
	add := func(texts ...string) []string { return append(slices.Clone(known), texts...) }
	for name, c := range map[string]struct {
		past           []string
		ttft, rate     float64 // of B, where A has 100 and 500
		requests       int
		verdicts, line string
		noted          string
	}{
		"no history":             {nil, 110, 500, 0, "cannot tell, cannot tell", "serving: cannot tell, one benchmark on each side does not show how much benchmarks vary", ""},
		"within the margin":      {known, 101, 497, 0, "no change, no change", "serving unchanged", "up to 4.6 %, of TTFT p50 (from 8 runs of 2 commits)"},
		"within the spread":      {known, 104, 497, 0, "cannot tell, no change", "serving: no significant change", "up to 4.6 %, of TTFT p50 (from 8 runs of 2 commits)"},
		"beyond it":              {known, 110, 497, 0, "worse, no change", "serving worse: TTFT p50 +10 % (concurrency=8)", "up to 4.6 %, of TTFT p50 (from 8 runs of 2 commits)"},
		"better":                 {known, 90, 560, 0, "better, better", "serving better: output tokens/s +12 %, TTFT p50 -10 % (concurrency=8)", "up to 4.6 %"},
		"requests, in spread":    {known, 104, 480, 200, "cannot tell, cannot tell", "serving: no significant change", "up to 4.6 %"},
		"requests, beyond":       {known, 110, 497, 200, "worse, no change", "serving worse: TTFT p50 +10 % (concurrency=8)", "up to 4.6 %"},
		"of another load":        {[]string{"x1 c 16 vllm-bench 100 500", "x2 c 16 vllm-bench 101 501", "x3 c 16 vllm-bench 99 499"}, 110, 500, 0, "cannot tell, cannot tell", "serving: cannot tell, one benchmark on each side", ""},
		"by another tool":        {[]string{"x1 c 8 aiperf 100 500", "x2 c 8 aiperf 101 501", "x3 c 8 aiperf 99 499"}, 110, 500, 0, "cannot tell, cannot tell", "serving: cannot tell, one benchmark on each side", ""},
		"one run of each code":   {[]string{"x1 c 8 vllm-bench 100 500", "x2 d 8 vllm-bench 101 501"}, 110, 500, 0, "cannot tell, cannot tell", "serving: cannot tell, one benchmark on each side", ""},
		"copies":                 {[]string{"x1 c 8 vllm-bench 100 500", "x2 c 8 vllm-bench 100 500"}, 110, 500, 200, "cannot tell, cannot tell", "serving: cannot tell, one benchmark on each side", ""},
		"those that it compares": {[]string{"idA c 8 vllm-bench 100 500", "idB c 8 vllm-bench 100.5 501"}, 110, 500, 0, "cannot tell, cannot tell", "serving: cannot tell, one benchmark on each side", ""},
		"several of a run":       {add("run0 commit_one,_driver_1 8 vllm-bench 300 900"), 110, 497, 0, "worse, no change", "serving worse: TTFT p50 +10 %", "from 8 runs of 2 commits"},
	} {
		a, b := served("8", 100, 500, c.requests), served("8", c.ttft, c.rate, c.requests)
		a.run.ID, b.run.ID = "idA", "idB"
		r := &Result{Options: Options{Stats: stats.DefaultOptions()}}
		r.compareServing([]benchmark{a}, []benchmark{b}, pastOf(t, c.past...))
		r.addServing()
		said.Add(r)
		var got []string
		for _, f := range r.Serving[0].Figures {
			got = append(got, string(f.Verdict))
		}
		note := strings.Join(r.Notes, "; ")
		if text := strings.Join(got, ", "); text != c.verdicts || !strings.HasPrefix(r.Words, c.line) || (note != "") != (c.noted != "") || !strings.HasSuffix(note, c.noted) && !strings.Contains(note, c.noted) {
			t.Errorf("%s: %s; %s; %q, want %s; %s; %q; %+v", name, text, r.Words, note, c.verdicts, c.line, c.noted, r.Serving[0].Figures)
		}
		if note != "" && !strings.HasPrefix(note, "noise between benchmarks of this workload on this machine under concurrency=8: up to ") {
			t.Errorf("%s: the note is %q", name, note)
		}
	}
}
