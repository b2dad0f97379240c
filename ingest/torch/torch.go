// Package torch reads traces of the PyTorch profiler: the Chrome-trace JSON that torch.profiler's export_chrome_trace and
// tensorboard_trace_handler write, of one process each.
//
// All events are read once, in one pass, into compact records (see records), for the file is in no order: a kernel comes before
// its launch, an operator's memory after all operators. Then calls are nested, launches placed, and all of it stored.
package torch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prof/ingest/attribute"
	"prof/ingest/load"
	"prof/ingest/operator"
	"prof/ingest/rows"
	"prof/ingest/torch/trace"
	"prof/internal/mask"
	"prof/internal/suggest"
)

// ErrNoEvents is wrapped by Load's error for JSON that holds nothing of the PyTorch profiler.
var ErrNoEvents = errors.New("it has no PyTorch profiler events")

// Sniff reports whether a file may be such a trace.
func Sniff(_ string, head []byte) bool {
	s := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case bytes.HasPrefix(s, []byte("[")):
		s = bytes.TrimLeft(s[1:], " \t\r\n")
		return bytes.HasPrefix(s, []byte("{")) && bytes.Contains(s, []byte(`"ph"`)) && bytes.Contains(s, []byte(`"ts"`))
	case !bytes.HasPrefix(s, []byte("{")):
		return false
	}
	return bytes.Contains(s, []byte(`"traceEvents"`)) || bytes.Contains(s, []byte(`"schemaVersion"`)) && bytes.Contains(s, []byte(`"deviceProperties"`))
}

// Identify reads which capture a trace is of, where it says so before its events.
func Identify(_ context.Context, path, name string) (*load.SourceInfo, error) {
	src, err := open(path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r := trace.NewReader(src)
	e, err := r.Next()
	if errors.Is(err, trace.ErrSyntax) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for err == nil && IsUndated(e) { // it tells no capture from another
		e, err = r.Next()
	}
	if err != nil {
		e = &trace.Event{} // Load says what is wrong
	}
	return &load.SourceInfo{CaptureID: captureID(r.Header(), beginning(e))}, nil
}

// captureID names a capture. Ranks of a job may share a trace id; what tells them apart is the first event, and the rank, which
// some traces say only at their end: so it stands last, and the id known before is a part of the whole one.
func captureID(h *trace.Header, start string) string {
	id := h.TraceID + " " + start
	if h.Job != nil && h.Job.Rank != nil {
		id += fmt.Sprint(" rank ", *h.Job.Rank)
	}
	return id
}

// beginning tells the traces of two processes apart by their first events.
func beginning(e *trace.Event) string { return fmt.Sprint(e.PID, " ", e.Start) }

// loader stores one trace.
type loader struct {
	*linked
	name      string
	header    *trace.Header
	torn      trace.Torn
	style     string // of ranges
	isKineto  bool   // one process, unless it was merged
	info      *load.SourceInfo
	source    *operator.Source
	apiID     []int32              // api_name_id by number of the function
	callKind  []attribute.CallKind // by number of the function
	effect    []attribute.Effect   // by number of the function
	unmet     attribute.Unmet
	hasQueues bool    // of AMD in place of streams: work of one may overlap
	kernID    []int64 // kernel_name_id by number of the name
	pyName    []string

	gradient  map[int32]int32   // ID of the forward operator by that of the backward one
	waitsOf   map[int64][]int32 // synchronisations by correlation id
	recordsOf map[int64][]int32 // those for an event, by that of the call that recorded it
	isRecord  []bool            // functions that record events, by number
	textStack []int32           // stack_id by number of the text of a stack
	pyCalls   packed            // finished calls of Python functions
}

// Load stores a trace as one source of the target's run.
func Load(ctx context.Context, path, name string, t *load.Target) (*load.SourceInfo, error) {
	l, err := readBy(func(b base) (*loader, base, error) {
		src, err := open(path)
		if err != nil {
			return nil, b, err
		}
		defer src.Close()
		r := trace.NewParallel(src, max(1, t.Options.Threads), min(trace.BlockBytes, src.size))
		defer r.Close()
		l, b, err := collect(ctx, name, t, r, src.expected, b)
		if l != nil {
			l.info.SHA256 = src.sum() // all of it was read, to where it ends or was cut
		}
		return l, b, err
	})
	if err != nil {
		return nil, err
	}
	l.isKineto = true
	return l.store(ctx)
}

// readBy reads a trace, and once more where its events tell another base than the first ones did.
func readBy(read func(b base) (l *loader, better base, err error)) (*loader, error) {
	l, b, err := read(base{})
	if l == nil && err == nil {
		l, _, err = read(b)
	}
	return l, err
}

// Events are a trace's: those of a file of Kineto's, or of another profiler's in its terms.
type Events interface {
	Next() (*trace.Event, error) // io.EOF ends them
	Events() int64               // how many were read
	Header() *trace.Header       // complete after the end
	Torn() trace.Torn
}

// LoadEvents stores what another profiler recorded, which open gives from the beginning. Ranges have the given style there.
func LoadEvents(ctx context.Context, name string, t *load.Target, open func() (Events, error), style string) (*load.SourceInfo, error) {
	l, err := readBy(func(b base) (*loader, base, error) {
		e, err := open()
		if err != nil {
			return nil, b, err
		}
		return collect(ctx, name, t, e, func(int64) int64 { return -1 }, b)
	})
	if err != nil {
		return nil, err
	}
	l.style, l.hasQueues = style, l.makers[amd]
	return l.store(ctx)
}

// collect reads all events and puts them into order. Where they tell a better base, it gives that and no loader.
func collect(ctx context.Context, name string, t *load.Target, r Events, expected func(events int64) int64, by base) (_ *loader, better base, err error) {
	c := newCollector(by)
	truncated, err := c.read(r, func(events int64) error {
		if p := t.Options.Progress; p != nil {
			p("events", events, expected(events))
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, by, fmt.Errorf("%s: %w", name, err)
	}
	if b, isBetter := c.base.better(); isBetter && !by.known {
		return nil, b, nil
	}
	if c.start == "" { // none of the events has a time
		c.start = beginning(&trace.Event{})
	}
	if c.first > c.end {
		return nil, by, nothing(name, c, truncated)
	}
	c.numberNPUs()
	c.numberParts()
	linked, err := link(c, t)
	if err != nil {
		return nil, by, fmt.Errorf("%s: %w", name, err)
	}
	l := &loader{linked: linked, name: name, header: r.Header(), torn: r.Torn(), style: "record_function", info: &load.SourceInfo{}}
	l.describe(truncated, r.Events())
	return l, by, nil
}

// store stores all of it.
func (l *loader) store(ctx context.Context) (*load.SourceInfo, error) {
	l.prepare()
	steps := []func(context.Context) error{l.storeFacts, l.storeDevices, l.storeProcesses, l.storeInputs, l.storeTimeline, l.storeReplays, l.storeCaptured, l.storeWaits,
		l.storeOverhead, l.storeRanges, l.storeCounters, l.storeDiagnostics, l.storeParts}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return l.info, nil
}

func nothing(name string, c *collector, truncated error) error {
	switch {
	case c.texted > 0:
		return fmt.Errorf("%s: %w: its processes or threads are text without a number; ingest the trace of each process instead", name, ErrNoEvents)
	case truncated != nil:
		return fmt.Errorf("%s: %w: %w", name, ErrNoEvents, truncated)
	}
	for _, process := range c.processNames {
		if strings.HasPrefix(process, "/device:") || strings.HasPrefix(process, "/host:") {
			return fmt.Errorf("%s: %w: it is what XLA's profiler draws from an .xplane.pb, which lies next to it and has all of it: ingest that", name, ErrNoEvents)
		}
	}
	var left []string
	for _, label := range slices.Sorted(maps.Keys(c.counts)) {
		for _, why := range slices.Sorted(maps.Keys(c.counts[label].left)) {
			left = append(left, fmt.Sprintf("%d events of %s %s", c.counts[label].left[why], label, why))
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%s: %w that can be stored: %s", name, ErrNoEvents, strings.Join(left, "; "))
	}
	labels := slices.DeleteFunc(slices.Sorted(maps.Keys(c.counts)), func(label string) bool { return label == "" })
	if len(labels) == 0 {
		return fmt.Errorf("%s: %w: export_chrome_trace of torch.profiler has some", name, ErrNoEvents)
	}
	return fmt.Errorf("%s: %w: its events are of the categories %s; give export_chrome_trace of torch.profiler", name, ErrNoEvents, suggest.List(labels, 5))
}

// describe fills in what the source is as a whole.
func (l *loader) describe(truncated error, events int64) {
	h, info := l.header, l.info
	info.SchemaVersion, info.CaptureID = schemaVersion(h), captureID(h, l.start)
	info.Rank = l.rank()
	length := l.end - l.origin
	if l.span[1] > l.end && l.span[1] < l.origin+load.Farthest {
		length = l.span[1] - l.origin
	}
	info.DurationNs = &length
	// Kineto counts from a base that it names, or from 1970; other origins mean nothing to anybody.
	if at := time.Unix(0, h.BaseTime).Add(time.Duration(l.origin)).UTC(); at.Year() >= 2015 && load.IsWallClock(at) {
		info.StartedAt = &at
	}
	l.warn(truncated, events)
}

// knownSchema is the schemaVersion of every trace seen.
const knownSchema = "1"

// warn says what is not as it should be.
func (l *loader) warn(truncated error, events int64) {
	info := l.info
	for _, what := range l.header.Odd {
		l.odd.Add(what, "that of the header")
	}
	info.Warnings = append(info.Warnings, l.header.Notes...)
	if v := info.SchemaVersion; v != "" && v != knownSchema {
		info.Warnings = append(info.Warnings, fmt.Sprintf("the trace is of schema version %.40q, and prof knows %s: what changed between them is read as if it had not", v, knownSchema))
	}
	info.Warnings = append(info.Warnings, l.odd.Warnings()...)
	if truncated != nil {
		info.Status = "partial"
		info.Reason = fmt.Sprintf("%v; the %d events before that are stored", truncated, events)
		info.Warnings = append(info.Warnings, info.Reason)
	}
	if t := l.torn; t.Events > 0 {
		why := fmt.Sprintf("at least %d events, in %d bytes, are not stored: they are no JSON, as where a quote in a name is not escaped; the first begins at byte %d: %s", t.Events, t.Bytes, t.Offset, t.Why)
		if info.Warnings = append(info.Warnings, why); truncated == nil {
			info.Status, info.Reason = "partial", why
		}
	}
	if l.texted > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%d events have text as process or thread and are not stored: is the trace merged from several?", l.texted))
	}
	if l.merged > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("the processes of %d events are text, as in a trace merged from several: these are numbered from %d, and the text is the name of the process", l.merged, firstTextPID))
	}
	if n := l.unplaced; n > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%d pieces of device work are bodies of conditional nodes, and which launch of their graph they are of is unknown", n))
	}
	if n := len(l.clashing); n > 0 {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%d correlation ids have several API calls, so the launch of their device work is unknown: is the trace merged from several?", n))
	}
	for _, name := range slices.Sorted(maps.Keys(l.counts)) {
		if n := l.counts[name].unknown; n > 0 {
			info.Warnings = append(info.Warnings, fmt.Sprintf("%d events of category %s are not stored: prof does not know that category, and whether it is work of a device", n, name))
		}
		for why, n := range l.counts[name].left {
			info.Warnings = append(info.Warnings, fmt.Sprintf("%d events of %s are not stored: they %s", n, name, why))
		}
	}
}

// prepare makes what several tables need.
func (l *loader) prepare() {
	l.apiID = make([]int32, len(l.apiNames.List))
	for i, name := range l.apiNames.List {
		l.apiID[i] = l.target.Run.APIs.Add(valid(name))
		kind := attribute.KindOfCall(name)
		if l.makers[mtia] {
			kind = mtiaCall(name)
		}
		l.callKind, l.isRecord = append(l.callKind, kind), append(l.isRecord, strings.Contains(name, attribute.EventRecordCall))
		l.effect = append(l.effect, attribute.EffectOf(name))
	}
	names := make([]string, len(l.names.List))
	for i, name := range l.names.List {
		names[i] = mask.Stored(valid(name))
	}
	texts := make([]string, len(l.texts.List))
	for i, text := range l.texts.List {
		texts[i] = valid(text)
	}
	inputs := make([]operator.Inputs, len(l.inputs.list))
	for i, k := range l.inputs.list {
		inputs[i] = operator.Inputs{Shapes: texts[k[0]], Types: texts[k[1]], Strides: texts[k[2]], Concrete: texts[k[3]]}
	}
	for _, name := range l.pyNames.List {
		l.pyName = append(l.pyName, valid(name))
	}
	l.waitsOf, l.recordsOf = map[int64][]int32{}, map[int64][]int32{}
	for i, w := range l.waits {
		if w.correlation != absent {
			l.waitsOf[w.correlation] = append(l.waitsOf[w.correlation], int32(i))
		}
		if w.recordCall > 0 {
			l.recordsOf[w.recordCall] = append(l.recordsOf[w.recordCall], int32(i))
		}
	}
	l.textStacks()
	l.gradients()
	l.source = &operator.Source{Names: names, Inputs: inputs, Threads: l.threads.list, Lines: l.lines, IDs: l.ids,
		HasMemory: l.hasMemory, NoDevice: l.works() == 0, Origin: l.origin, FirstOp: l.target.Run.OpID}
}

// gradients ties backward operators to their forward ones, by the flows between them.
func (l *loader) gradients() {
	l.gradient = map[int32]int32{}
	if len(l.grads) == 0 {
		return
	}
	begun := map[flow]int32{}
	for _, ends := range []map[int64]flow{l.forward, l.grads} {
		for _, f := range ends {
			begun[f] = 0
		}
	}
	// Of operators that begin together the last is the innermost.
	for i, th := range l.of {
		id := th.base
		for r := th.ops.rows(); r.next(); {
			id++
			f := flow{int32(i), r.row[0]}
			if _, ok := begun[f]; ok {
				begun[f] = id
			}
		}
	}
	for id, to := range l.grads {
		if from, ok := l.forward[id]; ok && begun[from] > 0 && begun[to] > 0 {
			l.gradient[begun[to]] = begun[from]
		}
	}
}

func (l *loader) storeInputs(ctx context.Context) error { return l.source.StoreNames(ctx, l.target) }

// storeTimeline stores the tables of many rows, which are of fixed width, so that little memory will do.
func (l *loader) storeTimeline(ctx context.Context) (err error) {
	restore := l.target.Lean(rows.RoomOfNumbers)
	defer func() { err = errors.Join(err, restore()) }()
	for _, step := range []func(context.Context) error{l.storeOperators, l.storeAPIs, l.storeKernels, l.storeMemops, l.storeCollectives, l.storeMemory, l.storePython} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) storeOperators(ctx context.Context) error {
	_, err := l.source.Store(ctx, l.target, l.sweep)
	if l.astray > 0 {
		l.info.Warnings = append(l.info.Warnings, fmt.Sprintf("%d pieces of device work name an operator that was not open at their launch; they count for the one that was", l.astray))
	}
	if l.isKineto {
		l.warnShared()
	}
	return err
}

func (l *loader) sourceID() any { return int32(l.target.SourceID) }

// valid replaces what is no UTF-8, which the warehouse takes none of.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }
