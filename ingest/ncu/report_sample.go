package ncu

import (
	"math"
	"slices"
	"strings"
)

// PM sampling reads counters every so many nanoseconds while a kernel runs. The counters do not fit into one run of it: each of several passes samples some.
// Samples are instances of a metric, with the time at which the sample begins, by the GPU's clock; it ends where the next one begins. The kernel begins and ends
// in each pass at the times that instances of profiler__timestamp_workload_start_N and _end_N have.

// maxSamples bounds what is kept of a metric of one result: of more, neighbours are put together, two and two.
const maxSamples = 512

// Sample is the value of a sampled metric over a part of a kernel's time.
type Sample struct {
	StartNs, EndNs int64   // from the kernel's begin in the pass that sampled the metric; a sample begins before the kernel and ends after it
	Count          int32   // samples: neighbours of one value are one Sample
	Value          float64 // mean of the samples
}

// workload is when a kernel ran in one pass, by the GPU's clock.
type workload struct{ start, end uint64 }

const workloadStart, workloadEnd = "profiler__timestamp_workload_start_", "profiler__timestamp_workload_end_"

// EachSampled calls f for every sampled metric of the result that Each is at, with its samples while the kernel ran. Samples of the time before and after it,
// and those of which no pass says when it ran, are left out: they count as read.
func (r *Report) EachSampled(f func(metric, unit string, list []Sample) error) (read int64, err error) {
	defer func() { err = r.damagedResult(err) }()
	ran, err := r.workloads()
	if err != nil || len(ran) == 0 {
		return 0, err
	}
	for _, msg := range r.at.instanced {
		var id, begin, step uint64
		var value float64
		var list []Sample
		every := int32(1)
		until := func(end uint64) { // takes the sample that has begun
			at := slices.IndexFunc(ran, func(w workload) bool { return end > w.start && begin < w.end })
			if begin == 0 || end <= begin || end > math.MaxInt64 || at < 0 {
				return
			}
			s := Sample{int64(begin - ran[at].start), int64(end - ran[at].start), 1, value}
			if n := len(list); n > 0 && s.StartNs < list[n-1].EndNs { // no time counts twice
				return
			}
			if list = put(list, s, every); len(list) > maxSamples {
				list, every = halved(list), 2*every
			}
		}
		err := eachField(msg, func(x field) error {
			switch {
			case x.number(1):
				id = x.int
			case x.message(3) && !strings.HasPrefix(r.strings[id], "profiler__"):
				at, v, ok, err := instance(x.bytes)
				if err != nil || !ok {
					return err
				}
				until(at)
				begin, step, value = at, at-begin, v
			}
			return nil
		})
		if err != nil {
			return read, err
		}
		until(begin + step)
		for _, s := range list {
			read += int64(s.Count)
		}
		if len(list) > 0 {
			if err := f(r.strings[id], r.unit(id), list); err != nil {
				return read, err
			}
		}
	}
	return read, nil
}

// workloads returns when the kernel ran in each pass.
func (r *Report) workloads() ([]workload, error) {
	starts, ends := map[string]uint64{}, map[string]uint64{}
	for _, msg := range r.at.instanced {
		var into map[string]uint64
		var pass string
		err := eachField(msg, func(x field) error {
			switch {
			case x.number(1) && x.int < uint64(len(r.strings)):
				var isStart, isEnd bool
				if pass, isStart = strings.CutPrefix(r.strings[x.int], workloadStart); isStart {
					into = starts
				} else if pass, isEnd = strings.CutPrefix(r.strings[x.int], workloadEnd); isEnd {
					into = ends
				}
			case x.message(3) && into != nil:
				at, _, ok, err := instance(x.bytes)
				if ok {
					into[pass] = at
				}
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	var out []workload
	for pass, start := range starts {
		if end := ends[pass]; end > start {
			out = append(out, workload{start, end})
		}
	}
	return out, nil
}

// put adds a sample to those before it: to the last one where that has the same value, or fewer samples than are kept as one.
func put(list []Sample, s Sample, every int32) []Sample {
	if n := len(list); n > 0 && list[n-1].EndNs == s.StartNs && (list[n-1].Value == s.Value || list[n-1].Count < every) {
		list[n-1] = joined(list[n-1], s)
		return list
	}
	return append(list, s)
}

// joined is two neighbours as one.
func joined(a, b Sample) Sample {
	n := a.Count + b.Count
	value := a.Value
	if a.Value != b.Value {
		value = (a.Value*float64(a.Count) + b.Value*float64(b.Count)) / float64(n)
	}
	return Sample{a.StartNs, b.EndNs, n, value}
}

// halved puts neighbours together, two and two.
func halved(list []Sample) []Sample {
	out := list[:0]
	for i := 0; i < len(list); i += 2 {
		if i+1 < len(list) && list[i].EndNs == list[i+1].StartNs {
			out = append(out, joined(list[i], list[i+1]))
		} else {
			out = append(out, list[i:min(i+2, len(list))]...)
		}
	}
	return out
}
