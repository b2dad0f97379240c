package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// servedTimeline has a browser move the timeline by keys, pick a kernel, follow it to its launch, search and mark a stretch; what it says is
// what the warehouse has.
func servedTimeline(s *served) {
	var kernel struct{ at, long, launch int64 }
	row := strings.Split(s.p.sql(`SELECT k.start_ns AS begin_ns, k.duration_ns, k.launch_start_ns - k.start_ns AS launch_ns FROM kernel k JOIN run r USING (run_id)
		WHERE r.name = 'eager' AND k.launch_start_ns < k.start_ns AND k.duration_ns > 20000 ORDER BY k.duration_ns DESC, k.start_ns LIMIT 1`), "\n")[1]
	if _, err := fmt.Sscanf(row, "%d,%d,%d", &kernel.at, &kernel.long, &kernel.launch); err != nil {
		s.t.Fatalf("%q: %v", row, err)
	}
	s.open(fmt.Sprintf("%s/runs/eager/timeline?from=%d&to=%d", s.base, kernel.at-2*kernel.long, kernel.at+3*kernel.long))
	s.await(`document.querySelector(".tl-canvas") !== null && document.querySelector(".tl-shown").textContent !== ""`)
	eval[bool](s.browser, `(document.querySelector(".tl-scroll").focus(), true)`)
	for _, c := range []struct {
		key      string
		from, to int64 // in durations of the kernel from its start
	}{{"d", -3, 17}, {"a", -8, 12}, {"w", -3, 7}, {"s", -8, 12}} { // in quarters
		s.press(c.key)
		s.await(fmt.Sprintf(`Math.abs(Number(new URL(location.href).searchParams.get("from")) - %d) <= 2 && Math.abs(Number(new URL(location.href).searchParams.get("to")) - %d) <= 2`, kernel.at+c.from*kernel.long/4, kernel.at+c.to*kernel.long/4))
	}
	panel := func() string {
		return eval[string](s.browser, `document.querySelector(".tl-panel").innerText`)
	}
	// The canvas has no elements: a click goes to each place down the middle of the kernel until one has it.
	const others = `[".tl-readout", ".tl-scroll", ".tl-controls", "main"].map((of) => (({ left, top, width, height }) => [left, top, width, height].join(" "))(document.querySelector(of).getBoundingClientRect()))`
	before := eval[[]string](s.browser, others)
	s.await(fmt.Sprintf(`await (async () => {
		const c = document.querySelector(".tl-canvas"), r = c.getBoundingClientRect(), gutter = Math.min(150, Math.max(96, Math.round(r.width * 0.18)));
		for (let y = 30; y < r.height; y += 4) {
			const at = { clientX: r.left + gutter + (r.width - gutter) * 0.5, clientY: r.top + y, pointerId: 1, bubbles: true, pointerType: "mouse" };
			for (const type of ["pointermove", "pointerdown", "pointerup"]) c.dispatchEvent(new PointerEvent(type, at));
			const said = document.querySelector(".tl-panel").innerText;
			if (said.includes(", %d ns)") && said.includes("stream")) { window.clicked = at; return true; }
			document.querySelector(".tl-scroll").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
		}
		return false; })()`, kernel.long))
	s.await(`document.querySelector(".tl-launch") !== null`)
	s.settle()
	if away := eval[[2]float64](s.browser, `(({ left, right, top, bottom }) => [Math.max(0, left - clicked.clientX, clicked.clientX - right), Math.max(0, top - clicked.clientY, clicked.clientY - bottom)])(document.querySelector(".tl-panel").getBoundingClientRect())`); away[0] > 0 || away[1] == 0 || away[1] > 40 {
		s.t.Errorf("what is said of the kernel is %v away from the click", away)
	}
	if after := eval[[]string](s.browser, others); !slices.Equal(before, after) {
		s.t.Errorf("with the details the page moves from %q to %q", before, after)
	}
	text := eval[string](s.browser, fmt.Sprintf(`import("/times.js").then((f) => f.time(%d))`, -kernel.launch))
	if got := panel(); !strings.Contains(got, "starts "+text+" after the call began") {
		s.t.Errorf("of a kernel whose launch began %s before it the page says %q", text, got)
	}
	// The page has one clock with the queries: from the start of the capture, which it says.
	if moment := eval[string](s.browser, fmt.Sprintf(`import("/times.js").then((f) => f.momentText(%d, 1))`, kernel.at)); !strings.Contains(panel(), " from "+moment+" on source ") {
		s.t.Errorf("a kernel that starts at %d ns of the capture is said to run %q", kernel.at, panel())
	}
	if shown := eval[string](s.browser, `document.querySelector(".tl-shown").textContent`); !strings.Contains(shown, " of each capture: ") {
		s.t.Errorf("the page does not say from when its times count: %q", shown)
	}
	eval[bool](s.browser, `([...document.querySelectorAll(".tl-panel button")].find((b) => b.textContent === "Go to its launch").click(), true)`)
	s.await(`document.querySelector(".tl-launch")?.textContent.startsWith("Launched ")`)
	s.await(`new URL(location.href).searchParams.has("pick")`)
	s.open(eval[string](s.browser, `location.href`))
	s.await(`document.querySelector(".tl-launch")?.textContent.startsWith("Launched ")`)
	eval[bool](s.browser, `(document.querySelector(".tl-scroll").focus(), true)`)
	s.press("m")
	s.await(`document.querySelector(".tl-panel table") !== null`)
	s.await(`new URL(location.href).searchParams.has("range")`)
	s.press("Escape")
	s.await(`document.querySelector(".tl-panel").childElementCount === 0`)
	// All shows all that GPUs do, with an edge of a fiftieth; once more, what the profiler recorded before and after too.
	var work struct{ from, to int64 }
	row = strings.Split(s.p.sql(`SELECT min(w.start_ns) AS begin_ns, max(w.start_ns + w.duration_ns) AS end_ns FROM (SELECT run_id, start_ns, duration_ns FROM kernel UNION ALL SELECT run_id, start_ns, duration_ns FROM memop) w JOIN run r USING (run_id) WHERE r.name = 'eager'`), "\n")[1]
	if _, err := fmt.Sscanf(row, "%d,%d", &work.from, &work.to); err != nil {
		s.t.Fatalf("%q: %v", row, err)
	}
	shows := func(from, to int64, long string) {
		s.t.Helper()
		s.await(fmt.Sprintf(`await import("/times.js").then((f) => document.querySelector(".tl-shown").textContent === f.momentText(%d, %[3]s / 1000) + " to " + f.momentText(%[2]d, %[3]s / 1000) + " of each capture: " + f.time(%[3]s))`, from, to, long))
	}
	const all = `[...document.querySelectorAll(".tl-controls button")].find((b) => b.textContent === "All")`
	edge := int64(math.Round(float64(work.to-work.from) * 0.02))
	s.click(all)
	shows(work.from-edge, work.to+edge, fmt.Sprint(work.to-work.from+2*edge))
	s.await(`!new URL(location.href).searchParams.has("from")`)
	about := call(s.t, "GET", s.base+"/api/v1/runs/eager/timeline/about", "")
	var ends struct{ Begin, End int64 }
	if err := json.Unmarshal([]byte(about.body), &struct {
		Begin *int64 `json:"begin_ns"`
		End   *int64 `json:"end_ns"`
	}{&ends.Begin, &ends.End}); err != nil || ends.Begin >= work.from || ends.End <= work.to {
		s.t.Fatalf("the capture has work from %d to %d and other things from %d to %d: %v", work.from, work.to, ends.Begin, ends.End, err)
	}
	s.click(all)
	shows(ends.Begin, ends.End, fmt.Sprint(ends.End-ends.Begin))
}

// servedPlaces has a reader go from the start of a gap, a pass and a step in a table to the timeline: it is picked there or marked, in the middle of the view.
func servedPlaces(s *served) {
	type rows struct {
		Rows []struct {
			Start    int64  `json:"start_ns"`
			Duration *int64 `json:"duration_ns"`
			CPU      *int64 `json:"cpu_ns"`
			Span     *int64 `json:"gpu_span_ns"`
			Whole    *int64 `json:"span_ns"`
		}
	}
	for _, c := range []struct {
		query string
		long  func(r rows) *int64
	}{
		{"longest-gaps", func(r rows) *int64 { return r.Rows[0].Duration }},
		{"passes", func(r rows) *int64 { return r.Rows[0].CPU }},
		{"pass-accounting", func(r rows) *int64 { return r.Rows[0].Whole }},
		{"steps", func(r rows) *int64 { return r.Rows[0].Span }},
	} {
		r := asked[rows](s, "query", c.query, "sdpa-1")
		if len(r.Rows) == 0 || c.long(r) == nil {
			s.t.Fatalf("%s has no row with a length", c.query)
		}
		start, long := r.Rows[0].Start, *c.long(r)
		s.visit("/runs/sdpa-1?query="+c.query, `document.querySelector(".answer tbody a")`)
		s.click(`document.querySelector(".answer tbody a")`)
		words := eval[[2]string](s.browser, fmt.Sprintf(`import("/times.js").then((f) => [f.time(%d), f.momentText(%d, %[1]d / 100)])`, long, start))
		s.await(`document.querySelector(".tl-panel")?.childElementCount > 0`)
		if said := eval[string](s.browser, `document.querySelector(".tl-panel").innerText`); !strings.Contains(said, fmt.Sprintf("(start_ns %d, %d ns)", start, long)) && !strings.Contains(said, words[0]+" from "+words[1]) {
			s.t.Errorf("the first row of %s starts at %d and takes %d: the timeline says %q", c.query, start, long, said)
		}
		const shown = `["from", "to"].map((n) => Number(new URL(location.href).searchParams.get(n)))`
		s.await(fmt.Sprintf(`(([from, to]) => Math.abs(from - %d) <= 1 && Math.abs(to - %d) <= 1)(%s)`, start-long/2, start+long+long/2, shown))
		if eval[bool](s.browser, `new URL(location.href).searchParams.has("at")`) {
			s.t.Error("the address has the place still, which its view has replaced")
		}
	}
}

// servedFinding has a reader go from a finding to the timeline: of one about idle time, the longest gap of its cause in the measured passes of its stage is picked.
func servedFinding(s *served) {
	type gaps struct {
		Rows []struct {
			Start    int64 `json:"start_ns"`
			Duration int64 `json:"duration_ns"`
			Cause    string
			Source   int64 `json:"source_id"`
		}
	}
	type passes struct {
		Rows []struct {
			Start  int64 `json:"start_ns"`
			Span   int64 `json:"span_ns"`
			Warm   bool  `json:"is_warmup"`
			Source int64 `json:"source_id"`
		}
	}
	said := s.p.ok("explain", "sdpa-1")
	const command = "prof open --run sdpa-1 --stage decode --device 0 --cause launch-bound"
	if !strings.Contains(said, command+"\n") {
		s.t.Fatalf("prof explain names no place of launch-bound idle time: %s", said)
	}
	measured := asked[passes](s, "query", "pass-accounting", "sdpa-1", "--stage", "decode", "--device", "0").Rows
	var want [2]int64
	for _, g := range asked[gaps](s, "query", "longest-gaps", "sdpa-1", "--stage", "decode", "--device", "0", "--top", "0").Rows {
		isIn := false
		for _, p := range measured {
			isIn = isIn || !p.Warm && p.Source == g.Source && p.Start <= g.Start && p.Start+p.Span >= g.Start+g.Duration
		}
		if isIn && strings.HasPrefix(g.Cause, "launch") {
			want = [2]int64{g.Start, g.Duration}
			break
		}
	}
	if want[1] == 0 {
		s.t.Fatal("no gap is launch-bound")
	}
	s.visit("/runs/sdpa-1", `document.querySelector(".findings a[title^='prof open ']")`)
	link := fmt.Sprintf(`[...document.querySelectorAll(".findings a")].find((a) => a.title === %q)`, command)
	s.click(link)
	s.await(fmt.Sprintf(`document.querySelector(".tl-panel")?.innerText.includes("(start_ns %d, %d ns)")`, want[0], want[1]))
}

// servedWaits has a reader pick a gap during which the thread that launches next is in a call: the page names it, with its time within the gap.
func servedWaits(s *served) {
	row := strings.Split(strings.TrimSpace(s.p.sql(`SELECT g.source_id, g.start_ns, g.duration_ns, g.device_id, least(a.start_ns + a.duration_ns, g.start_ns + g.duration_ns) - greatest(a.start_ns, g.start_ns) AS inside_ns, n.name
		FROM gap g JOIN run r USING (run_id) JOIN api_call a ON a.run_id = g.run_id AND a.source_id = g.source_id AND a.pid = g.pid AND a.tid = g.tid AND a.start_ns < g.start_ns + g.duration_ns AND a.start_ns + a.duration_ns > g.start_ns
		JOIN api_name n ON n.run_id = a.run_id AND n.api_name_id = a.api_name_id WHERE r.name = 'sdpa-1' AND inside_ns * 2 > g.duration_ns AND g.duration_ns > 100000 ORDER BY inside_ns DESC, g.start_ns LIMIT 1`)), "\n")
	var source, start, long, device, inside int64
	var name string
	if _, err := fmt.Sscanf(strings.ReplaceAll(row[len(row)-1], ",", " "), "%d %d %d %d %d %s", &source, &start, &long, &device, &inside, &name); err != nil {
		s.t.Fatalf("%q: %v", row, err)
	}
	s.visit(fmt.Sprintf("/runs/sdpa-1/timeline?at=%d,%d,%d&device=%d", source, start, long, device), `document.querySelector(".tl-panel dl")`)
	text := eval[string](s.browser, fmt.Sprintf(`import("/times.js").then((f) => f.time(%d))`, inside))
	if said := eval[string](s.browser, `document.querySelector(".tl-panel dl").textContent`); !strings.Contains(said, name+", "+text+" of the gap") {
		s.t.Errorf("the thread is in %s for %s of a gap, of which the page says %q", name, text, said)
	}
}

// wheel turns the wheel over a place, down by so many pixels.
func (s *served) wheel(x, y, down float64) {
	s.t.Helper()
	s.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": down}, nil)
	s.settle()
}

// servedWheel has a reader turn the wheel: over the picture it zooms about the pointer and the page stays; over the names of the lines, beside the picture, and over the picture while the
// page is on its way, it scrolls. Of two timelines on a page only one that was clicked zooms.
func servedWheel(s *served) {
	s.screen(1300, 500, "light")
	s.visit("/runs/eager/timeline", `document.querySelector(".tl-canvas") && document.querySelector(".tl-shown").textContent !== ""`)
	const canvas = `document.querySelector(".tl-canvas")`
	shown := func() (from, to float64) {
		s.t.Helper()
		got := eval[[2]float64](s.browser, `new Promise((done) => setTimeout(() => done(["from", "to"].map((n) => Number(new URL(location.href).searchParams.get(n)))), 700))`)
		return got[0], got[1]
	}
	scrolled := func() [2]float64 {
		return eval[[2]float64](s.browser, `new Promise((done) => setTimeout(() => done([scrollY, document.querySelector(".tl-scroll").scrollTop]), 700))`)
	}
	box := eval[struct{ Left, Top, Width float64 }](s.browser, `(({ left, top, width }) => ({ left, top, width }))(`+canvas+`.getBoundingClientRect())`)
	gutter := min(150, max(96, math.Round(box.Width*0.18)))
	x, y := box.Left+gutter+(box.Width-gutter)/4, box.Top+80
	eval[bool](s.browser, `(document.querySelector(".tl-controls button").click(), true)`) // so that the view is in the address
	from, to := shown()
	s.wheel(x, y, -100)
	nearFrom, nearTo := shown()
	long, near := to-from, nearTo-nearFrom
	if at, was := nearFrom+near/4, from+long/4; near > long*0.8 || near < long*0.7 || math.Abs(at-was) > long/1000 {
		s.t.Errorf("the wheel zooms from %.0f to %.0f to %.0f to %.0f: the pointer was at %.0f and is at %.0f", from, to, nearFrom, nearTo, was, at)
	}
	if at := scrolled(); at != [2]float64{} {
		s.t.Errorf("the page is scrolled by %v with the wheel over the picture", at)
	}
	s.wheel(box.Left+gutter/2, y, 60)
	if at := scrolled(); at[1] == 0 || at[0] != 0 {
		s.t.Errorf("over the names of the lines the page is scrolled by %v", at)
	}
	// Where the picture comes under the pointer of a page on its way, it takes the wheel only after a pause. The events are the page's own, since how far apart a busy machine's are is not known.
	took := eval[[]bool](s.browser, fmt.Sprintf(`(async () => {
		const turn = (e) => !e.dispatchEvent(new WheelEvent("wheel", { deltaY: 40, clientX: %f, clientY: %f, bubbles: true, cancelable: true }));
		const out = [turn(document.querySelector("h1")), turn(%[3]s), turn(%[3]s)];
		await new Promise((done) => setTimeout(done, 400));
		return [...out, turn(%[3]s)]; })()`, x, y, canvas))
	if !slices.Equal(took, []bool{false, false, false, true}) {
		s.t.Errorf("of a turn over the title, two over the picture right after and one after a pause the page takes %v", took)
	}
	s.visit("/compare?base=eager&new=sdpa-1", `document.querySelector(".timelines")`)
	eval[bool](s.browser, `(document.querySelector(".timelines").scrollIntoView(), true)`)
	s.await(`document.querySelectorAll(".tl-canvas").length === 2`)
	eval[bool](s.browser, `(`+canvas+`.scrollIntoView({ block: "center" }), true)`)
	two := func() (x, y float64) {
		at := eval[[2]float64](s.browser, `(({ left, top, width }) => [left + width / 2, top + 8])(`+canvas+`.getBoundingClientRect())`)
		return at[0], at[1]
	}
	scrolled()
	x, y = two()
	s.wheel(x, y, -40)
	if has := eval[bool](s.browser, `new Promise((done) => setTimeout(() => done(new URL(location.href).searchParams.has("from")), 700))`); has {
		s.t.Error("one of two timelines zooms before it was clicked")
	}
	x, y = two()
	s.clickAt(x, y)
	s.wheel(x, y, -40)
	s.await(`new URL(location.href).searchParams.has("from")`)
}

// touch has fingers come down at the first places, go to each of the next, and leave.
func (s *served) touch(places ...[][2]float64) {
	s.t.Helper()
	for i, fingers := range append(places, nil) {
		points := make([]map[string]any, len(fingers))
		for id, at := range fingers {
			points[id] = map[string]any{"id": id, "x": at[0], "y": at[1]}
		}
		kind := "touchMove"
		switch {
		case i == 0:
			kind = "touchStart"
		case fingers == nil:
			kind = "touchEnd"
		}
		s.call("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": points}, nil)
	}
	s.settle()
}

// servedTouch has fingers use the timeline of a narrow screen: one moves the view, two stretch it, up and down scrolls, a tap picks.
func servedTouch(s *served) {
	type place = [2]float64
	s.screen(390, 500, "light")
	s.call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": true, "maxTouchPoints": 2}, nil)
	defer s.call("Emulation.setTouchEmulationEnabled", map[string]any{"enabled": false}, nil)
	kernel := asked[struct{ Rows []map[string]any }](s, "sql", `SELECT k.start_ns AS at, k.duration_ns AS long FROM kernel k JOIN run r USING (run_id) WHERE r.name = 'eager' ORDER BY k.duration_ns DESC, k.start_ns LIMIT 1`).Rows[0]
	at, long := kernel["at"].(float64), kernel["long"].(float64)
	const canvas = `document.querySelector(".tl-canvas")`
	s.visit(fmt.Sprintf("/runs/eager/timeline?from=%.0f&to=%.0f", at-2*long, at+2*long), canvas+` && document.querySelector(".tl-shown").textContent !== ""`)
	box := eval[struct{ Left, Top, Width float64 }](s.browser, `(`+canvas+`.scrollIntoView(), (({ left, top, width }) => ({ left, top, width }))(`+canvas+`.getBoundingClientRect()))`)
	wide := (box.Width - 96) / 4 // of a duration of the kernel
	x := func(durations float64) float64 { return box.Left + 96 + (durations+2)*wide }
	shows := func(from, to float64) { // in durations from its start; 1 px is less than 1/60 of one
		s.t.Helper()
		s.await(fmt.Sprintf(`(([from, to]) => Math.abs(from - %f) < 0.02 && Math.abs(to - %f) < 0.02)(["from", "to"].map((n) => (Number(new URL(location.href).searchParams.get(n)) - %f) / %f))`, from, to, at, long))
	}
	y := box.Top + 60
	s.touch([][2]float64{{x(0), y}}, []place{{x(0.5), y}}, []place{{x(1), y}})
	shows(-3, 1)
	s.touch([]place{{x(1), y}}, []place{{x(0.5), y}}, []place{{x(0), y}})
	shows(-2, 2)
	s.touch([]place{{x(-0.5), y}, {x(0.5), y + 30}}, []place{{x(-0.8), y}, {x(0.8), y + 30}}, []place{{x(-1), y}, {x(1), y + 30}})
	shows(-1, 1)
	s.touch([]place{{x(0), y + 200}}, []place{{x(0), y + 180}}, []place{{x(0), y + 120}})
	s.await(`document.querySelector(".tl-scroll").scrollTop > 20`)
	s.await(`await new Promise((done) => { let at = -1; const still = () => { const now = document.querySelector(".tl-scroll").scrollTop; now === at ? done(true) : (at = now, setTimeout(still, 100)); }; still(); })`) // it goes on for a while
	eval[bool](s.browser, `(document.querySelector(".tl-scroll").scrollTop = 0, true)`)
	s.settle()
	shows(-1, 1)
	said := func() string { return eval[string](s.browser, `document.querySelector(".tl-panel").innerText`) }
	within(s.t, patience, "a tap that picks the kernel", func() bool { // once it is drawn
		for y := box.Top + 48; y <= box.Top+340; y += 8 { // below the title of the GPU; the kernel is in the right half
			if s.touch([]place{{x(1), y}}); strings.Contains(said(), fmt.Sprintf(", %.0f ns)", long)) {
				return true
			}
			eval[bool](s.browser, `([...document.querySelectorAll(".tl-panel button")].find((b) => b.textContent === "Close")?.click(), true)`) // what is said of another thing may be over the next place
			s.settle()
		}
		return false
	})
}

// pixels is a function that reads lines of a canvas: of a copy, since the page's own is not made to be read.
const pixels = `(c, y, tall) => {
	const copy = new OffscreenCanvas(c.width, tall).getContext("2d", { willReadFrequently: true });
	copy.drawImage(c, 0, y, c.width, tall, 0, 0, c.width, tall);
	return copy.getImageData(0, 0, c.width, tall).data;
}`

// servedMedians has a browser show two runs under each other: what is drawn at the top of each is the median pass of a stage as passes lists them, and both
// begin at one place on one scale.
func servedMedians(s *served) {
	type passes struct {
		Rows []struct {
			Pass, SourceID int64
			Span           int64 `json:"gpu_span_ns"`
			IsWarmup       bool  `json:"is_warmup"`
		}
	}
	runs := []string{"eager", "sdpa-1"}
	for i, stage := range []string{"prefill", "decode"} {
		var spans []int64
		for _, run := range runs {
			list := asked[passes](s, "query", "passes", run, "--stage", stage).Rows
			var measured []int64
			for _, p := range list {
				if !p.IsWarmup {
					measured = append(measured, p.Span)
				}
			}
			slices.Sort(measured)
			spans = append(spans, measured[(len(measured)-1)/2])
		}
		s.visit("/compare?base="+runs[0]+"&new="+runs[1]+"&pass="+stage, `document.querySelector(".timelines")`)
		eval[bool](s.browser, `(document.querySelector(".timelines").scrollIntoView(), true)`)
		s.await(`document.querySelectorAll(".tl-canvas").length === 2`)
		s.same("passes of "+stage, eval[[]string](s.browser, `[...document.querySelectorAll(".timelines h3")].map((e) => [e.dataset.run, e.dataset.stage, e.dataset.span].join(" "))`),
			[]string{fmt.Sprintf("%s %s %d", runs[0], stage, spans[0]), fmt.Sprintf("%s %s %d", runs[1], stage, spans[1])})
		if got := s.texts(`.timelines [aria-pressed="true"]`); !slices.Equal(got, []string{stage}) {
			s.t.Errorf("the stage chosen is %q, not %s", got, stage)
		}
		// The canvas says where the colour of the stage is: of each the first stretch of it in the line of passes that begins right of the lines' names.
		color := [][3]int{{0x3c, 0x5a, 0x99}, {0xa0, 0x3e, 0x63}}[i]
		const gutter = `Math.min(150, Math.max(96, Math.round(c.width * 0.18)))`
		drawn := fmt.Sprintf(`[...document.querySelectorAll(".tl-canvas")].map((c) => {
			const d = (`+pixels+`)(c, 44, 1), is = (x) => d[4 * x] === %d && d[4 * x + 1] === %d && d[4 * x + 2] === %d, g = %s, zero = Math.round(g + 0.03 / 1.08 * (c.width - g));
			let from = zero + 2, to = from;
			while (from > g && is(from - 1)) from--;
			while (to < c.width && is(to)) to++;
			return [from, to, zero, c.width - g];
		})`, color[0], color[1], color[2], gutter)
		s.await(fmt.Sprintf(`%s.every(([from, to]) => to > from + 10)`, drawn))
		places := eval[[][4]float64](s.browser, drawn)
		for side, at := range places {
			// 108 hundredths of the longer span are as wide as the canvas; the text begins after the first pixels and lies on the colour elsewhere in the line.
			want := float64(spans[side]) / (1.08 * float64(max(spans[0], spans[1]))) * at[3]
			if math.Abs(at[0]-at[2]) > 1 || math.Abs(at[1]-at[0]-want) > 2 {
				s.t.Errorf("%s of %s is drawn from %.0f to %.0f, not %.1f wide from %.0f", stage, runs[side], at[0], at[1], want, at[2])
			}
		}
	}
	// To move one moves both: their axes are one picture.
	const axes = `[...document.querySelectorAll(".tl-canvas")].map((c) => (` + pixels + `)(c, 0, 20).join())`
	before := eval[[]string](s.browser, axes)
	eval[bool](s.browser, `(document.querySelectorAll(".tl-scroll")[1].focus(), true)`)
	s.press("w")
	s.await(`new URL(location.href).searchParams.has("from")`)
	after := eval[[]string](s.browser, axes)
	if before[0] != before[1] || after[0] != after[1] || before[0] == after[0] {
		s.t.Error("the two axes differ, or did not change")
	}
}

// servedRanks has a browser show two ranks under each other: the wait of one for the other in a collective is drawn where the tables and the clock offset of the
// second rank say, which recorded it on a clock 194 ms away.
func servedRanks(s *served) {
	s.p.ok("ingest", "--run", "ranks", exported(s.t, "../ranks/rank0.trace.json.gz"), exported(s.t, "../ranks/rank1.trace.json.gz"))
	within(s.t, patience, "the run of both ranks", func() bool { return call(s.t, "GET", s.base+"/api/v1/runs/ranks", "").status == 200 })
	s.visit("/runs?search=ranks", `document.querySelectorAll(".runs tbody tr").length === 1`)
	if row := s.texts(".runs tbody tr")[0]; !strings.Contains(row, "2 x NVIDIA H200") {
		s.t.Errorf("the run of two GPUs is %q", row)
	}
	type offsets struct {
		Rows []struct {
			Source int64  `json:"source_id"`
			Offset int64  `json:"offset_ns"`
			Basis  string `json:"basis"`
		}
	}
	clocks := asked[offsets](s, "query", "clock-offsets", "ranks").Rows
	if len(clocks) != 2 || clocks[0].Basis != "reference" || clocks[1].Basis != "collectives" || clocks[1].Offset < 1e8 {
		s.t.Fatalf("clocks %v", clocks)
	}
	type collective struct{ start, end int64 }
	collectives := map[int64][]collective{}
	for _, row := range strings.Split(strings.TrimSpace(s.p.sql(`SELECT k.source_id, k.start_ns, k.duration_ns, x.role = 'collective' FROM kernel k JOIN run r USING (run_id) LEFT JOIN kernel_class x USING (run_id, kernel_name_id) WHERE r.name = 'ranks' ORDER BY ALL`)), "\n")[1:] {
		var source, start, long int64
		var is bool
		if _, err := fmt.Sscanf(strings.ReplaceAll(row, ",", " "), "%d %d %d %t", &source, &start, &long, &is); err != nil {
			s.t.Fatalf("%q: %v", row, err)
		}
		start += clocks[source-1].Offset
		if is {
			collectives[source] = append(collectives[source], collective{start, start + long})
		}
	}
	// The second rank comes last to the longest but one: a wait of milliseconds, of which its own kernel is some thousandth.
	slices.SortFunc(collectives[1], func(a, b collective) int { return cmp.Compare(b.end-b.start, a.end-a.start) })
	wait := collectives[1][1]
	i := slices.IndexFunc(collectives[2], func(c collective) bool { return c.start < wait.end && c.end > wait.start })
	if i < 0 || wait.end-wait.start < 1e6 {
		s.t.Fatalf("no collective of rank 1 runs with %v", wait)
	}
	late := collectives[2][i]
	from, to := late.start-(late.end-late.start), late.end+(late.end-late.start)
	s.visit(fmt.Sprintf("/runs/ranks/timeline?from=%d&to=%d", from, to), `document.querySelector(".tl-canvas")`)
	// Of each line of collectives: its first and last pixel of that colour, of those in a row through the middle.
	lines := `(() => {
		const c = document.querySelector(".tl-canvas"), d = (` + pixels + `)(c, 0, c.height), g = Math.min(150, Math.max(96, Math.round(c.width * 0.18))), middle = Math.round(g + (c.width - g) / 2), out = [];
		const is = (x, y) => d[4 * (y * c.width + x)] === 0xe6 && d[4 * (y * c.width + x) + 1] === 0x9f && d[4 * (y * c.width + x) + 2] === 0;
		for (let y = 0, tall = 0; y < c.height; y++) {
			if (is(middle, y) && ++tall === 28) {
				let a = middle, b = middle;
				while (a > g && is(a - 1, y - 8)) a--;
				while (b + 1 < c.width && is(b + 1, y - 8)) b++;
				out.push([a, b + 1, g, c.width]);
			}
			if (!is(middle, y)) tall = 0;
		}
		return out; })()`
	s.await(lines + `.length === 2`)
	wrong := func() (out string) {
		for rank, at := range eval[[][4]float64](s.browser, lines) {
			x := func(ns int64) float64 {
				return min(at[3], max(at[2], at[2]+float64(ns-from)*(at[3]-at[2])/float64(to-from)))
			}
			want := []collective{wait, late}[rank]
			if math.Abs(at[0]-x(want.start)) > 1.5 || math.Abs(at[1]-x(want.end)) > 1.5 {
				out += fmt.Sprintf("the collective of rank %d is drawn from %.0f to %.0f, not from %.1f to %.1f; ", rank, at[0], at[1], x(want.start), x(want.end))
			}
		}
		return out
	}
	for until := time.Now().Add(patience); wrong() != "" && time.Now().Before(until); time.Sleep(50 * time.Millisecond) { // coarser marks are drawn until the fine ones are there
	}
	if w := wrong(); w != "" {
		s.t.Error(w)
	}
	// Of up to two GPUs all lines are open. Of more only the first one's are, so that GPUs are under each other, and threads say whose they are.
	for gpus, want := range map[int]string{
		2: "- GPU 0, - GPU 1, - rank 0, thread 10, - rank 1, thread 11",
		4: "- GPU 0, + GPU 1, + GPU 2, + GPU 3, + rank 0, thread 10, + rank 1, thread 11, + rank 2, thread 12, + rank 3, thread 13",
	} {
		got := eval[string](s.browser, fmt.Sprintf(`(async () => {
			const { groupsOf } = await import("/timeline_rows.js"), { foldedAtFirst } = await import("/timeline_view.js"), all = [...Array(%d).keys()];
			const groups = groupsOf({ sources: [{ source_id: 1 }], tracks: [...all.map((n) => ({ source_id: 1, device: n, kind: "gpu", is_whole: true })), ...all.map((n) => ({ source_id: 1, pid: 10 + n, tid: 10 + n, rank: n, kind: "call" }))] }), folded = foldedAtFirst(groups);
			return groups.map((g) => (folded.includes(g.key) ? "+ " : "- ") + g.label).join(", "); })()`, gpus))
		if got != want {
			s.t.Errorf("of %d GPUs: %s\nnot: %s", gpus, got, want)
		}
	}
}

// servedPopup has a reader click one thing after the other: what is said of it is inside the window and never over the place clicked, at any width.
func servedPopup(s *served) {
	for _, size := range [][2]int{{1400, 900}, {390, 844}} {
		s.screen(size[0], size[1], "light")
		s.visit("/runs/eager/timeline?stage=decode", `document.querySelector(".tl-panel h3")`)
		box := eval[struct{ Left, Top, Width, Height float64 }](s.browser, `(({ left, top, width, height }) => ({ left, top, width, height }))(document.querySelector(".tl-canvas").getBoundingClientRect())`)
		gutter, said := min(150, max(96, box.Width*0.18)), 0
		for y := 42.0; y < min(box.Height, float64(size[1])-box.Top)-10; y += 33 {
			x := box.Left + gutter + (box.Width-gutter)*0.7
			eval[bool](s.browser, `(scrollTo(0, 0), true)`)
			s.clickAt(x, box.Top+y)
			eval[bool](s.browser, `new Promise((done) => setTimeout(() => done(true), 150))`)
			got := eval[*struct {
				Title, Hit string
				Box        [4]float64
			}](s.browser, fmt.Sprintf(`(() => {
				const panel = document.querySelector(".tl-panel"), r = panel.getBoundingClientRect();
				return panel.childElementCount ? { title: panel.querySelector("h3").textContent, hit: document.elementFromPoint(%f, %f - scrollY).className, box: [r.left, r.top, r.right, r.bottom] } : null; })()`, x, box.Top+y))
			if got == nil {
				continue
			}
			if said++; got.Hit != "tl-canvas" || got.Box[0] < 0 || got.Box[1] < 0 || got.Box[2] > float64(size[0])+1 || got.Box[3] > float64(size[1])+1 {
				s.t.Errorf("at %d px, a click at %.0f, %.0f: %q is at %.0f, over %q", size[0], x, box.Top+y, got.Title, got.Box, got.Hit)
			}
			eval[bool](s.browser, `([...document.querySelectorAll(".tl-panel button")].find((b) => b.textContent === "Close").click(), true)`)
		}
		if said < 2 {
			s.t.Errorf("at %d px only %d things were picked", size[0], said)
		}
	}
}
