// --- tables
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((th, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...th.childNodes);
    th.append(button);
    button.addEventListener("click", () => sortTable(table, heads, column));
  });
}

function sortTable(table, heads, column) {
  const numeric = heads[column].classList.contains("n");
  const before = heads[column].getAttribute("aria-sort");
  const up = before ? before === "descending" : !numeric; // numbers begin with the largest
  heads.forEach((th) => th.removeAttribute("aria-sort"));
  heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = (row) => {
    const cell = row.cells[column], sort = cell.dataset.s;
    if (!numeric) return fullText(cell);
    return sort ? Number(sort) : null;
  };
  const order = (a, b) => {
    if (a === null || b === null) return (a === null) - (b === null); // what is not known stays last
    return (up ? 1 : -1) * (numeric ? a - b : a.localeCompare(b));
  };
  const rows = [...table.tBodies[0].rows].map((row) => [value(row), row]);
  rows.sort((a, b) => order(a[0], b[0]));
  table.tBodies[0].append(...rows.map((r) => r[1]));
}

// --- searching in tables
const FEW = 8; // rows that one sees without searching
const fullText = (cell) => (cell.querySelector(".full") ?? cell).textContent;

for (const table of document.querySelectorAll("table.sortable")) {
  const rows = [...table.tBodies[0].rows];
  if (rows.length <= FEW) continue;
  const bar = document.createElement("div"), label = document.createElement("label"), input = document.createElement("input");
  const count = document.createElement("output"), csv = document.createElement("button");
  bar.className = "find";
  bar.setAttribute("role", "search");
  bar.setAttribute("aria-label", table.caption.textContent);
  input.type = "search";
  label.append("Search", input);
  csv.type = "button";
  csv.textContent = "Copy as CSV";
  csv.setAttribute("aria-label", "Copy the rows shown of " + table.caption.textContent + " as CSV");
  bar.append(label, count, csv);
  table.closest(".wide").before(bar);
  const texts = new Map(rows.map((row) => [row, [...row.cells].map(fullText).join("\n").toLowerCase()]));
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => texts.get(row).includes(word));
    count.textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows with “${input.value.trim()}”` : "";
  });
  csv.addEventListener("click", () => copyBy(csv, "Copy as CSV", csvOf(table)));
}

// csvOf gives the rows shown by RFC 4180, numbers in base units and full precision, NULL as an empty field.
function csvOf(table) {
  const field = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const value = (cell) => cell.dataset.s ?? (cell.querySelector(".null") ? "" : fullText(cell));
  const lines = [[...table.tHead.rows[0].cells].map((th) => field(th.dataset.name))];
  for (const row of table.tBodies[0].rows) if (!row.hidden) lines.push([...row.cells].map((cell) => field(value(cell))));
  return lines.map((line) => line.join(",") + "\r\n").join("");
}

// --- tables that are wider than the page
for (const wide of document.querySelectorAll(".wide")) {
  const heads = [...wide.querySelectorAll("th")], word = document.createElement("p");
  word.className = "sideways";
  word.hidden = true;
  word.setAttribute("aria-hidden", "true"); // who does not see the table misses nothing of it
  wide.after(word);
  const count = () => {
    const edge = wide.getBoundingClientRect().right, more = heads.filter((th) => th.getBoundingClientRect().right > edge + 4).length;
    word.hidden = wide.scrollWidth <= wide.clientWidth + 4;
    word.textContent = more ? `${more} more ${more === 1 ? "column" : "columns"} to the right: scroll the table` : "The table ends here; more columns are to the left";
  };
  wide.addEventListener("scroll", count, { passive: true });
  new ResizeObserver(count).observe(wide);
}

// --- SQL
for (const details of document.querySelectorAll("details.sql")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy the SQL of " + details.querySelector("summary").textContent);
  button.addEventListener("click", () => copyBy(button, "Copy", details.querySelector("code").textContent));
  details.append(button);
}

// copyBy copies a text and says on the button for a while whether that was possible.
async function copyBy(button, name, text) {
  button.textContent = (await copy(text)) ? "Copied" : "The browser does not let the page copy";
  setTimeout(() => { button.textContent = name; }, 2500);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // some browsers give pages of files no clipboard
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

// --- what is folded: addresses open it, and so does paper
function reveal() {
  for (let at = document.getElementById(location.hash.slice(1)); at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
}
addEventListener("hashchange", reveal);
document.addEventListener("click", (e) => { if (e.target.closest(`a[href^="#"]`)) setTimeout(reveal); });
reveal();
let printed = [];
addEventListener("beforeprint", () => { for (const part of printed = [...document.querySelectorAll("details:is(.part, .more:has(> .list)):not([open])")]) part.open = true; });
addEventListener("afterprint", () => { for (const part of printed) part.open = false; });
