package perfetto

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"prof/queries/frame"
)

// WriteChrome writes the trace of a run as the JSON that the PyTorch profiler exports: HTA, TraceLens and chrome://tracing read it. It has calls, device work, what
// launched it, and passes; idle time, findings and samples are only in that of Write. It writes nothing for a run without events.
//
// The categories and members are those of Kineto's output_json.cpp: times in us, GPUs as processes with their streams as threads, and a launch tied to its work by
// correlation and by a flow ac2g.
func WriteChrome(out io.Writer, each Each, o Options) (Sum, error) {
	c := &chrome{trace: newTrace(o), out: bufio.NewWriterSize(out, 1<<16), threads: map[[2]int64]bool{}, texts: map[string][]byte{}, order: map[int64]int64{}}
	c.each = func(relation string, args frame.Args, to func(*frame.Cells) error) error {
		return each(relation, args, func(cells *frame.Cells) error {
			if c.failed != nil {
				return errStopped
			}
			return to(cells)
		})
	}
	err := c.write()
	switch {
	case c.failed != nil:
		return Sum{}, c.failed
	case err != nil:
		return Sum{}, &ReadError{err}
	}
	return c.summed(), nil
}

// chrome is what is known while the JSON is written.
type chrome struct {
	*trace
	out     *bufio.Writer
	failed  error // the file cannot be written: what follows is lost
	isBegun bool
	line    []byte            // reused
	threads map[[2]int64]bool // those that are named
	texts   map[string][]byte // names as JSON; bounded
	size    int
	order   map[int64]int64 // processes in the order in which they appeared, by their number in the trace
}

func (c *chrome) write() error {
	if err := c.read(); err != nil {
		return err
	}
	for _, s := range c.sources {
		for _, write := range []func(*source) error{c.calls, c.work, c.passes} {
			if err := write(s); err != nil {
				return err
			}
		}
	}
	if c.isBegun {
		c.put([]byte("\n]}\n"))
	}
	if err := c.out.Flush(); c.failed == nil {
		c.failed = err
	}
	return nil
}

func (c *chrome) put(b []byte) {
	if _, err := c.out.Write(b); err != nil && c.failed == nil {
		c.failed = err
	}
}

// begin writes what comes before the first event.
func (c *chrome) begin() {
	c.isBegun = true
	b := append(c.line[:0], `{"schemaVersion": 1, "displayTimeUnit": "ms"`...)
	if c.clock != nil {
		b = strconv.AppendInt(append(b, `, "baseTimeNanoseconds": `...), c.clock.utc-c.clock.at, 10)
	}
	if rank, known := c.onlyRank(); known { // HTA looks for it with a space
		b = append(strconv.AppendInt(append(b, `, "distributedInfo": {"rank": `...), rank, 10), '}')
	}
	b = append(b, `, "deviceProperties": [`...)
	described := map[int64]bool{}
	for _, d := range c.devices {
		if d.Name == "" || described[d.Device] {
			continue
		}
		if len(described) > 0 {
			b = append(b, ", "...)
		}
		described[d.Device] = true
		b = append(strconv.AppendInt(append(b, `{"id": `...), d.Device, 10), `, "name": `...)
		b = append(append(b, c.text(d.Name)...), '}')
	}
	c.put(append(b, "], \"traceEvents\": ["...))
}

// onlyRank returns the rank of the run: 0 where none is known, and none of a run of several, of which HTA reads one from a file.
func (c *chrome) onlyRank() (int64, bool) {
	ranks := map[int64]bool{}
	for _, s := range c.sources {
		if s.rank != nil {
			ranks[*s.rank] = true
		}
		for _, rank := range s.ranks {
			ranks[rank] = true
		}
	}
	for rank := range ranks {
		return rank, len(ranks) == 1
	}
	return 0, true
}

// text returns a text as JSON.
func (c *chrome) text(s string) []byte {
	if b, known := c.texts[s]; known {
		return b
	}
	if c.size > mostTexts {
		c.texts, c.size = map[string][]byte{}, 0
	}
	b, err := json.Marshal(plain(s))
	if err != nil { // no text of UTF-8 has one
		panic(err)
	}
	c.texts[s] = b
	c.size += len(s) + len(b) + 64
	return b
}

// event begins an event with what all have.
func (c *chrome) event(phase, category, name string, pid, tid, at int64) []byte {
	if !c.isBegun {
		c.begin()
		c.line = append(c.line[:0], "\n{"...)
	} else {
		c.line = append(c.line[:0], ",\n{"...)
	}
	b := append(append(append(c.line, `"ph": "`...), phase...), `", "cat": "`...)
	b = append(append(append(b, category...), `", "name": `...), c.text(name)...)
	b = strconv.AppendInt(append(b, `, "pid": `...), pid, 10)
	b = strconv.AppendInt(append(b, `, "tid": `...), tid, 10)
	return micros(append(b, `, "ts": `...), at)
}

// micros writes a time in us, to the nanosecond.
func micros(b []byte, ns int64) []byte {
	if ns < 0 {
		b, ns = append(b, '-'), -ns
	}
	b = append(strconv.AppendInt(b, ns/1000, 10), '.')
	return append(b, byte('0'+ns/100%10), byte('0'+ns/10%10), byte('0'+ns%10))
}

// slice begins an event with a duration, and its args.
func (c *chrome) slice(category, name string, pid, tid, start, end int64) []byte {
	c.sum.Slices++
	return append(micros(append(c.event("X", category, name, pid, tid, start), `, "dur": `...), end-start), `, "args": {`...)
}

// arg adds a number, argText a text that is not empty.
func arg(b []byte, name string, n int64) []byte {
	return strconv.AppendInt(argName(b, name), n, 10)
}

func (c *chrome) argText(b []byte, name, text string) []byte {
	if text == "" {
		return b
	}
	return append(argName(b, name), c.text(text)...)
}

func argName(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ", "...)
	}
	return append(append(append(b, '"'), name...), `": `...)
}

// end ends an event with args.
func (c *chrome) end(b []byte) {
	b = append(b, "}}"...)
	c.put(b)
	c.line = b
}

// flow writes one end of an arrow from a launch to its work.
func (c *chrome) flow(phase string, id, pid, tid, at int64) {
	b := strconv.AppendInt(append(c.event(phase, "ac2g", "ac2g", pid, tid, at), `, "id": `...), id, 10)
	if phase == "f" {
		b = append(b, `, "bp": "e"`...)
	}
	b = append(b, '}')
	c.put(b)
	c.line = b
}

// named names a process or a thread of the trace.
func (c *chrome) named(kind string, pid, tid int64, title string) {
	c.end(c.argText(append(c.event("M", "__metadata", kind, pid, tid, 0), `, "args": {`...), "name", title))
}

// cpu returns the number of a process of a source, and gpu that of a GPU, which PyTorch's profiler gives the number of the device.
func (c *chrome) cpu(s *source, pid int64) int64 {
	p := s.cpus[pid]
	if p == nil {
		p = &process{number: c.newPID(pid)}
		s.cpus[pid] = p
		c.order[p.number] = int64(len(c.order))
		c.named("process_name", p.number, 0, c.cpuTitle(s, pid))
	}
	return p.number
}

func (c *chrome) gpu(s *source, device int64) int64 {
	p := s.gpus[device]
	if p == nil {
		p = &process{number: device}
		if device < 0 || c.pids[device] {
			p.number = c.newPID(-1)
		}
		c.pids[p.number] = true
		s.gpus[device] = p
		c.named("process_name", p.number, 0, c.gpuTitle(s, device))
	}
	return p.number
}

// correlation is that of the trace: a process counts its own from 1, so that those of the second and later ones get high bits. Numbers stay exact in JSON.
func (c *chrome) correlation(pid, id int64) int64 { return id&(1<<40-1) | c.order[pid]<<40 }

// calls writes what threads called.
func (c *chrome) calls(s *source) error {
	open := map[[2]int64]*thread{}
	var order [][2]int64
	err := c.inParts(s, "_trace-call", c.shown(s), func(cells *frame.Cells) error {
		pid, tid := c.cpu(s, cells.Whole(1)), cells.Whole(2)
		if cells.Whole(0) == 0 {
			tid = 0 // of ranges that threads share
		}
		on := [2]int64{pid, tid}
		h := open[on]
		if h == nil {
			h = &thread{}
			open[on] = h
			order = append(order, on)
			title := s.threads[[2]int64{cells.Whole(1), cells.Whole(2)}]
			if cells.Whole(0) == 0 {
				title = "start/end ranges"
			}
			if title == "" {
				title = fmt.Sprintf("thread %d", tid)
			}
			c.named("thread_name", pid, tid, title)
		}
		start, end := cells.Whole(3), cells.Whole(3)+cells.Whole(4)
		if cells.Whole(5) == callCUDA {
			if !h.call.is(cells, start, end) {
				c.launch(s, on, h)
			}
			h.call.add(cells, start, end)
			return nil
		}
		c.call(s, on, cells, start, end)
		return nil
	})
	for _, on := range order {
		c.launch(s, on, open[on])
	}
	return err
}

// launch writes the call of CUDA of which all rows were read.
func (c *chrome) launch(s *source, on [2]int64, h *thread) {
	if !h.call.isOpen {
		return
	}
	h.call.isOpen = false
	name := c.callName(name{ofAPI, h.call.name}, "CUDA call")
	b := c.slice(apiCategory(name), name, on[0], on[1], h.call.start+s.shift, h.call.end+s.shift)
	if h.call.correlation != nil {
		b = arg(b, "correlation", c.correlation(on[0], *h.call.correlation))
	}
	if h.call.result != nil && *h.call.result != 0 {
		b = arg(b, "result", *h.call.result)
	}
	c.end(b)
	if h.call.correlation != nil {
		c.sum.Flows++
		c.flow("s", c.correlation(on[0], *h.call.correlation), on[0], on[1], h.call.start+s.shift)
	}
}

// apiCategory is cuda_driver for cuLaunchKernel, hip_runtime for hipLaunchKernel, and cuda_runtime for others.
func apiCategory(name string) string {
	switch {
	case strings.HasPrefix(name, "hip"):
		return "hip_runtime"
	case len(name) > 2 && name[:2] == "cu" && 'A' <= name[2] && name[2] <= 'Z':
		return "cuda_driver"
	}
	return "cuda_runtime"
}

// call writes what is no call of CUDA.
func (c *chrome) call(s *source, on [2]int64, cells *frame.Cells, start, end int64) {
	if !cells.Known(4) { // it never ended, which JSON of this kind cannot say
		return
	}
	category, text := "", ""
	switch kind := cells.Whole(5); kind {
	case callRange:
		category, text = "user_annotation", cells.Text(10)
	case callProfiler:
		category, text = "overhead", cells.Text(10)
	case callMark:
		c.end(append(c.event("i", "user_annotation", cells.Text(10), on[0], on[1], start+s.shift), `, "s": "t", "args": {`...))
		return
	case ofPython:
		category, text = "python_function", c.callName(name{ofPython, cells.Whole(6)}, "Python function")
	case ofOp:
		category, text = "cpu_op", c.callName(name{ofOp, cells.Whole(6)}, "operator")
	case callLibrary:
		category, text = "library_call", c.callName(name{ofAPI, cells.Whole(6)}, "library call")
	default:
		category, text = "system_call", c.callName(name{ofAPI, cells.Whole(6)}, "system call")
	}
	b := c.slice(category, text, on[0], on[1], start+s.shift, end+s.shift)
	if cells.Known(7) {
		b = c.argText(b, "stage", c.paths[cells.Whole(7)].stage)
	}
	c.end(b)
}

// directions are PyTorch's words for those of copies.
var directions = strings.NewReplacer("memcpy ", "Memcpy ", "Host-to-Device", "HtoD", "Device-to-Host", "DtoH", "Device-to-Device", "DtoD", "Host-to-Host", "HtoH", "Peer-to-Peer", "PtoP")

// work writes the streams of the GPUs.
func (c *chrome) work(s *source) error {
	return c.inParts(s, "_trace-work", c.shown(s), func(cells *frame.Cells) error {
		device, stream := cells.Whole(0), cells.Whole(3)
		pid := c.gpu(s, device)
		if on := [2]int64{pid, stream}; !c.threads[on] {
			c.threads[on] = true
			title := "no stream"
			if cells.Known(3) {
				title = fmt.Sprintf("stream %d", stream)
			}
			c.named("thread_name", pid, stream, title)
		}
		category, text, n := "cuda_graph", "graph replay", named{}
		switch cells.Whole(6) {
		case workKernel:
			n = c.trace.named[name{ofKernel, cells.Whole(7)}]
			category, text = "kernel", n.text
		case workGraph:
		default:
			category, text = "gpu_memcpy", directions.Replace(cells.Text(16))
			if strings.HasPrefix(text, "memset") {
				category, text = "gpu_memset", "Memset (Device)"
			}
		}
		start, end := cells.Whole(4), cells.Whole(4)+cells.Whole(5)
		b := arg(c.slice(category, text, pid, stream, start+s.shift, end+s.shift), "device", device)
		c.sum.Work++
		for _, of := range []struct {
			title string
			at    int
		}{{"context", 2}, {"stream", 3}, {"graph node id", 13}, {"bytes", 14}} {
			if cells.Known(of.at) {
				b = arg(b, of.title, cells.Whole(of.at))
			}
		}
		var flow int64
		if cells.Known(1) && cells.Known(12) {
			flow = c.correlation(c.cpu(s, cells.Whole(1)), cells.Whole(12))
			b = arg(b, "correlation", flow)
		}
		if shape := c.shapes[cells.Whole(8)]; shape != nil && cells.Known(8) {
			b = shape.args(b)
		}
		if p, known := c.paths[cells.Whole(9)]; known && cells.Known(9) {
			b = c.argText(c.argText(b, "range", p.path), "stage", p.stage)
		}
		if cells.Known(10) {
			b = c.argText(b, "operator", c.trace.named[name{ofOp, cells.Whole(10)}].text)
		}
		if cells.Known(11) {
			b = arg(b, "pass", cells.Whole(11))
		}
		c.end(c.argText(c.argText(b, "family", n.family), "role", n.role))
		if cells.Known(15) && flow != 0 {
			c.flow("f", flow, pid, stream, start+s.shift)
		}
		return nil
	})
}

// args adds how a kernel was launched.
func (s *shape) args(b []byte) []byte {
	for i, title := range []string{"grid", "block"} {
		if x, y, z := s.cells[3*i], s.cells[3*i+1], s.cells[3*i+2]; x != nil && y != nil && z != nil {
			b = fmt.Appendf(argName(b, title), "[%d, %d, %d]", *x, *y, *z)
		}
	}
	if n := s.cells[6]; n != nil {
		b = arg(b, "registers per thread", *n)
	}
	if static, dynamic := s.cells[7], s.cells[8]; static != nil && dynamic != nil {
		b = arg(b, "shared memory", *static+*dynamic)
	}
	return b
}

// passes writes those of stages on the CPU, in a row of their own; on a GPU they would count as its work.
func (c *chrome) passes(s *source) error {
	return c.each("_trace-pass", c.shown(s), func(cells *frame.Cells) error {
		if !cells.Known(3) {
			return nil
		}
		start, end, stage := cells.Whole(2), cells.Whole(2)+cells.Whole(3), cells.Text(7)
		if cells.Whole(6) == 1 {
			c.warm[cells.Whole(5)] = stage
		}
		if cells.Known(0) {
			return nil
		}
		const tid = madePIDs // no thread of Linux has it
		pid := c.cpu(s, cells.Whole(1))
		if on := [2]int64{pid, tid}; !c.threads[on] {
			c.threads[on] = true
			c.named("thread_name", pid, tid, "stages")
		}
		b := c.argText(c.slice("user_annotation", fmt.Sprintf("%s %d", stage, cells.Whole(4)), pid, tid, start+s.shift, end+s.shift), "stage", stage)
		c.end(arg(arg(b, "pass", cells.Whole(4)), "is_warmup", cells.Whole(6)))
		return nil
	})
}
