// The stages of a workload over its runs: their level, where it changed, and what each point comes from.
import { get, path } from "./api.js";
import { axisIn, chart } from "./chart.js";
import { el, color, facts, fill, loading, runLink } from "./dom.js";
import { change, count, minute, scaleOf, value } from "./format.js";
import { runField, runsKnown } from "./runs.js";

const metrics = ["gpu_span_ns", "gpu_busy_ns", "gpu_sum_ns", "cpu_ns", "tokens_per_s", "mfu_ratio", "mbu_ratio"];
const tones = { better: "better", worse: "worse" };

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
  const result = el("div", {}, loading("the trend")), charts = [];
  root.append(el("h1", {}, "Trend"), form, result);

  function submit() {
    const f = new FormData(form), params = new URLSearchParams();
    for (const n of names) if ((f.get(n) ?? "").trim() && !(n === "metric" && f.get(n) === metrics[0])) params.set(n, f.get(n).trim());
    for (const tag of f.get("tag").split(/\s+/).filter(Boolean)) params.append("tag", tag);
    nav.go("/trend?" + params);
  }

  fill(result, get(path("trend"), asked, abort.signal).then((trend) => {
    if (!trend.series.length) return [el("p", { class: "hint none" }, "No run of the workload has this figure."), trend.notes.map((n) => el("p", { class: "note" }, n))];
    return [
      facts([["workload", el("code", {}, trend.workload)], ["command", trend.command && el("code", {}, trend.command)], ["runs", `${count(trend.runs.length)}, ${minute(trend.runs[0]?.at)} to ${minute(trend.runs.at(-1)?.at)} UTC`]]),
      trend.changes.length ? [el("h2", {}, "Changes of level"), el("ol", { class: "findings changes" }, trend.changes.map((c) => changeItem(c, trend)))] : el("p", {}, "No change of level was found."),
      trend.series.map((s, i) => {
        const place = el("section", { class: "trend", data: { stage: s.stage } });
        queueMicrotask(() => { if (!abort.signal.aborted) charts.push(seriesChart(place, s, i, trend, nav, query)); });
        return place;
      }),
      trend.notes.map((n) => el("p", { class: "note" }, n)),
      el("details", {}, el("summary", {}, "Queries behind the figures"), trend.queries.map((q) => el("div", {}, el("p", { class: "hint" }, q.query), el("pre", {}, q.sql), el("p", {}, el("a", { class: "button", href: "/sql?" + new URLSearchParams({ q: q.sql }) }, "Open in the console"))))),
    ];
  }));
  return () => { abort.abort(); for (const c of charts) c.destroy(); };
}

// around gives the runs on both sides of a change. first and last are places in the points of its series.
function around(c, trend) {
  const points = trend.series[c.series].points;
  return [trend.runs[points[c.last].run], trend.runs[points[c.first].run]];
}

function changeItem(c, trend) {
  const [before, after] = around(c, trend), { stage } = trend.series[c.series];
  return el("li", { class: c.is_suspect ? "unsure" : tones[c.verdict] ?? "" }, el("b", {}, c.words), c.is_suspect ? " (perhaps: too few runs since)" : "",
    c.moved.length ? el("p", {}, "moved per pass: ", c.moved.map((m, i) => [i ? "; " : "", m.words])) : c.largest_unsure ? el("p", {}, "largest, not certain: ", c.largest_unsure.words) : null,
    c.differences?.length ? el("p", {}, "between the two runs: ", c.differences.map((d, i) => [i ? "; " : "", `${d.aspect} `, el("code", {}, d.before ?? "-"), " → ", el("code", {}, d.after ?? "-")])) : null,
    el("p", {}, el("a", { href: compare(before.run, after.run, stage, trend.metric) }, `Compare ${before.run} with ${after.run}`)));
}

function seriesChart(place, s, index, trend, nav, query) {
  const unit = trend.unit, runs = s.points.map((p) => trend.runs[p.run]), values = s.points.map((p) => p.value), axis = scaleOf({ name: "value", type: "float", unit }, values);
  const stage = s.stage === "(run)" ? "whole run" : s.stage, level = s.levels.at(-1), few = s.points.length < 6;
  const changes = trend.changes.filter((c) => c.series === index);
  const same = [s.gpu, s.tool, s.prompt_token_count && `${count(s.prompt_token_count)} prompt tokens`, s.decode_token_count && `${count(s.decode_token_count)} decoded`, s.is_varying && "tokens differ from pass to pass"].filter(Boolean).join(", ");
  const figure = el("figure", { class: "plot", tabindex: "0", role: "group", "aria-label": `${stage} over ${s.points.length} runs; left and right move between them` });
  const panel = el("aside", { class: "panel", "aria-live": "polite" });
  place.append(el("h2", {}, stage), el("p", { class: "hint" }, same, level ? [same ? "; " : "", `level now ${value(unit, level.median)}`] : null, few ? "; too few runs to find a change: it takes 6, or 4 to suspect one" : null), el("div", { class: "split" }, figure, panel));

  const param = `point.${s.stage}`;
  let at = runs.findIndex((r) => r.run === query.get(param));
  if (at < 0) at = s.points.length - 1;

  function show(i, keep) {
    at = i;
    const p = s.points[i], run = runs[i], before = i > 0 ? runs[i - 1] : null, last = i > 0 ? s.points[i - 1] : null;
    if (keep) nav.replace({ [param]: run.run });
    panel.replaceChildren(el("h3", {}, el("a", { href: runLink(run.run) }, run.run)),
      facts([
        [trend.metric.replace(/_(ns|ratio)$/, "").replaceAll("_", " "), el("b", {}, value(unit, p.value))], ["mean", p.mean === null ? null : `${value(unit, p.mean)}${p.std === null ? "" : ` ± ${value(unit, p.std)}`}`], ["passes", count(p.passes)],
        ["captured", minute(run.at) + " UTC"], ["commit", run.commit ? el("code", {}, run.commit.slice(0, 12) + (run.is_dirty ? " + changes" : "")) : null], ["branch", run.branch], ["host", run.host], ["driver", run.driver], ["tool", [s.tool, run.tool_version].filter(Boolean).join(" ")], ["prof", run.prof_version],
        ...(before ? diff(run, before) : []),
      ]),
      before ? el("p", {}, el("a", { class: "button", href: compare(before.run, run.run, s.stage, trend.metric) }, `Compare with ${before.run}`), last.value ? ` ${change(p.value / last.value - 1)}` : "") : el("p", { class: "hint" }, "The first run of the series."));
  }

  const xs = s.points.map((_, i) => i), days = new Set(runs.map((r) => r.at.slice(0, 10))).size;
  const label = (i) => { const run = runs[i]; return !run ? "" : days > 1 && days >= runs.length / 3 ? run.at.slice(5, 10) : run.run.length > 14 ? run.run.slice(0, 5) + "…" + run.run.slice(-7) : run.run; };
  const middle = (u, i) => u.valToPos(i, "x", true);
  const options = () => ({
    height: 240, legend: { show: false }, scales: { x: { time: false, range: [-0.5, s.points.length - 0.5] }, y: { range: (_, low, high) => { const room = (high - low || Math.abs(high) || 1) * 0.12; return [low - room, high + room]; } } },
    cursor: { x: true, y: false, drag: { x: false, y: false }, points: { size: 11 } },
    series: [{}, { label: stage, stroke: color("series-0"), width: 0, paths: () => null, points: { show: true, size: 8, fill: color("series-0"), stroke: color("paper"), width: 1 } }],
    axes: [{ values: (_, ticks) => ticks.map((v) => Number.isInteger(v) ? label(v) : ""), incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500], space: 95, grid: { show: false } }, axisIn(axis.div, axis.name)],
    hooks: {
      drawSeries: [(u) => {
        const { ctx } = u, ratio = devicePixelRatio;
        ctx.save();
        ctx.lineWidth = 1.2 * ratio;
        ctx.strokeStyle = color("series-0");
        ctx.globalAlpha = 0.45;
        s.points.forEach((p, i) => { // one standard deviation of the passes to both sides
          if (p.std === null || p.mean === null) return;
          ctx.beginPath();
          ctx.moveTo(middle(u, i), Math.min(u.bbox.top + u.bbox.height, u.valToPos(p.mean - p.std, "y", true)));
          ctx.lineTo(middle(u, i), Math.max(u.bbox.top, u.valToPos(p.mean + p.std, "y", true)));
          ctx.stroke();
        });
        ctx.globalAlpha = 1;
        ctx.strokeStyle = color("ink");
        ctx.lineWidth = 1.5 * ratio;
        for (const l of s.levels) {
          const y = u.valToPos(l.median, "y", true);
          ctx.beginPath();
          ctx.moveTo(u.valToPos(l.from - 0.4, "x", true), y);
          ctx.lineTo(u.valToPos(l.to + 0.4, "x", true), y);
          ctx.stroke();
        }
        ctx.font = `600 ${12 * ratio}px system-ui, sans-serif`;
        ctx.setLineDash([4 * ratio, 3 * ratio]);
        for (const c of changes) {
          const x = u.valToPos(c.first - 0.5, "x", true), text = change(c.effect_ratio) + (c.is_suspect ? "?" : "");
          ctx.strokeStyle = ctx.fillStyle = color(c.is_suspect ? "unsure" : c.verdict === "better" ? "good" : c.verdict === "worse" ? "bad" : "soft");
          ctx.beginPath();
          ctx.moveTo(x, u.bbox.top);
          ctx.lineTo(x, u.bbox.top + u.bbox.height);
          ctx.stroke();
          const right = x + ctx.measureText(text).width + 8 * ratio > u.bbox.left + u.bbox.width;
          ctx.textAlign = right ? "right" : "left";
          ctx.fillText(text, x + (right ? -4 : 4) * ratio, u.bbox.top + 13 * ratio);
        }
        ctx.restore();
      }],
      setCursor: [(u) => { if (u.cursor.idx !== null && u.cursor.idx !== undefined && u.cursor.left >= 0 && u.cursor.idx !== at) show(u.cursor.idx); }],
      ready: [(u) => {
        // A mouse has read the point already when it clicks; a finger first reads it in the panel, which links to the comparison.
        let touched = false;
        u.over.addEventListener("pointerdown", (e) => { touched = e.pointerType !== "mouse"; });
        u.over.addEventListener("click", (e) => {
          const x = u.posToVal(e.offsetX, "x"), near = changes.find((c) => Math.abs(u.valToPos(c.first - 0.5, "x") - e.offsetX) < 8);
          if (near && !touched) { const [before, after] = around(near, trend); nav.go(compare(before.run, after.run, s.stage, trend.metric)); return; }
          const i = Math.max(0, Math.min(s.points.length - 1, Math.round(x)));
          show(i, true);
          if (!touched) open(i);
        });
      }],
    },
  });
  const open = (i) => { if (i > 0) nav.go(compare(runs[i - 1].run, runs[i].run, s.stage, trend.metric)); };
  const made = chart(figure, options, [xs, values]);
  figure.addEventListener("keydown", (e) => {
    const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: s.points.length - 1 }[e.key];
    if (to !== undefined && s.points[to]) {
      e.preventDefault();
      show(to, true);
      made.plot.setCursor({ left: made.plot.valToPos(to, "x"), top: made.plot.valToPos(values[to], "y") }, false);
    } else if (e.key === "Enter") open(at);
  });
  show(at);
  return made;
}

// diff lists what of the machine and the software is other than at the run before.
function diff(run, before) {
  return [["branch", "branch"], ["host", "host"], ["driver", "driver"], ["tool_version", "tool"], ["prof_version", "prof"], ["commit", "commit"]].filter(([k]) => run[k] !== before[k] && (run[k] || before[k]))
    .map(([k, words]) => [`${words} changed`, `${(before[k] ?? "-").slice(0, 12)} → ${(run[k] ?? "-").slice(0, 12)}`]);
}
