package screen

import (
	"prof/render/doc"
	"prof/render/words"
)

// screenBenchmarks is how many benchmarks of a serving engine a screen has room for.
const screenBenchmarks = 4

// benchmarks says what load generators measured at the client, up to three lines a benchmark.
func benchmarks(s Screen) ([]doc.Block, error) {
	if len(s.Summary.Benchmarks) == 0 {
		return nil, nil
	}
	return []doc.Block{doc.Section{Title: words.ServingTitle, Blocks: []doc.Block{words.Serving(s.Summary.Benchmarks, screenBenchmarks)}}}, nil
}
