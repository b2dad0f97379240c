// The timeline of a report: what is picked in it and read, in words, and the page's address.
import { Embedded, cutText } from "./timeline_embedded.js";
import { firstFrom } from "./timeline_marks.js";
import { View, delayText } from "./timeline_view.js";
import { count, momentText, percent, time } from "./times.js";

class ReportTimeline {
  constructor(data) {
    const id = (name) => document.getElementById(`timeline-${name}`);
    Object.assign(this, { figure: id("figure"), readout: id("readout"), shown: id("view"), panel: id("pick"), help: id("keys"), begin: data.begin, from: data.from, until: data.until, tiles: new Embedded(data) });
    this.figure.hidden = false;
    const plot = id("plot"), whole = { from: data.from, to: data.until };
    this.view = new View(plot, {
      label: `Timeline of ${plot.dataset.spoken}: arrow keys move, plus and minus zoom, 0 shows all, n and p step through what is drawn, question mark lists the keys`,
      groups: this.tiles.groups, tiles: this.tiles, first: data.begin, last: data.until, home: whole, most: "1e6px", partLabel: this.tiles.partLabel, wheelNeedsFocus: true, describedBy: "timeline-help",
      on: {
        changed: () => this.note(),
        drawn: () => this.tellView(),
        hovered: (_, moment, group) => { if (moment !== undefined && group) this.readAt(moment, [group]); },
        picked: (item, isStep) => item ? this.pick(item, isStep) : this.drop(),
        ranged: (range) => { this.readout.textContent = range ? `${time(range.to - range.from)} from ${momentText(range.from, (range.to - range.from) / 100)}` : ""; },
        dropped: () => this.drop(),
        said: (text) => { this.readout.textContent = text; },
        helped: () => this.showHelp(),
        acted: () => this.readMiddle(),
      },
    });
    this.view.overview = this.tiles.marks;
    this.view.draw();
    const v = this.view, acts = { in: () => v.zoom(0.5), out: () => v.zoom(2), left: () => v.move(-0.25), right: () => v.move(0.25), all: () => v.showAll() };
    for (const button of this.figure.querySelectorAll("[data-act]")) button.addEventListener("click", () => { acts[button.dataset.act](); this.readMiddle(); });
    const picks = { zoom: () => v.focus(), jump: () => v.goLinked(), link: () => v.showLinked(), close: () => { this.drop(); v.scroller.focus({ preventScroll: true }); }, copy: (button) => copyBy(button, "Copy name", this.panel.querySelector("code").textContent) };
    for (const button of this.panel.querySelectorAll("[data-pick]")) button.addEventListener("click", () => picks[button.dataset.pick](button));
    this.watchAddress();
  }

  tellView() {
    const { from, to } = this.view.target, text = `${momentText(from, (to - from) / 1000)} to ${momentText(to, (to - from) / 1000)} of the capture: ${time(to - from)}`;
    if (this.shown.textContent !== text) this.shown.textContent = text;
  }

  // readAt says what is at a moment in the groups given.
  readAt(moment, groups) {
    const slack = this.view.pixel(), said = [momentText(moment, slack)];
    for (const group of groups) {
      const items = group.rows.map((row) => this.view.itemOn(row, moment, slack)).filter((item) => item);
      said.push(`${group.label}: ${items.length ? items.map(this.tiles.tell).join("\n    ") : "nothing of what is drawn"}`);
    }
    this.readout.textContent = said.join("\n");
  }

  readMiddle() {
    const { from, to } = this.view.target;
    this.view.hover = { moment: (from + to) / 2 };
    this.readAt(this.view.hover.moment, this.view.groups);
    this.view.redraw();
  }

  // pick fixes an item: it stays outlined, and its whole name is there to copy.
  pick(item, isStep) {
    const [track, x] = this.tiles.thing(item), tied = this.tiles.tiedTo(item), isCall = track.kind === "call", view = this.view;
    view.pick = item;
    view.links = tied.map((other) => ({ call: isCall ? item : other, work: isCall ? other : item, other }));
    this.panel.hidden = false;
    for (const button of this.panel.querySelectorAll("[data-tied]")) button.hidden = !tied.length;
    this.panel.querySelector("[data-pick=jump]").textContent = isCall ? "Go to its work" : "Go to its launch";
    this.panel.querySelector(".facts-of").textContent = `${track.facts ? track.facts(x) : track.tell(x)}\n` +
      `${time(item.end - item.start)} from ${momentText(item.start, 1)} (start_ns ${item.start + track.row.group.zero} of its source, ${item.end - item.start} ns)${this.launchText(item, track, x)}`;
    this.panel.querySelector("code").textContent = track.name(x);
    view.pointed = track.row;
    if (isStep) {
      const starts = track.row.tracks.map((t) => this.tiles.marks.get(t.id).start), before = starts.reduce((n, s) => n + firstFrom(s, item.start), 0), all = starts.reduce((n, s) => n + s.length, 0);
      this.readout.textContent = `${track.tell(x)} (${before + 1} of ${all} on this line)`;
    }
    view.redraw();
  }

  // launchText says of what is picked how its launch and its work follow each other.
  launchText(item, track, x) {
    const links = this.view.links;
    if (!links.length) return track.isWork && this.tiles.callOf.size ? "\nIts launch is not in the page." : track.isLaunch?.(x) ? "\nWhat it launched is not in the page." : "";
    const [{ call, work }] = links, delay = delayText(call, work);
    if (track.kind !== "call") return `\nLaunched by ${call.name} of ${call.row.group.label}; starts ${delay}`;
    const last = links.reduce((end, l) => Math.max(end, l.work.end), -Infinity);
    return `\nLaunched ${links.length === 1 ? "" : `${count(links.length)} pieces of work, the first `}${cutText(work.name, 110)}, which starts ${delay}` +
      (links.length === 1 ? "" : `\nAll its work has run ${time(last - call.start)} after the call began`);
  }

  drop() {
    Object.assign(this.view, { pick: null, links: [], range: null });
    this.panel.hidden = true;
    this.view.redraw();
  }

  // showHelp opens what is said of the keys.
  showHelp() {
    this.help.open = true;
    this.help.querySelector("summary").focus();
  }

  // watchAddress has the view follow addresses such as #timeline=1000,2000, which name nanoseconds from the first work.
  watchAddress() {
    const follow = (address) => {
      if (!address.startsWith("#timeline=")) return false;
      this.figure.parentElement.scrollIntoView();
      const [, a, b] = /^#timeline=(-?\d+),(-?\d+)$/.exec(address) ?? [], from = Math.min(a, b), to = Math.max(a, b);
      if (!(to > from)) {
        this.readout.textContent = `The address ends in ${cutText(address, 60)}, which names no stretch of time: #timeline=1000,2000 shows from 1,000 to 2,000 ns.`;
        return false;
      }
      this.view.show(from, to);
      this.view.draw();
      this.readMiddle();
      if (from > this.until || to < this.begin) this.readout.textContent = `The address names a stretch beside the capture, which has work from ${count(this.from)} to ${count(this.until)} ns: what is nearest is shown.\n${this.readout.textContent}`;
      return true;
    };
    follow(location.hash);
    addEventListener("hashchange", () => follow(location.hash));
    document.addEventListener("click", (e) => { // one that the address names already is no change
      const link = e.target.closest?.('a[href^="#timeline="]');
      if (link && follow(link.hash)) this.view.scroller.focus({ preventScroll: true });
    });
  }

  // note keeps the view in the page's address, once it stays.
  note() {
    clearTimeout(this.noted);
    this.noted = setTimeout(() => {
      const { from, to } = this.view.target, isWhole = to - from >= this.until - this.from, at = isWhole ? "#timeline" : `#timeline=${Math.round(from)},${Math.round(to)}`;
      if (location.hash !== at && !(isWhole && !location.hash.startsWith("#timeline="))) history.replaceState(null, "", at);
    }, 500);
  }
}

const timelineSource = document.getElementById("timeline-data"), timeline = timelineSource && new ReportTimeline(JSON.parse(timelineSource.textContent));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => document.dispatchEvent(new Event("themechange")));
