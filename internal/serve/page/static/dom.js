// Elements without HTML text: nothing that a profile holds is ever parsed as HTML.

export const svgNS = "http://www.w3.org/2000/svg";

// el makes an element. Attributes that are functions listen to events (onclick), data is a data set, null is left out.
export const el = (name, attributes, ...children) => filled(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => filled(document.createElementNS(svgNS, name), attributes, children);

function filled(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else if (key === "data") Object.assign(element.dataset, value);
    else if (key === "style") for (const [k, v] of Object.entries(value)) element.style.setProperty(k, v);
    else if (key === "value" && "value" in element) element.value = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(9).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

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
