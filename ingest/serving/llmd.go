package serving

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"prof/ingest/load"
	"prof/internal/file"
)

// llmdKeys are of a benchmark report of llm-d from version 0.2 on.
var llmdKeys = regexp.MustCompile(`(?m)^results:[ \t]*\r?\n(?:[ \t]+.*\n)*?[ \t]+request_performance:[ \t]*\r?$`)

func sniffLLMD(_ string, head []byte) bool { return llmdKeys.Match(head) }

// llmd is the report as a table, of what any tool measured that wrote it; each object of figures has its units.
var llmd = generator{
	form: "llm-d",
	names: "label=scenario/load/standardized/tool model=scenario/stack/0/standardized/model/name date=run/time/start failed=results/request_performance/aggregate/requests/failures " +
		"request_rate=scenario/load/standardized/rate_qps max_concurrency=scenario/load/standardized/concurrency",
	times: llmdTimes,
	also:  (*parser).llmd,
}

func llmdTimes(f fields, metric string) (string, unit, [len(Statistics)]string) {
	const of = "results/request_performance/aggregate/latency/"
	called := map[string]string{"ttft": "time_to_first_token", "tpot": "time_per_output_token", "itl": "inter_token_latency", "e2e": "request_latency"}[metric]
	if isPerRequest := f["scenario/load/standardized/tool"] == guidellm.form; isPerRequest && metric == "tpot" {
		called = "inter_token_latency" // GuideLLM's
	} else if metric == "itl" && (isPerRequest || !f.has(of+"time_per_output_token/units") && !f.has("scenario/load/standardized/tool")) {
		return "", 0, [len(Statistics)]string{}
	}
	power := powers[fmt.Sprint(f[of+called+"/units"])]
	return timeTable(map[unit]string{unit(power): metric + "=" + of + called}, "mean stddev min p50 p90 p95 p99 p99p9 max")(f, metric)
}

// llmd reads what has units, and what a table does not say.
func (p *parser) llmd() {
	const of = "results/request_performance/aggregate/"
	if version := fmt.Sprint(p.f["version"]); !strings.HasPrefix(version+".", "0.2.") {
		p.wrong("version", "0.2, or a later one of 0.2")
	}
	rate := func(name, units string) *float64 {
		name = of + "throughput/" + name
		if p.f.has(name+"/mean") && p.f[name+"/units"] != units {
			p.wrong(name+"/units", units)
		}
		return p.number(0, name+"/mean")
	}
	p.b.RequestsPerS, p.b.OutputTokensPerS, p.b.TotalTokensPerS = rate("request_rate", "queries/s"), rate("output_token_rate", "tokens/s"), rate("total_token_rate", "tokens/s")
	for _, metric := range Metrics {
		if at, _, names := llmdTimes(p.f, metric); at != "" && p.f.has(names[0]) {
			units := strings.TrimSuffix(names[0], "mean") + "units"
			if power := powers[p.text(units)]; power == 0 {
				p.wrong(units, "ms, s, ms/token or s/token")
			}
		}
	}
	if total := p.count(of + "requests/total"); total != nil && p.b.Failed != nil {
		completed := *total - *p.b.Failed
		if incomplete := p.count(of + "requests/incomplete"); incomplete != nil {
			completed -= *incomplete
		}
		if p.b.Completed = &completed; completed < 0 {
			p.wrong(of+"requests/total", "no fewer than failures and incomplete")
		}
	}
	if s, ok := isoSeconds(p.text("run/time/duration")); ok {
		p.f["run/time/seconds"] = json.Number(s)
		p.b.DurationNs = p.number(9, "run/time/seconds")
	}
	const gaps = of + "latency/inter_token_latency/units"
	if p.f.has(gaps) && !p.f.has("scenario/load/standardized/tool") && !p.f.has(of+"latency/time_per_output_token/units") {
		p.warn("inter_token_latency is not stored: without scenario.load.standardized.tool it may be of requests or of single tokens")
	}
}

// isoDuration is a duration in hours, minutes and seconds as ISO 8601 writes it.
var isoDuration = regexp.MustCompile(`^PT(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d+)?)S)?$`)

// isoSeconds are the seconds of a duration, as exact as it is written where it has seconds alone.
func isoSeconds(text string) (seconds string, ok bool) {
	m := isoDuration.FindStringSubmatch(text)
	if m == nil || text == "PT" {
		return "", false
	}
	if m[1] == "" && m[2] == "" {
		return m[3], true
	}
	sum := 0.0
	for i, factor := range []float64{3600, 60, 1} {
		v, _ := strconv.ParseFloat(m[i+1], 64) // what is not there is 0
		sum += factor * v
	}
	return strconv.FormatFloat(sum, 'f', -1, 64), true
}

// readLLMD reads a report.
func readLLMD(in io.Reader) ([]Benchmark, error) {
	text, err := file.ReadAll(in, "the report", load.MaxYAML)
	if err != nil {
		return nil, err
	}
	tree, err := load.YAML(text, func(keys []string, values []any) map[string]any {
		out := map[string]any{}
		for i, key := range keys {
			out[key] = values[i]
		}
		return out
	})
	if err != nil {
		return nil, err
	}
	p := &parser{f: fields{}}
	if err := p.flatten("", tree); err != nil {
		return nil, err
	}
	if llmd.read(p); p.err == nil && len(p.b.Latencies) == 0 && p.b.RequestsPerS == nil {
		p.err = errors.New("it has neither latencies nor a rate of requests")
	}
	return []Benchmark{p.b}, p.err
}

// flatten keeps the values of a tree by their names.
func (p *parser) flatten(name string, v any) error {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if err := p.flatten(join(name, key), inner); err != nil {
				return err
			}
		}
	case []any:
		for i, inner := range v[:min(len(v), keptItems)] {
			if err := p.flatten(join(name, strconv.Itoa(i)), inner); err != nil {
				return err
			}
		}
	default:
		if len(p.f) == maxFields {
			return fmt.Errorf("it has more than %d values", maxFields)
		}
		p.f[name] = v
	}
	return nil
}
