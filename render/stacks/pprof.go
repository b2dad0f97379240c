package stacks

import (
	"io"
	"maps"
	"slices"

	"github.com/google/pprof/profile"
)

// writePprof writes profile.proto. Every frame is a function; rows of the query become samples with their labels.
func writePprof(w io.Writer, from *Profile, o Options) error {
	p := &profile.Profile{
		SampleType:        []*profile.ValueType{{Type: "gpu_time", Unit: "nanoseconds"}, {Type: "kernels", Unit: "count"}, {Type: "launch_time", Unit: "nanoseconds"}},
		DefaultSampleType: "gpu_time",
		Comments:          append([]string{"run " + o.Run}, from.Notes()...),
	}
	values := []func(Stack) int64{func(s Stack) int64 { return s.GPUNs }, func(s Stack) int64 { return s.Calls }, func(s Stack) int64 { return s.LaunchNs }}
	// Where nothing is known there is no type: readers would take its zeros for figures.
	if from.FLOP.Ns > 0 {
		p.SampleType, values = append(p.SampleType, &profile.ValueType{Type: "flop", Unit: "count"}), append(values, func(s Stack) int64 { return s.FLOP })
	}
	if from.Bytes.Ns > 0 {
		p.SampleType, values = append(p.SampleType, &profile.ValueType{Type: "bytes", Unit: "bytes"}), append(values, func(s Stack) int64 { return s.Bytes })
	}
	if !o.Captured.IsZero() {
		p.TimeNanos = o.Captured.UnixNano()
	}
	// A mapping with functions keeps pprof from looking for a program to read symbols from.
	m := &profile.Mapping{ID: 1, File: o.Run, HasFunctions: true}
	p.Mapping = []*profile.Mapping{m}
	known := map[string]*profile.Location{}
	locate := func(name string) *profile.Location {
		if l := known[name]; l != nil {
			return l
		}
		id := uint64(len(p.Location)) + 1
		f := &profile.Function{ID: id, Name: name} // with the same SystemName pprof would take off template arguments, and kernels would fall together
		l := &profile.Location{ID: id, Mapping: m, Line: []profile.Line{{Function: f}}}
		p.Function, p.Location, known[name] = append(p.Function, f), append(p.Location, l), l
		return l
	}
	for _, s := range from.Stacks {
		if s.Calls == 0 && (s.FLOP == 0 || from.FLOP.Ns == 0) {
			continue
		}
		sample := &profile.Sample{Label: map[string][]string{}, NumLabel: map[string][]int64{}}
		for _, value := range values {
			sample.Value = append(sample.Value, value(s))
		}
		for _, f := range slices.Backward(s.Frames) {
			sample.Location = append(sample.Location, locate(f))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
			sample.Label[name] = []string{s.Labels[name]}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Numbers)) {
			sample.NumLabel[name] = []int64{s.Numbers[name]}
		}
		p.Sample = append(p.Sample, sample)
	}
	if err := p.CheckValid(); err != nil {
		return err
	}
	return p.Write(w)
}
