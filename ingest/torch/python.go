package torch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"prof/ingest/load"
	"prof/ingest/rows"
)

// modulePrefix begins the name under which the profiler records the call of an nn.Module.
const modulePrefix = "nn.Module: "

func isModule(function string) bool { return strings.HasPrefix(function, modulePrefix) }

// pythonOf is what the call of a Python function has beside its times.
type pythonOf struct {
	thread, stack int32
	path          int32
	isModule      bool
	module        int32 // ID of the innermost nn.Module that it is or is in; 0 none
	inside        int64 // of an nn.Module: time of those next inside it
	device        int64 // of an nn.Module: device work launched in it but in none inside it
}

// pushPython begins a call of a Python function.
func (s *sweeper) pushPython(row []int64) error {
	start, end := row[0], row[0]+row[1]
	// Push would do the same; here it tells the parent.
	if _, err := s.python.Holding(start, end); err != nil {
		return err
	}
	call, err := s.python.Push(pyCall{Start: start, End: end, Name: int32(row[colName]), Of: pythonOf{thread: s.thread}})
	if err != nil {
		return err
	}
	name, parent := s.pyName[call.Name], s.python.Find(func(c *pyCall) bool { return c.ID == call.Parent })
	outer := int32(0)
	if parent != nil {
		outer, call.Of.module = parent.Of.stack, parent.Of.module
	}
	call.Of.stack = s.target.Run.Stacks.Add(outer, "", name)
	if call.Of.isModule = isModule(name); call.Of.isModule {
		if m := s.moduleOf(call); m != nil {
			m.Of.inside += row[1]
		}
		call.Of.module = call.ID
	}
	call.Of.path = s.lines.Path(s.place.Node(s.threads.list[s.thread].Key, start))
	return nil
}

// moduleOf returns the innermost nn.Module that a call is or is in.
func (s *sweeper) moduleOf(call *pyCall) *pyCall {
	id := call.Of.module
	if id == 0 {
		return nil
	}
	return s.python.Find(func(c *pyCall) bool { return c.ID == id })
}

func (s *sweeper) addToModule(call *pyCall, device int64) {
	if m := s.moduleOf(call); m != nil {
		m.Of.device += device
	}
}

// emitPython keeps a finished call of a Python function for storing.
func (l *loader) emitPython(c *pyCall) error {
	o := &c.Of
	module, inside, device := int64(0), int64(0), int64(0)
	if o.isModule {
		module, inside, device = 1, c.Duration()-o.inside, o.device
	}
	l.pyCalls.add(c.Start, c.Duration(), int64(o.thread), int64(o.stack), c.SelfCPU(), c.SelfDevice, c.TotalDevice, int64(o.path), module, inside, device)
	return nil
}

var pythonColumns = []rows.Column{{Name: "start_ns"}, {Name: "duration_ns"}, {Name: "pid", Type: rows.Integer}, {Name: "tid", Type: rows.Integer},
	{Name: "stack_id", Type: rows.Integer}, {Name: "self_cpu_ns"}, {Name: "self_device_ns"}, {Name: "total_device_ns"}, {Name: "path_id", Type: rows.Integer},
	{Name: "module_cpu_ns"}, {Name: "module_device_ns"}}

// storePython stores the calls of Python functions.
func (l *loader) storePython(ctx context.Context) error {
	l.pyCalls.end()
	_, err := l.target.Insert(ctx, "python_call", l.unpacked([]*packed{&l.pyCalls}, pythonColumns, func() unpackFunc {
		return func(c *rows.Chunk, n int, _, _ int, row []int64) bool {
			thread := l.threads.list[row[2]]
			c.Int64(0)[n], c.Int64(1)[n], c.Int32(2)[n], c.Int32(3)[n] = row[0]-l.origin, row[1], thread.PID, thread.TID
			c.Int32(4)[n], c.Int64(5)[n], c.Int64(6)[n], c.Int64(7)[n], c.Int32(8)[n] = int32(row[3]), row[4], row[5], row[6], int32(row[7])
			if l.source.NoDevice {
				c.SetNull(6, n)
				c.SetNull(7, n)
			}
			for k := range 2 {
				if c.Int64(9 + k)[n] = row[9+k]; row[8] == 0 || k == 1 && l.source.NoDevice {
					c.SetNull(9+k, n)
				}
			}
			return true
		}
	}))
	l.pyCalls = packed{}
	return err
}

// textStacks numbers the stacks that traces of PyTorch 1.8 to 1.12 have as texts: functions from the innermost one, parted by ;.
func (l *loader) textStacks() {
	for _, text := range l.stackID.List {
		id := int32(0)
		for _, f := range slices.Backward(strings.Split(text, ";")) {
			if f = strings.TrimSpace(f); f != "" {
				id = l.target.Run.Stacks.Add(id, "", valid(f))
			}
		}
		l.textStack = append(l.textStack, id)
	}
}

// maxModulePaths bounds the bytes of all module paths together: modules that call themselves without end would make them grow
// as the square of their depth.
const maxModulePaths = 1 << 30

// StoreStacks stores the stacks of Python functions of all of a run's sources. It is called once, after the last source.
func StoreStacks(ctx context.Context, t *load.Target) error {
	all := t.Run.Stacks.All()
	modules := make([]string, len(all))
	size := 0
	_, err := t.Append(ctx, "python_stack", func(add rows.Add) error {
		for i, s := range all {
			if s.IsGone() {
				continue
			}
			var parent, path any
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
			if size += len(modules[i]); size > maxModulePaths {
				return fmt.Errorf("the paths of nested nn.Modules take more than %d MiB; the deepest has %d functions", maxModulePaths>>20, s.Depth)
			}
			if modules[i] != "" {
				path = modules[i]
			}
			if err := add(t.RunID, int32(i+1), parent, s.Depth, s.Name, isModule(s.Name), path); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
