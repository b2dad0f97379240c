package critical

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkStep looks for the path of a step of 30,000 calls and 25,000 pieces of work, and what 50 things could save.
func BenchmarkStep(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var p program
	for len(p) < 30_000 {
		p = append(p, written(r)...)
	}
	line := p.simulate(0, None, None)
	for b.Loop() {
		g := Build(line)
		g.Path()
		for name := range int32(50) {
			g.Length(func(l Label) bool { return l.Work == name })
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(line.Works)+len(p)), "ns/item")
}
