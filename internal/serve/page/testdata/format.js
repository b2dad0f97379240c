// Answers each frame of the standard input with its texts; format_test.go compares them with those of the command line.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const { exact, kernelNames, texts, value, change } = await import(pathToFileURL(process.argv[2]));
const { parse } = await import(pathToFileURL(process.argv[3]));
const asked = parse(readFileSync(0, "utf8"));
console.log(JSON.stringify({
  frames: asked.frames.map(({ columns, rows }) => {
    const { titles, cell } = texts(columns, rows);
    return { titles, cells: rows.map((row) => columns.map((_, i) => cell(row, i))), exact: rows.map((row) => columns.map((c) => exact(row[c.name], c))) };
  }),
  values: asked.values.map(([unit, v]) => value(unit, v)),
  changes: asked.changes.map(change),
  kernels: asked.kernels.map(kernelNames(asked.kernels)),
}));
