// --- timeline: drawing
const timelineHead = 20, timelineTitle = 20, timelineSpace = 5;

// x gives the place of a moment, momentAt the moment of a place.
const timelineX = (t, ns) => t.gutter + (ns - t.view.from) * (t.width - t.gutter) / (t.view.to - t.view.from);
const momentAt = (t, px) => t.view.from + (px - t.gutter) * (t.view.to - t.view.from) / (t.width - t.gutter);

function drawView(t) {
  t.width = Math.max(240, t.plot.clientWidth);
  t.gutter = Math.min(120, Math.round(t.width * 0.24));
  let y = timelineHead, out = "";
  for (const group of t.groups) {
    group.top = y;
    out += `<text class="gpu" x="0" y="${y + 13}">${esc(group.label)}</text>`;
    y += timelineTitle;
    for (const line of group.lines) {
      line.y = y;
      out += lineLabel(t, line) + drawLine[line.kind](t, line, group);
      y += line.height + (line.kind === "range" ? 1 : timelineSpace);
    }
    group.bottom = y += 10;
  }
  t.height = y;
  t.svg.setAttribute("viewBox", `0 0 ${t.width} ${y}`); // on paper, where it is not drawn anew, it shrinks
  t.svg.innerHTML = drawAxis(t, y) + out + drawPick(t) + `<line class="cursor" y1="${timelineHead}" y2="${y}" x1="-9" x2="-9"/>`;
  placeCursor(t);
  t.shown.textContent = `${momentText(t.view.from, (t.view.to - t.view.from) / 1000)} to ${momentText(t.view.to, (t.view.to - t.view.from) / 1000)}: ${timeText(t.view.to - t.view.from)}`;
}

function placeCursor(t) {
  const at = t.cursor === null ? -9 : timelineX(t, t.cursor), line = t.svg.querySelector(".cursor");
  line.setAttribute("x1", at < t.gutter ? -9 : at);
  line.setAttribute("x2", at < t.gutter ? -9 : at);
}

function lineLabel(t, line) {
  const text = line.label, fits = Math.floor(t.gutter / 6.6);
  return `<text class="soft" x="0" y="${line.y + line.height / 2 + 4}">${esc(text.length > fits ? text.slice(0, fits - 1) + "…" : text)}<title>${esc(text)}</title></text>`;
}

// axisStep gives the least round time from one label of the axis to the next for which labels have room.
function axisStep(t) {
  const long = t.view.to - t.view.from, wide = t.width - t.gutter;
  for (let ten = 10 ** Math.floor(Math.log10(long / wide)); ; ten *= 10) {
    for (const step of [ten, 2 * ten, 5 * ten]) {
      const room = step * wide / long;
      if (step >= 1 && room >= 70 && room >= textWidth(t, timeText(t.view.to, step)) + 24) return step;
    }
  }
}

function drawAxis(t, height) {
  const step = axisStep(t), apart = 12;
  let out = "", free = 0; // up to where labels are
  for (let at = Math.ceil(t.view.from / step) * step; at <= t.view.to; at += step) {
    const x = timelineX(t, at), text = timeText(at, step), wide = textWidth(t, text), left = Math.min(x - wide / 2, t.width - wide);
    out += `<line class="grid" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${timelineHead - 4}" y2="${height}"/>`;
    if (left < free) continue;
    free = left + wide + apart;
    out += `<text class="soft" x="${left.toFixed(1)}" y="12">${text}</text>`;
  }
  return out;
}

// drawPick outlines the item that is picked and what it is tied to, and draws the links from launch to work.
function drawPick(t) {
  if (!t.pick) return "";
  const seen = t.pick.tied.filter(({ line, index }) => line.ends[index] >= t.view.from && line.begins[index] <= t.view.to), { line, index } = t.pick;
  // Of a link at least one end is on the screen; more than a few hundred are a surface.
  const links = (line.ends[index] >= t.view.from && line.begins[index] <= t.view.to ? t.pick.tied : seen).slice(0, 300);
  return links.map((other, i) => drawLink(t, line.first ? t.pick : other, line.first ? other : t.pick, i === 0)).join("") + outline(t, t.pick, "picked") + seen.map((item) => outline(t, item, "picked tied")).join("");
}

function outline(t, { line, index }, style) {
  const from = Math.max(t.gutter, timelineX(t, line.begins[index])), to = Math.min(t.width, timelineX(t, line.ends[index]));
  if (line.ends[index] < t.view.from || line.begins[index] > t.view.to) return "";
  return `<rect class="${style}" x="${(from - 1).toFixed(1)}" y="${line.y - 1}" width="${Math.max(4, to - from + 2).toFixed(1)}" height="${line.height + 2}"/>`;
}

// drawLink goes from the start of a call to the start of its work, with the time between them. An end beside the screen is at its edge, and the link dashed.
function drawLink(t, call, work, isNamed) {
  const moments = [call.line.begins[call.index], work.line.begins[work.index]], inside = moments.every((m) => m >= t.view.from && m <= t.view.to);
  const [x1, x2] = moments.map((m) => Math.max(t.gutter, Math.min(t.width, timelineX(t, m)))), down = call.line.y < work.line.y;
  const y1 = call.line.y + (down ? call.line.height : 0), y2 = work.line.y + (down ? 0 : work.line.height), mid = (y1 + y2) / 2, tip = down ? -6 : 6;
  const [x, y] = call === t.pick ? [x1, down ? y1 + 18 : y1 - 8] : [x2, down ? y2 - 14 : y2 + 20]; // by what is picked, which is on the screen
  let out = `<path class="link${inside ? "" : " away"}" d="M${x1.toFixed(1)} ${y1}C${x1.toFixed(1)} ${mid} ${x2.toFixed(1)} ${mid} ${x2.toFixed(1)} ${y2 + tip}"/><path class="tip" d="M${x2.toFixed(1)} ${y2}l-3.5 ${tip}h7z"/>`;
  if (isNamed) {
    const text = timeText(moments[1] - moments[0]);
    out += `<text class="halo" x="${Math.min(t.width - 1.1 * textWidth(t, text), x + 6).toFixed(1)}" y="${y}">${text}</text>`;
  }
  return out;
}

const rectAt = (from, to, y, height, style) => `<rect class="${style}" x="${from.toFixed(1)}" y="${y}" width="${(to - from).toFixed(1)}" height="${height}"/>`;
const lineGround = (t, line) => rectAt(t.gutter, t.width, line.y, line.height, "ground");

// inView calls with each item that is on the screen, and its place there.
function inView(t, line, call) {
  const last = firstFrom(line.begins, t.view.to);
  for (let i = firstFrom(line.begins, t.view.from - line.longest); i < last; i++) {
    if (line.ends[i] >= t.view.from) call(i, Math.max(t.gutter, timelineX(t, line.begins[i])), Math.min(t.width, timelineX(t, line.ends[i])));
  }
}

// coverage adds up how much of each pixel's time the work of each kind takes, where work is too short for a box of its own.
function coverage(t) {
  const size = Math.ceil(t.width - t.gutter) + 1, kinds = new Map();
  return {
    add(kind, from, to, share) {
      let columns = kinds.get(kind);
      if (!columns) kinds.set(kind, columns = new Float64Array(size));
      const last = Math.min(size - 1, Math.floor(to - t.gutter));
      for (let px = Math.max(0, Math.floor(from - t.gutter)); px <= last; px++) {
        columns[px] += Math.max(1e-9, (Math.min(to - t.gutter, px + 1) - Math.max(from - t.gutter, px)) * share); // what is there is seen
      }
    },
    // draw draws the shares as heights, one kind upon the other. What is there is never lower than a pixel.
    draw(line) {
      const filled = new Float64Array(size), bottom = line.y + line.height;
      let out = "";
      for (const [kind, columns] of kinds) {
        let path = "", run = null;
        for (let px = 0; px < size; px++) {
          const low = Math.min(line.height - 1, Math.round(Math.min(1, filled[px]) * line.height));
          const high = columns[px] > 0 ? Math.max(low + 1, Math.round(Math.min(1, filled[px] + columns[px]) * line.height)) : low;
          filled[px] += columns[px];
          if (run && run.low === low && run.high === high && px < size - 1) continue;
          if (run) path += `M${t.gutter + run.px} ${bottom - run.low}v${run.low - run.high}h${px - run.px}v${run.high - run.low}z`;
          run = high > low ? { px, low, high } : null;
        }
        out += `<path class="work part-${esc(kind)}" d="${path}"/>`;
      }
      return out;
    },
  };
}

// boxText writes a text into a box as far as it fits.
function boxText(t, from, to, y, text) {
  const room = to - from - 6;
  if (room < 14) return "";
  const wide = textWidth(t, text);
  if (wide > room) {
    let fits = Math.floor(text.length * room / wide);
    while (fits > 1 && textWidth(t, text.slice(0, fits) + "…") > room) fits--;
    if (fits < 2) return "";
    text = text.slice(0, fits) + "…";
  }
  return `<text x="${(from + 3).toFixed(1)}" y="${y}">${esc(text)}</text>`;
}

function textWidth(t, text) {
  let wide = t.widths.get(text);
  if (wide === undefined) {
    if (t.widths.size > 20000) t.widths.clear();
    t.widths.set(text, wide = t.pen.measureText(text).width);
  }
  return wide;
}
