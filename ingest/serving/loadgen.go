package serving

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"prof/ingest/load"
	"prof/internal/file"
)

// maxSummary bounds a summary of LoadGen, which has some 100 lines.
const maxSummary = 1 << 20

const loadGenTitle = "MLPerf Results Summary"

func sniffLoadGen(_ string, head []byte) bool {
	return bytes.Contains(head, []byte("\n"+loadGenTitle)) && bytes.Contains(head, []byte("\nScenario : "))
}

// readLoadGen reads lines of "name : value". A name that is there twice has the same value: its first is taken.
func readLoadGen(in io.Reader) ([]Benchmark, error) {
	text, err := file.ReadAll(in, "the summary", maxSummary)
	if err != nil {
		return nil, err
	}
	values, lines := map[string]string{}, map[string]int{}
	s := bufio.NewScanner(bytes.NewReader(text))
	s.Buffer(nil, maxSummary+1)
	for n := 1; s.Scan(); n++ {
		name, value, ok := strings.Cut(s.Text(), ":")
		name = strings.ToLower(strings.TrimSpace(name))
		if _, twice := values[name]; ok && !twice {
			values[name], lines[name] = strings.TrimSpace(value), n
		}
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	var wrong error
	number := func(names ...string) *float64 {
		for _, name := range names {
			value, ok := values[name]
			if !ok {
				continue
			}
			f, err := load.Scaled(value, 0)
			if err != nil || !(f >= 0) {
				wrong = errors.Join(wrong, fmt.Errorf("line %d: %s is %.40q, want a number of 0 or more", lines[name], name, value))
				return nil
			}
			return &f
		}
		return nil
	}
	if mode := values["mode"]; !strings.HasPrefix(mode, "Performance") {
		return nil, fmt.Errorf("line %d: mode is %.40q: only a run for performance measures a load", lines["mode"], mode)
	}
	b := Benchmark{Tool: "mlperf-loadgen", Label: values["scenario"], Backend: values["sut name"]}
	b.RequestsPerS = number("completed samples per second", "samples per second", "qps w/ loadgen overhead")
	b.OutputTokensPerS = number("completed tokens per second", "tokens per second", "tps w/ loadgen overhead")
	if b.Label == "Server" {
		b.TargetRate = number("target_qps")
	}
	if b.TargetRate != nil {
		b.Unlimited = new(false)
	}
	for _, m := range [][2]string{{"ttft", "first token latency"}, {"tpot", "time to output token"}, {"e2e", "latency"}} {
		l := Latency{Metric: m[0], ReportedAs: m[1]}
		for i, begin := range [...]string{"mean ", "", "min ", "50.00 percentile ", "90.00 percentile ", "95.00 percentile ", "99.00 percentile ", "99.90 percentile ", "max "} {
			l.Ns[i] = number(begin + m[1] + " (ns)")
		}
		b.add(l)
	}
	if values["result is"] == "INVALID" {
		b.Warnings = append(b.Warnings, "LoadGen calls this result INVALID: it does not meet the rules of MLPerf")
	}
	if wrong == nil && b.RequestsPerS == nil && len(b.Latencies) == 0 {
		wrong = errors.New("it has neither samples per second nor latencies: was it cut off?")
	}
	return []Benchmark{b}, wrong
}
