// Package perfetto writes a run as a trace of Perfetto's TrackEvents, in protobuf and gzip: ui.perfetto.dev and trace_processor open it. It is written
// packet by packet, so that millions of slices need no more memory than their names.
package perfetto

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"prof/queries/frame"
	"prof/queries/judge"
	"prof/render/typeset"
)

// What the trace reads of answers.
var (
	clockRows  = frame.RowsOf[clockRow]("clock-offsets")
	deviceRows = frame.RowsOf[deviceRow]("devices")
	streamRows = frame.RowsOf[streamRow]("streams")
)

// clockRow is a row of clock-offsets.
type clockRow struct {
	SourceID   int64    `col:"source_id"`
	Rank       *int64   `col:"rank"`
	OffsetNs   *float64 `col:"offset_ns"`
	DriftRatio *float64 `col:"drift_ratio"`
}

// deviceRow is a row of devices.
type deviceRow struct {
	SourceID int64  `col:"source_id"`
	Device   int64  `col:"device"`
	Name     string `col:"name"`
}

// streamRow is a row of streams.
type streamRow struct {
	SourceID int64  `col:"source_id"`
	PID      *int64 `col:"pid"`
	Device   int64  `col:"device"`
	Context  *int64 `col:"context"`
	Stream   *int64 `col:"stream"`
}

// Each hands over the rows of a relation.
type Each func(relation string, args frame.Args, to func(*frame.Cells) error) error

// Options say what is written.
type Options struct {
	Run         string // its id
	Stage       string // "" for all
	Pass        *int64
	Device      *int64
	From, Until *int64 // bounds in time, on the clock of the run's first source
	Part        int    // rows that are sorted at once
	// Answers of the queries of the same names.
	Clocks, Devices, Streams *frame.Frame
	Findings                 []judge.Finding
}

// Sum is what was written.
type Sum struct {
	Slices, Work, Flows, Samples int64
	Warm                         map[string]int64 // warm-up and cold passes, by stage
	Notes                        []string
}

// ReadError is an error about the run or what is asked of it, and not about the file.
type ReadError struct{ Err error }

func (e *ReadError) Error() string { return e.Err.Error() }

func (e *ReadError) Unwrap() error { return e.Err }

// Write writes the trace of a run; nothing for one without slices.
func Write(out io.Writer, each Each, o Options) (sum Sum, err error) {
	w := newWriter(out)
	t := newTrace(o)
	t.w, t.found = w, map[int]bool{}
	defer func() {
		if e := w.close(err == nil && sum.Slices > 0); e != nil { // nothing else matters then
			err = e
		} else if err != nil {
			err = &ReadError{err}
		}
	}()
	t.each = func(relation string, args frame.Args, to func(*frame.Cells) error) error {
		return each(relation, args, func(c *frame.Cells) error {
			if w.failed.Load() {
				return errStopped
			}
			return to(c)
		})
	}
	if err := t.read(); err != nil {
		return Sum{}, err
	}
	if t.clock != nil {
		boot := appendUint(appendUint(nil, clockID, clockBoottime), clockTimestamp, uint64(t.clock.at))
		real := appendUint(appendUint(nil, clockID, clockRealtime), clockTimestamp, uint64(t.clock.utc))
		w.write(appendMessage(nil, packetClockSnapshot, appendMessage(appendMessage(nil, snapshotClocks, boot), snapshotClocks, real)))
	}
	for _, s := range t.sources {
		if err := t.source(s); err != nil {
			return Sum{}, err
		}
	}
	return t.summed(), nil
}

func newTrace(o Options) *trace {
	return &trace{Options: o, pids: map[int64]bool{}, named: map[name]named{}, shapes: map[int64]*shape{}, paths: map[int64]path{}, warm: map[int64]string{}}
}

// summed returns what was written.
func (t *trace) summed() Sum {
	t.sum.Warm = map[string]int64{}
	for _, stage := range t.warm {
		t.sum.Warm[stage]++
	}
	return t.sum
}

// errStopped ends reading for a file that cannot be written.
var errStopped = errors.New("the trace cannot be written")

// trace is what is known while it is written.
type trace struct {
	Options
	each    Each
	w       *writer
	sum     Sum
	sources []*source
	clock   *clock // nil when no start is known as a time of the day
	devices []deviceRow
	streams []streamRow
	pids    map[int64]bool // those taken
	made    int64          // GPUs and processes that got a number instead of a pid
	named   map[name]named
	shapes  map[int64]*shape
	paths   map[int64]path
	warm    map[int64]string // stages of warm-up and cold passes, by the range: a pass is on the CPU and on GPUs
	found   map[int]bool     // findings that are written, by their row
}

// clock is a time of the trace, and what it is in UTC.
type clock struct{ at, utc int64 }

type name struct{ kind, id int64 }

type named struct{ text, family, role string }

type shape struct{ cells [9]*int64 }

type path struct{ path, stage string }

// source is one of the captures of the run.
type source struct {
	id        int64
	rank      *int64
	label     string // its name among several; "" for the only one
	shift     int64  // from its clock to the trace's
	ranks     map[int64]int64
	processes map[int64]string
	threads   map[[2]int64]string
	parts     []int64 // where parts of it start; nil when not asked
	first     int64   // of what is shown
	last      int64
	cpus      map[int64]*process
	gpus      map[int64]*process
	spans     map[stageOn][2]int64 // of measured passes on GPUs, those that are shown
	measured  map[stageOn]bool     // whether it has any, shown or not; nil when not asked
}

type stageOn struct {
	stage  string
	device int64
}

// process is a GPU or a process.
type process struct {
	pid, uuid uint64
	number    int64
	ranks     int // tracks so far, in their order
}

func (p *process) next() int {
	p.ranks++
	return p.ranks
}

// The kinds of names, as _trace-name and _trace-call number them, and of work, as _trace-work does.
const (
	ofKernel = 1
	ofPython = 2
	ofOp     = 3
	ofAPI    = 5

	callRange    = 1
	callLibrary  = 4
	callCUDA     = 5
	callSystem   = 6
	callProfiler = 7
	callMark     = 8

	workKernel = 1
	workGraph  = 3
)

// read reads what the slices name by numbers, and the clocks.
func (t *trace) read() error {
	run := frame.Args{"run": t.Run}
	if err := t.each("_trace-name", run, func(c *frame.Cells) error {
		t.named[name{c.Whole(0), c.Whole(1)}] = named{c.Text(2), c.Text(3), c.Text(4)}
		return nil
	}); err != nil {
		return err
	}
	if err := t.each("_trace-shape", run, func(c *frame.Cells) error {
		s := &shape{}
		for i := range s.cells {
			if c.Known(i + 1) {
				s.cells[i] = new(c.Whole(i + 1))
			}
		}
		t.shapes[c.Whole(0)] = s
		return nil
	}); err != nil {
		return err
	}
	if err := t.each("_trace-path", run, func(c *frame.Cells) error {
		t.paths[c.Whole(0)] = path{c.Text(1), c.Text(2)}
		return nil
	}); err != nil {
		return err
	}
	return t.readSources()
}

// readSources reads the sources and how their clocks differ. Within one source all times keep their distances, so that a drift is that in the middle of it.
func (t *trace) readSources() error {
	clocks, err := clockRows.Of(t.Clocks)
	if err == nil {
		t.devices, err = deviceRows.Of(t.Devices)
	}
	if err == nil {
		t.streams, err = streamRows.Of(t.Streams)
	}
	if err != nil {
		return err
	}
	least := int64(0)
	var known *source // whose start is known as a time of the day
	var start, captured int64
	for _, c := range clocks {
		s := &source{id: c.SourceID, rank: c.Rank, ranks: map[int64]int64{}, processes: map[int64]string{}, threads: map[[2]int64]string{}, first: math.MaxInt64, last: math.MinInt64,
			cpus: map[int64]*process{}, gpus: map[int64]*process{}, spans: map[stageOn][2]int64{}}
		if len(clocks) > 1 {
			if s.label = fmt.Sprintf("source %d", s.id); s.rank != nil {
				s.label = fmt.Sprintf("rank %d", *s.rank)
			}
		}
		var from, until, begun *int64
		if err := t.each("_trace-span", t.of(s), func(c *frame.Cells) error {
			if c.Known(0) && c.Known(1) {
				from, until = new(c.Whole(0)), new(c.Whole(1))
			}
			if c.Known(2) {
				begun = new(c.Whole(2))
			}
			return nil
		}); err != nil {
			return err
		}
		if from == nil {
			continue // it recorded nothing over time
		}
		offset := c.OffsetNs
		if offset == nil {
			t.sum.Notes = append(t.sum.Notes, fmt.Sprintf("the clock offset of source %d is unknown: its times are not aligned with the others'", s.id))
			offset = new(0.0)
		}
		drift, _ := frame.Finite(c.DriftRatio)
		s.shift = int64(math.Round(*offset + drift*float64(*from+(*until-*from)/2)))
		if most := math.Abs(drift) * float64(*until-*from) / 2; most >= 1000 {
			t.sum.Notes = append(t.sum.Notes, fmt.Sprintf("the clock of source %d drifts: its times are up to %.0f us off at its start and end", s.id, most/1000))
		}
		least = min(least, *from+s.shift)
		if known == nil && begun != nil && *begun > 0 {
			known, start, captured = s, *from, *begun+*from
		}
		if err := t.each("_trace-process", t.of(s), func(c *frame.Cells) error {
			switch {
			case c.Known(1):
				s.threads[[2]int64{c.Whole(0), c.Whole(1)}] = c.Text(3)
			default:
				s.processes[c.Whole(0)] = c.Text(3)
				if c.Known(2) {
					s.ranks[c.Whole(0)] = c.Whole(2)
				}
			}
			return nil
		}); err != nil {
			return err
		}
		t.sources = append(t.sources, s)
	}
	for _, s := range t.sources {
		s.shift -= least // a trace has no times below 0
	}
	if known != nil {
		t.clock = &clock{start + known.shift, captured}
	}
	if least < 0 {
		t.From, t.Until = moved(t.From, -least), moved(t.Until, -least)
		t.sum.Notes = append(t.sum.Notes, fmt.Sprintf("times of the trace are %d ns later than those of the run, which start before 0", -least))
	}
	return nil
}

func moved(at *int64, by int64) *int64 {
	if at == nil {
		return nil
	}
	return new(*at + by)
}

// of returns the arguments for what is shown of a source.
func (t *trace) of(s *source) frame.Args {
	return frame.Args{"run": t.Run, "of_source": fmt.Sprint(s.id)}
}

// shown adds what is asked for.
func (t *trace) shown(s *source) frame.Args {
	args := t.of(s)
	if t.Stage != "" {
		args["stage"] = t.Stage
	}
	for name, n := range map[string]*int64{"device": t.Device, "pass": t.Pass, "from_time": moved(t.From, -s.shift), "until_time": moved(t.Until, -s.shift)} {
		if n != nil {
			args[name] = fmt.Sprint(*n)
		}
	}
	return args
}

// source writes what one source recorded. Launches come before the work that they launched, as a flow starts where it is named first.
func (t *trace) source(s *source) error {
	for _, write := range []func(*source) error{t.calls, t.work, t.passes, t.gaps, t.findings, t.counters} {
		if err := write(s); err != nil {
			return err
		}
	}
	return nil
}

// saw notes what is shown of a source.
func (s *source) saw(start, end int64) {
	s.first, s.last = min(s.first, start), max(s.last, end)
}

// bounds are the times between which a source shows something and is asked for.
func (t *trace) bounds(s *source) (first, last int64) {
	first, last = s.first, s.last
	if t.From != nil {
		first = max(first, *t.From-s.shift)
	}
	if t.Until != nil {
		last = min(last, *t.Until-s.shift)
	}
	return first, last
}

// gpu returns a GPU of a source, as a process of the trace.
func (t *trace) gpu(s *source, device int64) *process {
	if p := s.gpus[device]; p != nil {
		return p
	}
	p := t.newProcess(-1, t.gpuTitle(s, device))
	s.gpus[device] = p
	return p
}

// gpuTitle names a GPU of a source.
func (t *trace) gpuTitle(s *source, device int64) string {
	title := fmt.Sprintf("GPU %d", device)
	if device < 0 {
		title = "GPU unknown"
	}
	for _, r := range t.devices {
		if r.SourceID == s.id && r.Device == device && r.Name != "" {
			title += " " + r.Name
		}
	}
	if s.label != "" {
		title += ", " + s.label
	} else if ranks := t.ranksOn(s, device); len(ranks) == 1 {
		title += fmt.Sprintf(", rank %d", ranks[0])
	}
	return title
}

// ranksOn returns the ranks of the processes with work on a GPU.
func (t *trace) ranksOn(s *source, device int64) (out []int64) {
	for _, r := range t.streams {
		if rank, known := s.ranks[frame.Or(r.PID, 0)]; known && r.SourceID == s.id && r.Device == device && !slices.Contains(out, rank) {
			out = append(out, rank)
		}
	}
	return out
}

// cpu returns a process of a source.
func (t *trace) cpu(s *source, pid int64) *process {
	if p := s.cpus[pid]; p != nil {
		return p
	}
	p := t.newProcess(pid, t.cpuTitle(s, pid))
	s.cpus[pid] = p
	return p
}

// cpuTitle names a process of a source.
func (t *trace) cpuTitle(s *source, pid int64) string {
	title := baseName(s.processes[pid])
	if title == "" {
		title = fmt.Sprintf("process %d", pid)
	}
	if rank, known := s.ranks[pid]; known {
		title += fmt.Sprintf(", rank %d", rank)
	} else if s.label != "" {
		title += ", " + s.label
	}
	return title
}

// baseName is the file of an executable that is named with its folder; names of threads of the kernel have slashes too.
func baseName(name string) string {
	if strings.HasPrefix(name, "/") || len(name) > 2 && name[1:3] == `:\` {
		return name[strings.LastIndexAny(name, `/\`)+1:]
	}
	return name
}

// madePIDs are above those that Linux gives, for GPUs, and for processes of several machines or containers with the same pid.
const madePIDs = 10_000_000

func (t *trace) newProcess(pid int64, title string) *process {
	pid = t.newPID(pid)
	return &process{number: pid, uuid: t.w.process(pid, title)}
}

// newPID returns a number that no other process of the trace has: its own where that is free.
func (t *trace) newPID(pid int64) int64 {
	if pid <= 0 || pid > math.MaxInt32 || t.pids[pid] {
		t.made++
		pid = madePIDs + t.made
	}
	t.pids[pid] = true
	return pid
}

// child returns a track of a process, and what makes more of them, which a reader shows as one.
func (t *trace) child(p *process, title string) (uint64, func() uint64) {
	rank := p.next()
	more := func() uint64 { return t.w.descriptor(p.uuid, rank, title, nil) }
	return more(), more
}

// calls writes the threads: what they called, one in the other.
func (t *trace) calls(s *source) error {
	threads := map[[3]int64]*thread{}
	var order []*thread
	err := t.inParts(s, "_trace-call", t.shown(s), func(c *frame.Cells) error {
		on := [3]int64{c.Whole(0), c.Whole(1), c.Whole(2)}
		if on[0] == 0 {
			on[2] = 0
		}
		h := threads[on]
		if h == nil {
			h = &thread{row: t.threadRow(s, on)}
			threads[on] = h
			order = append(order, h)
		}
		start, end := c.Whole(3), c.Whole(3)+c.Whole(4)
		if !c.Known(4) {
			end = never
		}
		if c.Whole(5) == callCUDA {
			t.add(s, h, c, start, end)
			return nil
		}
		t.flush(s, h)
		t.call(s, h.row, c, start, end)
		return nil
	})
	for _, h := range order {
		t.flush(s, h)
		t.ended(h.row)
	}
	return err
}

// ended closes a row and counts its slices.
func (t *trace) ended(r *row) {
	r.close()
	t.sum.Slices += r.slices
}

// PartRows is a size of parts at which sorting needs some 200 MB.
const PartRows = 1_000_000

// inParts hands over the rows of a relation in the order of time. It asks for one part after another, as sorting all of them at once would need the memory for all.
func (t *trace) inParts(s *source, relation string, args frame.Args, to func(*frame.Cells) error) error {
	if s.parts == nil {
		s.parts = []int64{}
		parts := t.of(s)
		parts["part_size"] = strconv.Itoa(t.Part)
		if err := t.each("_trace-part", parts, func(c *frame.Cells) error {
			s.parts = append(s.parts, c.Whole(0))
			return nil
		}); err != nil {
			return err
		}
	}
	for i := range max(1, len(s.parts)) {
		args := maps.Clone(args)
		if i > 0 { // the first has what is before it too
			args["part_time"] = strconv.FormatInt(s.parts[i], 10)
		}
		if i+1 < len(s.parts) {
			args["next_time"] = strconv.FormatInt(s.parts[i+1], 10)
		}
		if err := t.each(relation, args, to); err != nil {
			return err
		}
	}
	return nil
}

// thread is the track of a thread, with the call of CUDA whose rows are read.
type thread struct {
	row  *row
	call launch
}

// launch is a call of CUDA, put together from its rows.
type launch struct {
	isOpen           bool
	start, end, name int64
	result           *int64
	correlation      *int64 // of what it launched
	flows            []int64
}

// add adds a row to the call that it is of.
func (t *trace) add(s *source, h *thread, c *frame.Cells, start, end int64) {
	if !h.call.is(c, start, end) {
		t.flush(s, h)
	}
	h.call.add(c, start, end)
}

// is reports whether a row is of the call, which is open.
func (l *launch) is(c *frame.Cells, start, end int64) bool {
	return l.isOpen && l.start == start && l.end == end && l.name == c.Whole(6)
}

// add adds a row to the call, or begins one.
func (l *launch) add(c *frame.Cells, start, end int64) {
	if !l.isOpen {
		*l = launch{isOpen: true, start: start, end: end, name: c.Whole(6), flows: l.flows[:0]}
	}
	if c.Known(8) {
		l.result = new(c.Whole(8))
	}
	if c.Known(9) {
		l.flows = append(l.flows, c.Whole(9))
	}
	if c.Known(11) {
		l.correlation = new(c.Whole(11))
	}
}

// flush writes the call of which all rows were read.
func (t *trace) flush(s *source, h *thread) {
	if !h.call.isOpen {
		return
	}
	h.call.isOpen = false
	t.sum.Flows += int64(len(h.call.flows))
	event := h.row.cachedNamed(block{'a', h.call.name}, func(b []byte) []byte {
		return h.row.name(b, t.callName(name{ofAPI, h.call.name}, "CUDA call"), "api")
	})
	for _, f := range h.call.flows {
		event = appendFixed(event, eventFlow, uint64(f))
	}
	if h.call.result != nil && *h.call.result != 0 {
		event = h.row.annotateInt(event, "result", *h.call.result)
	}
	h.row.slice(h.call.start, h.call.end, event)
	s.saw(h.call.start, h.call.end)
}

// threadRow makes the track of a thread, or of the ranges that threads share.
func (t *trace) threadRow(s *source, on [3]int64) *row {
	p := t.cpu(s, on[1])
	if on[0] == 0 {
		track, more := t.child(p, "start/end ranges")
		return t.w.newRow(track, s.shift, false, more)
	}
	track := t.w.thread(p.uuid, p.number, on[2], s.threads[[2]int64{on[1], on[2]}])
	return t.w.newRow(track, s.shift, false, func() uint64 { return t.w.descriptor(track, 1, "overlapping", nil) })
}

// call writes what is no call of CUDA.
func (t *trace) call(s *source, r *row, c *frame.Cells, start, end int64) {
	kind := c.Whole(5)
	var event []byte
	switch kind {
	case callRange:
		event = r.named(c.Text(10), "range")
		if stage := t.paths[c.Whole(7)].stage; stage != "" {
			event = append(event, r.cached(block{'s', c.Whole(7)}, func(b []byte) []byte { return r.annotateText(b, "stage", stage) })...)
		}
	case callProfiler:
		event = r.named(c.Text(10), "profiler")
	case callMark:
		r.instant(start, r.named(c.Text(10), "mark"))
		s.saw(start, start)
		return
	case ofPython:
		event = r.named(t.callName(name{ofPython, c.Whole(6)}, "Python function"), "python")
	case ofOp:
		event = r.named(t.callName(name{ofOp, c.Whole(6)}, "operator"), "operator")
	case callLibrary:
		event = r.named(t.callName(name{ofAPI, c.Whole(6)}, "library call"), "library")
	case callSystem:
		event = r.named(t.callName(name{ofAPI, c.Whole(6)}, "system call"), "system")
	}
	r.slice(start, end, event)
	if end == never {
		end = start
	}
	s.saw(start, end)
}

// callName returns a name, or what it is the name of.
func (t *trace) callName(of name, what string) string {
	if n := t.named[of].text; n != "" {
		return n
	}
	return what
}

// stream says which stream of a source it is.
type stream struct {
	device, pid, context, stream int64
	hasContext, hasStream        bool
}

// work writes the streams of the GPUs. No work lies within other work there: what overlaps on one stream gets a further track.
func (t *trace) work(s *source) error {
	rows := map[stream]*row{}
	var order []*row
	err := t.inParts(s, "_trace-work", t.shown(s), func(c *frame.Cells) error {
		on := stream{c.Whole(0), c.Whole(1), c.Whole(2), c.Whole(3), c.Known(2), c.Known(3)}
		r := rows[on]
		if r == nil {
			track, more := t.child(t.gpu(s, on.device), t.streamName(s, on))
			r = t.w.newRow(track, s.shift, true, more)
			rows[on] = r
			order = append(order, r)
		}
		start, end := c.Whole(4), c.Whole(4)+c.Whole(5)
		r.slice(start, end, t.workEvent(r, c))
		s.saw(start, end)
		return nil
	})
	for _, r := range order {
		t.ended(r)
		t.sum.Work += r.slices
	}
	return err
}

// streamName names a stream, with its process and context where another of the GPU has its number.
func (t *trace) streamName(s *source, on stream) string {
	title := "no stream"
	if on.hasStream {
		title = fmt.Sprintf("stream %d", on.stream)
	}
	var pids, contexts []int64
	for _, r := range t.streams {
		if r.SourceID != s.id || r.Device != on.device || frame.Or(r.Stream, 0) != on.stream || (r.Stream != nil) != on.hasStream {
			continue
		}
		if pid := frame.Or(r.PID, 0); !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
		if context := frame.Or(r.Context, 0); frame.Or(r.PID, 0) == on.pid && !slices.Contains(contexts, context) {
			contexts = append(contexts, context)
		}
	}
	if len(contexts) > 1 {
		title += fmt.Sprintf(", context %d", on.context)
	}
	if len(pids) > 1 {
		title += fmt.Sprintf(", process %d", on.pid)
	}
	return title
}

func (t *trace) workEvent(r *row, c *frame.Cells) []byte {
	var event []byte
	switch c.Whole(6) {
	case workKernel:
		event = r.cachedNamed(block{'n', c.Whole(7)}, func(b []byte) []byte {
			n := t.named[name{ofKernel, c.Whole(7)}]
			return r.annotateText(r.annotateText(r.name(b, n.text, "kernel"), "family", n.family), "role", n.role)
		})
		if shape := t.shapes[c.Whole(8)]; shape != nil && c.Known(8) {
			event = append(event, r.cached(block{'g', c.Whole(8)}, func(b []byte) []byte { return shape.annotate(r, b) })...)
		}
	case workGraph:
		event = r.named("graph replay", "graph")
	default:
		event = r.named(c.Text(16), "copy")
		if c.Known(14) {
			event = r.annotateInt(event, "size_bytes", c.Whole(14))
		}
	}
	if p, known := t.paths[c.Whole(9)]; known && c.Known(9) {
		event = append(event, r.cached(block{'p', c.Whole(9)}, func(b []byte) []byte { return r.annotateText(r.annotateText(b, "range", p.path), "stage", p.stage) })...)
	}
	if c.Known(11) {
		event = r.annotateInt(event, "pass", c.Whole(11))
	}
	if c.Known(10) {
		event = append(event, r.cached(block{'o', c.Whole(10)}, func(b []byte) []byte { return r.annotateText(b, "operator", t.named[name{ofOp, c.Whole(10)}].text) })...)
	}
	if c.Known(12) {
		event = r.annotateInt(event, "correlation", c.Whole(12))
	}
	if c.Known(13) {
		event = r.annotateInt(event, "graph_node", c.Whole(13))
	}
	if c.Known(15) {
		event = appendFixed(event, eventFlowEnd, uint64(c.Whole(15)))
	}
	return event
}

// annotate returns how a kernel was launched.
func (s *shape) annotate(r *row, b []byte) []byte {
	for i, title := range []string{"grid", "block"} {
		if x, y, z := s.cells[3*i], s.cells[3*i+1], s.cells[3*i+2]; x != nil && y != nil && z != nil {
			b = r.annotateText(b, title, fmt.Sprintf("%d x %d x %d", *x, *y, *z))
		}
	}
	for i, title := range []string{"registers", "static_shared_bytes", "dynamic_shared_bytes"} {
		if n := s.cells[6+i]; n != nil {
			b = r.annotateInt(b, title, *n)
		}
	}
	return b
}

// passes writes the stage passes: on the CPU into their process, on a GPU into that.
func (t *trace) passes(s *source) error {
	rows := map[*process]*row{}
	var order []*row
	err := t.each("_trace-pass", t.shown(s), func(c *frame.Cells) error {
		start, end, stage := c.Whole(2), c.Whole(2)+c.Whole(3), c.Text(7)
		if !c.Known(3) {
			end = never
		}
		p := t.cpu(s, c.Whole(1))
		if c.Known(0) {
			p = t.gpu(s, c.Whole(0))
			if c.Whole(6) == 0 {
				on := stageOn{stage, c.Whole(0)}
				span, known := s.spans[on]
				if !known {
					span = [2]int64{start, end}
				}
				s.spans[on] = [2]int64{min(span[0], start), max(span[1], end)}
			}
		}
		r := rows[p]
		if r == nil {
			track, more := t.child(p, "stages")
			r = t.w.newRow(track, s.shift, false, more)
			rows[p] = r
			order = append(order, r)
		}
		event := r.named(fmt.Sprintf("%s %d", stage, c.Whole(4)), "pass")
		event = r.annotateInt(r.annotateText(event, "stage", stage), "pass", c.Whole(4))
		if c.Whole(6) == 1 {
			t.warm[c.Whole(5)] = stage
			event = r.annotate(event, "is_warmup", appendUint(nil, annotationBool, 1))
		}
		r.slice(start, end, event)
		return nil
	})
	for _, r := range order {
		t.ended(r)
	}
	return err
}

// gaps writes the idle times of the GPUs that the warehouse has.
func (t *trace) gaps(s *source) error {
	first, last := t.bounds(s)
	args := t.of(s)
	args["from_time"], args["until_time"] = strconv.FormatInt(first, 10), strconv.FormatInt(last, 10)
	if t.Stage != "" {
		args["stage"] = t.Stage
	}
	if t.Device != nil {
		args["device"] = strconv.FormatInt(*t.Device, 10)
	}
	var r *row
	device := int64(0)
	err := t.each("_trace-gap", args, func(c *frame.Cells) error {
		if r == nil || c.Whole(0) != device {
			if r != nil {
				t.ended(r)
			}
			device = c.Whole(0)
			track, more := t.child(t.gpu(s, device), "idle")
			r = t.w.newRow(track, s.shift, true, more)
		}
		event := r.annotateText(r.annotateText(r.named(c.Text(4), "idle"), "before", c.Text(5)), "after", c.Text(6))
		if p, known := t.paths[c.Whole(3)]; known && c.Known(3) {
			event = r.annotateText(r.annotateText(event, "range", p.path), "stage", p.stage)
		}
		r.slice(c.Whole(1), c.Whole(1)+c.Whole(2), event)
		return nil
	})
	if r != nil {
		t.ended(r)
	}
	return err
}

// findings writes each finding over the measured passes that it is about: once, in the first source that shows any of them, as its saving is that over the passes of
// all sources.
func (t *trace) findings(s *source) error {
	for i, f := range t.Findings {
		device := f.Device
		p := s.gpus[device]
		span, known := s.spans[stageOn{f.Stage, device}]
		if f.Stage == "" {
			span, known = [2]int64{s.first, s.last}, s.first <= s.last
		}
		if p == nil || !known || t.found[i] {
			continue
		}
		t.found[i] = true
		recordings, err := t.recordings(f.Stage, device)
		if err != nil {
			return err
		}
		track, more := t.child(p, "finding: "+f.ID)
		r := t.w.newRow(track, s.shift, true, more)
		event := r.named(f.Title, "finding")
		for _, x := range [][2]string{{"stage", f.Stage}, {"subject", f.Subject}, {"evidence", f.Evidence}, {"advice", f.Advice}, {"bound", f.Bound}} {
			event = r.annotateText(event, x[0], x[1])
		}
		event = r.annotateInt(event, "saving_ns", f.SavingNs)
		if passes := f.Passes; f.Stage != "" {
			event = r.annotateInt(r.annotateText(event, "over", fmt.Sprintf("%s of %s", typeset.Plural(passes, "pass", "passes"), typeset.Plural(recordings, "recording", "recordings"))), "passes", passes)
		}
		event = r.annotateInt(event, "recordings", recordings)
		event = r.annotateText(r.annotateText(event, "query", f.Command), "detail", f.Detail)
		r.slice(span[0], span[1], event)
		t.ended(r)
	}
	return nil
}

// recordings counts the sources with measured passes of a stage on a GPU, those that are not shown too; without a stage, those with work on it.
func (t *trace) recordings(stage string, device int64) (n int64, err error) {
	for _, s := range t.sources {
		if s.measured == nil {
			s.measured = map[stageOn]bool{}
			for _, r := range t.streams {
				if r.SourceID == s.id {
					s.measured[stageOn{"", r.Device}] = true
				}
			}
			if err := t.each("_trace-pass", t.of(s), func(c *frame.Cells) error {
				if c.Known(0) && c.Whole(6) == 0 {
					s.measured[stageOn{c.Text(7), c.Whole(0)}] = true
				}
				return nil
			}); err != nil {
				return 0, err
			}
		}
		if s.measured[stageOn{stage, device}] {
			n++
		}
	}
	return n, nil
}

// counters writes what was sampled while what is shown ran.
func (t *trace) counters(s *source) error {
	first, last := t.bounds(s)
	if first > last {
		return nil
	}
	args := t.of(s)
	args["from_time"], args["until_time"] = fmt.Sprint(first), fmt.Sprint(last)
	if t.Device != nil {
		args["device"] = fmt.Sprint(*t.Device)
	}
	counters := map[counter]*sequence{}
	var none *process // of figures without a GPU
	return t.inParts(s, "_trace-counter", args, func(c *frame.Cells) error {
		on := counter{c.Whole(0), c.Whole(1), c.Whole(2), c.Whole(3), c.Known(1), c.Known(2)}
		q := counters[on]
		if q == nil {
			title, p := c.Text(7), none
			switch {
			case on.hasPID:
				if p = t.cpu(s, on.pid); on.hasDevice {
					title += fmt.Sprintf(" of GPU %d", on.device)
				}
			case on.hasDevice:
				p = t.gpu(s, on.device)
			case none == nil:
				none = t.newProcess(-1, strings.TrimSuffix("GPU metrics, "+s.label, ", "))
				p = none
			}
			q = t.w.newSequence(t.w.descriptor(p.uuid, p.next(), title, appendMessage(nil, trackCounter, unitOf(c.Text(8)))), s.shift)
			counters[on] = q
		}
		t.sum.Samples++
		q.begin()
		q.put(c.Whole(4), appendDouble(appendUint(q.event, eventType, typeCounter), eventNumber, c.Number(6)))
		return nil
	})
}

// counter says which figure of a source it is.
type counter struct {
	origin, device, pid, metric int64
	hasDevice, hasPID           bool
}

// unitOf returns what a counter is in: values are in base units.
func unitOf(unit string) []byte {
	switch unit {
	case "bytes":
		return appendUint(nil, counterUnit, counterUnitOfSize)
	case "raw":
		return nil
	}
	short := map[string]string{"hz": "Hz", "w": "W", "c": "C", "bytes_per_s": "B/s", "ratio": "ratio"}
	if text := short[unit]; text != "" {
		return appendText(nil, counterUnitName, text)
	}
	return appendText(nil, counterUnitName, unit)
}
