package nsys

import (
	"testing"

	"prof/ingest/load"
)

// nestedSteps makes steps of ten nested ranges, each with a hundred launches, on four threads.
func nestedSteps(steps int) (spans []span, names []rangeName, at []int64) {
	names = []rangeName{{"", "step[#]"}, {"", "layer[#]"}, {"cuBLAS", "gemm"}}
	now := int64(0)
	for range steps {
		for thread := range int64(4) {
			begin := now
			spans = append(spans, span{start: begin, end: begin + 10_000, thread: 1<<24 | thread, name: 0})
			for l := range int64(9) {
				spans = append(spans, span{start: begin + l*1000 + 10, end: begin + l*1000 + 900, thread: 1<<24 | thread, name: 1 + int32(l&1)})
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
		if _, err := buildTimelines(spans, names, &load.Paths{}, maxCrossings); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(spans)*b.N)/b.Elapsed().Seconds(), "ranges/s")
}

// BenchmarkAttribute looks 4,000,000 launches up in these timelines and adds their work up by range.
func BenchmarkAttribute(b *testing.B) {
	spans, names, at := nestedSteps(10_000)
	lines, err := buildTimelines(spans, names, &load.Paths{}, maxCrossings)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var lists []*opList
		for thread := range int64(4) {
			place, ops := (&loader{ranges: &ranges{lines: lines}}).placer(), &opList{}
			for _, t := range at {
				if n := place.node(1<<24|thread, t); n != noNode {
					ops.add(op{start: t, end: t + 90, node: n})
				}
			}
			lists = append(lists, ops)
		}
		sumRanges(lists, lines, len(spans))
	}
	b.ReportMetric(float64(4*len(at)*b.N)/b.Elapsed().Seconds(), "launches/s")
}
