// Two runs, or two sets of runs: which stages became faster or slower, how sure that is, and what made the difference.
import { get, path } from "./api.js";
import { el, svg, facts, fill, loading, runLink } from "./dom.js";
import { change, count, fixed, kernelNames, minute, scaleOf, signedShare, signedTime, threeDigits, time, value } from "./format.js";
import { runField, runsKnown } from "./runs.js";
import { name, table } from "./table.js";
import { causes } from "./terms.js";

const byWhat = ["kernel", "family", "grid", "stage", "operator", "range", "metric", "tree"];
const metrics = ["gpu_span_ns", "gpu_busy_ns", "gpu_idle_ns", "gpu_sum_ns", "cpu_ns"];
const tones = { better: "better", worse: "worse", "cannot tell": "unsure", holds: "better", broken: "worse" }; // verdicts of comparisons, outcomes of rules

export const keys = [["Alt Enter", "compare, from any field"]];

export function mount(root, route, nav) {
  const abort = new AbortController();
  const { query } = route;
  const names = ["base", "new", "by", "stage", "metric", "top", "alpha", "min_effect", "margin"];
  const asked = Object.fromEntries(names.map((n) => [n, query.get(n) ?? ""]));
  const title = asked.base && asked.new ? `${asked.new} against ${asked.base}` : "Compare";
  nav.title(title);

  const input = (n, label, attributes = {}) => el("label", {}, label, el("input", { type: "text", name: n, value: asked[n], ...attributes }));
  const select = (n, label, list) => el("label", {}, label, el("select", { name: n, onchange: submit }, list.map((v) => el("option", { value: v, selected: v === (asked[n] || list[0]) }, v))));
  const form = el("form", { class: "form", onsubmit: (e) => { e.preventDefault(); submit(); } },
    runField("base", asked.base, "run, @latest~1, tag:k=v, or several with commas"), runField("new", asked.new, "run, @latest, or several with commas"),
    el("button", { type: "button", title: "Exchange the sides", "aria-label": "Exchange the sides", onclick: () => { const f = form.elements; [f.base.value, f.new.value] = [f.new.value, f.base.value]; submit(); } }, "⇄"),
    el("button", { class: "main" }, "Compare"),
    select("by", "by", byWhat), select("metric", "judged by", metrics), input("stage", "stage", { placeholder: "all" }), input("top", "rows", { type: "number", min: 0, placeholder: "10" }), input("alpha", "alpha", { placeholder: "0.01" }), input("min_effect", "smallest effect", { placeholder: "1%" }), input("margin", "margin", { placeholder: "5%" }),
    runsKnown(abort.signal));
  form.addEventListener("keydown", (e) => { if (e.key === "Enter" && e.altKey) submit(); });
  const result = el("div");
  root.append(el("h1", {}, title), form, result);

  function submit() {
    const f = new FormData(form), params = new URLSearchParams();
    for (const n of names) {
      const v = ratio(n, (f.get(n) ?? "").trim());
      if (v && !(n === "by" && v === byWhat[0]) && !(n === "metric" && v === metrics[0])) params.set(n, v);
    }
    nav.go("/compare?" + params);
  }

  let unmountTimeline = null, seen = null;
  if (asked.base && asked.new) {
    let first = null;
    result.append(loading("the comparison"));
    fill(result, get(path("diff"), asked, abort.signal).then(({ comparisons }) => {
      first = comparisons[0];
      return comparisons.map((c) => comparison(c, asked));
    })).then((done) => {
      if (!done || !first?.a.runs.length || !first.b.runs.length || first.is_same) return;
      const isSet = first.a.runs.length > 1 || first.b.runs.length > 1, place = el("div", { class: "timelines" }, loading("the timelines"));
      result.append(el("section", {}, el("h2", {}, "Timelines of the median passes"), isSet ? el("p", { class: "hint" }, "Of the first run of each side.") : null, place));
      seen = new IntersectionObserver((entries) => { // they are loaded when a reader gets there
        if (!entries.some((e) => e.isIntersecting)) return;
        seen.disconnect();
        fill(place, import("./timeline.js").then((module) => {
          if (abort.signal.aborted) return null;
          const root = el("div");
          unmountTimeline = module.mountCompare(root, { base: first.a.runs[0].name, new: first.b.runs[0].name, stage: asked.stage, query }, nav);
          return root;
        }));
      });
      seen.observe(place);
    });
  } else {
    result.append(el("p", { class: "hint" }, "Name two runs, or pick them on the page of runs. A side may be several runs: repeats of the same workload say how much it varies."));
  }
  return () => { abort.abort(); seen?.disconnect(); unmountTimeline?.(); };
}

// probability shows a chance with two digits, and a very small one by its bound, as render/compare does.
const probability = (p) => p > 0 && p < 0.0001 ? "<0.0001" : p >= 0.1 ? fixed(p, 2) : String(Number(p.toPrecision(2)));
const toneOf = (verdict) => tones[verdict] ?? "";
export const verdictChip = (verdict) => el("span", { class: `verdict ${toneOf(verdict)}` }, verdict);
export const runsOf = (side) => el("span", {}, side.runs.map((r, i) => [i ? ", " : "", el("a", { href: runLink(r.name), title: [r.host, r.command, minute(r.started_at ?? r.created_at)].filter(Boolean).join("\n") }, r.name)]));

function comparison(c, asked) {
  return [
    el("p", { class: "lead" }, verdictChip(c.verdict), " ", c.words + "."),
    c.is_same ? el("p", { class: "note" }, "Both sides are the same runs.") : null,
    facts([["base", runsOf(c.a)], ["new", runsOf(c.b)]]),
    el("p", {}, el("a", { href: "/check?" + new URLSearchParams({ run: asked.new, baseline: asked.base }) }, "Check by rules")),
    el("div", { class: "stages" }, c.stages.map((s) => stageCard(s, c))),
    contributors(c, asked),
    el("h2", {}, "What else differs"),
    differences(c.differences, "base", "new"),
    c.notes.map((n) => el("p", { class: "note" }, n)),
    c.queries.length ? el("details", {}, el("summary", {}, "Queries behind the figures"), c.queries.map((q) => el("div", {}, el("p", { class: "hint" }, `${q.query} of ${q.run}`), el("pre", {}, q.sql), el("p", {}, el("a", { class: "button", href: "/sql?" + new URLSearchParams({ q: q.sql }) }, "Open in the console"))))) : null,
  ];
}

// differences are the conditions that differ between two sides of these names.
export function differences(list, base, now) {
  if (!list.length) return el("p", { class: "hint" }, "No other condition differs.");
  return table({ columns: ["aspect", base, now, list.some((d) => d.effect) && "effect"].filter(Boolean).map((n) => ({ name: n, type: "text", unit: "", doc: "" })), rows: list.map((d) => ({ ...d, [base]: d.a, [now]: d.b, effect: d.effect || null })), notes: [] }, { caption: "conditions that differ", search: false, cells: { aspect: (v, row) => row.weight === "tells" ? el("b", {}, v) : v } });
}

function stageCard(s, c) {
  const k = s.comparison, unit = c.options.metric;
  return el("article", { data: { stage: s.stage } }, el("h3", {}, s.stage === "(none)" ? "outside stages" : s.stage, " ", k ? verdictChip(s.verdict) : el("span", { class: "verdict" }, "not judged")),
    k && k.effect_ratio !== null ? el("p", { class: `change ${toneOf(s.verdict)}` }, change(k.effect_ratio), " ", el("span", { class: "of" }, `${time(k.a)} → ${time(k.b)} per ${s.unit}`)) : null,
    samples(s),
    facts([
      ["change lies between", k && k.low_ratio !== null ? `${change(k.low_ratio)} and ${change(k.high_ratio)}` : null],
      ["p", k && k.p !== null ? `${probability(k.p)} (${k.method}, ${count(k.a_samples)} and ${count(k.b_samples)} samples)` : null],
      ["certain from", k && k.smallest_ratio !== null ? change(k.smallest_ratio).replace("+", "") : null],
      ["passes", `${count(s.a.passes)} → ${count(s.b.passes)}`],
      ["launches", s.a.launches === null || s.b.launches === null ? null : `${count(s.a.launches)} → ${count(s.b.launches)}`],
      ...s.figures.filter((f) => f.name !== unit && f.comparison?.effect_ratio !== null && f.comparison !== null).map((f) => [figureNames[f.name] ?? f.name.replaceAll("_", " "), el("span", {}, `${figure(f, f.comparison.a)} → ${figure(f, f.comparison.b)} `, el("span", { class: "whole " + toneOf(f.verdict) }, change(f.comparison.effect_ratio)))]),
    ], "figures"),
    s.contributors.length ? el("ul", {}, s.contributors.map((x) => el("li", {}, x.words, `, ${signedTime(x.delta_ns)}, ${signedShare(x.stage_share_ratio)} of the stage`))) : null,
    el("p", { class: "why" }, s.words));
}

const figure = (f, v) => f.unit ? value(f.unit, v) : threeDigits(v);

// samples draws each sample of both sides: a judgement rests on how they lie.
function samples(s) {
  const all = [...s.a.samples, ...s.b.samples].filter((v) => typeof v === "number");
  if (all.length < 2) return null;
  const low = Math.min(...all), high = Math.max(...all), span = high - low || 1, scale = scaleOf({ name: "value", type: "float", unit: "ns" }, [high]);
  const x = (v) => `${12 + 86 * (v - low) / span}%`;
  const row = (side, y, series, median) => [
    svg("text", { class: "soft", x: 4, y: y + 4 }, series === 0 ? "base" : "new"),
    side.samples.map((v, i) => svg("circle", { class: `sample series-${series}`, cx: x(v), cy: y, r: 4 }, svg("title", {}, `${series === 0 ? "base" : "new"}, sample ${i + 1}: ${time(v)}`))),
    typeof median === "number" && median >= low && median <= high ? svg("line", { class: "median", x1: x(median), x2: x(median), y1: y - 7, y2: y + 7 }) : null,
  ];
  return el("figure", { class: "plot" }, svg("svg", { height: 76, role: "img", "aria-label": `${all.length} samples from ${time(low)} to ${time(high)}` },
    svg("rect", { class: "ground", width: "100%", height: 56, rx: 3 }), row(s.a, 16, 0, s.comparison?.a), row(s.b, 40, 1, s.comparison?.b),
    svg("text", { class: "soft", x: "12%", y: 71, "text-anchor": "middle" }, `${scale.text(low)} ${scale.name}`), svg("text", { class: "soft", x: "98%", y: 71, "text-anchor": "end" }, `${scale.text(high)} ${scale.name}`)));
}

// ratio reads 5% as 0.05, in the fields that are shares.
function ratio(field, text) {
  const percentage = /^([\d.]+)\s*%$/.exec(text);
  return percentage && ["alpha", "min_effect", "margin"].includes(field) ? String(Number((Number(percentage[1]) / 100).toPrecision(12))) : text;
}

// contributors are the rows of each stage, largest change first: they add up to the change of the stage.
function contributors(c, asked) {
  const stages = [...new Set([...c.stages.map((s) => s.stage), ...c.items.map((i) => i.stage)])];
  const isCut = c.options.top > 0 && c.items.some((i) => i.kind === "rest");
  return stages.map((stage) => {
    const list = c.items.filter((i) => i.stage === stage);
    if (!list.length) return null;
    const of = stage === null ? "the whole runs" : stage === "(none)" ? "work outside all stages" : stage, per = c.stages.find((s) => s.stage === stage)?.unit ?? "run";
    return el("section", { data: { stage } }, el("h2", {}, `What changed in ${of}`), items(list, `what changed in ${of}`, per),
      isCut && list.some((i) => i.kind === "rest") ? el("p", {}, el("a", { href: "/compare?" + new URLSearchParams({ ...Object.fromEntries(Object.entries(asked).filter(([, v]) => v)), top: 0 }) }, "All rows")) : null);
  });
}

const launchOf = (i) => (i.grid ? ` grid ${i.grid}` : "") + (i.block ? ` block ${i.block}` : "");
const words = (i) => i.kind === "overlap" ? "overlap: concurrent work" : i.kind === "idle" && causes[i.name] ? `idle: ${causes[i.name]}` : i.name + launchOf(i);
const figureNames = { gpu_busy_ns: "GPU busy time", gpu_idle_ns: "GPU idle time", ns_per_token: "time per token", alone_ns: "time without a profiler", gpu_sum_ns: "sum of device work", gpu_span_ns: "GPU span", cpu_ns: "CPU time", tokens_per_s: "tokens/s", mfu_ratio: "MFU", mbu_ratio: "MBU" };

function items(list, caption, per) {
  const short = kernelNames(list.filter((i) => i.kind === "kernel" || i.kind === "grid").map((i) => i.name));
  const shownOf = (side, i) => !side ? null : i.unit === "ns" ? side.typical_ns ?? side.per_unit_ns : side.value;
  const missing = (side, i) => !side || i.unit === "ns" && !side.total_ns && !side.calls;
  const rows = list.map((i) => {
    const delta = i.typical_delta ?? i.delta, base = missing(i.a, i) ? null : shownOf(i.a, i), now = missing(i.b, i) ? null : shownOf(i.b, i), isTime = i.unit === "ns";
    return {
      name: words(i), item: i, base, new: now, difference: isTime ? delta?.ns ?? null : base !== null && now !== null ? now - base : null,
      effect: base !== null && now !== null && base !== 0 ? now / base - 1 : null, gone: now === null && base !== null, fresh: base === null && now !== null,
      stage_share_ratio: i.stage_share_ratio, calls: i.a?.calls || i.b?.calls ? `${count(i.a?.calls_per_unit ?? 0)} → ${count(i.b?.calls_per_unit ?? 0)}` : null,
      by_count: delta?.count_ns || null, by_duration: delta?.duration_ns || null, new_or_gone: delta ? delta.new_ns + delta.removed_ns || null : null, p: i.comparison?.p ?? null, verdict: i.verdict, family: i.family,
    };
  });
  const number = (n, doc) => ({ name: n, type: "float", unit: "", doc }), text = (n, doc) => ({ name: n, type: "text", unit: "", doc });
  const columns = [
    text("name", "kernel, copy, or cause of idle time"), number("base", `per ${per}, base`), number("new", `per ${per}, new`), number("difference", `new - base, per ${per}`), number("effect", "change as a share of the base"),
    { ...number("stage_share_ratio", "change as a share of the stage's time at the base"), unit: "ratio" }, text("calls", `calls per ${per}`), number("by_count", "what more or fewer calls change"), number("by_duration", "what longer or shorter calls change"), number("new_or_gone", "what came new or is gone"),
    number("p", "probability of such a difference without a change"), text("verdict", "verdict"), text("family", "kernel family"),
  ];
  const tone = (row) => toneOf(row.verdict), times = scaleOf({ name: "v", type: "float", unit: "ns" }, rows.filter((r) => r.item.unit === "ns").flatMap((r) => [r.base, r.new]));
  const shown = (v, row) => v === null ? "-" : row.item.unit === "ns" ? `${times.text(v)} ${times.name}` : value(row.item.unit, v);
  const moved = (v) => v === null ? "-" : signedTime(v);
  const partner = (i) => i.partner ? el("div", { class: "hint partner" }, i.kind === "node" ? `${i.how}: now ` : `${i.how ?? i.status} ${missing(i.b, i) ? "into" : "from"} `, i.partner.split(" + ").map((p, n) => [n ? " + " : "", i.kind === "node" && i.how !== "other kernels" ? p : name(p, kernelNames([p])(p))])) : i.kind === "node" && i.how ? el("div", { class: "hint partner" }, i.how) : null;
  return table({ columns, rows, notes: [] }, { caption, search: false, cells: {
    name: (v, row) => [row.item.kind === "kernel" || row.item.kind === "grid" ? name(v, short(row.item.name) + launchOf(row.item)) : v, partner(row.item)],
    base: shown, new: shown, difference: (v, row) => v === null ? "-" : row.item.unit === "ns" ? signedTime(v) : `${v > 0 ? "+" : v < 0 ? "-" : ""}${value(row.item.unit, Math.abs(v))}`,
    effect: (v, row) => row.fresh ? "new" : row.gone ? "gone" : v === null ? "-" : el("span", { class: "whole " + tone(row) }, change(v)),
    stage_share_ratio: (v) => v === null ? "-" : signedShare(v), by_count: moved, by_duration: moved, new_or_gone: moved,
    p: (v) => v === null ? "-" : probability(v), verdict: (v) => v ? verdictChip(v) : "-",
  } });
}
