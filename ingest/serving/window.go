package serving

import (
	"encoding/json"
	"fmt"
	"strconv"

	"prof/internal/file"
)

// Window is what a client measured within a window of time.
type Window struct {
	Tokens   int64    // times between two tokens of a request that lie in it
	TPOTNs   *float64 // their mean; nil without one
	Requests int64    // whose first token came in it
	TTFTNs   *float64 // mean of these requests; nil without one
}

// detailed are the lists of vLLM's result that say when each token came, in seconds: start_times are of time.perf_counter, which on Linux is
// CLOCK_MONOTONIC, the clock of the tracer. Of the times between tokens it keeps only how many lists there are.
type detailed struct {
	starts, ttfts, outputs []float64
	itls                   int
}

// InWindow reads what a result says of a window from and to moments of CLOCK_MONOTONIC, in nanoseconds. A result that does not say when tokens came has
// nothing of it. The error says that it cannot be read.
func InWindow(path string, from, to int64) (w Window, err error) {
	var d detailed
	err = eachMember(path, func(p *parser, key string) error {
		switch key {
		case "start_times":
			return p.numbers(&d.starts)
		case "ttfts":
			return p.numbers(&d.ttfts)
		case "output_lens":
			return p.numbers(&d.outputs)
		case "itls":
			d.itls = 0
			return p.list(func() error { d.itls++; return p.skip(1) })
		}
		return p.skip(1)
	})
	if n := len(d.starts); err != nil || n == 0 || len(d.ttfts) != n || d.itls != n || len(d.outputs) != n {
		return w, err
	}
	gaps, firsts := 0.0, 0.0
	begin, end := float64(from)/1e9, float64(to)/1e9
	take := func(i int, itls []float64) {
		if d.outputs[i] == 0 { // it failed
			return
		}
		at := d.starts[i] + d.ttfts[i]
		if at >= begin && at <= end {
			w.Requests++
			firsts += d.ttfts[i]
		}
		if float64(len(itls)) != d.outputs[i]-1 { // chunks of several tokens
			return
		}
		for _, gap := range itls {
			if at >= begin && at+gap <= end {
				w.Tokens++
				gaps += gap
			}
			at += gap
		}
	}
	var itls []float64
	err = eachMember(path, func(p *parser, key string) error { // again: start_times stand behind them
		if key != "itls" {
			return p.skip(1)
		}
		i := 0
		return p.list(func() error {
			err := p.numbers(&itls)
			if err == nil && i < d.itls {
				take(i, itls)
			}
			i++
			return err
		})
	})
	if w.Tokens > 0 {
		w.TPOTNs = new(1e9 * gaps / float64(w.Tokens))
	}
	if w.Requests > 0 {
		w.TTFTNs = new(1e9 * firsts / float64(w.Requests))
	}
	return w, err
}

// eachMember calls a function for each member of the object that a file is; it reads the value.
func eachMember(path string, value func(p *parser, key string) error) error {
	in, err := file.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	p, err := newParser(in)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err = p.begin('{'); err == nil {
		err = p.members(func(key string) error { return value(p, key) })
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, p.at(err))
	}
	return err
}

// numbers reads a list of numbers in the place of those read before.
func (p *parser) numbers(into *[]float64) error {
	*into = (*into)[:0]
	return p.list(func() error {
		token, err := p.token()
		if err != nil {
			return err
		}
		n, isNumber := token.(json.Number)
		v, err := strconv.ParseFloat(n.String(), 64)
		if !isNumber || err != nil {
			return fmt.Errorf("%.40q is no number", fmt.Sprint(token))
		}
		if len(*into) == maxRequests {
			return fmt.Errorf("a list has more than %d numbers", maxRequests)
		}
		*into = append(*into, v)
		return nil
	})
}
