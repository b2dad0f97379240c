package serving

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestSummaries: what is computed of the requests that aiperf 0.13 and genai-perf 0.0.16 recorded is what they sum up themselves.
func TestSummaries(t *testing.T) {
	for _, c := range []struct {
		requests, summary string
		latencies         []string
	}{
		{"aiperf/profile_export.jsonl", "aiperf/profile_export_aiperf.json", []string{"ttft", "tpot", "e2e"}},
		{"aiperf-whole/profile_export.jsonl", "aiperf-whole/profile_export_aiperf.json", []string{"e2e"}},
		{"genai-perf/profile_export.json", "genai-perf/profile_export_genai_perf.json", []string{"ttft", "e2e"}},
		{"genai-perf-whole/profile_export.json", "genai-perf-whole/profile_export_genai_perf.json", []string{"e2e"}},
	} {
		read := func(name, of string) Benchmark {
			t.Helper()
			list, err := form(t, of).open(folder+name, name)
			if err != nil || len(list) != 1 || len(list[0].Warnings) > 0 {
				t.Fatalf("%s: %+v, %v", name, list, err)
			}
			return list[0]
		}
		got, want := read(c.requests, samples[c.requests]), read(c.summary, "genai-perf")
		var has []string
		for _, l := range got.Latencies {
			has = append(has, l.Metric)
			at := slices.IndexFunc(want.Latencies, func(w Latency) bool { return w.Metric == l.Metric })
			if at < 0 {
				t.Fatalf("%s: the summary has no %s", c.summary, l.Metric)
			}
			w := want.Latencies[at]
			for i, statistic := range Statistics {
				if w.Ns[i] == nil && statistic == "p99.9" { // neither writes it
					continue
				}
				if w.Ns[i] == nil || math.Abs(*l.Ns[i]-*w.Ns[i]) > 1e-12**w.Ns[i] {
					t.Errorf("%s: %s of %s is %v, the summary has %v", c.requests, statistic, l.Metric, *l.Ns[i], shown(w.Ns[i]))
				}
			}
			if l.ReportedAs != w.ReportedAs {
				t.Errorf("%s: %s is called %s and %s", c.requests, l.Metric, l.ReportedAs, w.ReportedAs)
			}
		}
		if !slices.Equal(has, c.latencies) || got.Tool != want.Tool || *got.Completed != *want.Completed || int64(len(got.Requests)) < *got.Completed {
			t.Errorf("%s: latencies %q, tool %s, %d completed, want %q, %s, %d", c.requests, has, got.Tool, *got.Completed, c.latencies, want.Tool, *want.Completed)
		}
		if got.Tool == "aiperf" {
			// It keeps times since 1970 as float64, whose steps are 256 ns today.
			if want.Failed == nil { // without any
				want.Failed = new(int64)
			}
			if *got.Failed != *want.Failed || *got.InputTokens != *want.InputTokens || *got.OutputTokens != *want.OutputTokens || math.Abs(*got.DurationNs-*want.DurationNs) > 512 {
				t.Errorf("%s: %q, the summary has %q", c.requests, got.lines()[1], want.lines()[1])
			}
			continue
		}
		if math.Abs(*got.RequestsPerS-*want.RequestsPerS) > 1e-12**want.RequestsPerS || *got.ConcurrencyLimit != *want.ConcurrencyLimit {
			t.Errorf("%s: %q, the summary has %q", c.requests, got.lines()[1], want.lines()[1])
		}
	}
	for _, c := range []struct {
		values []float64
		want   string
	}{{[]float64{7}, "7 0 7 7 7 7 7 7 7"}, {[]float64{30, 10}, "20 10 10 20 28 29 29.8 29.980000000000004 30"}, {[]float64{1, 5, 2, 4, 3}, "3 1.4142135623730951 1 3 4.6 4.8 4.96 4.996 5"}} {
		var got []string
		for _, v := range statistics(c.values) {
			got = append(got, shown(v))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v: %s, want %s", c.values, text, c.want)
		}
	}
}

// lines are the requests of a benchmark: input and output tokens, first token, time after it, gaps, whole.
func (b Benchmark) requestLines() (out []string) {
	for _, q := range b.Requests {
		out = append(out, strings.Join([]string{shown(q.InputTokens), shown(q.OutputTokens), shown(q.TTFTNs), shown(q.AfterNs), shown(q.Gaps), shown(q.E2ENs)}, " "))
	}
	return out
}

// TestAIPerfRequests: warm-up is left out, failed and cancelled requests count as such, names of older versions are known.
func TestAIPerfRequests(t *testing.T) {
	record := func(metadata, metrics, rest string) string {
		return `{"metadata":{"request_start_ns":1000000000,` + metadata + `},"metrics":{` + metrics + `}` + rest + "}\n"
	}
	const profiling, streamed = `"benchmark_phase":"profiling"`, `"input_sequence_length":{"value":9,"unit":"tokens"},"output_sequence_length":{"value":3,"unit":"tokens"},"time_to_first_token":{"value":2,"unit":"ms"},"request_latency":{"value":6,"unit":"ms"},"inter_chunk_latency":{"value":[1,3],"unit":"ms"}`
	for name, c := range map[string]struct{ text, benchmark, requests, warnings string }{
		"streamed":       {record(profiling, streamed+`,"inter_token_latency":{"value":2,"unit":"ms"}`, ""), "1 0 9 3", "9 3 2e+06 4e+06 2 6e+06", ""},
		"warm-up":        {record(profiling, streamed, "") + record(`"benchmark_phase":"warmup"`, streamed, ""), "1 0 9 3", "9 3 2e+06 4e+06 2 6e+06", ""},
		"only warm-up":   {record(`"benchmark_phase":"warmup"`, streamed, ""), "0 0 - -", "", ""},
		"failed":         {record(profiling, `"error_isl":{"value":9,"unit":"tokens"}`, `,"error":{"code":503,"type":"x"}`) + record(profiling, streamed, `,"error":null`), "1 1 9 3", "9 0 - - - -; 9 3 2e+06 4e+06 2 6e+06", ""},
		"cancelled":      {record(profiling+`,"was_cancelled":true`, `"error_isl":{"value":9,"unit":"tokens"}`, `,"error":{"code":499}`), "0 1 - -", "9 0 - - - -", ""},
		"overflow":       {record(profiling+`,"context_overflow_skip":true`, streamed, "") + record(profiling, streamed, ""), "1 0 9 3", "9 3 2e+06 4e+06 2 6e+06", ""},
		"older names":    {record(`"credit_phase":"profiling"`, strings.Replace(streamed, "time_to_first_token", "ttft", 1), ""), "1 0 9 3", "9 3 2e+06 4e+06 2 6e+06", ""},
		"not streamed":   {record(profiling, `"output_sequence_length":{"value":3,"unit":"tokens"},"request_latency":{"value":6,"unit":"us"}`, ""), "1 0 - 3", "- 3 - - - 6000", ""},
		"one chunk":      {record(profiling, `"output_sequence_length":{"value":3,"unit":"tokens"},"time_to_first_token":{"value":6,"unit":"ms"},"request_latency":{"value":6,"unit":"ms"}`, ""), "1 0 - 3", "- 3 6e+06 0 0 6e+06", ""},
		"without chunks": {record(profiling, strings.Split(streamed, `,"inter_chunk`)[0], ""), "1 0 9 3", "9 3 2e+06 4e+06 - 6e+06", ""},
		"no content":     {record(profiling, `"input_sequence_length":{"value":9,"unit":"tokens"}`, ""), "1 0 9 -", "9 - - - - -", ""},
		"bundled": {record(profiling, streamed+`,"inter_token_latency":{"value":4,"unit":"ms"}`, ""), "1 0 9 3", "9 3 2e+06 - - 6e+06",
			"times between tokens of the requests are not stored: of 1, inter_token_latency is not (request_latency - time_to_first_token) / (output_sequence_length - 1), as with --per-chunk-usage"},
	} {
		if got := formsOf([]byte(c.text)); !slices.Equal(got, []string{"aiperf-requests"}) {
			t.Errorf("%s is taken for %q", name, got)
		}
		list, err := aiperfRequests(strings.NewReader(c.text))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", name, list, err)
		}
		b := list[0]
		got := [3]string{strings.Join([]string{shown(b.Completed), shown(b.Failed), shown(b.InputTokens), shown(b.OutputTokens)}, " "), strings.Join(b.requestLines(), "; "), strings.Join(b.Warnings, "; ")}
		if want := [3]string{c.benchmark, c.requests, c.warnings}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	whole := record(profiling, streamed, "")
	for text, want := range map[string]string{
		whole + whole[:40]: "record 2, behind byte 329: it ends inside an object: was it cut off?",
		whole + "[1]\n":    "record 2, behind byte 329: json: cannot unmarshal array",
		whole + strings.Replace(whole, `"value":6`, `"value":"x"`, 1):       "record 2, behind byte 329: json: invalid number literal",
		whole + strings.Replace(whole, `"value":9`, `"value":9.5`, 1):       "input_sequence_length is 9.5, want a whole number",
		whole + strings.Replace(whole, `"value":6`, `"value":-6`, 1):        `request_latency is "-6" "ms", want a number of 0 or more and its unit`,
		whole + strings.Replace(whole, `"value":[1,3]`, `"value":[[1]]`, 1): `inter_chunk_latency is "[[1]]", want a list of numbers`,
		strings.Replace(whole, "ms", "days", 1):                             `time_to_first_token is "2" "days"`,
		whole + `{"metadata": {}}`:                                          "record 2, behind byte 329: metadata has no benchmark_phase",
		"":                                                                  "record 1, behind byte 0: it ends inside an object",
	} {
		if list, err := aiperfRequests(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", text[max(0, len(text)-60):], list, err, want)
		}
	}
}

// TestGenAIPerfRequests: like genai-perf it takes the times of responses with text of the model.
func TestGenAIPerfRequests(t *testing.T) {
	const chunk = `{\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"a\"}}]}`
	const role, usage = `data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n`, `data: {\"object\":\"chat.completion.chunk\",\"choices\":[],\"usage\":{}}\n\n`
	request := func(times string, responses ...string) string {
		var outputs []string
		for _, r := range responses {
			outputs = append(outputs, `{"response":"`+r+`"}`)
		}
		return `{"timestamp":1000,"request_inputs":{"payload":"{\"stream\":true}"},"response_timestamps":[` + times + `],"response_outputs":[` + strings.Join(outputs, ",") + `]}`
	}
	file := func(mode, value string, requests ...string) string {
		return `{"experiments":[{"experiment":{"mode":"` + mode + `","value":` + value + `},"requests":[` + strings.Join(requests, ",") + `],"window_boundaries":[1,2]}],"version":"x","service_kind":"openai","endpoint":"v1/chat/completions"}`
	}
	for name, c := range map[string]struct{ text, benchmark, requests, warnings string }{
		"streamed":     {file("concurrency", "4", request("1100,1200,1500,1600", role, "data: "+chunk+`\n\n`, "data: "+chunk+`\n\n`, `data: [DONE]\n\n`)), "1 - 4 -", "- - 200 300 1 500", ""},
		"usage":        {file("concurrency", "4", request("1200,1500,1600", "data: "+chunk, "data: "+chunk, usage)), "1 - 4 -", "- - 200 300 1 500", ""},
		"events":       {file("concurrency", "4", request("1200,1500,1600", ": comment", `event: x`, role+"data: "+chunk)), "1 - 4 -", "- - 600 0 0 600", ""},
		"splintered":   {file("concurrency", "4", request("1200,1500,1600", "data: "+chunk[:20], chunk[20:]+`\n\n`+role, "data: "+chunk)), "1 - 4 -", "- - 200 400 1 600", ""},
		"cut text":     {file("concurrency", "4", request("1200,1500", "data: "+chunk[:20], "data: "+chunk)), "1 - 4 -", "- - 500 0 0 500", ""},
		"not streamed": {file("request_rate", "2.5", request("1500", chunk)), "1 - - 2.5", "- - - - - 500", ""},
		"completions":  {file("concurrency", "1", request("1200,1500", `data: {\"choices\":[{\"text\":\"a\"}]}`, `data: {\"choices\":[{\"text\":\"\"}]}`)), "1 - 1 -", "- - 200 0 0 200", ""},
		"generate":     {file("concurrency", "1", request("1200,1500,1600", `data: {\"text_output\":\"\"}`, `data: {\"text_output\":\"a\"}`, `data: {\"error\":\"x\"}`)), "1 - 1 -", "- - 500 0 0 500", ""},
		"embeddings":   {file("concurrency", "1", request("1500", `{\"data\":[{\"embedding\":[1]}]}`)), "1 - 1 -", "- - - - - 500", ""},
		"hugging face": {file("concurrency", "1", request("1500", `[{\"generated_text\":\"\"}]`)), "1 - 1 -", "- - - - - 500", ""},
		"scheduled":    {file("request_rate", "0.0", request("1500", chunk)), "1 - - -", "- - - - - 500", ""},
		"no outputs":   {file("concurrency", "2", `{"timestamp":1000,"response_timestamps":[1100,1200]}`), "1 - 2 -", "- - 100 100 1 200", ""},
		"triton":       {file("concurrency", "2", `{"timestamp":1000,"response_timestamps":[1100,1200],"response_outputs":[{"text_output":""},{"output_ids":[1,2]}]}`), "1 - 2 -", "- - 100 100 1 200", ""},
		"no text":      {file("concurrency", "2", request("1100,1200", role, role), request("1500", chunk)), "1 - 2 -", "- 0 - - - -; - - 500 0 0 500", "1 requests got no text: as in genai-perf's figures, they count in requests per second alone"},
		"set back":     {file("concurrency", "2", request("900,1200", chunk, chunk)), "1 - 2 -", "- - - - - -", "the times of 1 requests are not stored: a response came before it was asked for, as when the clock is set back"},
	} {
		if got := formsOf([]byte(c.text)); !slices.Equal(got, []string{"genai-perf-requests"}) {
			t.Errorf("%s is taken for %q", name, got)
		}
		list, err := genaiPerfRequests(strings.NewReader(c.text))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v, %v", name, list, err)
		}
		b := list[0]
		got := [3]string{strings.Join([]string{shown(b.Completed), shown(b.Failed), shown(b.ConcurrencyLimit), shown(b.TargetRate)}, " "), strings.Join(b.requestLines(), "; "), strings.Join(b.Warnings, "; ")}
		if want := [3]string{c.benchmark, c.requests, c.warnings}; got != want || b.Backend != "openai" || b.Tool != "genai-perf" {
			t.Errorf("%s: %q, want %q; %s by %s", name, got, want, b.Backend, b.Tool)
		}
	}
	two := file("concurrency", "1", request("1500", chunk))
	two = strings.Replace(two, `}],"version"`, `},{"experiment":{"mode":"concurrency","value":2},"requests":[`+request("1500", chunk)+`]}],"version"`, 1)
	if list, err := genaiPerfRequests(strings.NewReader(two)); err != nil || len(list) != 2 || *list[1].ConcurrencyLimit != 2 || list[1].Backend != "openai" {
		t.Errorf("two experiments: %+v, %v", list, err)
	}
	whole := file("concurrency", "4", request("1200,1500", "data: "+chunk, "data: "+chunk))
	for text, want := range map[string]string{
		whole[:300]: "it ends inside an object: was it cut off?",
		"[]":        "byte 1: want a {",
		strings.Replace(whole, "1200,1500", "1200", 1):                               "byte 404: request 1: it has 1 response_timestamps and 2 response_outputs",
		strings.Replace(whole, "1200", "-5", 1):                                      `request 1: a response_timestamp is -5, want ns since 1970`,
		strings.Replace(whole, "1200", `{"a":1}`, 1):                                 `request 1: json: cannot unmarshal object`,
		strings.Replace(whole, `"timestamp":1000,`, "", 1):                           "request 1: it has no timestamp",
		strings.Replace(whole, `"response_outputs":[`, `"response_outputs":[[],`, 1): "request 1: json: cannot unmarshal array",
		strings.Replace(whole, `"value":4`, `"value":4.5`, 1):                        "experiment/value is 4.5, want a whole number",
		strings.Replace(whole, `"requests":[`, `"requests":{"a":[`, 1):               "want a [",
	} {
		if list, err := genaiPerfRequests(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %q", text, list, err, want)
		}
	}
}

// TestRequestsBounded: a request has no more responses than one can wait for, and a text no more bytes.
func TestRequestsBounded(t *testing.T) {
	many := sentRequest{Timestamp: 1}
	for range 200_000 { // each seems to be the end of the one before it
		many.Times, many.Outputs = append(many.Times, 2), append(many.Outputs, struct{ Response any }{"x data:"})
	}
	if got := many.withText(); len(got) != 0 {
		t.Errorf("%d of the pieces have text", len(got))
	}
	head := `{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[{"timestamp":1,"response_timestamps":[`
	if _, err := genaiPerfRequests(io.MultiReader(strings.NewReader(head+`1],"response_outputs":[{"response":"`), &repeated{text: "x"})); err == nil || !strings.Contains(err.Error(), "request 1: it is longer than 64 MiB") {
		t.Errorf("a text without an end: %v", err)
	}
	if _, err := aiperfRequests(io.MultiReader(strings.NewReader(`{"metadata":{"benchmark_phase":"profiling","a":"`), &repeated{text: "x"})); err == nil || !strings.Contains(err.Error(), "record 1, behind byte 0: it is longer than 64 MiB") {
		t.Errorf("a text without an end: %v", err)
	}
	if got := wholeOf(folder + "aiperf/phases/warmup/profile_export_aiperf.json"); got != "../../testdata/serving/aiperf/profile_export_aiperf.json" {
		t.Errorf("a phase is of %q", got)
	}
	if got := wholeOf("phases/warmup/profile_export_aiperf.json") + wholeOf(folder+"aiperf/warmup/profile_export_aiperf.json"); got != "" {
		t.Errorf("what is no phase is of %q", got)
	}
}

// repeated is a text without an end.
type repeated struct{ text string }

func (r *repeated) Read(p []byte) (int, error) {
	n := 0
	for n+len(r.text) <= len(p) {
		n += copy(p[n:], r.text)
	}
	return n, nil
}

func BenchmarkGenAIPerfRequests(b *testing.B) {
	head, rest, _ := strings.Cut(string(sample(b, "genai-perf/profile_export.json")), `"requests":[`)
	one, end, _ := strings.Cut(rest, `],"window_boundaries"`)
	text := head + `"requests":[` + strings.Repeat(one+",", 50) + one + `],"window_boundaries"` + end
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if list, err := genaiPerfRequests(strings.NewReader(text)); err != nil || len(list[0].Requests) != 51*20 {
			b.Fatal(fmt.Sprint(len(list), err))
		}
	}
}

func BenchmarkAIPerfRequests(b *testing.B) {
	text := strings.Repeat(string(sample(b, "aiperf/profile_export.jsonl")), 30)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if list, err := aiperfRequests(strings.NewReader(text)); err != nil || len(list[0].Requests) != 900 {
			b.Fatal(fmt.Sprint(len(list), err))
		}
	}
}
