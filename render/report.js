"use strict";
// The page's script: sorts tables, copies SQL and draws the timeline. Texts reach the page by textContent or by esc() only.
const esc = (text) => String(text).replace(/[&<>"']/g, (c) => "&#" + c.charCodeAt(0) + ";");

// --- tables
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...th.childNodes);
    th.append(button);
    button.addEventListener("click", () => sortTable(table, heads, column));
  });
}

function sortTable(table, heads, column) {
  const numeric = heads[column].classList.contains("n");
  const before = heads[column].getAttribute("aria-sort");
  const up = before ? before === "descending" : !numeric; // numbers begin with the largest
  heads.forEach((th) => th.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = (row) => {
    const cell = row.cells[column], sort = cell.dataset.s;
    if (!numeric) return (cell.querySelector(".full") ?? cell).textContent;
    return sort ? Number(sort) : null;
  };
  const order = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null); // what is not known stays last
    return (up ? 1 : -1) * (numeric ? a - b : a.localeCompare(b));
  };
  const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
  rows.sort((a, b) => order(a[0], b[0]));
  table.tBodies[0].append(...rows.map((r) => r[1]));
}

// --- SQL
for (const details of document.querySelectorAll("details.sql")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy the SQL of " + details.querySelector("summary").textContent);
  button.addEventListener("click", async () => {
    button.textContent = (await copy(details.querySelector("code"))) ? "Copied" : "Selected: copy it with the keyboard";
    setTimeout(() => { button.textContent = "Copy"; }, 2500);
  });
  details.append(button);
}

async function copy(node) {
  try {
    await navigator.clipboard.writeText(node.textContent);
    return true;
  } catch { // some browsers give pages of files no clipboard
    const range = document.createRange();
    range.selectNodeContents(node);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  }
}

// --- timeline
const source = document.getElementById("timeline-data");
if (source) drawTimeline(JSON.parse(source.textContent));

function drawTimeline(data) {
  const figure = document.getElementById("timeline-figure"), plot = document.getElementById("timeline-plot");
  const svg = plot.querySelector("svg"), readout = document.getElementById("timeline-readout"), shown = document.getElementById("timeline-view");
  const HEAD = 20, STAGE = 18, LANE = 30, GAP = 14, SPACE = 5;
  const least = Math.min(data.span, 1000); // a view of a microsecond is the shortest
  const view = { from: 0, to: data.span };
  const stages = [];
  for (const row of data.rows) {
    for (const line of [...row.stages, ...row.lanes]) {
      let at = 0;
      for (const item of line.items) item[0] = at += item[0];
    }
    for (const line of row.stages) if (!stages.includes(line.name)) stages.push(line.name);
    for (const line of row.lanes) {
      let until = -Infinity; // work counts for the block that covers it first
      for (const item of line.items) {
        const start = Math.max(item[0], until), end = item[0] + item[1];
        item.begin = start;
        item.share = end > start ? Math.min(1, item[2] / (end - start)) : 0;
        until = Math.max(until, end);
      }
    }
  }
  const stageClass = (name) => "stage-" + (stages.indexOf(name) % 6);
  figure.hidden = false;

  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
  // time gives a length with three digits, or, of ticks a step apart, with as many as the step needs.
  function time(ns, step) {
    const [div, unit] = units.find(([d]) => Math.abs(step ?? ns) >= d) ?? units[3];
    const digits = step === undefined ? Math.max(0, 2 - Math.floor(Math.log10(Math.max(1, Math.abs(ns) / div)))) : Math.max(0, Math.ceil(-Math.log10(step / div) - 1e-9));
    return (ns / div).toFixed(ns === 0 ? 0 : digits) + " " + unit;
  }
  // clock gives a moment with as many digits as the view can tell apart.
  function clock(ns) {
    const [div, unit] = units.find(([d]) => ns >= d) ?? units[3];
    const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(div / Math.max(1, (view.to - view.from) / 1000)))));
    return (ns / div).toFixed(digits) + " " + unit;
  }
  const percent = (share) => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";

  let width = 0, gutter = 0, bands = [];
  const x = (ns) => gutter + (ns - view.from) * (width - gutter) / (view.to - view.from);
  const at = (px) => view.from + (px - gutter) * (view.to - view.from) / (width - gutter);

  function draw() {
    width = Math.max(240, plot.clientWidth);
    gutter = Math.min(120, Math.round(width * 0.24));
    bands = [];
    let y = HEAD, out = "";
    for (const row of data.rows) {
      const top = y;
      out += `<text class="gpu" x="0" y="${y + 13}">${esc(row.label)}</text>`;
      y += 20;
      for (const line of row.stages) { out += stageLine(line, y); y += STAGE + SPACE; }
      for (const line of row.lanes) { out += lane(line, y); y += LANE + SPACE; }
      out += label("idle gaps", y + GAP / 2) + gaps(row, y);
      y += GAP + SPACE + 10;
      bands.push({ row, top, bottom: y });
    }
    svg.setAttribute("viewBox", `0 0 ${width} ${y}`); // on paper, where it is not drawn anew, it shrinks
    svg.innerHTML = axis(y) + out + `<line class="cursor" y1="${HEAD}" y2="${y}" x1="-9" x2="-9"/>`;
    shown.textContent = `${clock(view.from)} to ${clock(view.to)}: ${time(view.to - view.from)}`;
  }
  const label = (text, middle) => `<text class="soft" x="0" y="${middle + 4}">${esc(text.length * 6.6 > gutter ? text.slice(0, Math.floor(gutter / 6.6) - 1) + "…" : text)}<title>${esc(text)}</title></text>`;
  const ground = (y, height) => `<rect class="ground" x="${gutter}" y="${y}" width="${width - gutter}" height="${height}"/>`;
  const inView = (item) => item[0] <= view.to && item[0] + item[1] >= view.from;

  function axis(height) {
    const rough = (view.to - view.from) / Math.max(2, Math.floor((width - gutter) / 110)), ten = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= rough));
    let out = "";
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      out += `<line class="grid" x1="${x(t)}" x2="${x(t)}" y1="${HEAD - 4}" y2="${height}"/><text class="soft" x="${x(t)}" y="12" text-anchor="${x(t) > width - 40 ? "end" : "middle"}">${time(t, step)}</text>`;
    }
    return out;
  }

  function stageLine(line, y) {
    let out = label(line.name, y + STAGE / 2) + ground(y, STAGE) + `<g class="${stageClass(line.name)}">`, last = -1;
    for (const item of line.items) {
      if (!inView(item)) continue;
      const from = Math.max(gutter, x(item[0])), to = Math.min(width, x(item[0] + item[1])), wide = Math.max(1, to - from);
      if (to < last + 0.5) continue; // under one that is drawn
      last = from + wide;
      out += `<rect class="pass${item[7] ? " warm" : ""}" x="${from.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${STAGE}"/>`;
      if (wide > 34) out += `<text class="on" x="${(from + 5).toFixed(1)}" y="${y + 13}">${item[2] > 1 ? item[2] + "×" : "#" + item[3]}</text>`;
    }
    return out + "</g>";
  }

  // lane draws the share of each pixel's time in which work ran as its height. What is there is never lower than a pixel.
  function lane(line, y) {
    const columns = new Float64Array(width - gutter + 1), there = new Uint8Array(columns.length);
    for (const item of line.items) {
      if (!inView(item)) continue;
      const from = x(item.begin) - gutter, to = x(item[0] + item[1]) - gutter;
      const last = Math.min(columns.length - 1, Math.floor(to));
      for (let px = Math.max(0, Math.floor(from)); px <= last; px++) {
        there[px] = 1;
        columns[px] += Math.max(0, Math.min(to, px + 1) - Math.max(from, px)) * item.share;
      }
    }
    let path = "";
    for (let px = 0; px < columns.length - 1;) {
      const height = there[px] ? Math.max(1, Math.round(Math.min(1, columns[px]) * LANE)) : 0;
      let next = px + 1;
      while (next < columns.length - 1 && (there[next] ? Math.max(1, Math.round(Math.min(1, columns[next]) * LANE)) : 0) === height) next++;
      if (height) path += `M${gutter + px} ${y + LANE}v${-height}h${next - px}v${height}z`;
      px = next;
    }
    return label({ kernel: "kernels", collective: "collectives", graph: "graphs", copy: "copies" }[line.name] ?? line.name, y + LANE / 2) + ground(y, LANE) + `<path class="work part-${esc(line.name)}" d="${path}"/>`;
  }

  function gaps(row, y) {
    let out = ground(y, GAP);
    for (const gap of [...row.gaps].sort((a, b) => a[1] - b[1])) { // the longest on top
      if (!inView(gap)) continue;
      const from = Math.max(gutter, x(gap[0])), wide = Math.max(2, Math.min(width, x(gap[0] + gap[1])) - from);
      out += `<g class="part-${esc(data.names[gap[2]])}"><title>${esc(gapText(gap))}</title><rect class="work" x="${from.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${GAP}"/><rect class="shade" x="${from.toFixed(1)}" y="${y}" width="${wide.toFixed(1)}" height="${GAP}"/></g>`;
    }
    return out;
  }
  const gapText = (gap) => `idle ${time(gap[1])}, ${data.names[gap[2]]}: after ${data.names[gap[3]]}, before ${data.names[gap[4]]}, stage ${data.names[gap[5]]}`;

  // read says what is at a moment in the rows given; slack is the time that a pixel stands for.
  function read(moment, rows, slack) {
    const hit = (item) => item[0] - slack <= moment && moment <= item[0] + item[1] + slack;
    const lines = [clock(moment)];
    for (const row of rows) {
      const said = [];
      for (const line of row.stages) for (const item of line.items.filter(hit).slice(0, 1)) {
        said.push(`${line.name} ${item[2] > 1 ? item[2] + " passes from #" + item[3] : "pass #" + item[3]}${item[7] ? " (warm-up)" : ""}: ${time(item[6])}, ${percent(item[4] / Math.max(1, item[6]))} busy, ${percent(item[5] / Math.max(1, item[6]))} launch-bound`);
      }
      for (const line of row.lanes) for (const item of line.items.filter(hit).slice(0, 1)) {
        const name = data.names[item[4]];
        said.push(item[3] === 1 ? `${line.name} ${time(item[1])}: ${name}` : `${line.name}: ${item[3]} in ${time(item[1])}, ${percent(item.share)} busy; longest ${time(item[5])}: ${name}`);
      }
      for (const gap of row.gaps.filter(hit).sort((a, b) => b[1] - a[1]).slice(0, 1)) said.push(gapText(gap));
      lines.push(`${row.label}: ${said.length ? said.join("\n    ") : "nothing of what is drawn"}`);
    }
    readout.textContent = lines.join("\n");
    const cursor = svg.querySelector(".cursor");
    cursor.setAttribute("x1", x(moment));
    cursor.setAttribute("x2", x(moment));
  }

  function set(from, length) {
    length = Math.min(data.span, Math.max(least, length));
    view.from = Math.max(0, Math.min(data.span - length, from));
    view.to = view.from + length;
    draw();
  }
  const zoom = (factor, center) => set(center - (center - view.from) * factor, (view.to - view.from) * factor);
  const middle = () => (view.from + view.to) / 2;
  const acts = {
    in: () => zoom(0.5, middle()), out: () => zoom(2, middle()), all: () => set(0, data.span),
    left: () => set(view.from - (view.to - view.from) / 4, view.to - view.from), right: () => set(view.from + (view.to - view.from) / 4, view.to - view.from),
  };
  const act = (name) => { acts[name](); read(middle(), data.rows, (view.to - view.from) / width); };
  for (const button of figure.querySelectorAll("[data-act]")) button.addEventListener("click", () => act(button.dataset.act));
  const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all", Home: "all" };
  plot.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
    e.preventDefault();
    act(keys[e.key]);
  });
  const place = (e) => e.clientX - svg.getBoundingClientRect().left;
  plot.addEventListener("wheel", (e) => { // the page scrolls until the picture is chosen
    if (document.activeElement !== plot && !e.ctrlKey) return;
    e.preventDefault();
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) set(view.from + e.deltaX * (view.to - view.from) / width, view.to - view.from);
    else zoom(1.0015 ** Math.max(-500, Math.min(500, e.deltaY)), at(Math.max(gutter, place(e))));
  }, { passive: false });
  let grip = null;
  plot.addEventListener("pointerdown", (e) => { grip = { px: place(e), from: view.from }; plot.setPointerCapture(e.pointerId); });
  plot.addEventListener("pointerup", () => { grip = null; });
  plot.addEventListener("pointercancel", () => { grip = null; });
  plot.addEventListener("pointermove", (e) => {
    const px = place(e);
    if (grip) set(grip.from - (px - grip.px) * (view.to - view.from) / (width - gutter), view.to - view.from);
    if (px < gutter) return;
    const y = e.clientY - svg.getBoundingClientRect().top, band = bands.find((b) => y >= b.top && y < b.bottom);
    if (band) read(at(px), [band.row], (view.to - view.from) / width);
  });

  new ResizeObserver(draw).observe(plot);
  draw();
}
