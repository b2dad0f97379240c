package attribute

import (
	"testing"

	"prof/ingest/load"
)

// nestedSteps makes steps of ten nested ranges, each with a hundred launches, on four threads.
func nestedSteps(steps int) (spans []Span, names []Name, at []int64) {
	names = []Name{{"", "step[#]"}, {"", "layer[#]"}, {"cuBLAS", "gemm"}}
	now := int64(0)
	for range steps {
		for thread := range int64(4) {
			begin := now
			spans = append(spans, Span{Start: begin, End: begin + 10_000, Thread: 1<<24 | thread, Name: 0})
			for l := range int64(9) {
				spans = append(spans, Span{Start: begin + l*1000 + 10, End: begin + l*1000 + 900, Thread: 1<<24 | thread, Name: 1 + int32(l&1)})
			}
		}
		for i := range int64(100) {
			at = append(at, now+i*100)
		}
		now += 10_000
	}
	return spans, names, at
}

// BenchmarkSweep builds the timelines of 400,000 ranges.
func BenchmarkSweep(b *testing.B) {
	spans, names, _ := nestedSteps(10_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Build(spans, names, &load.Paths{}, MaxCrossings); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(spans)*b.N)/b.Elapsed().Seconds(), "ranges/s")
}

// BenchmarkAttribute looks 4,000,000 launches up in these timelines and adds their work up by range.
func BenchmarkAttribute(b *testing.B) {
	spans, names, at := nestedSteps(10_000)
	lines, err := Build(spans, names, &load.Paths{}, MaxCrossings)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		m := newMade(lines)
		for thread := range int64(4) {
			place, ops := lines.Placer(), &WorkList{}
			for _, t := range at {
				if n := place.Node(1<<24|thread, t); n != NoNode {
					m.add(ops, Label{}, t, t+90, Caller{Node: n})
				}
			}
			m.Work = append(m.Work, ops)
		}
		SumRanges(m.Source, len(spans))
	}
	b.ReportMetric(float64(4*len(at)*b.N)/b.Elapsed().Seconds(), "launches/s")
}
