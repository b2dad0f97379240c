// Numbers, titles and names as the command line shows them (render/typeset, render/table): a test compares the two.
import { acronyms, titles } from "./terms.js";

const maxDecimals = 3, maxScaled = 1e5, plainDigits = 6, maxPlain = 1e15;

const kibi = 1024;
const ladders = {
  ns: [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]],
  bytes: [[1, "B"], [kibi, "KiB"], [kibi ** 2, "MiB"], [kibi ** 3, "GiB"], [kibi ** 4, "TiB"]],
  bytes_per_s: [[1, "B/s"], [1e3, "kB/s"], [1e6, "MB/s"], [1e9, "GB/s"]],
  flop: [[1, "FLOP"], [1e3, "kFLOP"], [1e6, "MFLOP"], [1e9, "GFLOP"], [1e12, "TFLOP"], [1e15, "PFLOP"]],
  flop_per_s: [[1, "FLOP/s"], [1e3, "kFLOP/s"], [1e6, "MFLOP/s"], [1e9, "GFLOP/s"], [1e12, "TFLOP/s"]],
  hz: [[1, "Hz"], [1e3, "kHz"], [1e6, "MHz"], [1e9, "GHz"]],
  ratio: [[0.01, "%"]],
  w: [[1, "W"]],
  c: [[1, "°C"]],
};
export const ladder = (unit) => ladders[unit] ?? [[1, ""]];

const isNumber = (v) => typeof v === "number" || typeof v === "bigint";

// fixed writes a number with so many decimals. A tie goes to the even digit, as in Go; toFixed takes the larger.
export function fixed(v, decimals) {
  const text = v.toFixed(decimals);
  const more = Math.abs(v).toFixed(Math.min(100, decimals + 60));
  const tail = more.slice(more.indexOf(".") + 1 + decimals);
  if (!/^50*$/.test(tail)) return text;
  const down = more.slice(0, more.indexOf(".") + (decimals ? 1 + decimals : 0));
  return (Number(down.at(-1)) % 2 === 0) ? (v < 0 ? "-" : "") + down : text;
}

// scientific writes an exponent of two digits or more: 9.5e-05.
function scientific(v, decimals) {
  let text = v.toExponential(decimals);
  const [mantissa, exponent] = Math.abs(v).toExponential(Math.min(100, decimals + 60)).split("e");
  if (/^50*$/.test(mantissa.slice(2 + decimals)) && Number(mantissa[1 + decimals]) % 2 === 0) text = (v < 0 ? "-" : "") + mantissa.slice(0, 2 + decimals) + "e" + exponent;
  return text.replace(/e([+-])(\d)$/, "e$10$2");
}

function grouping(digits, group) {
  if (!group) return digits;
  const [, sign, whole, rest] = /^(-?)(\d+)(.*)$/.exec(digits);
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}

// exactDecimals counts the decimals of the shortest text that gives v back.
function exactDecimals(v) {
  const [, fraction = "", exponent = "0"] = /^\d*(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(v));
  return Math.max(0, fraction.length - Number(exponent));
}

function decimalsFor(v, significant) {
  const enough = 10 ** (significant - 1) * 0.99995;
  for (let d = 0; d < maxDecimals; d++) if (v * 10 ** d >= enough) return d;
  return maxDecimals;
}

function ownDecimals(v) {
  let decimals = decimalsFor(v, plainDigits);
  while (decimals < 6 && v * 10 ** decimals < 99.995 && v >= 0.95e-4) decimals++;
  return Math.min(decimals, exactDecimals(v));
}

const small = [1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];
const visible = (v, decimals) => v >= 0.95 * small[decimals] && v !== Infinity;

function extent(values) {
  let low = 0, high = 0;
  for (let v of values) {
    v = Math.abs(v);
    if (v === 0 || !Number.isFinite(v)) continue;
    if (low === 0 || v < low) low = v;
    high = Math.max(high, v);
  }
  return [low, high];
}

function pick(steps, low, high) {
  let best = -1;
  for (let i = steps.length - 1; i >= 0; i--) {
    const div = steps[i][0];
    if (high / div < 0.9995 && i > 0) continue;
    if (best >= 0 && high / div >= maxScaled) break;
    best = i;
    if (low / div >= 0.1) break;
  }
  return steps[best];
}

// A name in the plural is a quantity (calls, passes), any other whole number without a unit an identifier.
function grouped(column) {
  if (column.unit || column.type !== "int") return true;
  const name = column.name.toLowerCase();
  return name.endsWith("s") && !/(ss|us|is)$/.test(name);
}

class Scale {
  constructor([div, name], column, values) {
    const [low, high] = extent(values);
    Object.assign(this, { div, name, unit: column.unit, decimals: 0, mixed: false, group: grouped(column) });
    if (high === 0) return;
    if (column.unit === "ratio") this.decimals = Math.max(1, decimalsFor(this.smallest(values), 1));
    else if (name === "") {
      this.mixed = low < 0.1 || high >= maxScaled;
      this.decimals = Math.min(decimalsFor(low, plainDigits), this.exact(values));
    } else this.decimals = Math.min(this.needed(this.smallest(values), high / div), this.exact(values));
  }

  smallest(values) {
    let smallest = Infinity;
    for (let v of values) if (visible((v = Math.abs(v) / this.div), maxDecimals)) smallest = Math.min(smallest, v);
    return smallest;
  }

  exact(values) {
    let most = 0;
    for (let v of values) if (visible((v = Math.abs(v) / this.div), maxDecimals)) most = Math.max(most, exactDecimals(v));
    return most;
  }

  needed(low, high) {
    let decimals = decimalsFor(low, 3);
    while (decimals > 0 && high * 10 ** decimals >= 1e7 && visible(low, decimals - 1)) decimals--;
    return decimals;
  }

  // text shows a value; whole says that its column holds whole numbers.
  text(v, whole = false) {
    if (typeof v === "bigint") {
      if (this.div === 1) return grouping(v.toString(), this.group);
      v = Number(v);
    }
    if (whole && this.div === 1) return grouping(v.toString(), this.group);
    if (v === 0) return "0";
    v /= this.div;
    const size = Math.abs(v), decimals = this.mixed ? ownDecimals(size) : this.decimals;
    if (size >= maxPlain) return scientific(v, 3);
    if (!visible(size, decimals)) return scientific(v, 1);
    return grouping(fixed(v, decimals), this.group);
  }
}

// scaleOf chooses the unit and digits of a column from its values.
export function scaleOf(column, values) {
  values = values.filter(isNumber).map(Number);
  const [low, high] = extent(values);
  return new Scale(pick(ladder(column.unit), low, high), column, values);
}

const statistics = ["mean", "median", "min", "max", "std"];

// scalesOf gives the scale of each column of an answer: those of one measure, such as mean_ns and std_ns, have the unit of the first.
export function scalesOf(columns, rows) {
  const first = new Map();
  return columns.map((column) => {
    const values = [];
    for (const row of rows) if (isNumber(row[column.name])) values.push(Number(row[column.name]));
    const scale = scaleOf(column, values);
    const words = column.name.split("_"), measure = words.filter((w) => !statistics.includes(w));
    if (!column.unit || measure.length === words.length) return scale;
    const key = measure.join("_"), known = first.get(key);
    if (known) return new Scale([known.div, known.name], column, values);
    if (extent(values)[1] > 0) first.set(key, scale);
    return scale;
  });
}

// value shows one number with its unit, as it stands in a sentence.
export function value(unit, v) {
  if (!isNumber(v)) return "-";
  const x = Number(v), scale = scaleOf({ name: "value", type: "float", unit }, [x]);
  if (scale.name && scale.name !== "%" && scale.decimals > 0) scale.decimals = decimalsFor(Math.abs(x) / scale.div, 3);
  const text = scale.text(x);
  return scale.name ? `${text} ${scale.name}` : text;
}
export const time = (ns) => value("ns", ns);
export const percent = (ratio) => value("ratio", ratio);
export const count = (n) => isNumber(n) ? grouping(n.toString(), true) : "-";

const manyTimes = 10;
export function threeDigits(v) {
  if (v === 0 || !Number.isFinite(v)) return v === 0 ? "0" : "-";
  if (v < 0.001) return scientific(v, 2);
  const decimals = decimalsFor(v, 3);
  return visible(v, decimals) ? grouping(fixed(v, decimals), true) : scientific(v, 1);
}
const signed = (v, size) => v > 0 ? "+" + size(v) : v < 0 ? "-" + size(-v) : size(0);
const changeSize = (ratio) => ratio < manyTimes - 1 ? percent(ratio) : threeDigits(ratio + 1) + "x";
// change shows a change in percent, and from ten times on how many times as long the later one is.
export function change(ratio) {
  if (!isNumber(ratio)) return "-";
  return ratio >= manyTimes - 1 ? changeSize(ratio) : signed(ratio, changeSize);
}
export const signedTime = (ns) => isNumber(ns) ? signed(Number(ns), time) : "-";
export function signedShare(ratio) {
  if (!isNumber(ratio)) return "-";
  return ratio !== 0 && Math.abs(ratio) < 0.001 ? "<0.1 %" : signed(ratio, percent);
}

export const minute = (at) => at ? at.replace("T", " ").slice(0, "2006-01-02 15:04".length) : "-";

// title is a column's name in words, with the unit it is shown in: total_ns in ms is "total (ms)".
export function title(column, unit = "") {
  let words = [neutral(column.name)];
  if (titles[column.name]) words = [titles[column.name]];
  else if (/^\w*$/.test(words[0])) {
    if (column.unit && column.unit !== "count" && words[0].endsWith("_" + column.unit)) words[0] = words[0].slice(0, -column.unit.length - 1);
    words = words[0].split("_").filter(Boolean).map((w) => acronyms[w.toLowerCase()] ?? w);
  }
  if (unit && (words.length !== 1 || words[0].toLowerCase() !== unit.toLowerCase())) words.push(`(${unit})`);
  return words.join(" ");
}

// neutral writes out what could reorder a line or move a cursor.
export function neutral(text) {
  return text.replace(/[\u{e0100}-\u{e01ef}\ufe00-\ufe0f\u180b-\u180d\u180f]/gu, "").replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => {
    const code = c.codePointAt(0), hex = (n) => code.toString(16).padStart(n, "0");
    return { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[c] ?? (code < 0x100 ? "\\x" + hex(2) : code < 0x10000 ? "\\u" + hex(4) : "\\U" + hex(8));
  });
}

// cell is the text of one value of a column.
export function cell(v, column, scale) {
  if (v === null || v === undefined) return "-";
  if (isNumber(v)) return scale.text(v, column.type === "int");
  if (v === true || v === false) return v ? "yes" : "no";
  return neutral(typeof v === "string" ? v : JSON.stringify(v));
}

// exact is a value for CSV: the shortest text that reads back as it.
export function exact(v, column) {
  if (v === null || v === undefined) return "";
  if (typeof v === "object") return JSON.stringify(v);
  if (typeof v !== "number" || column.type === "int") return String(v);
  const size = Math.abs(v), text = String(v);
  if (size !== 0 && (size < 1e-5 || size >= 1e15)) return v.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  return text.includes("e") ? v.toFixed(exactDecimals(size)) : text;
}

const rowNumbers = ["value", "mean", "median", "std", "min", "max"];

// texts gives the titles of an answer's columns, and a function for the text of a cell.
export function texts(columns, rows) {
  const scales = scalesOf(columns, rows), at = new Map(columns.map((c, i) => [c.name, i]));
  const own = new Map(); // of rows that say themselves what unit they are in
  if (["unit", "value", "mean"].every((name) => at.has(name))) {
    const figures = columns.filter((c) => !c.unit && rowNumbers.includes(c.name) && c.type === "float");
    for (const row of rows) {
      if (ladder(row.unit).length < 2) continue;
      const known = figures.filter((c) => isNumber(row[c.name])), values = known.map((c) => Number(row[c.name]));
      if (!known.length) continue;
      const scale = scaleOf({ name: "value", type: "float", unit: row.unit }, values.slice(0, 1));
      if (extent(values)[1] > 0 && scale.name) scale.decimals = Math.min(scale.needed(scale.smallest(values), extent(values)[1] / scale.div), scale.exact(values));
      own.set(row, Object.fromEntries([["unit", scale.name], ...known.map((c, i) => [c.name, scale.text(values[i])])]));
    }
  }
  return {
    titles: columns.map((c, i) => title(c, scales[i].name)),
    cell: (row, i) => own.get(row)?.[columns[i].name] ?? cell(row[columns[i].name], columns[i], scales[i]),
  };
}

const codeColumns = ["kernel", "range", "operator", "op", "sql", "query", "name", "metric", "launch", "family", "command", "path", "argv", "before", "after", "longest", "code", "opcode"];
const kernelColumns = ["kernel", "before", "after", "longest"];
const lastWord = (name) => name.slice(name.lastIndexOf("_") + 1).toLowerCase();
export const isCode = (column) => column.type === "text" && codeColumns.includes(lastWord(column.name));
export const isKernel = (column) => isCode(column) && kernelColumns.includes(lastWord(column.name));

// --- names of kernels in short, as render/typeset/kernels.go has it
function withoutParameters(name) {
  if (name.startsWith("void ")) name = name.slice(5);
  if (!name.endsWith(")")) return name;
  let depth = 0;
  for (let i = name.length - 1; i > 0; i--) {
    if (name[i] === ")") depth++;
    if (name[i] === "(") depth--;
    if (depth === 0) return name[i - 1] === " " ? name : name.slice(0, i);
  }
  return name;
}
function withoutResult(name) {
  let depth = 0, last = -1;
  for (let i = 0; i < name.length; i++) {
    if ("<([{".includes(name[i])) depth++;
    else if (">)]}".includes(name[i])) depth--;
    else if (name[i] === " " && depth === 0) last = i;
  }
  if (depth !== 0 || last < 0 || !name.slice(0, last).replace(/^[a-zA-Z0-9_:]*/, "").startsWith("<") || name.slice(0, last).endsWith("operator")) return name;
  return name.slice(last + 1);
}
function bareName(name) {
  name = withoutResult(withoutParameters(name)).replace(/<void |, void /g, (m) => m === "<void " ? "<" : ", ");
  const bare = name.replace(/(?:\b[A-Za-z_]\w*::|<unnamed>::|\(anonymous namespace\)::)+/g, "").replace(/\([A-Za-z_][\w ]*\)(-?\d)/g, "$1");
  return bare.startsWith("operator") ? name : bare;
}

// kernelNames gives names in short, as far as they stay different.
export function kernelNames(names) {
  names = [...new Set(names)];
  const out = new Map();
  let open = names;
  for (const form of [bareName, withoutParameters, (n) => n]) {
    for (const name of open) out.set(name, form(name));
    const seen = new Map();
    for (const name of names) seen.set(out.get(name), (seen.get(out.get(name)) ?? 0) + 1);
    open = names.filter((name) => seen.get(out.get(name)) > 1);
    if (!open.length) break;
  }
  return (name) => out.get(name) ?? bareName(name);
}
