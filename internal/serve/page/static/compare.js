// Two runs, or two sets of runs: which stages became faster or slower, how sure that is, and what made the difference.
import { get, path } from "./api.js";
import { drawn } from "./document.js";
import { el, fill, loading, runLink } from "./dom.js";
import { mountPicker, runField, runsKnown } from "./runs.js";

const byWhat = ["kernel", "family", "grid", "stage", "operator", "range", "metric", "tree"];
const metrics = ["gpu_span_ns", "gpu_busy_ns", "gpu_idle_ns", "gpu_sum_ns", "cpu_ns"];

export const keys = [["Alt Enter", "compare, from any field"]];

export function mount(root, route, nav) {
  const abort = new AbortController();
  const { query } = route;
  const names = ["base", "new", "by", "stage", "metric", "top", "alpha", "min_effect", "margin", "assume_noise"];
  const asked = Object.fromEntries(names.map((n) => [n, query.get(n) ?? ""]));
  const title = asked.base && asked.new ? `${asked.new} against ${asked.base}` : "Compare";
  nav.title(title);

  const input = (n, label, attributes = {}) => el("label", {}, label, el("input", { type: "text", name: n, value: asked[n], ...attributes }));
  const select = (n, label, list) => el("label", {}, label, el("select", { name: n, onchange: submit }, list.map((v) => el("option", { value: v, selected: v === (asked[n] || list[0]) }, v))));
  const form = el("form", { class: "form", onsubmit: (e) => { e.preventDefault(); submit(); } },
    runField("base", asked.base, "run, @latest~1, tag:k=v, or several with commas"), runField("new", asked.new, "run, @latest, or several with commas"),
    el("button", { type: "button", title: "Exchange the sides", "aria-label": "Exchange the sides", onclick: () => { const f = form.elements; [f.base.value, f.new.value] = [f.new.value, f.base.value]; submit(); } }, "⇄"),
    el("button", { class: "main" }, "Compare"),
    el("details", { class: "whole-field", open: names.slice(2).some((n) => asked[n]) }, el("summary", {}, "Options"), el("div", { class: "form" },
      select("by", "by", byWhat), select("metric", "judged by", metrics), input("stage", "stage", { placeholder: "all" }), input("top", "rows", { type: "number", min: 0, placeholder: "10" }), input("alpha", "alpha", { placeholder: "0.01" }), input("min_effect", "smallest effect", { placeholder: "1%" }), input("margin", "margin", { placeholder: "5%" }), input("assume_noise", "noise between runs", { placeholder: "as seen" }))),
    runsKnown(abort.signal));
  form.addEventListener("keydown", (e) => { if (e.key === "Enter" && e.altKey) submit(); });
  const result = el("div"), picker = el("details", { class: "picker", open: !(asked.base && asked.new) }, el("summary", {}, "Pick the runs from a list"));
  root.append(el("h1", {}, title), form, picker, result);
  mountPicker(picker, ["base", "new"].map((side) => form.elements[side]), abort.signal);

  function submit() {
    const f = new FormData(form), params = new URLSearchParams();
    for (const n of names) {
      const v = ratio(n, (f.get(n) ?? "").trim());
      if (v && !(n === "by" && v === byWhat[0]) && !(n === "metric" && v === metrics[0])) params.set(n, v);
    }
    nav.go("/compare?" + params);
  }

  const unknown = [...new Set(query.keys())].filter((n) => !names.includes(n) && !["pass", "from", "to"].includes(n)); // the last are of the timelines
  if (unknown.length) {
    result.append(el("p", { class: "problem", role: "alert" }, `There is no parameter ${unknown.join(", ")} here. The sides are base and new, as in /compare?base=RUN&new=RUN; others are ${names.slice(2).join(", ")}.`));
  } else if (asked.base || asked.new) {
    if (!asked.base || !asked.new) result.append(el("p", { class: "problem", role: "alert" }, `Compared with which run? ${asked.base ? "new" : "base"} is not given, as in /compare?base=RUN&new=RUN.`));
  }

  let unmountTimeline = null, seen = null;
  if (asked.base && asked.new) {
    const [base, now] = [asked.base, asked.new].map((side) => side.split(",").map((run) => run.trim()));
    result.append(loading("the comparison"));
    fill(result, get(path("diff"), { ...asked, format: "blocks" }, abort.signal).then(({ documents }) => [
      el("ul", { class: "steps", "aria-label": "More of these runs" }, [...[...base, ...now].map((run) => [run, runLink(run)]), ["Check by rules", "/check?" + new URLSearchParams({ run: asked.new, baseline: asked.base })],
        asked.top !== "0" && ["All rows", "/compare?" + new URLSearchParams({ ...Object.fromEntries(Object.entries(asked).filter(([, v]) => v)), top: 0 })]].filter(Boolean).map(([words, href]) => el("li", {}, el("a", { href }, words)))),
      documents.map((d) => [documents.length > 1 ? el("h2", {}, d.title) : null, drawn(d.blocks)]),
    ])).then((done) => {
      if (!done || asked.base === asked.new) return;
      const place = el("div", { class: "timelines" }, loading("the timelines"));
      result.append(el("section", {}, el("h2", {}, "Timelines of the median passes"), base.length > 1 || now.length > 1 ? el("p", { class: "hint" }, "Of the first run of each side.") : null, place));
      seen = new IntersectionObserver((entries) => { // they are loaded when a reader gets there
        if (!entries.some((e) => e.isIntersecting)) return;
        seen.disconnect();
        fill(place, import("./timeline.js").then((module) => {
          if (abort.signal.aborted) return null;
          const root = el("div");
          unmountTimeline = module.mountCompare(root, { base: base[0], new: now[0], stage: asked.stage, query }, nav);
          return root;
        }));
      });
      seen.observe(place);
    });
  } else {
    result.append(el("p", { class: "hint" }, "A side may be several runs: repeats of the same workload say how much it varies."));
  }
  return () => { abort.abort(); seen?.disconnect(); unmountTimeline?.(); };
}

// ratio reads 5% as 0.05, in the fields that are shares.
function ratio(field, text) {
  const percentage = /^([\d.]+)\s*%$/.exec(text);
  return percentage && ["alpha", "min_effect", "margin", "assume_noise"].includes(field) ? String(Number((Number(percentage[1]) / 100).toPrecision(12))) : text;
}
