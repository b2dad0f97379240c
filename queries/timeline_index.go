package queries

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"prof/queries/frame"
	"prof/schema"
)

// A timeline of any size is answered from an index: what is long stands alone in it, and what is short is added up by bins of time. It has
// some thousandth of the rows of a large run and is made from them in the order of time, a part at a time, so that no answer reads more
// rows than it shows. Of a small run it has every row.
type indexSize struct {
	alone int // items of a track, up to which nothing is added up
	bin   int // items of a run that begin in a bin on average
	part  int // rows of a table that are read at once
}

var usualIndex = indexSize{alone: 4096, bin: 64, part: 1_000_000}

// mostBits is of a length of time: longer than any capture.
const mostBits = 56

// The kinds of _timeline-item.
const (
	itemKernel   = 1
	itemGraph    = 3
	itemCopy     = 4
	itemPass     = 5
	itemGap      = 6
	itemThread   = 11 // and greater: what threads do
	itemRange    = 11
	itemPython   = 12
	itemOperator = 13
	itemLibrary  = 14
	itemCall     = 15
	itemSystem   = 16
	itemProfiler = 17
)

var itemKinds = map[int64]string{itemKernel: "kernel", itemGraph: "graph", itemCopy: "copy", itemPass: "pass", itemGap: "gap", itemRange: "range", itemPython: "python", itemOperator: "operator", itemLibrary: "library", itemCall: "call", itemSystem: "system",
	itemProfiler: "profiler"}

// TimelineTrack is one line of a timeline: things of one kind that one GPU or thread did. Work of a GPU is in three of them: in that of its
// stream and kind, in that of its kind on the GPU, and in that of all work there.
type TimelineTrack struct {
	ID       int    `json:"id" doc:"number of the track in this run's timeline"`
	Kind     string `json:"kind" doc:"gpu (all work of a GPU), kernel, collective, graph (replays traced as a whole), copy (copies and fills), pass (of a stage), gap (idle, by cause), range, operator, python, library, call (CUDA API), system or profiler"`
	SourceID int64  `json:"source_id" doc:"the source"`
	Device   *int64 `json:"device,omitempty" doc:"GPU; absent of what threads do"`
	Pid      *int64 `json:"pid,omitempty" doc:"process; absent where the track has those of all"`
	Context  *int64 `json:"context,omitempty" doc:"CUDA context; absent where the track has those of all"`
	Stream   *int64 `json:"stream,omitempty" doc:"CUDA stream; absent where the track has those of all"`
	Tid      *int64 `json:"tid,omitempty" doc:"thread; absent of what GPUs do"`
	Thread   string `json:"thread,omitempty" doc:"name of the thread"`
	Rank     *int64 `json:"rank,omitempty" doc:"rank of a thread's process in the job; absent when it has none"`
	Depth    int64  `json:"depth,omitempty" doc:"how many ranges, operators or functions are open around it"`
	IsWhole  bool   `json:"is_whole,omitempty" doc:"whether it has the work of all streams of the GPU"`
	Count    int64  `json:"item_count" doc:"items of the track"`
	BusyNs   int64  `json:"busy_ns" doc:"time in which at least one of them runs"`
}

// TimelineSource is a capture of a timeline.
type TimelineSource struct {
	SourceID int64  `json:"source_id" doc:"the source"`
	Rank     *int64 `json:"rank,omitempty" doc:"rank in the job; absent when it has none"`
	Host     string `json:"host,omitempty" doc:"the machine"`
	ShiftNs  int64  `json:"shift_ns" doc:"what is added to the source's times to put it on the timeline's clock"`
	Basis    string `json:"basis,omitempty" doc:"origin of the clock offset, as in clock-offsets"`
	BeginNs  int64  `json:"begin_ns" doc:"start of its first item, on the timeline's clock"`
	EndNs    int64  `json:"end_ns" doc:"end of its last item"`
}

// Timeline is the index of a run's timeline. It does not change.
type Timeline struct {
	run       string
	sources   []TimelineSource
	tracks    []*track
	names     []string
	nameAt    map[nameKey]int32
	kernels   map[int64]kernelName
	alone     int
	base      uint // bins are 2^base ns long
	begin     int64
	end       int64
	workBegin int64 // start of the first work of a GPU
	workEnd   int64 // end of its last
	bins      int   // and items in memory
	notes     []string
}

// nameKey is what _timeline-item names an item by.
type nameKey struct {
	kind, id int64
	text     string
}

type kernelName struct {
	name         int32
	isCollective bool
}

// span is an item as it was read.
type span struct {
	start, end int64
	name, nth  int32
}

// item is one that stands alone; from cover on no earlier item of its track runs.
type item struct {
	span
	cover int64
}

// bin has the items of a track that begin in it, and the time in it in which one runs.
type bin struct {
	at, busy, count, longest int64
	name                     int32 // of the longest
}

type track struct {
	TimelineTrack
	isFolded bool
	started  bool
	within   []*track // those that have its items too
	until    int64
	items    []item // all, or, of a folded one, those as long as a bin
	bins     []bin  // of the others
}

// trackKey identifies a track; -1 stands for all.
type trackKey struct {
	kind                                string
	device, pid, context, stream, tid   int64
	depth                               int64
	knowsPid, knowsContext, knowsStream bool
	isDevice, isThread                  bool
}

var clockRows = frame.RowsOf[struct {
	SourceID   int64    `col:"source_id"`
	Rank       *int64   `col:"rank"`
	Host       string   `col:"host"`
	Basis      string   `col:"basis"`
	OffsetNs   *int64   `col:"offset_ns"`
	DriftRatio *float64 `col:"drift_ratio"`
}]("clock-offsets")

// NewTimeline makes the index of a run's timeline; source is a kind of capture, "" for the counted one.
func NewTimeline(ctx context.Context, a *Asker, run, source string) (*Timeline, error) {
	return newTimeline(ctx, a, run, source, usualIndex)
}

func newTimeline(ctx context.Context, a *Asker, run, source string, size indexSize) (*Timeline, error) {
	t := &Timeline{run: run, alone: size.alone, nameAt: map[nameKey]int32{}, kernels: map[int64]kernelName{}, begin: math.MaxInt64, end: math.MinInt64, workBegin: math.MaxInt64, workEnd: math.MinInt64}
	args := Args{"run": run}
	if source != "" {
		args["source"] = source
	}
	clocks, err := a.Ask(ctx, "clock-offsets", args)
	if err != nil {
		return nil, err
	}
	t.notes = clocks.Notes
	if err := t.readNames(ctx, a.w); err != nil {
		return nil, err
	}
	rows, err := clockRows.Of(clocks)
	if err != nil {
		return nil, err
	}
	parts, total := map[int64][]int64{}, 0
	for _, c := range rows {
		s := TimelineSource{SourceID: c.SourceID, Rank: c.Rank, Host: c.Host, Basis: c.Basis}
		list := []int64{}
		if err := Each(ctx, a.w, "_trace-part", t.of(s, "part_size", strconv.Itoa(size.part)), func(c *frame.Cells) error {
			list = append(list, c.Whole(0))
			return nil
		}); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			continue // it recorded nothing over time
		}
		var from, until int64
		var count int
		if err := Each(ctx, a.w, "_timeline-size", t.of(s), func(c *frame.Cells) error {
			from, until, count = c.Whole(0), c.Whole(1), int(c.Whole(2))
			return nil
		}); err != nil {
			return nil, err
		}
		// As in reports: clocks are aligned by collectives where there are any; captures taken one after the other would be far apart.
		if c.OffsetNs != nil && (s.Basis == "collectives" || s.Basis == "bounds") {
			drift, _ := frame.Finite(c.DriftRatio)
			s.ShiftNs = *c.OffsetNs + int64(math.Round(drift*(float64(from)+float64(until-from)/2)))
		}
		t.begin, t.end = min(t.begin, from+s.ShiftNs), max(t.end, until+s.ShiftNs)
		total += count
		parts[s.SourceID] = list
		t.sources = append(t.sources, s)
	}
	if total > size.alone {
		t.base = bitsOf((t.end - t.begin) / int64(total/size.bin+1))
	}
	t.begin, t.end = math.MaxInt64, math.MinInt64
	for i := range t.sources {
		s := &t.sources[i]
		if err := t.readSource(ctx, a.w, s, parts[s.SourceID]); err != nil {
			return nil, err
		}
		if s.BeginNs <= s.EndNs {
			t.begin, t.end = min(t.begin, s.BeginNs), max(t.end, s.EndNs)
		} else {
			s.BeginNs, s.EndNs = 0, 0
		}
	}
	if t.begin > t.end {
		t.begin, t.end = 0, 0
	}
	if t.workBegin == math.MaxInt64 {
		t.workBegin, t.workEnd = t.begin, t.end
	}
	for _, k := range t.tracks {
		t.bins += len(k.items) + len(k.bins)
	}
	return t, nil
}

// bitsOf is the least number of bits whose power of two is no less than a length.
func bitsOf(ns int64) uint {
	if ns <= 1 {
		return 0
	}
	return min(mostBits, uint(bits.Len64(uint64(ns-1))))
}

func (t *Timeline) of(s TimelineSource, more ...string) Args {
	args := Args{"run": t.run, "of_source": strconv.FormatInt(s.SourceID, 10)}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i]] = more[i+1]
	}
	return args
}

// readNames reads the names that items have by number.
func (t *Timeline) readNames(ctx context.Context, w *schema.Warehouse) error {
	return Each(ctx, w, "_trace-name", Args{"run": t.run}, func(c *frame.Cells) error {
		kind, id := c.Whole(0), c.Whole(1)
		at := t.nameOf(nameKey{kind: -kind, id: id}, c.Text(2))
		if kind == 1 {
			t.kernels[id] = kernelName{at, c.Text(4) == "collective"}
		}
		return nil
	})
}

// nameOf numbers a name.
func (t *Timeline) nameOf(key nameKey, text string) int32 {
	at, known := t.nameAt[key]
	if !known {
		at = int32(len(t.names))
		t.nameAt[key] = at
		t.names = append(t.names, text)
	}
	return at
}

// idKinds are the kinds of _trace-name that name the kinds of items.
var idKinds = map[int64]int64{itemKernel: 1, itemPython: 2, itemOperator: 3, itemLibrary: 5, itemCall: 5, itemSystem: 5}

// reader puts rows of _timeline-item with their tracks.
type reader struct {
	t      *Timeline
	source TimelineSource
	tracks map[trackKey]*track
	spans  map[*track][]span // by the tracks of threads, streams, passes and gaps
	last   trackKey
	track  *track
	isNew  bool // whether tracks and names may be made
}

func (r *reader) row(c *frame.Cells) error {
	kind := c.Whole(0)
	key := trackKey{kind: itemKinds[kind], depth: c.Whole(6)}
	if kind < itemThread {
		key.isDevice, key.device = true, c.Whole(1)
	} else {
		key.isThread, key.tid = true, c.Whole(5)
	}
	if kind == itemKernel || kind == itemGraph || kind == itemCopy || key.isThread || kind == itemPass {
		key.pid, key.knowsPid = c.Whole(2), c.Known(2)
		key.context, key.knowsContext = c.Whole(3), c.Known(3)
		key.stream, key.knowsStream = c.Whole(4), c.Known(4)
	}
	start, name := c.Whole(7)+r.source.ShiftNs, int32(0)
	if kind == itemKernel {
		k, known := r.t.kernels[c.Whole(9)]
		if !known {
			return fmt.Errorf("timeline of run %s: kernel name %d is in no row of kernel_name", r.t.run, c.Whole(9))
		}
		if name = k.name; k.isCollective {
			key.kind = "collective"
		}
	} else {
		n := nameKey{kind: kind, text: c.Text(10)}
		if c.Known(9) {
			n = nameKey{kind: -idKinds[kind], id: c.Whole(9)}
		}
		text := n.text
		if kind == itemPass && c.Whole(11) < 0 {
			n.id, text = 1, text+WarmUp
		}
		at, known := r.t.nameAt[n]
		if !known && (!r.isNew || n.kind < 0) {
			return fmt.Errorf("timeline of run %s: a name of kind %d is unknown", r.t.run, kind)
		}
		if name = at; !known {
			name = r.t.nameOf(n, text)
		}
	}
	if r.track == nil || key != r.last {
		r.last, r.track = key, r.trackOf(key)
	}
	if r.track != nil {
		r.spans[r.track] = append(r.spans[r.track], span{start, start + c.Whole(8), name, int32(max(c.Whole(11), -c.Whole(11)))})
	}
	return nil
}

// WarmUp ends the name of a pass of warm-up.
const WarmUp = " (warm-up)"

func (r *reader) trackOf(key trackKey) *track {
	k := r.tracks[key]
	if k == nil && r.isNew {
		k = &track{TimelineTrack: TimelineTrack{Kind: key.kind, SourceID: r.source.SourceID, Depth: max(key.depth, 0), IsWhole: key.depth < 0}}
		if key.isDevice {
			k.Device = &key.device
		}
		if key.isThread {
			k.Tid = &key.tid
		}
		if key.knowsPid {
			k.Pid = &key.pid
		}
		if key.knowsContext {
			k.Context = &key.context
		}
		if key.knowsStream {
			k.Stream = &key.stream
		}
		r.tracks[key] = k
		for _, of := range whole(key) {
			k.within = append(k.within, r.trackOf(of))
		}
	}
	return k
}

// isWork reports whether a track has work of a GPU.
func (k *TimelineTrack) isWork() bool {
	return k.Kind == "kernel" || k.Kind == "collective" || k.Kind == "graph" || k.Kind == "copy"
}

// whole are the tracks that have the items of a stream's track too: of its kind on the GPU, and of all work there.
func whole(key trackKey) []trackKey {
	if !key.isDevice || key.depth < 0 || key.kind == "pass" || key.kind == "gap" {
		return nil
	}
	return []trackKey{{kind: key.kind, device: key.device, isDevice: true, depth: -1}, {kind: "gpu", device: key.device, isDevice: true, depth: -1}}
}

// readSource reads all of a source in the order of time: one part while the one before is added up.
func (t *Timeline) readSource(ctx context.Context, w *schema.Warehouse, s *TimelineSource, parts []int64) error {
	s.BeginNs, s.EndNs = math.MaxInt64, math.MinInt64
	r := &reader{t: t, source: *s, tracks: map[trackKey]*track{}, isNew: true}
	read, done := make(chan map[*track][]span), make(chan struct{})
	go func() {
		defer close(done)
		for spans := range read {
			gather(spans)
			t.add(spans, s)
		}
	}()
	err := func() error {
		defer close(read)
		for i := range parts {
			args := t.of(r.source)
			if i > 0 { // the first has what is before it too
				args["from_time"] = strconv.FormatInt(parts[i], 10)
			}
			if i+1 < len(parts) {
				args["until_time"] = strconv.FormatInt(parts[i+1], 10)
			}
			r.spans = map[*track][]span{}
			if err := Each(ctx, w, "_timeline-item", args, r.row); err != nil {
				return err
			}
			read <- r.spans
		}
		return nil
	}()
	<-done
	if err != nil {
		return err
	}
	var list []*track
	for _, k := range r.tracks {
		list = append(list, k)
	}
	slices.SortFunc(list, compareTracks)
	for _, k := range list {
		k.ID = len(t.tracks)
		t.tracks = append(t.tracks, k)
	}
	return t.nameThreads(ctx, w, r.source, list)
}

// add adds up a part of a source.
func (t *Timeline) add(spans map[*track][]span, s *TimelineSource) {
	for k, list := range spans {
		for _, p := range list {
			k.add(p, t)
			if k.isWork() {
				t.workEnd = max(t.workEnd, p.end)
			}
			s.BeginNs, s.EndNs = min(s.BeginNs, p.start), max(s.EndNs, p.end)
		}
		if k.isWork() {
			t.workBegin = min(t.workBegin, list[0].start)
		}
	}
}

var trackOrder = []string{"pass", "gpu", "kernel", "collective", "graph", "copy", "gap", "range", "python", "operator", "library", "call", "system", "profiler"}

func compareTracks(a, b *track) int {
	id := func(n *int64) int64 {
		if n == nil {
			return math.MinInt64
		}
		return *n
	}
	return cmp.Or(cmp.Compare(id(a.Tid), id(b.Tid)), cmp.Compare(id(a.Device), id(b.Device)), cmp.Compare(id(a.Stream), id(b.Stream)), cmp.Compare(id(a.Pid), id(b.Pid)), cmp.Compare(id(a.Context), id(b.Context)),
		slices.Index(trackOrder, a.Kind)-slices.Index(trackOrder, b.Kind), cmp.Compare(a.Depth, b.Depth))
}

func (t *Timeline) nameThreads(ctx context.Context, w *schema.Warehouse, s TimelineSource, list []*track) error {
	return Each(ctx, w, "_trace-process", t.of(s), func(c *frame.Cells) error {
		for _, k := range list {
			switch isOf := k.Tid != nil && k.Pid != nil && *k.Pid == c.Whole(0); {
			case isOf && !c.Known(1) && c.Known(2):
				rank := c.Whole(2)
				k.Rank = &rank
			case isOf && c.Known(1) && *k.Tid == c.Whole(1):
				k.Thread = c.Text(3)
			}
		}
		return nil
	})
}

// compareSpans is the order of time; of what begins together the longest comes first.
func compareSpans(a, b span) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	return cmp.Or(cmp.Compare(b.end, a.end), cmp.Compare(a.name, b.name))
}

// gather puts what was read in the order of time, and that of streams together for their GPUs.
func gather(spans map[*track][]span) {
	merged := map[*track][][]span{}
	for k, list := range spans {
		if !slices.IsSortedFunc(list, compareSpans) {
			slices.SortFunc(list, compareSpans)
		}
		for _, whole := range k.within {
			merged[whole] = append(merged[whole], list)
		}
	}
	for k, lists := range merged {
		spans[k] = mergeSpans(lists)
	}
}

// mergeSpans makes one list of sorted ones, which it may share.
func mergeSpans(lists [][]span) []span {
	for len(lists) > 1 {
		var half [][]span
		for i := 0; i < len(lists); i += 2 {
			if i+1 == len(lists) {
				half = append(half, lists[i])
				continue
			}
			a, b := lists[i], lists[i+1]
			out := make([]span, 0, len(a)+len(b))
			for len(a) > 0 && len(b) > 0 {
				if compareSpans(a[0], b[0]) <= 0 {
					out, a = append(out, a[0]), a[1:]
				} else {
					out, b = append(out, b[0]), b[1:]
				}
			}
			half = append(half, append(append(out, a...), b...))
		}
		lists = half
	}
	return lists[0]
}

// add takes the next item in the order of time.
func (k *track) add(p span, t *Timeline) {
	base := t.base
	it := k.covered(p)
	k.Count++
	k.BusyNs += it.end - it.cover
	if k.isFolded && it.end-it.start < 1<<base {
		k.fold(it, base)
		return
	}
	k.items = append(k.items, it)
	if base == 0 || k.isFolded || len(k.items) <= t.alone {
		return
	}
	k.isFolded = true
	long := k.items[:0]
	for _, it := range k.items {
		if it.end-it.start < 1<<base {
			k.fold(it, base)
		} else {
			long = append(long, it)
		}
	}
	k.items = slices.Clone(long)
}

// covered returns how much of an item no earlier one covers.
func (k *track) covered(p span) item {
	if !k.started {
		k.started, k.until = true, p.start
	}
	cover := min(max(p.start, k.until), p.end)
	k.until = max(k.until, p.end)
	return item{p, cover}
}

func (k *track) fold(it item, base uint) {
	first := k.binAt(it.start >> base)
	first.count++
	if long := it.end - it.start; long > first.longest || first.count == 1 {
		first.longest, first.name = long, it.name
	}
	for at := it.cover; at < it.end; {
		edge := min(it.end, (at>>base+1)<<base)
		b := k.binAt(at >> base)
		if b.busy += edge - at; b.count == 0 && b.longest == 0 {
			b.name = it.name
		}
		at = edge
	}
}

// binAt returns a bin, one of the last.
func (k *track) binAt(at int64) *bin {
	i := len(k.bins)
	for i > 0 && k.bins[i-1].at > at {
		i--
	}
	if i > 0 && k.bins[i-1].at == at {
		return &k.bins[i-1]
	}
	k.bins = slices.Insert(k.bins, i, bin{at: at})
	return &k.bins[i]
}
