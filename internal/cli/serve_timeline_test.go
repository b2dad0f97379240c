package cli

import (
	"fmt"
	"strings"
)

// servedTimeline has a browser move the timeline by keys, pick a kernel, follow it to its launch, search and mark a stretch; what it says is
// what the warehouse has.
func servedTimeline(s *served) {
	var kernel struct{ at, long, launch int64 }
	row := strings.Split(s.p.sql(`WITH work AS (SELECT k.start_ns FROM kernel k JOIN run r USING (run_id) WHERE r.name = 'eager' UNION ALL SELECT m.start_ns FROM memop m JOIN run r USING (run_id) WHERE r.name = 'eager')
		SELECT k.start_ns - (SELECT min(start_ns) FROM work) AS begin_ns, k.duration_ns, k.launch_start_ns - k.start_ns AS launch_ns FROM kernel k JOIN run r USING (run_id)
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
	s.await(fmt.Sprintf(`await (async () => {
		const c = document.querySelector(".tl-canvas"), r = c.getBoundingClientRect(), gutter = Math.min(150, Math.max(76, Math.round(r.width * 0.18)));
		for (let y = 30; y < r.height; y += 4) {
			const at = { clientX: r.left + gutter + (r.width - gutter) * 0.5, clientY: r.top + y, pointerId: 1, bubbles: true, pointerType: "mouse" };
			for (const type of ["pointermove", "pointerdown", "pointerup"]) c.dispatchEvent(new PointerEvent(type, at));
			const said = document.querySelector(".tl-panel").innerText;
			if (said.includes(", %d ns)") && said.includes("stream")) return true;
			document.querySelector(".tl-scroll").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
		}
		return false; })()`, kernel.long))
	s.await(`document.querySelector(".tl-launch") !== null`)
	text := eval[string](s.browser, fmt.Sprintf(`import("/format.js").then((f) => f.time(%d))`, -kernel.launch))
	if got := panel(); !strings.Contains(got, "starts "+text+" after the call began") {
		s.t.Errorf("of a kernel whose launch began %s before it the page says %q", text, got)
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
}
