// A run judged by rules, as a gate of CI does: each rule with its figure, its limit, and why it holds, is broken or cannot be told.
import { get, path } from "./api.js";
import { drawn } from "./document.js";
import { el, fill, loading } from "./dom.js";
import { runField, runsKnown } from "./runs.js";

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
    fill(result, get(path("check"), { ...asked, format: "blocks" }, abort.signal).then(({ documents }) => [
      documents.map((d) => drawn(d.blocks)),
      asked.baseline ? el("p", {}, el("a", { href: "/compare?" + new URLSearchParams({ base: asked.baseline, new: asked.run || "@latest" }) }, "Compare the run with its baseline")) : null,
    ]));
  }
  return () => abort.abort();
}
