// The timeline's data: tiles of time, each a power of two long, which the server answers with some thousand marks and the browser keeps.
import { get, path } from "./api.js";

const binsOfTile = 1024, leastLevel = 10, mostKept = 240, atOnce = 4;

// A tile's marks by track, in typed arrays: times from the timeline's zero, until which any mark so far lasts, and names as numbers of Tiles.names.
export function unpacked(answer, zero, nameOf) {
  const names = answer.names.map(nameOf), tracks = new Map();
  for (const m of answer.tracks) {
    const size = m.start_ns.length, start = new Float64Array(size), end = new Float64Array(size), until = new Float64Array(size), name = new Int32Array(size);
    for (let i = 0; i < size; i++) {
      start[i] = m.start_ns[i] - zero;
      end[i] = start[i] + m.duration_ns[i];
      until[i] = i && until[i - 1] > end[i] ? until[i - 1] : end[i];
      name[i] = names[m.name[i]];
    }
    tracks.set(m.track, { start, end, until, name, busy: m.busy_ns, count: m.item_count, longest: m.longest_ns, nth: m.nth });
  }
  return tracks;
}

export class Tiles {
  constructor(run, source, about) {
    Object.assign(this, { run, source, zero: about.zero_ns, begin: about.begin_ns, end: about.end_ns, changed: () => {}, names: [], numbers: new Map(), kept: new Map(), waiting: [], running: 0, clock: 0, error: null });
  }

  nameOf = (text) => {
    let number = this.numbers.get(text);
    if (number === undefined) this.numbers.set(text, number = this.names.push(text) - 1);
    return number;
  };

  // levelOf is the level whose tiles are no longer than a stretch of time: two or three of them show it.
  levelOf(long) {
    return Math.max(leastLevel, Math.floor(Math.log2(Math.max(1, long))));
  }

  indexOf(level, moment) {
    return Math.floor((moment + this.zero) / 2 ** level);
  }

  tile(level, index) {
    const tile = this.kept.get(`${level}/${index}`);
    if (tile) tile.used = ++this.clock;
    return tile?.tracks ? tile : null;
  }

  // pieces gives what there is to draw of a stretch of time: the tiles of its level, and in the place of those that are on their way longer
  // or shorter ones.
  pieces(from, to) {
    const level = this.levelOf(to - from), out = [];
    let isWhole = true;
    for (let i = this.indexOf(level, from), last = this.indexOf(level, to); i <= last; i++) {
      const begin = i * 2 ** level - this.zero, end = begin + 2 ** level;
      if (end <= this.begin - this.zero || begin >= this.end - this.zero) continue;
      const tile = this.tile(level, i);
      if (tile) out.push({ from: begin, to: end, tracks: tile.tracks });
      else {
        isWhole = false;
        this.instead(level, i, begin, end, out);
      }
    }
    return { level, isWhole, list: out };
  }

  instead(level, index, begin, end, out) {
    const shorter = [2 * index, 2 * index + 1].map((i) => [i, this.tile(level - 1, i)]).filter(([, t]) => t);
    if (shorter.length === 2) {
      for (const [i, t] of shorter) out.push({ from: i * 2 ** (level - 1) - this.zero, to: (i + 1) * 2 ** (level - 1) - this.zero, tracks: t.tracks });
      return;
    }
    for (let up = 1; up < 40; up++) {
      const longer = this.tile(level + up, Math.floor(index / 2 ** up));
      if (longer) {
        out.push({ from: begin, to: end, tracks: longer.tracks });
        return;
      }
    }
  }

  // want asks for the tiles of a stretch, then for those next to it and the longer ones; what is asked for no more is given up.
  want(from, to) {
    const level = this.levelOf(to - from), first = this.indexOf(level, from), last = this.indexOf(level, to), list = [];
    const add = (l, i) => {
      const begin = i * 2 ** l, key = `${l}/${i}`;
      if (begin < this.end && begin + 2 ** l > this.begin && !list.some((t) => t.key === key)) list.push({ key, level: l, index: i });
    };
    for (let i = first; i <= last; i++) add(level, i);
    add(level + 1, this.indexOf(level + 1, (from + to) / 2));
    for (const i of [last + 1, first - 1]) add(level, i);
    add(level + 3, this.indexOf(level + 3, (from + to) / 2));
    if (level > leastLevel) add(level - 1, this.indexOf(level - 1, (from + to) / 2));
    for (const tile of this.kept.values()) if (tile.stop && !list.some((t) => t.key === tile.key)) {
      tile.stop.abort();
      this.kept.delete(tile.key);
    }
    this.waiting = list.filter((t) => !this.kept.has(t.key));
    this.next();
  }

  next() {
    while (this.running < atOnce && this.waiting.length) {
      const tile = this.waiting.shift();
      tile.stop = new AbortController();
      this.kept.set(tile.key, tile);
      this.running++;
      this.load(tile).finally(() => { this.running--; this.next(); });
    }
  }

  async load(tile) {
    const from = tile.index * 2 ** tile.level;
    try {
      const answer = await get(path("runs", this.run, "timeline"), { from_ns: from, to_ns: from + 2 ** tile.level, bins: binsOfTile, source: this.source }, tile.stop.signal);
      tile.tracks = unpacked(answer, this.zero, this.nameOf);
      tile.stop = null;
      tile.used = ++this.clock;
      this.error = null;
      this.shrink();
      this.changed();
    } catch (err) {
      if (err.name === "AbortError") { // it may be wanted again by now, in another tile of that name
        if (this.kept.get(tile.key) === tile) this.kept.delete(tile.key);
        return;
      }
      tile.stop = null; // kept, so that it is not asked for again and again
      this.error = err;
      this.changed();
    }
  }

  // retry forgets what could not be had.
  retry() {
    this.error = null;
    for (const tile of this.kept.values()) if (!tile.tracks && !tile.stop) this.kept.delete(tile.key);
    this.changed();
  }

  shrink() {
    if (this.kept.size <= mostKept) return;
    const old = [...this.kept.values()].filter((t) => !t.stop).sort((a, b) => a.used - b.used).slice(0, this.kept.size - mostKept * 0.8);
    for (const tile of old) this.kept.delete(tile.key);
  }

  stop() {
    this.waiting = [];
    for (const tile of this.kept.values()) tile.stop?.abort();
  }
}
