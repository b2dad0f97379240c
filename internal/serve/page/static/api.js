// The server's API: each answer is JSON, each error a problem (RFC 9457) that is shown as it is.

export const base = "/api/v1";

// Problem is an answer that says why there is none.
export class Problem extends Error {
  constructor(status, title, detail) {
    super(detail || title || `HTTP ${status}`);
    this.status = status;
    this.title = title;
  }
}

// path joins parts of an address, each escaped.
export const path = (...parts) => base + parts.map((p) => "/" + encodeURIComponent(p)).join("");

// address adds parameters; a list is repeated, and what is null or "" is left out.
export function address(of, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== null && one !== undefined && one !== "") query.append(name, one);
  }
  const text = query.toString();
  return text ? `${of}?${text}` : of;
}

export async function get(of, params, signal) {
  return answer(address(of, params), { signal, headers: { Accept: "application/json" } });
}

export async function post(of, body, signal) {
  return answer(of, { method: "POST", signal, body: JSON.stringify(body), headers: { "Content-Type": "application/json", Accept: "application/json" } });
}

async function answer(of, options) {
  const response = await fetch(of, options).catch((err) => { throw err.name === "AbortError" ? err : new Problem(0, "", "The server does not answer: it is stopped, or the connection to it is lost."); });
  const text = await response.text();
  let value;
  try {
    value = parse(text);
  } catch {
    throw new Problem(response.status, response.statusText, response.ok ? "the server's answer is not JSON" : text.slice(0, 300));
  }
  if (!response.ok) throw new Problem(response.status, value.title, [value.detail, ...(value.errors ?? []).map((e) => [e.location, e.message].filter(Boolean).join(": "))].filter(Boolean).join("; "));
  return value;
}

// parse reads JSON. Whole numbers beyond 2^53, such as times since 1970 in ns, become BigInt: as numbers they would change.
export function parse(text) {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const large = "\u0000large:"; // no text of the warehouse begins so
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|(?<=[:,[\s]|^)-?\d{16,}(?=[,\]}\s]|$)/g, (m) => m[0] === '"' || Number.isSafeInteger(Number(m)) ? m : JSON.stringify(large + m));
  return JSON.parse(marked, (_, value) => typeof value === "string" && value.startsWith(large) ? BigInt(value.slice(large.length)) : value);
}

// once keeps answers that stay the same while the page is open.
const kept = new Map();
export function once(of) {
  if (!kept.has(of)) kept.set(of, get(of).catch((err) => { kept.delete(of); throw err; }));
  return kept.get(of);
}
