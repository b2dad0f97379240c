// One run: what bounds its stages, what could make it faster, what takes the time; and any query of it.
import { get, path } from "./api.js";
import { drawn } from "./document.js";
import { el, facts, fill, loading, problem, runLink } from "./dom.js";
import { ask, commandLink, mountCatalogue, mountQuery } from "./query.js";
import { roofline } from "./roofline.js";
import { name, measured, table } from "./table.js";
import { bounds, isIdle, parts, partText } from "./terms.js";
import { count, percent, time } from "./times.js";

export function mount(root, route, nav) {
  const abort = new AbortController(), { run } = route.path, { query } = route, asked = query.get("query");
  root.append(...heading(nav, run, asked ? "queries" : query.has("queries") ? "queries" : "summary", asked));
  if (asked) {
    const content = el("div");
    root.append(content);
    let unmount = () => {};
    const stages = get(path("runs", run), {}, abort.signal).then((s) => s.stages.map((x) => x.stage), () => []);
    stages.then((list) => { if (!abort.signal.aborted) unmount = mountQuery(content, { run, name: asked, query, nav, stages: list }); });
    return () => { abort.abort(); unmount(); };
  }
  if (query.has("queries")) {
    const content = el("div");
    root.append(content);
    mountCatalogue(content, { wanted: (q) => q.takes_run, href: (q) => `${runLink(run)}?query=${encodeURIComponent(q.name)}`, find: query.get("find") ?? "", changed: (find) => nav.replace({ find }) });
    content.append(el("p", { class: "hint" }, "Queries over all runs: ", el("a", { href: "/queries" }, "here"), "."));
    return () => abort.abort();
  }
  mountSummary(root, run, nav, abort.signal);
  return () => abort.abort();
}

// heading names a view of a run, in the title too, with links to its other views.
export function heading(nav, run, current, query = null) {
  const views = [["summary", "Summary", runLink(run)], ["timeline", "timeline", runLink(run, "timeline")], ["ncu", "Nsight Compute", runLink(run, "ncu")], ["queries", "queries", runLink(run) + "?queries="], ["check", "Check", "/check?" + new URLSearchParams({ run })]];
  const view = query ?? (current === "summary" ? null : views.find(([id]) => id === current)[1]);
  nav.title(view ? `${run} ${view}` : run);
  return [el("h1", {}, view ? [el("a", { href: runLink(run) }, run), " / ", view] : run),
    el("ul", { class: "steps", "aria-label": "Views of the run" }, views.map(([id, words, href]) => el("li", {}, el("a", { href, "aria-current": id === current ? "page" : null }, words[0].toUpperCase() + words.slice(1)))),
      el("li", {}, el("a", { href: path("runs", run, "report", "report.html"), target: "_blank", rel: "noopener" }, "Report")))];
}

// mountSummary appends one part after the other, so that nothing moves that a reader has seen; all are asked for before.
async function mountSummary(root, run, nav, signal) {
  const section = (id, title, ...children) => el("section", { id }, title ? el("h2", {}, title) : null, children);
  const asked = (promise) => { promise.catch(() => {}); return promise; }; // its part says what is wrong
  const part = async (what, promise) => {
    const place = el("div", { class: "part" }, loading(what));
    if (!signal.aborted) root.append(place);
    await fill(place, asked(promise));
  };
  const shown = asked(get(path("runs", run), {}, signal)), accounting = asked(ask(run, "accounting", {}, signal));
  const found = asked(get(path("runs", run, "findings"), { format: "blocks" }, signal)), serving = asked(queryTable(run, "serving", signal, true));
  await part("the run", Promise.all([shown, accounting.catch((err) => err)]).then(([s, parts]) => [
    el("p", { class: "lead" }, s.lead),
    facts(Object.entries(s.facts).map(([k, v]) => [k === "gpus" ? "GPUs" : k, k === "command" ? el("code", {}, v) : v])),
    s.stages.length ? section("glance", "Stages", stageCards(s.stages, parts), s.ranks.length ? el("ul", {}, s.ranks.map((r) => el("li", {}, r.words, ". ", commandLink(r.command)))) : null) : null,
  ]));
  await part("benchmarks", serving.then((drawn) => drawn && section("serving", "Benchmarks, as the client measured them", drawn)));
  const kernels = shown.then((s) => queryTable(run, "top-kernels", signal, !s.stages.length)), operators = asked(queryTable(run, "top-operators", signal, true)), roofs = asked(operatorRoofs(run, nav, signal));
  await part("findings", Promise.all([found, shown]).then(([{ documents }, s]) => section("advice", toDo(documents[0], s)[0]?.section ? null : "What to do first", findingList(documents[0], s))));
  await part("kernels", kernels.then((drawn) => drawn && section("kernels", "Kernels that take the most time", drawn)));
  await part("operators", operators.then((drawn) => drawn && section("operators", "Operators that take the most time in the whole run", drawn)));
  await part("operators", roofs.then((drawn) => drawn && section("operator-roofline", "Operators against the roofline", drawn)));
  const { doubts } = await shown;
  if (doubts.length) root.append(section("doubts", "Caveats", el("ul", { class: "doubts" }, doubts.map((d) => el("li", {}, d)))));
}

// operatorRoofs draws the operators that took the most time against what the device can do, by their inputs.
function operatorRoofs(run, nav, signal) {
  return ask(run, "operator-roofline", { top: 200, sort: "self_device" }, signal).then((answer) => {
    const { rows, notes } = answer, known = rows.filter((r) => r.flop !== null), plain = "no matrix product", unique = (list) => [...new Map(list.map((c) => [c.series + c.flops, c])).values()];
    if (!known.length) return null;
    return [...new Set(known.map((r) => r.device))].map((device) => {
      const mine = known.filter((r) => r.device === device);
      return roofline(device, mine.map((r) => ({ series: r.precision ?? plain, intensity: r.intensity, flops: r.achieved_flop_per_s, title: `${r.operator} ${r.shapes ?? ""}\n${r.calls} calls, ${measured(answer, r, "self_device_ns")}`, reached: `${measured(answer, r, "achieved_flop_per_s")} at ${measured(answer, r, "intensity")} FLOP/B`, roof: r.attained_ratio === null ? "its roof is unknown" : `${measured(answer, r, "attained_ratio")} of its roof, ${r.side} side`,
        pick: () => nav.go(`${runLink(run)}?${new URLSearchParams({ query: "operator-roofline", "p.operator": r.operator })}`) })),
        unique(mine.flatMap((r) => [{ series: r.precision, flops: r.roof_flop_per_s, text: measured(answer, r, "roof_flop_per_s"), measured: false }, { series: "dram", bytes: r.roof_bytes_per_s, text: measured(answer, r, "roof_bytes_per_s"), measured: false }])), "operator", "that it must read and write");
    }).concat(rows.length === 200 ? el("p", { class: "hint" }, "The 200 that took the most time.") : [], notes.map((n) => el("p", { class: "note" }, n)), el("p", {}, el("a", { href: `${runLink(run)}?query=operator-roofline` }, "All of operator-roofline")));
  });
}

// queryTable draws the first rows of a query; null where it has none and that is no news.
async function queryTable(run, query, signal, mayBeMissing) {
  const answer = await ask(run, query, { top: 10 }, signal), has = answer.rows.length > 0;
  return has || !mayBeMissing ? [table(answer, { caption: query, search: false }), has ? el("p", {}, el("a", { href: `${runLink(run)}?query=${query}` }, `All of ${query}`)) : null] : null;
}

// stageCards draws what is known of each stage. accounting is the answer that says where its time went, or why there is none.
function stageCards(stages, accounting) {
  const rows = accounting.rows ?? [], used = new Set(), devices = new Set(rows.map((r) => r.device));
  return [
    el("div", { class: "stages" }, stages.map((s) => {
      const isAll = s.stage === "(run)";
      return el("article", { data: { stage: s.stage } }, el("h3", {}, s.stage, " ", el("span", { class: "verdict", title: "what bounds the stage" }, s.bound_label)), partsBar(rows.filter((r) => r.stage === s.stage), used),
        facts([
          ["share of time, by medians", isAll ? null : percent(s.share_ratio)],
          [isAll ? "first to last work" : "time per pass", s.passes > 1 ? `${time(s.median_ns)} (median of ${s.passes_text}, ${time(s.min_ns)} to ${time(s.max_ns)})` : time(s.median_ns)],
          ["GPU busy", percent(s.busy_ratio)],
          ...(isAll ? [] : [["MFU", use(s.mfu_ratio, s)], ["MBU", use(s.mbu_ratio, s)], ["tokens/s", s.tokens_per_s === null ? "-" : count(Number(s.tokens_per_s.toPrecision(3)))]]),
          ["then by", s.next_bound && s.next_bound !== s.bound && s.next_bound !== "unknown" ? bounds[s.next_bound] ?? s.next_bound : null],
        ], "figures"),
        s.why ? el("p", { class: "why" }, sentence(s.why)) : null,
        s.but ? el("p", {}, el("strong", {}, "But "), s.but, ".") : null,
        el("p", {}, commandLink(s.command)));
    })),
    accounting.rows ? el("ul", { class: "legend", "aria-label": "Parts of the bars" }, Object.keys(parts).filter((p) => used.has(p)).map((p) => el("li", { class: `part-${p}` }, el("i", { class: isIdle(p) ? "idle" : null }), partText(p))),
      devices.size > 1 ? el("li", {}, `${devices.size} GPUs added up`) : null) : problem(accounting),
  ];
}

// partsBar draws the parts of a stage's time, and adds those that it has to a set; null without any.
function partsBar(rows, used) {
  const total = rows.reduce((sum, r) => sum + r.median_pass_ns, 0), sums = new Map();
  if (!total) return null;
  for (const r of rows) sums.set(r.part, (sums.get(r.part) ?? 0) + r.median_pass_ns);
  for (const part of sums.keys()) used.add(part);
  return el("div", { class: "share", role: "img", "aria-label": [...sums].map(([part, ns]) => `${partText(part)} ${percent(ns / total)}`).join(", ") }, [...sums].map(([part, ns]) =>
    el("span", { class: `part-${part} ${isIdle(part) ? "idle" : ""}`, style: { width: `${100 * ns / total}%` }, title: `${partText(part)}: ${percent(ns / total)}, ${time(ns)}` })));
}

// use is a utilisation: at least that where not all of the work could be counted.
const use = (ratio, s) => ratio === null ? "-" : ratio > 1 ? `${percent(ratio)} (an input is wrong)` : (s.is_least ? "≥ " : "") + percent(ratio);
const sentence = (text) => text[0].toUpperCase() + text.slice(1) + (text.endsWith(".") ? "" : ".");

// toDo is what prof explain says but for what the page has elsewhere, as the lead with which it begins.
const toDo = ({ blocks }, { lead }) => blocks.filter((b) => !b.facts && !b.notes && b.lead?.text !== lead);

// findingList is what prof explain says, and what to capture next.
function findingList(explained, shown) {
  const others = shown.advice.filter((a) => !a.finding);
  return [
    drawn(toDo(explained, shown)),
    others.length ? el("ul", { class: "findings" }, others.map((a) => el("li", {}, el("b", {}, a.advice), el("p", { class: "why" }, a.why), el("p", {}, commandLink(a.command))))) : null,
    el("details", {}, el("summary", {}, "Notes"), drawn(explained.blocks.filter((b) => b.notes))),
  ];
}
