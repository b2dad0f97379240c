// The SQL console: read-only, with completion; the address holds the statement.
import { base, get, once, path, post } from "./api.js";
import { axisIn, chart } from "./chart.js";
import { el, copyButton, fill, loading } from "./dom.js";
import { numeric, shown, table } from "./table.js";

const examples = [
  ["Runs", "FROM runs"], ["Kernels of the newest run", "FROM top_kernels('@latest', top := 20)"],
  ["Stages of all runs", "SELECT r.name AS run, d.stage, count(*) AS passes, median(d.span_ns) AS span_median_ns, median(d.compute_ns) AS compute_median_ns\nFROM device_part d JOIN run r USING (run_id)\nWHERE NOT d.is_warmup AND d.stage <> '(run)'\nGROUP BY ALL ORDER BY ALL"],
  ["Kernel time by run and GPU", "SELECT r.name AS run, k.device_id, count(*) AS launches, sum(k.duration_ns) AS total_ns\nFROM kernel k JOIN run r USING (run_id)\nGROUP BY ALL ORDER BY total_ns DESC"],
];

export const keys = [["Ctrl Enter", "run the statement"], ["Ctrl Space", "complete"]];

export function mount(root, route, nav) {
  let abort = new AbortController(), view = null, gone = false, drawn = null, answer = null;
  const { query } = route;
  const state = { q: query.get("q") ?? "", limit: Number(query.get("limit")) || 1000, sort: query.get("sort") ?? "", find: query.get("find") ?? "", view: query.get("view") === "chart" ? "chart" : "table", x: query.get("x") ?? "", y: query.get("y") ?? "", kind: query.get("kind") ?? "" };
  let text = state.q;
  nav.title("SQL");

  const host = el("div", { class: "editor" }), result = el("div", { "aria-live": "polite" }), runButton = el("button", { type: "button", class: "main", title: "Ctrl+Enter", onclick: () => submit() }, "Run");
  const limit = el("select", { onchange: () => { state.limit = Number(limit.value); if (state.q) submit(); } }, [100, 1000, 10000].map((n) => el("option", { value: n, selected: n === state.limit }, n.toLocaleString("en"))));
  root.append(el("h1", {}, "SQL"), host,
    el("div", { class: "form" }, runButton, el("label", { class: "check" }, "rows at most", limit), copyButton("Copy link", () => location.href, "Copy the link to this statement"),
      el("span", { class: "hint line" }, "DuckDB's SQL, read-only. ", el("kbd", {}, "Ctrl"), el("kbd", {}, "Enter"), " runs, ", el("kbd", {}, "Ctrl"), el("kbd", {}, "Space"), " completes.")),
    el("div", { class: "form" }, el("span", { class: "hint" }, "Examples:"), examples.map(([label, q]) => el("button", { type: "button", onclick: () => { view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: q } }); submit(); } }, label)), el("span", { class: "hint" }, "Ready-made: ", el("a", { href: "/queries" }, "queries"))),
    result);

  const relations = once(path("schema")).then((s) => s.relations), runs = get(path("runs"), { limit: 200 }, abort.signal).then((r) => r.runs.map((run) => run.name));
  relations.catch(() => {});
  runs.catch(() => {}); // without them the editor completes less
  import("./editor.js").then(({ editor }) => {
    if (gone) return;
    view = editor(host, { doc: text, changed: (to) => { text = to; }, run: () => submit(), schema: relations, runs });
    view.focus();
  }).catch((err) => {
    console.error(err);
    const area = el("textarea", { rows: 8, value: text, "aria-label": "SQL", oninput: (e) => { text = e.target.value; } });
    host.replaceWith(area);
  });

  function submit() {
    Object.assign(state, { sort: "", find: "", x: "", y: "", kind: "" });
    show();
  }

  async function show() {
    const q = text.trim();
    state.q = q;
    nav.replace({ q, limit: state.limit === 1000 ? null : state.limit, sort: state.sort, find: state.find, view: state.view === "chart" ? "chart" : null, x: state.x, y: state.y, kind: state.kind });
    drawn?.destroy();
    drawn = answer = null;
    if (!q) { result.replaceChildren(); return; }
    abort.abort();
    abort = new AbortController();
    runButton.disabled = true;
    result.setAttribute("aria-busy", "true");
    result.replaceChildren(loading("the answer"));
    const started = performance.now();
    await fill(result, post(`${base}/sql?format=texts`, { sql: q, limit: state.limit }, abort.signal).then((a) => {
      answer = a;
      const ms = Math.round(performance.now() - started), place = el("div");
      const tabs = el("ul", { class: "steps" }, [["table", "Table"], ["chart", "Chart"]].map(([id, words]) => el("li", {}, el("a", { href: "#", role: "button", data: { view: id }, onclick: (e) => { e.preventDefault(); state.view = id; nav.replace({ view: id === "chart" ? "chart" : null }); draw(); } }, words))));
      function draw() {
        for (const tab of tabs.querySelectorAll("a")) tab.dataset.view === state.view ? tab.setAttribute("aria-current", "true") : tab.removeAttribute("aria-current");
        drawn?.destroy();
        drawn = null;
        if (state.view === "table") place.replaceChildren(table(a, { caption: "answer", state, changed: (to) => { Object.assign(state, to); nav.replace(to); } }));
        else drawn = chartOf(place, a, state, nav);
      }
      queueMicrotask(draw);
      return [a.is_cut ? el("p", { class: "note" }, `Only the first ${a.rows.length.toLocaleString("en")} rows are shown.`) : null, tabs, place, el("p", { class: "hint" }, `${a.rows.length.toLocaleString("en")} rows in ${ms} ms`)];
    }));
    runButton.disabled = false;
  }

  if (text) show();
  return () => { gone = true; abort.abort(); view?.destroy(); drawn?.destroy(); };
}

const whole = Array.from({ length: 16 }, (_, e) => [1, 2, 5].map((n) => n * 10 ** e)).flat(); // steps between whole numbers
const cut = (text) => text.length > 44 ? text.slice(0, 26) + "…" + text.slice(-17) : text;

// chartOf draws one column over another: lines and points over numbers, bars over names.
function chartOf(place, answer, state, nav) {
  const { columns, rows } = answer, numbers = columns.filter(numeric);
  if (!numbers.length || !rows.length) {
    place.replaceChildren(el("p", { class: "hint none" }, rows.length ? "No column holds numbers." : "No rows."));
    return null;
  }
  const named = (n) => columns.find((c) => c.name === n);
  const y = numbers.find((c) => c.name === state.y) ?? numbers.find((c) => c.unit) ?? numbers.at(-1), x = named(state.x) ?? columns.find((c) => c.type === "text") ?? columns.find((c) => c !== y) ?? y;
  const kind = numeric(x) ? (state.kind === "points" || state.kind === "line" ? state.kind : "line") : "bars";
  const choose = (name, label, list, chosen) => el("label", {}, label, el("select", { name, onchange: (e) => { state[name] = e.target.value; nav.replace({ [name]: e.target.value }); drawn?.destroy(); drawn = chartOf(place, answer, state, nav); } }, list.map((v) => el("option", { value: v, selected: v === chosen }, v))));
  let drawn = null;
  const figure = el("figure", { class: "plot" });
  place.replaceChildren(el("div", { class: "form" }, choose("y", "y", numbers.map((c) => c.name), y.name), choose("x", "x", columns.map((c) => c.name), x.name), numeric(x) ? choose("kind", "as", ["line", "points"], kind) : null), figure);
  if (kind === "bars") {
    const first = rows.map((_, i) => i).filter((i) => rows[i][y.name] !== null).slice(0, 60), most = Math.max(...first.map((i) => Math.abs(Number(rows[i][y.name]))), 0) || 1;
    figure.append(el("p", { class: "hint" }, y.title), el("div", { class: "bars" }, first.flatMap((i) => [el("code", { title: String(rows[i][x.name]) }, cut(shown(answer, i, x.name))), el("i", { style: { "--share": `${100 * Math.abs(Number(rows[i][y.name])) / most}%` } }), el("span", { class: "n" }, shown(answer, i, y.name))])));
    if (rows.length > first.length) figure.append(el("p", { class: "hint" }, `The first ${first.length} of ${rows.length.toLocaleString("en")} rows.`));
    return { destroy() {} };
  }
  const points = rows.map((r) => [r[x.name], r[y.name]]).filter(([a, b]) => a !== null && b !== null).map((p) => p.map(Number)).sort((a, b) => a[0] - b[0]);
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1]);
  drawn = chart(figure, () => {
    const ink = getComputedStyle(document.documentElement).getPropertyValue("--series-0").trim();
    return {
      height: 320, legend: { show: false }, scales: { x: { time: false } }, cursor: { drag: { x: true, y: false } },
      series: [{}, { label: y.name, stroke: ink, width: kind === "line" ? 1.5 : 0, paths: kind === "line" ? undefined : () => null, points: { show: kind === "points" || points.length < 200, size: 6, fill: ink } }],
      axes: [{ ...axisIn(x.scale, x.title), size: 40, labelSize: 18, ...(x.type === "int" ? { incrs: whole } : {}) }, axisIn(y.scale, y.title)],
    };
  }, [xs, ys]);
  return { destroy: () => drawn.destroy() };
}
