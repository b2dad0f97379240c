// The timeline of a run, and those of two runs under each other: what is picked, marked and searched, in words, and in the page's address.
import { get, path } from "./api.js";
import { copyButton, el, facts, later, loading, problem } from "./dom.js";
import { heading } from "./run.js";
import { measured } from "./table.js";
import { causes as partsOf, partLabel, partText } from "./terms.js";
import { briefName } from "./timeline_palette.js";
import { groupsOf, sharesClock } from "./timeline_rows.js";
import { Tiles, unpacked } from "./timeline_tiles.js";
import { View, delayText, foldedAtFirst } from "./timeline_view.js";
import { count, momentText, percent, time } from "./times.js";

export const keys = [["w s", "timeline: zoom in, out, as the wheel does"], ["a d", "timeline: earlier, later"], ["Enter", "timeline: details of an item; then zoom to it, as f"], ["m", "timeline: highlight its range"], ["n p", "timeline: next, previous match of the search, or item of the line"], ["↑ ↓", "timeline: the line above or below, of a selection"],
  ["j", "timeline: from work to its launch, from a launch to its work"], ["l", "timeline: launch and work in one view"], ["0", "timeline: all that GPUs do, again for the whole capture"], ["Escape", "timeline: clear the selection"]];

const works = ["kernel", "collective", "graph", "copy"], mostLinks = 300, mostMatches = 1000;

// shortened is a name that fits in two lines.
const shortened = (name) => name?.length > 90 ? briefName(name).slice(0, 90) : name;

// put replaces what a place holds; null is nothing.
const put = (place, ...children) => place.replaceChildren(...children.flat().filter((c) => c !== null));

// styles loads the timeline's style sheets once, which say in which colours it is drawn.
let styled;
const styles = () => styled ??= Promise.all(["/timeline.css", "/timeline_page.css"].map((href) => new Promise((done) => document.head.append(el("link", { rel: "stylesheet", href, onload: done, onerror: done })))));

// besideBox finds a place within a frame for what is said of a box: never over the box, over as little as can be of others that are near it, and not far from it. x is where it would best begin.
function besideBox(box, near, x, { wide, tall }, frame) {
  const all = [box, ...near], far = { left: Math.min(...all.map((b) => b.left)), right: Math.max(...all.map((b) => b.right)), top: Math.min(...all.map((b) => b.top)), bottom: Math.max(...all.map((b) => b.bottom)) };
  const within = (value, low, high) => Math.max(low, Math.min(high, value)), xs = [x, ...[box, far].flatMap((b) => [b.right + 8, b.left - wide - 8])].map((value) => within(value, 0, frame.right - wide));
  const over = (at, b) => Math.max(0, Math.min(at.x + wide, b.right + 2) - Math.max(at.x, b.left - 2)) * Math.max(0, Math.min(at.y + at.high, b.bottom + 2) - Math.max(at.y, b.top - 2));
  let best = { x: xs[0], y: box.bottom + 6, most: 120, cost: Infinity };
  for (const { from = frame.top, to = frame.bottom } of [{ from: box.bottom + 6 }, { from: far.bottom + 6 }, { to: box.top - 6 }, { to: far.top - 6 }, {}]) for (const left of xs) {
    const high = Math.min(tall, to - from), at = { x: left, y: within(box.top, from, to - high), high, most: to - from };
    const cost = 2 * (tall - high) * wide + 20 * near.reduce((sum, b) => sum + over(at, b), 0) + 100 * (Math.abs(left - xs[0]) + Math.max(0, at.y - box.bottom, box.top - at.y - high));
    if (high >= Math.min(tall, 120) && !over(at, box) && cost < best.cost) best = { ...at, cost };
  }
  return best;
}

// homeOf is what is seen first: the work of the GPUs. What a profiler does before and after it may take many times as long.
function homeOf(about, first, last) {
  const from = about.work_begin_ns - about.zero_ns, to = about.work_end_ns - about.zero_ns, edge = (to - from) * 0.02;
  return to > from ? { from: Math.max(first, Math.round(from - edge)), to: Math.min(last, Math.round(to + edge)) } : { from: first, to: last };
}

// Timeline is one run's: its picture, and what is picked in it.
class Timeline {
  constructor(run, source, about, place, changed, look = {}) {
    Object.assign(this, { run, source, about, place, changed, around: [], of: look.isNamed ? `${run}: ` : "" });
    this.shift = new Map(about.sources.map((s) => [s.source_id, s.shift_ns]));
    this.tracks = new Map(about.tracks.map((t) => [t.id, t]));
    this.abort = new AbortController();
    this.readout = el("div", { class: "tl-readout" });
    this.panel = el("div", { class: "tl-panel", role: "group", "aria-label": "What is picked", onkeydown: (e) => { if (e.key === "Escape") this.close(); } });
    const [first, last] = look.bounds ?? [about.begin_ns - about.zero_ns, Math.max(about.begin_ns + 1, about.end_ns) - about.zero_ns];
    const label = `Timeline of ${run}: w and s zoom, a and d move, f zooms to the selection, m highlights its range, n and p step, slash searches, question mark lists the keys`;
    this.view = new View(place, { label, groups: groupsOf(about), tiles: new Tiles(run, source, about), first, last, home: look.home ?? homeOf(about, first, last), most: look.most, wheelNeedsFocus: look.isNamed, partLabel, on: {
      changed: () => this.changed(),
      drawn: (v) => this.drawn(v),
      hovered: (item) => { this.readout.textContent = item ? this.view.tell(item) : ""; },
      picked: (item) => this.pick(item),
      ranged: (range) => this.showRange(range),
      dropped: () => this.drop(),
      stepped: (by) => this.asked && this.step(by),
      said: (text) => { this.readout.textContent = text; },
    } });
    place.append(this.panel, this.readout);
    this.sized = new ResizeObserver(() => this.view.redraw()); // what is said grows as it comes
    this.sized.observe(this.panel);
    this.overview();
  }

  unmount() {
    this.abort.abort();
    this.sized.disconnect();
    this.view.unmount();
  }

  ask(name, params) {
    return get(path("runs", this.run, "queries", name), params, this.abort.signal);
  }

  // ofSource puts a moment of the timeline on the clock of a source, onTimeline the other way.
  ofSource(source, ns) {
    return Math.round(ns) + this.about.zero_ns - this.shift.get(source);
  }

  onTimeline(source, ns) {
    return ns + this.shift.get(source) - this.about.zero_ns;
  }

  async window(from, to, bins) {
    return unpacked(await get(path("runs", this.run, "timeline"), { from_ns: from + this.about.zero_ns, to_ns: to + this.about.zero_ns, bins, source: this.source }, this.abort.signal), this.about.zero_ns, this.view.tiles.nameOf);
  }

  async overview() {
    try {
      this.view.overview = await this.window(Math.floor(this.view.first), Math.ceil(this.view.last), 1024);
      this.view.redraw();
    } catch (err) {
      if (err.name !== "AbortError") this.panel.replaceChildren(problem(err));
    }
  }

  drawn(view) {
    if (view.tiles.error && view.tiles.error !== this.said) {
      this.said = view.tiles.error;
      this.panel.replaceChildren(problem(view.tiles.error), el("button", { type: "button", onclick: () => { this.said = null; this.panel.replaceChildren(); view.tiles.retry(); } }, "Try again"));
    }
    this.told?.(view);
    this.placePanel();
  }

  // placePanel puts what is said of a selection next to it, inside the window. What is said of a stretch of time is beside it, else at the bottom. Nothing else on the page moves. On a narrow
  // screen it is a sheet at the bottom, and the page goes up, once, until what is picked is above it.
  placePanel() {
    const { view, panel } = this, { pick, range } = view;
    if (!panel.childElementCount) return;
    const seen = view.canvas.getBoundingClientRect().top, wide = panel.offsetWidth, tall = panel.scrollHeight + 2, room = view.width - wide;
    if (getComputedStyle(panel).position === "fixed") {
      const raised = `${pick?.track} ${pick?.start} ${tall}`, over = pick && this.raised !== raised ? seen + view.boxOf(pick).bottom + 8 - panel.getBoundingClientRect().top : 0;
      this.raised = raised;
      panel.removeAttribute("style"); // of a wider window
      if (over > 0) scrollBy(0, over);
      return;
    }
    let at;
    if (pick) {
      const near = [...view.links.slice(0, 20).map((l) => l.other), ...this.around.map((track) => ({ ...pick, track }))].map((x) => view.boxOf(x)).filter((box) => box.bottom > box.top);
      at = besideBox(view.boxOf(pick), near, view.x(pick.at) - 16, { wide, tall: Math.min(tall, innerHeight * 0.6) }, { right: view.width, top: Math.max(8 - seen, -view.scroller.offsetTop), bottom: innerHeight - seen - 8 });
    } else {
      const box = view.boxOf({ start: range?.from ?? view.target.from, end: range?.to ?? view.target.from }), beside = [box.right + 8, box.left - wide - 8].find((x) => x >= 0 && x <= room), isAtBottom = range && beside === undefined;
      const most = Math.max(120, isAtBottom ? view.tall * 0.45 : innerHeight - seen - box.bottom - 40);
      at = { x: beside ?? Math.max(0, Math.min(box.left, room)), y: isAtBottom ? view.tall - Math.min(tall, most) : box.bottom + 24, most };
    }
    panel.style.maxHeight = `${Math.min(innerHeight * 0.6, at.most)}px`;
    panel.style.left = `${Math.round(at.x)}px`;
    panel.style.top = `${Math.round(view.scroller.offsetTop + 1 + at.y)}px`;
  }

  // close drops what is picked from within what is said of it.
  close() {
    this.drop();
    this.view.scroller.focus({ preventScroll: true });
  }

  drop() {
    this.leave();
    this.changed();
  }

  // leave forgets what is picked and marked.
  leave() {
    this.view.pick = null;
    this.view.links = [];
    this.view.range = null;
    this.panel.replaceChildren();
    this.view.redraw();
  }

  // pick fixes a mark and asks for all that is known of it.
  async pick(item) {
    if (!item) return this.drop();
    this.began?.();
    const mine = this.view.pick = { ...item, at: Math.max(item.start, Math.min(item.end, this.view.hover?.moment ?? item.start)) }, track = this.tracks.get(item.track), view = this.view;
    view.links = this.around = [];
    view.redraw();
    this.changed();
    const place = el("div", { class: "tl-more", "aria-live": "polite" });
    const title = item.kind === "gap" ? partText(item.name) : item.kind === "pass" ? `${item.name} pass ${item.nth}` : item.name;
    put(this.panel,
      el("h3", {}, this.of, item.count ? `${count(item.count)} ${item.count === 1 ? "item" : "items"} in ${time(item.end - item.start)}` : this.titleOf(item, title)),
      item.count || title.length <= 60 ? null : el("code", { class: "tl-name" }, title),
      el("p", { class: "hint" }, item.count ? `${percent(Math.min(1, item.busy / (item.end - item.start)))} busy; the longest takes ${time(item.longest)}: ${item.name}. Zoom in to see them one by one.`
        : `${time(item.end - item.start)} from ${momentText(item.start, 1)} on ${item.row.group.label}${item.row.kind === "stream" && item.row.label ? `, ${item.row.label}` : ""} (start_ns ${this.ofSource(track.source_id, item.start)}, ${item.end - item.start} ns)`),
      el("div", { class: "controls" }, el("button", { type: "button", onclick: () => view.focus() }, "Zoom to it"), el("button", { type: "button", onclick: () => view.mark() }, "Highlight range"),
        works.includes(item.kind) || item.kind === "call" ? copyButton("Copy name", () => item.name, "Copy the name") : null,
        item.kind === "kernel" || item.kind === "collective" ? el("button", { type: "button", onclick: () => this.search?.(briefName(item.name)) }, "Find others") : null,
        el("button", { type: "button", onclick: () => this.close() }, "Close")),
      place);
    if (item.count) return;
    try {
      if (works.includes(item.kind)) await this.tellWork(item, track, place, mine);
      else if (item.kind === "call") await this.tellCall(item, track, place, mine);
      else if (item.kind === "gap") await this.tellGap(item, track, place, mine);
    } catch (err) {
      if (err.name !== "AbortError" && this.view.pick === mine) place.replaceChildren(problem(err));
    }
  }

  titleOf(item, title) {
    return title.length <= 60 ? title : item.kind === "kernel" || item.kind === "collective" ? briefName(title).slice(0, 80) : title.slice(0, 60) + "…";
  }

  sql(answer) {
    return el("details", { class: "sql" }, el("summary", {}, `Query ${answer.query}`), el("pre", {}, el("code", {}, answer.sql)));
  }

  // callOf is the line of a thread's calls, or another of that thread.
  trackOfThread(source, pid, tid) {
    const of = this.about.tracks.filter((t) => t.source_id === source && t.pid === pid && t.tid === tid);
    return of.find((t) => t.kind === "call") ?? of[0];
  }

  async tellWork(item, track, place, mine) {
    const answer = await this.ask("timeline-work", { of_source: track.source_id, device: track.device, start_time: this.ofSource(track.source_id, item.start), top: 50, format: "texts" });
    if (this.view.pick !== mine) return;
    const row = answer.rows.find((r) => r.duration_ns === item.end - item.start && r.name === item.name && (track.is_whole || (r.stream ?? undefined) === track.stream && (r.pid ?? undefined) === track.pid));
    if (!row) {
      place.replaceChildren(el("p", { class: "hint" }, "The capture has no more of it."));
      return;
    }
    const view = this.view, call = row.launch_start_ns === null ? null : this.trackOfThread(track.source_id, row.pid, row.tid);
    let said = "Its launch was not captured.";
    if (row.launch_start_ns !== null) {
      const start = this.onTimeline(track.source_id, row.launch_start_ns), end = start + row.launch_duration_ns;
      said = `Launched by ${row.api} of thread ${row.tid}${call?.thread ? ` ${call.thread}` : ""}; starts ${delayText({ start, end }, item)}.`;
      if (call) {
        const other = { track: call.id, kind: "call", start, end, name: row.api, count: 0, row: view.rowOf(call.id) ?? { group: view.groups.find((g) => g.tracks.includes(call)), label: "", kind: "call" } };
        view.links = [{ call: other, work: item, other }];
      }
    }
    put(place,
      el("p", { class: "tl-launch" }, said),
      view.links.length ? el("div", { class: "controls" }, el("button", { type: "button", onclick: () => view.goLinked() }, "Go to its launch"), el("button", { type: "button", onclick: () => view.showLinked() }, "Show launch and work")) : null,
      facts([["Stage", row.pass === null ? row.stage : `${row.stage}, pass ${row.pass}`], ["Ranges", row.range], ["Operator", row.operator], ["Grid", row.grid], ["Block", row.block], ["Registers", row.register_count], ["Shared memory", measured(answer, row, "shared_bytes")],
        ["Size", measured(answer, row, "size_bytes")], ["Family", row.family], ["Process", row.pid], ["Context", row.context], ["Stream", row.stream]]),
      this.sql(answer));
    view.redraw();
  }

  async tellCall(item, track, place, mine) {
    const answer = await this.ask("timeline-work", { of_source: track.source_id, pid: track.pid, tid: track.tid, launch_time: this.ofSource(track.source_id, item.start), top: mostLinks });
    if (this.view.pick !== mine) return;
    const view = this.view, all = answer.rows[0]?.work_count ?? 0;
    view.links = answer.rows.flatMap((r) => {
      const of = this.about.tracks.find((t) => t.source_id === track.source_id && !t.is_whole && t.kind === r.lane && t.device === r.device && (t.stream ?? null) === r.stream && (t.pid ?? null) === r.pid && (t.context ?? null) === r.context);
      if (!of) return [];
      const start = this.onTimeline(track.source_id, r.start_ns), other = { track: of.id, kind: r.lane, start, end: start + r.duration_ns, name: r.name, count: 0, row: view.rowOf(of.id) ?? { group: view.groups.find((g) => g.tracks.includes(of)), label: "", kind: "stream" } };
      return [{ call: item, work: other, other }];
    });
    const first = view.links[0]?.other;
    put(place,
      el("p", { class: "tl-launch" }, !first ? "It launched no work on a GPU that the capture has." : `Launched ${all === 1 ? "" : `${count(all)} pieces of work, the first `}${briefName(first.name)}, which starts ${delayText(item, first)}.`),
      first ? el("div", { class: "controls" }, el("button", { type: "button", onclick: () => view.goLinked() }, "Go to its work"), el("button", { type: "button", onclick: () => view.showLinked() }, "Show launch and work")) : null,
      this.sql(answer));
    view.redraw();
  }

  async tellGap(item, track, place, mine) {
    const start = this.ofSource(track.source_id, item.start);
    const answer = await this.ask("timeline-gaps", { of_source: track.source_id, device: track.device, from_time: start, until_time: start + 1, top: 5 });
    if (this.view.pick !== mine) return;
    const row = answer.rows.find((r) => r.start_ns === start), work = (await this.ask("timeline-work", { of_source: track.source_id, device: track.device, start_time: this.ofSource(track.source_id, item.end), top: 5 })).rows.find((r) => r.tid !== null);
    const meanwhile = work ? await this.during(track.source_id, work.pid, work.tid, item) : [];
    if (this.view.pick !== mine) return;
    this.around = work ? this.about.tracks.filter((t) => t.source_id === track.source_id && t.pid === work.pid && t.tid === work.tid && t.kind !== "profiler").map((t) => t.id) : [];
    put(place, facts([...meanwhile, ...row ? [["Before", shortened(row.before)], ["After", shortened(row.after)], ["Stage", row.stage], ["Ranges", row.range]] : []]), this.sql(answer));
  }

  // during says what a thread did in a stretch of time: the calls that it was in longest, and what was open around at least half of it, outermost first.
  async during(source, pid, tid, { start, end }) {
    const marks = await this.window(start, end, 256), long = end - start, own = this.about.tracks.filter((t) => t.source_id === source && t.pid === pid && t.tid === tid);
    const inside = (kind) => own.filter((t) => t.kind === kind).sort((a, b) => (a.depth ?? 0) - (b.depth ?? 0)).flatMap((t) => {
      const m = marks.get(t.id), list = [...m?.start ?? []].flatMap((from, i) => m.count[i] ? [] : [{ name: this.view.tiles.names[m.name[i]], ns: Math.min(m.end[i], end) - Math.max(from, start), all: m.end[i] - from }]).sort((a, b) => b.ns - a.ns);
      return list.slice(0, 1);
    });
    const call = (kind) => inside(kind).filter((x) => x.ns * 10 >= long).map((x) => `${x.name}, ${time(x.ns)} of the gap${x.all > x.ns ? ` (the call takes ${time(x.all)})` : ""}`).join("; ");
    const open = (kind) => inside(kind).filter((x) => x.ns * 2 >= long).map((x) => x.name).join(" > ");
    return [["Meanwhile", `thread ${tid}, which launches the work after`], ["In the call", call("call") || call("library")], ["In the OS call", call("system")], ["CPU stack", open("python")], ["Operators", open("operator")], ["Open ranges", open("range")]];
  }

  // pickAt picks what begins at a time on a track, as an address names it.
  async pickAt(id, start) {
    const track = this.tracks.get(id);
    if (!track || !Number.isFinite(start)) return;
    try {
      const m = (await this.window(start, start + 1, 1)).get(id), i = m ? m.start.indexOf(start) : -1;
      if (i < 0) return;
      this.pick({ track: id, kind: track.kind, start, end: m.end[i], name: this.view.tiles.names[m.name[i]], count: 0, nth: m.nth?.[i], row: this.view.rowOf(id) ?? { group: this.view.groups.find((g) => g.tracks.some((t) => t.id === id)), label: "", kind: "stream" } });
    } catch (err) {
      if (err.name !== "AbortError") this.panel.replaceChildren(problem(err));
    }
  }

  // showPlace shows a place with what is around it, and picks what begins and ends there, or else marks it.
  async showPlace({ source, start, long, device }) {
    const from = this.onTimeline(source, start), to = from + long, edge = long ? long / 2 : 1e6;
    this.view.show(from - edge, to + edge);
    if (!long) return;
    const marks = await this.window(from, from + 1, 1), kinds = ["pass", "gap", ...works, "range", "call"];
    const found = this.about.tracks.filter((track) => track.source_id === source && !track.is_whole && kinds.includes(track.kind) && (device === undefined || track.device === undefined || track.device === device) && marks.get(track.id)?.start.some((s, i) => s === from && marks.get(track.id).end[i] === to))
      .sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind));
    if (found.length) {
      this.view.open(found[0].id);
      await this.pickAt(found[0].id, from);
    } else this.view.setRange(from, to);
  }

  // showRange sums up a stretch of time.
  async showRange(range) {
    this.began?.();
    this.view.pick = null;
    this.view.links = [];
    this.changed();
    if (!range) return this.panel.replaceChildren();
    const mine = this.view.range, long = range.to - range.from, place = el("div", { class: "tl-more", "aria-live": "polite" }, loading("the sums"));
    this.panel.replaceChildren(el("h3", {}, this.of, `${time(long)} from ${momentText(range.from, long / 100)}`),
      el("div", { class: "controls" }, el("button", { type: "button", onclick: () => this.view.show(range.from, range.to, false) }, "Zoom to it"), el("button", { type: "button", onclick: () => this.close() }, "Close")), place);
    const sources = [...new Set(this.about.tracks.filter((t) => t.kind === "gpu").map((t) => t.source_id))].slice(0, 8);
    try {
      const busy = await get(path("runs", this.run, "timeline", "busy"), { from_ns: range.from + this.about.zero_ns, to_ns: range.to + this.about.zero_ns, source: this.source }, this.abort.signal);
      const of = new Map(busy.tracks.map((t) => [t.track, t.busy_ns])), rows = [];
      for (const g of this.view.groups.filter((g) => g.device !== undefined)) {
        const all = of.get(g.tracks.find((t) => t.kind === "gpu")?.id) ?? 0;
        rows.push([g, all, long - all, ...works.map((kind) => of.get(g.tracks.find((t) => t.is_whole && t.kind === kind)?.id) ?? 0)]);
      }
      const sums = await Promise.all(sources.map((s) => this.ask("timeline-sums", { of_source: s, from_time: this.ofSource(s, range.from), until_time: this.ofSource(s, range.to), top: 10 })));
      const gaps = await Promise.all(sources.map((s) => this.ask("timeline-gaps", { of_source: s, from_time: this.ofSource(s, range.from), until_time: this.ofSource(s, range.to), top: 5 })));
      const idle = await Promise.all(sources.map((s) => this.ask("timeline-idle", { of_source: s, from_time: this.ofSource(s, range.from), until_time: this.ofSource(s, range.to) })));
      if (this.view.range !== mine) return;
      const perGPU = (answer, cells) => new Set(answer.rows.map((r) => r.device)).size > 1 ? cells : [];
      const idleOf = (source, device) => rows.find(([g]) => g.source === source && g.device === device)?.[2];
      const used = works.map((kind, i) => [kind, i + 3]).filter(([, i]) => rows.some((r) => r[i]));
      const table = (head, lines) => el("div", { class: "tl-table" }, el("table", {}, el("thead", {}, el("tr", {}, head.map((h, i) => el("th", { class: i ? "n" : null }, h)))), el("tbody", {}, lines.map((l) => el("tr", {}, l.map((x, i) => el("td", { class: i ? "n" : null, title: i ? null : x }, i ? x : shortened(x))))))));
      place.replaceChildren(table(["GPU", "busy", "idle", ...used.map(([k]) => k)], rows.map((r) => [r[0].label, `${time(r[1])} (${percent(r[1] / long)})`, time(r[2]), ...used.map(([, i]) => time(r[i]))])),
        ...idle.flatMap((answer, i) => answer.rows.length ? [table(["idle, by the largest part of each gap", "gaps", "time", "share of idle"], answer.rows.map((r) => [`GPU ${r.device}: ${partText(r.cause)}`, count(r.gap_count), time(r.total_ns), percent(r.total_ns / idleOf(sources[i], r.device))])), this.sql(answer)] : []),
        ...sums.flatMap((answer, i) => answer.rows.length ? [table([sources.length > 1 ? `source ${sources[i]}: most time` : "most time", ...perGPU(answer, ["GPU"]), "calls", "time", "share", "longest"], answer.rows.map((r) => [r.name, ...perGPU(answer, [r.device]), count(r.calls), time(r.total_ns), percent(r.share_ratio ?? 0), time(r.longest_ns)])), this.sql(answer)] : []),
        ...gaps.flatMap((answer) => answer.rows.length ? [table(["longest gaps", "idle", "from"], answer.rows.map((r) => [`GPU ${r.device}: ${partText(r.cause)}, before ${briefName(r.after)}`, `${time(r.inside_ns)}${r.inside_ns < r.duration_ns ? ` of ${time(r.duration_ns)}` : ""}`, momentText(this.onTimeline(sources[gaps.indexOf(answer)], r.start_ns), r.duration_ns / 100)])), this.sql(answer)] : []));
    } catch (err) {
      if (err.name !== "AbortError" && this.view.range === mine) place.replaceChildren(problem(err));
    }
  }

  // find asks where kernels of a name run.
  async find(text) {
    this.asked = text;
    this.view.found = text ? { text: text.toLowerCase(), bins: [] } : null;
    this.view.redraw();
    if (!text) return null;
    const answer = await this.ask("timeline-matches", { name: text, bins: mostMatches, source: this.source });
    if (this.asked !== text) return null;
    this.view.found.bins = answer.rows.map((r) => ({ source: r.source_id, from: this.onTimeline(r.source_id, r.start_ns), to: this.onTimeline(r.source_id, r.end_ns) }));
    this.view.redraw();
    return { calls: answer.rows.reduce((n, r) => n + r.calls, 0), total: answer.rows.reduce((n, r) => n + r.total_ns, 0) };
  }

  // step picks the next match after what is picked, else after the start of the view.
  async step(by) {
    if (!this.asked) return;
    const at = this.view.pick?.start ?? (by > 0 ? this.view.view.from : this.view.view.to), sources = [...new Set(this.view.found.bins.map((b) => b.source))];
    try {
      const answers = await Promise.all(sources.map((s) => this.ask("timeline-next", { name: this.asked, of_source: s, at_time: this.ofSource(s, at), before: by < 0 ? "true" : null })));
      const list = answers.flatMap((a) => a.rows).map((r) => ({ ...r, at: this.onTimeline(r.source_id, r.start_ns) })).sort((a, b) => (a.at - b.at) * by);
      if (!list.length) {
        this.readout.textContent = `No ${by > 0 ? "later" : "earlier"} kernel has ${this.asked} in its name.`;
        return;
      }
      const r = list[0], track = this.about.tracks.find((t) => !t.is_whole && (t.kind === "kernel" || t.kind === "collective") && t.source_id === r.source_id && t.device === r.device && (t.stream ?? null) === r.stream && (t.pid ?? null) === r.pid && (t.context ?? null) === r.context);
      if (!track) return;
      const long = this.view.target.to - this.view.target.from, near = Math.max(r.duration_ns * 40, 20000);
      if (long > near * 50) this.view.show(r.at - near / 2, r.at + near / 2, false);
      this.view.go({ track: track.id, kind: track.kind, start: r.at, end: r.at + r.duration_ns, name: r.name, count: 0, row: this.view.rowOf(track.id) ?? { group: this.view.groups.find((g) => g.tracks.includes(track)), label: "", kind: "stream" } });
    } catch (err) {
      if (err.name !== "AbortError") this.readout.textContent = err.message;
    }
  }
}

// locate finds the place that an address names: at=SOURCE,START,LENGTH by the clock of the source, a measured pass of a stage, or the longest gap in a stage's passes of one cause.
// It gives { source, start, long, device }, or null where there is none.
async function locate(t, query) {
  const [source, start, long = 0] = numbers(query.get("at")), device = query.get("device"), stage = query.get("stage"), causes = partsOf[query.get("cause")] ?? [];
  if (start !== undefined) return t.shift.has(source) ? { source, start, long, device: device === null ? undefined : Number(device) } : null;
  if (!stage && !causes.length) return null;
  const nth = query.get("pass"), isOf = (r) => t.shift.has(r.source_id);
  const passes = !stage ? [] : (await t.ask("timeline-passes", { blocks: 1e12, device, source: t.source })).rows.filter((r) => r.stage === stage && r.passes === 1 && isOf(r) && (nth === null ? !r.is_warmup : r.pass === Number(nth)));
  if (causes.length) {
    const isIn = (g) => passes.some((r) => r.source_id === g.source_id && r.device === g.device && r.start_ns <= g.start_ns && r.end_ns >= g.start_ns + g.duration_ns);
    const gap = (await t.ask("longest-gaps", { stage, device, source: t.source, top: 2000 })).rows.find((g) => causes.includes(g.cause) && isOf(g) && (!stage || isIn(g)));
    if (gap) return { source: gap.source_id, start: gap.start_ns, long: gap.duration_ns, device: gap.device };
  }
  const [r] = passes.sort((a, b) => b.span_ns - a.span_ns || a.source_id - b.source_id || a.start_ns - b.start_ns);
  return r ? { source: r.source_id, start: r.start_ns, long: r.end_ns - r.start_ns, device: r.device } : null;
}

const places = ["at", "stage", "device", "pass", "cause"];

const numbers = (text) => /^-?\d+(,-?\d+)*$/.test(text ?? "") ? text.split(",").map(Number) : [];
// about asks what a timeline consists of. Its times count from zero_ns: the start of the capture, as those of queries do.
const about = async (run, source, signal) => ({ zero_ns: 0, ...await get(path("runs", run, "timeline", "about"), { source }, signal) });

export function mount(root, route, nav) {
  const run = route.path.run, source = route.query.get("source") ?? "", stop = new AbortController();
  let t = null;
  const place = el("div", { class: "tl" }), shown = el("span", { class: "tl-shown", role: "status" }), matches = el("output", { class: "hint" });
  const search = el("input", { type: "search", placeholder: "Find a kernel", "aria-label": "Find kernels by name", data: { search: "" }, value: route.query.get("find") ?? "" });
  const act = (label, spoken, call) => el("button", { type: "button", "aria-label": spoken, title: spoken, onclick: () => { if (t) call(t.view); } }, label);
  root.append(...heading(nav, run, "timeline"),
    el("div", { class: "controls tl-controls" }, act("+", "Zoom in", (v) => v.zoom(0.5)), act("−", "Zoom out", (v) => v.zoom(2)), act("◀", "Earlier", (v) => v.move(-0.25)), act("▶", "Later", (v) => v.move(0.25)), act("All", "Show all that GPUs do; again for the whole capture", (v) => v.showAll()), shown,
      el("span", { class: "spring" }), search, el("button", { type: "button", title: "Previous match", "aria-label": "Previous match", onclick: () => t?.step(-1) }, "↑"), el("button", { type: "button", title: "Next match", "aria-label": "Next match", onclick: () => t?.step(1) }, "↓"), matches),
    place);
  place.append(loading("the timeline"));
  const note = later(300, () => {
    if (!t) return;
    const v = t.view, isHome = v.isHome(), first = foldedAtFirst(v.groups), folds = v.groups.filter((g) => v.folded.has(g.key) !== first.includes(g.key)).map((g) => g.key);
    nav.replace({ from: isHome ? null : Math.round(v.target.from), to: isHome ? null : Math.round(v.target.to), pick: v.pick && !v.pick.count ? `${v.pick.track},${v.pick.start}` : null, range: v.range ? `${v.range.from},${v.range.to}` : null, ...Object.fromEntries(places.map((name) => [name, null])), find: t.asked || null, fold: folds.join(" ") || null, source });
  });
  const find = async (text) => {
    matches.textContent = "";
    try {
      const found = await t.find(text);
      if (found) matches.textContent = found.calls ? `${count(found.calls)} calls, ${time(found.total)}` : "no kernel";
    } catch (err) {
      if (err.name !== "AbortError") matches.textContent = err.message;
    }
    note();
  };
  const findLater = later(250, () => find(search.value.trim()));
  search.addEventListener("input", () => { if (t) findLater(); });
  search.addEventListener("keydown", (e) => {
    if (e.key === "Enter") { e.preventDefault(); t?.step(e.shiftKey ? -1 : 1); }
    if (e.key === "Escape") { e.preventDefault(); t?.view.scroller.focus(); }
  });
  (async () => {
    try {
      const [answer] = await Promise.all([about(run, source, stop.signal), styles()]);
      if (stop.signal.aborted) return;
      if (!answer.tracks.length) {
        place.replaceChildren(el("p", {}, "This run has no timeline."));
        return;
      }
      place.replaceChildren();
      t = new Timeline(run, source, answer, place, note);
      t.search = (text) => { search.value = text; find(text); };
      const apart = answer.sources.length > 1 ? answer.sources.filter((s) => !sharesClock(s)).map((s) => s.source_id) : [];
      const clock = answer.sources.length === 1 ? "the capture" : apart.length + 1 >= answer.sources.length ? "each capture" : `the capture of source ${(answer.sources.find((s) => s.basis === "reference") ?? answer.sources[0]).source_id}`;
      t.told = ({ target: { from, to } }) => { shown.textContent = `${momentText(from, (to - from) / 1000)} to ${momentText(to, (to - from) / 1000)} of ${clock}: ${time(to - from)}`; };
      if (apart.length) root.append(el("p", { class: "note" }, `Times of source${apart.length > 1 ? "s" : ""} ${apart.join(", ")} count from ${apart.length > 1 ? "their own starts" : "its own start"}: there are no collectives to align the clocks of the sources by.`));
      for (const words of answer.notes ?? []) root.append(el("p", { class: "note" }, words));
      const q = route.query, from = numbers(q.get("from"))[0], to = numbers(q.get("to"))[0], [a, b] = numbers(q.get("range")), [track, start] = numbers(q.get("pick"));
      let found = null;
      for (const key of (q.get("fold") ?? "").split(" ").filter(Boolean)) if (t.view.groups.some((g) => g.key === key)) t.view.fold(key);
      if (to > from) t.view.show(from, to);
      if (b > a) t.view.setRange(a, b);
      else if (start !== undefined) t.pickAt(track, start);
      else if (places.some((name) => q.has(name))) {
        found = await locate(t, q);
        if (found) await t.showPlace(found);
        else t.readout.textContent = "The capture has no such place: all is shown.";
      }
      if (!search.value) return;
      await find(search.value.trim());
      if (found) t.step(1);
    } catch (err) {
      if (err.name !== "AbortError") place.replaceChildren(problem(err));
    }
  })();
  return () => {
    stop.abort();
    note.stop();
    findLater.stop();
    t?.unmount();
  };
}

// medianPasses gives of each stage the measured pass with the median span on a GPU, of all sources and GPUs.
async function medianPasses(run, signal) {
  const { rows } = await get(path("runs", run, "queries", "timeline-passes"), { blocks: 1e12 }, signal), stages = new Map();
  for (const r of rows) if (!r.is_warmup && r.passes === 1) (stages.get(r.stage) ?? stages.set(r.stage, []).get(r.stage)).push(r);
  for (const [stage, list] of stages) stages.set(stage, list.sort((a, b) => a.span_ns - b.span_ns || a.source_id - b.source_id || a.start_ns - b.start_ns)[(list.length - 1) >> 1]);
  return stages;
}

// fromPass is a timeline with the start of a pass for its zero, without sources whose clocks say nothing of that pass.
function fromPass(about, pass) {
  if (!pass) return { ...about, zero_ns: about.work_begin_ns };
  const own = about.sources.find((s) => s.source_id === pass.source_id), sources = about.sources.filter((s) => s === own || sharesClock(s) && sharesClock(own)), ids = sources.map((s) => s.source_id);
  return { ...about, sources, tracks: about.tracks.filter((t) => ids.includes(t.source_id)), zero_ns: pass.start_ns + own.shift_ns, begin_ns: Math.min(...sources.map((s) => s.begin_ns)), end_ns: Math.max(...sources.map((s) => s.end_ns)) };
}

// mountCompare shows two runs under each other, each from the start of its median pass of a stage and on one scale; to move one moves both.
export function mountCompare(root, asked, nav) {
  const stop = new AbortController(), picks = el("div", { class: "chips", role: "group", "aria-label": "stage" }), place = el("div", { class: "tl" });
  let shown = [], isMoving = false;
  place.append(loading("the timelines"));
  root.append(picks, place);
  const note = later(300, () => {
    const v = shown[0]?.view;
    if (v) nav.replace({ from: v.isMoved ? Math.round(v.target.from) : null, to: v.isMoved ? Math.round(v.target.to) : null });
  });
  const clear = () => {
    for (const t of shown) t.unmount();
    shown = [];
    place.replaceChildren();
  };
  const draw = (sides, stage, from, to) => {
    clear();
    const list = sides.map((s) => ({ ...s, pass: s.passes.get(stage) ?? null })).map((s) => ({ ...s, of: fromPass(s.about, s.pass) }));
    const long = Math.max(...list.map((s) => s.pass?.span_ns ?? s.of.end_ns - s.of.zero_ns));
    const bounds = [Math.min(0, ...list.map((s) => s.of.begin_ns - s.of.zero_ns)), Math.max(1, ...list.map((s) => s.of.end_ns - s.of.zero_ns))]; // of both: a scale is never cut to one of them
    const homes = list.map((s) => homeOf(s.of, ...bounds)), home = { from: Math.min(...homes.map((h) => h.from)), to: Math.max(...homes.map((h) => h.to)) };
    for (const { run, of, pass, about } of list) {
      const box = el("div", { class: "tl-side" });
      place.append(el("h3", { data: pass ? { run, stage, pass: pass.pass, source: pass.source_id, span: pass.span_ns } : { run } }, run, pass ? ` · ${stage} pass ${pass.pass}${about.sources.length > 1 ? ` of source ${pass.source_id}` : ""}, ${time(pass.span_ns)}` : " · from its first work"), box);
      const t = new Timeline(run, "", of, box, () => {
        if (isMoving) return;
        isMoving = true;
        for (const other of shown) if (other !== t) other.view.show(t.view.target.from, t.view.target.to, t.view.view === t.view.target);
        isMoving = false;
        note();
      }, { most: "38vh", bounds, home, isNamed: true });
      t.began = () => { for (const other of shown) if (other !== t) other.leave(); };
      shown.push(t);
    }
    for (const t of shown) t.view.show(from ?? -long * 0.03, to ?? long * 1.05);
    for (const t of shown) t.view.isMoved = from !== undefined; // to show one moves the other
  };
  (async () => {
    try {
      const sides = await Promise.all([asked.base, asked.new].map(async (run) => ({ run, about: await about(run, "", stop.signal), passes: await medianPasses(run, stop.signal) })));
      await styles();
      if (stop.signal.aborted) return;
      const stages = [...sides[0].passes.keys()].filter((s) => sides[1].passes.has(s)), q = asked.query, from = numbers(q.get("from"))[0], to = numbers(q.get("to"))[0];
      const pick = (stage) => { for (const b of picks.children) b.setAttribute("aria-pressed", b.value === stage); };
      if (stages.length > 1) picks.append(...stages.map((stage) => el("button", { type: "button", class: "chip", value: stage, onclick: () => { nav.replace({ pass: stage, from: null, to: null }); pick(stage); draw(sides, stage); } }, stage)));
      const stage = [q.get("pass"), asked.stage, stages[0]].find((s) => stages.includes(s));
      pick(stage);
      draw(sides, stage, ...(to > from ? [from, to] : []));
    } catch (err) {
      if (err.name !== "AbortError") place.replaceChildren(problem(err));
    }
  })();
  return () => {
    stop.abort();
    note.stop();
    clear();
  };
}
