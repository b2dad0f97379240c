// Elements that several views have.
import { el, filled } from "./el.js";

export const svgNS = "http://www.w3.org/2000/svg";

export const svg = (name, attributes, ...children) => filled(document.createElementNS(svgNS, name), attributes, children);
export { el };

// facts is a list of names and what they are; those that are not known are left out.
export const facts = (pairs, className = "facts") => el("dl", { class: className }, pairs.filter(([, v]) => v !== null && v !== undefined && v !== "").map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v))));

// problem shows why there is no answer.
export const problem = (err) => el("p", { class: "problem", role: "alert" }, err.message);

export const loading = (what) => el("p", { class: "hint loading", role: "status" }, `Loading ${what}…`);

// fill replaces what an element holds by what a promise gives, or by why it gives nothing. An aborted one leaves it as it is.
export async function fill(element, promise) {
  try {
    const content = await promise;
    element.replaceChildren(...[content].flat(9).filter((c) => c !== null && c !== undefined && c !== false));
    element.removeAttribute("aria-busy");
    return true;
  } catch (err) {
    if (err.name === "AbortError") return false;
    element.replaceChildren(problem(err));
    element.removeAttribute("aria-busy");
    if (!("status" in err)) console.error(err); // an error of the page, not an answer
    return false;
  }
}

// later runs the last of several calls, once they pause.
export function later(ms, run) {
  let timer;
  const call = (...args) => { clearTimeout(timer); timer = setTimeout(run, ms, ...args); };
  call.stop = () => clearTimeout(timer);
  return call;
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch { // a browser gives a clipboard only to pages of https and of this machine
    const area = el("textarea", { value: text, class: "offscreen" });
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    return copied;
  }
}

// copyButton copies what make gives, and says so for a moment.
export function copyButton(label, make, spoken) {
  const button = el("button", { type: "button", "aria-label": spoken, onclick: async () => {
    const copied = await copy(make());
    button.textContent = copied ? "Copied" : "Not copied";
    setTimeout(() => { button.textContent = label; }, 1200);
  } }, label);
  return button;
}

// color gives a colour of the theme, for what is drawn on a canvas.
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const runLink = (name, ...rest) => `/runs/${encodeURIComponent(name)}${rest.map((r) => "/" + r).join("")}`;
