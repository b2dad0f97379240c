// The runs of the warehouse, newest first: searched, filtered, picked to be compared.
import { get, path } from "./api.js";
import { el, svg, fill, later, loading, runLink } from "./dom.js";
import { time } from "./times.js";

const minute = (at) => at.replace("T", " ").slice(0, "2006-01-02 15:04".length);
const duration = (ns) => el("td", { class: "n" }, ns === null || ns === undefined ? el("span", { class: "null" }, "-") : time(ns));
const perPage = 50, maxPages = 40;

// runsKnown are the names of runs, for fields that take one.
export function runsKnown(signal) {
  const list = el("datalist", { id: "runs-known" });
  get(path("runs"), { limit: 200 }, signal).then(({ runs }) => list.append(...runs.map((r) => el("option", { value: r.name })))).catch(() => {}); // a list to choose from is only a help
  return list;
}

// runField is a field for a run, or several.
export const runField = (name, value, placeholder) => el("label", { class: "wide-field" }, name, el("input", { type: "text", name, list: "runs-known", value, placeholder, autocomplete: "off" }));

const listed = (text) => text.split(",").map((run) => run.trim()).filter(Boolean);

// mountPicker lists the runs in details, once they are open, with a box for each of some fields: a run ticked is in that field, and in no other.
export function mountPicker(details, fields, signal) {
  const place = el("div", {}, loading("the runs"));
  details.append(place);
  const follow = () => { for (const box of place.querySelectorAll("input")) box.checked = listed(fields.find((f) => f.name === box.name).value).includes(box.value); };
  const tick = (name, run, is) => {
    for (const field of fields) {
      const others = listed(field.value).filter((r) => r !== run);
      if (field.name === name || others.length < listed(field.value).length) field.value = [...others, ...(is && field.name === name ? [run] : [])].join(",");
    }
    follow();
  };
  const rowOf = (run) => el("tr", { data: { run: run.name } }, fields.map((f) => el("td", {}, el("input", { type: "checkbox", name: f.name, value: run.name, "aria-label": `${run.name} as ${f.name}`, onchange: (e) => tick(f.name, run.name, e.target.checked) }))),
    el("td", { class: "name" }, el("a", { href: runLink(run.name), title: run.name }, run.name)), el("td", {}, run.stage || "-"), el("td", { class: "n" }, run.stage_ns ? time(run.stage_ns) : "-"), el("td", {}, minute(run.started_at || run.created_at)), el("td", {}, gpus(run) || "-"),
    el("td", {}, run.tags.join(" ")), el("td", { class: "command" }, run.command ? el("code", { title: run.command }, run.command) : "-"));
  const load = () => {
    if (!details.open) return;
    details.removeEventListener("toggle", load);
    fill(place, get(path("runs"), { limit: 200 }, signal).then(({ runs, next }) => !runs.length ? el("p", { class: "hint none" }, "The warehouse has no runs.") : [
      el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Runs to pick from" }, el("table", { class: "runs" }, el("caption", {}, "Runs to pick from"),
        el("thead", {}, el("tr", {}, [...fields.map((f) => f.name), "run", "stage", "per pass", "captured", "GPU", "tags", "command"].map((h) => el("th", { scope: "col", class: h === "per pass" ? "n" : null }, h)))), el("tbody", {}, runs.map(rowOf)))),
      next ? el("p", { class: "hint" }, "The 200 newest; ", el("a", { href: "/runs" }, "all runs"), ".") : null])).then(follow);
  };
  for (const f of fields) f.addEventListener("input", follow);
  details.addEventListener("toggle", load);
  load();
}

export const keys = [["x", "pick the run under the pointer or focus"], ["Enter", "in the search: open the only run"]];

export function mount(root, route, nav) {
  let abort = new AbortController();
  const { query } = route, runs = [];
  const filters = { search: query.get("search") ?? "", tag: query.getAll("tag"), workload: query.get("workload") ?? "", device: query.get("device") ?? "", since: query.get("since") ?? "", until: query.get("until") ?? "" };
  let picks = query.getAll("pick"), next = "", notes = [], pages = Math.min(maxPages, Math.max(1, Number(query.get("pages")) || 1));
  nav.title("Runs");

  const soon = later(250, () => load(1));
  const field = (name, label, attributes = {}) => el("label", {}, label, el("input", { name, type: "text", value: filters[name], oninput: (e) => { filters[name] = e.target.value.trim(); soon(); }, ...attributes }));
  const search = el("input", { type: "search", "data-search": true, name: "search", value: filters.search, placeholder: "name, command, host, tag", "aria-label": "Search the runs", oninput: (e) => { filters.search = e.target.value.trim(); soon(); },
    onkeydown: (e) => { if (e.key === "Enter" && runs.length === 1) nav.go(runLink(runs[0].name)); } });
  const tagInput = el("input", { type: "text", name: "tag", placeholder: "key=value", onkeydown: (e) => {
    if (e.key !== "Enter" || !e.target.value.includes("=")) return;
    e.preventDefault();
    toggleTag(e.target.value.trim());
    e.target.value = "";
  } });
  const form = el("form", { class: "form", role: "search", onsubmit: (e) => e.preventDefault() },
    el("label", { class: "wide-field" }, "search", search), el("label", {}, "tag", tagInput), field("workload", "workload"), field("device", "GPU"),
    field("since", "since", { type: "date" }), field("until", "until", { type: "date" }));
  const tags = el("ul", { class: "chips", "aria-label": "Filters" }), list = el("div"), picked = el("div", { class: "picked", hidden: true });
  root.append(el("h1", {}, "Runs"), form, tags, list, picked);

  function toggleTag(tag) {
    filters.tag = filters.tag.includes(tag) ? filters.tag.filter((t) => t !== tag) : [...filters.tag, tag];
    load(1);
  }
  const chip = (tag) => el("button", { type: "button", class: "chip", "aria-pressed": String(filters.tag.includes(tag)), title: filters.tag.includes(tag) ? `Without the filter ${tag}` : `Only runs with ${tag}`, onclick: () => toggleTag(tag) }, tag);

  async function load(upTo) {
    soon.stop();
    abort.abort();
    abort = new AbortController();
    pages = upTo;
    nav.replace({ ...filters, pages: pages > 1 ? pages : null });
    tags.replaceChildren(...filters.tag.map((t) => el("li", {}, chip(t))));
    list.setAttribute("aria-busy", "true");
    if (!list.childElementCount) list.append(loading("runs"));
    runs.length = 0;
    next = "";
    await fill(list, (async () => {
      for (let page = 0; page < upTo; page++) {
        const answer = await get(path("runs"), { ...filters, limit: perPage, cursor: next }, abort.signal);
        runs.push(...answer.runs);
        notes = answer.notes ?? [];
        next = answer.next ?? "";
        if (!next) break;
      }
      return content();
    })());
  }

  async function more() {
    const button = list.querySelector(".more-rows");
    button.disabled = true;
    await fill(list, get(path("runs"), { ...filters, limit: perPage, cursor: next }, abort.signal).then((answer) => {
      runs.push(...answer.runs);
      next = answer.next ?? "";
      nav.replace({ pages: ++pages });
      return content();
    }));
  }

  function content() {
    const isFiltered = Object.values(filters).some((v) => v.length);
    if (!runs.length) return el("p", { class: "hint none" }, isFiltered ? "No run matches." : ["The warehouse has no runs. ", el("code", {}, "prof ingest"), " or ", el("code", {}, "prof capture"), " stores one."]);
    const levels = sparklines(runs);
    return [
      el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Runs" }, el("table", { class: "runs" }, el("caption", {}, "Runs"),
        el("thead", {}, el("tr", {}, ["", "run", "per token", "to the first token", "stage", "per pass", "trend", "captured", "GPU", "tags", "from", "host", "command"].map((h) => el("th", { scope: "col", class: ["per token", "to the first token", "per pass"].includes(h) ? "n" : null }, h)))),
        el("tbody", {}, runs.map((run) => el("tr", { data: { run: run.name } },
          el("td", {}, el("input", { type: "checkbox", "aria-label": `Pick ${run.name}`, checked: picks.includes(run.name), onchange: (e) => pick(run.name, e.target.checked) })),
          el("td", { class: "name" }, el("a", { href: runLink(run.name), title: run.name }, run.name)),
          duration(run.token_time_ns), duration(run.first_token_ns),
          el("td", {}, run.stage || el("span", { class: "null" }, "-")),
          duration(run.stage_ns),
          el("td", {}, levels(run)),
          el("td", { title: run.started_at ? `captured; stored ${minute(run.created_at)}` : "stored; the capture does not say when it was made" }, minute(run.started_at || run.created_at)),
          el("td", {}, gpus(run) || el("span", { class: "null" }, "-")),
          el("td", {}, el("div", { class: "chips" }, run.tags.map(chip))),
          el("td", {}, (run.kinds ?? []).join(" ")),
          el("td", {}, run.host || el("span", { class: "null" }, "-")),
          el("td", { class: "command" }, run.command ? el("code", { title: run.command }, run.command) : el("span", { class: "null" }, "-")),
        ))))),
      notes.map((n) => el("p", { class: "note" }, n)),
      next ? el("button", { type: "button", class: "more-rows", onclick: more }, "More runs") : null,
      el("p", { class: "hint" }, `${runs.length.toLocaleString("en")}${next ? " newest" : ""} runs${isFiltered ? " that match" : ""}. Stage: the one that takes most time, by its median pass times its passes; the line is its time over the runs of the same workload and GPUs in this list, oldest first.`),
    ];
  }

  function pick(name, is) {
    picks = is ? [...picks.filter((p) => p !== name), name] : picks.filter((p) => p !== name);
    nav.replace({ pick: picks });
    showPicks();
  }

  function showPicks() {
    for (const box of list.querySelectorAll("tbody input[type=checkbox]")) box.checked = picks.includes(box.closest("tr").dataset.run);
    picked.hidden = picks.length === 0;
    const [base, ...others] = picks;
    picked.replaceChildren(
      el("span", { class: "names" }, "base ", el("b", {}, base ?? ""), others.length ? [" against ", el("b", {}, others.join(", ")), others.length > 1 ? " (one side: repeats of the same workload)" : ""] : "; pick another to compare with it"),
      others.length ? el("a", { class: "button", href: "/compare?" + new URLSearchParams({ base, new: others.join(",") }) }, "Compare") : "",
      others.length ? el("button", { type: "button", onclick: () => { picks = [...others, base]; nav.replace({ pick: picks }); showPicks(); } }, "Other base") : "",
      el("button", { type: "button", onclick: () => { picks = []; nav.replace({ pick: [] }); showPicks(); } }, "Clear"));
  }

  function onKey(event) {
    if (event.key !== "x" || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "INPUT" && event.target.type !== "checkbox") return;
    const row = event.target.closest?.("tr[data-run]") ?? list.querySelector("tr[data-run]:hover");
    if (row) pick(row.dataset.run, !picks.includes(row.dataset.run));
  }
  document.addEventListener("keydown", onKey);

  load(pages).then(showPicks);
  return () => { abort.abort(); soon.stop(); document.removeEventListener("keydown", onKey); };
}

// gpus names the GPUs of a run and counts those of one name; "" where nothing is known of them.
function gpus(run) {
  if (!run.device) return run.gpus ? `${run.gpus} GPU${run.gpus > 1 ? "s" : ""}` : "";
  return run.gpus > 1 && !run.device.includes(", ") ? `${run.gpus} x ${run.device}` : run.device;
}

// sparklines gives a function that draws how long the stage took over the runs of the same workload on the same GPUs.
function sparklines(runs) {
  const key = (run) => JSON.stringify([run.workload, run.stage, gpus(run)]);
  const groups = new Map(), at = (run) => run.started_at || run.created_at;
  for (const run of runs) {
    if (!run.workload || !run.stage || !(run.stage_ns > 0)) continue;
    if (!groups.has(key(run))) groups.set(key(run), []);
    groups.get(key(run)).push(run);
  }
  for (const group of groups.values()) group.sort((a, b) => at(a) < at(b) ? -1 : at(a) > at(b) ? 1 : a.created_at < b.created_at ? -1 : 1);
  return (run) => {
    const group = groups.get(key(run));
    if (!group || group.length < 2 || !group.includes(run)) return el("span", { class: "null" }, "-");
    const values = group.map((r) => r.stage_ns), low = Math.min(...values), high = Math.max(...values);
    const x = (i) => 2 + 86 * i / (group.length - 1), y = (v) => high === low ? 10 : 18 - 16 * (v - low) / (high - low), mine = group.indexOf(run);
    const words = `${run.stage} over ${group.length} runs: ${time(low)} to ${time(high)}; this one ${time(run.stage_ns)}`;
    return svg("svg", { class: "spark", viewBox: "0 0 90 20", role: "img", "aria-label": words }, svg("title", {}, words),
      svg("path", { d: "M" + values.map((v, i) => `${x(i).toFixed(1)} ${y(v).toFixed(1)}`).join("L") }), svg("circle", { cx: x(mine), cy: y(run.stage_ns), r: 2.4 }));
  };
}
