package serving

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"prof/ingest/load"
)

// Request is one request of a benchmark. nil is what the file does not say, or what a request that failed does not have.
type Request struct {
	InputTokens  *int64
	OutputTokens *int64 // 0 of one that failed
	TTFTNs       *float64
	AfterNs      *float64 // from the first token to the last
	Gaps         *int32   // times between tokens or chunks that add up to it
	E2ENs        *float64 // the whole request, where the file has it
}

// maxRequests bounds how many requests of a benchmark are kept.
const maxRequests = 1_000_000

// requestLists are the lists that vLLM and SGLang write with details, an item a request; of itls, a list for each, the sum and the number. Times are in ns.
type requestLists struct {
	values   map[string][]float64
	gaps     []int32
	fault    string    // why they are not kept
	requests []Request // of a table's lists
}

// isRequestList reports whether a list is one of the figures of requests.
func isRequestList(name string) bool {
	return name == "input_lens" || name == "output_lens" || name == "ttfts" || name == "itls"
}

// requestList reads such a list, which has begun.
func (p *parser) requestList(name string, depth int) error {
	l := &p.lists
	if l.values == nil {
		l.values = map[string][]float64{}
	}
	if _, twice := l.values[name]; twice {
		return fmt.Errorf("%q is there twice", name)
	}
	p.f[name] = nil // so that it counts as there
	power, values := 0, []float64{}
	if name == "ttfts" || name == "itls" {
		power = 9
	}
	keep := func(v float64) {
		if len(values) == maxRequests {
			l.refuse(fmt.Sprintf("%s has more than %d of them", name, maxRequests))
			return
		}
		values = append(values, v)
	}
	for p.d.More() {
		if name != "itls" {
			v, err := p.listed(name, power, depth+1)
			if err != nil {
				return err
			}
			keep(v)
			continue
		}
		token, err := p.token()
		if err != nil {
			return err
		}
		if token != json.Delim('[') {
			l.refuse(fmt.Sprintf("%s has an item that is no list", name))
			if err := p.rest(token, depth+1); err != nil {
				return err
			}
			continue
		}
		sum, n := 0.0, int32(0)
		for p.d.More() {
			v, err := p.listed(name, power, depth+2)
			if err != nil {
				return err
			}
			sum += v
			n++
		}
		if _, err := p.token(); err != nil {
			return err
		}
		if keep(sum); len(l.gaps) < maxRequests {
			l.gaps = append(l.gaps, n)
		}
	}
	l.values[name] = values
	_, err := p.token()
	return err
}

// listed reads a number of a list. Anything else makes the lists useless, but not the benchmark.
func (p *parser) listed(name string, power, depth int) (float64, error) {
	token, err := p.token()
	if err != nil {
		return 0, err
	}
	if n, ok := token.(json.Number); ok {
		if v, err := load.Scaled(n.String(), power); err == nil && v >= 0 {
			return v, nil
		}
	}
	p.lists.refuse(fmt.Sprintf("%s has %.40q, want numbers of 0 or more", name, fmt.Sprint(token)))
	return 0, p.rest(token, depth)
}

func (l *requestLists) refuse(why string) {
	if l.fault == "" {
		l.fault = why
	}
}

// By how much the mean TTFT of the requests, and their mean TPOT or its median, may differ from what the file has: SGLang ends a request when its stream
// closes, a little after the last token.
const (
	agreement     = 1e-3
	tpotAgreement = 1e-2
)

// requests makes requests of the lists. Those that do not agree with what the file says of all of them are not kept, since they would be of something else.
func (p *parser) requests() {
	l, b := &p.lists, &p.b
	if l.values == nil || b.Completed == nil {
		return
	}
	output, ttft, input, after := l.values["output_lens"], l.values["ttfts"], l.values["input_lens"], l.values["itls"]
	n := len(output)
	if n == 0 || len(ttft) == 0 { // a file without details
		return
	}
	if len(ttft) != n || len(input) != n && len(input) != 0 || len(after) != n && len(after) != 0 {
		l.refuse("their lists differ in length")
	}
	var list []Request
	succeeded, sum := int64(0), 0.0
	for i := 0; i < n && l.fault == ""; i++ {
		if output[i] != math.Trunc(output[i]) || output[i] > 1<<53 {
			l.refuse("output_lens has a part of a token")
			break
		}
		q := Request{OutputTokens: new(int64(output[i]))}
		if len(input) > 0 && input[i] == math.Trunc(input[i]) && input[i] <= 1<<53 {
			q.InputTokens = new(int64(input[i]))
		}
		if *q.OutputTokens > 0 {
			q.TTFTNs = &ttft[i]
			if len(after) > 0 {
				q.AfterNs, q.Gaps = &after[i], &l.gaps[i]
			}
			succeeded++
			sum += ttft[i]
		}
		list = append(list, q)
	}
	if l.fault == "" && succeeded != *b.Completed {
		l.refuse(fmt.Sprintf("%d of them have tokens, and completed is %d", succeeded, *b.Completed))
	}
	if mean := p.number(6, "mean_ttft_ms"); l.fault == "" && mean != nil && math.Abs(sum/float64(succeeded)-*mean) > agreement**mean {
		l.refuse("the mean of ttfts is not mean_ttft_ms")
	}
	if l.fault != "" {
		p.warn("the requests one by one are not stored: " + l.fault)
		return
	}
	if name := p.tpotFault(list); name != "" {
		p.warn("times between tokens of the requests are not stored: TPOT by itls and output_lens does not agree with " + name)
		for i := range list {
			list[i].AfterNs, list[i].Gaps = nil, nil
		}
	}
	b.Requests = list
}

// tpotFault names the figure of the file that TPOT of the requests does not agree with; "" for none. Requests of which one came as a single chunk are not checked: their TPOT is not known.
func (p *parser) tpotFault(list []Request) string {
	var all []float64
	sum := 0.0
	for _, q := range list {
		switch {
		case *q.OutputTokens <= 1:
		case q.AfterNs == nil || *q.Gaps == 0:
			return ""
		default:
			v := *q.AfterNs / float64(*q.OutputTokens-1)
			all, sum = append(all, v), sum+v
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.Sort(all)
	n := len(all)
	for _, f := range []struct {
		name  string
		value float64
	}{{"mean_tpot_ms", sum / float64(n)}, {"median_tpot_ms", all[(n-1)/2]/2 + all[n/2]/2}} {
		if want := p.number(6, f.name); want != nil && math.Abs(f.value-*want) > tpotAgreement**want {
			return f.name
		}
	}
	return ""
}

// listedRequests keeps the requests of a table's lists where they are those of the benchmark: as many succeeded, and the means of their times are those of the file.
func (p *parser) listedRequests() {
	l, b := &p.lists, &p.b
	var n int64
	sums, of := [2]float64{}, [2]int{}
	for _, q := range l.requests {
		if q.OutputTokens == nil || *q.OutputTokens > 0 || q.E2ENs != nil {
			n++
		}
		for i, v := range [...]*float64{q.TTFTNs, q.E2ENs} {
			if v != nil {
				sums[i] += *v
				of[i]++
			}
		}
	}
	if b.Completed != nil && n != *b.Completed {
		l.refuse(fmt.Sprintf("%d of them succeeded, and the file says %d", n, *b.Completed))
	}
	for _, lat := range b.Latencies {
		i := slices.Index([]string{"ttft", "e2e"}, lat.Metric)
		if mean := lat.Ns[0]; i >= 0 && mean != nil && of[i] > 0 && math.Abs(sums[i]/float64(of[i])-*mean) > agreement**mean {
			l.refuse(fmt.Sprintf("the mean of their %s is not that of %s", lat.Metric, lat.ReportedAs))
		}
	}
	if l.fault != "" {
		p.warn("the requests one by one are not stored: " + l.fault)
		return
	}
	b.Requests = l.requests
}
