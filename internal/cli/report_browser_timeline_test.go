package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// viewText is what the timeline says that it shows.
func viewText(b *browser) string {
	return eval[string](b, `document.getElementById("timeline-view").textContent`)
}

// drawnTexts are the texts that the timeline's canvas shows.
func drawnTexts(b *browser) []string {
	return eval[[]string](b, `(() => { const v = timeline.view, out = []; v.pen.fillText = (text) => out.push(text); v.draw(); delete v.pen.fillText; v.draw(); return out; })()`)
}

// pickAt clicks what is drawn at a moment in a line of a kind.
func pickAt(b *browser, kind string, moment int64) {
	b.t.Helper()
	at := eval[*struct{ X, Y float64 }](b, fmt.Sprintf(`(() => { const v = timeline.view, row = v.groups.flatMap((g) => g.shown).find((r) => r.kind === %q && v.itemOn(r, %d, 0));
		if (!row) return null;
		const middle = () => v.canvas.getBoundingClientRect().top + row.y - v.top + row.height / 2;
		scrollBy(0, middle() - innerHeight / 3);
		return { x: v.canvas.getBoundingClientRect().left + v.x(%[2]d), y: middle() }; })()`, kind, moment))
	if at == nil {
		b.t.Fatalf("no %s is drawn at %d", kind, moment)
	}
	b.clickAt(at.X, at.Y)
}

// view is the stretch that the timeline shows by the page's address, which follows it after a while.
func view(b *browser) (from, to int64) {
	b.t.Helper()
	hash := eval[string](b, `new Promise((done) => setTimeout(() => done(location.hash), 700))`)
	if _, err := fmt.Sscanf(hash, "#timeline=%d,%d", &from, &to); err != nil {
		b.t.Errorf("the address ends in %q: %v", hash, err)
	}
	return from, to
}

// pageZooms holds that the timeline follows the address, keys and buttons: by how much, and around which moment.
func pageZooms(b *browser, page string) {
	b.open(page)
	first := eval[int64](b, "timeline.from")
	b.open(fmt.Sprintf("%s#timeline=%d,%d", page, first+1_000_000, first+3_000_000))
	if said := viewText(b); !strings.HasSuffix(said, " of the capture: 2 ms") {
		b.t.Errorf("by its address the timeline shows %q", said)
	}
	for _, c := range []struct {
		by       string
		do       func()
		from, to int64
	}{
		{"+", func() {
			eval[bool](b, `(document.querySelector("#timeline-plot .tl-scroll").focus(), true)`)
			b.press("+")
		}, 1_500_000, 2_500_000},
		{"-", func() { b.press("-") }, 1_000_000, 3_000_000},
		{"right", func() { b.press("ArrowRight") }, 1_500_000, 3_500_000},
		{"Zoom in", func() { b.click(`document.querySelector("[data-act=in]")`) }, 2_000_000, 3_000_000},
		{"Earlier", func() { b.click(`document.querySelector("[data-act=left]")`) }, 1_750_000, 2_750_000},
		{"Zoom out", func() { b.click(`document.querySelector("[data-act=out]")`) }, 1_250_000, 3_250_000},
	} {
		c.do()
		if from, to := view(b); from != first+c.from || to != first+c.to {
			b.t.Errorf("%s shows %d to %d, not %d to %d", c.by, from-first, to-first, c.from, c.to)
		}
	}
	b.click(`document.querySelector("[data-act=all]")`)
	showsAll(b)
}

// showsAll holds that the timeline shows all work of GPUs, from the first to the last.
func showsAll(b *browser) {
	b.t.Helper()
	if said, want := viewText(b), eval[string](b, `(({ from, until }) => momentText(from, (until - from) / 1000) + " to " + momentText(until, (until - from) / 1000) + " of the capture: " + time(until - from))(timeline)`); said != want {
		b.t.Errorf("all is %q, not %q", said, want)
	}
}

// pageShowsKernels holds that single kernels and their names are seen when the timeline is near enough, and not before, and that a click
// gives the whole name of the one that is there.
func pageShowsKernels(b *browser, page string, d drawnTimeline) {
	stream := d.Rows[0].Streams[0]
	at, from, to, name := int64(0), int64(0), int64(0), ""
	for i := 0; i < len(stream.Items); i += 3 { // the longest one: others are seen beside it
		start := at + stream.Items[i]
		at = start + stream.Items[i+1]
		if work := d.Works[stream.Items[i+2]]; d.Names[work[1]] == "kernel" && at-start > to-from {
			from, to, name = start, at, d.Names[work[0]]
		}
	}
	b.open(page)
	isNamed := func(texts []string) bool {
		return slices.ContainsFunc(texts, func(text string) bool {
			text = strings.TrimSuffix(text, "…")
			return len(text) > 3 && strings.Contains(name, text)
		})
	}
	if texts := drawnTexts(b); isNamed(texts) {
		b.t.Errorf("%s has a name when all of the capture is shown: %q", name, texts)
	}
	long := to - from
	b.open(fmt.Sprintf("%s#timeline=%d,%d", page, from-long/2, to+long/2))
	if texts := drawnTexts(b); !isNamed(texts) {
		b.t.Fatalf("%s is not among the names %q", name, texts)
	}
	pickAt(b, "stream", (from+to)/2)
	if got := eval[string](b, `document.querySelector("#timeline-pick code").textContent`); got != name || !eval[bool](b, `document.getElementById("timeline-pick").checkVisibility()`) {
		b.t.Errorf("a click on %s picks %q", name, got)
	}
	if facts := eval[string](b, `document.querySelector("#timeline-pick .facts-of").textContent`); !strings.Contains(facts, fmt.Sprintf("%d ns)", long)) || !strings.Contains(facts, stream.Name) {
		b.t.Errorf("of a kernel of %d ns on %s the page says %q", long, stream.Name, facts)
	}
}

// pageTiesLaunches holds that a click on a kernel marks the call that launched it, with the time between their starts that the warehouse has; that
// keys go from one to the other and show both; and that a call says what it launched.
func pageTiesLaunches(b *browser, page string, p *place) {
	var kernel struct{ at, long, launch, called int64 }
	row := strings.Split(p.sql(`WITH k AS (
		SELECT k.start_ns AS begin_ns, k.duration_ns, k.launch_start_ns - k.start_ns AS launch_ns, k.launch_duration_ns FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id)
		WHERE k.device_id = 0 AND k.duration_ns > 5000 AND n.name NOT LIKE 'nccl%' AND k.start_ns - k.launch_start_ns BETWEEN 100000 AND 1000000000)
		SELECT begin_ns, duration_ns, launch_ns, launch_duration_ns FROM k ORDER BY begin_ns DESC LIMIT 1`), "\n")[1]
	if _, err := fmt.Sscanf(row, "%d,%d,%d,%d", &kernel.at, &kernel.long, &kernel.launch, &kernel.called); err != nil {
		b.t.Fatalf("%q: %v", row, err)
	}
	b.open(fmt.Sprintf("%s#timeline=%d,%d", page, kernel.at-2*kernel.long, kernel.at+3*kernel.long))
	facts := func() string {
		return eval[string](b, `document.querySelector("#timeline-pick .facts-of").textContent`)
	}
	links := func() []int { // and of how many both ends are in view
		return eval[[]int](b, `(({ links, target: view }) => [links.length, links.filter((l) => [l.call, l.work].every((x) => x.end >= view.from && x.start <= view.to)).length])(timeline.view)`)
	}
	pickAt(b, "stream", kernel.at+kernel.long/2)
	// What the page says has three digits, which the same function of the page gives of the warehouse's numbers.
	text := func(ns int64) string { return eval[string](b, fmt.Sprintf("time(%d)", ns)) }
	want := fmt.Sprintf("starts %s after the call began: %s in the call, then %s queued", text(-kernel.launch), text(kernel.called), text(-kernel.launch-kernel.called))
	if got := facts(); !strings.Contains(got, fmt.Sprintf(", %d ns)", kernel.long)) || !strings.Contains(got, "Launched by cu") || !strings.Contains(got, want) {
		b.t.Fatalf("of the kernel the page says %q, not %s", got, want)
	}
	if got := links(); got[0] != 1 || got[1] != 0 { // the launch is beside the screen
		b.t.Errorf("of %d links %d are whole in view", got[0], got[1])
	}
	b.press("l")
	if got := links(); got[0] != 1 || got[1] != 1 {
		b.t.Errorf("of %d links %d are whole in view where both ends should be", got[0], got[1])
	}
	if got := drawnTexts(b); !slices.Contains(got, text(-kernel.launch)) {
		b.t.Errorf("the link does not say %s: %q", text(-kernel.launch), got)
	}
	b.press("j")
	if got := facts(); !strings.Contains(got, fmt.Sprintf(", %d ns)", kernel.called)) || !strings.Contains(got, "launch call of Thread ") || !strings.Contains(got, "which "+want) {
		b.t.Errorf("of the launch the page says %q, not %s", got, want)
	}
	b.press("j")
	if got := facts(); !strings.Contains(got, fmt.Sprintf(", %d ns)", kernel.long)) {
		b.t.Errorf("from the launch one comes to %q", got)
	}
	at := func() (item, all int, readout string) {
		readout = eval[string](b, `document.getElementById("timeline-readout").textContent`)
		_, _ = fmt.Sscanf(readout[strings.LastIndex(readout, "(")+1:], "%d of %d on this line", &item, &all)
		return item, all, readout
	}
	b.press("p")
	before, _, _ := at()
	b.press("n")
	if item, all, readout := at(); item != before+1 || before < 1 || all < item {
		b.t.Errorf("after item %d comes %q", before, readout)
	}
	b.press("ArrowUp")
	if _, _, readout := at(); !strings.HasPrefix(readout, "idle ") && !strings.HasPrefix(readout, "kernel ") && !strings.HasPrefix(readout, "copy ") {
		b.t.Errorf("on the line above is %q", readout)
	}
	b.press("?")
	if !eval[bool](b, `document.querySelector("#timeline-keys .keys").checkVisibility()`) {
		b.t.Error("the keys are not shown")
	}
}

// pageJumpsToGaps holds that a link of the table of gaps has the timeline show that gap.
func pageJumpsToGaps(b *browser, page string) {
	b.open(page)
	const row = `[...document.querySelectorAll("#timeline table tbody tr")].at(-1)` // the shortest of them
	b.click(row + `.closest("details").firstElementChild`)
	want := eval[string](b, row+`.querySelector("a.jump").getAttribute("href")`)
	b.click(row + `.querySelector("a.jump")`)
	if got := eval[string](b, "location.hash"); got != want || !strings.HasPrefix(want, "#timeline=") {
		b.t.Errorf("the link leads to %q, not %q", got, want)
	}
	if eval[bool](b, "timeline.view.isHome()") {
		b.t.Errorf("after the link the timeline shows all: %q", viewText(b))
	}
	if !eval[bool](b, `(() => { const r = document.getElementById("timeline-plot").getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0; })()`) {
		b.t.Error("the timeline is not in sight after the link")
	}
	wide := eval[float64](b, `(({ view: { from, to } }) => Math.max(...timeline.tiles.tracks.filter((t) => t.kind === "gap").flatMap((t) => t.list).map((x) => (Math.min(x.end, to) - Math.max(x.start, from)) / (to - from))))(timeline.view)`)
	if wide < 0.2 {
		b.t.Errorf("the gap takes %.0f %% of the width: it is not zoomed in", 100*wide)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
