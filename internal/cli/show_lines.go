package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/schema"
	"prof/schema/rundir"
)

// screenFacts say what a run is, in a line each.
func screenFacts(run schema.Run, tags []string, a *runAnswers) [][2]string {
	captured := "ingested " + run.CreatedAt.UTC().Format("2006-01-02 15:04 UTC")
	if run.StartedAt != nil {
		captured = "captured " + run.StartedAt.UTC().Format("2006-01-02 15:04 UTC") + onHost(run.Host)
	}
	out := [][2]string{{"run", run.Name + "  " + captured}, {"gpus", gpuLine(rowsIn(a, judge.DeviceRows))}, {"from", toolLine(rowsIn(a, judge.SourceRows))},
		{"command", run.Command}, {"model", modelBrief(rowsIn(a, judge.ModelRows))}, {"memory", memoryBrief(rowsIn(a, memoryRows))}, {"tags", strings.Join(tags, " ")},
		{"passes", passesLine(rowsIn(a, passRows), false)}, {"attribution", verdicts(rowsIn(a, judge.ConservationRows))},
		{"ncu", profiledLine(run.Name, rowsIn(a, judge.BoundRows), rowsIn(a, judge.KernelRows))}}
	return slices.DeleteFunc(out, func(line [2]string) bool { return line[1] == "" })
}

// gpuLine counts the GPUs by name: those that were used where any was. A GPU that several sources name counts once.
func gpuLine(list []judge.DeviceRow) string {
	names, used := map[int64]string{}, map[int64]bool{} // by the number that the machine gave it
	var order []int64
	for _, r := range list {
		if _, known := names[r.Device]; !known {
			order = append(order, r.Device)
		}
		names[r.Device] = cmp.Or(r.Name, names[r.Device])
		used[r.Device] = used[r.Device] || frame.Or(r.IsUsed, false)
	}
	if slices.Contains(slices.Collect(maps.Values(used)), true) {
		order = slices.DeleteFunc(order, func(gpu int64) bool { return !used[gpu] })
	}
	count := map[string]int64{}
	var kinds []string
	for _, gpu := range order {
		if count[names[gpu]]++; count[names[gpu]] == 1 {
			kinds = append(kinds, names[gpu])
		}
	}
	for i, name := range kinds {
		if kinds[i] = fmt.Sprintf("%d x %s", count[name], name); name == "" {
			kinds[i] = typeset.CountOf(count[name], "GPU") + unnamed(names)
		}
	}
	return strings.Join(kinds, ", ")
}

// unnamed says of GPUs whose name is not known which names are: they may be the same under another number.
func unnamed(names map[int64]string) string {
	known := slices.DeleteFunc(slices.Compact(slices.Sorted(maps.Values(names))), func(name string) bool { return name == "" })
	if len(known) == 0 {
		return " without a name"
	}
	return " without a name (the capture has " + strings.Join(known, ", ") + ")"
}

// toolLine names the tools with their versions in short, and other facts that were given, each once.
func toolLine(list []judge.SourceRow) string {
	var out []string
	for _, r := range list {
		version, _, _ := strings.Cut(r.Version, " ")
		out = append(out, strings.TrimSpace(r.Kind+" "+strings.TrimSuffix(version, ".0")))
	}
	return strings.Join(typeset.Unique(out), ", ")
}

// boundRows is how many rows a screen asks for of what Nsight Compute profiled.
const boundRows = 20

// topKernels is how many of a run's kernels a screen ranks.
const topKernels = 5

// profiledLine says how many kernels Nsight Compute profiled, and how many of the kernels that take most are among them; "" of a run with none of either.
func profiledLine(run string, profiled []judge.BoundRow, kernels []judge.KernelRow) string {
	var names []string
	isRun := false
	for _, r := range profiled {
		if r.Kind == "kernel" {
			names, isRun = append(names, r.Kernel), isRun || r.TimelineTotalNs != nil
		}
	}
	if len(names) == 0 || len(kernels) == 0 {
		return ""
	}
	slices.Sort(names)
	text := typeset.CountOf(int64(len(slices.Compact(names))), "kernel") + " profiled"
	if len(profiled) >= boundRows {
		text = "at least " + text
	}
	if !isRun {
		return text + ", none of which runs in measured passes: prof query ncu-matches --unmatched --run " + judge.ShellWord(run)
	}
	top := kernels[:min(topKernels, len(kernels))]
	both := 0
	for _, k := range top {
		if k.Bound != "" {
			both++
		}
	}
	among := "none"
	if both > 0 {
		among = fmt.Sprint(both)
	}
	return fmt.Sprintf("%s, %s of the top %d: prof query bottlenecks --run %s", text, among, len(top), judge.ShellWord(run))
}

// modelBrief words the model that FLOPs are counted of.
func modelBrief(list []judge.ModelRow) string {
	for _, r := range list {
		if !r.IsCounted {
			continue
		}
		text := fmt.Sprintf("%s (%s), %s parameters", r.Name, r.Family, countShort(r.ParameterCount))
		if n := r.ActiveParameterCount; n != nil {
			text += ", " + countShort(*n) + " active"
		}
		return text
	}
	return ""
}

// memoryBrief words the peak memory of a GPU on each basis that has one: the highest of all processes, GPUs and recordings, but for those under
// Nsight Compute, which keeps copies of the memory that a kernel writes while it replays it.
func memoryBrief(list []memoryRow) string {
	most := map[string]int64{}
	for _, r := range list {
		if r.Stage == "(all)" && !strings.HasPrefix(r.Pass, rundir.ToolNcu+"-") {
			most[r.Basis] = max(most[r.Basis], frame.Or(r.PeakBytes, 0))
		}
	}
	var out []string
	for _, basis := range []string{"torch allocated", "torch reserved", "nsys device", "nvml used"} {
		if n := most[basis]; n > 0 {
			out = append(out, typeset.Amount(frame.Bytes, float64(n))+" "+basis)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "peak per GPU: " + strings.Join(out, ", ")
}

// countShort writes a number with three digits and its thousands as letters: 3.34B.
func countShort(n int64) string {
	for _, step := range []struct {
		size float64
		name string
	}{{1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "K"}} {
		if v := float64(n) / step.size; v >= 0.9995 {
			return fmt.Sprintf("%.3g%s", v, step.name)
		}
	}
	return fmt.Sprint(n)
}

// verdicts say of each capture whether its kernel time adds up; "" without kernels.
func verdicts(list []judge.ConservationRow) string {
	var out []string
	for _, r := range list {
		if r.KernelCount == 0 {
			continue
		}
		text := "exact"
		if r.UnmetCount > 0 {
			text = "not exact: " + typeset.Plural(r.UnmetCount, "launch without GPU work", "launches without GPU work")
		} else if !r.IsExact {
			text = "DOES NOT ADD UP"
		}
		text += ", " + typeset.CountOf(r.KernelCount, "kernel")
		if len(list) > 1 {
			text = r.Capture + " " + text
		} else if r.UnlaunchedCount > 0 {
			text += fmt.Sprintf(" (%s without a launch)", typeset.Int(r.UnlaunchedCount))
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}
