package torch

import (
	"context"
	"database/sql/driver"
	"slices"
	"strings"

	"prof/ingest/load"
)

// modulePrefix begins the name under which the profiler records the call of an nn.Module.
const modulePrefix = "nn.Module: "

func isModule(function string) bool { return strings.HasPrefix(function, modulePrefix) }

// textStack numbers a stack that is written from the innermost function, parted by ;.
func textStack(stacks *load.Paths, text string) int32 {
	id := int32(0)
	for _, f := range slices.Backward(strings.Split(text, ";")) {
		if f = strings.TrimSpace(f); f != "" {
			id = stacks.Add(id, "", valid(f))
		}
	}
	return id
}

var pythonColumns = []load.Column{{Name: "pid", Type: load.Integer}, {Name: "tid", Type: load.Integer}, {Name: "stack_id", Type: load.Integer}, {Name: "start_ns"},
	{Name: "duration_ns"}, {Name: "self_cpu_ns"}, {Name: "self_device_ns"}, {Name: "total_device_ns"}, {Name: "module_cpu_ns"}, {Name: "module_device_ns"},
	{Name: "path_id", Type: load.Integer}}

// storePython stores the calls of Python functions.
func (l *loader) storePython(ctx context.Context) error {
	newRow := func() load.RowFunc {
		place := l.lines.Placer()
		return func(c *load.Chunk, n int, i int32) bool {
			call := l.python.At(i)
			thread := l.threads.list[call.Thread]
			c.Int32(0)[n], c.Int32(1)[n], c.Int32(2)[n] = thread.PID, thread.TID, l.stack[i]
			c.Int64(3)[n], c.Int64(4)[n], c.Int64(5)[n] = call.Start-l.origin, call.Duration(), call.SelfCPU()
			c.Int64(6)[n], c.Int64(7)[n] = call.SelfDevice, call.TotalDevice
			if l.module[i] == i {
				c.Int64(8)[n], c.Int64(9)[n] = call.Duration()-l.inside[i], l.device[i]
			} else {
				c.SetNull(8, n)
				c.SetNull(9, n)
			}
			c.Int32(10)[n] = l.lines.Path(place.Node(thread.Key, call.Start))
			return true
		}
	}
	_, err := l.target.Insert(ctx, "python_call", load.Listed(l.python.Len(), pythonColumns, newRow))
	return err
}

// StoreStacks stores the stacks of Python functions of all of a run's sources. It is called once, after the last source.
func StoreStacks(ctx context.Context, t *load.Target) error {
	all := t.Run.Stacks.All()
	modules := make([]string, len(all))
	_, err := t.Append(ctx, "python_stack", func(add func(...driver.Value) error) error {
		for i, s := range all {
			var parent, path driver.Value
			if s.Parent > 0 {
				parent = s.Parent
				modules[i] = modules[s.Parent-1]
			}
			if isModule(s.Name) {
				name := strings.TrimPrefix(s.Name, modulePrefix)
				if modules[i] != "" {
					name = modules[i] + " > " + name
				}
				modules[i] = name
			}
			if modules[i] != "" {
				path = modules[i]
			}
			if err := add(t.UUID(), int32(i+1), parent, s.Depth, s.Name, isModule(s.Name), path); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
