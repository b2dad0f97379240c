// Before the first picture: the theme, so that the page does not flash in the other one. data-theme is what is shown, data-chosen what a
// reader chose; without that the system decides.
(() => {
  const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
  const show = () => {
    root.dataset.theme = root.dataset.chosen || (dark.matches ? "dark" : "light");
    document.dispatchEvent(new Event("themechange"));
  };
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") root.dataset.chosen = chosen;
  } catch { /* no storage */ }
  show();
  dark.addEventListener("change", show);
  document.addEventListener("themechosen", show);
  addEventListener("beforeprint", () => { // canvases too are drawn for paper
    root.dataset.theme = "light";
    document.dispatchEvent(new Event("themechange"));
  });
  addEventListener("afterprint", show);
})();
