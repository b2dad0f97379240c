package screen

import (
	"bytes"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
	"prof/render/words"
)

// writeScreenKernels writes the kernels that take most time; of a run with nothing but profiled kernels these. Graphs that were profiled as wholes follow.
func writeScreenKernels(out *bytes.Buffer, r *judge.Report, o typeset.Options) error {
	if f := r.Frame("top-kernels"); f != nil && len(f.Rows) > 0 {
		t, err := newRanking(f, "top kernels of the whole run", "kernel", "share_ratio", screenKernels, o)
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
		return writeProfiled(out, r.Frame("bottlenecks"), "graph", "graphs profiled as wholes", o)
	}
	if err := writeProfiled(out, r.Frame("bottlenecks"), "kernel", "profiled kernels", o); err != nil {
		return err
	}
	return writeProfiled(out, r.Frame("bottlenecks"), "graph", "graphs profiled as wholes", o)
}

// writeProfiled writes what Nsight Compute profiled of one kind.
func writeProfiled(out *bytes.Buffer, f *frame.Frame, kind, title string, o typeset.Options) error {
	if f == nil {
		return nil
	}
	some := *f
	at := f.Index("kind")
	some.Rows = slices.DeleteFunc(slices.Clone(f.Rows), func(row []any) bool { return at >= 0 && row[at] != kind || at < 0 && kind != "kernel" })
	if len(some.Rows) == 0 {
		return nil
	}
	t, err := newRanking(&some, title, "kernel", "replayed_mean_ns", screenKernels, o)
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

// writeScreenOperators writes the operators that take most time on the GPU, with what ran outside them, or on the CPU when nothing ran on a GPU.
func writeScreenOperators(out *bytes.Buffer, r *judge.Report, o typeset.Options) error {
	f := r.Frame("top-operators")
	if f == nil || len(f.Rows) == 0 {
		return nil
	}
	rows, err := f.Records("self_device_ns", "share_ratio", "self_cpu_ns", "operator")
	if err != nil {
		return err
	}
	onDevice := slices.ContainsFunc(rows, func(r frame.Record) bool { return r.Count("self_device_ns") > 0 })
	by := "self_cpu_ns"
	if onDevice {
		by = "share_ratio"
	}
	shown := *f
	shown.Rows = nil
	operators, name := 0, f.Index("operator")
	for i, r := range rows {
		words, outside := words.OutsideWords[r.Text("operator")]
		if outside && r.Amount("share_ratio") < leastBesides || !outside && operators == screenOperators {
			continue
		}
		row := f.Rows[i]
		if outside {
			row = slices.Clone(row)
			row[name] = words
		} else {
			operators++
		}
		shown.Rows = append(shown.Rows, row)
	}
	t, err := newRanking(&shown, "top operators of the whole run", "operator", by, len(shown.Rows), o)
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
