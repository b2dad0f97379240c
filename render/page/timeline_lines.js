// --- timeline: its lines
const timeUnits = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

// grouped puts commas between thousands.
const grouped = (text) => text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

// timeText gives a length with three digits, or, of ticks a step apart, with as many as the step needs.
function timeText(ns, step) {
  const [div, unit] = timeUnits.find(([d]) => Math.abs(step ?? ns) >= d) ?? timeUnits[3];
  const digits = step === undefined ? Math.max(0, 2 - Math.floor(Math.log10(Math.max(1, Math.abs(ns) / div)))) : Math.max(0, Math.ceil(-Math.log10(step / div) - 1e-9));
  return grouped((ns / div).toFixed(ns === 0 || div === 1 ? 0 : digits)) + " " + unit;
}

// momentText gives a moment with as many digits as tell apart moments of the given distance.
function momentText(ns, apart) {
  const [div, unit] = timeUnits.find(([d]) => Math.abs(ns) >= d) ?? timeUnits[3];
  return grouped((ns / div).toFixed(Math.max(0, Math.min(9, Math.ceil(Math.log10(div / Math.max(1, apart))))))) + " " + unit;
}
const shareText = (share) => (100 * share).toFixed(share < 0.1 ? 1 : 0) + " %";
const cutText = (text, most) => text.length <= most ? text : text.slice(0, Math.ceil(most * 0.6) - 1) + "…" + text.slice(text.length - Math.floor(most * 0.4));

// A line of the timeline holds items in order of start: begins and ends are times. name gives an item's full name, tell says what it is, facts
// says more of it in lines of their own.
function timelineLine(kind, label, height, begins, ends, more) {
  let longest = 0;
  for (let i = 0; i < begins.length; i++) longest = Math.max(longest, ends[i] - begins[i]);
  return { kind, label, height, begins, ends, longest, ...more };
}

// firstFrom gives the place of the first of sorted numbers that is no less than a value.
function firstFrom(numbers, value) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1; else high = middle;
  }
  return low;
}

// itemAt gives the place of the item at a moment, or of the nearest that is no further than slack; -1 for none.
function itemAt(line, moment, slack) {
  let best = -1, least = slack;
  for (let i = firstFrom(line.begins, moment + slack) - 1; i >= 0 && line.begins[i] >= moment - slack - line.longest; i--) {
    const away = Math.max(0, line.begins[i] - moment, moment - line.ends[i]);
    if (away < least || (best < 0 && away <= least)) [best, least] = [i, away];
    if (away === 0) break;
  }
  return best;
}

const laneNames = { kernel: "kernels", collective: "collectives", graph: "graphs", copy: "copies" };

// timelineGroups makes the lines of each GPU and each thread, from top to bottom.
function timelineGroups(data) {
  for (const row of data.rows) for (const stream of row.streams) stream.items = unpack(stream.items);
  const palette = workClasses(data), stages = [];
  const groups = data.rows.map((row) => {
    const group = { label: row.label, known: row.known, zero: row.zero, lines: [] };
    for (const stage of row.stages) {
      if (!stages.includes(stage.name)) stages.push(stage.name);
      group.lines.push(stageItems(stage, "stage-" + (stages.indexOf(stage.name) % 6)));
    }
    const streams = row.streams.map((stream) => streamItems(stream, data, palette, row.label));
    for (const lane of row.lanes) group.lines.push(laneItems(lane, data, singleWork(streams, lane.name)));
    group.lines.push(gapItems(row.gaps, data), ...streams);
    return group;
  });
  let first = 1;
  for (const thread of data.threads) {
    const group = { label: thread.label, zero: thread.zero, known: thread.known ?? [], lines: rangeItems(thread, data) };
    if (thread.calls) {
      const calls = callItems(thread, data, first);
      group.lines.push(calls);
      first += calls.begins.length;
    }
    groups.push(group);
  }
  return groups;
}

function absolute(items) {
  let at = 0;
  for (const item of items) item[0] = at += item[0];
  return [Float64Array.from(items, (item) => item[0]), Float64Array.from(items, (item) => item[0] + item[1])];
}

function stageItems(stage, style) {
  const items = stage.items, [begins, ends] = absolute(items);
  const passes = (i) => items[i][2] > 1 ? `${items[i][2]} passes from #${items[i][3]}` : `pass #${items[i][3]}`;
  const share = (i, column) => shareText(items[i][column] / Math.max(1, items[i][6]));
  return timelineLine("stage", stage.name, 18, begins, ends, {
    style,
    items,
    name: (i) => `${stage.name} ${passes(i)}`,
    tell: (i) => `${stage.name} ${passes(i)}${items[i][7] ? " (warm-up)" : ""}: ${timeText(items[i][6])}, ${share(i, 4)} busy, ${share(i, 5)} launch-bound`,
  });
}

function laneItems(lane, data, single) {
  const items = lane.items, [begins, ends] = absolute(items), shares = new Float64Array(items.length), froms = new Float64Array(items.length);
  let until = -Infinity; // work counts for the block that covers it first
  items.forEach((item, i) => {
    froms[i] = Math.max(begins[i], until);
    shares[i] = ends[i] > froms[i] ? Math.min(1, item[2] / (ends[i] - froms[i])) : 0;
    until = Math.max(until, ends[i]);
  });
  const name = (i) => data.names[items[i][4]];
  return timelineLine("lane", laneNames[lane.name] ?? lane.name, 30, begins, ends, {
    lane: lane.name,
    single,
    froms,
    shares,
    name,
    tell: (i) => items[i][3] === 1 ? `${lane.name} ${timeText(items[i][1])}: ${cutText(name(i), 110)}`
      : `${lane.name}: ${items[i][3]} in ${timeText(items[i][1])}, ${shareText(shares[i])} busy; longest ${timeText(items[i][5])}: ${cutText(name(i), 110)}`,
  });
}

function gapItems(gaps, data) {
  const items = [...gaps].sort((a, b) => a[0] - b[0]), name = (i, column) => data.names[items[i][column]];
  return timelineLine("gap", "longest gaps", 14, Float64Array.from(items, (g) => g[0]), Float64Array.from(items, (g) => g[0] + g[1]), {
    cause: (i) => name(i, 2),
    name: (i) => `idle, ${name(i, 2)}: after ${name(i, 3)}, before ${name(i, 4)}`,
    tell: (i) => `idle ${timeText(items[i][1])}, ${name(i, 2)}: after ${cutText(name(i, 3), 110)}, before ${cutText(name(i, 4), 110)}, stage ${name(i, 5)}`,
  });
}
