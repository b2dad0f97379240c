// A document of the server: what the command line says to people, block by block. The texts are the server's; here they become elements.
import { el, svg, facts } from "./dom.js";
import { commandLink } from "./query.js";
import { table } from "./table.js";

// drawn makes the elements of blocks. figures are functions that draw figures, by name. Blocks of a section have headings of a level, and its title.
export const drawn = (blocks, figures = {}, level = 2, title = "") => blocks.map((block) => Object.entries(block).map(([kind, of]) => kinds[kind](of, figures, level, title)));

const mostCards = 6; // rows that are cards on a narrow screen; of more the first column stays in sight

const kinds = {
  lead: ({ text, tone }) => el("p", { class: `lead ${tone}` }, text),
  facts: (list) => facts(list),
  section: ({ title, blocks }, figures, level) => el("section", { data: { title } }, el(`h${level}`, {}, title), drawn(blocks, figures, level + 1, title)),
  figure: ({ name, of }, figures) => ({ "samples-of-sides": (list) => el("div", { class: "stages" }, list.map(samples)), ledger, ...figures })[name]?.(of),
  table: ({ of, legend }, _figures, _level, caption) => [table(of, { caption, search: false, look: of.rows.length <= mostCards ? "cards" : "fixed" }), (legend ?? []).map((text) => el("p", { class: "hint" }, text))],
  list: ({ items, is_ordered }) => el(is_ordered ? "ol" : "ul", { class: "findings" }, items.map(({ name, text, see = [], under = [], of, try: what }) => {
    const lines = [under[0], of && el("code", {}, of), ...under.slice(1), what && `Try: ${what}`].filter(Boolean), commands = see.map((command, i) => [i ? ", " : null, commandLink(command)]);
    return el("li", {}, name ? [el("code", {}, name), ": "] : null, is_ordered || lines.length ? el("b", {}, text) : text, lines.map((line) => el("p", {}, line)), see.length === 0 ? null : lines.length ? el("p", { class: "see" }, commands) : ["; see ", commands]);
  })),
  remark: ({ lead, text }) => el("p", {}, lead ? `${lead[0].toUpperCase()}${lead.slice(1)}: ${text}` : text),
  text: (text) => el("p", {}, text),
  notes: (list) => list.map((note) => el("p", { class: "note" }, note)),
  doubts: (list) => list.map((text) => el("p", { class: "note" }, text)),
  commands: ({ lead, list }) => el("p", {}, lead, " ", list.map((command, i) => [i ? ", " : null, commandLink(command)])),
  sql: (list) => el("details", {}, el("summary", {}, "Queries behind the figures"), list.map((q) => el("div", {}, el("p", { class: "hint" }, q.run ? `${q.name} of ${q.run}` : q.name), el("pre", {}, q.sql), el("p", {}, el("a", { class: "button", href: "/sql?" + new URLSearchParams({ q: q.sql }) }, "Open in the console"))))),
};

// samples draws each sample of both sides: a judgement rests on how they lie.
const samples = ({ title, low, high, sides }) => el("article", {}, el("h3", {}, title), el("figure", { class: "plot sides" }, svg("svg", { height: 48, role: "img", "aria-label": `samples of ${title} from ${low} to ${high}` },
  sides.map((s) => svg("g", { class: s.class }, svg("text", { class: "soft", x: 0, dx: -16, y: s.text, "text-anchor": "end" }, s.name), s.samples.map((x) => svg("circle", { class: "sample", cx: x.x, cy: s.middle, r: 4 }, svg("title", {}, x.title))), svg("line", { class: "median", x1: s.centre, x2: s.centre, y1: s.top, y2: s.base }))),
  svg("text", { class: "soft", x: 0, y: 64 }, low), svg("text", { class: "soft", x: "100%", y: 64, "text-anchor": "end" }, high))));

// ledger draws which parts made a change: those that became shorter left of a line, those that became longer right of it.
const ledger = (f) => el("figure", { class: "plot ledger" }, el("b", {}, f.label), svg("svg", { height: f.height, role: "img", "aria-label": f.spoken }, (f.rows ?? []).map((b) => svg("g", { class: b.class }, svg("title", {}, b.title), svg("text", { x: 0, y: b.name_y }, b.long),
  svg("rect", { class: "mark", x: b.x, y: b.bar_y, width: b.width, height: 13 }), svg("line", { class: "median", x1: f.zero, x2: f.zero, y1: b.line_y, y2: b.end_y }), svg("text", { x: "100%", y: b.text_y, "text-anchor": "end" }, b.text)))), el("p", { class: "hint" }, f.caption, " ", f.left_out));
