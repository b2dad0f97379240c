// The timeline's colours, which the style sheet names, and its names of lines.

export const laneNames = { kernel: "kernels", collective: "collectives", graph: "graphs", copy: "copies" };

// callKind says what a function of CUDA or HIP does, by its name, as _api-kind does.
function callKind(name) {
  if (name.includes("GraphLaunch")) return "launch";
  if (name.includes("Graph")) return "other";
  if (name.includes("Synchronize")) return "sync";
  if (name.includes("Memcpy") || name.includes("Memset")) return "copy";
  return name.includes("Launch") ? "launch" : "other";
}

function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return (h ^ (h >>> 15)) >>> 0;
}

// luminance is that of WCAG 2.2 of a colour such as #16181a or #fff.
function luminance(color) {
  const hex = color.length === 4 ? color.replace(/[0-9a-f]/gi, "$&$&") : color;
  return [0.2126, 0.7152, 0.0722].reduce((sum, weight, i) => {
    const c = parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16) / 255;
    return sum + weight * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  }, 0);
}

const toneCounts = { kernel: 8, collective: 2, graph: 2, copy: 2 }, stageCount = 6, rangeCount = 4;
const stages = ["prefill", "decode"]; // which have a colour of their own
const warm = / \(warm-up\)$/;
const callColors = { launch: "compute", copy: "copy", sync: "wait", other: "other" };
const plainColors = { profiler: "profiler", library: "call", system: "host" };
const coverColors = { gpu: "compute", kernel: "compute", collective: "collective-exposed", graph: "graph", copy: "copy" };

// stageTone is the number of a stage's colour, the same in every run, and in pictures (render/chart).
export function stageTone(stage) {
  const at = stages.indexOf(stage);
  return at >= 0 ? at : stages.length + hash(stage) % (stageCount - stages.length);
}

// Palette gives the colours of a theme, remembered by track kind and name. toneOf gives the number of a name's tone, where some are told apart best.
export class Palette {
  constructor(element, toneOf) {
    this.style = getComputedStyle(element);
    this.colors = new Map();
    this.vars = Object.fromEntries(["ink", "soft", "paper", "line", "tint", "link", "compute", "found"].map((n) => [n, this.color(n)]));
    this.range = luminance(this.vars.paper) < 0.2 ? "dark-range" : "range";
    this.toneOf = toneOf;
    this.known = new Map();
  }

  // color is one that the style sheet names; "" for none.
  color(name) {
    let color = this.colors.get(name);
    if (color === undefined) this.colors.set(name, color = this.style.getPropertyValue(`--${name}`).trim());
    return color;
  }

  // of gives { fill, text, alpha } of a mark.
  of(kind, number, name) {
    let looks = this.known.get(kind);
    if (!looks) this.known.set(kind, looks = []);
    return looks[number] ??= this.make(kind, number, name);
  }

  make(kind, number, name) {
    const plain = (color, alpha = 1) => {
      const fill = this.color(color);
      return { fill, text: luminance(fill) > 0.179 ? "#000" : "#fff", alpha };
    };
    switch (kind) {
      case "gap": return plain(this.color(name) ? name : "unknown");
      case "pass": return plain(`stage-${stageTone(name.replace(warm, ""))}`, warm.test(name) ? 0.45 : 1);
      case "call": return plain(callColors[callKind(name)]);
      case "range": case "python": case "operator": return plain(`${this.range}-${hash(name) % rangeCount}`);
    }
    return plain(plainColors[kind] ?? `${kind}-${(this.toneOf?.(kind, number) ?? hash(name)) % toneCounts[kind]}`);
  }

  // cover is the colour of what is too short for a box of its own.
  cover(kind, number, name) {
    if (coverColors[kind]) return this.color(coverColors[kind]);
    return ["range", "python", "operator"].includes(kind) ? this.color(`${this.range}-1`) : this.of(kind, number, name).fill;
  }
}

// briefName gives of a kernel's name what comes after its type and namespaces.
export function briefName(name) {
  const text = name.replace(/\(anonymous namespace\)::|<unnamed>::/g, "").replace(/^(void|static|auto) /, "");
  const head = text.search(/[<(]/), at = text.lastIndexOf("::", head < 0 ? text.length : head);
  return at < 0 ? text : text.slice(at + 2);
}
