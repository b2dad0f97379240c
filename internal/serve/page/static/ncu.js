// What Nsight Compute measured of a run: roofline, what limits each kernel, each launch with its stalls.
import { el, facts, fill, loading, runLink } from "./dom.js";
import { ask } from "./query.js";
import { roofline as drawn } from "./roofline.js";
import { heading } from "./run.js";
import { name, measured, table } from "./table.js";
import { percent } from "./times.js";

const stall = "smsp__average_warps_issue_stalled_*_per_issue_active.ratio";

export function mount(root, route, nav) {
  const abort = new AbortController(), { signal } = abort, { run } = route.path, { query } = route;
  const by = Object.hasOwn(groupings, query.get("by") ?? "") ? query.get("by") : "line";
  let launch = query.has("launch") ? Number(query.get("launch")) : null;
  const content = el("div", {}, loading("the profiled launches"));
  root.append(...heading(nav, run, "ncu"), content);

  fill(content, Promise.all([ask(run, "kernel-sol", {}, signal), ask(run, "bottlenecks", { top: 0 }, signal), ask(run, "roofline", {}, signal), ask(run, "ceilings", {}, signal), hottest(run, by, signal)]).then(([sol, bottlenecks, roofline, ceilings, hotspots]) => {
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
      fill(panel, launchPanel(run, sol, sol.rows.find((r) => r.launch === launch), roofline, shown.signal));
      if (!quiet) panel.scrollIntoView({ block: "nearest" });
    }
    function mark() {
      for (const dot of roofs.querySelectorAll(".dot")) dot.classList.toggle("on", Number(dot.dataset.launch) === launch);
      for (const tr of launches.querySelectorAll("tbody tr")) tr.setAttribute("aria-selected", String(Number(tr.querySelector("a")?.textContent) === launch));
    }

    roofs.append(...launchRoofs(roofline, ceilings, (l) => pick(l)));
    queueMicrotask(() => pick(launch, true));
    return [
      el("section", {}, el("h2", {}, "Roofline"), roofs, roofline.notes.map((n) => el("p", { class: "note" }, n)), el("details", {}, el("summary", {}, "Ceilings"), table(ceilings, { caption: "ceilings", search: false }))),
      el("section", {}, el("h2", {}, "What limits each kernel"), table(bottlenecks, { caption: "bottlenecks", search: false, most: 20 })),
      hotspots.rows.length ? hotLines(run, hotspots, by, nav, signal) : null,
      el("section", {}, el("h2", {}, "Launches"), launches),
      el("section", {}, panel),
      el("p", { class: "see" }, ["ncu-source", "ncu-balance", "kernel-metrics", "ncu-rules", "ncu-rule-tables", "kernel-efficiency", "ncu-matches", "region-metrics", "ncu-plan"].map((q) => [el("a", { href: `${runLink(run)}?query=${q}` }, q), " "])),
    ];
  }));
  return () => abort.abort();
}

// groupings are what hot lines are lines of: the query's argument by, where it has one, and its name.
const groupings = { line: "source", ptx: "PTX", instruction: "instructions" };

const hottest = (run, by, signal) => ask(run, "ncu-hotspots", { top: 50, ...(by === "line" ? {} : { by }) }, signal);

// hotLines are the lines that take the most time, of the source, of the PTX, or single instructions.
function hotLines(run, hotspots, by, nav, signal) {
  const draw = (answer) => table({ ...answer, columns: codeLast(answer.columns) }, { caption: "ncu-hotspots", search: false, most: 10, cells: { code: (v) => v === null ? "-" : el("code", {}, v) } });
  const lines = el("div", { "aria-live": "polite" }, draw(hotspots));
  let asked = null;
  function choose(e) {
    nav.replace({ by: e.target.value === "line" ? null : e.target.value });
    asked?.abort();
    asked = new AbortController();
    signal.addEventListener("abort", () => asked.abort());
    fill(lines, hottest(run, e.target.value, asked.signal).then(draw));
  }
  return el("section", {}, el("h2", {}, "Hot lines"),
    el("div", { class: "form" }, el("label", {}, "lines of", el("select", { name: "by", onchange: choose }, Object.entries(groupings).map(([value, text]) => el("option", { value, selected: value === by }, text))))), lines);
}

// launchPanel is one launch: its figures, what its warps wait for, what Nsight Compute's rules say of its kernel.
async function launchPanel(run, sol, row, roofline, signal) {
  const [stalls, rules, cells] = await Promise.all([ask(run, "kernel-metrics", { metric: stall, launch: row.launch }, signal), ask(run, "ncu-rules", { kernel: row.kernel.slice(0, 200) }, signal).catch((err) => { if (err.name === "AbortError") throw err; return { columns: [], rows: [], notes: [err.message] }; }), ask(run, "ncu-rule-tables", { launch: row.launch }, signal)]);
  const reasons = stalls.rows.map((r) => ({ reason: r.metric.slice("smsp__average_warps_issue_stalled_".length, -"_per_issue_active.ratio".length).replaceAll("_", " "), value: r.value, text: measured(stalls, r, "value") })).filter((r) => r.value > 0).sort((a, b) => b.value - a.value);
  const total = reasons.reduce((sum, r) => sum + r.value, 0);
  const mine = rules.rows.filter((r) => r.kernel === row.kernel && r.grid === row.grid && r.block === row.block);
  const cell = (n) => measured(sol, row, n);
  return [
    el("h2", {}, `Launch ${row.launch}`), el("p", {}, name(row.kernel, cell("kernel"))),
    el("div", { class: "stages" },
      el("article", {}, el("h3", {}, "Figures"), facts([["stage", row.stage], ["grid", row.grid], ["block", row.block], ["duration", cell("duration_ns")], ["SM", cell("sm_ratio")], ["memory", cell("memory_ratio")], ["DRAM", cell("dram_ratio")], ["L2", cell("l2_ratio")], ["L1", cell("l1_ratio")], ["occupancy", row.occupancy_ratio === null ? null : `${cell("occupancy_ratio")} of ${cell("theoretical_occupancy_ratio") ?? "?"} possible`], ["waves", cell("waves")], ["registers", cell("register_count")], ["shared", cell("shared_bytes")],
        ...roofline.rows.filter((r) => r.launch === row.launch).map((r) => [r.resource, `${measured(roofline, r, "achieved_flop_per_s") ?? "-"}, ${measured(roofline, r, "attained_ratio") ?? "-"} of its roof (${r.side ?? "unknown side"})`])], "figures")),
      el("article", {}, el("h3", {}, "Stalls"), reasons.length ? [el("p", { class: "hint" }, "Cycles that a warp waits for each instruction it issues, by reason."), el("div", { class: "bars" }, reasons.slice(0, 12).flatMap((r) => [el("span", {}, r.reason), el("i", { style: { "--share": `${100 * r.value / reasons[0].value}%` } }), el("span", { class: "n" }, r.text, ` (${percent(r.value / total)})`)]))] : el("p", { class: "hint" }, "Not measured: ncu --set full, or --section WarpStateStats.")),
      el("article", {}, el("h3", {}, "Rules of Nsight Compute"), mine.length ? el("ul", {}, mine.map((r) => el("li", {}, el("b", {}, r.finding), r.speedup_ratio ? `, up to ${measured(rules, r, "speedup_ratio")}${r.scope ? ` (${r.scope})` : ""}` : "", r.advice ? el("p", { class: "why" }, r.advice) : null, ruleTables(cells, r)))) : el("p", { class: "hint" }, rules.notes[0] ?? "No rule found anything for this kernel."))),
    el("p", { class: "see" }, el("a", { href: `${runLink(run)}?query=kernel-metrics&p.launch=${row.launch}` }, "All metrics of this launch"), " ", el("a", { href: `${runLink(run)}?query=ncu-source&p.launch=${row.launch}` }, "Its lines and instructions")),
  ];
}

// ruleTables are the tables that a finding comes with, as Nsight Compute shows them.
function ruleTables(cells, finding) {
  const of = Map.groupBy(cells.rows.filter((c) => ["rule", "finding", "severity", "nth"].every((k) => c[k] === finding[k])), (c) => c.table_number);
  return [...of.values()].map((list) => {
    const columns = [...new Map(list.map((c) => [c.column_number, c.header]))].sort((a, b) => a[0] - b[0]), rows = [...Map.groupBy(list, (c) => c.row_number).values()];
    const cell = (c) => c === undefined ? el("td") : c.text === null ? el("td", { class: "n" }, measured(cells, c, "value") ?? "-") : el("td", { class: c.text.length > 40 ? "long" : null }, c.text);
    return [el("p", { class: "why" }, list[0].title), el("div", { class: "wide panelled" }, el("table", {}, el("caption", {}, list[0].title), el("thead", {}, el("tr", {}, columns.map(([, header]) => el("th", { scope: "col" }, header)))),
      el("tbody", {}, rows.map((row) => el("tr", {}, columns.map(([number]) => cell(row.find((c) => c.column_number === number))))))))];
  });
}

// launchRoofs draws a roofline for each device.
function launchRoofs(roofline, ceilings, pick) {
  return [...new Set([...roofline.rows, ...ceilings.rows].map((r) => r.device))].map((device) => drawn(device,
    roofline.rows.filter((r) => r.device === device).map((r) => ({ series: r.resource, intensity: r.intensity, flops: r.achieved_flop_per_s, title: `launch ${r.launch}: ${measured(roofline, r, "kernel")}`, reached: `${measured(roofline, r, "achieved_flop_per_s")} at ${measured(roofline, r, "intensity")} FLOP/B`,
      roof: `${measured(roofline, r, "attained_ratio") ?? "-"} of its roof, ${r.side} side`, data: { launch: r.launch }, pick: () => pick(r.launch) })),
    ceilings.rows.filter((c) => c.device === device).map((c) => ({ series: c.resource, flops: c.peak_flop_per_s, bytes: c.peak_bytes_per_s, text: measured(ceilings, c, c.resource === "dram" ? "peak_bytes_per_s" : "peak_flop_per_s"), measured: c.basis === "measured" })), "launch", "of DRAM traffic")).filter(Boolean);
}

// codeLast moves source text behind the figures: it is as wide as it likes.
const codeLast = (columns) => [...columns.filter((c) => c.name !== "code"), ...columns.filter((c) => c.name === "code")];
