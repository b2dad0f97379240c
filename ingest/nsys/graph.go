package nsys

import (
	"cmp"
	"context"
	"slices"

	"prof/ingest/attribute"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// replayKey names one graph launch on one device.
type replayKey struct {
	proc, correlation int64
	device            int32
}

// replay adds up the nodes of one graph launch, in node mode.
type replay struct {
	pid             int32
	context         any   // nil: the export does not say
	graph           int64 // the executable graph
	row             int32 // in the launch table, -1 unknown
	first, last     int64
	busy            int64
	kernels, memops int64
	bodies          int64 // of the kernels, those in bodies of conditional nodes
}

// replays are what one worker saw of them.
type replays struct {
	rows    map[replayKey]*replay
	lastKey replayKey
	last    *replay
}

// graphOf is the executable graph of a node: CUPTI numbers its nodes within it, in the lower half of their ids.
func graphOf(node int64) int64 { return node >> 32 }

func (r *replays) add(b *table.Batch, i int, device, row int32, correlation, node int64, isBody bool, kind attribute.WorkKind) {
	if b.Cols[inPid].Null(i) || correlation == noCall {
		return // its launch cannot be told from another's
	}
	pid := b.Cols[inPid].Ints[i]
	k := replayKey{procOf(pid), correlation, device}
	if r.last == nil || k != r.lastKey {
		r.lastKey, r.last = k, r.rows[k]
		if r.last == nil {
			r.last = &replay{pid: pidOf(pid), row: row, graph: graphOf(node), first: attribute.Forever, last: -attribute.Forever}
			if context := &b.Cols[inContext]; !context.Null(i) {
				r.last.context = int32(context.Ints[i])
			}
			r.rows[k] = r.last
		}
	}
	start, end := b.Cols[inStart].Ints[i], b.Cols[inEnd].Ints[i]
	p := r.last
	p.first, p.last = min(p.first, start), max(p.last, end)
	p.busy += end - start
	if kind == attribute.Kernel {
		p.kernels++
		if isBody {
			p.bodies++
		}
	} else {
		p.memops++
	}
}

// noCall is the correlation id of device work that no API call launched: the bodies of conditional nodes, and graphs that a kernel launched.
const noCall = 0

// findExecs finds the launches of graphs where some of their work does not name its own.
func (l *loader) findExecs(ctx context.Context) error {
	if !l.nameless.Load() {
		return nil
	}
	l.execs = &attribute.Execs{}
	for _, base := range []string{kernelTable, memcpyTable, memsetTable} {
		name := l.table(base)
		if name == "" {
			continue
		}
		err := eachBatch(ctx, l.export, name, want("start end correlationId? globalPid? graphNodeId?"), func(b *table.Batch) error {
			for i := range b.N {
				start, end, id, node := b.Cols[0].Ints[i], b.Cols[1].Ints[i], &b.Cols[2], &b.Cols[4]
				if pid, ok := l.processOf(&b.Cols[3], i); ok && !id.Null(i) && id.Ints[i] != noCall && !node.Null(i) && isInterval(start, end) {
					l.execs.Add(attribute.Exec{Process: procOf(pid), ID: graphOf(node.Ints[i])}, id.Ints[i], start, end)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	calls := l.launches.Finder()
	l.execs.Settle(func(exec attribute.Exec, correlation int64) (int32, int64, bool) {
		row := calls.Row(exec.Process, correlation)
		call, ok := l.launches.Get(row)
		return row, call.Start, ok
	})
	return nil
}

// mergeReplays joins what the workers saw of each graph launch, in the order of the replays' starts.
func mergeReplays(all []*replays) ([]replayKey, map[replayKey]*replay) {
	rows := map[replayKey]*replay{}
	for _, r := range all {
		for k, p := range r.rows {
			have := rows[k]
			if have == nil {
				rows[k] = p
				continue
			}
			have.first, have.last = min(have.first, p.first), max(have.last, p.last)
			have.busy += p.busy
			have.kernels += p.kernels
			have.bodies += p.bodies
			have.memops += p.memops
		}
	}
	keys := make([]replayKey, 0, len(rows))
	for k := range rows {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b replayKey) int {
		return cmp.Or(cmp.Compare(rows[a].first, rows[b].first), cmp.Compare(a.proc, b.proc),
			cmp.Compare(a.correlation, b.correlation), cmp.Compare(a.device, b.device))
	})
	return keys, rows
}

// storeReplays stores the graph launches of a node-mode capture from their nodes.
func (l *loader) storeReplays(ctx context.Context) error {
	keys, merged := mergeReplays(l.replays)
	_, err := l.target.Append(ctx, "graph_launch", func(add rows.Add) error {
		for _, k := range keys {
			p := merged[k]
			var tid, start, duration, name, rangeContext, path any
			if call, ok := l.launches.Get(p.row); ok {
				tid, start, duration, name = l.tidOf(call), call.Start, l.launches.DurationOf(p.row), call.Name
				rangeContext, path = l.ids.ContextID(call.Node), l.ranges.lines.Path(call.Node)
			}
			if err := add(l.target.RunID, l.sourceID(), p.pid, tid, k.device, p.context, nil, "node", p.graph, p.first,
				p.last-p.first, p.busy, p.kernels, p.memops, k.correlation, start, duration, name, rangeContext, path, l.stacks.of(p.row), p.bodies); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// storeGraphTrace stores the graph launches of a graph-mode capture, whose nodes were not traced.
func (l *loader) storeGraphTrace(ctx context.Context) error {
	cols := columns(deviceColumns + "graph_id mode:text busy_ns")
	wants := want(deviceWants + "graphId? graphExecId?")
	return l.storeDevice(ctx, graphTable, "graph_launch", wants, cols, attribute.Graph, -1, func(d *deviceWork) fillFunc {
		f := d.worker()
		return func(b *table.Batch, c *rows.Chunk) (int, error) {
			f.begin(c)
			n := 0
			for i := range b.N {
				if !f.common(b, i, c, n, attribute.Label{Operation: attribute.GraphReplay}) {
					continue
				}
				id := &b.Cols[inMore+1]
				if id.Null(i) { // the export names only the graph that it was instantiated from
					id = &b.Cols[inMore]
				}
				setOpt64(c, outMore, n, id, i)
				c.SetText(outMore+1, n, "graph")
				c.Int64(outMore + 2)[n] = c.Int64(outDuration)[n]
				n++
			}
			return n, nil
		}
	})
}

const graphNodeTable = "CUDA_GRAPH_NODE_EVENTS"

// storeGraphNodes stores which calls made the nodes of graphs.
func (l *loader) storeGraphNodes(ctx context.Context) error {
	return l.storePlain(ctx, graphNodeTable, "graph_node", "start globalTid nameId graphNodeId originalGraphNodeId?",
		"time_ns pid:int tid:int api_name_id:int graph_node_id original_graph_node_id", func(names *apiNames) plainRow {
			return func(b *table.Batch, i int, c *rows.Chunk, n int) (bool, error) {
				if at := b.Cols[0].Ints[i]; !isInterval(at, at) {
					return false, nil
				}
				name, err := names.Of(b.Cols[2].Ints[i])
				if err != nil {
					return false, err
				}
				tid := b.Cols[1].Ints[i]
				c.Int64(0)[n], c.Int32(1)[n], c.Int32(2)[n] = b.Cols[0].Ints[i], pidOf(tid), tidOf(tid)
				c.Int32(3)[n], c.Int64(4)[n] = name.id, b.Cols[3].Ints[i]
				setOpt64(c, 5, n, &b.Cols[4], i)
				return true, nil
			}
		})
}
