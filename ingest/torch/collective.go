package torch

import (
	"context"
	"math"
	"strconv"
	"strings"

	"prof/ingest/collective"
	"prof/ingest/rows"
	"prof/ingest/torch/trace"
)

// collectiveCall is what a kernel's args say of the collective that launched it. Traces of PyTorch 2.3 and later have them.
type collectiveCall struct {
	start          int64 // of the kernel
	device, stream int32
	in, out, ranks int64 // elements and ranks; absent when not said
	name           string
	dtype          string
	group, members string
}

// collective takes the collective that launched a kernel, if one did.
func (c *collector) collective(e *trace.Event, k *config) {
	if len(e.Collective) == 0 {
		return
	}
	c.collectives = append(c.collectives, collectiveCall{start: e.Start, device: k.device, stream: k.stream, in: integer(e, trace.InElements), out: integer(e, trace.OutElements),
		ranks: integer(e, trace.GroupSize), name: valid(string(e.Collective)), dtype: valid(string(e.DType)), group: valid(string(e.GroupName)), members: valid(string(e.GroupRanks))})
}

// storeCollectives stores the arguments of collectives.
func (l *loader) storeCollectives(ctx context.Context) error {
	if len(l.collectives) == 0 {
		return nil
	}
	_, err := l.target.Append(ctx, "collective_call", func(add rows.Add) error {
		for i := range l.collectives {
			if err := add(l.collectiveRow(&l.collectives[i])...); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

func (l *loader) collectiveRow(c *collectiveCall) []any {
	operation := collective.OfPyTorch(c.name)
	in, out := bufferBytes(c.in, c.dtype), bufferBytes(c.out, c.dtype)
	// PyTorch writes the one buffer of a send or receive as both.
	switch operation {
	case "send":
		out = int64(0)
	case "recv":
		in = int64(0)
	}
	var pid, ranks, rank any
	if p, ok := l.threads.only(); ok {
		pid = p
	}
	if c.ranks > 0 && c.ranks <= math.MaxInt32 {
		ranks = int32(c.ranks)
	}
	if r := l.rank(); r != nil {
		rank = rankIn(c.members, *r)
	}
	return []any{l.target.RunID, l.sourceID(), pid, nil, nil, nil, nil, c.device, c.stream, c.start - l.origin, operation, in, out,
		textOrNil(c.dtype), textOrNil(c.group), textOrNil(c.members), ranks, rank}
}

func textOrNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// bufferBytes returns the bytes of a number of elements; nil when they, or their type, are not known.
func bufferBytes(elements int64, dtype string) any {
	size, ok := collective.ElementBytes(dtype)
	if !ok || elements < 0 || elements > math.MaxInt64/size {
		return nil
	}
	return elements * size
}

// rankIn returns the place of a rank of the job in the list of a group's ranks, which is its rank there; nil when the list does not
// hold it, or was cut: of long lists Kineto writes the first ones, `...` and the last.
func rankIn(members string, rank int64) any {
	list := strings.Split(strings.Trim(members, "[]"), ",")
	for i, m := range list {
		n, err := strconv.ParseInt(strings.TrimSpace(m), 10, 64)
		if err != nil {
			return nil
		}
		if n == rank {
			return int32(i)
		}
	}
	return nil
}
