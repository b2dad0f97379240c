package nsys

import (
	"cmp"
	"context"
	"slices"

	"prof/ingest/attribute"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// deviceAPI is the launch of graphs that a kernel launched, which no call of the host's API did.
const deviceAPI = "cudaGraphLaunch (device)"

// deviceLaunch names the replay of a graph that a kernel launched.
type deviceLaunch struct {
	place devicePlace
	start int64
}

// devicePlace is a GPU as a process numbers it.
type devicePlace struct{ proc, device int64 }

// ran is device work in which a kernel may have launched graphs.
type ran struct {
	start, end int64
	row        int32 // in the launch table; -1 unknown
	byDevice   bool
	isGraph    bool // it is of a graph: by CUDA's documentation only its kernels can launch others
}

// tailLatency is how long after its parent a graph begins at most that was launched to run after it; on an H100 it takes a few microseconds.
const tailLatency = 20_000

// isByDevice reports whether a row of the graph launches is of one that no API call launched.
func isByDevice(correlation *table.Vector, i int) bool {
	return !correlation.Null(i) && correlation.Ints[i] == noCall
}

// byDevice fills in what is known of a graph that a kernel launched: thread and ranges are those of the launch of its parent, whose row in the launch table
// it gives, -1 when it is not known.
func (f *deviceFill) byDevice(b *table.Batch, i int, c *rows.Chunk, n int) int32 {
	f.launchName[n] = f.l.target.Run.APIs.Add(deviceAPI)
	for _, col := range []int{outCorrelation, outLaunchStart, outLaunchDuration} {
		c.SetNull(col, n)
	}
	row := int32(-1)
	if pid, ok := f.l.processOf(&b.Cols[inPid], i); ok {
		if parent, ok := f.l.parents[deviceLaunch{devicePlace{procOf(pid), b.Cols[inDevice].Ints[i]}, b.Cols[inStart].Ints[i]}]; ok {
			row = parent
		}
	}
	call, ok := f.l.launches.Get(row)
	if !ok {
		for _, col := range []int{outTid, outRangeContext, outPath} {
			c.SetNull(col, n)
		}
		return -1
	}
	f.place(call, n)
	return row
}

// findParents finds for each graph that a kernel launched the launch in whose work it began.
func (l *loader) findParents(ctx context.Context) error {
	if l.table(graphTable) == "" || !l.nameless.Load() {
		return nil
	}
	work, isAny := map[devicePlace][]ran{}, false
	calls := l.launches.Finder()
	for _, base := range []string{graphTable, kernelTable} { // without a graph by the device, kernels need not be read
		name := l.table(base)
		if name == "" || base == kernelTable && !isAny {
			continue
		}
		err := eachBatch(ctx, l.export, name, want("start end deviceId correlationId? globalPid? graphNodeId?"), func(b *table.Batch) error {
			for i := range b.N {
				start, end, id := b.Cols[0].Ints[i], b.Cols[1].Ints[i], &b.Cols[3]
				pid, ok := l.processOf(&b.Cols[4], i)
				if !ok || id.Null(i) || !isInterval(start, end) {
					continue
				}
				w := ran{start: start, end: end, row: -1, isGraph: base == graphTable || !b.Cols[5].Null(i)}
				if w.byDevice = base == graphTable && isByDevice(id, i); w.byDevice {
					isAny = true
				} else {
					w.row = calls.Row(procOf(pid), id.Ints[i])
				}
				at := devicePlace{procOf(pid), b.Cols[2].Ints[i]}
				work[at] = append(work[at], w)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if !isAny {
		return nil
	}
	l.parents = map[deviceLaunch]int32{}
	for at, of := range work {
		l.findParentsAt(at, of)
	}
	return nil
}

// findParentsAt does so for the work of a process on a GPU. The parent is the work of a graph that runs when the launched graph begins, or has just ended;
// where no graph does, another kernel. Where several may be, they must be of the same ranges.
func (l *loader) findParentsAt(at devicePlace, work []ran) {
	slices.SortStableFunc(work, func(a, b ran) int { return cmp.Compare(a.start, b.start) })
	var open []*ran // those that run, or have just ended
	for i := range work {
		w := &work[i]
		open = slices.DeleteFunc(open, func(o *ran) bool { return o.end+tailLatency < w.start })
		if w.byDevice {
			runs := func(isGraph bool) func(o *ran) bool {
				return func(o *ran) bool { return o.isGraph == isGraph && o.start < w.start && w.start < o.end }
			}
			ended := func(o *ran) bool { return o.isGraph && o.end <= w.start }
			for _, may := range []func(o *ran) bool{runs(true), ended, runs(false)} {
				if slices.ContainsFunc(open, may) {
					w.row = l.oneOf(open, may)
					break
				}
			}
			l.parents[deviceLaunch{at, w.start}] = w.row
		}
		open = append(open, w)
	}
}

// oneOf returns the launch of the latest of some work, -1 where they are not all of the same ranges.
func (l *loader) oneOf(open []*ran, may func(o *ran) bool) int32 {
	row, node := int32(-1), attribute.NoNode
	for i := len(open) - 1; i >= 0; i-- {
		if !may(open[i]) {
			continue
		}
		call, ok := l.launches.Get(open[i].row)
		if !ok || row >= 0 && call.Node != node {
			return -1
		}
		if row < 0 {
			row, node = open[i].row, call.Node
		}
	}
	return row
}
