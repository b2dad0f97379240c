// --- timeline: reading and picking

// readAt says what is at a moment in the groups given; slack is the time that a pixel stands for.
function readAt(t, moment, groups) {
  const slack = (t.view.to - t.view.from) / t.width, said = [momentText(moment, slack)];
  for (const group of groups) {
    const items = [];
    for (const line of group.lines) {
      const i = itemAt(line, moment, slack);
      if (i >= 0) items.push(line.tell(i));
    }
    said.push(`${group.label}: ${items.length ? items.join("\n    ") : "nothing of what is drawn"}`);
  }
  t.readout.textContent = said.join("\n");
  t.cursor = moment;
  placeCursor(t);
}

// pickItem fixes an item: it stays outlined, and its whole name is there to copy.
function pickItem(t, line, index) {
  const group = t.groups.find((g) => g.lines.includes(line)), begin = line.begins[index];
  t.pick = { line, index };
  t.panel.hidden = false;
  t.panel.querySelector(".facts-of").textContent = `${line.facts ? line.facts(index) : line.tell(index)}\n` +
    `${timeText(line.ends[index] - begin)} from ${momentText(begin, 1)} (start_ns ${begin + group.zero} of its source, ${line.ends[index] - begin} ns)`;
  t.panel.querySelector("code").textContent = line.name(index);
  t.line = line;
  t.redraw();
}

function dropPick(t) {
  t.pick = null;
  t.panel.hidden = true;
  t.redraw();
}

// stepItem goes to the next or the one before on the line of the picked item, else on the line that was pointed at last, and says what it is.
function stepItem(t, by) {
  const lines = t.groups.flatMap((g) => g.lines).filter((l) => l.begins.length);
  const line = t.pick?.line ?? (t.line?.begins.length ? t.line : lines.find((l) => l.kind === "stream" && firstFrom(l.begins, t.view.to) > firstFrom(l.begins, t.view.from)) ?? lines[0]);
  const from = t.cursor !== null && t.cursor >= t.view.from && t.cursor <= t.view.to ? t.cursor : t.view.from;
  const index = t.pick ? t.pick.index + by : firstFrom(line.begins, from) - (by < 0 ? 1 : 0);
  if (index < 0 || index >= line.begins.length) {
    t.readout.textContent = `No ${by < 0 ? "earlier" : "later"} item on this line.`;
    return;
  }
  goTo(t, line, index);
}

// changeLine goes to the item of the next line above or below that is at the same time or starts next.
function changeLine(t, by) {
  const lines = t.groups.flatMap((g) => g.lines).filter((l) => l.begins.length), line = lines[lines.indexOf(t.pick.line) + by];
  if (!line) return;
  const moment = t.cursor ?? t.view.from, hit = itemAt(line, moment, 0);
  if (hit >= 0) goTo(t, line, hit, moment); else goTo(t, line, Math.min(line.begins.length - 1, firstFrom(line.begins, moment)));
}

// goTo picks an item, brings it into view and announces it. The cursor goes to the moment given, else to its start.
function goTo(t, line, index, moment) {
  const begin = line.begins[index], long = t.view.to - t.view.from;
  if (line.ends[index] < t.view.from || begin > t.view.to) t.show(begin - long / 2, long);
  pickItem(t, line, index);
  t.cursor = moment ?? Math.max(begin, t.view.from);
  t.readout.textContent = `${line.tell(index)} (${index + 1} of ${line.begins.length} on this line)`;
}

function zoomToPick(t) {
  const { line, index } = t.pick, long = Math.max(1, line.ends[index] - line.begins[index]);
  t.show(line.begins[index] - long * 0.5, long * 2);
}

// watchPanel makes the buttons beside a picked item work.
function watchPanel(t) {
  const acts = {
    zoom: () => zoomToPick(t),
    close: () => { dropPick(t); t.plot.focus({ preventScroll: true }); },
    copy: (button) => copyBy(button, "Copy name", t.panel.querySelector("code").textContent),
  };
  for (const button of t.panel.querySelectorAll("[data-pick]")) button.addEventListener("click", () => acts[button.dataset.pick](button));
}
