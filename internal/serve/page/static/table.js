// An answer as a table: sorted, filtered, copied. Cells are shown as the server words them and copied in base units.
import { el, copyButton } from "./dom.js";

const chunk = 200; // rows that are drawn at a time
const longName = 72, longText = 48;

// shown is what people see of a cell of a row, of an answer that was asked for its texts.
export const shown = (answer, row, column) => answer.texts?.[row][column] ?? answer.rows[row][column] ?? "-";

// measured is the same with its unit, as it stands in a sentence, of a row itself; null of what is not known.
export const measured = (answer, row, column) => (row[column] ?? null) === null ? null : [shown(answer, answer.rows.indexOf(row), column), answer.columns.find((c) => c.name === column).shown_in].filter(Boolean).join(" ");

// medianFirst has medians before the means of the same, as on the command line: they are what is judged by.
const medianFirst = (columns) => columns.reduce((out, c) => {
  const mean = c.name.split("_").map((w) => w === "median" ? "mean" : w).join("_"), at = mean === c.name ? -1 : out.findIndex((o) => o.name === mean);
  return at < 0 ? [...out, c] : out.toSpliced(at, 0, c);
}, []);

// table draws an answer {columns, rows, texts, notes}, perhaps with marks: of which cells a reader sees a tone, and which are code. state is {sort, find}; changed is called with a new one. cells are functions by column that
// draw a cell in their own way; downloads are [label, address]; look is how a narrow screen shows it: "cards", or with its first column "fixed".
export function table(answer, { caption, state = {}, changed = () => {}, cells = {}, downloads = [], search = true, most = chunk, pick = null, look = null } = {}) {
  const { rows } = answer, ordered = medianFirst(answer.columns), known = ordered.filter((c) => rows.some((row) => (row[c.name] ?? null) !== null)), columns = known.length ? known : ordered, unknown = answer.columns.filter((c) => !columns.includes(c));
  const largest = Object.fromEntries(columns.map((c) => [c.name, c.unit === "ratio" ? rows.reduce((most, row) => Math.max(most, Number(row[c.name] ?? 0)), 0) : 0]));
  let sort = state.sort ?? "", find = state.find ?? "", order = [], drawn = 0;

  const body = el("tbody"), count = el("output", {}), more = el("button", { type: "button", class: "more-rows", onclick: () => draw(chunk) });
  const heads = columns.map((column) => {
    const isNumeric = numeric(column);
    const button = el("button", { type: "button", title: [column.doc, `${column.name}${column.unit ? ", in " + column.unit : ""}`].filter(Boolean).join("\n"), onclick: () => {
      const down = "-" + column.name, up = column.name;
      setSort(sort === down ? (isNumeric ? up : "") : sort === up ? (isNumeric ? "" : down) : isNumeric ? down : up);
    } }, titleOf(column));
    return el("th", { class: isNumeric ? "n" : null, scope: "col", data: { column: column.name } }, button);
  });

  function setSort(to) {
    sort = to;
    changed({ sort, find });
    arrange();
  }

  function arrange() {
    const down = sort.startsWith("-"), by = down ? sort.slice(1) : sort;
    const words = find.toLowerCase().split(/\s+/).filter(Boolean);
    order = rows.map((_, i) => i);
    if (words.length) order = order.filter((r) => { const text = columns.map((c) => typeof rows[r][c.name] === "string" ? rows[r][c.name] : shown(answer, r, c.name)).join("\n").toLowerCase(); return words.every((w) => text.includes(w)); });
    const column = answer.columns.find((c) => c.name === by);
    if (column) {
      order.sort((a, b) => {
        const x = rows[a][by] ?? null, y = rows[b][by] ?? null;
        if (x === null || y === null) return (x === null) - (y === null); // what is not known stays last
        const way = typeof x === "string" ? x.localeCompare(String(y)) : x < y ? -1 : x > y ? 1 : 0;
        return (down ? -way : way) || a - b;
      });
    }
    for (const th of heads) {
      if (column && th.dataset.column === by) th.setAttribute("aria-sort", down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
    count.textContent = words.length ? `${order.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} rows` : rows.length > 8 ? `${rows.length.toLocaleString("en")} rows` : "";
    body.replaceChildren();
    drawn = 0;
    draw(most);
  }

  function draw(n) {
    const part = order.slice(drawn, drawn + n);
    drawn += part.length;
    body.append(...part.map((r) => {
      const tr = el("tr", {}, columns.map((c) => { const td = cellOf(r, c); td.dataset.title = titleOf(c); return td; }));
      if (pick) {
        tr.classList.add("pickable");
        tr.addEventListener("click", (e) => { if (!e.target.closest("a, button, summary, input") && !getSelection().toString()) pick(rows[r], tr); });
      }
      return tr;
    }));
    const left = order.length - drawn;
    more.hidden = left === 0;
    more.textContent = `Show ${Math.min(chunk, left).toLocaleString("en")} more of ${left.toLocaleString("en")}`;
  }

  function cellOf(r, column) {
    const v = rows[r][column.name] ?? null, text = shown(answer, r, column.name), mark = answer.marks?.[r][column.name];
    if (cells[column.name]) return el("td", { class: numeric(column) ? "n" : null }, cells[column.name](v, rows[r], text));
    if (v === null) return el("td", { class: numeric(column) ? "n null" : "null" }, "-");
    if (numeric(column)) {
      const bar = column.unit === "ratio" && largest[column.name] > 0 && largest[column.name] <= 1.0001 && v >= 0 ? el("span", { class: "thin", style: { "--share": `${Math.min(100, 100 * v)}%` } }) : null;
      return el("td", { class: "n" }, mark ? el("span", { class: mark }, text) : text, bar);
    }
    if (column.is_code || mark === "code") return el("td", { class: "name" }, name(v, text));
    return el("td", { class: text.length > longText ? "long" : null }, mark ? el("span", { class: mark }, text) : text);
  }

  const toCSV = () => [answer.columns.map((c) => field(c.name)).join(","), ...order.map((r) => line(answer.columns.map((c) => field(String(rows[r][c.name] ?? "")))))].join("\n") + "\n";
  const toMarkdown = () => [
    "| " + ordered.map((c) => markdown(titleOf(c))).join(" | ") + " |",
    ordered.map((c) => numeric(c) ? "| ---:" : "| --- ").join("") + "|",
    ...order.map((r) => "| " + ordered.map((c) => {
      const text = shown(answer, r, c.name);
      return c.is_code && rows[r][c.name] ? code(text) : markdown(text);
    }).join(" | ") + " |"),
  ].join("\n") + "\n";

  const input = el("input", { type: "search", value: find, placeholder: "Search the rows", "aria-label": `Search the rows of ${caption}`, oninput: () => {
    find = input.value.trim();
    changed({ sort, find });
    arrange();
  } });
  const tools = search ? el("div", { class: "find", role: "search" }, rows.length > 8 || find ? input : null, count, el("span", { class: "spring" }),
    copyButton("Copy CSV", toCSV, `Copy ${caption} as CSV, in base units`), copyButton("Copy Markdown", toMarkdown, `Copy ${caption} as Markdown`),
    downloads.map(([label, href]) => el("a", { href, download: true }, label))) : null;
  const element = el("div", { class: ["answer", look].filter(Boolean).join(" ") }, tools,
    rows.length || search ? el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption },
      el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, heads)), body)) : null,
    rows.length === 0 ? el("p", { class: "hint none" }, "No rows.") : null, more,
    unknown.length && rows.length ? el("p", { class: "hint" }, "Empty columns hidden: ", unknown.map(titleOf).join(", ")) : null,
    (answer.notes ?? []).map((n) => el("p", { class: "note" }, n)));
  arrange();
  return element;
}

const titleOf = (column) => column.title ?? column.name.replaceAll("_", " ");
export const numeric = (column) => column.type === "int" || column.type === "float";

// name is a name as a machine knows it, a long one in short, to be opened.
export function name(whole, short = whole) {
  if (short === whole && whole.length <= longName) return el("code", {}, whole);
  if (!short.includes("…") && short.length <= longName) return el("code", { title: whole }, short);
  return el("details", { class: "name" }, el("summary", { title: whole }, el("code", {}, short.length <= longName ? short : short.slice(0, 40) + "…" + short.slice(-28))), el("code", { class: "full" }, whole));
}

// field quotes a field of CSV where it must be.
const field = (text) => /[",\r\n]|^ |^\\\.$|^\t/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
// line joins fields. One of a single empty field would be blank, and readers skip blank lines.
const line = (fields) => fields.length === 1 && fields[0] === "" ? '""' : fields.join(",");

const markdown = (text) => text.replace(/[\\`*[\]<>|~&$]/g, "\\$&").replace(/_/g, (_, at, whole) => /\w/.test(whole[at - 1] ?? " ") && whole[at - 1] !== "_" && /\w/.test(whole[at + 1] ?? " ") && whole[at + 1] !== "_" ? "_" : "\\_");
function code(text) {
  if (!text.trim() || text.includes("\\|")) return markdown(text);
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((m) => m.length)), fence = "`".repeat(longest + 1);
  const space = longest && (text.startsWith("`") || text.endsWith("`")) || text.startsWith(" ") && text.endsWith(" ") ? " " : "";
  return (fence + space + text + space + fence).replaceAll("|", "\\|");
}
