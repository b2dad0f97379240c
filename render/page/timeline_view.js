// The timeline's picture, of the report and of the server's page: a canvas that shows a stretch of time, and the keys and pointers that move it. What it draws it has
// from marks, which the report holds and the server answers in tiles: it draws what there is at once and again when more has come.
import { el } from "./el.js";
import { count, momentText, percent, time } from "./times.js";
import { firstAt, firstFrom } from "./timeline_marks.js";
import { Palette, briefName } from "./timeline_palette.js";

const wheelPause = 250, axisHeight = 22, titleHeight = 20, space = 4, mapHeight = 34, leastView = 200, font = "12px system-ui, sans-serif", boldFont = "600 12px system-ui, sans-serif";
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));

// delayText says how work follows the call that launched it; both are { start, end }.
export function delayText(call, work) {
  const queued = work.start - call.end;
  return `${time(work.start - call.start)} after the call began` + (queued >= 0 ? `: ${time(call.end - call.start)} in the call, then ${time(queued)} queued` : `, before the call returned (${time(call.end - call.start)})`);
}

// mostOpen is how many GPUs begin with all their lines. Of more the first one does, and what is behind the others' titles is a click away: GPUs are compared where they are under each other.
const mostOpen = 2;

// foldedAtFirst are the keys of the groups that begin folded.
export function foldedAtFirst(groups) {
  const gpus = groups.filter((g) => g.device !== undefined);
  return groups.filter((g) => g.isMinor || gpus.length > mostOpen && g !== gpus[0]).map((g) => g.key);
}

// View shows one run from first to last, of which home, where GPUs work, is seen first, and by a key. groups are GPUs and threads, { key, label, rows, folded, tracks, device }: of each one
// line, { kind, label, height, tracks, group, known }; known are the stretches of which single things are known, where that is not all. tiles have the marks: names,
// pieces(from, to), want(from, to), stop(), changed, error; and may have toneOf(kind, name) and tell(item). partLabel names a cause of idle time.
// The wheel zooms over the picture and scrolls over the names of its lines, and where the page is being scrolled; with wheelNeedsFocus it zooms what was clicked only. on has what the page is
// told: changed (of the view), drawn, hovered, picked, ranged, dropped, said, helped, stepped (true where it has gone on itself), acted.
export class View {
  constructor(root, { label, groups, tiles, first, last, home, on, most, partLabel, wheelNeedsFocus, describedBy }) {
    Object.assign(this, { groups, tiles, on, first, last, home, partLabel, wheelNeedsFocus, isMoved: false });
    this.folded = new Set(foldedAtFirst(groups));
    tiles.changed = () => this.redraw();
    this.view = this.target = { ...this.home };
    this.pick = this.range = this.hover = null;
    this.links = [];
    this.found = null; // what a search found: { text, bins }
    this.frames = [];
    this.widths = new Map();
    this.cover = new Map();
    this.map = el("canvas", { class: "tl-map", role: "img", "aria-label": "The whole run: drag to move" });
    this.canvas = el("canvas", { class: "tl-canvas" });
    this.spacer = el("div", { class: "tl-spacer" });
    this.scroller = el("div", { class: "tl-scroll", tabindex: "0", role: "application", "aria-label": label, "aria-describedby": describedBy }, this.canvas, this.spacer);
    this.scroller.style.setProperty("--most", most ?? "70vh");
    root.append(this.map, this.scroller);
    this.pen = this.canvas.getContext("2d", { alpha: false });
    this.stop = new AbortController();
    this.paper = matchMedia("print");
    this.palette = new Palette(this.scroller, tiles.toneOf);
    this.paper.addEventListener("change", () => this.theme(), { signal: this.stop.signal });
    document.addEventListener("themechange", () => this.theme(), { signal: this.stop.signal });
    this.resize = new ResizeObserver(() => this.redraw());
    this.resize.observe(this.scroller);
    this.scroller.addEventListener("scroll", () => this.redraw(), { passive: true, signal: this.stop.signal });
    this.watchKeys();
    this.watchPointers();
    this.watchMap();
    this.lay();
  }

  unmount() {
    this.stop.abort();
    this.resize.disconnect();
    this.tiles.stop();
    cancelAnimationFrame(this.frame);
  }

  // theme draws at once in the colours that the page has now: paper does not wait.
  theme() {
    this.palette = new Palette(this.scroller, this.tiles.toneOf);
    this.draw();
  }

  // lay places the lines from top to bottom.
  lay() {
    let y = axisHeight;
    for (const group of this.groups) {
      group.top = y;
      y += titleHeight;
      const rows = this.folded.has(group.key) ? [group.folded] : group.rows;
      group.shown = rows;
      for (const row of rows) {
        row.y = y;
        y += row.height + (row.kind === "nest" ? 1 : space);
      }
      group.bottom = y += 8;
    }
    this.height = y;
    this.scroller.style.setProperty("--content", `${y}px`);
    this.redraw();
  }

  fold(key) {
    if (!this.folded.delete(key)) this.folded.add(key);
    this.lay();
    this.on.changed?.();
  }

  // --- the stretch of time
  show(from, to, isAtOnce = true) {
    const whole = this.last - this.first, long = clamp(to - from, Math.min(leastView, whole), whole * 1.02);
    const begin = clamp(from, this.first - long * 0.5, this.last - long * 0.5);
    this.target = { from: begin, to: begin + long };
    this.isMoved = true;
    if (isAtOnce) this.view = this.target;
    this.redraw();
    this.on.changed?.();
  }

  zoom(factor, at = (this.target.from + this.target.to) / 2, isAtOnce = false) {
    const long = clamp((this.target.to - this.target.from) * factor, leastView, (this.last - this.first) * 1.02), share = (at - this.target.from) / (this.target.to - this.target.from);
    this.show(at - share * long, at + (1 - share) * long, isAtOnce);
  }

  move(share) {
    const by = (this.target.to - this.target.from) * share;
    this.show(this.target.from + by, this.target.to + by, false);
  }

  // reveal brings a stretch into view without changing the zoom where it can.
  reveal(from, to) {
    const long = this.target.to - this.target.from;
    if (to - from > long * 0.9) this.show(from - (to - from) * 0.1, to + (to - from) * 0.1, false);
    else if (from < this.target.from || to > this.target.to) this.show((from + to - long) / 2, (from + to + long) / 2, false);
    else this.redraw();
  }

  // isHome is whether all that GPUs do is shown, and no more.
  isHome() {
    return Math.abs(this.target.from - this.home.from) < 1 && Math.abs(this.target.to - this.home.to) < 1;
  }

  // showAll shows all that GPUs do, and from there the whole capture: what a profiler does before and after may take many times as long.
  showAll() {
    const to = this.isHome() ? { from: this.first, to: this.last } : this.home;
    this.show(to.from, to.to, false);
  }

  x(ns) {
    return this.gutter + (ns - this.view.from) * (this.width - this.gutter) / (this.view.to - this.view.from);
  }

  momentAt(px) {
    return this.view.from + (px - this.gutter) * (this.view.to - this.view.from) / (this.width - this.gutter);
  }

  redraw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      const begun = performance.now();
      this.draw();
      this.frames.push(performance.now() - begun);
      if (this.frames.length > 600) this.frames.splice(0, 300);
    });
  }

  // --- drawing
  draw() {
    const { from, to } = this.target;
    if (this.view !== this.target) { // the view follows its target
      const near = { from: this.view.from + (from - this.view.from) * 0.35, to: this.view.to + (to - this.view.to) * 0.35 }, slack = (to - from) * 0.002;
      this.view = Math.abs(near.from - from) < slack && Math.abs(near.to - to) < slack ? this.target : near;
      if (this.view !== this.target) this.redraw();
    }
    this.width = Math.max(240, this.scroller.clientWidth);
    this.gutter = clamp(Math.round(this.width * 0.18), 96, 150);
    const isPaper = this.paper.matches, tall = isPaper ? this.height : this.scroller.clientHeight, scale = isPaper ? Math.min(3, 12000 / tall) : devicePixelRatio || 1; // paper has all of it
    this.tall = tall;
    sized(this.canvas, this.width, tall, scale);
    const c = this.pen, v = this.palette.vars;
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.fillStyle = v.paper;
    c.fillRect(0, 0, this.width, tall);
    c.font = font;
    c.textBaseline = "middle";
    this.top = isPaper ? 0 : this.scroller.scrollTop;
    const pieces = this.tiles.pieces(this.view.from, this.view.to);
    this.pieces = pieces;
    this.drawGrid(c);
    for (const group of this.groups) {
      if (group.bottom - this.top < 0 || group.top - this.top > tall) continue;
      this.drawTitle(c, group);
      for (const row of group.shown) {
        const y = row.y - this.top;
        if (y + row.height < axisHeight - 30 || y > tall) continue;
        this.drawRow(c, row, y, pieces.list);
      }
    }
    this.drawRange(c);
    this.drawPick(c);
    this.drawAxis(c);
    this.drawMap();
    this.tiles.want(from, to);
    this.on.drawn?.(this);
  }

  drawTitle(c, group) {
    const y = group.top - this.top + titleHeight / 2;
    c.font = boldFont;
    c.fillStyle = this.palette.vars.ink;
    c.fillText(`${this.folded.has(group.key) ? "▸" : "▾"} ${group.label}`, 4, y);
    c.font = font;
  }

  drawRow(c, row, y, pieces) {
    const v = this.palette.vars, g = this.gutter, wide = this.width - g, scale = wide / (this.view.to - this.view.from);
    c.fillStyle = v.tint;
    if (row.known) { // elsewhere nothing says what ran
      for (const [from, to] of row.known) if (to >= this.view.from && from <= this.view.to) {
        const a = Math.max(g, this.x(from));
        c.fillRect(a, y, Math.max(1, Math.min(this.width, this.x(to)) - a), row.height);
      }
      c.fillStyle = v.line;
      for (let px = g; px < this.width; px += 4) c.fillRect(px, Math.round(y + row.height / 2), 1, 1);
    } else c.fillRect(g, y, wide, row.height);
    if (row.label) {
      c.fillStyle = v.soft;
      c.fillText(this.cut(row.label, g - 16), 12, y + row.height / 2);
    }
    const covers = new Map(), boxes = [], isBoxed = row.kind !== "lane", seen = new Set();
    for (const piece of pieces) {
      const from = Math.max(piece.from, this.view.from), to = Math.min(piece.to, this.view.to);
      if (from >= to) continue;
      for (const track of row.tracks) {
        const m = piece.tracks.get(track.id);
        if (!m) continue;
        for (let i = firstAt(m, from); i < m.start.length; i++) {
          const start = m.start[i], end = m.end[i];
          if (start >= to) break;
          if (end < from || end === from && end > start) continue;
          const single = m.count[i] === 0, name = m.name[i];
          if (single && isBoxed && (end - start) * scale >= 2) {
            if (start < piece.from || end > piece.to) { // the pieces next to this one have it too
              const key = `${track.id} ${start} ${end} ${name}`;
              if (seen.has(key)) continue;
              seen.add(key);
            }
            boxes.push([Math.max(g, g + (start - this.view.from) * scale), Math.min(this.width, g + (end - this.view.from) * scale), track.kind, name, m.nth?.[i]]);
            continue;
          }
          if (single && start < from && end <= from) continue;
          const a = (Math.max(start, from) - this.view.from) * scale, b = (Math.min(end, to) - this.view.from) * scale;
          const share = single ? 1 : Math.min(1, m.busy[i] / (end - start));
          const color = this.palette.cover(track.kind, name, this.tiles.names[name]);
          let cover = covers.get(color);
          if (!cover) covers.set(color, cover = this.coverOf(covers.size, wide));
          const last = Math.min(cover.length - 1, Math.floor(b));
          for (let px = Math.max(0, Math.floor(a)); px <= last; px++) cover[px] += Math.max(1e-6, (Math.min(b, px + 1) - Math.max(a, px)) * share);
        }
      }
    }
    this.drawCovers(c, covers, g, y, row.height);
    for (const box of boxes) this.drawBox(c, row, y, box);
  }

  // coverOf lends an array with a number for each pixel.
  coverOf(nth, wide) {
    let array = this.cover.get(nth);
    if (!array || array.length !== Math.ceil(wide) + 1) this.cover.set(nth, array = new Float32Array(Math.ceil(wide) + 1));
    return array.fill(0);
  }

  // drawCovers draws how much of each pixel's time work takes as heights, one colour upon the other. What is there is never lower than a pixel.
  drawCovers(c, covers, g, y, height) {
    const filled = covers.size > 1 ? new Float32Array(Math.ceil(this.width - g) + 1) : null;
    for (const [color, cover] of covers) {
      c.fillStyle = color;
      let start = -1, low = 0, high = 0;
      for (let px = 0; px <= cover.length; px++) {
        let l = 0, h = 0;
        if (px < cover.length && cover[px] > 0) {
          const base = filled ? Math.min(1, filled[px]) : 0;
          l = Math.min(height - 1, Math.round(base * height));
          h = Math.max(l + 1, Math.round(Math.min(1, base + cover[px]) * height));
          if (filled) filled[px] += cover[px];
        }
        if (start >= 0 && l === low && h === high) continue;
        if (start >= 0) c.fillRect(g + start, y + height - high, px - start, high - low);
        [start, low, high] = h > l ? [px, l, h] : [-1, 0, 0];
      }
    }
  }

  drawBox(c, row, y, [from, to, kind, name, nth]) {
    const text = this.tiles.names[name], look = this.palette.of(kind, name, text), wide = to - from;
    c.globalAlpha = look.alpha;
    c.fillStyle = look.fill;
    c.fillRect(from, y, Math.max(1, wide - (wide > 3 ? 0.5 : 0)), row.height);
    c.globalAlpha = 1;
    if (this.found?.text && text.toLowerCase().includes(this.found.text)) {
      c.strokeStyle = this.palette.vars.found;
      c.lineWidth = 2;
      c.strokeRect(from + 1, y + 1, Math.max(1, wide - 2), row.height - 2);
    }
    if (wide < 22) return;
    const said = kind === "pass" ? `${text.replace(" (warm-up)", "")}${nth ? ` #${nth}` : ""}`.replace(`${row.label} #`, "#") : kind === "gap" ? this.partLabel(text) : this.brief(kind, name, text);
    c.fillStyle = look.alpha < 1 ? this.palette.vars.ink : look.text;
    c.fillText(this.cut(said, wide - 8), from + 4, y + row.height / 2 + 0.5);
  }

  brief(kind, name, text) {
    this.briefs ??= [];
    return this.briefs[name] ??= kind === "kernel" || kind === "collective" ? briefName(text) : kind === "call" ? text.replace(/_v\d+$/, "") : text;
  }

  // cut shortens a text to so many pixels.
  cut(text, room) {
    const wide = this.wide(text);
    if (wide <= room) return text;
    let fits = Math.floor(text.length * room / wide);
    while (fits > 1 && this.wide(text.slice(0, fits) + "…") > room) fits--;
    return fits < 2 ? "" : text.slice(0, fits) + "…";
  }

  wide(text) {
    let wide = this.widths.get(text);
    if (wide === undefined) {
      if (this.widths.size > 20000) this.widths.clear();
      this.widths.set(text, wide = this.pen.measureText(text).width);
    }
    return wide;
  }

  step() {
    const long = this.view.to - this.view.from, wide = this.width - this.gutter;
    for (let ten = 10 ** Math.floor(Math.log10(long / wide)); ; ten *= 10) for (const step of [ten, 2 * ten, 5 * ten]) if (step >= 1 && step * wide / long >= 100) return step;
  }

  drawGrid(c) {
    const step = this.step();
    c.fillStyle = this.palette.vars.line;
    for (let at = Math.ceil(this.view.from / step) * step; at <= this.view.to; at += step) c.fillRect(Math.round(this.x(at)), 0, 1, this.tall);
  }

  drawAxis(c) {
    const v = this.palette.vars, step = this.step();
    c.fillStyle = v.paper;
    c.fillRect(0, 0, this.width, axisHeight);
    c.fillStyle = v.line;
    c.fillRect(0, axisHeight - 1, this.width, 1);
    c.fillStyle = v.soft;
    let free = this.gutter - 40;
    for (let at = Math.ceil(this.view.from / step) * step; at <= this.view.to; at += step) {
      const text = momentText(at, step), wide = this.wide(text), left = Math.min(this.x(at) - wide / 2, this.width - wide - 2);
      if (left < free) continue;
      free = left + wide + 10;
      c.fillText(text, left, 10);
    }
    if (this.found) {
      c.fillStyle = v.found;
      for (const bin of this.found.bins) if (bin.to >= this.view.from && bin.from <= this.view.to) {
        const a = Math.max(this.gutter, this.x(bin.from)), b = Math.min(this.width, Math.max(a + 1, this.x(bin.to)));
        c.fillRect(a, axisHeight - 5, b - a, 4);
      }
    }
    if (this.hover) {
      c.fillStyle = v.ink;
      c.globalAlpha = 0.5;
      c.fillRect(Math.round(this.x(this.hover.moment)), axisHeight, 1, this.tall);
      c.globalAlpha = 1;
    }
    if (!this.pieces.isWhole && !this.tiles.error) {
      c.fillStyle = v.link;
      c.fillRect(this.gutter, axisHeight - 2, (this.width - this.gutter) * 0.3, 2);
    }
  }

  drawRange(c) {
    if (!this.range) return;
    const v = this.palette.vars, a = clamp(this.x(this.range.from), this.gutter, this.width), b = clamp(this.x(this.range.to), this.gutter, this.width);
    c.fillStyle = v.link;
    c.globalAlpha = 0.12;
    c.fillRect(a, 0, b - a, this.tall);
    c.globalAlpha = 1;
    for (const px of [a, b]) c.fillRect(px - 0.5, axisHeight, 1, this.tall);
    const text = time(this.range.to - this.range.from), wide = this.wide(text) + 12;
    if (b > this.gutter && a < this.width) {
      const x = clamp((a + b - wide) / 2, this.gutter, this.width - wide);
      c.fillStyle = v.paper;
      c.fillRect(x, axisHeight + 2, wide, 16);
      c.fillStyle = v.link;
      c.fillText(text, x + 6, axisHeight + 10);
    }
  }

  rowOf(track) {
    for (const group of this.groups) for (const row of group.shown) if (row.tracks.some((t) => t.id === track)) return row;
    return null;
  }

  // placeOf is where something of a thread or GPU is drawn, or would be: the line, or the title of its folded group.
  placeOf(track) {
    const row = this.rowOf(track);
    if (row) return { y: row.y - this.top, height: row.height };
    const group = this.groups.find((g) => g.tracks.some((t) => t.id === track));
    return group ? { y: group.top - this.top, height: titleHeight } : null;
  }

  // boxOf is where something with a track, a start and an end is drawn, or the edge next to it, on the canvas.
  boxOf({ track, start, end }) {
    const place = this.placeOf(track) ?? { y: axisHeight, height: 0 }, inside = (y) => clamp(y, axisHeight, this.tall);
    return { left: clamp(this.x(start), this.gutter, this.width), right: clamp(this.x(end), this.gutter, this.width), top: inside(place.y), bottom: inside(place.y + place.height) };
  }

  drawPick(c) {
    const v = this.palette.vars;
    c.save();
    c.beginPath();
    c.rect(this.gutter - 2, axisHeight, this.width - this.gutter + 2, this.tall);
    c.clip();
    for (const item of [...this.links.map((l) => l.other), this.pick]) {
      const place = item && this.placeOf(item.track);
      if (!place) continue;
      const a = this.x(item.start), b = Math.max(a + 2, this.x(item.end));
      c.strokeStyle = v.paper;
      c.lineWidth = 4;
      c.strokeRect(a - 1, place.y - 1, b - a + 2, place.height + 2);
      c.strokeStyle = v.ink;
      c.lineWidth = 2;
      c.setLineDash(item === this.pick ? [] : [4, 2]);
      c.strokeRect(a - 1, place.y - 1, b - a + 2, place.height + 2);
      c.setLineDash([]);
    }
    for (const link of this.links.slice(0, 300)) this.drawLink(c, link.call, link.work, link === this.links[0]);
    c.restore();
  }

  // drawLink goes from the start of a call to the start of its work, with the time between them.
  drawLink(c, call, work, isNamed) {
    const p = this.placeOf(call.track), q = this.placeOf(work.track), v = this.palette.vars;
    if (!p || !q) return;
    const down = p.y < q.y, [x1, x2] = [call, work].map((end) => clamp(this.x(end.start), this.gutter, this.width)), y1 = p.y + (down ? p.height : 0), y2 = q.y + (down ? 0 : q.height), tip = down ? -6 : 6;
    const isSeen = ({ start, end }) => end >= this.view.from && start <= this.view.to, isWhole = isSeen(call) && isSeen(work);
    if (!isSeen(call) && !isSeen(work)) return;
    c.setLineDash(isWhole ? [] : [4, 3]); // an end beside the screen is at its edge
    for (const [style, wide] of [[v.paper, 4], [v.ink, 1.4]]) {
      c.strokeStyle = style;
      c.lineWidth = wide;
      c.beginPath();
      c.moveTo(x1, y1);
      c.bezierCurveTo(x1, (y1 + y2) / 2, x2, (y1 + y2) / 2, x2, y2 + tip);
      c.stroke();
    }
    c.setLineDash([]);
    c.fillStyle = v.ink;
    c.beginPath();
    c.moveTo(x2, y2);
    c.lineTo(x2 - 3.5, y2 + tip);
    c.lineTo(x2 + 3.5, y2 + tip);
    c.fill();
    if (!isNamed) return;
    const text = time(work.start - call.start), x = clamp((x1 + x2) / 2 + 6, this.gutter + 4, this.width - this.wide(text) - 4), y = clamp((y1 + y2) / 2, axisHeight + 10, this.tall - 10);
    c.strokeStyle = v.paper;
    c.lineWidth = 4;
    c.strokeText(text, x, y);
    c.fillText(text, x, y);
  }

  // drawMap draws the whole run: how busy each GPU is, what was found, and the view. What does not move is drawn once.
  drawMap() {
    const wide = this.width, scale = devicePixelRatio || 1, v = this.palette.vars, at = (ns) => (ns - this.first) * wide / (this.last - this.first), drawn = this.ground;
    sized(this.map, wide, mapHeight, scale);
    if (drawn?.palette !== this.palette || drawn.overview !== this.overview || drawn.wide !== wide || drawn.scale !== scale) {
      this.ground = { palette: this.palette, overview: this.overview, wide, scale, canvas: new OffscreenCanvas(this.map.width, this.map.height) };
      this.drawGround(this.ground.canvas.getContext("2d", { alpha: false }), wide, scale, at);
    }
    const c = this.map.getContext("2d");
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(this.ground.canvas, 0, 0);
    c.setTransform(scale, 0, 0, scale, 0, 0);
    if (this.found) {
      c.fillStyle = v.found;
      for (const bin of this.found.bins) c.fillRect(at(bin.from), 0, Math.max(1, at(bin.to) - at(bin.from)), 4);
    }
    const a = clamp(at(this.view.from), 0, wide), b = clamp(Math.max(at(this.view.to), at(this.view.from) + 2), 0, wide);
    c.fillStyle = v.paper;
    c.globalAlpha = 0.65;
    c.fillRect(0, 0, a, mapHeight);
    c.fillRect(b, 0, wide - b, mapHeight);
    c.globalAlpha = 1;
    c.strokeStyle = v.ink;
    c.lineWidth = 1;
    c.strokeRect(a + 0.5, 0.5, Math.max(2, b - a - 1), mapHeight - 1);
  }

  drawGround(c, wide, scale, at) {
    const gpus = this.groups.filter((g) => g.device !== undefined).slice(0, 16), v = this.palette.vars;
    c.setTransform(scale, 0, 0, scale, 0, 0);
    c.fillStyle = v.tint;
    c.fillRect(0, 0, wide, mapHeight);
    if (!this.overview) return;
    const tall = (mapHeight - 6) / Math.max(1, gpus.length);
    gpus.forEach((g, nth) => {
      for (const track of g.folded.tracks) {
        const m = this.overview.get(track.id);
        c.fillStyle = this.palette.cover(track.kind);
        for (let i = 0; m && i < m.start.length; i++) {
          const a = at(m.start[i]), b = Math.max(a + 0.6, at(m.end[i])), high = Math.max(1, tall * (m.count[i] ? Math.min(1, m.busy[i] / (m.end[i] - m.start[i])) : 1));
          c.fillRect(a, 3 + tall * (nth + 1) - high, b - a, high);
        }
      }
    });
  }

  // --- reading
  groupAt(y) {
    return this.groups.find((g) => y + this.top >= g.top && y + this.top < g.bottom);
  }

  rowAt(y) {
    return this.groupAt(y)?.shown.find((r) => y + this.top >= r.y - 1 && y + this.top < r.y + r.height + 2);
  }

  // itemAt gives the mark at a place, or the nearest within some pixels.
  itemAt(px, y, within = 3) {
    const row = y > axisHeight && px >= this.gutter ? this.rowAt(y) : null;
    return row ? this.itemOn(row, this.momentAt(px), within * this.pixel()) : null;
  }

  // pixel is the time that one stands for.
  pixel() {
    return (this.view.to - this.view.from) / (this.width - this.gutter);
  }

  // itemOn gives the mark of a line at a moment: the one drawn last of those there, else the nearest no further than slack.
  itemOn(row, moment, slack) {
    let best = null, least = slack, isSingle = false;
    for (const piece of this.pieces?.list ?? []) {
      if (moment < piece.from - slack || moment >= piece.to + slack) continue;
      for (const track of row.tracks) {
        const m = piece.tracks.get(track.id);
        for (let i = m ? firstAt(m, moment - slack) : 0; m && i < m.start.length && m.start[i] <= moment + slack; i++) {
          const away = Math.max(0, m.start[i] - moment, moment - m.end[i]), single = m.count[i] === 0;
          if (away > least || away === least && isSingle && !single && best) continue;
          least = away;
          isSingle = single;
          best = this.itemOf(track, row, m, i);
        }
      }
    }
    return best;
  }

  itemOf(track, row, m, i) {
    return { track: track.id, kind: track.kind, row, start: m.start[i], end: m.end[i], name: this.tiles.names[m.name[i]], count: m.count[i], busy: m.busy[i], longest: m.longest[i], nth: m.nth?.[i], of: m.of?.[i], index: i };
  }

  // nextOn gives the mark of a line that starts next after a moment, or last before it.
  nextOn(row, moment, by) {
    let best = null;
    for (const piece of this.pieces?.list ?? []) for (const track of row.tracks) {
      const m = piece.tracks.get(track.id), i = !m ? -1 : by > 0 ? firstFrom(m.start, moment + 0.5) : firstFrom(m.start, moment) - 1;
      if (i >= 0 && i < m.start.length && (!best || (m.start[i] - best.start) * by < 0)) best = this.itemOf(track, row, m, i);
    }
    return best;
  }

  // stepItem goes to the next mark or the one before on the line of what is picked, else on the line that was pointed at last.
  stepItem(by) {
    const rows = this.filledRows(), row = (this.pick && this.rowOf(this.pick.track)) ?? (rows.includes(this.pointed) ? this.pointed : rows.find((r) => r.kind === "stream" && this.nextOn(r, this.view.from, 1)?.start < this.view.to) ?? rows[0]);
    const at = this.hover?.moment, from = this.pick?.start ?? (at >= this.view.from && at <= this.view.to ? at : this.view.from), item = row && this.nextOn(row, from, by);
    if (item) this.go(item);
    else this.on.said?.(`No ${by < 0 ? "earlier" : "later"} item on this line.`);
  }

  // stepRow goes to the mark of the line above or below that is at the same time or starts next.
  stepRow(by) {
    const rows = this.filledRows(), row = rows[rows.indexOf(this.rowOf(this.pick.track)) + by], moment = this.hover?.moment ?? this.pick.start;
    const item = row && (this.itemOn(row, moment, 0) ?? this.nextOn(row, moment, 1) ?? this.nextOn(row, moment, -1));
    if (item) this.go(item, moment);
  }

  // filledRows are the lines that have any mark.
  filledRows() {
    return this.groups.flatMap((g) => g.shown).filter((row) => this.pieces?.list.some((piece) => row.tracks.some((t) => piece.tracks.get(t.id)?.start.length)));
  }

  // open brings the line of a track into view, and unfolds its group.
  open(id) {
    const group = this.groups.find((g) => g.tracks.some((t) => t.id === id)), s = this.scroller;
    if (this.folded.has(group?.key)) this.fold(group.key);
    const place = this.placeOf(id);
    if (place && (place.y < 30 || place.y > s.clientHeight - 30)) s.scrollTop += place.y - s.clientHeight / 2;
  }

  // go picks a mark and brings it into view. The cursor goes to the moment given, else to its start.
  go(item, moment = item.start) {
    this.open(item.track);
    this.reveal(item.start, item.end);
    this.hover = { moment: Math.max(moment, this.target.from) };
    this.on.picked?.({ ...item, row: this.rowOf(item.track) ?? item.row }, true);
  }

  // goLinked goes to the other end of the link, showLinked brings all its ends into view.
  goLinked() {
    if (this.links.length) this.go(this.links[0].other);
  }

  showLinked() {
    const ends = [this.pick, ...this.links.map((l) => l.other)], from = Math.min(...ends.map((e) => e.start)), to = Math.max(...ends.map((e) => e.end)), edge = (to - from) * 0.1;
    if (ends.length > 1) this.show(from - edge, to + edge, false);
  }

  // tell says what a mark is.
  tell(item) {
    if (this.tiles.tell) return this.tiles.tell(item);
    const long = item.end - item.start, at = momentText(item.start, Math.max(1, long / 100));
    if (item.count) return `${item.row.label || item.kind}: ${count(item.count)} in ${time(long)} from ${at}, ${percent(Math.min(1, item.busy / long))} busy; longest ${time(item.longest)}: ${item.kind === "gap" ? this.partLabel(item.name) : item.name}`;
    if (item.kind === "gap") return `idle ${time(long)} from ${at}: ${this.partLabel(item.name)}`;
    if (item.kind === "pass") return `${item.name} pass ${item.nth}: ${time(long)} from ${at}`;
    return `${time(long)} from ${at}: ${item.name}`;
  }

  // --- keys and pointers
  watchKeys() {
    const acts = { w: () => this.zoom(0.5, this.hover?.moment), s: () => this.zoom(2, this.hover?.moment), a: () => this.move(-0.25), d: () => this.move(0.25), f: () => this.focus(), m: () => this.mark(), "0": () => this.showAll() };
    Object.assign(acts, { "+": acts.w, "=": acts.w, "-": acts.s, ArrowLeft: acts.a, ArrowRight: acts.d, Home: acts[0] });
    const step = (by) => { if (!this.on.stepped?.(by)) this.stepItem(by); };
    const others = { Escape: () => this.on.dropped?.(), n: () => step(1), p: () => step(-1) };
    const picked = { ArrowUp: () => this.stepRow(-1), ArrowDown: () => this.stepRow(1), Enter: acts.f, j: () => this.goLinked(), l: () => this.showLinked() };
    if (this.on.helped) others["?"] = () => this.on.helped();
    this.scroller.addEventListener("keydown", (e) => {
      const act = acts[e.key] ?? others[e.key] ?? (this.pick ? picked[e.key] : e.key === "Enter" ? others.n : undefined);
      if (e.ctrlKey || e.metaKey || e.altKey || !act) return;
      e.preventDefault();
      act();
      if (acts[e.key]) this.on.acted?.();
    }, { signal: this.stop.signal });
  }

  focus() {
    const item = this.pick ?? (this.range ? { start: this.range.from, end: this.range.to } : null);
    if (!item) return;
    const long = Math.max(leastView / 2, item.end - item.start);
    this.show((item.start + item.end) / 2 - long, (item.start + item.end) / 2 + long, false);
  }

  mark() {
    if (this.pick) this.setRange(this.pick.start, Math.max(this.pick.start + 1, this.pick.end));
  }

  setRange(from, to) {
    this.range = from === null ? null : { from: Math.round(Math.min(from, to)), to: Math.round(Math.max(from, to)) };
    this.redraw();
    this.on.ranged?.(this.range);
  }

  watchPointers() {
    const signal = this.stop.signal, at = (e) => { const r = this.canvas.getBoundingClientRect(); return { px: e.clientX - r.left, y: e.clientY - r.top }; }, reach = (e) => e.pointerType === "touch" ? 10 : 3; // a finger is not as steady as a mouse
    let scrolled = -Infinity; // when the wheel last turned over something else
    document.addEventListener("wheel", (e) => { if (!e.defaultPrevented) scrolled = e.timeStamp; }, { passive: true, signal });
    this.scroller.addEventListener("wheel", (e) => {
      const { px } = at(e), unit = e.deltaMode === 1 ? 16 : 1, isDown = Math.abs(e.deltaY) >= Math.abs(e.deltaX);
      const isZoom = px >= this.gutter && !e.shiftKey && isDown && e.timeStamp - scrolled > wheelPause && (!this.wheelNeedsFocus || document.activeElement === this.scroller);
      if (e.ctrlKey || e.metaKey || isZoom) {
        e.preventDefault();
        this.zoom(1.0025 ** clamp(e.deltaY * unit, -400, 400), this.momentAt(Math.max(this.gutter, px)), true);
      } else if (e.shiftKey || !isDown) {
        e.preventDefault();
        const by = (e.deltaX || e.deltaY) * unit * (this.view.to - this.view.from) / (this.width - this.gutter);
        this.show(this.view.from + by, this.view.to + by);
      }
    }, { passive: false, signal });
    const down = new Map();
    let moved = 0, start = null, ranging = false;
    this.canvas.addEventListener("pointerdown", (e) => {
      const p = at(e);
      this.scroller.focus({ preventScroll: true });
      down.set(e.pointerId, { ...p, moment: this.momentAt(p.px) });
      ranging = down.size === 1 && p.px >= this.gutter && (p.y < axisHeight || e.shiftKey);
      moved = down.size > 1 ? Infinity : 0;
      start = { ...p, moment: this.momentAt(p.px), scroll: this.scroller.scrollTop };
      try {
        this.canvas.setPointerCapture(e.pointerId);
      } catch { /* the pointer is gone */ }
    }, { signal });
    this.canvas.addEventListener("pointermove", (e) => {
      const p = at(e), grip = down.get(e.pointerId);
      if (grip) {
        Object.assign(grip, p);
        moved = Math.max(moved, Math.abs(p.px - start.px), Math.abs(p.y - start.y));
        if (moved > reach(e) && ranging) {
          this.range = { from: Math.round(Math.min(start.moment, this.momentAt(p.px))), to: Math.round(Math.max(start.moment, this.momentAt(p.px))) };
          this.redraw();
        } else if (moved > reach(e)) this.hold([...down.values()], e, start);
      }
      this.hover = p.px >= this.gutter ? { moment: this.momentAt(p.px) } : null;
      this.pointed = this.rowAt(p.y) ?? this.pointed;
      this.on.hovered?.(this.itemAt(p.px, p.y), this.hover?.moment, this.groupAt(p.y));
      this.canvas.style.cursor = p.y < axisHeight ? "col-resize" : p.px < this.gutter ? "pointer" : down.size ? "grabbing" : "";
      this.redraw();
    }, { signal });
    this.canvas.addEventListener("pointerleave", () => { this.hover = null; this.redraw(); }, { signal });
    const lift = (e) => {
      down.delete(e.pointerId);
      for (const grip of down.values()) grip.moment = this.momentAt(grip.px);
    };
    this.canvas.addEventListener("pointercancel", lift, { signal });
    this.canvas.addEventListener("pointerup", (e) => {
      const isClick = down.has(e.pointerId) && moved <= reach(e), p = at(e);
      lift(e);
      if (ranging && moved > reach(e)) {
        if (this.range.to > this.range.from) this.on.ranged?.(this.range);
        ranging = false;
        return;
      }
      if (!isClick) return;
      const group = this.groupAt(p.y);
      if (p.y > axisHeight && group && p.y + this.top < group.top + titleHeight) this.fold(group.key);
      else if (p.px >= this.gutter) this.on.picked?.(this.itemAt(p.px, p.y, reach(e)));
    }, { signal });
    this.canvas.addEventListener("dblclick", (e) => { const p = at(e); if (this.itemAt(p.px, p.y)) this.focus(); }, { signal });
  }

  // hold has the moments that pointers hold stay under them: one moves the view, two make it shorter or longer.
  hold(grips, e, start) {
    const [a, b] = grips, long = this.view.to - this.view.from, wide = this.width - this.gutter;
    if (!b) {
      if (e.pointerType === "mouse") this.scroller.scrollTop = start.scroll - (a.y - start.y);
      const from = a.moment - (a.px - this.gutter) * long / wide;
      return this.show(from, from + long);
    }
    const apart = (b.moment - a.moment) / (b.px - a.px);
    if (apart > 0 && Number.isFinite(apart)) {
      const from = a.moment - (a.px - this.gutter) * apart;
      this.show(from, from + apart * wide);
    }
  }

  watchMap() {
    const go = (e) => {
      const r = this.map.getBoundingClientRect(), at = this.first + (e.clientX - r.left) * (this.last - this.first) / r.width, long = this.target.to - this.target.from;
      this.show(at - long / 2, at + long / 2);
    };
    this.map.addEventListener("pointerdown", (e) => { this.map.setPointerCapture(e.pointerId); go(e); }, { signal: this.stop.signal });
    this.map.addEventListener("pointermove", (e) => { if (e.buttons) go(e); }, { signal: this.stop.signal });
  }
}

function sized(canvas, wide, tall, scale) {
  if (canvas.width === Math.round(wide * scale) && canvas.height === Math.round(tall * scale)) return;
  canvas.width = Math.round(wide * scale);
  canvas.height = Math.round(tall * scale);
  canvas.style.width = `${wide}px`;
  canvas.style.height = `${tall}px`;
}
