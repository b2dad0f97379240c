package cli

import (
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
func screenFacts(run schema.Run, tags []string, r *judge.Report) [][2]string {
	captured := "ingested " + run.CreatedAt.UTC().Format("2006-01-02 15:04 UTC")
	if run.StartedAt != nil {
		captured = "captured " + run.StartedAt.UTC().Format("2006-01-02 15:04 UTC") + onHost(run.Host)
	}
	out := [][2]string{{"run", run.Name + "  " + captured}}
	add := func(key, value string) {
		if value != "" {
			out = append(out, [2]string{key, value})
		}
	}
	add("gpus", gpuLine(r.Frame("devices")))
	add("from", toolLine(r.Frame("sources")))
	add("command", run.Command)
	add("model", modelBrief(r.Frame("models")))
	add("memory", memoryBrief(r.Frame("memory-peaks")))
	add("tags", strings.Join(tags, " "))
	if passes := r.Frame("capture-passes"); passes != nil {
		add("passes", passCounts(passes))
	}
	add("attribution", verdicts(r.Frame("conservation")))
	return out
}

// gpuLine counts the GPUs by name: those that were used where any was. A GPU that several sources name counts once.
func gpuLine(f *frame.Frame) string {
	at := func(row []any, column string) any { return row[f.Index(column)] }
	working := slices.ContainsFunc(f.Rows, func(row []any) bool { return at(row, "is_used") == true })
	names := map[any]string{} // by the number that the machine gave it
	var order []any
	for _, row := range f.Rows {
		gpu := at(row, "device")
		if _, known := names[gpu]; !known {
			order = append(order, gpu)
			names[gpu] = ""
		}
		if name, ok := at(row, "name").(string); ok {
			names[gpu] = name
		}
	}
	if working {
		order = slices.DeleteFunc(order, func(gpu any) bool {
			return !slices.ContainsFunc(f.Rows, func(row []any) bool { return at(row, "device") == gpu && at(row, "is_used") == true })
		})
	}
	count := map[string]int{}
	var kinds []string
	for _, gpu := range order {
		if count[names[gpu]]++; count[names[gpu]] == 1 {
			kinds = append(kinds, names[gpu])
		}
	}
	for i, name := range kinds {
		if kinds[i] = fmt.Sprintf("%d x %s", count[name], name); name == "" {
			kinds[i] = countOf(int64(count[name]), "GPU") + unnamed(names)
		}
	}
	return strings.Join(kinds, ", ")
}

// unnamed says of GPUs whose name is not known which names are: they may be the same under another number.
func unnamed(names map[any]string) string {
	known := slices.DeleteFunc(slices.Compact(slices.Sorted(maps.Values(names))), func(name string) bool { return name == "" })
	if len(known) == 0 {
		return " without a name"
	}
	return " without a name (the capture has " + strings.Join(known, ", ") + ")"
}

// toolLine names the tools with their versions in short, and other facts that were given, each once.
func toolLine(f *frame.Frame) string {
	var out []string
	for _, row := range f.Rows {
		text := fmt.Sprint(row[f.Index("kind")])
		if version, ok := row[f.Index("tool_version")].(string); ok {
			first, _, _ := strings.Cut(version, " ")
			text += " " + strings.TrimSuffix(first, ".0")
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return strings.Join(out, ", ")
}

// modelBrief words the model that FLOPs are counted of.
func modelBrief(f *frame.Frame) string {
	for _, row := range f.Rows {
		at := func(column string) any { return row[f.Index(column)] }
		if at("is_counted") != true {
			continue
		}
		text := fmt.Sprintf("%v (%v)", at("name"), at("family"))
		if n, ok := at("parameter_count").(int64); ok {
			text += ", " + countShort(n) + " parameters"
		}
		if n, ok := at("active_parameter_count").(int64); ok {
			text += ", " + countShort(n) + " active"
		}
		return text
	}
	return ""
}

// memoryBrief words the peak memory of a GPU on each basis that has one: the highest of all processes, GPUs and recordings, but for those under
// Nsight Compute, which keeps copies of the memory that a kernel writes while it replays it.
func memoryBrief(f *frame.Frame) string {
	most := map[string]int64{}
	for _, row := range f.Rows {
		basis, _ := row[f.Index("basis")].(string)
		pass, _ := row[f.Index("pass")].(string)
		if strings.HasPrefix(pass, rundir.ToolNcu+"-") {
			continue
		}
		if n, ok := row[f.Index("peak_bytes")].(int64); ok && row[f.Index("stage")] == "(all)" {
			most[basis] = max(most[basis], n)
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

// passCounts is passesLine without the reasons, which stand among the doubts.
func passCounts(f *frame.Frame) string {
	bare := &frame.Frame{Columns: f.Columns}
	for _, row := range f.Rows {
		row = slices.Clone(row)
		row[f.Index("reason")] = nil
		bare.Rows = append(bare.Rows, row)
	}
	return passesLine(bare)
}

// verdicts say of each capture whether its kernel time adds up; "" without kernels.
func verdicts(f *frame.Frame) string {
	var out []string
	for _, row := range f.Rows {
		at := func(column string) int64 { n, _ := row[f.Index(column)].(int64); return n }
		if at("kernel_count") == 0 {
			continue
		}
		text := "exact"
		if unmet := at("unmet_count"); unmet > 0 {
			text = "not exact: " + countOf(unmet, "launch without GPU work", "launches without GPU work")
		} else if row[f.Index("is_exact")] != true {
			text = "DOES NOT ADD UP"
		}
		text += ", " + countOf(at("kernel_count"), "kernel")
		if len(f.Rows) > 1 {
			text = fmt.Sprintf("%v %s", row[f.Index("capture")], text)
		} else if lost := at("unlaunched_count"); lost > 0 {
			text += fmt.Sprintf(" (%s without a launch)", thousands(lost))
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// countOf words a number of things, which are called thing, and many where an s does not make them several.
func countOf(n int64, thing string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + thing
	case len(many) > 0:
		return thousands(n) + " " + many[0]
	}
	return thousands(n) + " " + thing + "s"
}
