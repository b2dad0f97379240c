package screen

import (
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/doc"
	"prof/render/table"
	"prof/render/typeset"
	"prof/render/words"
)

// kernels ranks the kernels that take most time; of a run with nothing but profiled kernels these. What was profiled as a whole follows.
func kernels(s Screen) ([]doc.Block, error) {
	list, err := rowsOf(s, judge.KernelRows)
	if err != nil {
		return nil, err
	}
	profiled, err := rowsOf(s, judge.BoundRows)
	if err != nil {
		return nil, err
	}
	var wholes []doc.Block
	for _, w := range judge.Wholes {
		wholes = append(wholes, profiledKind(profiled, w.Kind, w.Many+" profiled as wholes")...)
	}
	if len(list) == 0 {
		return append(profiledKind(profiled, "kernel", "profiled kernels"), wholes...), nil
	}
	title := "top kernels of the whole run"
	if s.Report.Frame(judge.KernelRows.Query).Warns("left-out") {
		title = "top kernels of measured passes"
	}
	t := rank(list[:min(screenKernels, len(list))], table.Column{Title: title, Kernels: true}, func(r judge.KernelRow) string { return r.Kernel }, func(r judge.KernelRow) *float64 { return &r.ShareRatio })
	t.add("of kernel time", true, 8, func(r judge.KernelRow) string { return typeset.Percent(r.ShareRatio) })
	t.add("mean", true, 7, func(r judge.KernelRow) string { return typeset.Nanoseconds(r.MeanNs) })
	t.add("calls", true, 6, func(r judge.KernelRow) string { return typeset.Int(r.Calls) })
	t.add("role", false, 5, func(r judge.KernelRow) string { return typeset.Neutral(r.Role) })
	t.add("bound by", false, 2, func(r judge.KernelRow) string { return r.Bound })
	t.add("family", false, 1, func(r judge.KernelRow) string { return typeset.Neutral(r.Family) })
	if last := &t.Columns[len(t.Columns)-1]; last.Title == "family" {
		last.From = familyWidth
	}
	return append([]doc.Block{doc.Table{Of: t.Table}}, wholes...), nil
}

// profiledKind ranks what Nsight Compute profiled of one kind.
func profiledKind(all []judge.BoundRow, kind, title string) []doc.Block {
	list := slices.DeleteFunc(slices.Clone(all), func(r judge.BoundRow) bool { return r.Kind != kind })
	if len(list) == 0 {
		return nil
	}
	t := rank(list[:min(screenKernels, len(list))], table.Column{Title: title, Kernels: true}, func(r judge.BoundRow) string { return r.Kernel }, func(r judge.BoundRow) *float64 { return r.ReplayedMeanNs })
	t.add("mean", true, 8, func(r judge.BoundRow) string { return nanoseconds(r.ReplayedMeanNs) })
	t.add("launches", true, 6, func(r judge.BoundRow) string { return typeset.Int(r.Launches) })
	t.add("bound by", false, 7, func(r judge.BoundRow) string { return r.Bound })
	t.add("limiter", false, 5, func(r judge.BoundRow) string { return typeset.Neutral(r.Limiter) })
	t.add("compute", true, 3, func(r judge.BoundRow) string { return percent(r.SMRatio) })
	t.add("memory", true, 4, func(r judge.BoundRow) string { return percent(r.MemoryRatio) })
	return []doc.Block{doc.Table{Of: t.Table}}
}

// operatorRow is a row of top-operators.
type operatorRow struct {
	Operator     string   `col:"operator"`
	Calls        *int64   `col:"calls"`
	SelfDeviceNs *int64   `col:"self_device_ns"`
	SelfCPUNs    *float64 `col:"self_cpu_ns"`
	ShareRatio   *float64 `col:"share_ratio"`
}

var operatorRows = frame.RowsOf[operatorRow]("top-operators")

// operators ranks the operators that take most time on the GPU, with what ran outside them, or on the CPU when nothing ran on a GPU.
func operators(s Screen) ([]doc.Block, error) {
	all, err := rowsOf(s, operatorRows)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	onDevice := slices.ContainsFunc(all, func(r operatorRow) bool { return frame.Or(r.SelfDeviceNs, 0) > 0 })
	var list []operatorRow
	inside := 0
	for _, r := range all {
		words, isOutside := words.OutsideWords[r.Operator]
		switch {
		case isOutside && frame.Or(r.ShareRatio, 0) >= leastBesides:
			r.Operator = words
		case isOutside || inside == screenOperators:
			continue
		default:
			inside++
		}
		list = append(list, r)
	}
	t := rank(list, table.Column{Title: "top operators of the whole run"}, func(r operatorRow) string { return r.Operator }, func(r operatorRow) *float64 {
		if onDevice {
			return r.ShareRatio
		}
		return r.SelfCPUNs
	})
	t.add("share", true, 8, func(r operatorRow) string { return percent(r.ShareRatio) })
	if onDevice {
		t.add("on the GPU", true, 7, func(r operatorRow) string { return shown(r.SelfDeviceNs, typeset.Duration) })
	}
	t.add("calls", true, 6, func(r operatorRow) string { return shown(r.Calls, typeset.Int) })
	t.add("on the CPU", true, 5, func(r operatorRow) string { return nanoseconds(r.SelfCPUNs) })
	return []doc.Block{doc.Table{Of: t.Table}}, nil
}

// leastBesides is the share of the device work outside operators from which on it is shown among them.
const leastBesides = 0.01

// familyWidth is how wide a terminal has room for the families of kernels beside names that can be told apart.
const familyWidth = 120

// blocks draws a share of so many cells in eighths of a cell; what is not zero is seen.
func blocks(share float64, cells int) string {
	eighths := int(share*float64(8*cells) + 0.5)
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	out := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		out += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return out
}
