// A run judged by rules, as a gate of CI does: each rule with its figure, its limit, and why it holds, is broken or cannot be told.
import { get, path } from "./api.js";
import { differences, runsOf, verdictChip } from "./compare.js";
import { el, facts, fill, loading } from "./dom.js";
import { change, signedTime, value } from "./format.js";
import { commandLink } from "./query.js";
import { runField, runsKnown } from "./runs.js";
import { table } from "./table.js";

const examples = ["stage.*.gpu_span_ns <= +5%", "stage.*.gpu_work <= +3%", "stage.prefill.gpu_span_ns <= 60ms", "stage.decode.launches <= +0", "kernel:/gemm/.mean_ns <= +3%", "mfu.prefill >= 0.35", "overhead <= 25%", "new_kernels <= 0"];

export const keys = [["Ctrl Enter", "in the rules: check"]];

export function mount(root, route, nav) {
  const abort = new AbortController(), { query } = route;
  const asked = { ...Object.fromEntries(["run", "baseline", "alpha"].map((n) => [n, query.get(n) ?? ""])), rule: query.getAll("rule") };
  const isAsked = Boolean(asked.run || asked.baseline || asked.rule.length), title = isAsked ? `${asked.run || "@latest"} check` : "Check";
  nav.title(title);
  const rules = el("textarea", { name: "rule", rows: Math.min(12, Math.max(3, asked.rule.length)), value: asked.rule.join("\n"), spellcheck: "false", placeholder: "empty: the warehouse's rules, otherwise " + examples[0], onkeydown: (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) submit(); } });
  const form = el("form", { class: "form", onsubmit: (e) => { e.preventDefault(); submit(); } },
    runField("run", asked.run, "@latest, or several runs with commas"), runField("baseline", asked.baseline, "run or baseline:NAME; empty: the only baseline"),
    el("label", {}, "alpha", el("input", { type: "text", name: "alpha", value: asked.alpha, placeholder: "0.01" })), el("button", { class: "main" }, "Check"),
    el("label", { class: "whole-field" }, "rules, one per line", rules),
    el("p", { class: "hint whole-field" }, "A limit with a sign is relative to the baseline. Add a rule: ", examples.map((rule) => [el("button", { type: "button", class: "chip", onclick: () => { rules.value = [...lines(), rule].join("\n"); rules.focus(); } }, rule), " "])), runsKnown(abort.signal));
  const result = el("div");
  root.append(el("h1", {}, title), form, result);

  const lines = () => rules.value.split("\n").map((l) => l.trim()).filter((l) => l && !l.startsWith("#"));

  function submit() {
    const f = new FormData(form), params = new URLSearchParams({ run: f.get("run").trim() || "@latest" });
    for (const n of ["baseline", "alpha"]) if (f.get(n).trim()) params.set(n, f.get(n).trim());
    for (const rule of lines()) params.append("rule", rule);
    nav.go("/check?" + params);
  }

  if (isAsked) {
    result.append(loading("the verdict"));
    fill(result, get(path("check"), asked, abort.signal).then((judged) => [
      el("p", { class: "lead" }, verdictChip(judged.outcome), " ", judged.words + "."),
      judged.is_same ? el("p", { class: "note" }, "The run is its own baseline.") : null,
      facts([["run", runsOf(judged.run)], ["baseline", judged.baseline && runsOf(judged.baseline)]]),
      el("h2", {}, "Rules"), ruleTable(judged.rules),
      judged.baseline ? [el("h2", {}, "What else differs"), differences(judged.differences, "baseline", "run"),
        el("p", {}, el("a", { href: "/compare?" + new URLSearchParams({ base: judged.baseline.label, new: judged.run.label }) }, "Compare the run with its baseline"))] : null,
      judged.notes.map((n) => el("p", { class: "note" }, n)),
    ]));
  }
  return () => abort.abort();
}

const amount = (unit, v) => unit === "per_s" && v !== null ? value("", v) + "/s" : value(unit, v);

// ruleTable has the columns of prof check, and below each figure why its rule came out so.
function ruleTable(rules) {
  const column = (name, type, doc) => ({ name, type, unit: "", doc });
  const rows = rules.map((r) => {
    const limit = r.rule.slice(r.rule.lastIndexOf(r.operator));
    return { outcome: r.outcome, figure: r.figure, value: r.value, limit, limit_as_value: /^..\s*[+-]/.test(limit) ? r.limit : null, baseline: r.baseline, change: r.effect_ratio, per: r.per, of: r };
  });
  const figure = (v, row) => amount(row.of.unit, v);
  return table({ columns: [column("outcome", "text", "holds, broken or cannot tell"), column("figure", "text", "what the rule is about, with its stage"), column("value", "float", "of the run"), column("limit", "text", "as the rule says"), column("limit_as_value", "float", "what the value may come to"),
    column("baseline", "float", "of the baseline"), column("change", "float", "value over baseline less 1"), column("per", "text", "what times and counts are for")], rows, notes: [] }, { caption: "rules", search: false, cells: {
    outcome: (v) => verdictChip(v), figure: (v, row) => [el("code", {}, v), row.of.reason && why(row.of)], value: figure, limit_as_value: figure, baseline: figure, change: (v) => change(v),
  } });
}

const why = (r) => el("p", { class: "hint partner" }, r.reason.replace(/\.$/, ""), r.contributors.map((c, i) => [i ? ", " : "; it comes from ", c.words || c.name, !c.words || c.effect_ratio !== null && c.effect_ratio > -1 ? ` (${signedTime(c.delta_ns)})` : ""]), r.see ? ["; see ", commandLink(r.see)] : null);
