package attribute

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"prof/ingest/load"
)

// Launch is the API call that issued some device work. Put notes its duration, DurationOf gives it.
type Launch struct {
	Start    int64
	duration uint32 // longDuration: see Launches.long
	Node     int32  // ranges open when it began; NoNode outside
	Thread   int32  // number of the calling thread, by Threads
	Name     int32  // number of the API function
}

const longDuration = ^uint32(0)

// Launches finds the launch of device work by process and correlation id: first all calls are put in, then Settle, then they
// are asked for. Its memory is 24 bytes for
// each id that device work refers to, and a bit for each id in between.
type Launches struct {
	Threads Threads // that made the calls
	ids     map[int64]idSet
	rows    []Launch
	taken   []atomic.Uint32 // a bit a row
	mu      sync.Mutex
	long    map[int32]int64  // durations that do not fit
	again   []repeatedLaunch // calls whose id was taken already
}

type repeatedLaunch struct {
	row    int32
	launch Launch
	long   int64
}

// NewLaunches freezes the set, which must not change afterwards.
func NewLaunches(wanted *Wanted, room *load.Room) *Launches {
	rank, ids := int32(0), wanted.sets
	for _, proc := range slices.Sorted(maps.Keys(ids)) {
		for _, k := range slices.Sorted(maps.Keys(ids[proc])) {
			p := ids[proc][k]
			for i, w := range p.bits {
				p.ranks[i] = rank
				rank += int32(bits.OnesCount64(w))
			}
		}
	}
	return &Launches{ids: ids, rows: load.Reserve[Launch](room, int(rank)), taken: make([]atomic.Uint32, rank/32+1), long: map[int32]int64{}}
}

// Finder looks ids up for one goroutine, remembering the last page.
type Finder struct {
	l    *Launches
	proc int64
	set  idSet
	key  int64
	page *idPage
}

// Finder makes a finder of one's own.
func (l *Launches) Finder() *Finder { return &Finder{l: l, proc: -1 << 62, key: -1 << 62} }

// Row returns the row of a correlation id, -1 when no device work refers to it.
func (f *Finder) Row(proc, id int64) int32 {
	if proc != f.proc {
		f.proc, f.set, f.key, f.page = proc, f.l.ids[proc], -1<<62, nil
	}
	if f.set == nil {
		return -1
	}
	if k := id >> 10; k != f.key {
		f.key, f.page = k, f.set[k]
	}
	if f.page == nil {
		return -1
	}
	word, bit := id>>6&15, uint(id&63)
	if f.page.bits[word]>>bit&1 == 0 {
		return -1
	}
	return f.page.ranks[word] + int32(bits.OnesCount64(f.page.bits[word]&(1<<bit-1)))
}

// Put notes the API call of a row, not -1, and its duration. Calls of one id (a runtime call and the driver call inside it) may come in any order and
// from several goroutines; Settle picks the outermost.
func (l *Launches) Put(row int32, c Launch, duration int64) {
	c.duration = uint32(duration)
	if duration < 0 || duration >= int64(longDuration) {
		c.duration = longDuration
	}
	w, bit := &l.taken[row>>5], uint32(1)<<(row&31)
	if w.Or(bit)&bit != 0 {
		l.mu.Lock()
		l.again = append(l.again, repeatedLaunch{row, c, duration})
		l.mu.Unlock()
		return
	}
	l.rows[row] = c
	if c.duration == longDuration {
		l.mu.Lock()
		l.long[row] = duration
		l.mu.Unlock()
	}
}

// Settle decides between calls of one id: the one that began first, the longer of two that began together.
func (l *Launches) Settle() {
	for _, a := range l.again {
		old := l.rows[a.row]
		c := cmp.Or(cmp.Compare(a.launch.Start, old.Start), cmp.Compare(l.DurationOf(a.row), a.long),
			cmp.Compare(l.Threads.Key(a.launch.Thread), l.Threads.Key(old.Thread)), cmp.Compare(a.launch.Name, old.Name))
		if c < 0 {
			l.rows[a.row] = a.launch
			delete(l.long, a.row)
			if a.launch.duration == longDuration {
				l.long[a.row] = a.long
			}
		}
	}
	l.again = nil
}

// Linked frees the set of ids: no further one is looked up.
func (l *Launches) Linked() { l.ids = nil }

// Get returns the launch of a row; ok is false when the capture has no such API call.
func (l *Launches) Get(row int32) (Launch, bool) {
	if row < 0 || l.taken[row>>5].Load()&(1<<(row&31)) == 0 {
		return Launch{}, false
	}
	return l.rows[row], true
}

// DurationOf returns the duration of a row's launch.
func (l *Launches) DurationOf(row int32) int64 {
	if d := l.rows[row].duration; d != longDuration {
		return int64(d)
	}
	return l.long[row]
}
