// Bundles the libraries into a folder, one minified file each, with the licences of all they hold.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const out = process.argv[2];
const result = await build({
  entryPoints: ["codemirror.js", "uplot.js"], bundle: true, minify: true, format: "esm", target: "es2022", charset: "utf8", legalComments: "none", outdir: out, metafile: true,
});

const packages = new Set();
for (const file of Object.keys(result.metafile.inputs)) {
  const found = /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file);
  if (found) packages.add(found[1]);
}
const licences = [...packages].sort().map((name) => {
  const folder = join("node_modules", name), { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((f) => /^licen[cs]e/i.test(f));
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync(join(out, "LICENSES.txt"), licences.join("\n" + "-".repeat(80) + "\n\n"));
