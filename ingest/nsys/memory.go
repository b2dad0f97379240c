package nsys

import (
	"context"
	"fmt"
	"sync/atomic"

	"prof/ingest/nsys/table"
	"prof/ingest/rows"
)

const memoryTable = "CUDA_GPU_MEMORY_USAGE_EVENTS"

// memoryFreed is what memoryOperationType is for a release; 0 is an allocation.
const memoryFreed = 1

// storeMemory stores what the program got from CUDA and gave back. An event that is neither, or whose size cannot be, is left out and counted.
func (l *loader) storeMemory(ctx context.Context) error {
	name := l.table(memoryTable)
	if name == "" {
		return nil
	}
	events, err := l.scanInto(ctx, name, want("start globalPid? deviceId address bytes memKind? memoryOperationType"),
		columns("pid:int device_id:int time_ns memory:text address size_bytes"))
	if err != nil {
		return err
	}
	kind := l.labels("ENUM_CUDA_MEM_KIND", "")
	var odd atomic.Int64
	events.newFill = func() fillFunc {
		return func(b *table.Batch, c *rows.Chunk) (int, error) {
			n := 0
			for i := range b.N {
				at, pid, size, operation := b.Cols[0].Ints[i], &b.Cols[1], b.Cols[4].Ints[i], b.Cols[6].Ints[i]
				if at <= -farthest || at >= farthest || size < 0 || size >= farthest || operation != 0 && operation != memoryFreed {
					odd.Add(1)
					continue
				}
				if operation == memoryFreed {
					size = -size
				}
				if pid.Null(i) {
					c.SetNull(0, n)
					c.Int32(1)[n] = l.numbered(b.Cols[2].Ints[i])
				} else {
					c.Int32(0)[n] = pidOf(pid.Ints[i])
					c.Int32(1)[n] = l.device(pid.Ints[i], b.Cols[2].Ints[i])
				}
				label := kind(&b.Cols[5], i)
				if label == "" {
					label = "Unknown"
				}
				c.Int64(2)[n], c.Int64(4)[n], c.Int64(5)[n] = at, b.Cols[3].Ints[i], size
				c.SetText(3, n, label)
				n++
			}
			return n, nil
		}
	}
	n, err := l.target.Insert(ctx, "cuda_allocation", events)
	if err != nil {
		return err
	}
	reason := ""
	if odd.Load() > 0 {
		reason = fmt.Sprintf("%d rows are neither an allocation nor a release, or have a size or time that cannot be", odd.Load())
		l.info.Warnings = append(l.info.Warnings, name+": "+reason)
	}
	l.part(memoryTable, events.read.Load(), n, reason)
	return nil
}
