package serving

import (
	"bytes"
	"encoding/json"
	"fmt"

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
// CLOCK_MONOTONIC, the clock of the tracer.
type detailed struct {
	StartTimes []float64   `json:"start_times"`
	TTFTs      []float64   `json:"ttfts"`
	ITLs       [][]float64 `json:"itls"`
	OutputLens []int64     `json:"output_lens"`
}

// InWindow reads what a result says of a window from and to moments of CLOCK_MONOTONIC, in nanoseconds. A result that does not say when tokens came has
// nothing of it. The error says that it cannot be read.
func InWindow(path string, from, to int64) (w Window, err error) {
	text, err := file.Read(path, MaxBytes)
	if err != nil {
		return w, err
	}
	var d detailed
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&d); err != nil {
		return w, fmt.Errorf("%s: %w", path, err)
	}
	if n := len(d.StartTimes); n == 0 || len(d.TTFTs) != n || len(d.ITLs) != n || len(d.OutputLens) != n {
		return w, nil
	}
	gaps, firsts := 0.0, 0.0
	begin, end := float64(from)/1e9, float64(to)/1e9
	for i, at := range d.StartTimes {
		if d.OutputLens[i] == 0 { // it failed
			continue
		}
		if at += d.TTFTs[i]; at >= begin && at <= end {
			w.Requests++
			firsts += d.TTFTs[i]
		}
		if int64(len(d.ITLs[i])) != d.OutputLens[i]-1 { // chunks of several tokens
			continue
		}
		for _, gap := range d.ITLs[i] {
			if at >= begin && at+gap <= end {
				w.Tokens++
				gaps += gap
			}
			at += gap
		}
	}
	if w.Tokens > 0 {
		w.TPOTNs = new(1e9 * gaps / float64(w.Tokens))
	}
	if w.Requests > 0 {
		w.TTFTNs = new(1e9 * firsts / float64(w.Requests))
	}
	return w, nil
}
