// The stages of a workload over its runs: their level, where it changed, and what each point comes from.
import { get, path } from "./api.js";
import { drawn } from "./document.js";
import { el, svg, facts, fill, loading, runLink } from "./dom.js";
import { runField, runsKnown } from "./runs.js";

const metrics = ["gpu_span_ns", "gpu_busy_ns", "gpu_sum_ns", "cpu_ns", "tokens_per_s", "mfu_ratio", "mbu_ratio"];

export const keys = [["← →", "on a chart: the point before, after"], ["Enter", "on a chart: compare with the run before"]];

const compare = (base, now, stage, metric) => "/compare?" + new URLSearchParams({ base, new: now, ...(stage && stage !== "(run)" ? { stage } : {}), ...(/^(gpu_busy|gpu_sum|cpu)_ns$/.test(metric) ? { metric } : {}) });

export function mount(root, route, nav) {
  const abort = new AbortController(), { query } = route, names = ["workload", "stage", "metric", "kernels"];
  const asked = { ...Object.fromEntries(names.map((n) => [n, query.get(n) ?? ""])), tag: query.getAll("tag") };
  nav.title("Trend");
  const field = (n, attributes = {}) => el("label", {}, n, el("input", { type: "text", name: n, value: asked[n], ...attributes }));
  const form = el("form", { class: "form", onsubmit: (e) => { e.preventDefault(); submit(); } },
    runField("workload", asked.workload, "a run of the workload, or its key; empty: the newest run's"),
    field("stage", { placeholder: "all" }), el("label", {}, "metric", el("select", { name: "metric", onchange: () => submit() }, metrics.map((m) => el("option", { value: m, selected: m === (asked.metric || metrics[0]) }, m)))),
    el("label", {}, "tag", el("input", { type: "text", name: "tag", value: asked.tag.join(" "), placeholder: "key=value" })), field("kernels", { type: "number", min: 0, placeholder: "20", title: "look for the cause of a change in so many kernels of each stage" }),
    el("button", { class: "main" }, "Show"), runsKnown(abort.signal));
  const result = el("div", {}, loading("the trend"));
  root.append(el("h1", {}, "Trend"), form, result);

  function submit() {
    const f = new FormData(form), params = new URLSearchParams();
    for (const n of names) if ((f.get(n) ?? "").trim() && !(n === "metric" && f.get(n) === metrics[0])) params.set(n, f.get(n).trim());
    for (const tag of f.get("tag").split(/\s+/).filter(Boolean)) params.append("tag", tag);
    nav.go("/trend?" + params);
  }

  fill(result, get(path("trend"), { ...asked, format: "blocks" }, abort.signal).then(({ documents }) => documents.map((d) => drawn(d.blocks, { trend: (c) => course(c, asked.metric, nav, query) }))));
  return () => abort.abort();
}

// course draws a series: a point for each run, lines at its levels, marks where it changed; beside it what the chosen point comes from.
function course({ stage, label, same, now, state, tone, unknown_text: unknown, figure: f, points }, metric, nav, query) {
  const param = `point.${stage}`, asked = points.findIndex((p) => p.run === query.get(param));
  const panel = el("aside", { class: "panel", "aria-live": "polite" }), place = el("figure", { class: "plot dated", tabindex: "0", role: "group", "aria-label": `${f?.spoken ?? label}; left and right move between runs` });
  const open = (i) => { if (i > 0) nav.go(compare(points[i - 1].run, points[i].run, stage, metric)); };
  let at = -1;
  function show(i, keep) {
    if (i === at) return;
    at = i;
    const { run, facts: known } = points[i];
    if (keep) nav.replace({ [param]: run });
    for (const dot of place.querySelectorAll(".run")) dot.classList.toggle("on", Number(dot.dataset.point) === i);
    panel.replaceChildren(el("h3", {}, el("a", { href: runLink(run) }, run)), facts(known),
      i > 0 ? el("p", {}, el("a", { class: "button", href: compare(points[i - 1].run, run, stage, metric) }, `Compare with ${points[i - 1].run}`)) : el("p", { class: "hint" }, "The first run of the series."));
  }
  if (f) {
    const under = (e) => { const box = drawing.getBoundingClientRect(); return Math.max(0, Math.min(points.length - 1, Math.floor((e.clientX - box.left) / box.width * points.length))); };
    // A mouse has read the point already when it clicks; a finger first reads it in the panel, which links to the comparison.
    const drawing = svg("svg", { height: f.height, onpointermove: (e) => show(under(e)), onpointerup: (e) => { show(under(e), true); nav.replace({ [param]: points[at].run }); if (e.pointerType === "mouse") open(at); } },
      svg("rect", { class: "reach", width: "100%", height: f.height }),
      f.y_ticks.map((t) => [svg("line", { class: "grid", x1: 0, x2: "100%", y1: t.at, y2: t.at }), svg("text", { class: "soft", x: 0, dx: -6, y: t.at, dy: 4, "text-anchor": "end" }, t.text)]),
      f.x_ticks.map((t) => svg("text", { class: t.is_broad ? "soft broad" : "soft", x: t.at, y: f.below, "text-anchor": t.anchor }, t.text)),
      f.marks.map((m) => svg("g", { class: `change-mark ${m.class}` }, svg("line", { class: "level-change", x1: m.x, x2: m.x, y1: m.label_y, y2: f.height }), svg("text", { x: m.x, dx: m.anchor === "end" ? -4 : 4, y: m.label_y, dy: 9, "text-anchor": m.anchor, onpointerup: (e) => { e.stopPropagation(); open(m.point); } }, m.text))),
      f.spreads.map((s) => svg("line", { class: "spread", x1: s.x, x2: s.x, y1: s.from, y2: s.to })),
      f.levels.map((l) => svg("line", { class: "level", x1: l.x1, x2: l.x2, y1: l.y, y2: l.y }, svg("title", {}, l.title))),
      f.points.map((p) => svg("circle", { class: "run", cx: p.x, cy: p.y, r: 4, data: { point: p.point } }, svg("title", {}, p.title))));
    place.append(drawing);
    place.addEventListener("keydown", (e) => {
      const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length - 1 }[e.key];
      if (to !== undefined && points[to]) {
        e.preventDefault();
        show(to, true);
      } else if (e.key === "Enter") open(at);
    });
  }
  show(asked < 0 ? points.length - 1 : asked);
  return el("section", { class: "trend", data: { stage } }, el("h3", {}, label), el("p", {}, "latest level ", el("b", {}, now), ", ", el("span", { class: tone || null }, state), same ? el("span", { class: "hint" }, ` (${same})`) : null, unknown ? [". ", unknown] : null), el("div", { class: "split" }, place, panel));
}
