package chart

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prof/render/typeset"
)

// timelineThread is a thread with its ranges and its calls.
type timelineThread struct {
	Label string `json:"label"`
	Zero  int64  `json:"zero"` // what the source's clock shows at 0
	// Items are ranges in order of start, five numbers each: start from the start before it, length, depth, name's place, domain's place or -1.
	Items Packed `json:"items"`
	// Calls are those of timeline-calls in order of start, three numbers each: start from the end of the one before, length, place in works.
	API   string     `json:"api,omitempty"` // whose calls they are
	Calls Packed     `json:"calls,omitempty"`
	Known [][2]int64 `json:"known,omitempty"` // [start, end] of the stretches whose calls are there

	key     threadKey
	rank    int64 // of the process; -1 where it has none of its own
	last    int64
	covered int64 // ns of the timeline in ranges
	until   int64
	called  int64 // end of the last call
}

// How much of the ranges is drawn: so many threads, those with most time in ranges, and so many ranges deep.
const (
	mostThreads = 16 // one for each rank of two machines
	mostDepths  = 6  // of ranges
)

// layThreads puts ranges and calls in the lines of their threads, those with calls first, and says which are not drawn.
func (d *TimelineData) layThreads(rows timelineRows) string {
	d.Threads = []*timelineThread{}
	threads := map[threadKey]*timelineThread{}
	unseen, calls := d.layRanges(rows.ranges, threads), d.layCalls(rows, threads)
	slices.SortStableFunc(d.Threads, func(a, b *timelineThread) int {
		return cmp.Or(-cmp.Compare(bit(a.Calls != nil), bit(b.Calls != nil)), cmp.Compare(b.covered, a.covered))
	})
	if all := len(d.Threads); all > mostThreads {
		d.Threads = d.Threads[:mostThreads]
		unseen = append(unseen, fmt.Sprintf("Of %d threads, the %d that launch or have most time in ranges are drawn.", all, mostThreads))
	}
	slices.SortStableFunc(d.Threads, func(a, b *timelineThread) int { // ranks in their order
		return cmp.Or(cmp.Compare(a.key[0], b.key[0]), cmp.Compare(a.rank, b.rank), cmp.Compare(a.key[1], b.key[1]))
	})
	d.link(threads)
	return strings.Join(append(unseen, calls...), " ")
}

// layRanges puts ranges in the lines of their threads, and says which are not drawn: those wholly before or after the device work are not.
func (d *TimelineData) layRanges(ranges []rangeRow, threads map[threadKey]*timelineThread) []string {
	if len(ranges) == 0 {
		return nil
	}
	beside, deep := 0, 0
	for _, r := range ranges {
		switch start := d.start(r.SourceID, r.StartNs); {
		case start > d.Until || start+r.DurationNs < d.From:
			beside++
		case r.Depth >= mostDepths:
			deep++
		default:
			d.addRange(d.thread(threads, r.threadRow), r)
		}
	}
	return unseenRanges(int64(len(ranges)), ranges[0].RangeCount, beside, deep)
}

// thread returns the line of a row's thread, made where there is none yet.
func (d *TimelineData) thread(threads map[threadKey]*timelineThread, r threadRow) *timelineThread {
	key := r.key()
	if threads[key] == nil {
		threads[key] = &timelineThread{key: key, Label: d.threadName(r), Zero: d.clocks[key[0]], Items: Packed{}, rank: d.ranks.order(r.SourceID, r.PID)}
		d.Threads = append(d.Threads, threads[key])
	}
	return threads[key]
}

func (d *TimelineData) threadName(r threadRow) string {
	number := numberOr(r.TID, "unknown")
	name := "Thread " + number
	if rest, isNumbered := strings.CutPrefix(r.Thread, "thread "+number+" "); isNumbered { // as PyTorch names them
		name += " " + typeset.Neutral(rest)
	} else if r.Thread != "" {
		name += " " + typeset.Neutral(r.Thread)
	}
	name += " of " + d.ranks.member(r.SourceID, r.PID)
	if len(d.sources) > 1 {
		name += fmt.Sprintf(", source %d", r.SourceID)
	}
	return name
}

// addRange adds a range that starts no earlier than those before it.
func (d *TimelineData) addRange(t *timelineThread, r rangeRow) {
	start, long, domain := d.start(r.SourceID, r.StartNs), r.DurationNs, int64(-1)
	if r.Domain != "" {
		domain = d.name(r.Domain)
	}
	t.Items = append(t.Items, start-t.last, long, r.Depth, d.name(r.Name), domain)
	t.last = start
	end := min(start+long, d.Until)
	t.covered += max(0, end-max(start, t.until, d.From))
	t.until = max(t.until, end)
}

// unseenRanges returns what of the ranges is not drawn; nothing when all are.
func unseenRanges(asked, all int64, beside, deep int) []string {
	var said []string
	if asked < all {
		said = append(said, fmt.Sprintf("the page has the longest %s of %s", typeset.Int(asked), typeset.Int(all)))
	}
	if beside > 0 {
		said = append(said, typeset.Int(int64(beside))+" before the first or after the last GPU work are not drawn")
	}
	if deep > 0 {
		said = append(said, fmt.Sprintf("%s nested more than %d deep are not drawn", typeset.Int(int64(deep)), mostDepths-1))
	}
	if len(said) == 0 {
		return nil
	}
	return []string{"Ranges: " + strings.Join(said, "; ") + "."}
}

// process is a process of a source.
type process struct{ source, pid int64 }

// rankMap has the ranks that name a process: those that no other process of its source has, of a timeline with several.
type rankMap map[process]int64

// ranksOf reads the ranks of the processes whose threads are known. A child has the rank of its parent in its environment.
func ranksOf(rows timelineRows) rankMap {
	known, ranks, pids := rankMap{}, map[int64]bool{}, map[[2]int64]map[int64]bool{}
	add := func(r threadRow) {
		if r.Rank == nil || r.PID == nil {
			return
		}
		known[process{r.SourceID, *r.PID}], ranks[*r.Rank] = *r.Rank, true
		of := [2]int64{r.SourceID, *r.Rank}
		if pids[of] == nil {
			pids[of] = map[int64]bool{}
		}
		pids[of][*r.PID] = true
	}
	for _, r := range rows.ranges {
		add(r.threadRow)
	}
	for _, c := range rows.calls {
		add(c.threadRow)
	}
	if len(ranks) < 2 {
		return nil
	}
	maps.DeleteFunc(known, func(p process, rank int64) bool { return len(pids[[2]int64{p.source, rank}]) > 1 })
	return known
}

// member names a process: by its rank where that is its own, else by its number.
func (m rankMap) member(source int64, pid *int64) string {
	if rank := m.order(source, pid); rank >= 0 {
		return fmt.Sprintf("rank %d", rank)
	}
	return "process " + numberOr(pid, "unknown")
}

// order returns the rank that a process sorts by; -1 where it has none of its own.
func (m rankMap) order(source int64, pid *int64) int64 {
	if pid != nil {
		if rank, known := m[process{source, *pid}]; known {
			return rank
		}
	}
	return -1
}
