package diff

import (
	"fmt"
	"testing"
)

// BenchmarkCompare compares the facts of two runs of 100,000 kernels of 300 names and grids, without asking for them.
func BenchmarkCompare(b *testing.B) {
	run := func(name string, seed uint64) []runData {
		st := madeStage{name: "decode", passes: 5, decode: 16, noise: 0.01, gap: 2000}
		for i := range 300 {
			st.kernels = append(st.kernels, kernel{fmt.Sprintf("void ns%d::kernel<(int)%d, float>(T1 *, int)", i%40, i/2), fmt.Sprint("family", i%30), fmt.Sprint(i, " x 1 x 1"), 55, 4000})
		}
		return []runData{made(name, seed, st)}
	}
	x, y := run("a", 1), run("b", 2)
	for b.Loop() {
		compared(b, x, y, bare)
	}
}
