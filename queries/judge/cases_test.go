package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"prof/queries/frame"
	"prof/queries/judge"
)

// rankReport is a stage of two GPUs of which GPU 0 waits in collectives; late is what GPU 1 does.
// GPU 0 and GPU 1, the later one, are waited for so long, of 250 ms in collectives.
func rankReport(late []idlePart, first, second int64) *judge.Report {
	waits := func(device, ns int64) []any {
		return []any{"decode", fmt.Sprintf("GPU %d (pid %d)", device, 756+device), ns, nil, int64(1), int64(2), ns, int64(2), 125 * ms, int64(0), int64(1), int64(1), device}
	}
	finding := findingRow("collective-wait", "decode", 260*ms, nil)
	finding[7] = `{"rank_count":2,"collective_count":96,"collectives_ns":300e6,"exposed_ns":260e6,"wait_ns":260e6,"pass_count":3,"max_ns":1000,"median_ns":7}`
	return reportOf(threePasses("decode"), accountingOf("decode", []idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"collective-exposed", "busy", 260 * ms, 90 * ms}}, late),
		answer("late-ranks", lateColumns, waits(1, second), waits(0, first)),
		passesAnswer("passes", []any{"decode", int64(2), int64(1), int64(7), false, 100 * ms, 90 * ms, int64(5)}, []any{"decode", int64(1), int64(1), int64(7), true, 100 * ms, 90 * ms, int64(1)}),
		answer("findings", findingColumns, finding), answer("finding-rules", "finding query options detail", []any{"collective-wait", "stragglers", "source", nil}))
}

// TestLateBySlowGPU holds that of a GPU that comes late since its kernels take longer, that is what advice is about.
func TestLateBySlowGPU(t *testing.T) {
	r := rankReport([]idlePart{{"compute", "busy", 250 * ms, 84 * ms}}, 10*ms, 190*ms)
	f := r.Frames["findings"]
	for device := range 2 {
		slow := findingRow("slow-gpu", "decode", 50*ms, nil)
		slow[7], slow[10] = judge.WholeFigures("slow-gpu", `{"gpu_count":2,"call_count":9,"calls_ns":90e6,"usual_ns":60e6,"slower_ns":90e6}`), int64(device)
		f.Rows = append(f.Rows[:1:1], append(slow, 300e6, 50e6, false))
		if got := summarise(t, r).Findings[0].Advice; (device == 1) != strings.HasPrefix(got, "find why GPU 1 takes longer than the others for the same kernels (slow-gpu)") {
			t.Errorf("GPU %d is slow: %q", device, got)
		}
	}
}

// TestLateByItsOwn holds that what makes a GPU late is said to be what the others wait for: both savings are of the same time.
func TestLateByItsOwn(t *testing.T) {
	r := rankReport([]idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"launch", "launch-bound", 210 * ms, 70 * ms}}, 10*ms, 190*ms)
	f := r.Frames["findings"]
	for device := range 2 {
		own := findingRow("launch-bound", "decode", 50*ms, nil)
		own[7], own[10] = judge.WholeFigures("launch-bound", `{"busy_ratio":0.4,"launch_ns":60e6,"pass_count":3,"max_ns":1000,"median_ns":7}`), int64(device)
		f.Rows = append(f.Rows[:1:1], append(own, 300e6, 50e6, false))
		if got := summarise(t, r).Findings[0].Evidence; (device == 1) != strings.HasSuffix(got, "; GPU 1 is late for reasons that are findings of their own (launch-bound): those savings and this one do not add up") {
			t.Errorf("GPU %d launches late: %q", device, got)
		}
	}
}

// TestLateOnce holds that of a GPU that came late in one pass of several no waiting in all of them is said.
func TestLateOnce(t *testing.T) {
	r := rankReport([]idlePart{{"compute", "busy", 250 * ms, 84 * ms}}, 0, 190*ms)
	f := r.Frames["late-ranks"]
	for _, row := range f.Rows {
		row[f.Index("pass_count")] = int64(3)
	}
	found := r.Frames["findings"]
	for saving, want := range map[float64][2]string{
		5e6:  {"GPU 1 was late for collectives in one pass of 3", "check what differs on GPU 1 in pass 2"},
		90e6: {"GPUs wait for GPU 1 in collectives", "find what GPU 1 does before its passes, which begin late; a faster or overlapped collective does not fix that"},
	} {
		found.Rows[0][found.Index("pass_saving_ns")], found.Rows[0][found.Index("pass_span_ns")] = saving, 100e6
		if x := summarise(t, r).Findings[0]; x.Title != want[0] || x.Advice != want[1] {
			t.Errorf("%v: %s: %s", saving, x.Title, x.Advice)
		}
	}
	found.Rows[0][found.Index("pass_saving_ns")] = 5e6
	found.Rows[0][7] = `{"rank_count":2,"collective_count":96,"collectives_ns":300e6,"exposed_ns":260e6,"wait_ns":260e6,"pass_count":3,"max_ns":1000,"median_ns":7,"shared_count":null,"shared_ns":null,"streams":null,
		"late":[{"device":1,"wait_ns":260e6,"longest_ns":250e6,"cause":"call","cause_ns":240e6,"call":"cuLibraryLoadData","call_ns":230e6}]}`
	const want = "keep cuLibraryLoadData out of pass 2 on GPU 1: load code and allocate memory before the measured passes, by a warm-up with every shape that follows"
	if x := summarise(t, r).Findings[0]; x.Advice != want {
		t.Errorf("a call delays it: %s", x.Advice)
	}
}

// TestLateOnOneGPU holds that of ranks that share GPUs the late one is named, whichever GPU waits.
func TestLateOnOneGPU(t *testing.T) {
	for device := range 2 {
		r := rankReport([]idlePart{{"compute", "busy", 250 * ms, 84 * ms}}, 0, 190*ms)
		f := r.Frames["late-ranks"]
		f.Rows[0][f.Index("device")], f.Rows[0][f.Index("rank")] = int64(device), "rank 5"
		if got := summarise(t, r).Findings[0].Title; strings.HasPrefix(got, "Ranks wait") {
			t.Errorf("late on GPU %d, a GPU each: %s", device, got)
		}
		other := slices.Clone(f.Rows[1])
		other[f.Index("rank")] = "rank 6"
		f.Rows = append(f.Rows, other)
		const want = "Ranks wait for rank 5 in collectives: find what makes rank 5 late, and balance the work; a faster or overlapped collective does not fix that"
		if x := summarise(t, r).Findings[0]; x.Title+": "+x.Advice != want {
			t.Errorf("late on GPU %d: %s: %s", device, x.Title, x.Advice)
		}
	}
}

// TestSummaryLate holds that waiting for a GPU that comes late is not called communication, and that the late one is what advice is about.
func TestSummaryLate(t *testing.T) {
	launching := []idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"launch", "launch-bound", 210 * ms, 70 * ms}}
	for _, c := range []struct {
		name        string
		late        []idlePart
		first       int64
		second      int64
		bound, next judge.Bound
		why, advice string
	}{
		{"by rank", launching, 10 * ms, 190 * ms, judge.LateBound, judge.LaunchBound,
			"80.0 % of the time that all GPUs spend in them (200 ms of 250 ms) is waiting for a late GPU, 95.0 % of that for GPU 1; GPU 1 itself is busy 16.0 % of its time; it waits for the next launch 84.0 % of the time (210 ms of 250 ms)",
			"get GPU 1 to the collectives in time (it waits for the next launch); a faster or overlapped collective does not fix that"},
		{"by GPU, and late before its passes", []idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"launch", "launch-bound", 10 * ms, 4 * ms}}, 0, 200 * ms, judge.LateBound, "",
			"100.0 % of that for GPU 1; that is more than GPU 1 idles in its passes (10.0 ms): it begins them late",
			"find what GPU 1 does before its passes, which begin late; a faster or overlapped collective does not fix that"},
		{"little waiting", launching, 0, 20 * ms, judge.CommBound, "",
			"that includes waiting for slower GPUs: 8.0 % of the time that all GPUs spend in collectives is waiting for a late GPU", "do collective-wait"},
		{"as much for one as for the other", launching, 100 * ms, 100 * ms, judge.CommBound, "",
			"80.0 % of the time that all GPUs spend in collectives is waiting for a late GPU", "do collective-wait"},
		{"for one of two more than for the other", launching, 70 * ms, 130 * ms, judge.LateBound, judge.LaunchBound,
			"65.0 % of that for GPU 1; GPU 1 itself is busy 16.0 % of its time; it waits for the next launch 84.0 % of the time (210 ms of 250 ms)",
			"get GPU 1 to the collectives in time (it waits for the next launch); a faster or overlapped collective does not fix that"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := summarise(t, rankReport(c.late, c.first, c.second))
			if got := s.Stages[0]; got.Bound != c.bound || got.Next != c.next || !strings.HasSuffix(got.Why, c.why) {
				t.Errorf("bound %s, next %q, %s\nwant %s, %q, ... %s", got.Bound, got.Next, got.Why, c.bound, c.next, c.why)
			}
			if s.Advice[0].Advice != c.advice {
				t.Errorf("advice %q, want %q", s.Advice[0].Advice, c.advice)
			}
			if isNamed := s.Advice[0].Title == "GPUs wait for GPU 1 in collectives"; isNamed && strings.Contains(s.Ranks[0].Words, "no rank is slow") {
				t.Errorf("a finding names a GPU of which is said: %s", s.Ranks[0].Words)
			}
			if f := s.Findings[0]; f.Command == f.Detail {
				t.Errorf("two commands of a finding are the same: %s", f.Command)
			}
			if c.bound == judge.LateBound && (s.Stages[0].Meaning != "GPU 1 arrives late at collectives, and GPU 0 waits for it" || s.Advice[0].Title != "GPUs wait for GPU 1 in collectives" || s.Advice[0].Command != "prof query stragglers --run a") {
				t.Errorf("meaning %q, advice %+v", s.Stages[0].Meaning, s.Advice[0])
			}
		})
	}
}

// TestSummaryLateLongest holds that a GPU which the others wait for is not what a stage is judged by, though it has the most time: that hangs by a hair. Of three
// GPUs the others wait, and one that has little of its time in collectives is judged by what it does.
func TestSummaryLateLongest(t *testing.T) {
	const waits = "the GPU is in collectives and computes nothing 86.7 % of the time (260 ms of 300 ms)"
	for launching, want := range map[int64][3]string{
		257: {"host", "GPU 1 arrives late at collectives, and GPU 0 waits for it", "on GPU 0, which has the most measured time of 2 GPUs, " + waits},
		261: {"host", "GPU 1 arrives late at collectives, and GPU 0 waits for it", "on GPU 0, which waits for GPU 1, " + waits},
	} {
		r := rankReport([]idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"host", "host", launching * ms, 90 * ms}}, 10*ms, 190*ms)
		check := func(next, meaning, why string) {
			t.Helper()
			if got := summarise(t, r).Stages[0]; got.Bound != judge.LateBound || string(got.Next) != next || got.Meaning != meaning || !strings.HasPrefix(got.Why, why) {
				t.Errorf("%d ms: bound %s, next %q, %s: %s\nwant %v", launching, got.Bound, got.Next, got.Meaning, got.Why, want)
			}
		}
		check(want[0], want[1], want[2])
		third := accountingOf("decode", nil, nil, []idlePart{{"compute", "busy", 50 * ms, 18 * ms}, {"collective-exposed", "busy", 200 * ms, 70 * ms}})
		r.Frames["accounting"].Rows = append(r.Frames["accounting"].Rows, third.Rows...)
		if launching > 260 {
			want[2] = "on GPU 0, which has the most measured time of those that wait for GPU 1, " + waits
		} else {
			want[2] = "on GPU 0, which has the most measured time of 3 GPUs, " + waits
		}
		check(want[0], "GPU 1 arrives late at collectives, and the others wait for it", want[2])
	}
	late := []idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"host", "host", 280 * ms, 90 * ms}}
	r := rankReport(late, 10*ms, 190*ms)
	r.Frames["accounting"].Rows = accountingOf("decode", []idlePart{{"compute", "busy", 200 * ms, 70 * ms}, {"collective-exposed", "busy", 100 * ms, 30 * ms}}, late).Rows
	if got := summarise(t, r).Stages[0]; got.Bound != judge.HostBound || got.Device != 1 {
		t.Errorf("little exposed: bound %s on GPU %d", got.Bound, got.Device)
	}
}

// TestSummaryLateInOne holds that a GPU which is late in one of two recordings, and another one in the other, is not what a stage waits for.
func TestSummaryLateInOne(t *testing.T) {
	for _, c := range []struct {
		late, other int64 // ns for which the others wait for GPU 1 and GPU 0 in the second recording
		bound       judge.Bound
		why         string
	}{
		{190 * ms, 10 * ms, judge.LateBound, "80.0 % of the time that all GPUs spend in them (400 ms of 500 ms) is waiting for a late GPU, 95.0 % of that for GPU 1"},
		{10 * ms, 190 * ms, judge.CommBound, "that includes waiting for slower GPUs: 80.0 % of the time that all GPUs spend in collectives is waiting for a late GPU"},
	} {
		r := rankReport([]idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"launch", "launch-bound", 210 * ms, 70 * ms}}, 10*ms, 190*ms)
		f := r.Frames["late-ranks"]
		for _, row := range f.Rows[:2:2] {
			row = slices.Clone(row)
			if row[2], row[11] = c.late, int64(2); row[12] == int64(0) {
				row[2] = c.other
			}
			row[1] = fmt.Sprintf("GPU %d (pid %d)", row[12], 800+row[12].(int64)) // another process
			f.Rows = append(f.Rows, row)
		}
		got := summarise(t, r)
		if x := got.Stages[0]; x.Bound != c.bound || !strings.Contains(x.Why, c.why) {
			t.Errorf("%d: bound %s, %s\nwant %s, ... %s", c.late, x.Bound, x.Why, c.bound, c.why)
		}
		if isNamed := got.Advice[0].Title == "GPUs wait for GPU 1 in collectives"; isNamed != (c.bound == judge.LateBound) {
			t.Errorf("%d: %s", c.late, got.Advice[0].Title)
		}
	}
}

// TestSummaryLateShared holds that of ranks that share GPUs the late one is named, of which the time of its GPU says nothing.
func TestSummaryLateShared(t *testing.T) {
	r := rankReport([]idlePart{{"compute", "busy", 40 * ms, 14 * ms}, {"collective-exposed", "busy", 250 * ms, 90 * ms}, {"launch", "launch-bound", 3 * ms, 1 * ms}}, 10*ms, 190*ms)
	f := r.Frames["late-ranks"]
	for i, row := range f.Rows[:2:2] {
		row[1] = fmt.Sprintf("rank %d", 5-5*i)
		row = slices.Clone(row)
		row[1], row[2] = fmt.Sprintf("rank %d", 4-3*i), int64(0)
		f.Rows = append(f.Rows, row)
	}
	const why = "on GPU 0, which has the most measured time of 2 GPUs, the GPU is in collectives and computes nothing 86.7 % of the time (260 ms of 300 ms); 100.0 % of the time that all GPUs spend in them (200 ms of 200 ms) is waiting for a late GPU, 95.0 % of that for rank 5"
	f.Rows[0][8], f.Rows[1][8], f.Rows[2][8], f.Rows[3][8] = 50*ms, 50*ms, 50*ms, 50*ms // in collectives
	if got := summarise(t, r).Stages[0]; got.Label != "waits for rank 5" || got.Meaning != "rank 5 arrives late at collectives, and the others wait for it" || got.Why != why {
		t.Errorf("%s: %s: %s", got.Label, got.Meaning, got.Why)
	}
}

// TestSummaryGaps holds that idle time of one gap is not taken for many, and is doubted at the edge of the capture.
func TestSummaryGaps(t *testing.T) {
	gap := func(start, length int64) *frame.Frame {
		return answer("longest-gaps of prefill", "duration_ns start_ns source_id pid queued_ns", []any{length, start, int64(1), int64(7), length}, []any{ms, 150 * ms, int64(1), int64(7), ms})
	}
	passes := passesAnswer("passes", []any{"prefill", int64(1), int64(1), int64(7), false, 200 * ms, 100 * ms, int64(5)})
	for _, c := range []struct {
		name      string
		gaps      *frame.Frame
		why, but  string
		isOneGap  bool
		sourceEnd int64
	}{
		{"at the start", gap(100_000, 95*ms), ", nearly all of it in one gap of 95.0 ms", "that gap begins 100 us after the start of the capture: it may come from the profiler starting or stopping, not from the work", true, 900 * ms},
		{"at the end", gap(30*ms, 95*ms), ", nearly all of it in one gap of 95.0 ms", "that gap ends 500 us before the end of the capture: it may come from the profiler starting or stopping, not from the work", true, 125*ms + 500_000},
		{"inside", gap(30*ms, 95*ms), ", nearly all of it in one gap of 95.0 ms", "", true, 900 * ms},
		{"of no measured pass", gap(1, 95*ms), "(100 ms of 200 ms)", "", false, 900 * ms},
		{"many", gap(30*ms, 5*ms), "(100 ms of 200 ms)", "", false, 900 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := summarise(t, reportOf(threePasses("prefill"), passes, accountingOf("prefill", []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"queued", "queued", 100 * ms, 40 * ms}}), c.gaps,
				answer("sources", "kind status reason path source_id duration_ns", []any{"nsys", "ok", nil, "a", int64(1), c.sourceEnd}), answer("findings", findingColumns, findingRow("queued", "prefill", 100*ms, nil))))
			got := s.Stages[0]
			if got.Bound != judge.QueueBound || !strings.HasSuffix(got.Why, c.why) || got.But != c.but {
				t.Errorf("bound %s, why %q, but %q", got.Bound, got.Why, got.But)
			}
			advice := "do queued"
			if c.isOneGap {
				advice = "find what the GPU or the profiler does in the one gap that has nearly all of it; fewer or larger kernels do not fix that"
			}
			if s.Advice[0].Advice != advice {
				t.Errorf("advice %q, want %q", s.Advice[0].Advice, advice)
			}
		})
	}
}

// TestSummaryCopies holds what is said of copies by what they are.
func TestSummaryCopies(t *testing.T) {
	for _, c := range []struct{ rule, name, numbers, why, meaning, advice string }{
		{"exposed-copies", "memcpy Host-to-Device", `{"copy_count":450,"copies_ns":78000000,"copied_bytes":2158000000,"all_ns":80000000}`,
			"the GPU copies from CPU memory and computes nothing 80.0 % of the time (80.0 ms of 100 ms); most of that is memcpy Host-to-Device: 450 calls, 78.0 ms, 2.16 GB at 27.7 GB/s",
			"host-to-device copies run while no kernel does", "keep data that is copied repeatedly on the GPU (offloaded weights), copy from pinned memory, and overlap copies with kernels on another stream"},
		{"pageable-copies", "", `{"copy_count":450,"copies_ns":78000000,"copied_bytes":2158000000,"alone_ns":80000000}`,
			"the GPU copies from CPU memory and computes nothing 80.0 % of the time (80.0 ms of 100 ms); most of that is memcpy Host-to-Device: 450 calls, 78.0 ms, 2.16 GB at 27.7 GB/s",
			"host-to-device copies run while no kernel does", "copy less"},
		{"exposed-copies", "memset", `{"copy_count":1,"copies_ns":80000000,"copied_bytes":0,"all_ns":80000000}`, "the GPU fills memory and computes nothing 80.0 % of the time (80.0 ms of 100 ms); most of that is memset: 1 call, 80.0 ms",
			"memory is filled while no kernel runs", "allocate without filling (torch.empty instead of torch.zeros), and let the kernels that write the memory fill it"},
	} {
		t.Run(c.rule+" "+c.name, func(t *testing.T) {
			s := summarise(t, reportOf(threePasses("decode"), accountingOf("decode", []idlePart{{"compute", "busy", 20 * ms, 7 * ms}, {"copy", "busy", 80 * ms, 30 * ms}}), answer("finding-rules", "finding query options detail", []any{c.rule, "memops", "stage device source", nil}),
				answer("findings", findingColumns, []any{int64(1), c.rule, "decode", 80 * ms, 0.8, "at most", "copies", c.numbers, c.name, "copy less", int64(0), int64(1), int64(1), int64(3), 100 * ms})))
			if got := s.Stages[0]; got.Bound != judge.CopyBound || got.Why != c.why || got.Meaning != c.meaning {
				t.Errorf("bound %s, meaning %q\n%s\nwant\n%s", got.Bound, got.Meaning, got.Why, c.why)
			}
			if got := s.Advice[0]; got.Advice != c.advice || got.Number != "decode 100 -> 20.0 ms per pass at best (80.0 % less)" || got.Command != "prof query memops --run a --stage decode --device 0" {
				t.Errorf("advice %+v", got)
			}
		})
	}
}

// TestSummaryProfiledWords holds that kernels which Nsight Compute profiled are spoken of by what limits them, and that a bare plurality is
// no verdict.
func TestSummaryProfiledWords(t *testing.T) {
	for _, c := range []struct {
		name, first, limiter, second string
		share                        int64 // of the first, in percent
		bound                        judge.Bound
		meaning                      string
	}{
		{"near cache", "memory", "l1", "latency", 90, judge.MemoryBound, "time goes to traffic through the L1 caches, not to arithmetic"},
		{"memory", "memory", "dram", "latency", 90, judge.MemoryBound, "time goes to traffic with the GPU's memory, not to arithmetic"},
		{"compute", "compute", "tensor", "latency", 90, judge.ComputeBound, "the GPU's arithmetic units limit the speed"},
		{"latency", "latency", "grid", "memory", 90, judge.BusyBound, "kernels take the time but saturate neither memory nor arithmetic: too little parallel work, or stalls"},
		{"plurality", "memory", "dram", "latency", 51, judge.MixedBound, "kernels take the time, and no single limit applies to most of them"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := c.share*ms, (100-c.share)*ms
			s := summarise(t, reportOf(threePasses("decode"), accountingOf("decode", busyParts()),
				answer("stage-kernels", "stage kernel total_ns share_ratio", []any{"decode", "k1", a, float64(c.share) / 100}, []any{"decode", "k2", b, 1 - float64(c.share)/100}),
				answer("top-kernels", "kernel total_ns role mean_ns calls share_ratio family", []any{"k1", a, "gemm", 8e6, int64(10), 0.76, "f"}, []any{"k2", b, "copy", 5e6, int64(5), 0.24, "g"}),
				answer("bottlenecks", "kernel bound limiter timeline_total_ns replayed_mean_ns launches", []any{"k1", c.first, c.limiter, a, 1e3, int64(2)}, []any{"k2", c.second, "x", b, 1e3, int64(1)})))
			if got := s.Stages[0]; got.Bound != c.bound || got.Meaning != c.meaning {
				t.Errorf("bound %s, meaning %q, want %s, %q", got.Bound, got.Meaning, c.bound, c.meaning)
			}
			if got := s.Stages[0].Why; c.bound == judge.MixedBound && !strings.HasSuffix(got, "51.0 % of that is in kernels that are memory-bound by DRAM throughput, 49.0 % in kernels that are latency-bound (near neither peak: too little parallel work, or stalls)") {
				t.Errorf("why %q", got)
			}
		})
	}
}

// TestSummaryOfGPUs holds that passes of one GPU are not compared with those of another.
func TestSummaryOfGPUs(t *testing.T) {
	slow := []idlePart{{"compute", "busy", 15 * ms, 5 * ms}, {"launch", "launch-bound", 285 * ms, 95 * ms}}
	quick := []idlePart{{"compute", "busy", 27 * ms, 9 * ms}, {"launch", "launch-bound", 3 * ms, ms}}
	row := func(pass, pid, span, busy, start int64) []any {
		return []any{"decode", pass, int64(1), pid, false, span, busy, start}
	}
	all := passesAnswer("passes", row(1, 7, 100*ms, 5*ms, 1), row(1, 8, 10*ms, 9*ms, 2), row(2, 8, 10*ms, 9*ms, 3), row(2, 7, 100*ms, 5*ms, 4), row(3, 8, 10*ms, 9*ms, 5), row(3, 7, 100*ms, 5*ms, 6), row(4, 8, 10*ms, 9*ms, 7))
	for name, frames := range map[string][]*frame.Frame{"not told apart": {all}, "told apart": {all, passesAnswer("passes of GPU 0", all.Rows[0], all.Rows[3], all.Rows[5])}} {
		s := summarise(t, reportOf(append(frames, threePasses("decode"), accountingOf("decode", slow, quick))...))
		if got := s.Stages[0]; got.But != "" || got.Device != 0 || got.GPUs != 2 {
			t.Errorf("%s: GPU %d of %d, but %q", name, got.Device, got.GPUs, got.But)
		}
		for _, d := range s.Doubts {
			if strings.Contains(d, "warm-up") {
				t.Errorf("%s: doubt %q", name, d)
			}
		}
	}
}

// TestSummaryBreakdown holds that sums over GPUs are known as such, and how much of collectives other kernels hide.
func TestSummaryBreakdown(t *testing.T) {
	gpu := []idlePart{{"compute", "busy", 100 * ms, 40 * ms}, {"collective-overlapped", "busy", 90 * ms, 30 * ms}, {"collective-exposed", "busy", 10 * ms, 4 * ms}}
	s := summarise(t, reportOf(threePasses("decode"), accountingOf("decode", gpu, gpu), answer("top-kernels", "kernel total_ns role mean_ns calls share_ratio family", []any{"k1", ms, "collective", 8e6, int64(10), 0.76, "nccl all-reduce"}),
		answer("time-breakdown", "stage category kind total_ns stage_ns", []any{"decode", "nccl all-reduce", "kernels", 200 * ms, 400 * ms})))
	if want := "communication between GPUs (kernels of nccl all-reduce); 90.0 % of it overlaps other kernels"; s.Breakdown[0].Words != want || s.Breakdown[0].GPUs != 2 {
		t.Errorf("category %+v, want %q", s.Breakdown[0], want)
	}
}
