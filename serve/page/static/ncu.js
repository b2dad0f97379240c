// What Nsight Compute measured of a run: roofline, what limits each kernel, each launch with its stalls.
import { el, svg, facts, fill, loading, runLink } from "./dom.js";
import { kernelNames, percent, scaleOf, texts, time, value } from "./format.js";
import { ask } from "./query.js";
import { heading } from "./run.js";
import { name, table } from "./table.js";

const stall = "smsp__average_warps_issue_stalled_*_per_issue_active.ratio";

export function mount(root, route, nav) {
  const abort = new AbortController(), { signal } = abort, { run } = route.path, { query } = route;
  let launch = query.has("launch") ? Number(query.get("launch")) : null;
  const content = el("div", {}, loading("the profiled launches"));
  root.append(...heading(nav, run, "ncu"), content);

  fill(content, Promise.all([ask(run, "kernel-sol", {}, signal), ask(run, "bottlenecks", { top: 0 }, signal), ask(run, "roofline", {}, signal), ask(run, "ceilings", {}, signal), ask(run, "ncu-hotspots", { top: 50 }, signal)]).then(([sol, bottlenecks, roofline, ceilings, hotspots]) => {
    if (!sol.rows.length) return [el("p", { class: "hint none" }, "Nsight Compute profiled no kernel of this run."), sol.notes.map((n) => el("p", { class: "note" }, n)), el("p", {}, el("a", { href: `${runLink(run)}?query=ncu-plan` }, "Launches that it should profile"))];
    if (launch === null || !sol.rows.some((r) => r.launch === launch)) launch = sol.rows.reduce((most, r) => (r.duration_ns ?? 0) > (most.duration_ns ?? 0) ? r : most, sol.rows[0]).launch;
    const panel = el("div", { class: "launch", "aria-live": "polite" }), roofs = el("div");
    const launches = table(sol, { caption: "launches", pick: (row) => pick(row.launch), state: { sort: query.get("sort") ?? "", find: query.get("find") ?? "" }, changed: (to) => { nav.replace(to); queueMicrotask(mark); },
      cells: { launch: (v, row) => el("a", { href: `${runLink(run, "ncu")}?launch=${v}`, onclick: (e) => { e.preventDefault(); pick(row.launch); } }, String(v)) } });
    let shown = null;

    function pick(to, quiet) {
      launch = to;
      if (!quiet) nav.replace({ launch });
      shown?.abort();
      shown = new AbortController();
      signal.addEventListener("abort", () => shown.abort());
      mark();
      fill(panel, launchPanel(run, sol.rows.find((r) => r.launch === launch), sol.columns, roofline.rows.filter((r) => r.launch === launch), shown.signal));
      if (!quiet) panel.scrollIntoView({ block: "nearest" });
    }
    function mark() {
      for (const dot of roofs.querySelectorAll(".dot")) dot.classList.toggle("on", Number(dot.dataset.launch) === launch);
      for (const tr of launches.querySelectorAll("tbody tr")) tr.setAttribute("aria-selected", String(Number(tr.querySelector("a")?.textContent) === launch));
    }

    roofs.append(...plots(roofline, ceilings, (l) => pick(l)));
    queueMicrotask(() => pick(launch, true));
    return [
      el("section", {}, el("h2", {}, "Roofline"), roofs, roofline.notes.map((n) => el("p", { class: "note" }, n)), el("details", {}, el("summary", {}, "Ceilings"), table(ceilings, { caption: "ceilings", search: false }))),
      el("section", {}, el("h2", {}, "What limits each kernel"), table(bottlenecks, { caption: "bottlenecks", search: false, most: 20 })),
      hotspots.rows.length ? el("section", {}, el("h2", {}, "Hot lines"), table({ ...hotspots, columns: codeLast(hotspots.columns) }, { caption: "ncu-hotspots", search: false, most: 10, cells: { code: (v) => v === null ? "-" : el("code", {}, v) } })) : null,
      el("section", {}, el("h2", {}, "Launches"), launches),
      el("section", {}, panel),
      el("p", { class: "see" }, ["ncu-source", "ncu-balance", "kernel-metrics", "ncu-rules", "kernel-efficiency", "ncu-matches", "region-metrics", "ncu-plan"].map((q) => [el("a", { href: `${runLink(run)}?query=${q}` }, q), " "])),
    ];
  }));
  return () => abort.abort();
}

// launchPanel is one launch: its figures, what its warps wait for, what Nsight Compute's rules say of its kernel.
async function launchPanel(run, row, columns, roofs, signal) {
  const [stalls, rules] = await Promise.all([ask(run, "kernel-metrics", { metric: stall, launch: row.launch }, signal), ask(run, "ncu-rules", { kernel: row.kernel.slice(0, 200) }, signal).catch((err) => { if (err.name === "AbortError") throw err; return { columns: [], rows: [], notes: [err.message] }; })]);
  const reasons = stalls.rows.map((r) => ({ reason: r.metric.slice("smsp__average_warps_issue_stalled_".length, -"_per_issue_active.ratio".length).replaceAll("_", " "), value: r.value })).filter((r) => r.value > 0).sort((a, b) => b.value - a.value);
  const total = reasons.reduce((sum, r) => sum + r.value, 0), written = texts([{ name: "cycles", type: "float", unit: "" }], reasons.map((r) => ({ cycles: Number(r.value.toPrecision(3)) })));
  const mine = rules.rows.filter((r) => r.kernel === row.kernel && r.grid === row.grid && r.block === row.block);
  const cell = (n) => { const c = columns.find((x) => x.name === n), v = row[n]; return v === null || v === undefined ? null : c?.unit ? value(c.unit, v) : String(typeof v === "number" && !Number.isInteger(v) ? Number(v.toPrecision(4)) : v); };
  return [
    el("h2", {}, `Launch ${row.launch}`), el("p", {}, name(row.kernel, kernelNames([row.kernel])(row.kernel))),
    el("div", { class: "stages" },
      el("article", {}, el("h3", {}, "Figures"), facts([["stage", row.stage], ["grid", row.grid], ["block", row.block], ["duration", row.duration_ns === null ? null : time(row.duration_ns)], ["SM", cell("sm_ratio")], ["memory", cell("memory_ratio")], ["DRAM", cell("dram_ratio")], ["L2", cell("l2_ratio")], ["L1", cell("l1_ratio")], ["occupancy", row.occupancy_ratio === null ? null : `${percent(row.occupancy_ratio)} of ${cell("theoretical_occupancy_ratio") ?? "?"} possible`], ["waves", cell("waves")], ["registers", cell("register_count")], ["shared", cell("shared_bytes")],
        ...roofs.map((r) => [r.resource, `${value("flop_per_s", r.achieved_flop_per_s)}, ${percent(r.attained_ratio)} of its roof (${r.side ?? "unknown side"})`])], "figures")),
      el("article", {}, el("h3", {}, "Stalls"), reasons.length ? [el("p", { class: "hint" }, "Cycles that a warp waits for each instruction it issues, by reason."), el("div", { class: "bars" }, reasons.slice(0, 12).flatMap((r, i) => [el("span", {}, r.reason), el("i", { style: { "--share": `${100 * r.value / reasons[0].value}%` } }), el("span", { class: "n" }, written.cell({ cycles: Number(reasons[i].value.toPrecision(3)) }, 0), ` (${percent(r.value / total)})`)]))] : el("p", { class: "hint" }, "Not measured: ncu --set full, or --section WarpStateStats.")),
      el("article", {}, el("h3", {}, "Rules of Nsight Compute"), mine.length ? el("ul", {}, mine.map((r) => el("li", {}, el("b", {}, r.finding), r.speedup_ratio ? `, up to ${percent(r.speedup_ratio)}${r.scope ? ` (${r.scope})` : ""}` : "", r.advice ? el("p", { class: "why" }, r.advice) : null))) : el("p", { class: "hint" }, rules.notes[0] ?? "No rule found anything for this kernel."))),
    el("p", { class: "see" }, el("a", { href: `${runLink(run)}?query=kernel-metrics&p.launch=${row.launch}` }, "All metrics of this launch"), " ", el("a", { href: `${runLink(run)}?query=ncu-source&p.launch=${row.launch}` }, "Its lines and instructions")),
  ];
}

// plots draws a roofline for each device.
function plots(roofline, ceilings, pick) {
  const devices = [...new Set([...roofline.rows.map((r) => r.device), ...ceilings.rows.map((r) => r.device)])];
  return devices.map((device) => plot(device, roofline.rows.filter((r) => r.device === device), ceilings.rows.filter((r) => r.device === device), pick)).filter(Boolean);
}

function plot(device, rows, ceilings, pick) {
  const dots = rows.filter((r) => r.intensity > 0 && r.achieved_flop_per_s > 0), left = rows.length - dots.length;
  if (!dots.length) return rows.length ? el("p", { class: "hint" }, `${device ?? "unknown device"}: no launch has both FLOP and DRAM traffic.`) : null;
  const resources = [...new Set(dots.map((d) => d.resource))], series = (resource) => `series-${Math.max(0, resources.indexOf(resource)) % 8}`;
  const lines = [], bandwidth = ceilings.find((c) => c.resource === "dram" && c.basis === "measured") ?? ceilings.find((c) => c.resource === "dram");
  const bytes = bandwidth?.peak_bytes_per_s;
  for (const c of ceilings) {
    if (c.resource === "dram" || !(c.peak_flop_per_s > 0) || !resources.includes(c.resource)) continue;
    lines.push({ resource: c.resource, flops: c.peak_flop_per_s, measured: c.basis === "measured" });
  }
  const width = Math.min(900, Math.max(330, innerWidth - 30)), height = Math.min(360, Math.round(width * 0.7)), // text keeps its size
     pad = { left: 62, right: 14, top: 22, bottom: 40 };
  const ridges = bytes ? lines.map((l) => l.flops / bytes) : [];
  const xLow = Math.min(...dots.map((d) => d.intensity), ...ridges), xHigh = Math.max(...dots.map((d) => d.intensity), ...ridges), yLow = Math.min(...dots.map((d) => d.achieved_flop_per_s)), yHigh = Math.max(...dots.map((d) => d.achieved_flop_per_s), ...lines.map((l) => l.flops));
  const x0 = Math.log10(xLow) - 0.35, x1 = Math.log10(xHigh) + 0.45, y0 = Math.log10(yLow) - 0.4, y1 = Math.log10(yHigh) + 0.25;
  const X = (v) => pad.left + (Math.log10(v) - x0) / (x1 - x0) * (width - pad.left - pad.right), Y = (v) => height - pad.bottom - (Math.log10(v) - y0) / (y1 - y0) * (height - pad.top - pad.bottom);
  const decades = (a, b) => Array.from({ length: Math.floor(b) - Math.ceil(a) + 1 }, (_, i) => 10 ** (Math.ceil(a) + i));
  const right = 10 ** x1, edge = 10 ** x0, short = kernelNames(dots.map((d) => d.kernel));
  const plain = (v) => v >= 1 ? v.toLocaleString("en") : String(Number(v.toPrecision(1)));
  const roofOf = (l) => {
    const ridge = bytes ? l.flops / bytes : edge, words = `${l.resource}: ${value("flop_per_s", l.flops)}, ${l.measured ? "measured" : "from the table of dense peaks"}`;
    return [svg("line", { class: `roof own ${series(l.resource)}${l.measured ? "" : " table"}`, x1: X(Math.max(edge, ridge)), x2: X(right), y1: Y(l.flops), y2: Y(l.flops) }, svg("title", {}, words)),
      l.measured || !lines.some((o) => o.resource === l.resource && o.measured) ? svg("text", { class: "soft halo", x: width - pad.right, y: Y(l.flops) - 5, "text-anchor": "end" }, `${l.resource} ${value("flop_per_s", l.flops)}`) : null];
  };
  let memory = null;
  if (bytes) {
    const top = Math.max(...lines.map((l) => l.flops), yHigh), end = Math.min(right, top / bytes), start = Math.max(edge, 10 ** y0 / bytes);
    const at = Math.sqrt(start * end), slope = Math.atan2(Y(end * bytes) - Y(start * bytes), X(end) - X(start)) * 180 / Math.PI;
    memory = [svg("line", { class: "roof own", x1: X(start), y1: Y(start * bytes), x2: X(end), y2: Y(end * bytes), style: { "--c": "var(--ink)" } }, svg("title", {}, `DRAM: ${value("bytes_per_s", bytes)}, ${bandwidth.basis === "measured" ? "measured" : "from the table of dense peaks"}`)),
      svg("text", { class: "soft halo", x: X(at), y: Y(at * bytes) - 6, transform: `rotate(${slope} ${X(at)} ${Y(at * bytes) - 6})`, "text-anchor": "middle" }, `DRAM ${value("bytes_per_s", bytes)}`)];
  }
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `Roofline of ${device}: ${dots.length} points` },
    svg("rect", { class: "ground", x: pad.left, y: pad.top, width: width - pad.left - pad.right, height: height - pad.top - pad.bottom }),
    decades(x0, x1).map((v) => [svg("line", { class: "grid", x1: X(v), x2: X(v), y1: pad.top, y2: height - pad.bottom }), svg("text", { class: "soft", x: X(v), y: height - pad.bottom + 15, "text-anchor": "middle" }, plain(v))]),
    decades(y0, y1).map((v) => [svg("line", { class: "grid", x1: pad.left, x2: width - pad.right, y1: Y(v), y2: Y(v) }), svg("text", { class: "soft", x: pad.left - 6, y: Y(v) + 4, "text-anchor": "end" }, tick(v))]),
    svg("text", { class: "soft", x: (pad.left + width) / 2, y: height - 6, "text-anchor": "middle" }, "FLOP per byte of DRAM traffic"), svg("text", { class: "soft", x: pad.left - 6, y: 14, "text-anchor": "end" }, "FLOP/s"),
    memory, lines.map(roofOf),
    dots.map((d) => svg("circle", { class: `dot ${series(d.resource)}`, cx: X(d.intensity), cy: Y(d.achieved_flop_per_s), r: 6, tabindex: 0, role: "button", data: { launch: d.launch }, onclick: () => pick(d.launch), onkeydown: (e) => { if (e.key === "Enter") pick(d.launch); } },
      svg("title", {}, `launch ${d.launch}: ${short(d.kernel)}\n${d.resource}, ${value("flop_per_s", d.achieved_flop_per_s)} at ${Number(d.intensity.toPrecision(3))} FLOP/B: ${percent(d.attained_ratio)} of its roof, ${d.side} side`))));
  return el("figure", {}, el("h3", {}, device ?? "unknown device"), el("div", { class: "plot" }, drawing),
    el("ul", { class: "legend" }, resources.map((r) => el("li", { class: series(r) }, el("i"), r))),
    el("p", { class: "hint" }, "Lines are what the device can reach: solid as measured, dashed from the table of dense peaks. Left of the ridge DRAM bandwidth bounds a launch, right of it arithmetic. A click shows the launch.", left ? ` ${left} of ${rows.length} without FLOP or DRAM traffic are not drawn.` : ""));
}

const tick = (v) => { const s = scaleOf({ name: "v", type: "float", unit: "flop_per_s" }, [v]); return `${Number((v / s.div).toPrecision(1)).toLocaleString("en")} ${s.name[0] === "F" ? "" : s.name[0]}`; };

// codeLast moves source text behind the figures: it is as wide as it likes.
const codeLast = (columns) => [...columns.filter((c) => c.name !== "code"), ...columns.filter((c) => c.name === "code")];
