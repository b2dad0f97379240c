package chart

import (
	"encoding/json"
	"slices"
	"testing"

	"prof/queries/judge"
	"prof/render/rendertest"
)

// laid lays a timeline, as both pictures begin.
func laid(tl *judge.Timeline) (*TimelineData, error) {
	rows, err := readTimeline(tl)
	if err != nil {
		return nil, err
	}
	return layTimeline(rows)
}

// threadsOf lays its ranges and calls.
func threadsOf(d *TimelineData, tl *judge.Timeline) (string, error) {
	rows, err := readTimeline(tl)
	if err != nil {
		return "", err
	}
	return d.layThreads(rows), nil
}

// laidThreads lays ranges and calls, and gives the data as the page has them.
func laidThreads(t *testing.T, tl *judge.Timeline) (page TimelineData, unseen string) {
	t.Helper()
	d, err := laid(tl)
	if err != nil {
		t.Fatal(err)
	}
	if unseen, err = threadsOf(d, tl); err != nil {
		t.Fatal(err)
	}
	text, err := d.script()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(text), &page); err != nil {
		t.Fatal(err)
	}
	return page, unseen
}

// launchNumbers are the numbers of the calls that launched each item, read as the script does.
func launchNumbers(s *timelineStream) []int64 {
	var out []int64
	number := int64(0)
	for i := 0; i < len(s.Launches); i += 2 {
		for range s.Launches[i+1] {
			number += s.Launches[i]
			out = append(out, number)
		}
	}
	return out
}

// TestTimelineCalls holds that calls are on the lines of their threads at their own times, which stretches of them are known, and that each piece
// of work is tied to the call that launched it and to no other.
func TestTimelineCalls(t *testing.T) {
	tl := rendertest.ReportTimeline()
	other := slices.Clone(tl.Calls.Rows[0]) // of another process, with a call at the same time, which launched the second kernel
	other[1], other[5] = int64(10), "cudaLaunchKernel"
	tl.Calls.Rows = append(tl.Calls.Rows, other)
	second := tl.Kernels.Rows[1]
	second[3], second[11], second[12] = int64(10), int64(9), int64(900)
	page, unseen := laidThreads(t, tl)
	if len(page.Threads) != 2 || page.Begin != 900 || unseen != "Ranges: the page has the longest 1 of 2. API calls shorter than 5 us are drawn only if they launched something: the warehouse keeps the others as sums." {
		t.Fatalf("%d threads from %d, and %s", len(page.Threads), page.Begin, unseen)
	}
	first := page.Threads[0]
	if !slices.Equal(first.Known, [][2]int64{{900, 1100}}) || len(first.Calls) != 9 || first.Calls[0] != 900 || first.Calls[3] != 10 || first.Calls[6] != 5 || first.Calls[7] != 20 {
		t.Errorf("the calls are %v in %v", first.Calls, first.Known)
	}
	for i, kind := range []string{"launch call", "sync call", "copy call"} {
		if got := page.Names[page.Works[first.Calls[3*i+2]][1]]; got != kind {
			t.Errorf("call %d is a %s, not a %s", i, got, kind)
		}
	}
	got := map[string][]int64{}
	for _, s := range page.Rows[0].Streams {
		got[s.Name] = launchNumbers(s)
	}
	if !slices.Equal(got["stream 7, process 9"], []int64{1, 3}) || !slices.Equal(got["stream 7, process 10"], []int64{4}) {
		t.Errorf("work is launched by the calls %v", got)
	}
	second[12] = int64(901) // when no call began
	tl.Calls.Rows[0][9] = int64(5)
	page, unseen = laidThreads(t, tl)
	if n := launchNumbers(page.Rows[0].Streams[1]); !slices.Equal(n, []int64{0}) {
		t.Errorf("a launch that is not there is call %v", n)
	}
	if want := "Ranges: the page has the longest 1 of 2. API calls shorter than 5 us are drawn only if they launched something: the warehouse keeps the others as sums. API calls of these threads: the page has 4 of 5: those that launched what is drawn, and the longest others."; unseen != want {
		t.Errorf("it says %s", unseen)
	}
}

// TestTimelineCallsOfManyThreads holds that a thread with calls is drawn before others with ranges, and that work whose thread is not drawn is tied to nothing.
func TestTimelineCallsOfManyThreads(t *testing.T) {
	tl := rendertest.ReportTimeline()
	call, kernel := tl.Calls.Rows[0], tl.Kernels.Rows[0]
	tl.Calls.Rows, tl.Kernels.Rows = nil, nil
	for tid := range int64(mostThreads + 1) {
		c, k := slices.Clone(call), slices.Clone(kernel)
		c[2], k[11], k[6] = tid, tid, int64(1000)+tid
		tl.Calls.Rows, tl.Kernels.Rows = append(tl.Calls.Rows, c), append(tl.Kernels.Rows, k)
	}
	tl.Ranges.Rows[0][2] = int64(99) // in ranges all the time, without calls
	page, unseen := laidThreads(t, tl)
	n := launchNumbers(page.Rows[0].Streams[0])
	if want := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0}; len(page.Threads) != mostThreads || !slices.Equal(n, want) {
		t.Errorf("%d threads, launches %v, want %v: %s", len(page.Threads), n, want, unseen)
	}
	tl.Calls = nil
	if page, _ := laidThreads(t, tl); len(page.Threads) != 1 || page.Rows[0].Streams[0].Launches != nil || page.Begin != 990 {
		t.Errorf("without calls there are %d threads, from %d", len(page.Threads), page.Begin)
	}
}

// TestTimelineStill holds what is drawn without the script: busy time by its share of a column, one kind upon the other, and never less than a pixel.
func TestTimelineStill(t *testing.T) {
	c := newCover(stillColumns, 0, 100*stillColumns)
	c.add("a", 0, 200, 100) // half of two columns
	c.add("b", 150, 50, 50) // upon it
	c.add("b", 29_950, 500, 500)
	c.add("b", -500, 100, 100)
	c.add("a", 1000, 0, 0)
	want := []stillPath{{"a", "M0 16v-8h2v8zM10 16v-1h1v1z"}, {"b", "M1 8v-8h1v8zM299 16v-8h1v8z"}}
	if got := c.paths(); !slices.Equal(got, want) {
		t.Errorf("the paths are %v, want %v", got, want)
	}
	d, err := laid(rendertest.ReportTimeline())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := threadsOf(d, rendertest.ReportTimeline()); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range d.still() {
		lines = append(lines, l.Group+"|"+l.Label)
	}
	if want := []string{"GPU 0|kernel", "|copy", "GPU 1|kernel", d.Threads[0].Label + "|CUDA API"}; !slices.Equal(lines, want) {
		t.Errorf("the lines are %q", lines)
	}
}
