package serving

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// isGenAIPerfRequests: perf_analyzer writes how it sent requests before these.
func isGenAIPerfRequests(f fields) bool {
	return f.hasAny("experiments/0/experiment/mode", "experiments/0/requests/0/timestamp")
}

// genaiPerfRequests reads profile_export.json of perf_analyzer (src/profile_data_exporter.cc): of each request when it was sent and when each response came, for each load that was asked for. Times are those
// of responses with text in them, as genai-perf takes them (profile_data_parser/llm_profile_data_parser.py). Tokens are counted by genai-perf, and are not in the file.
func genaiPerfRequests(in io.Reader) ([]Benchmark, error) {
	p, err := newParser(in)
	if err != nil {
		return nil, err
	}
	p.f, p.items = fields{}, map[string]int{}
	out, err := p.experiments()
	if err != nil {
		return nil, p.at(err)
	}
	for i := range out {
		out[i].Backend = p.text("service_kind")
	}
	return out, p.err
}

func (p *parser) experiments() (out []Benchmark, err error) {
	if err := p.begin('{'); err != nil {
		return nil, err
	}
	err = p.members(func(key string) error {
		if key != "experiments" {
			return p.value(key, 1)
		}
		return p.list(func() error {
			if len(out) == maxBenchmarks {
				return fmt.Errorf("a file has at most %d experiments", maxBenchmarks)
			}
			b, err := p.experiment()
			out = append(out, b)
			return err
		})
	})
	return out, err
}

// begin reads the beginning of an object or a list.
func (p *parser) begin(with json.Delim) error {
	token, err := p.token()
	if err == nil && token != with {
		err = fmt.Errorf("want a %c", with)
	}
	return err
}

// list calls a function for each item of a list, which reads it.
func (p *parser) list(item func() error) error {
	if err := p.begin('['); err != nil {
		return err
	}
	for p.d.More() {
		if err := item(); err != nil {
			return err
		}
	}
	_, err := p.token()
	return err
}

// experiment reads the requests of one load.
func (p *parser) experiment() (Benchmark, error) {
	all := gathered{tool: "genai-perf"}
	set, isStreamed, setBack := fields{}, false, 0
	if err := p.begin('{'); err != nil {
		return Benchmark{}, err
	}
	if err := p.members(func(key string) error {
		if key != "requests" {
			return p.within(set, key)
		}
		return p.list(func() error {
			var q sentRequest
			err := p.request(&q)
			if err == nil {
				err = q.check()
			}
			if err != nil {
				return fmt.Errorf("request %d: %w", len(all.list)+1, err)
			}
			at := q.withText()
			isStreamed = isStreamed || len(q.Times) > 1
			r := Request{}
			switch n := len(at); {
			case n == 0:
				r.OutputTokens = new(int64)
			case at[0] < q.Timestamp || at[n-1] < at[0]:
				setBack++
			default:
				r = Request{TTFTNs: new(float64(at[0] - q.Timestamp)), AfterNs: new(float64(at[n-1] - at[0])), Gaps: new(int32(n - 1)), E2ENs: new(float64(at[n-1] - q.Timestamp))}
			}
			return all.add(r, len(at) > 0, nil, q.Timestamp)
		})
	}); err != nil {
		return Benchmark{}, err
	}
	if !isStreamed { // the only response is the whole answer
		all.values[0] = nil
		for i := range all.list {
			all.list[i].TTFTNs, all.list[i].AfterNs, all.list[i].Gaps = nil, nil, nil
		}
	}
	b := all.benchmark()
	b.Failed = nil
	if b.DurationNs != nil {
		b.RequestsPerS = new(float64(len(all.list)) / (*b.DurationNs / 1e9))
	}
	if all.failed > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("%d requests got no text: as in genai-perf's figures, they count in requests per second alone", all.failed))
	}
	if setBack > 0 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("the times of %d requests are not stored: a response came before it was asked for, as when the clock is set back", setBack))
	}
	outer := p.f
	p.f, p.b = set, b
	switch p.text("experiment/mode") {
	case "concurrency":
		p.b.ConcurrencyLimit = p.count("experiment/value")
	case "request_rate":
		if v := p.number(0, "experiment/value"); v != nil && *v > 0 { // 0 where a schedule says when
			p.b.TargetRate, p.b.Unlimited = v, new(false)
		}
	}
	p.f = outer
	return p.b, p.err
}

// within reads a value into other fields.
func (p *parser) within(f fields, key string) error {
	outer := p.f
	p.f = f
	err := p.value(key, 2)
	p.f = outer
	return err
}

// sentRequest is what perf_analyzer noted of a request, in ns since 1970. Of an OpenAI endpoint the only output is a text named response.
type sentRequest struct {
	Timestamp int64
	Times     []int64                  `json:"response_timestamps"`
	Outputs   []struct{ Response any } `json:"response_outputs"` // none from older versions
}

func (q *sentRequest) check() error {
	switch i := slices.IndexFunc(q.Times, func(at int64) bool { return at <= 0 }); {
	case q.Timestamp <= 0:
		return errors.New("it has no timestamp")
	case i >= 0:
		return fmt.Errorf("a response_timestamp is %d, want ns since 1970", q.Times[i])
	case len(q.Outputs) > 0 && len(q.Outputs) != len(q.Times):
		return fmt.Errorf("it has %d response_timestamps and %d response_outputs", len(q.Times), len(q.Outputs))
	}
	return nil
}

// maxJoined bounds how many pieces of a stream are put together in one request.
const maxJoined = 1000

// withText are the times of responses with text of the model in them. What does not begin as an event does is the end of the response before it, since a stream may be cut anywhere.
func (q *sentRequest) withText() (out []int64) {
	texts, joined := make([]string, len(q.Outputs)), 0
	for i := len(q.Outputs) - 1; i >= 0; i-- {
		text, isText := q.Outputs[i].Response.(string)
		if !isText {
			return q.Times
		}
		texts[i] = text + texts[i]
		if before := i - 1; before >= 0 && joined < maxJoined && !isNoData(texts[i]) && !strings.HasPrefix(texts[i], eventStart) {
			if last, _ := q.Outputs[before].Response.(string); strings.Contains(last, "data:") {
				cut := strings.Index(texts[i], eventStart)
				if cut < 0 {
					cut = len(texts[i])
				}
				texts[before], texts[i] = texts[i][:cut], texts[i][cut:]
				joined++
			}
		}
	}
	if len(texts) == 0 {
		return q.Times
	}
	for i, text := range texts {
		if hasText(text) {
			out = append(out, q.Times[i])
		}
	}
	return out
}

// eventStart begins an event of a stream as perf_analyzer's endpoints write it.
const eventStart = "data: "

// isNoData reports whether a line of server-sent events is a comment or a field other than data.
func isNoData(line string) bool {
	return slices.ContainsFunc([]string{":", "event:", "id:", "retry:"}, func(begin string) bool { return strings.HasPrefix(line, begin) })
}

// hasText reports whether a response of an OpenAI endpoint, one event or several, has text of the model. What has neither choices nor text_output, as an embedding, has.
func hasText(response string) bool {
	for event := range strings.SplitSeq(strings.TrimSpace(response), "\n\n") {
		if isNoData(event) {
			continue
		}
		event = strings.TrimSpace(strings.TrimPrefix(event, "data:"))
		if event == "" || event == "[DONE]" {
			continue
		}
		type part struct{ Content any }
		var said struct {
			TextOutput *string `json:"text_output"`
			Choices    *[]struct {
				Text           any
				Delta, Message part
			}
			Error any
		}
		if json.Unmarshal([]byte(event), &said) != nil {
			if event[0] == '[' {
				return true
			}
			continue // genai-perf takes what it cannot read for an error
		}
		is := func(v any) bool { return v != nil && v != "" }
		switch {
		case said.Choices != nil:
			if list := *said.Choices; len(list) > 0 && (is(list[0].Text) || is(list[0].Delta.Content) || is(list[0].Message.Content)) {
				return true
			}
		case said.TextOutput != nil:
			if *said.TextOutput != "" {
				return true
			}
		case said.Error == nil:
			return true
		}
	}
	return false
}
