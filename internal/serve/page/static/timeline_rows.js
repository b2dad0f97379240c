// The timeline's lines: what is drawn in which, and in which colours.

const laneNames = { kernel: "kernels", collective: "collectives", graph: "graphs", copy: "copies" };
const threadKinds = ["range", "python", "operator", "library", "call", "system", "profiler"];
const threadNames = { range: "ranges", python: "Python", operator: "operators", library: "library calls", call: "CUDA calls", system: "OS calls", profiler: "profiler" };
const workKinds = ["kernel", "collective", "graph", "copy"];

// sharesClock says whether a source's times were put on the clock of the reference: those of others count from their own start.
export const sharesClock = (s) => ["reference", "collectives", "bounds"].includes(s.basis);

// rowsOf makes the groups: each GPU of each source, then each thread.
export function groupsOf(about) {
  const groups = new Map(), many = about.sources.length > 1, sources = new Map(about.sources.map((s) => [s.source_id, s]));
  const from = (t) => {
    if (!many) return "";
    const s = sources.get(t.source_id);
    return s.rank === undefined ? `source ${t.source_id}, ` : `rank ${s.rank}, `;
  };
  const group = (key, make) => {
    if (!groups.has(key)) groups.set(key, { key, rows: [], tracks: [], ...make() });
    return groups.get(key);
  };
  for (const t of about.tracks) {
    const g = t.device !== undefined
      ? group(`g${t.source_id}.${t.device}`, () => ({ label: `${from(t)}${t.device < 0 ? "GPU unknown" : `GPU ${t.device}`}`, device: t.device, source: t.source_id }))
      : group(`t${t.source_id}.${t.pid}.${t.tid}`, () => ({ label: `${from(t)}${t.thread?.startsWith(`thread ${t.tid}`) ? t.thread : `thread ${t.tid}${t.thread ? ` ${t.thread}` : ""}`}`, pid: t.pid, tid: t.tid, source: t.source_id }));
    g.tracks.push(t);
  }
  for (const g of groups.values()) (g.device !== undefined ? deviceRows : threadRows)(g);
  const gpus = [...groups.values()].filter((g) => g.device !== undefined), threads = [...groups.values()].filter((g) => g.device === undefined);
  for (const t of threads) t.isMinor = t.tracks.every((k) => k.kind === "profiler" || k.kind === "system");
  threads.sort((a, b) => a.source - b.source || a.isMinor - b.isMinor);
  return [...gpus, ...threads];
}

function deviceRows(g) {
  const row = (kind, label, height, tracks, more) => g.rows.push({ kind, label, height, tracks, group: g, ...more });
  const whole = g.tracks.filter((t) => t.is_whole), passes = g.tracks.filter((t) => t.kind === "pass"), streams = new Map();
  for (const t of passes) row("pass", passes.length > 1 ? `passes, process ${t.pid}` : "passes", 18, [t]);
  for (const kind of workKinds) for (const t of whole.filter((t) => t.kind === kind)) row("lane", laneNames[kind], 28, [t]);
  for (const t of g.tracks.filter((t) => t.kind === "gap")) row("gap", "longest gaps", 14, [t]);
  for (const t of g.tracks.filter((t) => !t.is_whole && workKinds.includes(t.kind))) {
    const key = `${t.pid} ${t.context} ${t.stream}`;
    streams.set(key, [...streams.get(key) ?? [], t]);
  }
  const has = (name) => new Set([...streams.values()].map(([t]) => t[name])).size > 1;
  const pids = has("pid"), contexts = has("context");
  for (const tracks of streams.values()) {
    const [t] = tracks;
    row("stream", `${t.stream === undefined ? "stream unknown" : `stream ${t.stream}`}${pids ? `, process ${t.pid}` : ""}${contexts ? `, context ${t.context}` : ""}`, 18, tracks);
  }
  g.folded = { kind: "lane", label: "all work", height: 14, tracks: whole.filter((t) => t.kind === "gpu"), group: g };
}

function threadRows(g) {
  for (const kind of threadKinds) for (const t of g.tracks.filter((t) => t.kind === kind).sort((a, b) => (a.depth ?? 0) - (b.depth ?? 0))) {
    const depth = t.depth ?? 0;
    g.rows.push({ kind: depth || ["range", "python", "operator"].includes(kind) ? "nest" : "call", label: depth ? "" : threadNames[kind], height: kind === "call" ? 18 : 16, tracks: [t], group: g, depth });
  }
  g.folded = { kind: "lane", label: g.rows[0]?.label ?? "", height: 12, tracks: g.rows[0]?.tracks ?? [], group: g };
}

// callKind says what a function of CUDA or HIP does, by its name, as _api-kind does.
function callKind(name) {
  if (name.includes("GraphLaunch")) return "launch";
  if (name.includes("Graph")) return "other";
  if (name.includes("Synchronize")) return "sync";
  if (name.includes("Memcpy") || name.includes("Memset")) return "copy";
  return name.includes("Launch") ? "launch" : "other";
}

function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h ^ (h >>> 15)) >>> 0;
}

// Colours of single pieces, as in the report: fill and text.
const tones = {
  kernel: [["#0b5a94", "#fff"], ["#a5cdee", "#000"], ["#43479f", "#fff"], ["#c0bbee", "#000"], ["#0c6b6b", "#fff"], ["#93d4cd", "#000"], ["#5b6975", "#fff"], ["#c4cdd5", "#000"]],
  collective: [["#e69f00", "#000"], ["#f6cf7a", "#000"]], graph: [["#1aa57d", "#000"], ["#86d6bb", "#000"]], copy: [["#cc79a7", "#000"], ["#ebc0d7", "#000"]],
  pass: [["#3c5a99", "#fff"], ["#a03e63", "#fff"], ["#2f7358", "#fff"], ["#85601b", "#fff"], ["#6a4c93", "#fff"], ["#4d6570", "#fff"]],
};
const warm = / \(warm-up\)$/;

// Palette gives the colours of a theme, remembered by track kind and name.
export class Palette {
  constructor(element) {
    const style = getComputedStyle(element), of = (name) => style.getPropertyValue(`--${name}`).trim();
    this.vars = Object.fromEntries(["ink", "soft", "paper", "line", "tint", "link", "compute", "collective-exposed", "graph", "copy", "other", "launch", "launch-delay", "launch-latency", "wait", "call", "host", "profiler", "queued", "unknown", "found"].map((n) => [n, of(n)]));
    this.isDark = document.documentElement.dataset.theme === "dark";
    this.known = new Map();
  }

  // of gives { fill, text, alpha } of a mark.
  of(kind, number, name) {
    let looks = this.known.get(kind);
    if (!looks) this.known.set(kind, looks = []);
    return looks[number] ??= this.make(kind, name);
  }

  make(kind, name) {
    const v = this.vars, plain = (fill, text = "#000") => ({ fill, text, alpha: 1 });
    switch (kind) {
      case "gap": return plain(v[name] || v.unknown);
      case "pass": {
        const stage = name.replace(warm, "");
        const usual = ["prefill", "decode"], [fill, text] = tones.pass[usual.includes(stage) ? usual.indexOf(stage) : 2 + hash(stage) % (tones.pass.length - 2)]; // the same in every run
        return { fill, text, alpha: warm.test(name) ? 0.45 : 1 };
      }
      case "call": return { launch: plain(v.compute, "#fff"), copy: plain(v.copy), sync: plain(v.wait), other: plain(v.other) }[callKind(name)];
      case "range": case "python": case "operator": {
        const light = [["#dfd6c3", "#000"], ["#cbbf9f", "#000"], ["#d3cfc6", "#000"], ["#e6dcc0", "#000"]], dark = [["#4b4637", "#fff"], ["#665e44", "#fff"], ["#55524c", "#fff"], ["#746a49", "#fff"]];
        const [fill, text] = (this.isDark ? dark : light)[hash(name) % 4];
        return plain(fill, text);
      }
      case "profiler": return plain(v.profiler, "#fff");
      case "library": return plain(v.call, "#fff");
      case "system": return plain(v.host);
    }
    const list = tones[kind] ?? tones.kernel, [fill, text] = list[hash(name) % list.length];
    return plain(fill, text);
  }

  // cover is the colour of what is too short for a box of its own.
  cover(kind, number, name) {
    const v = this.vars;
    switch (kind) {
      case "gpu": case "kernel": return v.compute;
      case "collective": return v["collective-exposed"];
      case "graph": return v.graph;
      case "copy": return v.copy;
      case "range": case "python": case "operator": return this.isDark ? "#665e44" : "#cbbf9f";
    }
    return this.of(kind, number, name).fill;
  }
}

// briefName gives of a kernel's name what comes after its type and namespaces.
export function briefName(name) {
  const text = name.replace(/\(anonymous namespace\)::|<unnamed>::/g, "").replace(/^(void|static|auto) /, "");
  const head = text.search(/[<(]/), at = text.lastIndexOf("::", head < 0 ? text.length : head);
  return at < 0 ? text : text.slice(at + 2);
}
