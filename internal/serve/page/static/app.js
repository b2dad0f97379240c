// The shell: routes, navigation, keys, theme. Each page is a module that is loaded when it is first opened.
import { el, problem } from "./dom.js";

const routes = [
  [/^\/(?:runs\/?)?$/, "runs", () => import("./runs.js")],
  [/^\/runs\/(?<run>[^/]+)$/, "runs", () => import("./run.js")],
  [/^\/runs\/(?<run>[^/]+)\/timeline$/, "runs", () => import("./timeline.js")],
  [/^\/runs\/(?<run>[^/]+)\/ncu$/, "runs", () => import("./ncu.js")],
  [/^\/compare$/, "compare", () => import("./compare.js")],
  [/^\/check$/, "check", () => import("./check.js")],
  [/^\/queries(?:\/(?<name>[^/]+))?$/, "queries", () => import("./queries.js")],
  [/^\/trend$/, "trend", () => import("./trend.js")],
  [/^\/sql$/, "sql", () => import("./sql.js")],
];

const main = document.getElementById("main");
let unmount = null, shown = 0, keysOfPage = [];

const nav = {
  // go opens an address of the page.
  go(url) {
    history.pushState(null, "", url);
    render();
    scrollTo(0, 0);
  },
  // replace sets parameters of the address; null, "" and [] take one out. The page stays as it is.
  replace(params) {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(params)) {
      url.searchParams.delete(name);
      for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== "") url.searchParams.append(name, one);
    }
    history.replaceState(null, "", url);
  },
  title(text) {
    document.title = text ? `${text} - prof` : "prof";
  },
};

async function render() {
  const mine = ++shown;
  unmount?.();
  unmount = null;
  keysOfPage = [];
  let found = null;
  for (const [pattern, page, load] of routes) {
    const match = pattern.exec(location.pathname);
    if (match) found = { page, load, path: Object.fromEntries(Object.entries(match.groups ?? {}).map(([name, text]) => [name, text && decoded(text)])) };
    if (match) break;
  }
  for (const a of document.querySelectorAll("header nav a")) {
    if (found && a.dataset.page === found.page) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  main.replaceChildren();
  nav.title(found?.path.run);
  if (!found || Object.values(found.path).includes(null)) {
    nav.title("Not found");
    main.append(el("h1", {}, "Not found"), el("p", {}, "The page has nothing at this address. ", el("a", { href: "/runs" }, "Runs")));
    return;
  }
  try {
    const module = await found.load();
    if (mine !== shown) return;
    const root = el("div", { class: "page" });
    main.append(root);
    keysOfPage = module.keys ?? [];
    unmount = module.mount(root, { path: found.path, query: new URLSearchParams(location.search) }, nav) ?? null;
  } catch (err) {
    if (mine === shown) main.replaceChildren(problem(err));
    console.error(err);
  }
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

addEventListener("popstate", render);

// Links within the page do not load it anew.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target || link.hasAttribute("download")) return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || url.pathname === location.pathname && url.search === location.search && url.hash || !routes.some(([pattern]) => pattern.test(url.pathname))) return;
  event.preventDefault();
  nav.go(url.pathname + url.search);
});

// --- theme
const root = document.documentElement, themeButton = document.getElementById("theme-button");
const themes = { "": ["◐", "Theme: as the system"], light: ["☀", "Theme: light"], dark: ["☾", "Theme: dark"] };
const showTheme = () => {
  const [sign, words] = themes[root.dataset.chosen ?? ""];
  themeButton.textContent = sign;
  themeButton.title = words;
  themeButton.setAttribute("aria-label", words);
};
themeButton.addEventListener("click", () => {
  const next = { "": "light", light: "dark", dark: "" }[root.dataset.chosen ?? ""];
  if (next) root.dataset.chosen = next;
  else delete root.dataset.chosen;
  try {
    if (next) localStorage.setItem("theme", next);
    else localStorage.removeItem("theme");
  } catch { /* no storage: for this visit only */ }
  document.dispatchEvent(new Event("themechosen"));
  showTheme();
});
showTheme();

// --- keys
const pages = { r: ["/runs", "runs"], c: ["/compare", "compare"], k: ["/check", "check"], t: ["/trend", "trend"], q: ["/queries", "queries"], s: ["/sql", "SQL console"] };
let afterG = 0;

const isTyping = (event) => {
  const target = event.composedPath()[0];
  return target.isContentEditable || ["TEXTAREA", "SELECT"].includes(target.tagName) || target.tagName === "INPUT" && !["checkbox", "radio", "button"].includes(target.type);
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (document.querySelector("dialog[open]")) return;
  if (performance.now() - afterG < 1500 && pages[event.key]) {
    event.preventDefault();
    afterG = 0;
    nav.go(pages[event.key][0]);
    return;
  }
  afterG = event.key === "g" ? performance.now() : 0;
  if (event.key === "/") {
    const search = main.querySelector("[data-search]") ?? main.querySelector("input[type=search], input[list=runs-known]");
    if (search) {
      event.preventDefault();
      search.focus();
      search.select?.();
    }
  } else if (event.key === "?") {
    event.preventDefault();
    showKeys();
  }
});

function showKeys() {
  const rows = [["/", "search"], ["?", "these keys"], ...Object.entries(pages).map(([key, [, name]]) => [`g ${key}`, `to ${name}`]), ...keysOfPage];
  const dialog = el("dialog", { class: "keys", "aria-label": "Keys", onclose: () => dialog.remove(), onclick: (e) => { if (e.target === dialog) dialog.close(); } },
    el("h2", {}, "Keys"), el("dl", {}, rows.map(([key, words]) => el("div", {}, el("dt", {}, key.split(" ").map((k) => el("kbd", {}, k))), el("dd", {}, words)))),
    el("form", { method: "dialog" }, el("button", {}, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}
document.getElementById("keys-button").addEventListener("click", showKeys);

document.documentElement.dataset.ready = "";
render();
