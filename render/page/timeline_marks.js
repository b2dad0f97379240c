// What is drawn of a track: marks in order of their starts, in typed arrays.

// marksOf makes them of a list of { start, end, name, count, busy, longest, nth, of }: name is a number, count how many things are drawn as one, 0 for a thing by itself. until
// is the moment until which any mark so far lasts.
export function marksOf(list) {
  const size = list.length, m = { start: new Float64Array(size), end: new Float64Array(size), until: new Float64Array(size), name: new Int32Array(size), count: new Float64Array(size), busy: new Float64Array(size), longest: new Float64Array(size), nth: new Int32Array(size), of: new Int32Array(size) };
  list.forEach((x, i) => {
    for (const key of Object.keys(m)) m[key][i] = x[key] ?? 0;
    m.until[i] = i && m.until[i - 1] > x.end ? m.until[i - 1] : x.end;
  });
  return m;
}

// firstFrom is the place of the first of sorted numbers that is no less than a value.
export function firstFrom(numbers, value) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// firstAt is the place of the first mark that may last until a moment or longer: none before it does.
export const firstAt = (m, moment) => firstFrom(m.until, moment);
