// The lines of the server's timeline: what is drawn in which.
import { laneNames } from "./timeline_palette.js";

const threadKinds = ["range", "python", "operator", "library", "call", "system", "profiler"];
const threadNames = { range: "ranges", python: "Python", operator: "operators", library: "library calls", call: "CUDA calls", system: "OS calls", profiler: "profiler" };
const workKinds = ["kernel", "collective", "graph", "copy"];

// sharesClock says whether a source's times were put on the clock of the reference: those of others count from their own start.
export const sharesClock = (s) => ["reference", "collectives", "bounds"].includes(s.basis);

// rowsOf makes the groups: each GPU of each source, then each thread.
export function groupsOf(about) {
  const groups = new Map(), many = about.sources.length > 1, ranks = new Set(about.tracks.map((t) => t.rank)).size > 1, sources = new Map(about.sources.map((s) => [s.source_id, s]));
  const from = (t) => {
    const rank = sources.get(t.source_id).rank ?? (ranks ? t.rank : undefined);
    if (rank !== undefined && (many || ranks)) return `rank ${rank}, `;
    return many ? `source ${t.source_id}, ` : "";
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
  const member = memberNames(about.tracks);
  for (const g of groups.values()) g.device !== undefined ? deviceRows(g, member) : threadRows(g);
  const gpus = [...groups.values()].filter((g) => g.device !== undefined), threads = [...groups.values()].filter((g) => g.device === undefined);
  for (const t of threads) t.isMinor = t.tracks.every((k) => k.kind === "profiler" || k.kind === "system");
  threads.sort((a, b) => a.source - b.source || a.isMinor - b.isMinor);
  return [...gpus, ...threads];
}

// memberNames gives a function that names the process of a track: by its rank, where the timeline has several and no other process of the source has it.
function memberNames(tracks) {
  const ranks = new Map(tracks.filter((t) => t.rank !== undefined).map((t) => [`${t.source_id} ${t.pid}`, t])), all = [...ranks.values()], many = new Set(all.map((t) => t.rank)).size > 1;
  return (t) => {
    const own = many ? ranks.get(`${t.source_id} ${t.pid}`) : undefined;
    return own && all.filter((o) => o.source_id === own.source_id && o.rank === own.rank).length === 1 ? `rank ${own.rank}` : `process ${t.pid}`;
  };
}

function deviceRows(g, member) {
  const row = (kind, label, height, tracks, more) => g.rows.push({ kind, label, height, tracks, group: g, ...more });
  const whole = g.tracks.filter((t) => t.is_whole), passes = g.tracks.filter((t) => t.kind === "pass"), streams = new Map();
  for (const t of passes) row("pass", passes.length > 1 ? `passes, ${member(t)}` : "passes", 18, [t]);
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
    row("stream", `${t.stream === undefined ? "stream unknown" : `stream ${t.stream}`}${pids ? `, ${member(t)}` : ""}${contexts ? `, context ${t.context}` : ""}`, 18, tracks);
  }
  g.folded = { kind: "lane", label: "all work", height: 14, tracks: whole.filter((t) => workKinds.includes(t.kind)), group: g };
}

function threadRows(g) {
  for (const kind of threadKinds) for (const t of g.tracks.filter((t) => t.kind === kind).sort((a, b) => (a.depth ?? 0) - (b.depth ?? 0))) {
    const depth = t.depth ?? 0;
    g.rows.push({ kind: depth || ["range", "python", "operator"].includes(kind) ? "nest" : "call", label: depth ? "" : threadNames[kind], height: kind === "call" ? 18 : 16, tracks: [t], group: g, depth });
  }
  g.folded = { kind: "lane", label: g.rows[0]?.label ?? "", height: 12, tracks: g.rows[0]?.tracks ?? [], group: g };
}
