// --- timeline: drawing each kind of line

// leastBox is how many pixels wide an item must be for a box of its own.
const leastBox = 2;

const drawLine = {
  stage(t, line) {
    let out = lineGround(t, line) + `<g class="${line.style}">`, last = -1;
    inView(t, line, (i, from, to) => {
      if (to < last + 0.5) return; // under one that is drawn
      to = last = Math.max(to, from + 1);
      out += rectAt(from, to, line.y, line.height, line.items[i][7] ? "pass warm" : "pass");
      if (to - from > 34) out += `<text class="on" x="${(from + 5).toFixed(1)}" y="${line.y + 13}">${line.items[i][2] > 1 ? line.items[i][2] + "×" : "#" + line.items[i][3]}</text>`;
    });
    return out + "</g>";
  },

  // lane draws work as it ran where the page has it piece by piece, and blocks with the share of their time elsewhere.
  lane(t, line, group) {
    const cover = coverage(t), known = group.known.map(([from, to]) => [timelineX(t, from), timelineX(t, to)]).sort((a, b) => a[0] - b[0]);
    inView(t, line, (i, from, to) => {
      let at = Math.max(from, timelineX(t, line.froms[i]));
      for (const [begin, end] of known) {
        if (end <= at || begin >= to) continue;
        if (begin > at) cover.add(line.lane, at, begin, line.shares[i]);
        at = end;
      }
      if (at < to) cover.add(line.lane, at, to, line.shares[i]);
    });
    inView(t, line.single, (i, from, to) => {
      for (const [begin, end] of known) if (end > from && begin < to) cover.add(line.lane, Math.max(from, begin), Math.min(to, end), 1);
    });
    return lineGround(t, line) + cover.draw(line);
  },

  gap(t, line) {
    const gaps = [];
    inView(t, line, (i, from, to) => gaps.push([i, from, Math.max(to, from + 2)]));
    gaps.sort((a, b) => line.ends[a[0]] - line.begins[a[0]] - line.ends[b[0]] + line.begins[b[0]]); // the longest on top
    return lineGround(t, line) + gaps.map(([i, from, to]) => `<g class="part-${esc(line.cause(i))}">${rectAt(from, to, line.y, line.height, "work")}${rectAt(from, to, line.y, line.height, "shade")}</g>`).join("");
  },

  // stream has a ground only where its work is known one by one.
  stream(t, line, group) {
    let ground = "", boxes = "";
    for (const [from, to] of group.known) {
      if (to >= t.view.from && from <= t.view.to) ground += rectAt(Math.max(t.gutter, timelineX(t, from)), Math.min(t.width, Math.max(timelineX(t, to), timelineX(t, from) + 1)), line.y, line.height, "ground");
    }
    const cover = coverage(t);
    inView(t, line, (i, from, to) => {
      if (to - from < leastBox) cover.add(line.lane(i), from, to, 1);
      else boxes += `<g class="box ${esc(line.look(i))}">${rectAt(from, to, line.y, line.height, "piece")}${boxText(t, from, to, line.y + 13, line.brief(i))}</g>`;
    });
    return `<line class="unknown" x1="${t.gutter}" x2="${t.width}" y1="${line.y + line.height / 2}" y2="${line.y + line.height / 2}"/>` + ground + cover.draw(line) + boxes;
  },

  range(t, line) {
    let out = "", last = -1;
    inView(t, line, (i, from, to) => {
      if (to < last + 0.5) return; // under one that is drawn
      to = last = Math.max(to, from + 1);
      out += rectAt(from, to, line.y, line.height, "range") + boxText(t, from, to, line.y + 12, line.name(i));
    });
    return `<g class="box depth-${line.depth % 2}">${out}</g>`;
  },
};
