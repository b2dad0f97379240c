package serving

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"prof/ingest/load"
)

// isAIPerfRequests: each record has metadata of one request, and either its metrics or its error.
func isAIPerfRequests(f fields) bool {
	return f.hasAny("metadata/benchmark_phase", "metadata/credit_phase") && !f.hasAny("status", "payload/model", "payload/messages/0/role")
}

// aiperfRecord is what is read of a record (aiperf/common/models/record_models.py).
type aiperfRecord struct {
	Metadata struct {
		Phase   string `json:"benchmark_phase"`
		Phase01 string `json:"credit_phase"` // of aiperf 0.1, like the other names with 01
		Start   int64  `json:"request_start_ns"`
		Start01 int64  `json:"timestamp_ns"`
		Skipped bool   `json:"context_overflow_skip"`
	}
	Metrics struct {
		Input       *aiperfMetric               `json:"input_sequence_length"`
		FailedInput *aiperfMetric               `json:"error_isl"`
		Output      *aiperfMetric               `json:"output_sequence_length"`
		TTFT        *aiperfMetric               `json:"time_to_first_token"`
		TTFT01      *aiperfMetric               `json:"ttft"`
		E2E         *aiperfMetric               `json:"request_latency"`
		TPOT        *aiperfMetric               `json:"inter_token_latency"`
		Chunks      *struct{ Value listLength } `json:"inter_chunk_latency"`
	}
	Error json.RawMessage
}

// aiperfMetric is a number with its unit.
type aiperfMetric struct {
	Value json.Number
	Unit  string
}

// listLength is how many numbers a list has.
type listLength int32

func (n *listLength) UnmarshalJSON(text []byte) error {
	inside, ok := bytes.CutPrefix(text, []byte("["))
	if !ok || bytes.ContainsAny(inside, "[{\"") {
		return fmt.Errorf("inter_chunk_latency is %.40q, want a list of numbers", text)
	}
	if len(bytes.TrimSpace(inside)) > 1 {
		*n = listLength(min(bytes.Count(inside, []byte(","))+1, math.MaxInt32))
	}
	return nil
}

// base returns a metric in base units; nil without one.
func (m *aiperfMetric) base(name string, wrong *error) *float64 {
	if m == nil || m.Value == "" {
		return nil
	}
	power, known := powers[m.Unit]
	v, err := load.Scaled(m.Value.String(), power)
	if !known || err != nil || v < 0 {
		*wrong = fmt.Errorf("%s is %.40q %.40q, want a number of 0 or more and its unit", name, m.Value.String(), m.Unit)
		return nil
	}
	return &v
}

// tokens returns a count of tokens; nil without one.
func (m *aiperfMetric) tokens(name string, wrong *error) *int64 {
	v := m.base(name, wrong)
	if v == nil {
		return nil
	}
	if *v != math.Trunc(*v) || *v > 1<<53 {
		*wrong = fmt.Errorf("%s is %v, want a whole number", name, *v)
		return nil
	}
	return new(int64(*v))
}

// aiperfRequests reads profile_export.jsonl of aiperf, a record a request. Like aiperf it leaves out warm-up, and counts a record with an error as failed, one of a cancelled request too. Its rates are of
// a time that only the summary has: that of the whole phase.
func aiperfRequests(in io.Reader) ([]Benchmark, error) {
	p, err := newParser(in)
	if err != nil {
		return nil, err
	}
	all, bundled := gathered{tool: "aiperf"}, 0
	for n := 1; ; n++ {
		var r aiperfRecord
		at := p.d.InputOffset()
		err := p.request(&r)
		if errors.Is(err, io.EOF) && n > 1 {
			break
		}
		if err == nil {
			err = all.addRecord(r, &bundled)
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = errCut
		}
		if err != nil {
			return nil, fmt.Errorf("record %d, behind byte %d: %w", n, at, err)
		}
	}
	b := all.benchmark()
	if bundled > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("times between tokens of the requests are not stored: of %d, inter_token_latency is not (request_latency - time_to_first_token) / (output_sequence_length - 1), as with --per-chunk-usage", bundled))
		for i := range b.Requests {
			b.Requests[i].AfterNs, b.Requests[i].Gaps = nil, nil
		}
	}
	return []Benchmark{b}, nil
}

// addRecord adds the request of a record, and counts it where its time per output token is not that of its tokens.
func (g *gathered) addRecord(r aiperfRecord, bundled *int) (err error) {
	phase, start, ttft := r.Metadata.Phase, r.Metadata.Start, r.Metrics.TTFT
	if phase == "" {
		phase, start = r.Metadata.Phase01, r.Metadata.Start01
	}
	if ttft == nil {
		ttft = r.Metrics.TTFT01
	}
	switch {
	case phase == "":
		return errors.New("metadata has no benchmark_phase")
	case phase == "warmup" || r.Metadata.Skipped:
		return nil
	case len(r.Error) > 0 && string(r.Error) != "null":
		q := Request{InputTokens: r.Metrics.FailedInput.tokens("error_isl", &err), OutputTokens: new(int64)}
		return errors.Join(err, g.add(q, false, nil, 0))
	}
	q := Request{InputTokens: r.Metrics.Input.tokens("input_sequence_length", &err), OutputTokens: r.Metrics.Output.tokens("output_sequence_length", &err),
		TTFTNs: ttft.base("time_to_first_token", &err), E2ENs: r.Metrics.E2E.base("request_latency", &err)}
	tpot := r.Metrics.TPOT.base("inter_token_latency", &err)
	if q.TTFTNs != nil && q.E2ENs != nil && q.OutputTokens != nil {
		q.AfterNs = new(max(*q.E2ENs-*q.TTFTNs, 0))
		switch {
		case r.Metrics.Chunks != nil:
			q.Gaps = new(int32(r.Metrics.Chunks.Value))
		case *q.AfterNs == 0: // of a single chunk there is no list
			q.Gaps = new(int32)
		}
		if tpot != nil && *q.OutputTokens > 1 && math.Abs(*q.AfterNs/float64(*q.OutputTokens-1)-*tpot) > agreement**tpot {
			*bundled++
		}
	}
	return errors.Join(err, g.add(q, true, tpot, start))
}
