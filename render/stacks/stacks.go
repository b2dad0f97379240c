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

var stackRows = frame.RowsOf[row](Query)

// row is a row of Query.
type row struct {
	Stage        string   `col:"stage"`
	Pass         *int64   `col:"pass"`
	IsWarmup     *bool    `col:"is_warmup"`
	Ranges       string   `col:"ranges"` // "" where the launch was not captured
	Modules      string   `col:"modules"`
	Operators    string   `col:"operators"`
	Kernel       string   `col:"kernel"`
	Family       string   `col:"family"`
	Role         string   `col:"role"`
	PID          *int64   `col:"pid"`
	RankID       *int64   `col:"rank_id"`
	Device       *int64   `col:"device"`
	Stream       *int64   `col:"stream"`
	Calls        int64    `col:"calls"`
	TotalNs      int64    `col:"total_ns"`
	LaunchNs     *int64   `col:"launch_ns"`
	MeasuredFLOP *float64 `col:"measured_flop"`
	MeasuredNs   *int64   `col:"measured_ns"`
	DRAMBytes    *float64 `col:"dram_bytes"`
	DRAMNs       *int64   `col:"dram_ns"`
	FormulaFLOP  *float64 `col:"formula_flop"`
	FormulaNs    *int64   `col:"formula_ns"`
}

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
	rows, err := stackRows.Of(f)
	if err != nil {
		return nil, err
	}
	p := &Profile{}
	isOmitted := func(r row) bool { return frame.Or(r.IsWarmup, false) && !o.Warmup }
	flop := p.weigh(slices.DeleteFunc(slices.Clone(rows), isOmitted))
	for i, r := range rows {
		if isOmitted(r) {
			p.Omitted += r.Calls
			continue
		}
		s := Stack{Calls: r.Calls, GPUNs: r.TotalNs, LaunchNs: frame.Or(r.LaunchNs, 0), Labels: map[string]string{}, Numbers: map[string]int64{}}
		if s.FLOP, err = whole("FLOP", flop(r)); err == nil {
			s.Bytes, err = whole("bytes", r.DRAMBytes)
		}
		if err == nil {
			s.Frames, err = framesOf(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: row %d: %w", f.Query, i+1, err)
		}
		for name, text := range map[string]string{"stage": r.Stage, "family": r.Family, "role": r.Role} {
			if text != "" {
				s.Labels[name] = text
			}
		}
		for name, n := range map[string]*int64{"pass": r.Pass, "pid": r.PID, "rank": r.RankID, "device": r.Device, "stream": r.Stream} {
			if n != nil {
				s.Numbers[name] = *n
			}
		}
		p.Stacks = append(p.Stacks, s)
	}
	return p, nil
}

// weigh sums up of how much time FLOP and bytes are known, and returns the FLOP that cover most of it: those that the hardware counts, padding
// included, and those of formulas do not add up.
func (p *Profile) weigh(rows []row) func(row) *float64 {
	var measured, formula int64
	for _, r := range rows {
		p.GPUNs += r.TotalNs
		measured += frame.Or(r.MeasuredNs, 0)
		formula += frame.Or(r.FormulaNs, 0)
		p.Bytes.Ns += frame.Or(r.DRAMNs, 0)
	}
	const mean = "Nsight Compute, mean of the profiled launches of a kernel, grid and block"
	p.Bytes.Basis = mean + ", DRAM"
	if formula > measured {
		p.FLOP = Known{formula, "PyTorch's formulas of operators"}
		return func(r row) *float64 { return r.FormulaFLOP }
	}
	p.FLOP = Known{measured, mean}
	return func(r row) *float64 { return r.MeasuredFLOP }
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
func whole(what string, amount *float64) (int64, error) {
	v, known := frame.Finite(amount)
	if !known {
		return 0, nil
	}
	if v = math.Round(v); v < 0 || v >= math.MaxInt64 {
		return 0, fmt.Errorf("%s is %g, which a profile cannot hold", what, v)
	}
	return int64(v), nil
}

// framesOf puts a stack together. A stage comes first, unless a range around the launch has its name.
func framesOf(r row) ([]string, error) {
	ranges, isKnown := []string{"(no launch)"}, r.Ranges != ""
	if isKnown {
		if err := json.Unmarshal([]byte(r.Ranges), &ranges); err != nil {
			return nil, fmt.Errorf("ranges: %w", err)
		}
	}
	frames := slices.Clone(ranges)
	for _, list := range [][2]string{{"modules", r.Modules}, {"operators", r.Operators}} {
		var names []string
		if err := json.Unmarshal([]byte(list[1]), &names); err != nil {
			return nil, fmt.Errorf("%s: %w", list[0], err)
		}
		frames = append(frames, names...)
	}
	if r.Kernel != "" {
		frames = append(frames, r.Kernel)
	}
	if stage := r.Stage; isKnown && !slices.Contains(ranges, stage) {
		frames = slices.Insert(frames, 0, stage)
	}
	return frames, nil
}
