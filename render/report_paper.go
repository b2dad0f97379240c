package render

import (
	"slices"
	"strings"
)

// paperWidth is how many letters of the size of tables have room side by side on a sheet of paper.
const paperWidth = 165

// offPaper gives the places of the columns that are not printed, since the others fill a sheet: first spread and ids, as on a narrow
// terminal, from the right.
func offPaper(g *grid) []int {
	least, order := make([]int, len(g.columns)), []int{}
	for j, h := range g.columns {
		least[j] = dataWidth(g, j)
		if !h.right {
			least[j] = min(least[j], clearText)
		}
		for _, word := range h.words {
			least[j] = max(least[j], min(width(word), clearText))
		}
		order = append(order, j)
	}
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b int) int { return worth(g.columns[a], a == 0) - worth(g.columns[b], b == 0) })
	kept := slices.Clone(least)
	var out []int
	for _, j := range order[:max(0, len(order)-1)] {
		if sum(kept) <= paperWidth {
			break
		}
		out, kept = append(out, j), kept[:0]
		for k := range least {
			if !slices.Contains(out, k) {
				kept = append(kept, least[k])
			}
		}
	}
	slices.Sort(out)
	return out
}

// cellClass are the classes of a cell or a head.
func cellClass(right, aside bool, long string) string {
	var class []string
	if right {
		class = append(class, "n")
	}
	if long != "" {
		class = append(class, long)
	}
	if aside {
		class = append(class, "aside")
	}
	return strings.Join(class, " ")
}
