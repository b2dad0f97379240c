package loss

import (
	"slices"

	"prof/internal/diagnosis"
)

// counted is the kind in which the tool's own count of its records stays: all others lose them before that.
const counted = "counted"

var (
	lostWork   = []string{"launches-without-work", "ran-after-capture", "replays-differ"}
	lostCalls  = []string{"work-without-launch", "launched-before-capture"}
	wrongTimes = []string{"stream-order", "stream-overlap", "work-before-launch", "work-after-wait", "clock-jump"}
)

// Kinds are the ways to lose records.
var Kinds = []Kind{
	{"work-scattered", "device records here and there; their launches stay", lostWork, func(l *losing) { l.drop(l.scattered(l.awaited())) }},
	{"work-window", "a window of device records of one process, as a full buffer drops it", lostWork, func(l *losing) { l.drop(l.window(l.group(l.awaited(), byProcess))) }},
	{"work-head", "the first device records", lostWork, func(l *losing) { l.drop(l.head(l.awaited())) }},
	{"work-tail", "the last device records, as without a flush", lostWork, func(l *losing) { l.drop(l.tail(l.awaited())) }},
	{"work-gpu", "the device records of one GPU of a process", lostWork, func(l *losing) { l.drop(l.group(l.work, byDevice)) }},
	{"work-stream", "the device records of one stream", lostWork, func(l *losing) { l.drop(l.group(l.awaited(), byStream)) }},
	{"work-table", "all device records of a table or category", lostWork, func(l *losing) { l.drop(l.group(l.work, byTable)) }},
	{"work-all", "all device records", lostWork, func(l *losing) { l.drop(l.work) }},
	{"nodes", "some kernels of some replays of a CUDA graph that was traced by node", []string{"replays-differ"}, func(l *losing) {
		of := map[*diagnosis.Event]int{}
		for _, e := range l.work {
			of[e.Launch()]++
		}
		l.drop(l.scattered(slices.DeleteFunc(l.awaited(), func(e *diagnosis.Event) bool { return of[e.Launch()] < 3 || !isKernel(e) })))
	}},
	{"calls-scattered", "launches here and there; their work stays", lostCalls, func(l *losing) { l.drop(l.scattered(launches(l.kernels()))) }},
	{"calls-window", "a window of launches of one process", lostCalls, func(l *losing) { l.drop(l.window(l.group(launches(l.kernels()), byProcess))) }},
	{"calls-head", "the first launches", lostCalls, func(l *losing) { l.drop(l.head(launches(l.kernels()))) }},
	{"calls-tail", "the last launches", lostCalls, func(l *losing) { l.drop(l.tail(launches(l.kernels()))) }},
	{"calls-all", "all launches of one process", lostCalls, func(l *losing) { l.drop(l.group(launches(l.work), byProcess)) }},
	{"doubled-scattered", "device records twice, here and there", []string{"repeated-records"}, func(l *losing) { l.double(l.scattered(l.kernels())) }},
	{"doubled-window", "a window of device records twice, as a buffer that is handed over again", []string{"repeated-records"}, func(l *losing) { l.double(l.window(l.work)) }},
	{"doubled-all", "all device records twice, as two subscribers get them", []string{"repeated-records"}, func(l *losing) { l.double(l.group(l.work, byProcess)) }},
	{"doubled-both", "all launches and device records twice", []string{"repeated-records"}, func(l *losing) { l.double(slices.Concat(launches(l.work), l.work)) }},
	{"shuffled", "the times of a window of kernels of one stream dealt among them anew", wrongTimes, func(l *losing) {
		list := l.window(l.alone())
		if len(list) < 2 { // one alone cannot change places
			list = l.alone()
			list = list[:min(2, len(list))]
		}
		starts := make([]int64, len(list))
		for i, e := range list {
			starts[i] = e.Start
		}
		l.rng.Shuffle(len(starts), func(i, j int) { starts[i], starts[j] = starts[j], starts[i] })
		if slices.IsSorted(starts) {
			slices.Reverse(starts)
		}
		for i, e := range list {
			e.Place(starts[i], starts[i]+e.End-e.Start)
		}
		l.n += len(list)
	}},
	{"swapped", "the times of kernels and those after them swapped on one stream", wrongTimes, func(l *losing) {
		list := l.alone()
		for _, e := range l.scattered(list[:max(0, len(list)-1)]) {
			next := list[slices.Index(list, e)+1]
			from, to := e.Start, e.End
			e.Place(next.Start, next.End)
			next.Place(from, to)
			l.n++
		}
	}},
	{"stretched", "kernels that end after the next ones of their stream have", []string{"stream-overlap", "work-after-wait"}, func(l *losing) {
		list := l.alone()
		for _, e := range l.scattered(list[:max(0, len(list)-1)]) {
			e.Place(e.Start, list[slices.Index(list, e)+1].End+1000)
			l.n++
		}
	}},
	{"whole-interval", "kernels that last as long as the capture", []string{"whole-capture-interval", "stream-overlap", "work-before-launch", "work-after-wait"}, func(l *losing) {
		first, last := l.work[0].Start, l.work[len(l.work)-1].End
		for _, e := range l.scattered(l.alone()) {
			e.Place(first, last)
			l.n++
		}
	}},
	{"no-time", "kernels that end as they start", []string{"no-time"}, func(l *losing) {
		for _, e := range l.scattered(l.alone()) {
			e.Place(e.Start, e.Start)
			l.n++
		}
	}},
	{"clock-early", "the work of one GPU 20 ms too early, as of a clock converted wrongly", wrongTimes, func(l *losing) { l.move(l.group(l.work, byDevice), -20_000_000) }},
	{"clock-late", "the work of one GPU 20 ms too late", wrongTimes, func(l *losing) { l.move(l.group(l.work, byDevice), 20_000_000) }},
	{"clock-back", "the last work of one GPU 5 ms too early, as from a moment on", wrongTimes, func(l *losing) { l.move(l.tail(l.group(l.work, byDevice)), -5_000_000) }},
	{"clock-forth", "the first work of one GPU 5 ms too late, as up to a moment", wrongTimes, func(l *losing) { l.move(l.head(l.group(l.work, byDevice)), 5_000_000) }},
	{counted, "device records here and there, lost after the tool had counted them", []string{"tool-lost-data"}, func(l *losing) { l.drop(l.scattered(l.kernels())) }},
	{"rows", "rows of a table of sums: key_averages of PyTorch's profiler, or nsys stats", []string{"totals-differ"}, func(l *losing) { l.drop(l.scattered(l.rows())) }},
	{"rows-doubled", "kernels of rocprof's table twice", []string{"repeated-records"}, func(l *losing) { l.double(l.scattered(l.rows())) }},
	{"rank", "the file of one of four ranks, which the others name", []string{"ranks-missing"}, goneProcess},

	{"gone-process", "a process with its launches, work and ranges", nil, goneProcess},
	{"gone-end", "everything from a moment on", nil, func(l *losing) {
		at := l.moment(1 - l.Part)
		l.gone(func(e *diagnosis.Event) bool { return e.Start >= at })
	}},
	{"gone-begin", "everything up to a moment", nil, func(l *losing) {
		at := l.moment(l.Part)
		l.gone(func(e *diagnosis.Event) bool { return e.Start < at })
	}},
	{"gone-launches", "launches with their work", nil, func(l *losing) {
		list := map[*diagnosis.Event]bool{}
		for _, e := range l.scattered(launches(l.work)) {
			list[e] = true
		}
		l.gone(func(e *diagnosis.Event) bool { return list[e] })
	}},
}

// kernels is the kernels of the loss, whole replays among them, whose launches are known.
func (l *losing) kernels() []*diagnosis.Event {
	return slices.DeleteFunc(slices.Clone(l.work), func(e *diagnosis.Event) bool { return !isKernel(e) || e.Launch() == nil })
}

// rows is the rows of a table of text.
func (l *losing) rows() []*diagnosis.Event {
	return slices.DeleteFunc(slices.Clone(l.work), func(e *diagnosis.Event) bool { return e.Table != diagnosis.Row })
}

func goneProcess(l *losing) {
	p := l.group(l.work, byProcess)[0].Process
	l.gone(func(e *diagnosis.Event) bool { return e.Process == p })
}
