package diff

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStretches holds that what differs between two orders is as little as can be, by the longest common subsequence, and all that differs.
func TestStretches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	made := func() []string {
		out := make([]string, random.IntN(12))
		for i := range out {
			out[i] = string(rune('a' + random.IntN(4)))
		}
		return out
	}
	for range 2000 {
		a, b := made(), made()
		common := make([][]int, len(a)+1)
		for i := range common {
			common[i] = make([]int, len(b)+1)
		}
		for i := len(a) - 1; i >= 0; i-- {
			for j := len(b) - 1; j >= 0; j-- {
				common[i][j] = max(common[i+1][j], common[i][j+1])
				if a[i] == b[j] {
					common[i][j] = common[i+1][j+1] + 1
				}
			}
		}
		var goneA, goneB []string
		for _, s := range stretches(a, b) {
			goneA, goneB = append(goneA, s.a...), append(goneB, s.b...)
		}
		if len(goneA) != len(a)-common[0][0] || len(goneB) != len(b)-common[0][0] {
			t.Fatalf("%v, %v: %v and %v differ, of %d in common", a, b, goneA, goneB, common[0][0])
		}
		left := func(all, gone []string) []string {
			for _, x := range gone {
				all = slices.Delete(slices.Clone(all), slices.Index(all, x), slices.Index(all, x)+1)
			}
			slices.Sort(all)
			return all
		}
		if !slices.Equal(left(a, goneA), left(b, goneB)) {
			t.Fatalf("%v, %v: %v and %v differ", a, b, goneA, goneB)
		}
	}
}

// TestMovesByPlace holds that kernels whose calls do not tell are matched by where they run, and those that are mostly elsewhere are not.
func TestMovesByPlace(t *testing.T) {
	t.Parallel()
	repeated := func(times int, names ...string) []string { return slices.Repeat(names, times) }
	cases := []struct {
		name string
		a, b []string // orders of a pass
		want map[string][2]string
	}{
		{"of two that take turns", slices.Concat(repeated(7, "in", "qk_short", "softmax", "out"), repeated(3, "in", "qk_long", "softmax", "out")), repeated(10, "in", "flash", "out"),
			map[string][2]string{"qk_short": {fused, "flash"}, "qk_long": {fused, "flash"}, "softmax": {fused, "flash"}, "flash": {fused, "qk_long + qk_short + softmax"}}},
		{"one that is mostly elsewhere", repeated(5, "in", "qk", "cast", "out", "cast", "in", "cast", "out"), repeated(5, "in", "flash", "flush", "out", "in", "out"),
			map[string][2]string{"qk": {splitUp, "flash + flush"}, "flash": {splitUp, "qk"}, "flush": {splitUp, "qk"}}},
		{"in other places", repeated(5, "in", "out", "qk"), repeated(6, "in", "flash", "out"), nil},
	}
	for _, c := range cases {
		side := func(name string, order []string) []runData {
			st := madeStage{name: "decode", passes: 3}
			for i, name := range order {
				if slices.Index(order, name) == i {
					calls := int64(0)
					for _, other := range order {
						if other == name {
							calls++
						}
					}
					st.kernels = append(st.kernels, kernel{name, "", "4", calls, 500})
				}
			}
			out := made(name, 1, st)
			out.order = map[string][]string{"decode": order}
			return []runData{out}
		}
		r := compared(t, side("a", c.a), side("b", c.b), bare)
		for _, it := range r.Items {
			if how, partner := c.want[it.Name][0], c.want[it.Name][1]; it.How != how || it.Partner != partner {
				t.Errorf("%s: %s is %s, %q of %q, want %q of %q", c.name, it.Name, it.Status, it.How, it.Partner, how, partner)
			}
		}
		checkTotals(t, c.name, r.Stages[0], r.Items, true)
		o := bare
		o.Top = 10
		folded := compared(t, side("a", c.a), side("b", c.b), o)
		checkTotals(t, c.name, folded.Stages[0], folded.Items, true)
		if all := members(folded.Items); len(c.want) > 0 && len(all) < len(folded.Items)+len(c.want)-1 {
			t.Errorf("%s: %d rows of %d kernels, of which %d are one", c.name, len(folded.Items), len(all), len(c.want))
		}
	}
}
