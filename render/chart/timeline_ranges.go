package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prof/queries/frame"
	"prof/render/typeset"
)

// timelineThread is a thread with its ranges.
type timelineThread struct {
	Label string `json:"label"`
	Zero  int64  `json:"zero"` // what the source's clock shows at 0
	// Items are ranges in order of start, five numbers each: start from the start before it, length, depth, name's place, domain's place or -1.
	Items []int64 `json:"items"`

	last    int64
	covered int64 // ns of the timeline in ranges
	until   int64
}

// How much of the ranges is drawn: so many threads, those with most time in ranges, and so many ranges deep.
const (
	mostThreads = 10
	mostDepths  = 6
)

// layThreads puts ranges in the lines of their threads, and says which ranges are not drawn. Those wholly before or after the device work are not.
func (d *TimelineData) layThreads(f *frame.Frame) (string, error) {
	d.Threads = []*timelineThread{}
	if f == nil || len(f.Rows) == 0 {
		return "", nil
	}
	ranges, err := f.Records("source_id", "pid", "tid", "thread", "depth", "start_ns", "duration_ns", "name", "domain", "range_count")
	if err != nil {
		return "", err
	}
	threads := map[[3]int64]*timelineThread{}
	beside, deep := 0, 0
	for _, r := range ranges {
		switch start := d.start(r); {
		case start > d.Span || start+r.Count("duration_ns") < 0:
			beside++
		case r.Count("depth") >= mostDepths:
			deep++
		default:
			key := [3]int64{r.Count("source_id"), r.Count("pid"), r.Count("tid")}
			if threads[key] == nil {
				threads[key] = &timelineThread{Label: d.threadName(r), Zero: d.from + d.clocks[key[0]]}
				d.Threads = append(d.Threads, threads[key])
			}
			d.addRange(threads[key], r)
		}
	}
	slices.SortStableFunc(d.Threads, func(a, b *timelineThread) int { return cmp.Compare(b.covered, a.covered) })
	all := len(d.Threads)
	d.Threads = d.Threads[:min(all, mostThreads)]
	return unseenRanges(int64(len(ranges)), ranges[0].Count("range_count"), beside, deep, all), nil
}

func (d *TimelineData) threadName(r frame.Record) string {
	name := "Thread " + numberOr(r.Value("tid"), "unknown")
	if thread := r.Text("thread"); thread != "" {
		name += " " + typeset.Neutral(thread)
	}
	name += " of process " + numberOr(r.Value("pid"), "unknown")
	if len(d.sources) > 1 {
		name += fmt.Sprintf(", source %d", r.Count("source_id"))
	}
	return name
}

// addRange adds a range that starts no earlier than those before it.
func (d *TimelineData) addRange(t *timelineThread, r frame.Record) {
	start, long, domain := d.start(r), r.Count("duration_ns"), int64(-1)
	if r.Text("domain") != "" {
		domain = d.name(r.Text("domain"))
	}
	t.Items = append(t.Items, start-t.last, long, r.Count("depth"), d.name(r.Text("name")), domain)
	t.last = start
	end := min(start+long, d.Span)
	t.covered += max(0, end-max(start, t.until, 0))
	t.until = max(t.until, end)
}

// unseenRanges says what of the ranges is not drawn; "" when all are.
func unseenRanges(asked, all int64, beside, deep, threads int) string {
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
	if threads > mostThreads {
		said = append(said, fmt.Sprintf("only the %d of %d threads with the most time in ranges are drawn", mostThreads, threads))
	}
	if len(said) == 0 {
		return ""
	}
	return "Ranges: " + strings.Join(said, "; ") + "."
}
