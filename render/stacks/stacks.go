// Package stacks writes the kernels of a run as stacks, for tools that draw flame graphs.
package stacks

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"prof/queries/frame"
	"prof/render/typeset"
)

// Query is the query that stacks are read from.
const Query = "kernel-stacks"

// Stack is a kernel with what launched it, and what it took there.
type Stack struct {
	Frames   []string // outermost first: the stage, the ranges and operators around the launch, the kernel
	Calls    int64
	GPUNs    int64             // sum of their durations
	LaunchNs int64             // CPU time in the calls that launched them; 0 when unknown
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
func Forms() typeset.Forms[[]Stack, Options] {
	return typeset.Forms[[]Stack, Options]{
		{Name: Pprof, Doc: "profile.proto, gzip: go tool pprof, Speedscope, Pyroscope", Write: writePprof},
		{Name: "folded", Doc: "a line for each stack with its GPU time in ns: flamegraph.pl, inferno", Write: writeFolded},
	}
}

// Read reads the rows of Query. Without o.Warmup it omits warm-up passes, and gives how many of the kernels were theirs.
func Read(f *frame.Frame, o Options) (list []Stack, omitted int64, err error) {
	rows, err := f.Records("stage", "is_warmup", "ranges", "operators", "kernel", "family", "role", "pass", "pid", "rank_id", "device", "stream", "calls", "total_ns", "launch_ns")
	if err != nil {
		return nil, 0, err
	}
	for i, r := range rows {
		if r.Is("is_warmup") && !o.Warmup {
			omitted += r.Count("calls")
			continue
		}
		s := Stack{Calls: r.Count("calls"), GPUNs: r.Count("total_ns"), Labels: map[string]string{}, Numbers: map[string]int64{}}
		if ns := r.Whole("launch_ns"); ns != nil {
			s.LaunchNs = *ns
		}
		if s.Frames, err = framesOf(r); err != nil {
			return nil, 0, fmt.Errorf("%s: row %d: %w", f.Query, i+1, err)
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
		list = append(list, s)
	}
	return list, omitted, nil
}

// framesOf puts a stack together. A stage comes first, unless a range around the launch has its name.
func framesOf(r frame.Record) ([]string, error) {
	ranges, isKnown := []string{"(no launch)"}, r.Text("ranges") != ""
	if isKnown {
		if err := json.Unmarshal([]byte(r.Text("ranges")), &ranges); err != nil {
			return nil, fmt.Errorf("ranges: %w", err)
		}
	}
	var operators []string
	if err := json.Unmarshal([]byte(r.Text("operators")), &operators); err != nil {
		return nil, fmt.Errorf("operators: %w", err)
	}
	frames := slices.Concat(ranges, operators, []string{r.Text("kernel")})
	if stage := r.Text("stage"); isKnown && !slices.Contains(ranges, stage) {
		frames = slices.Insert(frames, 0, stage)
	}
	return frames, nil
}
