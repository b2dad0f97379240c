package nsys

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/ingest/attribute"
	"prof/ingest/collective"
	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

// communicatorTable is what NCCL said of the communicators of a process, also before what is traced; prof's own traces have it.
const communicatorTable = "NCCL_COMMUNICATORS"

// ncclDomain is the NVTX domain in which NCCL puts a range around each of its calls.
const ncclDomain = "NCCL"

// ncclPayload is what NCCL tells with a range (nvtx_payload_schemas.h in its sources), as nsys writes it where it exports
// payloads as JSON (nsys export --include-json=true). Numbers that are not there stay nil.
type ncclPayload struct {
	Communicator json.Number `json:"NCCL communicator ID"`
	Bytes        *int64      `json:"Message size [bytes]"`
	Ranks        *int32      `json:"No. of ranks"`
	Rank         *int32      `json:"Rank"`
}

// ncclCall is one range of NCCL.
type ncclCall struct {
	name    string
	span    int32 // number of its range
	launch  int32 // range in which its kernel is launched
	payload ncclPayload
}

// communicator is what the ranges that make a communicator say of it, within one process.
type communicator struct {
	size, rank       int32
	noSize, severals bool // several sizes or ranks were told: a process may drive several GPUs
}

type communicatorKey struct {
	proc int64
	id   json.Number
}

// ncclCalls are the calls of NCCL by thread, and the communicators.
type ncclCalls struct {
	threads map[int64][]ncclCall
	comms   map[communicatorKey]*communicator
	unread  int64 // payloads that are no such JSON
}

// storeCollectives stores the arguments of NCCL's calls, where the export holds them.
func (l *loader) storeCollectives(ctx context.Context) error {
	name, told := l.table(nvtxTable), l.table(communicatorTable)
	if name == "" || !slices.Contains(slices.Collect(maps.Values(l.ranges.domains)), ncclDomain) || !l.hasPayloads(name) {
		return nil
	}
	calls, err := l.readNCCL(ctx, name, told)
	if err != nil {
		return err
	}
	if calls.unread > 0 {
		l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%s: the payloads of %d NCCL ranges cannot be read; the bytes of these calls are unknown", name, calls.unread))
	}
	_, err = l.target.Append(ctx, "collective_call", func(add rows.Add) error {
		for _, thread := range slices.Sorted(maps.Keys(calls.threads)) {
			list := calls.threads[thread]
			l.order(list)
			for i := range list {
				if row := l.collectiveRow(&list[i], thread, calls.comms); row != nil {
					if err := add(row...); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	return err
}

func (l *loader) hasPayloads(name string) bool {
	columns := l.export.Columns(name)
	return slices.Contains(columns, "jsonText") || slices.Contains(columns, "jsonTextId")
}

// readNCCL reads the ranges of NCCL again, now with their payloads.
func (l *loader) readNCCL(ctx context.Context, name, told string) (*ncclCalls, error) {
	calls := &ncclCalls{threads: map[int64][]ncclCall{}, comms: map[communicatorKey]*communicator{}}
	r, next := l.ranges, int32(0)
	err := eachBatch(ctx, l.export, name, payloadWants, func(b *table.Batch) error {
		for i := range b.N {
			if _, ok := r.spanOf(b, i); !ok {
				continue
			}
			k := next
			if next++; int(k) >= len(r.spans) {
				return fmt.Errorf("%s: %s grew while it was read", l.name, name)
			}
			if r.names[r.spans[k].Name].Domain != ncclDomain {
				continue
			}
			text, err := l.nvtxName(b, i)
			if err != nil {
				return err
			}
			payload, err := l.payload(b, i)
			if err != nil {
				return err
			}
			thread := r.spans[k].Thread
			calls.threads[thread] = append(calls.threads[thread], ncclCall{text, k, k, calls.read(payload, thread)})
		}
		return nil
	})
	if told != "" && err == nil {
		err = eachBatch(ctx, l.export, told, want("globalTid jsonTextId"), func(b *table.Batch) error {
			for i := range b.N {
				payload, err := l.strings.get(b.Cols[1].Ints[i])
				if err != nil {
					return err
				}
				calls.read(payload, b.Cols[0].Ints[i])
			}
			return nil
		})
	}
	return calls, err
}

// payloadWants are nvtxWants with the payload.
var payloadWants = append(slices.Clone(nvtxWants), want("jsonText?:text jsonTextId?")...)

// payload returns a row's payload as JSON; "" when it has none.
func (l *loader) payload(b *table.Batch, i int) (string, error) {
	own, id := &b.Cols[len(nvtxWants)], &b.Cols[len(nvtxWants)+1]
	if !own.Null(i) || id.Null(i) {
		return own.Texts[i], nil
	}
	return l.strings.get(id.Ints[i])
}

// read reads a payload, and takes what it says of its communicator.
func (c *ncclCalls) read(payload string, thread int64) (p ncclPayload) {
	if payload == "" || payload == "null" {
		return p
	}
	if json.Unmarshal([]byte(payload), &p) != nil {
		c.unread++
		return ncclPayload{}
	}
	if p.Communicator == "" || p.Ranks == nil || p.Rank == nil {
		return p
	}
	key := communicatorKey{procOf(thread), p.Communicator}
	known := c.comms[key]
	if known == nil {
		c.comms[key] = &communicator{size: *p.Ranks, rank: *p.Rank}
		return p
	}
	known.noSize = known.noSize || known.size != *p.Ranks
	known.severals = known.severals || known.rank != *p.Rank
	return p
}

// order sorts the calls of a thread by time, and gives those between ncclGroupStart and ncclGroupEnd the range of the outermost
// ncclGroupEnd, in which NCCL launches the kernels of a group.
func (l *loader) order(list []ncclCall) {
	spans := l.ranges.spans
	slices.SortFunc(list, func(a, b ncclCall) int {
		return cmp.Or(cmp.Compare(spans[a.span].Start, spans[b.span].Start), cmp.Compare(a.span, b.span))
	})
	depth, first := 0, 0
	for i := range list {
		switch list[i].name {
		case "ncclGroupStart":
			if depth++; depth == 1 {
				first = i
			}
		case "ncclGroupEnd":
			if depth == 0 {
				continue // its start was not captured
			}
			if depth--; depth == 0 {
				for k := first; k < i; k++ {
					list[k].launch = list[i].span
				}
			}
		}
	}
}

// collectiveRow is the row of one call; nil when it moves no data, or the capture does not hold its arguments.
func (l *loader) collectiveRow(c *ncclCall, thread int64, comms map[communicatorKey]*communicator) []any {
	operation, ok := collective.OfNCCL(c.name)
	p := &c.payload
	if !ok || p.Communicator == "" {
		return nil
	}
	var size, rank, duration any
	ranks := int64(0)
	if known := comms[communicatorKey{procOf(thread), p.Communicator}]; known != nil {
		if !known.noSize && known.size > 0 {
			size, ranks = known.size, int64(known.size)
		}
		if !known.severals {
			rank = known.rank
		}
	}
	var in, out any
	if p.Bytes != nil {
		in, out = collective.Buffers(operation, *p.Bytes, ranks)
	}
	s := &l.ranges.spans[c.span]
	if s.End != attribute.Forever {
		duration = s.End - s.Start
	}
	return []any{l.target.RunID, l.sourceID(), pidOf(thread), tidOf(thread), s.Start, duration, l.ids.RangeID(c.launch), nil, nil, nil,
		operation, in, out, nil, strings.ToValidUTF8(p.Communicator.String(), "\uFFFD"), nil, size, rank}
}
