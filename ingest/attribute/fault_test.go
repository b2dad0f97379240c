package attribute

import (
	"maps"
	"testing"
)

// Each fault of device work is told, and nothing of work that could have run as it is recorded.
func TestFaults(t *testing.T) {
	const stream, other, queue = 0, 1, NoStream
	type work struct {
		start, end int64
		launch     int32 // place in launches; NoLaunch
		label      int32
		stream     int32
	}
	// Launches 0, 1, 2 are calls of 5 ns at 0, 10 and 20; what they launch begins from then on. Label 0 is a kernel, 1 a copy.
	for name, c := range map[string]struct {
		works []work
		waits []Wait
		want  map[Fault]int64
	}{
		"in order":                       {works: []work{{3, 8, 0, 0, stream}, {12, 30, 1, 0, stream}, {30, 40, 2, 1, stream}}},
		"a dependent launch":             {works: []work{{3, 20, 0, 0, stream}, {12, 30, 1, 0, stream}}, want: map[Fault]int64{EarlyStart: 1}},
		"two streams at once":            {works: []work{{3, 50, 0, 0, stream}, {12, 30, 1, 0, other}}},
		"other streams in another order": {works: []work{{22, 30, 2, 0, other}, {40, 50, 0, 0, stream}}},
		"queues overlap":                 {works: []work{{3, 50, 0, 0, queue}, {12, 30, 1, 0, queue}, {40, 41, 0, 0, queue}}},
		"nodes of a graph":               {works: []work{{3, 50, 0, 0, stream}, {12, 30, 0, 0, stream}}, want: map[Fault]int64{EarlyStart: 1}},
		"a copy that the CPU makes":      {works: []work{{3, 50, 0, 2, stream}, {12, 30, 1, 0, stream}}},
		"a copy of nothing":              {works: []work{{3, 3, 0, 1, stream}}},
		"recorded twice":                 {works: []work{{3, 8, 0, 0, stream}, {3, 8, 0, 0, stream}}, want: map[Fault]int64{RepeatedRecord: 1}},
		"no time":                        {works: []work{{3, 3, 0, 0, stream}}, want: map[Fault]int64{NoTime: 1}},
		"before its launch":              {works: []work{{9, 12, 1, 0, stream}}, want: map[Fault]int64{WorkBeforeLaunch: 1}},
		"before its launch in a queue":   {works: []work{{9, 12, 1, 0, queue}}, want: map[Fault]int64{WorkBeforeLaunch: 1}},
		"inside earlier work":            {works: []work{{3, 50, 0, 0, stream}, {12, 30, 1, 0, stream}, {50, 60, 2, 0, stream}}, want: map[Fault]int64{StreamOverlap: 1}},
		"after later work":               {works: []work{{12, 15, 1, 0, stream}, {16, 20, 0, 0, stream}, {20, 22, 0, 0, stream}}, want: map[Fault]int64{StreamOrder: 2, NextToStreamOrder: 1}},
		"a launch lost":                  {works: []work{{3, 8, 0, 0, stream}, {9, 10, NoLaunch, 0, stream}}, want: map[Fault]int64{NoLaunchCaptured: 1}},
		"launched before the capture":    {works: []work{{1, 2, NoLaunch, 0, stream}, {3, 8, 0, 0, stream}}, want: map[Fault]int64{LaunchedBefore: 1}},
		"no launches at all":             {works: []work{{1, 2, NoLaunch, 0, stream}, {3, 8, NoLaunch, 0, stream}}, want: map[Fault]int64{NoLaunchCaptured: 2}},
		"after a wait for it":            {works: []work{{3, 9 + waitSlack + 1, 0, 0, stream}}, waits: []Wait{{PID: 1, Start: 6, End: 9}}, want: map[Fault]int64{WorkAfterWait: 1}},
		"before a wait for it ends":      {works: []work{{3, 9 + waitSlack, 0, 0, stream}}, waits: []Wait{{PID: 1, Start: 6, End: 9}}},
		"after a wait for other work":    {works: []work{{12, 9 + waitSlack + 1, 1, 0, stream}}, waits: []Wait{{PID: 1, Start: 6, End: 9}}},
		"after a wait elsewhere":         {works: []work{{3, 9 + waitSlack + 1, 0, 0, stream}}, waits: []Wait{{PID: 2, Start: 6, End: 9}}},
	} {
		t.Run(name, func(t *testing.T) {
			labels, streams := &Labels{}, &Streams{}
			labels.Of(Label{Kind: Kernel, KernelName: 1})
			labels.Of(Label{Kind: Memop, Operation: "memcpy"})
			labels.Of(Label{Kind: Memop, Operation: "memcpy Host-to-Host"})
			list := &WorkList{}
			for _, w := range c.works {
				at := NoStream
				if w.stream != NoStream {
					at = streams.Of(Stream{PID: 1, ID: w.stream})
				}
				list.Add(Work{Start: w.start, End: w.end, Launch: w.launch, Label: w.label, Stream: at})
			}
			lines, err := Build(nil, nil, nil, MaxCrossings)
			if err != nil {
				t.Fatal(err)
			}
			sums := SumRanges(Source{Work: []*WorkList{list}, Lines: lines, Labels: labels, Streams: streams, Waits: c.waits,
				Caller: func(k int32) Caller { return Caller{Node: NoNode, Start: 10 * int64(k), End: 10*int64(k) + 5} }}, 0)
			got := map[Fault]int64{}
			for at, sum := range sums.faults {
				got[at.fault] += sum.count
			}
			if !maps.Equal(got, c.want) {
				t.Errorf("faults %v, want %v", got, c.want)
			}
		})
	}
}

// Launches without device work are counted but for those that a stream capture recorded, and those of the driver within another.
func TestUnmet(t *testing.T) {
	u := &Unmet{}
	a, b := u.List(), u.List()
	a.Add(LaunchesWork, 0, NoNode, 7, 0, 5)
	a.Add(LaunchesWork, 0, NoNode, 8, 1, 4) // within the one before
	a.Add(BeginsCapture, 0, NoNode, 0, 10, 12)
	b.Add(LaunchesWork, 0, NoNode, 7, 13, 14)
	b.Add(LaunchesWork, 1, NoNode, 7, 13, 14) // another thread of the process
	b.Add(LaunchesWork, 2, NoNode, 7, 13, 14) // another process
	b.Add(EndsCapture, 0, NoNode, 0, 20, 22)
	b.Add(LaunchesWork, 0, NoNode, 7, 21, 23)
	a.Add(LaunchesWork, 0, 3, 7, 30, 31)
	a.Add(BeginsCapture, 0, NoNode, 0, 40, 41) // which does not end
	a.Add(LaunchesWork, 0, NoNode, 7, 50, 51)
	a.Add(WaitsForStream, 0, NoNode, 9, 60, 70)
	a.Add(NoEffect, 0, NoNode, 9, 60, 70)
	sums := u.sums(func(thread int32) int32 { return thread / 2 })
	want := []unmetSum{{place{0, NoNode}, 7, 2, 0, 21}, {place{0, 3}, 7, 1, 30, 30}, {place{2, NoNode}, 7, 1, 13, 13}}
	if len(sums) != len(want) {
		t.Fatalf("%+v, want %+v", sums, want)
	}
	for i := range want {
		if sums[i] != want[i] {
			t.Errorf("%+v, want %+v", sums[i], want[i])
		}
	}
	if w := u.Waits(); len(w) != 1 || w[0] != (Wait{0, true, 60, 70}) {
		t.Errorf("waits %+v", w)
	}
}

// A process whose first call of a capture is its end was capturing when the recording began.
func TestUnmetCaptureBefore(t *testing.T) {
	u := &Unmet{}
	l := u.List()
	l.Add(LaunchesWork, 0, NoNode, 7, 0, 5)
	l.Add(EndsCapture, 0, NoNode, 0, 10, 12)
	l.Add(LaunchesWork, 0, NoNode, 7, 20, 25)
	if sums := u.sums(func(int32) int32 { return 0 }); len(sums) != 1 || sums[0].count != 1 || sums[0].first != 20 {
		t.Errorf("%+v", sums)
	}
}

func TestEffectOf(t *testing.T) {
	for name, want := range map[string]Effect{"cudaLaunchKernel_v7000": LaunchesWork, "cuLaunchKernelEx": LaunchesWork, "hipExtModuleLaunchKernel": LaunchesWork, "cudaGraphLaunch_v10000": LaunchesWork, "cudaMemcpyAsync": LaunchesWork,
		"cudaMemsetAsync": LaunchesWork, "cudaStreamBeginCapture_v10000": BeginsCapture, "cuStreamEndCapture": EndsCapture, "cudaDeviceSynchronize": WaitsForDevice, "cuCtxSynchronize": WaitsForDevice, "hipStreamSynchronize": WaitsForStream,
		"cudaEventSynchronize": NoEffect, "cudaLaunchHostFunc": NoEffect, "cudaGraphAddKernelNode": NoEffect, "cudaMalloc": NoEffect, "cudaStreamIsCapturing": NoEffect} {
		if got := EffectOf(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}
