package nsys

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// wanted is the set of correlation ids, per process, that some device work refers to. API calls outnumber launches, and ids
// are sparse, so the launch table keeps only calls with a bit here.
type wanted map[int64]*idSet

// idSet is a set of correlation ids in pages of 1024, with the rank of each page once frozen.
type idSet struct {
	pages map[int64]*idPage
}

type idPage struct {
	bits [16]uint64
	rank int32 // of the page's first id among all wanted ids
}

func (w wanted) add(proc, id int64) {
	s := w[proc]
	if s == nil {
		s = &idSet{pages: map[int64]*idPage{}}
		w[proc] = s
	}
	p := s.pages[id>>10]
	if p == nil {
		p = &idPage{}
		s.pages[id>>10] = p
	}
	p.bits[id>>6&15] |= 1 << (id & 63)
}

func (w wanted) merge(o wanted) {
	for proc, from := range o {
		to := w[proc]
		if to == nil {
			w[proc] = from
			continue
		}
		for k, p := range from.pages {
			have := to.pages[k]
			if have == nil {
				to.pages[k] = p
				continue
			}
			for i, word := range p.bits {
				have.bits[i] |= word
			}
		}
	}
}

// launch is the API call that issued some device work.
type launch struct {
	start    int64
	duration uint32 // longDuration: see launches.long
	node     int32  // ranges open when it began; noNode outside
	tid      int32
	name     int32 // number of the API function
}

const longDuration = ^uint32(0)

// launches finds the launch of device work by process and correlation id. Its memory is 24 bytes for each id that device
// work refers to, and a bit for each id in between.
type launches struct {
	ids   wanted
	rows  []launch
	taken []atomic.Uint32 // a bit a row
	mu    sync.Mutex
	long  map[int32]int64  // durations that do not fit
	again []repeatedLaunch // calls whose id was taken already
}

type repeatedLaunch struct {
	row    int32
	launch launch
	long   int64
}

// newLaunches freezes the set.
func newLaunches(ids wanted) *launches {
	rank := int32(0)
	for _, proc := range slices.Sorted(maps.Keys(ids)) {
		for _, k := range slices.Sorted(maps.Keys(ids[proc].pages)) {
			p := ids[proc].pages[k]
			p.rank = rank
			for _, w := range p.bits {
				rank += int32(bits.OnesCount64(w))
			}
		}
	}
	return &launches{ids: ids, rows: make([]launch, rank), taken: make([]atomic.Uint32, rank/32+1), long: map[int32]int64{}}
}

// finder looks ids up for one goroutine, remembering the last page.
type finder struct {
	l    *launches
	proc int64
	set  *idSet
	key  int64
	page *idPage
}

func (l *launches) finder() *finder { return &finder{l: l, proc: -1 << 62, key: -1 << 62} }

// row gives the row of an id, -1 when no device work refers to it.
func (f *finder) row(proc, id int64) int32 {
	if proc != f.proc {
		f.proc, f.set, f.key, f.page = proc, f.l.ids[proc], -1<<62, nil
	}
	if f.set == nil {
		return -1
	}
	if k := id >> 10; k != f.key {
		f.key, f.page = k, f.set.pages[k]
	}
	if f.page == nil {
		return -1
	}
	word, bit := id>>6&15, uint(id&63)
	if f.page.bits[word]>>bit&1 == 0 {
		return -1
	}
	r := f.page.rank
	for _, w := range f.page.bits[:word] {
		r += int32(bits.OnesCount64(w))
	}
	return r + int32(bits.OnesCount64(f.page.bits[word]&(1<<bit-1)))
}

// put notes the API call of a row. Calls of one id (a runtime call and the driver call inside it) may come in any order and
// from several goroutines; settle picks the outermost.
func (l *launches) put(row int32, c launch, duration int64) {
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

// settle decides between calls of one id: the one that began first, the longer of two that began together.
func (l *launches) settle() {
	for _, a := range l.again {
		old := l.rows[a.row]
		c := cmp.Or(cmp.Compare(a.launch.start, old.start), cmp.Compare(l.durationOf(a.row), a.long),
			cmp.Compare(a.launch.tid, old.tid), cmp.Compare(a.launch.name, old.name))
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

// get gives the launch of a row; ok is false when the capture has no such API call.
func (l *launches) get(row int32) (launch, bool) {
	if row < 0 || l.taken[row>>5].Load()&(1<<(row&31)) == 0 {
		return launch{}, false
	}
	return l.rows[row], true
}

func (l *launches) durationOf(row int32) int64 {
	if d := l.rows[row].duration; d != longDuration {
		return int64(d)
	}
	return l.long[row]
}
