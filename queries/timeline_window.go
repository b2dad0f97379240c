package queries

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"prof/schema"
)

// How much of a timeline one answer shows.
const (
	TimelineBins  = 512  // parts of a window unless another number is asked for
	TimelineMarks = 4000 // marks of an answer at most, unless so many tracks have a few each
	leastBins     = 32
	singleItems   = 256 // of a track in a window, up to which nothing is added up
	mostTime      = int64(1) << mostBits
)

// TimelineWindow is what a run did from one time to another.
type TimelineWindow struct {
	FromNs int64        `json:"from_ns" doc:"start of the window on the timeline's clock: as asked for, on the edge of a bin"`
	ToNs   int64        `json:"to_ns" doc:"end of the window"`
	BinNs  int64        `json:"bin_ns" doc:"length of a bin, a power of two: what is shorter is added up by bins"`
	Tracks []TrackMarks `json:"tracks" nullable:"false" doc:"tracks with marks in the window"`
	Names  []string     `json:"names" nullable:"false" doc:"names of the marks"`
}

// TrackMarks are the marks of a track in a window, as columns: an item that is no shorter than a bin, or the items that begin in a bin.
type TrackMarks struct {
	Track      int     `json:"track" doc:"number of the track"`
	StartNs    []int64 `json:"start_ns" nullable:"false" doc:"start of the item or bin; an item may begin before the window"`
	DurationNs []int64 `json:"duration_ns" nullable:"false" doc:"length of the item or bin"`
	BusyNs     []int64 `json:"busy_ns" nullable:"false" doc:"time in the window in which the mark's items ran and no earlier item of the track: over the marks of a window it adds up to the time in which any item ran"`
	Count      []int64 `json:"item_count" nullable:"false" doc:"0 for one item that stands alone; of a bin, the items that begin in it"`
	LongestNs  []int64 `json:"longest_ns" nullable:"false" doc:"the longest item; 0 of a bin in which only the end of an item lies"`
	Name       []int   `json:"name" nullable:"false" doc:"place of the name in names: of the item, or of the longest in the bin"`
	Nth        []int64 `json:"nth,omitempty" doc:"number of a pass"`
}

// TimelineAbout is what a timeline consists of.
type TimelineAbout struct {
	Run         string           `json:"run_id" doc:"the run"`
	BeginNs     int64            `json:"begin_ns" doc:"start of the first item, on the timeline's clock: that of the source, or of the reference source, from the start of its capture"`
	EndNs       int64            `json:"end_ns" doc:"end of the last item"`
	WorkBeginNs int64            `json:"work_begin_ns" doc:"start of the first work of a GPU"`
	WorkEndNs   int64            `json:"work_end_ns" doc:"end of the last work of a GPU"`
	Sources     []TimelineSource `json:"sources" nullable:"false" doc:"the captures"`
	Tracks      []TimelineTrack  `json:"tracks" nullable:"false" doc:"the lines"`
	Notes       []string         `json:"notes" nullable:"false" doc:"what to know about the times"`
}

// About returns what the timeline consists of.
func (t *Timeline) About() TimelineAbout {
	a := TimelineAbout{Run: t.run, BeginNs: t.begin, EndNs: t.end, WorkBeginNs: t.workBegin, WorkEndNs: t.workEnd, Sources: append([]TimelineSource{}, t.sources...), Tracks: make([]TimelineTrack, len(t.tracks)), Notes: append([]string{}, t.notes...)}
	for i, k := range t.tracks {
		a.Tracks[i] = k.TimelineTrack
	}
	return a
}

// Held is how many items and bins the index has in memory.
func (t *Timeline) Held() int { return t.bins }

// TimelineAsked is a window of time.
type TimelineAsked struct {
	FromNs, ToNs int64
	Bins         int // in the window, at most; 0 for TimelineBins
}

// Window answers with some thousand marks whatever the length of the window. What is outside the run is empty.
func (t *Timeline) Window(ctx context.Context, w *schema.Warehouse, q TimelineAsked) (*TimelineWindow, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	if q.Bins == 0 {
		q.Bins = TimelineBins
	}
	size := bitsOf((q.ToNs - q.FromNs + int64(q.Bins) - 1) / int64(q.Bins))
	var read map[*track][]span
	for {
		from, to := q.FromNs>>size<<size, (q.ToNs+1<<size-1)>>size<<size
		if read == nil && size < t.base { // a longer bin reads no more
			var err error
			if read, err = t.read(ctx, w, from>>t.base<<t.base, (to+1<<t.base-1)>>t.base<<t.base); err != nil {
				return nil, err
			}
		}
		out, marks := &TimelineWindow{FromNs: from, ToNs: to, BinNs: 1 << size, Tracks: []TrackMarks{}, Names: []string{}}, 0
		local := map[int32]int{}
		for _, k := range t.tracks {
			m := k.marks(from, to, size, t.base, read[k])
			if len(m) == 0 {
				continue
			}
			marks += len(m)
			out.Tracks = append(out.Tracks, t.columns(k, m, out, local))
		}
		if marks <= TimelineMarks || (to-from)>>size <= leastBins || size >= mostBits {
			return out, nil
		}
		size++
	}
}

func (q TimelineAsked) check() error {
	switch {
	case q.ToNs <= q.FromNs:
		return fmt.Errorf("%w: the window ends at %d ns, which is not after its start, %d ns", ErrBadArgument, q.ToNs, q.FromNs)
	case q.FromNs < -mostTime || q.ToNs > mostTime:
		return fmt.Errorf("%w: a window is between %d and %d ns", ErrBadArgument, -mostTime, mostTime)
	case q.Bins < 0 || q.Bins > 4096:
		return fmt.Errorf("%w: %d bins: 1 to 4096 can be asked for", ErrBadArgument, q.Bins)
	}
	return nil
}

// read reads the items that are shorter than a bin of the index where they are added up, and run in a window.
func (t *Timeline) read(ctx context.Context, w *schema.Warehouse, from, to int64) (map[*track][]span, error) {
	spans := map[*track][]span{}
	for _, s := range t.sources {
		r := &reader{t: t, source: s, tracks: map[trackKey]*track{}, spans: spans}
		folded := false
		for _, k := range t.tracks {
			if k.SourceID == s.SourceID {
				folded = folded || k.isFolded
				r.tracks[k.key()] = k
			}
		}
		if !folded {
			continue
		}
		args := t.of(s, "from_time", strconv.FormatInt(from-s.ShiftNs-1<<t.base, 10), "until_time", strconv.FormatInt(to-s.ShiftNs, 10))
		if err := Each(ctx, w, "_timeline-item", args, r.row); err != nil {
			return nil, err
		}
	}
	gather(spans)
	for k, list := range spans {
		spans[k] = slices.DeleteFunc(slices.Clone(list), func(p span) bool { return p.end-p.start >= 1<<t.base })
	}
	return spans, nil
}

// key is what the rows of the track's items have in common.
func (k *track) key() trackKey {
	key := trackKey{kind: k.Kind, depth: k.Depth, isDevice: k.Device != nil, isThread: k.Tid != nil}
	for _, f := range []struct {
		from  *int64
		to    *int64
		knows *bool
	}{{k.Device, &key.device, nil}, {k.Tid, &key.tid, nil}, {k.Pid, &key.pid, &key.knowsPid}, {k.Context, &key.context, &key.knowsContext}, {k.Stream, &key.stream, &key.knowsStream}} {
		if f.from != nil {
			if *f.to = *f.from; f.knows != nil {
				*f.knows = true
			}
		}
	}
	if k.IsWhole {
		key.depth = -1
	}
	return key
}

// mark is an item or a bin of a window.
type mark struct {
	start, duration, busy, count, longest int64
	name, nth                             int32
}

// marks are those of a track in a window whose edges are edges of bins of 2^size ns. short are the items that the index has added up, of
// a folded track where bins are shorter than the index's.
func (k *track) marks(from, to int64, size, base uint, short []span) []mark {
	last, _ := slices.BinarySearchFunc(k.items, to, func(it item, to int64) int {
		if it.start < to {
			return -1
		}
		return 1
	})
	var items []item
	for _, it := range k.items[:last] {
		if it.end > from || it.start >= from {
			items = append(items, it)
		}
	}
	fine := k.isFolded && size < base
	if fine {
		items = together(items, short, from, to)
	}
	if len(items) <= singleItems && (fine || !k.isFolded) {
		size = 0
	}
	var out []mark
	bins := map[int64]mark{}
	if k.isFolded && !fine {
		k.sumBins(from, to, size, base, bins)
	}
	for _, it := range items {
		long := it.end - it.start
		if long >= 1<<size || size == 0 {
			out = append(out, mark{it.start, long, max(0, min(it.end, to)-max(it.cover, from)), 0, long, it.name, it.nth})
			continue
		}
		if it.start >= from {
			b := bins[it.start>>size]
			if b.count++; long > b.longest || b.count == 1 {
				b.longest, b.name = long, it.name
			}
			bins[it.start>>size] = b
		}
		for at := max(it.cover, from); at < min(it.end, to); {
			edge := min(it.end, to, (at>>size+1)<<size)
			b := bins[at>>size]
			if b.busy += edge - at; b.count == 0 {
				b.name = it.name
			}
			bins[at>>size] = b
			at = edge
		}
	}
	for at, b := range bins {
		b.start, b.duration = at<<size, 1<<size
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b mark) int {
		switch {
		case a.start != b.start:
			return sign(a.start > b.start)
		case a.duration != b.duration:
			return sign(a.duration < b.duration)
		}
		return int(a.name - b.name)
	})
	return out
}

func sign(isAfter bool) int {
	if isAfter {
		return 1
	}
	return -1
}

// sumBins adds up the index's bins.
func (k *track) sumBins(from, to int64, size, base uint, bins map[int64]mark) {
	i, _ := slices.BinarySearchFunc(k.bins, from>>base, func(b bin, at int64) int { return sign(b.at >= at) })
	for ; i < len(k.bins) && k.bins[i].at < to>>base; i++ {
		b := k.bins[i]
		m := bins[b.at>>(size-base)]
		if m.count == 0 && m.longest == 0 || b.longest > m.longest {
			m.longest, m.name = b.longest, b.name
		}
		m.busy += b.busy
		m.count += b.count
		bins[b.at>>(size-base)] = m
	}
}

// together puts the long and the short items of a window in order, and finds anew how much of each no earlier one covers: what runs before
// the window is of no account.
func together(long []item, short []span, from, to int64) []item {
	var all []span
	for _, it := range long {
		all = append(all, it.span)
	}
	for _, p := range short {
		if p.start < to && (p.end > from || p.start >= from) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, compareSpans)
	sweep := track{started: true, until: from}
	out := make([]item, len(all))
	for i, p := range all {
		out[i] = sweep.covered(p)
	}
	return out
}

func (t *Timeline) columns(k *track, list []mark, to *TimelineWindow, local map[int32]int) TrackMarks {
	m := TrackMarks{Track: k.ID}
	for _, x := range list {
		at, known := local[x.name]
		if !known {
			at = len(to.Names)
			local[x.name] = at
			to.Names = append(to.Names, t.names[x.name])
		}
		m.StartNs, m.DurationNs, m.BusyNs = append(m.StartNs, x.start), append(m.DurationNs, x.duration), append(m.BusyNs, x.busy)
		m.Count, m.LongestNs, m.Name = append(m.Count, x.count), append(m.LongestNs, x.longest), append(m.Name, at)
		if k.Kind == "pass" {
			m.Nth = append(m.Nth, int64(x.nth))
		}
	}
	return m
}

// TrackBusy is how long a track was busy in a window.
type TrackBusy struct {
	Track  int   `json:"track" doc:"number of the track"`
	BusyNs int64 `json:"busy_ns" doc:"time in the window in which at least one of its items ran"`
}

// Busy returns how long each track was busy between two times, to the nanosecond: what lies between bins of the index is added up from them.
func (t *Timeline) Busy(ctx context.Context, w *schema.Warehouse, q TimelineAsked) ([]TrackBusy, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	inner := [2]int64{(q.FromNs + 1<<t.base - 1) >> t.base << t.base, q.ToNs >> t.base << t.base}
	windows := [][2]int64{{q.FromNs, q.ToNs}}
	if inner[0] < inner[1] {
		windows = [][2]int64{{q.FromNs, inner[0]}, inner, {inner[1], q.ToNs}}
	}
	busy := map[*track]int64{}
	for _, x := range windows {
		if x[0] >= x[1] {
			continue
		}
		var read map[*track][]span
		size := t.base
		if inner != x && t.base > 0 {
			var err error
			if read, err = t.read(ctx, w, x[0], x[1]); err != nil {
				return nil, err
			}
			size = 0
		}
		for _, k := range t.tracks {
			for _, m := range k.marks(x[0], x[1], size, t.base, read[k]) {
				busy[k] += m.busy
			}
		}
	}
	out := []TrackBusy{}
	for _, k := range t.tracks {
		if busy[k] > 0 {
			out = append(out, TrackBusy{k.ID, busy[k]})
		}
	}
	return out, nil
}
