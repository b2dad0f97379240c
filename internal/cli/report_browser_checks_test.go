package cli

import (
	"fmt"
	"slices"
	"strings"
)

// pageIsDrawn holds that the timeline is there, what it says that it shows, and that every column of every table can be sorted.
func pageIsDrawn(b *browser, page string) {
	b.open(page)
	for selector, least := range map[string]int{
		"#timeline-plot canvas": 2, "figure.bars .bar": 4, "table.sortable tbody tr": 50,
	} {
		if n := eval[int](b, fmt.Sprintf("document.querySelectorAll(%q).length", selector)); n < least {
			b.t.Errorf("the page has %d of %s, not %d", n, selector, least)
		}
	}
	if n := eval[int](b, `[...document.querySelectorAll("th[scope=col]")].filter((th) => !th.querySelector("button")).length`); n != 0 {
		b.t.Errorf("%d columns cannot be sorted", n)
	}
	// Lines of the canvas in which the colour of their kind is seen: as many as there are GPUs and more.
	for kind, color := range map[string]string{"kernels": "0,114,178", "collectives": "230,159,0", "prefill": "60,90,153", "decode": "160,62,99"} {
		if n := eval[int](b, fmt.Sprintf(`(() => { const v = timeline.view, pixels = `+pixels+`;
			return v.groups.flatMap((g) => g.shown).filter((r) => r.label === %q && pixels(v.canvas, r.y - v.top, r.height).some((_, i, d) => i %% 4 === 0 && d.slice(i, i + 3).join() === %q)).length; })()`, kind, color)); n != 2 {
			b.t.Errorf("%d lines of %s are drawn, not 2", n, kind)
		}
	}
	if n := eval[int](b, `timeline.tiles.tracks.filter((t) => t.kind === "pass").reduce((n, t) => n + t.list.length, 0)`); n < 12 {
		b.t.Errorf("%d passes are drawn", n)
	}
	showsAll(b)
}

// pageSorts holds the order of a column of numbers and of one of texts after one click and after two: no row is lost, and unknown numbers
// stay last.
func pageSorts(b *browser, page string) {
	b.open(page)
	unfold(b)
	const table = `document.querySelector("#section-top-kernels table")`
	cells := func(column string) []string {
		return eval[[]string](b, fmt.Sprintf(`(() => { const at = [...%s.tHead.rows[0].cells].findIndex((th) => th.dataset.name === %q);
			return [...%[1]s.tBodies[0].rows].map((r) => { const c = r.cells[at]; return c.dataset.s ?? (c.querySelector(".full") ?? c).textContent; }); })()`, table, column))
	}
	for _, c := range []struct {
		column, first string // how it is sorted by the first click
		isOrdered     string // whether b may follow a when it is sorted ascending
	}{
		{"median_ns", "descending", `(a, b) => Number(a) <= Number(b)`},
		{"kernel", "ascending", `(a, b) => a.localeCompare(b) <= 0`},
	} {
		head := fmt.Sprintf(`%s.querySelector("th[data-name=%s]")`, table, c.column)
		before := cells(c.column)
		var orders [2][]string
		for i := range orders {
			b.click(head + `.querySelector("button")`)
			orders[i] = cells(c.column)
			want := c.first
			if i == 1 {
				want = map[string]string{"ascending": "descending", "descending": "ascending"}[c.first]
			}
			if got := eval[string](b, head+`.getAttribute("aria-sort")`); got != want {
				b.t.Errorf("%s: click %d says that it is sorted %q, not %q", c.column, i+1, got, want)
			}
			upwards := slices.Clone(orders[i])
			if want == "descending" {
				slices.Reverse(upwards)
			}
			if !eval[bool](b, fmt.Sprintf(`((list, isOrdered) => list.every((v, i) => i === 0 || isOrdered(list[i - 1], v)))(%s, %s)`, asJSON(b.t, upwards), c.isOrdered)) {
				b.t.Errorf("%s: click %d does not sort %s: %q", c.column, i+1, want, orders[i])
			}
			kept := slices.Sorted(slices.Values(orders[i]))
			if !slices.Equal(kept, slices.Sorted(slices.Values(before))) {
				b.t.Errorf("%s: click %d has changed the cells themselves", c.column, i+1)
			}
		}
		if len(before) < 5 || slices.Equal(orders[0], orders[1]) {
			b.t.Errorf("%s: both orders of %d rows are the same", c.column, len(before))
		}
	}
}

// pageSearches holds that a table shows the rows with all words, says how many these are, and shows all again.
func pageSearches(b *browser, page string) {
	b.open(page)
	unfold(b)
	const section = `document.querySelector("#section-stage-kernels")`
	shown := func() []string {
		return eval[[]string](b, `[...`+section+`.querySelectorAll("tbody tr")].filter((r) => r.checkVisibility()).map((r) => r.textContent)`)
	}
	all := shown()
	b.click(section + `.querySelector(".find input")`)
	b.call("Input.insertText", map[string]any{"text": "NCCL allreduce"}, nil)
	found, said := shown(), eval[string](b, section+`.querySelector(".find output").textContent`)
	if len(found) == 0 || len(found) >= len(all) || slices.ContainsFunc(found, func(s string) bool {
		s = strings.ToLower(s)
		return !strings.Contains(s, "nccl") || !strings.Contains(s, "allreduce")
	}) {
		b.t.Errorf("of %d rows a search shows %q", len(all), found)
	}
	if want := fmt.Sprintf("%d of %d rows", len(found), len(all)); !strings.HasPrefix(said, want) {
		b.t.Errorf("a search says %q, not %q", said, want)
	}
	eval[bool](b, `(() => { const i = `+section+`.querySelector(".find input"); i.value = ""; return i.dispatchEvent(new Event("input")); })()`)
	if again := shown(); !slices.Equal(again, all) {
		b.t.Errorf("without words %d of %d rows are shown", len(again), len(all))
	}
}

// pageCopies holds that the button beside a query puts its SQL on the clipboard and says so.
func pageCopies(b *browser, page string) {
	b.open(page)
	session := b.session
	b.session = "" // permissions are the browser's
	b.call("Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}}, nil)
	b.session = session
	b.call("Page.bringToFront", nil, nil)
	const details = `document.querySelector("#section-stages details.sql")`
	b.click(details + ".firstElementChild")
	b.click(details + `.querySelector("button")`)
	said := eval[string](b, `(async () => { for (let i = 0; i < 50; i++) { const t = `+details+`.querySelector("button").textContent; if (t !== "Copy") return t; await new Promise((done) => setTimeout(done, 20)); } return "Copy"; })()`)
	if said != "Copied" {
		b.t.Errorf("the button says %q", said)
	}
	want := eval[string](b, details+`.querySelector("code").textContent`)
	if got := eval[string](b, "navigator.clipboard.readText()"); got != want || !strings.HasPrefix(want, "FROM stages_v") {
		b.t.Errorf("the clipboard holds %q, not %q", got, want)
	}
}

// unfold opens the sections.
func unfold(b *browser) {
	eval[int](b, `[...document.querySelectorAll("details.part")].map((d) => d.open = true).length`)
}

// pageUnfolds holds that tables are behind a click but for the stages, and that an address and paper open them.
func pageUnfolds(b *browser, page string) {
	b.open(page)
	const open = `[...document.querySelectorAll("details.part")].filter((d) => d.open).map((d) => d.id).join(" ")`
	if parts, got := eval[int](b, `document.querySelectorAll("details.part").length`), eval[string](b, open); parts < 10 || got != "" || !eval[bool](b, `document.querySelector("#section-stages table").checkVisibility()`) {
		b.t.Errorf("of %d sections %q are open, or the stages are not", parts, got)
	}
	b.click(`document.querySelector("nav a[href='#section-gaps']")`)
	b.settle()
	if got := eval[string](b, open); got != "section-gaps" {
		b.t.Errorf("its link opens %q", got)
	}
	if n := eval[int](b, `(() => { dispatchEvent(new Event("beforeprint")); const n = document.querySelectorAll("details.part:not([open])").length; dispatchEvent(new Event("afterprint")); return n; })()`); n != 0 || eval[string](b, open) != "section-gaps" {
		b.t.Errorf("on paper %d sections are folded, then %q are open", n, eval[string](b, open))
	}
}

// pageFits holds that the page is nowhere wider than its window, no table moves sideways on a desk, and that nothing of it stays over its text unasked, in light and dark, on desks and phones, with all that it folds away open.
func pageFits(b *browser, page string) {
	b.open(page)
	b.screen(1400, 900, "light")
	eval[int](b, `[...document.querySelectorAll("details:not(.name)")].map((d) => d.open = true).length`)
	b.settle()
	if wide := eval[[]string](b, `[...document.querySelectorAll(".wide")].filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.ariaLabel + " " + e.scrollWidth)`); len(wide) > 0 {
		b.t.Errorf("tables are wider than a page of 1400 pixels: %q", wide)
	}
	eval[int](b, `[...document.querySelectorAll("details")].map((d) => d.open = true).length`)
	grounds := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int{1600, 1200, 768, 375} {
			b.screen(width, 800, scheme)
			b.settle()
			if wide := eval[int](b, "Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)"); wide > width {
				b.t.Errorf("on %d pixels (%s) the page is %d wide: %s", width, scheme, wide, eval[string](b, fmt.Sprintf(`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > %d &&
					!e.closest(".wide, pre, svg")).slice(0, 3).map((e) => e.outerHTML.slice(0, 120)).join(" ")`, width)))
			}
			if over := eval[string](b, `[...document.querySelectorAll(".top, .reading")].filter((e) => ["fixed", "sticky"].includes(getComputedStyle(e).position) &&
				e.getBoundingClientRect().right > document.getElementById("main").getBoundingClientRect().left).map((e) => e.className).join(" ")`); over != "" {
				b.t.Errorf("on %d pixels %s covers what is below it", width, over)
			}
			grounds[eval[string](b, "getComputedStyle(document.body).backgroundColor")] = true
		}
	}
	if len(grounds) != 2 {
		b.t.Errorf("light and dark have the grounds %v", grounds)
	}
}

// pageNeedsNoScript holds that tables and figures are there without the script, and that the page says what is not.
func pageNeedsNoScript(b *browser, page string) {
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	defer b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	b.open(page)
	unfold(b)
	if n := eval[int](b, `document.querySelectorAll("th button, .find").length`); n != 0 {
		b.t.Fatalf("the script ran: there are %d of its buttons", n)
	}
	const shown = `[...document.querySelectorAll(%q)].filter((e) => e.checkVisibility() && e.getBoundingClientRect().width > 0).length`
	for selector, least := range map[string]int{"#glance": 1, "figure.bars svg rect.piece": 10, "#section-stage-kernels figure svg": 2, "#section-accounting tbody tr": 10, "#section-top-kernels tbody tr": 5, "#timeline noscript p": 1, "#timeline .still .part-kernel": 2, "#timeline .still .part-launch-call": 2} {
		if n := eval[int](b, fmt.Sprintf(shown, selector)); n < least {
			b.t.Errorf("without its script the page shows %d of %s, not %d", n, selector, least)
		}
	}
	if n := eval[int](b, fmt.Sprintf(shown, "#timeline-figure")); n != 0 {
		b.t.Error("the empty timeline is shown")
	}
}
