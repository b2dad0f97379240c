// Times, shares and numbers of things in words, as the command line writes one of them (render/typeset): a test compares the two.

const timeUnits = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
const grouped = (text) => text.replace(/^-?\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

// rounded writes a number with so many decimals. A tie, which a double is only of sums of powers of two, goes to the even digit as in Go; toFixed takes the larger.
function rounded(v, decimals) {
  if (Math.abs(v * 2 ** (decimals + 1)) % 2 !== 1) return v.toFixed(decimals);
  const low = Math.floor(v * 10 ** decimals);
  return ((low % 2 ? low + 1 : low) / 10 ** decimals).toFixed(decimals);
}

// decimalsOf is how many decimals show a number with so many significant digits, at most three.
function decimalsOf(v, significant) {
  let decimals = 0;
  while (decimals < 3 && v * 10 ** decimals < 10 ** (significant - 1) * 0.99995) decimals++;
  return decimals;
}

// time writes a length with three digits, or none after the point where there are none.
export function time(ns) {
  const long = Math.abs(ns), [div, unit] = timeUnits.find(([d]) => long / d >= 0.9995) ?? timeUnits[3], v = ns / div;
  return `${grouped(rounded(v, Number.isInteger(v) ? 0 : decimalsOf(Math.abs(v), 3)))} ${unit}`;
}

// momentText writes a moment with as many digits as tell apart moments of the given distance.
export function momentText(ns, apart) {
  const [div, unit] = timeUnits.find(([d]) => Math.abs(ns) >= d) ?? timeUnits[3];
  return `${grouped((ns / div).toFixed(Math.max(0, Math.min(9, Math.ceil(Math.log10(div / Math.max(1, apart)))))))} ${unit}`;
}

export function percent(ratio) {
  const v = ratio * 100;
  return v === 0 ? "0 %" : `${grouped(rounded(v, Math.max(1, decimalsOf(Math.abs(v), 1))))} %`;
}

export const count = (n) => grouped(String(n));
