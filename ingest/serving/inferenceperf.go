package serving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// sniffInferencePerfRequests: a list of requests, of which the first says when it began and ended before all else.
func sniffInferencePerfRequests(_ string, head []byte) bool {
	text, isList := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("["))
	if !isList {
		return false
	}
	return sniffKeys(func(f fields) bool {
		return f.has("start_time", "end_time") && (bytes.Contains(text, []byte(`"request"`)) || bytes.Contains(text, []byte(`"info"`)))
	})("", text)
}

// inferencePerfRequests reads per_request_lifecycle_metrics.json of inference-perf: the requests of all stages.
func inferencePerfRequests(in io.Reader) ([]Benchmark, error) {
	p, err := newParser(in)
	if err != nil {
		return nil, err
	}
	p.f, p.items = fields{}, map[string]int{}
	all := gathered{tool: inferencePerf.form}
	if err := p.begin('['); err != nil {
		return nil, p.at(err)
	}
	if err := p.each(inferencePerfTimes, 1, func(q said, ok bool) error {
		if p.err == nil && (q.began == nil || q.E2ENs == nil) && ok {
			p.err = errors.New("it has no start_time or end_time")
		}
		if p.err != nil {
			return fmt.Errorf("request %d: %w", len(all.list)+1, p.err)
		}
		if ok && q.Gaps != nil && *q.Gaps < 1 { // as of one that was not streamed, or of a single token
			q.TTFTNs, q.AfterNs, q.tpot = nil, nil, nil
		}
		return all.add(q.Request, ok, q.tpot, 0)
	}); err != nil {
		return nil, p.at(err)
	}
	if _, err := p.token(); !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, p.at(errors.New("want nothing behind the list"))
	}
	b := all.benchmark()
	for i, l := range b.Latencies {
		b.Latencies[i].ReportedAs, _, _ = inferencePerf.times(nil, l.Metric)
		b.Latencies[i].Ns[1] = nil // which it does not compute
	}
	return []Benchmark{b}, nil
}
