package attribute

import (
	"cmp"
	"slices"
)

// Exec names an executable graph of a process.
type Exec struct{ Process, ID int64 }

// ExecLaunch is one launch of an executable graph, by its device work that names it.
type ExecLaunch struct {
	Correlation int64
	Row         int32 // in the launch table, NoLaunch where it has none
	Called      int64 // start of the API call; -Forever where it was not captured
	First, Last int64 // first start and last end of that work
}

// Execs are the launches of executable graphs. The records of the bodies of conditional nodes (IF, WHILE, SWITCH) name no launch. The graph that they
// do name tells it, as two launches of one executable graph never run at once.
type Execs struct {
	launches map[Exec]map[int64]*ExecLaunch
	ordered  map[Exec][]*ExecLaunch
}

// Add takes device work that names its launch.
func (x *Execs) Add(exec Exec, correlation, start, end int64) {
	if x.launches == nil {
		x.launches = map[Exec]map[int64]*ExecLaunch{}
	}
	of := x.launches[exec]
	if of == nil {
		of = map[int64]*ExecLaunch{}
		x.launches[exec] = of
	}
	if l := of[correlation]; l != nil {
		l.First, l.Last = min(l.First, start), max(l.Last, end)
		return
	}
	of[correlation] = &ExecLaunch{Correlation: correlation, Row: NoLaunch, Called: -Forever, First: start, Last: end}
}

// Settle looks up the API call of each launch and puts the launches in order; no more work may be added.
func (x *Execs) Settle(call func(exec Exec, correlation int64) (row int32, start int64, ok bool)) {
	x.ordered = map[Exec][]*ExecLaunch{}
	for exec, of := range x.launches {
		for correlation, l := range of {
			if row, start, ok := call(exec, correlation); ok {
				l.Row, l.Called = row, start
			}
			x.ordered[exec] = append(x.ordered[exec], l)
		}
		slices.SortFunc(x.ordered[exec], func(a, b *ExecLaunch) int {
			return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Correlation, b.Correlation))
		})
	}
	x.launches = nil
}

// Of returns the launch that work of an executable graph without a launch of its own is of; nil where two may be: after the named work of one, when the
// next had been called already, and before that of the first.
func (x *Execs) Of(exec Exec, start int64) *ExecLaunch {
	if x == nil {
		return nil
	}
	of := x.ordered[exec]
	next, _ := slices.BinarySearchFunc(of, start, func(l *ExecLaunch, at int64) int {
		if l.First <= at {
			return -1
		}
		return 1
	})
	if next == 0 || start >= of[next-1].Last && next < len(of) && of[next].Called <= start {
		return nil
	}
	return of[next-1]
}
