// --- timeline: keys, wheel and pointers

function watchKeys(t, act) {
  const keys = { "+": "in", "=": "in", "-": "out", ArrowLeft: "left", ArrowRight: "right", 0: "all", Home: "all" };
  const steps = { n: () => stepItem(t, 1), p: () => stepItem(t, -1), "?": () => showHelp() };
  const picked = { ArrowUp: () => changeLine(t, -1), ArrowDown: () => changeLine(t, 1), Enter: () => zoomToPick(t), Escape: () => dropPick(t), l: () => showTied(t), j: () => jumpTied(t) };
  t.plot.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const call = keys[e.key] ? () => act(keys[e.key]) : steps[e.key] ?? (t.pick ? picked[e.key] : undefined);
    if (!call) return;
    e.preventDefault();
    call();
  });
}

// showHelp opens what is said of the keys.
function showHelp() {
  const help = document.getElementById("timeline-keys");
  help.open = true;
  help.querySelector("summary").focus();
}

function watchPointers(t) {
  const px = (e) => e.clientX - t.svg.getBoundingClientRect().left, y = (e) => e.clientY - t.svg.getBoundingClientRect().top;
  const groupAt = (e) => t.groups.find((g) => y(e) >= g.top && y(e) < g.bottom);
  t.plot.addEventListener("wheel", (e) => { // the page scrolls until the picture is chosen
    if (document.activeElement !== t.plot && !e.ctrlKey) return;
    e.preventDefault();
    const long = t.view.to - t.view.from;
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) t.show(t.view.from + e.deltaX * long / t.width, long);
    else t.zoom(1.0015 ** Math.max(-500, Math.min(500, e.deltaY)), momentAt(t, Math.max(t.gutter, px(e))));
  }, { passive: false });

  const down = new Map(); // pointers that are down, each with the moment it holds
  let moved = 0, start = 0;
  t.plot.addEventListener("pointerdown", (e) => {
    down.set(e.pointerId, { px: px(e), moment: momentAt(t, px(e)) });
    moved = down.size > 1 ? Infinity : 0;
    start = px(e);
    t.plot.setPointerCapture(e.pointerId);
  });
  const lift = (e) => {
    down.delete(e.pointerId);
    for (const grip of down.values()) grip.moment = momentAt(t, grip.px);
  };
  t.plot.addEventListener("pointercancel", lift);
  t.plot.addEventListener("pointerup", (e) => {
    const click = down.has(e.pointerId) && moved < 4;
    lift(e);
    const line = groupAt(e)?.lines.find((l) => y(e) >= l.y - 2 && y(e) < l.y + l.height + 3);
    if (!click || !line || px(e) < t.gutter) return;
    const index = itemAt(line, momentAt(t, px(e)), 3 * (t.view.to - t.view.from) / t.width);
    if (index >= 0) pickItem(t, line, index); else dropPick(t);
  });
  t.plot.addEventListener("pointermove", (e) => {
    const grip = down.get(e.pointerId);
    if (grip) {
      grip.px = px(e);
      moved = Math.max(moved, Math.abs(grip.px - start));
      if (moved >= 4) hold(t, [...down.values()]);
    }
    const group = groupAt(e);
    if (px(e) < t.gutter || !group) return;
    t.line = group.lines.find((l) => y(e) >= l.y && y(e) < l.y + l.height) ?? t.line;
    readAt(t, momentAt(t, px(e)), [group]);
  });
}

// hold has the moments that pointers hold stay under them: one moves the view, two make it shorter or longer.
function hold(t, grips) {
  const [a, b] = grips, long = t.view.to - t.view.from, wide = t.width - t.gutter;
  if (!b) return t.show(a.moment - (a.px - t.gutter) * long / wide, long);
  const apart = (b.moment - a.moment) / (b.px - a.px); // time a pixel
  if (apart > 0 && Number.isFinite(apart)) t.show(a.moment - (a.px - t.gutter) * apart, apart * wide);
}
