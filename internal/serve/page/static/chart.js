// Charts by uPlot, in the colours of the theme.
import uPlot from "./vendor/uplot.js";
import { color, el } from "./dom.js";

// chart draws with options of uPlot and follows the width of its place and the theme. It returns the chart's controls.
export function chart(place, options, data) {
  if (!document.getElementById("uplot-style")) document.head.append(el("link", { id: "uplot-style", rel: "stylesheet", href: "/vendor/uplot.css" }));
  let plot = null;
  const make = () => {
    const at = plot?.cursor.idx;
    plot?.destroy();
    const axis = (a) => ({ stroke: color("ink"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line"), width: 1 }, font: "12px system-ui, sans-serif", ...a });
    const made = options();
    plot = new uPlot({ ...made, width: Math.max(240, place.clientWidth), axes: made.axes.map(axis) }, data, place);
    if (at !== null && at !== undefined) plot.setCursor({ left: plot.valToPos(data[0][at], "x"), top: 0 });
  };
  make();
  let width = place.clientWidth;
  const watch = new ResizeObserver(() => {
    if (place.clientWidth !== width && place.clientWidth > 0) plot.setSize({ width: Math.max(240, width = place.clientWidth), height: plot.height });
  });
  watch.observe(place);
  document.addEventListener("themechange", make);
  return {
    get plot() { return plot; },
    redraw: () => plot.redraw(),
    destroy() { watch.disconnect(); document.removeEventListener("themechange", make); plot.destroy(); },
  };
}

// axisIn writes the ticks of an axis in a unit of so many base units; label names it.
export function axisIn(scale, label) {
  return {
    label, labelFont: "12px system-ui, sans-serif", labelSize: 18, size: 62,
    values: (_, ticks) => {
      const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) / scale : 1, decimals = Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
      return ticks.map((v) => v === null ? "" : (v / scale).toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals }));
    },
  };
}
