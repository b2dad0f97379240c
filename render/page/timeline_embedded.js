// The timeline's marks as a report holds them: chart.TimelineData.
import { firstFrom, marksOf } from "./timeline_marks.js";
import { laneNames } from "./timeline_palette.js";
import { count, momentText, percent, time } from "./times.js";

// cutText shortens a text in its middle.
export const cutText = (text, most) => text.length <= most ? text : text.slice(0, Math.ceil(most * 0.6) - 1) + "…" + text.slice(text.length - Math.floor(most * 0.4));

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

// runsOf reads runs of equal values into one value an item.
function runsOf(runs, count) {
  const out = new Int32Array(count);
  for (let i = 0, at = 0; i < runs.length; at += runs[i + 1], i += 2) out.fill(runs[i], at, at + runs[i + 1]);
  return out;
}

// chained reads items of three numbers: start from the end of the one before, length, work.
function chained(numbers) {
  const out = [];
  for (let i = 0, at = 0; i < numbers.length; i += 3) {
    const start = at + numbers[i];
    at = start + numbers[i + 1];
    out.push({ start, end: at, work: numbers[i + 2] });
  }
  return out;
}

// Embedded is what View draws of a report. Each of its tracks says of a mark what it is (tell), more of it (facts), and its whole name.
export class Embedded {
  constructor(data) {
    Object.assign(this, { data, names: data.names.slice(), numbers: new Map(), tracks: [], groups: [], marks: new Map(), callOf: new Map(), worksOf: new Map(), tones: new Map() });
    data.names.forEach((name, i) => this.numbers.set(name, i));
    data.rows.forEach((row, i) => this.addDevice(row, i));
    let first = 1; // number of the next call
    data.threads.forEach((thread, i) => { first = this.addThread(thread, i, first); });
    this.rankTones();
  }

  pieces() {
    return { level: 0, isWhole: true, list: [{ from: -Infinity, to: Infinity, tracks: this.marks }] };
  }

  want() {}

  stop() {}

  nameOf(text) {
    let number = this.numbers.get(text);
    if (number === undefined) this.numbers.set(text, number = this.names.push(text) - 1);
    return number;
  }

  group(label, of, more) {
    const group = { key: `${this.groups.length}`, label, zero: of.zero, known: of.known ?? [], rows: [], tracks: [], ...more };
    this.groups.push(group);
    return group;
  }

  row(group, kind, label, height, tracks, more) {
    const row = { kind, label, height, tracks, group, ...more };
    for (const track of tracks) track.row = row;
    group.rows.push(row);
    return row;
  }

  track(group, kind, list, more) {
    const track = { id: this.tracks.length, kind, list, ...more };
    this.tracks.push(track);
    group.tracks.push(track);
    this.marks.set(track.id, marksOf(list));
    return track;
  }

  addDevice(row, device) {
    const group = this.group(row.label, row, { device });
    for (const stage of row.stages) this.row(group, "pass", stage.name, 18, [this.stageTrack(group, stage)]);
    const streams = row.streams.map((stream) => this.streamOf(stream));
    for (const lane of row.lanes) this.row(group, "lane", laneNames[lane.name] ?? lane.name, 28, [this.laneTrack(group, lane, streams)]);
    const lanes = group.rows.filter((r) => r.kind === "lane").flatMap((r) => r.tracks);
    this.row(group, "gap", "longest gaps", 14, [this.gapTrack(group, row.gaps)]);
    for (const { stream, list } of streams) this.row(group, "stream", stream.name, 18, [...new Set(list.map((x) => x.lane))].map((lane) => this.streamTrack(group, stream, lane, list.filter((x) => x.lane === lane))), { known: group.known });
    group.folded = { kind: "lane", label: "all work", height: 14, tracks: lanes, group };
  }

  stageTrack(group, stage) {
    let at = 0;
    const list = stage.items.map(([after, long, count, nth, busy, bound, span, isWarm]) => ({ start: at += after, end: at + long, name: this.nameOf(stage.name + (isWarm ? " (warm-up)" : "")), count: count > 1 ? count : 0, passes: count, busy: busy / Math.max(1, span) * long, nth, bound, span, isWarm }));
    const passes = (x) => x.passes > 1 ? `${count(x.passes)} passes from #${x.nth}` : `pass #${x.nth}`;
    return this.track(group, "pass", list, {
      name: (x) => `${stage.name} ${passes(x)}`,
      tell: (x) => `${stage.name} ${passes(x)}${x.isWarm ? " (warm-up)" : ""}: ${time(x.span)}, ${percent(x.busy / Math.max(1, x.end - x.start))} busy, ${percent(x.bound / Math.max(1, x.span))} launch-bound`,
    });
  }

  // laneTrack has work as it ran where the page has it piece by piece, and blocks with the share of their time elsewhere.
  laneTrack(group, lane, streams) {
    let at = 0, until = -Infinity;
    const blocks = lane.items.map(([after, long, busy, works, longest, longestNs]) => {
      const start = at += after, end = start + long, from = Math.max(start, until); // work counts for the block that covers it first
      until = Math.max(until, end);
      return { start, end, from, share: end > from ? Math.min(1, busy / (end - from)) : 0, works, name: longest, longest: longestNs };
    });
    const known = [...group.known].sort((a, b) => a[0] - b[0]), starts = blocks.map((x) => x.start), list = [];
    for (const x of blocks) {
      let from = x.from;
      const add = (to) => { if (to > from) list.push({ start: from, end: to, name: x.name, count: x.works, busy: x.share * (to - from), longest: x.longest, block: x }); };
      for (const [begin, end] of known) if (end > from && begin < x.end) {
        add(begin);
        from = end;
      }
      add(x.end);
    }
    const own = streams.flatMap((s) => s.list).filter((x) => x.lane === lane.name && known.some(([begin, end]) => x.end > begin && x.start < end)).sort((a, b) => a.start - b.start);
    let last = null;
    for (const x of own) { // stretches that do not overlap
      if (last && x.start <= last.end) last.end = Math.max(last.end, x.end);
      else list.push(last = { start: x.start, end: x.end, name: x.name, count: 0, busy: 0, block: blocks[Math.max(0, firstFrom(starts, x.start + 0.5) - 1)] });
    }
    list.sort((a, b) => a.start - b.start);
    return this.track(group, lane.name, list, {
      name: (x) => this.names[x.block.name],
      tell: ({ block: b }) => b.works === 1 ? `${lane.name} ${time(b.end - b.start)}: ${cutText(this.names[b.name], 110)}`
        : `${lane.name}: ${count(b.works)} in ${time(b.end - b.start)}, ${percent(b.share)} busy; longest ${time(b.longest)}: ${cutText(this.names[b.name], 110)}`,
    });
  }

  gapTrack(group, gaps) {
    const name = (x, at) => this.names[x.gap[at]], label = (x) => this.partLabel(name(x, 2));
    return this.track(group, "gap", gaps.map((gap) => ({ start: gap[0], end: gap[0] + gap[1], name: gap[2], gap })).sort((a, b) => a.start - b.start), {
      name: (x) => `idle, ${label(x)}: after ${name(x, 3)}, before ${name(x, 4)}`,
      tell: (x) => `idle ${time(x.end - x.start)}, ${label(x)}: after ${cutText(name(x, 3), 110)}, before ${cutText(name(x, 4), 110)}, stage ${name(x, 5)}`,
    });
  }

  partLabel = (part) => this.data.parts[part] ?? part;

  // streamOf reads the work of a stream.
  streamOf(stream) {
    const list = chained(unpack(stream.items)), stages = runsOf(stream.stages, list.length), streams = stream.streams && runsOf(stream.streams, list.length), launches = runsOf(unpack(stream.launches ?? ""), list.length);
    let call = 0;
    list.forEach((x, i) => {
      const [name, lane] = this.data.works[x.work];
      Object.assign(x, { name, lane: this.names[lane], stage: stages[i], stream: streams ? this.names[streams[i]] : stream.name, call: call += launches[i] });
    });
    return { stream, list };
  }

  streamTrack(group, stream, lane, list) {
    const stage = (x) => x.stage < 0 ? "stage unknown, as its launch was not captured" : `stage ${this.names[x.stage]}`;
    const track = this.track(group, lane, list, {
      isWork: true,
      name: (x) => this.names[x.name],
      tell: (x) => `${lane} ${cutText(this.names[x.name], 110)}: ${time(x.end - x.start)} from ${momentText(x.start, 1)}, ${x.stream}, ${stage(x)}`,
      facts: (x) => `${lane} on ${x.stream} of ${group.label}, ${stage(x)}`,
    });
    list.forEach((x, i) => {
      if (!x.call) return;
      if (!this.worksOf.has(x.call)) this.worksOf.set(x.call, []);
      this.worksOf.get(x.call).push([track, i]);
    });
    return track;
  }

  addThread(thread, nth, first) {
    const group = this.group(thread.label, thread), numbers = unpack(thread.items), depths = [];
    for (let i = 0, at = 0; i < numbers.length; i += 5) {
      at += numbers[i];
      (depths[numbers[i + 2]] ??= []).push({ start: at, end: at + numbers[i + 1], name: numbers[i + 3], domain: numbers[i + 4] < 0 ? "" : `, domain ${this.names[numbers[i + 4]]}` });
    }
    depths.forEach((list, depth) => this.row(group, "nest", depth ? "" : "ranges", 16, [this.track(group, "range", list, {
      name: (x) => this.names[x.name],
      tell: (x) => `range ${cutText(this.names[x.name], 110)}: ${time(x.end - x.start)} from ${momentText(x.start, 1000)}${x.domain}`,
      facts: (x) => `range of ${thread.label}${depth ? `, inside ${depth} more` : ""}${x.domain}`,
    })], { depth }));
    if (thread.calls) first = this.addCalls(group, thread, first);
    group.folded = { kind: "lane", label: group.rows[0]?.label ?? "", height: 12, tracks: group.rows[0]?.tracks ?? [], group };
    return first;
  }

  addCalls(group, thread, first) {
    const kind = (x) => this.names[this.data.works[x.work][1]], list = chained(unpack(thread.calls));
    for (const x of list) x.name = this.data.works[x.work][0];
    const track = this.track(group, "call", list, {
      first,
      isLaunch: (x) => /^(launch|copy) /.test(kind(x)),
      name: (x) => this.names[x.name],
      tell: (x) => `${kind(x)} ${this.names[x.name]}: ${time(x.end - x.start)} from ${momentText(x.start, 1)}`,
      facts: (x) => `${kind(x)} of ${thread.label}`,
    });
    this.row(group, "call", thread.api, 18, [track], { known: group.known });
    list.forEach((_, i) => this.callOf.set(first + i, [track, i]));
    return first + list.length;
  }

  // rankTones gives the kernels that take most time the looks that are told apart best.
  rankTones() {
    const sums = new Map();
    for (const track of this.tracks) if (track.isWork) for (const x of track.list) {
      const key = `${track.kind} ${x.name}`;
      sums.set(key, (sums.get(key) ?? 0) + x.end - x.start);
    }
    const used = {};
    for (const [key] of [...sums].sort((a, b) => b[1] - a[1])) {
      const kind = key.slice(0, key.indexOf(" "));
      this.tones.set(key, used[kind] = (used[kind] ?? -1) + 1);
    }
  }

  toneOf = (kind, name) => this.tones.get(`${kind} ${name}`);

  // itemOf is a thing of a track, as View has it.
  itemOf([track, index]) {
    const x = track.list[index];
    return { track: track.id, kind: track.kind, row: track.row, start: x.start, end: x.end, name: this.names[x.name], count: x.count ?? 0, nth: x.nth, index };
  }

  thing(item) {
    const track = this.tracks[item.track];
    return [track, track.list[item.index]];
  }

  tell = (item) => {
    const [track, x] = this.thing(item);
    return track.tell(x);
  };

  // tiedTo gives what a launch ties something to: of work its call, of a call its work in the order of start.
  tiedTo(item) {
    const [track, x] = this.thing(item);
    if (track.kind === "call") return (this.worksOf.get(track.first + item.index) ?? []).map((at) => this.itemOf(at)).sort((a, b) => a.start - b.start);
    const call = track.isWork && this.callOf.get(x.call);
    return call ? [this.itemOf(call)] : [];
  }
}
