package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// viewText is what the timeline says that it shows.
func viewText(b *browser) string {
	return eval[string](b, `document.getElementById("timeline-view").textContent`)
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
	b.open(page + "#timeline=1000000,3000000")
	if said := viewText(b); !strings.HasSuffix(said, ": 2.00 ms") {
		b.t.Errorf("by its address the timeline shows %q", said)
	}
	for _, c := range []struct {
		by       string
		do       func()
		from, to int64
	}{
		{"+", func() { eval[bool](b, `(document.getElementById("timeline-plot").focus(), true)`); b.press("+") }, 1_500_000, 2_500_000},
		{"-", func() { b.press("-") }, 1_000_000, 3_000_000},
		{"right", func() { b.press("ArrowRight") }, 1_500_000, 3_500_000},
		{"Zoom in", func() { b.click(`document.querySelector("[data-act=in]")`) }, 2_000_000, 3_000_000},
		{"Earlier", func() { b.click(`document.querySelector("[data-act=left]")`) }, 1_750_000, 2_750_000},
		{"Zoom out", func() { b.click(`document.querySelector("[data-act=out]")`) }, 1_250_000, 3_250_000},
	} {
		c.do()
		if from, to := view(b); from != c.from || to != c.to {
			b.t.Errorf("%s shows %d to %d, not %d to %d", c.by, from, to, c.from, c.to)
		}
	}
	b.click(`document.querySelector("[data-act=all]")`)
	if said := viewText(b); !strings.HasPrefix(said, "0 ns to ") {
		b.t.Errorf("All shows %q", said)
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
	boxes := func() int {
		return eval[int](b, `document.querySelectorAll("#timeline-plot g.box.kernel-0 text, #timeline-plot g.box.kernel-1 text").length`)
	}
	if n := boxes(); n != 0 {
		b.t.Errorf("%d kernels have names when all of the capture is shown", n)
	}
	long := to - from
	b.open(fmt.Sprintf("%s#timeline=%d,%d", page, from-long/2, to+long/2))
	texts := eval[[]string](b, `[...document.querySelectorAll("#timeline-plot g.box text")].map((e) => e.firstChild.textContent)`)
	seen := false
	for _, text := range texts {
		text = strings.TrimSuffix(text, "…")
		seen = seen || len(text) > 3 && strings.Contains(name, text)
	}
	if !seen {
		b.t.Fatalf("%s is not among the names %q", name, texts)
	}
	middle := eval[struct{ X, Y float64 }](b, `(() => { const all = [...document.querySelectorAll("#timeline-plot g.box:not([class*=part-]) rect.piece")].map((r) => r.getBoundingClientRect());
		const r = all.sort((a, b) => b.width - a.width)[0]; return { x: r.left + r.width / 2, y: r.top + r.height / 2 }; })()`)
	b.clickAt(middle.X, middle.Y)
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
	row := strings.Split(p.sql(`WITH work AS (SELECT start_ns FROM kernel UNION ALL SELECT start_ns FROM memop), k AS (
		SELECT k.start_ns - (SELECT min(start_ns) FROM work) AS begin_ns, k.duration_ns, k.launch_start_ns - k.start_ns AS launch_ns, k.launch_duration_ns FROM kernel k JOIN kernel_name n USING (run_id, kernel_name_id)
		WHERE k.device_id = 0 AND k.duration_ns > 5000 AND n.name NOT LIKE 'nccl%' AND k.start_ns - k.launch_start_ns BETWEEN 100000 AND 1000000000)
		SELECT begin_ns, duration_ns, launch_ns, launch_duration_ns FROM k ORDER BY begin_ns DESC LIMIT 1`), "\n")[1]
	if _, err := fmt.Sscanf(row, "%d,%d,%d,%d", &kernel.at, &kernel.long, &kernel.launch, &kernel.called); err != nil {
		b.t.Fatalf("%q: %v", row, err)
	}
	b.open(fmt.Sprintf("%s#timeline=%d,%d", page, kernel.at-2*kernel.long, kernel.at+3*kernel.long))
	pick := func(selector string, share float64) {
		at := eval[*struct{ X, Y float64 }](b, fmt.Sprintf(`(() => { const plot = document.getElementById("timeline-plot").getBoundingClientRect(), x = plot.left + 120 + (plot.width - 120) * %g;
			const r = [...document.querySelectorAll(%q)].map((r) => r.getBoundingClientRect()).find((r) => r.left <= x && r.right >= x); return r ? { x, y: r.top + r.height / 2 } : null; })()`, share, selector))
		if at == nil {
			b.t.Fatalf("no %s is drawn at %g of the width", selector, share)
		}
		b.clickAt(at.X, at.Y)
	}
	facts := func() string {
		return eval[string](b, `document.querySelector("#timeline-pick .facts-of").textContent`)
	}
	marks := func() []int {
		return eval[[]int](b, `["link", "tied", "halo"].map((c) => document.querySelectorAll("#timeline-plot ." + c).length)`)
	}
	pick("#timeline-plot g.box:not([class*=part-]) rect.piece", 0.5)
	// What the page says has three digits, which the same function of the page gives of the warehouse's numbers.
	text := func(ns int64) string { return eval[string](b, fmt.Sprintf("timeText(%d)", ns)) }
	want := fmt.Sprintf("starts %s after the call began: %s in the call, then %s queued", text(-kernel.launch), text(kernel.called), text(-kernel.launch-kernel.called))
	if got := facts(); !strings.Contains(got, fmt.Sprintf(", %d ns)", kernel.long)) || !strings.Contains(got, "Launched by cu") || !strings.Contains(got, want) {
		b.t.Fatalf("of the kernel the page says %q, not %s", got, want)
	}
	if got := marks(); got[0] != 1 || got[1] != 0 { // the launch is beside the screen
		b.t.Errorf("%d links and %d marked launches are drawn", got[0], got[1])
	}
	b.press("l")
	if got := marks(); got[0] != 1 || got[1] != 1 || got[2] != 1 {
		b.t.Errorf("%v links, launches and times are drawn where both ends are in view", got)
	}
	if got := eval[string](b, `document.querySelector("#timeline-plot .halo").textContent`); got != text(-kernel.launch) {
		b.t.Errorf("the link says %s, not %s", got, text(-kernel.launch))
	}
	b.press("j")
	if got := facts(); !strings.Contains(got, fmt.Sprintf(", %d ns)", kernel.called)) || !strings.Contains(got, "launch call of Thread ") || !strings.Contains(got, "which "+want) {
		b.t.Errorf("of the launch the page says %q, not %s", got, want)
	}
	b.press("j")
	if got := facts(); !strings.Contains(got, fmt.Sprintf(", %d ns)", kernel.long)) {
		b.t.Errorf("from the launch one comes to %q", got)
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
	if said := viewText(b); strings.HasPrefix(said, "0 ns to ") {
		b.t.Errorf("after the link the timeline shows %q", said)
	}
	if !eval[bool](b, `(() => { const r = document.getElementById("timeline-plot").getBoundingClientRect(); return r.top < innerHeight && r.bottom > 0; })()`) {
		b.t.Error("the timeline is not in sight after the link")
	}
	wide := eval[float64](b, `Math.max(...[...document.querySelectorAll("#timeline-plot g[class^=part-] rect.work")].map((r) => r.getBoundingClientRect().width)) / document.getElementById("timeline-plot").clientWidth`)
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
