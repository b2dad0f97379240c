// A roofline: what was reached against what the device can do.
import { el, svg } from "./dom.js";

// roofline draws what launches or operators (what says which) reach on a device against its ceilings: points by series, FLOP per byte (per says of which bytes) and FLOP/s, in words too, with
// what a click does; ceilings by series, FLOP/s, that of dram by bytes/s, in words too, and whether they were measured. Null without points.
export function roofline(device, rows, ceilings, what, per) {
  const dots = rows.filter((r) => r.intensity > 0 && r.flops > 0), left = rows.length - dots.length;
  if (!dots.length) return rows.length ? el("p", { class: "hint" }, `${device ?? "unknown device"}: no ${what} has both FLOP and bytes.`) : null;
  const names = [...new Set(dots.map((d) => d.series))], series = (name) => `series-${Math.max(0, names.indexOf(name)) % 8}`;
  const bandwidth = ceilings.find((c) => c.series === "dram" && c.measured) ?? ceilings.find((c) => c.series === "dram"), bytes = bandwidth?.bytes;
  const lines = ceilings.filter((c) => c.series !== "dram" && c.flops > 0 && names.includes(c.series));
  const width = Math.min(900, Math.max(330, innerWidth - 30)), height = Math.min(360, Math.round(width * 0.7)), // text keeps its size
     pad = { left: 62, right: 14, top: 22, bottom: 40 };
  const ridges = bytes ? lines.map((l) => l.flops / bytes) : [];
  const xLow = Math.min(...dots.map((d) => d.intensity), ...ridges), xHigh = Math.max(...dots.map((d) => d.intensity), ...ridges), yLow = Math.min(...dots.map((d) => d.flops)), yHigh = Math.max(...dots.map((d) => d.flops), ...lines.map((l) => l.flops));
  const x0 = Math.log10(xLow) - 0.35, x1 = Math.log10(xHigh) + 0.45, y0 = Math.log10(yLow) - 0.4, y1 = Math.log10(yHigh) + 0.25;
  const X = (v) => pad.left + (Math.log10(v) - x0) / (x1 - x0) * (width - pad.left - pad.right), Y = (v) => height - pad.bottom - (Math.log10(v) - y0) / (y1 - y0) * (height - pad.top - pad.bottom);
  const decades = (a, b) => Array.from({ length: Math.floor(b) - Math.ceil(a) + 1 }, (_, i) => 10 ** (Math.ceil(a) + i));
  const right = 10 ** x1, edge = 10 ** x0;
  const plain = (v) => v >= 1 ? v.toLocaleString("en") : String(Number(v.toPrecision(1)));
  const roofOf = (l) => {
    const ridge = bytes ? l.flops / bytes : edge, words = `${l.series}: ${l.text}, ${l.measured ? "measured" : "from the table of dense peaks"}`;
    return [svg("line", { class: `roof own ${series(l.series)}${l.measured ? "" : " table"}`, x1: X(Math.max(edge, ridge)), x2: X(right), y1: Y(l.flops), y2: Y(l.flops) }, svg("title", {}, words)),
      l.measured || !lines.some((o) => o.series === l.series && o.measured) ? svg("text", { class: "soft halo", x: width - pad.right, y: Y(l.flops) - 5, "text-anchor": "end" }, `${l.series} ${l.text}`) : null];
  };
  let memory = null;
  if (bytes) {
    const top = Math.max(...lines.map((l) => l.flops), yHigh), end = Math.min(right, top / bytes), start = Math.max(edge, 10 ** y0 / bytes);
    const at = Math.sqrt(start * end), slope = Math.atan2(Y(end * bytes) - Y(start * bytes), X(end) - X(start)) * 180 / Math.PI;
    memory = [svg("line", { class: `roof own${bandwidth.measured ? "" : " table"}`, x1: X(start), y1: Y(start * bytes), x2: X(end), y2: Y(end * bytes), style: { "--c": "var(--ink)" } }, svg("title", {}, `DRAM: ${bandwidth.text}, ${bandwidth.measured ? "measured" : "from the table of dense peaks"}`)),
      svg("text", { class: "soft halo", x: X(at), y: Y(at * bytes) - 6, transform: `rotate(${slope} ${X(at)} ${Y(at * bytes) - 6})`, "text-anchor": "middle" }, `DRAM ${bandwidth.text}`)];
  }
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Roofline of ${device}: ${dots.length} points` },
    svg("rect", { class: "ground", x: pad.left, y: pad.top, width: width - pad.left - pad.right, height: height - pad.top - pad.bottom }),
    decades(x0, x1).map((v) => [svg("line", { class: "grid", x1: X(v), x2: X(v), y1: pad.top, y2: height - pad.bottom }), svg("text", { class: "soft", x: X(v), y: height - pad.bottom + 15, "text-anchor": "middle" }, plain(v))]),
    decades(y0, y1).map((v) => [svg("line", { class: "grid", x1: pad.left, x2: width - pad.right, y1: Y(v), y2: Y(v) }), svg("text", { class: "soft", x: pad.left - 6, y: Y(v) + 4, "text-anchor": "end" }, tick(v))]),
    svg("text", { class: "soft", x: (pad.left + width) / 2, y: height - 6, "text-anchor": "middle" }, `FLOP per byte ${per}`), svg("text", { class: "soft", x: pad.left - 6, y: 14, "text-anchor": "end" }, "FLOP/s"),
    memory, lines.map(roofOf),
    dots.map((d) => svg("circle", { class: `dot ${series(d.series)}`, cx: X(d.intensity), cy: Y(d.flops), r: 6, tabindex: 0, role: "button", data: d.data, onclick: d.pick, onkeydown: (e) => { if (e.key === "Enter") d.pick(); } },
      svg("title", {}, `${d.title}\n${d.series}, ${d.reached}: ${d.roof}`))));
  return el("figure", {}, el("h3", {}, device ?? "unknown device"), el("div", { class: "plot" }, drawing),
    el("ul", { class: "legend" }, names.map((n) => el("li", { class: series(n) }, el("i"), n))),
    el("p", { class: "hint" }, "Lines are what the device can reach: solid as measured, dashed from the table of dense peaks. Left of the ridge DRAM bandwidth bounds, right of it arithmetic. A click shows the ", what, ".", left ? ` ${left} of ${rows.length} without FLOP or bytes are not drawn.` : ""));
}

// tick writes a power of ten: 10 G.
const tick = (v) => { const exponent = Math.round(Math.log10(v)); return `${10 ** (exponent % 3)} ${["", "k", "M", "G", "T", "P"][Math.floor(exponent / 3)]}`; };
