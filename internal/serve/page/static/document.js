// A document of the server: what the command line says to people, block by block. The texts are the server's; here they become elements.
import { el, svg, facts } from "./dom.js";
import { commandLink } from "./query.js";
import { table } from "./table.js";

// drawn makes the elements of blocks. pictures are functions by kind that draw what a table has beside its rows. Blocks of a section have headings of
// a level, and its title.
export const drawn = (blocks, pictures = {}, level = 2, title = "") => blocks.map((block) => Object.entries(block).map(([kind, of]) => kinds[kind](of, { ...kinds, ...pictures }, level, title)));

const kinds = {
  lead: ({ text, tone }) => el("p", { class: `lead ${tone}` }, text),
  facts: (list) => facts(list),
  section: ({ title, blocks }, pictures, level) => el("section", { data: { title } }, el(`h${level}`, {}, title), drawn(blocks, pictures, level + 1, title)),
  table: ({ of, legend, pictures }, draw, _, caption) => [table(of, { caption, search: false }), (legend ?? []).map((text) => el("p", { class: "hint" }, text)), Object.entries(pictures ?? {}).map(([kind, list]) => draw[kind](list))],
  samples: (list) => el("div", { class: "stages" }, list.map(plot)),
  list: ({ items, is_ordered }) => el(is_ordered ? "ol" : "ul", { class: "findings" }, items.map(({ name, text, see = [], under = [], try: what }) =>
    el("li", {}, name ? [el("code", {}, name), ": "] : null, is_ordered || under.length ? el("b", {}, text) : text, under.map((line) => el("p", {}, line)), what ? el("p", {}, `try: ${what}`) : null, see.map((command, i) => [i ? ", " : "; see ", commandLink(command)])))),
  remark: ({ lead, text }) => el("p", {}, lead ? `${lead[0].toUpperCase()}${lead.slice(1)}: ${text}` : text),
  text: (text) => el("p", {}, text),
  notes: (list) => list.map((note) => el("p", { class: "note" }, note)),
  doubts: (list) => list.map((text) => el("p", { class: "note" }, text)),
  commands: ({ lead, list }) => el("p", {}, lead, " ", list.map((command, i) => [i ? ", " : null, commandLink(command)])),
  sql: (list) => el("details", {}, el("summary", {}, "Queries behind the figures"), list.map((q) => el("div", {}, el("p", { class: "hint" }, q.run ? `${q.name} of ${q.run}` : q.name), el("pre", {}, q.sql), el("p", {}, el("a", { class: "button", href: "/sql?" + new URLSearchParams({ q: q.sql }) }, "Open in the console"))))),
};

// plot draws each sample of both sides: a judgement rests on how they lie.
function plot({ title, low, high, sides }) {
  const x = (at) => `${12 + 86 * at}%`;
  return el("article", {}, el("h3", {}, title), el("figure", { class: "plot" }, svg("svg", { height: 76, role: "img", "aria-label": `samples of ${title} from ${low} to ${high}` }, svg("rect", { class: "ground", width: "100%", height: 56, rx: 3 }),
    sides.map(({ name, centre, list }, i) => [
      svg("text", { class: "soft", x: 4, y: 20 + 24 * i }, name),
      list.map(({ at, text }, n) => svg("circle", { class: `sample series-${i}`, cx: x(at), cy: 16 + 24 * i, r: 4 }, svg("title", {}, `${name}, sample ${n + 1}: ${text}`))),
      svg("line", { class: "median", x1: x(centre), x2: x(centre), y1: 9 + 24 * i, y2: 23 + 24 * i }),
    ]),
    svg("text", { class: "soft", x: "12%", y: 71, "text-anchor": "middle" }, low), svg("text", { class: "soft", x: "98%", y: 71, "text-anchor": "end" }, high))));
}
