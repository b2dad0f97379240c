package serving

import (
	"fmt"
	"math"
	"slices"
)

// gathered is what requests that are read one after the other add up to.
type gathered struct {
	tool          string
	list          []Request
	failed        int64
	values        [4][]float64 // of each of Metrics
	input, output tokenSum
	first, last   int64 // begin of the first request that succeeded and end of the last, by the client's clock in ns
	unclear       bool  // some request has no such time
}

// tokenSum is the tokens of all requests, unless some request does not say.
type tokenSum struct {
	sum     int64
	unknown bool
}

func (s *tokenSum) add(n *int64) {
	if n == nil {
		s.unknown = true
	} else {
		s.sum += *n
	}
}

func (s tokenSum) value() *int64 {
	if s.unknown {
		return nil
	}
	return &s.sum
}

// add adds a request: whether it succeeded, its time per output token, and when it began, 0 where that is not known.
func (g *gathered) add(q Request, ok bool, tpot *float64, start int64) error {
	if len(g.list) == maxRequests {
		return fmt.Errorf("a benchmark has at most %d requests", maxRequests)
	}
	g.list = append(g.list, q)
	if !ok {
		g.failed++
		return nil
	}
	g.input.add(q.InputTokens)
	g.output.add(q.OutputTokens)
	for i, v := range [...]*float64{q.TTFTNs, tpot, nil, q.E2ENs} {
		if v != nil {
			g.values[i] = append(g.values[i], *v)
		}
	}
	if start == 0 || q.E2ENs == nil {
		g.unclear = true
		return nil
	}
	if g.first == 0 || start < g.first {
		g.first = start
	}
	g.last = max(g.last, start+int64(math.Round(*q.E2ENs)))
	return nil
}

// names of the latencies in summaries of genai-perf and aiperf, in the order of Metrics.
var summaryNames = [...]string{"time_to_first_token", "inter_token_latency", "inter_chunk_latency", "request_latency"}

// benchmark is what genai-perf and aiperf make of the requests: a benchmark lasts from the first request to the last response.
func (g *gathered) benchmark() Benchmark {
	b := Benchmark{Tool: g.tool, Completed: new(int64(len(g.list)) - g.failed), Failed: new(g.failed), Requests: g.list}
	if *b.Completed > 0 {
		b.InputTokens, b.OutputTokens = g.input.value(), g.output.value()
	}
	if ns := float64(g.last - g.first); ns > 0 && !g.unclear {
		b.DurationNs = &ns
	}
	for i, metric := range Metrics {
		if len(g.values[i]) > 0 {
			b.add(Latency{Metric: metric, ReportedAs: summaryNames[i], Ns: statistics(g.values[i])})
		}
	}
	return b
}

// statistics are those of Statistics of some values, which it sorts, as numpy computes them by default and so genai-perf and aiperf: percentiles between the two nearest values in proportion to their
// distance, the standard deviation of the values themselves (divided by n).
func statistics(values []float64) (out [len(Statistics)]*float64) {
	slices.Sort(values)
	n := float64(len(values))
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	for _, v := range values {
		squares += (v - sum/n) * (v - sum/n)
	}
	percentile := func(p float64) *float64 {
		at := p / 100 * (n - 1)
		low := math.Floor(at)
		a, b := values[int(low)], values[min(int(low)+1, len(values)-1)]
		return new(a + (at-low)*(b-a))
	}
	return [...]*float64{new(sum / n), new(math.Sqrt(squares / n)), &values[0], percentile(50), percentile(90), percentile(95), percentile(99), percentile(99.9), &values[len(values)-1]}
}
