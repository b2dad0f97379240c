package render

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"prof/queries/judge"
)

// writeScreenKernels writes the kernels that take most time; of a run with nothing but profiled kernels these.
func writeScreenKernels(out *bytes.Buffer, r *judge.Report, o Options) error {
	if f := r.Frame("top-kernels"); f != nil && len(f.Rows) > 0 {
		t, err := newRanking(f, "top kernels", "kernel", "share_ratio", screenKernels, o)
		if err != nil {
			return err
		}
		t.add("share", "share_ratio", 8)
		t.add("mean", "mean_ns", 7)
		t.add("calls", "calls", 6)
		t.add("role", "role", 5)
		t.add("bound by", "bound", 2)
		if o.Wide || o.Width >= familyWidth {
			t.add("family", "family", 1)
		}
		t.write(out, o)
		return nil
	}
	f := r.Frame("bottlenecks")
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	t, err := newRanking(f, "profiled kernels", "kernel", "replayed_mean_ns", screenKernels, o)
	if err != nil {
		return err
	}
	t.add("mean", "replayed_mean_ns", 8)
	t.add("launches", "launches", 6)
	t.add("bound by", "bound", 7)
	t.add("limiter", "limiter", 5)
	t.add("compute", "sm_ratio", 3)
	t.add("memory", "memory_ratio", 4)
	t.write(out, o)
	return nil
}

// outsideWords say what the rows of operator queries are that are no operators.
var outsideWords = map[string]string{"(none)": "(outside operators)", "(graph replay)": "(CUDA graph replays)", "(no launch)": "(launch not captured)"}

// operatorName is an operator, or in words what is none.
func operatorName(name string) string { return cmp.Or(outsideWords[name], name) }

// writeScreenOperators writes the operators that take most time on the GPU, with what ran outside them, or on the CPU when nothing ran on a GPU.
func writeScreenOperators(out *bytes.Buffer, r *judge.Report, o Options) error {
	f := r.Frame("top-operators")
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	at, err := columnsOf(f, "self_device_ns", "share_ratio", "self_cpu_ns", "operator")
	if err != nil {
		return err
	}
	onDevice := slices.ContainsFunc(f.Rows, func(row []any) bool { n, _ := row[at["self_device_ns"]].(int64); return n > 0 })
	by := "self_cpu_ns"
	if onDevice {
		by = "share_ratio"
	}
	shown := *f
	shown.Rows = nil
	operators := 0
	for _, row := range f.Rows {
		name, _ := row[at["operator"]].(string)
		share, _ := row[at["share_ratio"]].(float64)
		words, outside := outsideWords[name]
		if outside && share < leastBesides || !outside && operators == screenOperators {
			continue
		}
		if outside {
			row = slices.Clone(row)
			row[at["operator"]] = words
		} else {
			operators++
		}
		shown.Rows = append(shown.Rows, row)
	}
	t, err := newRanking(&shown, "top operators", "operator", by, len(shown.Rows), o)
	if err != nil {
		return err
	}
	t.add("share", "share_ratio", 8)
	if onDevice {
		t.add("on the GPU", "self_device_ns", 7)
	}
	t.add("calls", "calls", 6)
	t.add("on the CPU", "self_cpu_ns", 5)
	t.write(out, o)
	return nil
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

// plainNames takes from names of kernels what all C++ functions have and nobody tells them by, the return type void and the list of
// parameters, where they stay different without.
func plainNames(names []string) []string {
	out := make([]string, len(names))
	seen := map[string]int{}
	for i, name := range names {
		out[i] = withoutParameters(strings.TrimPrefix(name, "void "))
		seen[out[i]]++
	}
	for i, name := range names {
		if seen[out[i]] > 1 {
			out[i] = name
		}
	}
	return out
}

// withoutParameters cuts the parentheses that end a name, with what is in them.
func withoutParameters(name string) string {
	if !strings.HasSuffix(name, ")") {
		return name
	}
	depth := 0
	for i := len(name) - 1; i > 0; i-- {
		switch name[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			return name[:i]
		}
	}
	return name
}
