// --- timeline
function startTimeline(data) {
  const figure = document.getElementById("timeline-figure"), plot = document.getElementById("timeline-plot");
  const least = Math.min(data.span, 1000); // a view of a microsecond is the shortest
  const t = {
    plot, svg: plot.querySelector("svg"), readout: document.getElementById("timeline-readout"), shown: document.getElementById("timeline-view"), panel: document.getElementById("timeline-pick"),
    groups: timelineGroups(data), view: { from: 0, to: data.span }, cursor: null, pick: null, line: null,
    widths: new Map(), pen: document.createElement("canvas").getContext("2d"),
  };
  figure.hidden = false;
  t.pen.font = "12px " + getComputedStyle(document.body).fontFamily;
  let drawn = 0;
  t.redraw = () => { // many changes between two pictures are one
    if (!drawn) drawn = requestAnimationFrame(() => { drawn = 0; drawView(t); });
  };
  t.show = (from, length) => {
    length = Math.min(data.span - data.begin, Math.max(least, length));
    t.view.from = Math.max(data.begin, Math.min(data.span - length, from));
    t.view.to = t.view.from + length;
    t.redraw();
    noteView(t, data.span);
  };
  t.zoom = (factor, center) => t.show(center - (center - t.view.from) * factor, (t.view.to - t.view.from) * factor);
  const middle = () => (t.view.from + t.view.to) / 2, long = () => t.view.to - t.view.from;
  const acts = {
    in: () => t.zoom(0.5, middle()), out: () => t.zoom(2, middle()), all: () => t.show(0, data.span),
    left: () => t.show(t.view.from - long() / 4, long()), right: () => t.show(t.view.from + long() / 4, long()),
  };
  const act = (name) => { acts[name](); readAt(t, middle(), t.groups); };
  for (const button of figure.querySelectorAll("[data-act]")) button.addEventListener("click", () => act(button.dataset.act));
  watchKeys(t, act);
  watchPointers(t);
  watchPanel(t);
  drawView(t);
  watchAddress(t, figure, data.begin, data.span);
  new ResizeObserver(t.redraw).observe(plot);
}

// stretchOf reads an address such as #timeline=1000,2000, whichever of the two comes first; of any other it gives nothing.
function stretchOf(address) {
  const [, a, b] = /^#timeline=(-?\d+),(-?\d+)$/.exec(address) ?? [];
  return a === undefined ? [] : [Math.min(a, b), Math.max(a, b)];
}

// watchAddress has the view follow addresses such as #timeline=1000,2000, which name nanoseconds from the first work.
function watchAddress(t, figure, begin, span) {
  const follow = (address) => {
    if (!address.startsWith("#timeline=")) return false;
    figure.parentElement.scrollIntoView();
    const [from, to] = stretchOf(address);
    if (!(to > from)) {
      t.readout.textContent = `The address ends in ${cutText(address, 60)}, which names no stretch of time: #timeline=1000,2000 shows from 1,000 to 2,000 ns.`;
      return false;
    }
    t.show(from, to - from);
    drawView(t);
    readAt(t, (t.view.from + t.view.to) / 2, t.groups);
    if (from > span || to < begin) t.readout.textContent = `The address names a stretch beside the capture, which lasts ${grouped(String(span))} ns: what is nearest is shown.\n${t.readout.textContent}`;
    return true;
  };
  follow(location.hash);
  window.addEventListener("hashchange", () => follow(location.hash));
  document.addEventListener("click", (e) => { // one that the address names already is no change
    const link = e.target.closest?.('a[href^="#timeline="]');
    if (link && follow(link.hash)) t.plot.focus({ preventScroll: true });
  });
}

// noteView keeps the view in the page's address, once it stays.
let viewNoted = 0;
function noteView(t, span) {
  clearTimeout(viewNoted);
  viewNoted = setTimeout(() => {
    const whole = t.view.to - t.view.from >= span, at = whole ? "#timeline" : `#timeline=${Math.round(t.view.from)},${Math.round(t.view.to)}`;
    if (location.hash !== at && !(whole && !location.hash.startsWith("#timeline="))) history.replaceState(null, "", at);
  }, 500);
}

const timelineSource = document.getElementById("timeline-data");
if (timelineSource) startTimeline(JSON.parse(timelineSource.textContent));
