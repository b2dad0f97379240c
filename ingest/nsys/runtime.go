package nsys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

const runtimeTable = "CUPTI_ACTIVITY_KIND_RUNTIME"

var (
	runtimeWants = want("start end globalTid correlationId? nameId returnValue? eventClass?")
	apiColumns   = columns("pid:int tid:int start_ns duration_ns api_name_id:int correlation_id return_value:int range_context_id:int")
)

// deviceTables hold device work, waits for it, or events, that refer to an API call.
var deviceTables = []string{kernelTable, memcpyTable, memsetTable, graphTable, syncTable, eventTable}

// findWanted collects the correlation ids that device work refers to.
func (l *loader) findWanted(ctx context.Context) (*attribute.Wanted, error) {
	if err := l.findOnly(ctx); err != nil {
		return nil, err
	}
	all := attribute.NewWanted(l.target.Room)
	for _, base := range deviceTables {
		name := l.table(base)
		if name == "" {
			continue
		}
		scan, err := l.export.Scan(ctx, name, want("correlationId? globalPid?"))
		if err != nil {
			return nil, err
		}
		found, err := inParallel(scan, l.target.Options.Threads, func() (*attribute.Wanted, func(morsel int, b *table.Batch) error) {
			ids := attribute.NewWanted(l.target.Room)
			adder := ids.Adder()
			return ids, func(_ int, b *table.Batch) error {
				nameless := false
				for i := range b.N {
					if pid, ok := l.processOf(&b.Cols[1], i); ok && !b.Cols[0].Null(i) {
						if id := b.Cols[0].Ints[i]; id != noCall {
							adder.Add(procOf(pid), id)
						} else {
							nameless = true
						}
					}
				}
				if nameless {
					l.nameless.Store(true)
				}
				return nil
			}
		})
		if err != nil {
			return nil, err
		}
		for _, ids := range found {
			all.Merge(ids)
		}
	}
	return all, nil
}

// findOnly looks whether one process alone made API calls, where kernels lack the column that says whose they are, as in exports that
// other tools cut down.
func (l *loader) findOnly(ctx context.Context) error {
	kernels, calls := l.table(kernelTable), l.table(runtimeTable)
	if kernels == "" || calls == "" || slices.Contains(l.export.Columns(kernels), "globalPid") {
		return nil
	}
	several := false
	err := eachBatch(ctx, l.export, calls, want("globalTid"), func(b *table.Batch) error {
		for i := range b.N {
			pid := procOf(b.Cols[0].Ints[i]) << 24
			if l.only == nil {
				l.only = &pid
			}
			several = several || *l.only != pid
		}
		return nil
	})
	if several {
		l.only = nil
	}
	return err
}

// storeRuntime stores the API calls and notes those that issued device work.
func (l *loader) storeRuntime(ctx context.Context) error {
	ids, err := l.findWanted(ctx)
	if err != nil {
		return err
	}
	l.launches = attribute.NewLaunches(ids, l.target.Room)
	name := l.table(runtimeTable)
	if name == "" {
		return nil
	}
	rows, err := l.scanInto(ctx, name, runtimeWants, apiColumns)
	if err != nil {
		return err
	}
	var backward atomic.Int64
	rows.newFill = func() fillFunc { return l.fillRuntime(&backward) }
	n, err := l.target.Insert(ctx, "api_call", rows)
	if err != nil {
		return err
	}
	l.launches.Settle()
	if err := l.ids.StoreUnmet(ctx, l.target, &l.unmet, l.ranges.lines, l.threadID); err != nil {
		return err
	}
	short, err := l.ids.StoreShortCalls(ctx, l.target, &l.short, l.threadID)
	if err != nil {
		return err
	}
	if o := l.ranges.operators; o != nil {
		o.sumAPIs(l.ranges)
	}
	l.part(runtimeTable, rows.read.Load(), n+short, strings.Trim(l.stacks.repeated()+"; "+backwardReason(backward.Load()), "; "))
	return nil
}

func backwardReason(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d rows end before they start, or are years off", n)
}

const outOfRange = "numbers out of range"

// oddReason returns why further rows were left out.
func oddReason(before string, odd int64) string {
	if odd == 0 {
		return before
	}
	if before != "" {
		before += "; "
	}
	return fmt.Sprintf("%s%d rows have %s", before, odd, outOfRange)
}

const unknownBodies = "which launch of their graph they are of is unknown"

// bodyReason says of how many rows of conditional nodes the launch is not known.
func bodyReason(before string, bodies int64) string {
	if bodies == 0 {
		return before
	}
	if before != "" {
		before += "; "
	}
	return fmt.Sprintf("%s%d rows are bodies of conditional nodes, and %s", before, bodies, unknownBodies)
}

func (l *loader) fillRuntime(backward *atomic.Int64) fillFunc {
	names := l.apiNames()
	calls := l.launches.Finder()
	place := l.placer()
	list, short, unmet := l.calls.List(), l.short.List(), l.unmet.List()
	thread, number := int64(-1), int32(0)
	operators := l.ranges.operators
	var inside *load.Blocks[opAPI]
	if operators != nil {
		inside = operators.newAPIs()
	}
	return func(b *table.Batch, c *rows.Chunk) (int, error) {
		starts, ends, tids, corr := b.Cols[0].Ints, b.Cols[1].Ints, b.Cols[2].Ints, &b.Cols[3]
		nameIDs, returns, classes := b.Cols[4].Ints, &b.Cols[5], b.Cols[6].Ints
		pid, tid, start, duration := c.Int32(0), c.Int32(1), c.Int64(2), c.Int64(3)
		api, correlation, result, context := c.Int32(4), c.Int64(5), c.Int32(6), c.Int32(7)
		list.Break()
		n := 0
		for i := range b.N {
			if !isInterval(starts[i], ends[i]) {
				backward.Add(1)
				continue
			}
			if l.stacks != nil && classes[i] == l.stacks.class {
				l.stacks.repeats.Add(1)
				if row := calls.Row(procOf(tids[i]), corr.Ints[i]); row >= 0 && !corr.Null(i) {
					l.stacks.put(row, callPlace{tids[i], starts[i]})
				}
				continue
			}
			name, err := names.Of(nameIDs[i])
			if err != nil {
				return 0, err
			}
			if tids[i] != thread {
				thread, number = tids[i], l.launches.Threads.Of(tids[i])
			}
			list.Add(number, starts[i], ends[i]-starts[i], name.kind)
			at := place.Node(tids[i], starts[i])
			if inside != nil && at != attribute.NoNode && operators.at[at] > 0 {
				inside.Add(opAPI{starts[i], ends[i], operators.at[at]})
			}
			took := ends[i] - starts[i]
			returned := int64(0)
			hasResult := !returns.Null(i)
			if hasResult {
				if returned = returns.Ints[i]; !has32(returned) {
					l.odd.Add(runtimeTable+".returnValue", returned)
					hasResult = false
				}
			}
			row := int32(-1)
			if !corr.Null(i) {
				row = calls.Row(procOf(tids[i]), corr.Ints[i])
			}
			if row >= 0 {
				l.launches.Put(row, attribute.Launch{Start: starts[i], Node: at, Thread: number, Name: name.id}, took)
			}
			if returned == 0 && (name.effect != attribute.LaunchesWork || row < 0 && !corr.Null(i)) { // without an id its work cannot be told
				unmet.Add(name.effect, number, at, name.id, starts[i], ends[i])
			}
			if !l.target.Options.APIRows && !name.isKept && attribute.IsShort(took, returned) {
				short.Add(number, at, l.ranges.lines.Path(at), name.id, took, hasResult)
				continue
			}
			pid[n], tid[n], start[n], duration[n] = pidOf(tids[i]), tidOf(tids[i]), starts[i], took
			api[n], context[n], result[n] = name.id, l.ids.ContextID(at), int32(returned)
			if !hasResult {
				c.SetNull(6, n)
			}
			if corr.Null(i) {
				c.SetNull(5, n)
			} else {
				correlation[n] = corr.Ints[i]
			}
			n++
		}
		return n, nil
	}
}

func (l *loader) placer() *attribute.Placer { return l.ranges.lines.Placer() }
