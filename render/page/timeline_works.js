// --- timeline: single pieces of work, and ranges

// tones is how many looks pieces of one kind have, so that kernels which take turns can be told apart.
const tones = { kernel: 8, collective: 2, graph: 2, copy: 2 };

// workClasses gives each kind of work its look: the ones that take most time are told apart best.
function workClasses(data) {
  const total = new Float64Array(data.works.length);
  for (const row of data.rows) for (const stream of row.streams) for (let i = 0; i < stream.items.length; i += 3) total[stream.items[i + 2]] += stream.items[i + 1];
  const used = {}, classes = [];
  for (const work of [...total.keys()].sort((a, b) => total[b] - total[a] || a - b)) {
    const lane = data.names[data.works[work][1]];
    used[lane] = (used[lane] ?? -1) + 1;
    classes[work] = `${lane}-${used[lane] % (tones[lane] ?? 1)}`;
  }
  return classes;
}

// runsOf reads runs of equal values into one value an item.
function runsOf(runs, count) {
  const out = new Int32Array(count);
  for (let i = 0, at = 0; i < runs.length; at += runs[i + 1], i += 2) out.fill(runs[i], at, at + runs[i + 1]);
  return out;
}

// unpack reads numbers of a text, as chart.Packed writes them.
function unpack(text) {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", worth = new Uint8Array(128), out = [];
  for (let i = 0; i < 64; i++) worth[digits.charCodeAt(i)] = i;
  let value = 0, scale = 1;
  for (let i = 0; i < text.length; i++) {
    const digit = worth[text.charCodeAt(i)];
    value += (digit & 31) * scale;
    scale *= 32;
    if (digit >= 32) continue;
    out.push(value % 2 ? -(value + 1) / 2 : value / 2);
    value = 0;
    scale = 1;
  }
  return out;
}

// chained reads items of three numbers: start from the end of the one before, length, work.
function chained(items) {
  const count = items.length / 3, begins = new Float64Array(count), ends = new Float64Array(count), works = new Int32Array(count);
  for (let i = 0, at = 0; i < count; i++) {
    begins[i] = at + items[3 * i];
    at = ends[i] = begins[i] + items[3 * i + 1];
    works[i] = items[3 * i + 2];
  }
  return { begins, ends, works };
}

// launchesOf gives the number of the call that launched each item, 0 for none.
function launchesOf(stream, count) {
  const calls = runsOf(unpack(stream.launches ?? ""), count);
  for (let i = 1; i < count; i++) calls[i] += calls[i - 1];
  return calls;
}

function streamItems(stream, data, palette, place) {
  const { begins, ends, works } = chained(stream.items), count = works.length;
  const stages = runsOf(stream.stages, count), streams = stream.streams && runsOf(stream.streams, count);
  const lane = (i) => data.names[data.works[works[i]][1]], name = (i) => data.names[data.works[works[i]][0]];
  const stage = (i) => stages[i] < 0 ? "stage unknown, as its launch was not captured" : `stage ${data.names[stages[i]]}`;
  const line = (i) => streams ? data.names[streams[i]] : stream.name;
  const briefs = new Array(data.works.length);
  return timelineLine("stream", stream.name, 18, begins, ends, {
    lane,
    name,
    launches: launchesOf(stream, count),
    look: (i) => palette[works[i]],
    brief: (i) => briefs[works[i]] ??= briefName(name(i)),
    tell: (i) => `${lane(i)} ${cutText(name(i), 110)}: ${timeText(ends[i] - begins[i])} from ${momentText(begins[i], 1)}, ${line(i)}, ${stage(i)}`,
    facts: (i) => `${lane(i)} on ${line(i)} of ${place}, ${stage(i)}`,
  });
}

// callItems makes the line of a thread's calls; first is the number of its first one.
function callItems(thread, data, first) {
  const { begins, ends, works } = chained(unpack(thread.calls)), name = (i) => data.names[data.works[works[i]][0]], kind = (i) => data.names[data.works[works[i]][1]];
  const lanes = data.works.map((work) => data.names[work[1]].replace(" ", "-")), lane = (i) => lanes[works[i]];
  return timelineLine("stream", thread.api, 18, begins, ends, {
    first,
    lane,
    name,
    isLaunch: (i) => /^(launch|copy) /.test(kind(i)),
    look: (i) => `part-${lane(i)}`,
    brief: (i) => name(i).replace(/_v\d+$/, ""),
    tell: (i) => `${kind(i)} ${name(i)}: ${timeText(ends[i] - begins[i])} from ${momentText(begins[i], 1)}`,
    facts: (i) => `${kind(i)} of ${thread.label}`,
  });
}

// singleWork gives when work of a lane runs on any of the streams, piece by piece: stretches in order that do not overlap.
function singleWork(streams, lane) {
  const pieces = [];
  for (const s of streams) for (let i = 0; i < s.begins.length; i++) if (s.lane(i) === lane) pieces.push([s.begins[i], s.ends[i]]);
  pieces.sort((a, b) => a[0] - b[0]);
  const begins = [], ends = [];
  let longest = 0;
  for (const [begin, end] of pieces) {
    const last = ends.length - 1;
    if (last >= 0 && begin <= ends[last]) ends[last] = Math.max(ends[last], end);
    else { begins.push(begin); ends.push(end); }
    longest = Math.max(longest, ends.at(-1) - begins.at(-1));
  }
  return { begins, ends, longest };
}

// briefName gives of a kernel's name what comes after its type and namespaces.
function briefName(name) {
  const text = name.replace(/\(anonymous namespace\)::|<unnamed>::/g, "").replace(/^(void|static|auto) /, "");
  const head = text.search(/[<(]/), at = text.lastIndexOf("::", head < 0 ? text.length : head);
  return at < 0 ? text : text.slice(at + 2);
}

// rangeItems makes a line for each depth of a thread's ranges.
function rangeItems(thread, data) {
  const depths = [], numbers = unpack(thread.items);
  for (let i = 0, at = 0; i < numbers.length; i += 5) {
    const [after, length, depth, name, domain] = numbers.slice(i, i + 5);
    at += after;
    (depths[depth] ??= []).push({ begin: at, end: at + length, name: data.names[name], domain: domain < 0 ? "" : `, domain ${data.names[domain]}` });
  }
  return depths.map((items, depth) => timelineLine("range", depth === 0 ? "ranges" : "", 16, Float64Array.from(items, (r) => r.begin), Float64Array.from(items, (r) => r.end), {
    depth,
    name: (i) => items[i].name,
    tell: (i) => `range ${cutText(items[i].name, 110)}: ${timeText(items[i].end - items[i].begin)} from ${momentText(items[i].begin, 1000)}${items[i].domain}`,
    facts: (i) => `range of ${thread.label}${depth ? `, inside ${depth} more` : ""}${items[i].domain}`,
  })).filter((line) => line);
}
