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
  t.pick = { line, index, tied: tiedTo(t, line, index) };
  t.panel.hidden = false;
  for (const button of t.panel.querySelectorAll("[data-tied]")) button.hidden = !t.pick.tied.length;
  t.panel.querySelector("[data-pick=jump]").textContent = line.first ? "Go to its work" : "Go to its launch";
  t.panel.querySelector(".facts-of").textContent = `${line.facts ? line.facts(index) : line.tell(index)}\n` +
    `${timeText(line.ends[index] - begin)} from ${momentText(begin, 1)} (start_ns ${begin + group.zero} of its source, ${line.ends[index] - begin} ns)${launchText(t)}`;
  t.panel.querySelector("code").textContent = line.name(index);
  t.line = line;
  t.redraw();
}

// tiedTo gives what a launch ties an item to: of work its call, of a call its work in the order of start.
function tiedTo(t, line, index) {
  const lines = t.groups.flatMap((g) => g.lines), number = line.launches?.[index];
  if (number) {
    const calls = lines.find((l) => number >= l.first && number < l.first + l.begins.length);
    return [{ line: calls, index: number - calls.first }];
  }
  const out = [];
  if (line.first) for (const work of lines) work.launches?.forEach((n, i) => { if (n === line.first + index) out.push({ line: work, index: i }); });
  return out.sort((a, b) => a.line.begins[a.index] - b.line.begins[b.index]);
}

// launchText says of what is picked how its launch and its work follow each other.
function launchText(t) {
  const { line, index, tied } = t.pick;
  if (!tied.length) return line.launches && t.groups.some((g) => g.lines.some((l) => l.first)) ? "\nIts launch is not in the page." : line.isLaunch?.(index) ? "\nWhat it launched is not in the page." : "";
  const [call, work] = line.first ? [t.pick, tied[0]] : [tied[0], t.pick], start = work.line.begins[work.index];
  const queued = start - call.line.ends[call.index], called = call.line.ends[call.index] - call.line.begins[call.index];
  const delay = `${timeText(start - call.line.begins[call.index])} after the call began` + (queued >= 0 ? `: ${timeText(called)} in the call, then ${timeText(queued)} queued` : `, before the call returned (${timeText(called)})`);
  if (!line.first) return `\nLaunched by ${call.line.name(call.index)} of ${t.groups.find((g) => g.lines.includes(call.line)).label}; starts ${delay}`;
  const last = tied.reduce((end, w) => Math.max(end, w.line.ends[w.index]), -Infinity);
  return `\nLaunched ${tied.length === 1 ? "" : `${grouped(String(tied.length))} pieces of work, the first `}${cutText(work.line.name(work.index), 110)}, which starts ${delay}` +
    (tied.length === 1 ? "" : `\nAll its work has run ${timeText(last - call.line.begins[call.index])} after the call began`);
}

// jumpTied goes to the other end of the link; showTied brings both ends into view.
function jumpTied(t) {
  const [to] = t.pick.tied;
  if (to) goTo(t, to.line, to.index);
}

function showTied(t) {
  const ends = [t.pick, ...t.pick.tied], from = Math.min(...ends.map((e) => e.line.begins[e.index])), to = Math.max(...ends.map((e) => e.line.ends[e.index]));
  if (t.pick.tied.length) t.show(from - (to - from) * 0.1, (to - from) * 1.2);
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
    jump: () => jumpTied(t),
    link: () => showTied(t),
    close: () => { dropPick(t); t.plot.focus({ preventScroll: true }); },
    copy: (button) => copyBy(button, "Copy name", t.panel.querySelector("code").textContent),
  };
  for (const button of t.panel.querySelectorAll("[data-pick]")) button.addEventListener("click", () => acts[button.dataset.pick](button));
}
