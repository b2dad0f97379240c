// Package stacks writes the kernels of a run as stacks, for tools that draw flame graphs.
package stacks

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Query is the query that stacks are read from.
const Query = "kernel-stacks"

// Profile is the kernels of a run by their stacks.
type Profile struct {
	Stacks  []Stack
	Omitted int64 // kernels of warm-up passes
	GPUNs   int64 // time of those that are not omitted
	FLOP    Known
	Bytes   Known
}

// Known says of how much of the GPU time a figure is known, and from what.
type Known struct {
	Ns    int64 // 0 where it is not known of any kernel
	Basis string
}

// Stack is a kernel with what launched it, and what it took there.
type Stack struct {
	Frames   []string // outermost first: the stage, the ranges, modules and operators around the launch, the kernel; of an operator's FLOP no kernel
	Calls    int64
	GPUNs    int64             // sum of their durations
	LaunchNs int64             // CPU time in the calls that launched them; 0 when unknown
	FLOP     int64             // 0 when unknown, see Profile.FLOP
	Bytes    int64             // read from and written to DRAM; likewise
	Labels   map[string]string // stage, family, role
	Numbers  map[string]int64  // pass, pid, rank, device, stream
}

// Options say what is written, and of what.
type Options struct {
	Run      string
	Captured time.Time // zero when unknown
	Warmup   bool      // warm-up passes too
}

// Pprof is the name of the form that is binary.
const Pprof = "pprof"

// Forms lists the forms of files.
func Forms() typeset.Forms[*Profile, Options] {
	return typeset.Forms[*Profile, Options]{
		{Name: Pprof, Doc: "profile.proto, gzip: go tool pprof, Speedscope, Pyroscope", Write: writePprof},
		{Name: "folded", Doc: "a line for each stack with its GPU time in ns: flamegraph.pl, inferno", Write: writeFolded},
	}
}

// Read reads the rows of Query, without those of warm-up passes unless o.Warmup is set.
func Read(f *frame.Frame, o Options) (*Profile, error) {
	rows, err := f.Records("stage", "is_warmup", "ranges", "modules", "operators", "kernel", "family", "role", "pass", "pid", "rank_id", "device", "stream", "calls", "total_ns", "launch_ns",
		"measured_flop", "measured_ns", "dram_bytes", "dram_ns", "formula_flop", "formula_ns")
	if err != nil {
		return nil, err
	}
	p := &Profile{}
	isOmitted := func(r frame.Record) bool { return r.Is("is_warmup") && !o.Warmup }
	flop := p.weigh(slices.DeleteFunc(slices.Clone(rows), isOmitted))
	for i, r := range rows {
		if isOmitted(r) {
			p.Omitted += r.Count("calls")
			continue
		}
		s := Stack{Calls: r.Count("calls"), GPUNs: r.Count("total_ns"), Labels: map[string]string{}, Numbers: map[string]int64{}}
		if ns := r.Whole("launch_ns"); ns != nil {
			s.LaunchNs = *ns
		}
		if s.FLOP, err = whole(r, flop); err == nil {
			s.Bytes, err = whole(r, "dram_bytes")
		}
		if err == nil {
			s.Frames, err = framesOf(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", f.Query, i+1, err)
		}
		for _, name := range []string{"stage", "family", "role"} {
			if text := r.Text(name); text != "" {
				s.Labels[name] = text
			}
		}
		for name, column := range map[string]string{"pass": "pass", "pid": "pid", "rank": "rank_id", "device": "device", "stream": "stream"} {
			if n := r.Whole(column); n != nil {
				s.Numbers[name] = *n
			}
		}
		p.Stacks = append(p.Stacks, s)
	}
	return p, nil
}

// weigh sums up of how much time FLOP and bytes are known, and gives the column of FLOP that covers most of it: those that the hardware counts, padding
// included, and those of formulas do not add up.
func (p *Profile) weigh(rows []frame.Record) string {
	var measured, formula int64
	add := func(to *int64, r frame.Record, column string) {
		if ns := r.Whole(column); ns != nil {
			*to += *ns
		}
	}
	for _, r := range rows {
		p.GPUNs += r.Count("total_ns")
		add(&measured, r, "measured_ns")
		add(&formula, r, "formula_ns")
		add(&p.Bytes.Ns, r, "dram_ns")
	}
	const mean = "Nsight Compute, mean of the profiled launches of a kernel, grid and block"
	p.Bytes.Basis = mean + ", DRAM"
	if formula > measured {
		p.FLOP = Known{formula, "PyTorch's formulas of operators"}
		return "formula_flop"
	}
	p.FLOP = Known{measured, mean}
	return "measured_flop"
}

// Notes say what is known of FLOP and bytes.
func (p *Profile) Notes() []string {
	if p.FLOP.Ns == 0 && p.Bytes.Ns == 0 {
		return []string{"no FLOP and bytes of kernels are known: they come from Nsight Compute reports in the run, FLOP also from PyTorch traces with shapes"}
	}
	var out []string
	for _, k := range []struct {
		name string
		Known
	}{{"FLOP", p.FLOP}, {"bytes", p.Bytes}} {
		if k.Ns == 0 {
			out = append(out, fmt.Sprintf("no %s of kernels are known", k.name))
			continue
		}
		out = append(out, fmt.Sprintf("%s known for %s of the GPU time: %s", k.name, typeset.Percent(float64(k.Ns)/float64(p.GPUNs)), k.Basis))
	}
	return out
}

// whole is an amount of operations or bytes as a whole number; 0 when unknown.
func whole(r frame.Record, column string) (int64, error) {
	v, known := r.Finite(column)
	if !known {
		return 0, nil
	}
	if v = math.Round(v); v < 0 || v >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is %g, which a profile cannot hold", column, v)
	}
	return int64(v), nil
}

// framesOf puts a stack together. A stage comes first, unless a range around the launch has its name.
func framesOf(r frame.Record) ([]string, error) {
	ranges, isKnown := []string{"(no launch)"}, r.Text("ranges") != ""
	if isKnown {
		if err := json.Unmarshal([]byte(r.Text("ranges")), &ranges); err != nil {
			return nil, fmt.Errorf("ranges: %w", err)
		}
	}
	frames := slices.Clone(ranges)
	for _, column := range []string{"modules", "operators"} {
		var names []string
		if err := json.Unmarshal([]byte(r.Text(column)), &names); err != nil {
			return nil, fmt.Errorf("%s: %w", column, err)
		}
		frames = append(frames, names...)
	}
	if r.Value("kernel") != nil {
		frames = append(frames, r.Text("kernel"))
	}
	if stage := r.Text("stage"); isKnown && !slices.Contains(ranges, stage) {
		frames = slices.Insert(frames, 0, stage)
	}
	return frames, nil
}
