// One query of the catalogue: its parameters as a form, its answer as a table, its SQL.
import { address, get, once, path } from "./api.js";
import { el, copyButton, fill, loading, later, runLink } from "./dom.js";
import { table } from "./table.js";

export const catalogue = () => once(path("queries")).then((all) => all.queries.sort((a, b) => all.titles.indexOf(a.title) - all.titles.indexOf(b.title)));

// queryOf gives where a query is asked: of a run, or of the whole warehouse.
const queryOf = (run, name) => run === null ? path("queries", name) : path("runs", run, "queries", name);

// ask gives the answer of a query of a run, with its texts.
export const ask = (run, name, params, signal) => get(queryOf(run, name), { ...params, format: "texts" }, signal);

// addressOf turns a command (prof query pass-accounting --run r --stage decode --device 0, prof diff a b, prof open --run r --stage decode) into the address of the page that
// shows the same; null where there is none.
export function addressOf(command) {
  const words = [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
  const names = [], options = {};
  for (let i = 2; i < words.length; i++) {
    const [, name, value] = /^--([\w-]+)(?:=(.*))?$/.exec(words[i]) ?? [];
    if (!name) names.push(words[i]);
    else options[name.replaceAll("-", "_")] = value ?? (words[i + 1] === undefined || words[i + 1].startsWith("--") ? "true" : words[++i]);
  }
  const { run, ...rest } = options;
  if (words[0] !== "prof") return null;
  if (words[1] === "diff" && names.length === 2 && Object.keys(options).every((o) => ["by", "stage", "metric"].includes(o))) return address("/compare", { base: names[0], new: names[1], ...options });
  if (words[1] === "open" && !names.length && run !== undefined) return address(runLink(run, "timeline"), rest);
  if (words[1] !== "query" || names.length !== 1 || run === undefined) return null;
  return address(runLink(run), { query: names[0], ...Object.fromEntries(Object.entries(rest).map(([name, value]) => ["p." + name, value])) });
}

// commandLink is a command, as a link to the page that shows the same where there is one.
export function commandLink(command) {
  const to = addressOf(command);
  if (to && command.startsWith("prof open ")) return el("a", { href: to, class: "see whole", title: command }, "show it on the timeline");
  return to ? el("a", { href: to, class: "see" }, el("code", {}, command)) : el("code", { class: "see" }, command);
}

// placeOf gives of a row of a query the address at which the timeline of the run shows it; null where it has no place there. Rows say when something starts by the clock of their source.
const placeOf = (run, { lengths }, params) => (row) => {
  const source = row.source_id ?? params.of_source, long = lengths?.map((name) => row[name]).find((ns) => ns !== null && ns !== undefined) ?? 0;
  return run === null || !lengths || row.start_ns === null || source === undefined ? null : address(runLink(run, "timeline"), { at: [source, row.start_ns, long].join(","), device: row.device });
};

// mountQuery shows a query with the state that the address has: p.NAME for parameters, sort, find.
export function mountQuery(root, { run, name, query, nav, stages = [] }) {
  let abort = new AbortController();
  const params = {};
  for (const [key, value] of query) if (key.startsWith("p.")) params[key.slice(2)] = value;
  const state = { sort: query.get("sort") ?? "", find: query.get("find") ?? "" };
  const head = el("div"), result = el("div", { "aria-live": "polite" });
  root.append(head, result);

  async function show() {
    abort.abort();
    abort = new AbortController();
    result.setAttribute("aria-busy", "true");
    if (!result.childElementCount) result.append(loading(name));
    const started = performance.now();
    await fill(result, Promise.all([ask(run, name, params, abort.signal), catalogue()]).then(([answer, all]) => {
      const statement = answer.sql ?? "", place = placeOf(run, all.find((q) => q.name === name) ?? {}, params), isPlaced = answer.rows.some((row) => place(row));
      const placed = { start_ns: (start, row, text) => place(row) ? el("a", { href: place(row), title: "Show it on the timeline" }, text) : text };
      return [
        isPlaced ? el("p", { class: "hint" }, "Click a row to see it on the timeline.") : null,
        table(answer, {
          caption: name, state, cells: run === null ? { run: (v) => v === null ? "-" : el("a", { href: runLink(v) }, v) } : isPlaced ? placed : {}, pick: isPlaced ? (row) => place(row) && nav.go(place(row)) : null,
          changed: (to) => { Object.assign(state, to); nav.replace(to); },
          downloads: [["CSV", address(queryOf(run, name), { ...params, format: "csv" })], ["Arrow", address(queryOf(run, name), { ...params, format: "arrow" })]],
        }),
        el("details", { class: "sql" }, el("summary", {}, "SQL"), el("pre", {}, statement),
          el("p", {}, el("a", { class: "button", href: address("/sql", { q: statement }) }, "Open in the console"), " ", copyButton("Copy SQL", () => statement, "Copy the SQL"))),
        el("p", { class: "hint" }, `${answer.query ?? name} v${answer.version}, ${Math.round(performance.now() - started)} ms`),
      ];
    }));
  }

  catalogue().then((all) => {
    const of = all.find((q) => q.name === name);
    if (of?.takes_run !== (run !== null)) {
      abort.abort();
      result.replaceChildren(el("p", { class: "problem", role: "alert" }, of ? [el("a", { href: of.takes_run ? `${runLink("@latest")}?query=${name}` : `/queries/${name}` }, name), of.takes_run ? " is a query of one run." : " is a query over all runs."] : `There is no query ${name}.`));
      return;
    }
    const listed = "stages-of-the-run";
    const soon = later(500, submit);
    function submit() {
      soon.stop();
      const set = {};
      for (const p of of.params) {
        const input = form.elements.namedItem(p.name);
        if (!input) continue;
        const isDefault = input.type === "checkbox" ? input.checked === (p.default === "true") : input.value.trim() === "";
        const value = isDefault ? null : input.type === "checkbox" ? String(input.checked) : input.value.trim();
        if (value === null) delete params[p.name];
        else params[p.name] = value;
        set["p." + p.name] = value;
      }
      nav.replace(set);
      show();
    }
    const form = el("form", { class: "form", "aria-label": "Parameters", onsubmit: (e) => { e.preventDefault(); submit(); } },
      of.params.map((p) => {
        const isBool = p.type === "boolean", isNumber = /^(integer|number)$/.test(p.type);
        const words = p.name.replaceAll("_", " ");
        if (isBool) return el("label", { class: "check", title: p.doc }, el("input", { type: "checkbox", name: p.name, checked: (params[p.name] ?? p.default) === "true", onchange: submit }), el("span", {}, words));
        return el("label", { title: p.doc }, words, el("input", { name: p.name, type: isNumber ? "number" : "text", step: p.type === "number" ? "any" : null, value: params[p.name] ?? "", placeholder: p.default ?? "",
          list: p.name === "stage" && stages.length ? listed : null, oninput: soon, onchange: submit }));
      }),
      of.params.length ? el("button", {}, "Run") : null,
      stages.length ? el("datalist", { id: listed }, stages.map((s) => el("option", { value: s }))) : null);
    head.append(el("p", {}, of.doc), of.grain ? el("p", { class: "hint" }, "One row is ", of.grain, ".") : null, form);
    root.append(el("details", { class: "docs" }, el("summary", {}, "What the columns mean"),
      el("dl", { class: "columns" }, of.columns.flatMap((c) => [el("dt", {}, c.name), el("dd", {}, c.doc, c.needs ? el("span", { class: "hint" }, ` (with ${c.needs.replaceAll("_", " ")})`) : null)]))));
  }).catch(() => {}); // the answer says what is wrong
  show();
  return () => abort.abort();
}

// mountCatalogue lists the queries that are wanted by the questions that they answer, each in a line.
export function mountCatalogue(root, { wanted, href, find = "", changed }) {
  const list = el("div", { class: "catalogue" }), none = el("p", { class: "hint", hidden: true }, "No query has all of these words."), jumps = el("ul", { class: "chips", "aria-label": "Questions" });
  const input = el("input", { type: "search", "data-search": true, value: find, placeholder: "Search the queries", "aria-label": "Search the queries", oninput: () => { changed?.(input.value.trim()); filter(); } });
  const filter = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let any = false;
    for (const section of list.children) {
      let some = false;
      for (const li of section.querySelectorAll("li")) some = !(li.hidden = !words.every((w) => li.dataset.text.includes(w))) || some;
      section.hidden = !some;
      any ||= some;
    }
    none.hidden = any;
    jumps.hidden = words.length > 0;
  };
  root.append(el("div", { class: "find", role: "search" }, input), jumps, list, none);
  return fill(list, catalogue().then((all) => {
    const groups = Map.groupBy(all.filter(wanted), (q) => q.title);
    jumps.append(...[...groups.keys()].map((title, i) => el("li", {}, el("button", { type: "button", class: "chip", onclick: () => {
      list.children[i].scrollIntoView();
      list.children[i].querySelector("a").focus({ preventScroll: true });
    } }, title.split(":")[0]))));
    return [...groups].map(([title, queries]) => el("section", {}, el("h3", {}, title), el("ul", {}, queries.map((q) =>
      el("li", { title: q.doc, data: { text: [q.name, q.title, q.doc, ...q.columns.map((c) => c.name)].join(" ").toLowerCase() } }, el("a", { href: href(q) }, q.name), " ", el("span", {}, q.doc))))));
  })).then(filter);
}
