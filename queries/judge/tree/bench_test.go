package tree

import (
	"fmt"
	"testing"
)

// BenchmarkAlign aligns made trees of 10,000 rows: those of one operator with as many inputs, half of them on one side only; of as many operators in
// one module, and of as many modules.
func BenchmarkAlign(b *testing.B) {
	const rows = 10_000
	for name, row := range map[string]func(i int) madeNode{
		"inputs":    func(i int) madeNode { return linear("M_0", fmt.Sprintf("[[%d, 64]]", i), 100) },
		"operators": func(i int) madeNode { return madeNode{"M_0", fmt.Sprint("op", i), "[x]", "k", 1, 100} },
		"modules":   func(i int) madeNode { return linear(fmt.Sprintf("M_0 > L_%d", i), fmt.Sprintf("[[%d, 64]]", i), 100) },
	} {
		side := func(from int) (list []madeNode) {
			for i := range rows {
				list = append(list, row(from+i))
			}
			return list
		}
		for what, from := range map[string]int{"same": 0, "half": rows / 2, "other": rows} {
			x, y := side(0), side(from)
			b.Run(name+"/"+what, func(b *testing.B) {
				for b.Loop() {
					aligned(b, x, y, false)
				}
			})
		}
	}
}
