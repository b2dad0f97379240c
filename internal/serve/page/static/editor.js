// The editor of the SQL console: CodeMirror in a shadow root, whose style sheets are constructed, as the policy of the page demands.
import { autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, completionKeymap, defaultKeymap, drawSelection, EditorState, EditorView, HighlightStyle, history, historyKeymap, keymap, keywordCompletionSource, lineNumbers, placeholder, PostgreSQL, sql, SQLDialect, syntaxHighlighting, tags } from "./vendor/codemirror.js";

const duckdb = SQLDialect.define({ ...PostgreSQL.spec, keywords: `${PostgreSQL.spec.keywords ?? ""} qualify asof positional pivot unpivot summarize describe exclude semi anti sample`, types: `${PostgreSQL.spec.types ?? ""} hugeint ubigint uinteger usmallint utinyint tinyint double struct list map` });

const ofDialect = keywordCompletionSource(duckdb, true);
const keywords = (context) => context.matchBefore(/\.\w*/) ? null : ofDialect(context); // after a point only columns

const theme = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--paper)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--link)" },
  ".cm-scroller": { font: "13px/1.5 ui-monospace, monospace", minHeight: "8rem", maxHeight: "50vh" },
  ".cm-content": { caretColor: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--tint)", color: "var(--soft)", border: "none" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { backgroundColor: "color-mix(in srgb, var(--link) 28%, transparent)" },
  ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--line)", fontSize: "13px" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--link)", color: "var(--paper)" },
  ".cm-completionInfo": { maxWidth: "26rem", padding: ".3rem .5rem" },
  ".cm-completionDetail": { color: "inherit", opacity: .7 },
  ".cm-placeholder": { color: "var(--soft)" },
});
const highlight = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--series-2)", fontWeight: "600" }, { tag: [tags.string, tags.special(tags.string)], color: "var(--series-5)" }, { tag: [tags.number, tags.bool, tags.null], color: "var(--series-1)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" }, { tag: tags.typeName, color: "var(--series-4)" },
]);

// editor makes one. schema gives relations, and runs names of runs, as promises; run is called with Ctrl+Enter.
export function editor(host, { doc, changed, run, schema, runs }) {
  const shadow = host.attachShadow({ mode: "open" });
  const view = new EditorView({
    parent: shadow, root: shadow,
    state: EditorState.create({ doc, extensions: [
      keymap.of([{ key: "Mod-Enter", run: () => { run(); return true; } }, ...closeBracketsKeymap, ...completionKeymap, ...historyKeymap, ...defaultKeymap]),
      lineNumbers(), history(), drawSelection(), bracketMatching(), closeBrackets(), autocompletion({ icons: false, override: [completions(schema, runs), keywords] }), syntaxHighlighting(highlight), theme, EditorView.lineWrapping,
      sql({ dialect: duckdb }), placeholder("FROM top_kernels('@latest', top := 10)"),
      EditorView.contentAttributes.of({ "aria-label": "SQL" }), EditorView.updateListener.of((u) => { if (u.docChanged) changed(u.state.doc.toString()); }),
    ] }),
  });
  return view;
}

// The relations that a statement reads, with their aliases: FROM kernel k, JOIN top_kernels('x') AS t.
const reads = /\b(?:from|join)\s+([a-z_]\w*)\s*(\((?:[^()']|'[^']*')*\))?(?:\s+(?:as\s+)?([a-z_]\w*))?/gi;
const noAlias = new Set(["where", "join", "on", "using", "group", "order", "limit", "left", "right", "inner", "full", "cross", "asof", "semi", "anti", "union", "qualify", "window", "having", "natural", "positional", "select"]);

function completions(schema, runs) {
  return async (context) => {
    const relations = await schema.catch(() => []), byName = new Map(relations.map((r) => [r.name.toLowerCase(), r]));
    const before = context.state.sliceDoc(Math.max(0, context.pos - 4000), context.pos), text = context.state.doc.toString();

    // In the text that a macro's first argument is: a run.
    const quoted = /\b[a-z_]\w*\(\s*'([^']*)$/i.exec(before);
    if (quoted) {
      const names = await runs.catch(() => []);
      return { from: context.pos - quoted[1].length, options: names.map((label) => ({ label, type: "text", detail: "run" })), validFor: /^[^']*$/ };
    }
    if (/'[^'\n]*$/.test(before.replace(/'[^']*'/g, ""))) return null;

    const used = new Map();
    for (const [, name, , alias] of text.matchAll(reads)) {
      const relation = byName.get(name.toLowerCase());
      if (!relation) continue;
      used.set(name.toLowerCase(), relation);
      if (alias && !noAlias.has(alias.toLowerCase())) used.set(alias.toLowerCase(), relation);
    }
    const columnsOf = (relation, boost) => relation.columns.map((c) => ({ label: c.name, type: "property", detail: [c.type, c.unit].filter(Boolean).join(", "), info: c.doc || undefined, boost }));

    const dotted = /([a-z_]\w*)\.(\w*)$/i.exec(before);
    if (dotted) {
      const relation = used.get(dotted[1].toLowerCase()) ?? byName.get(dotted[1].toLowerCase());
      return relation ? { from: context.pos - dotted[2].length, options: columnsOf(relation, 0), validFor: /^\w*$/ } : null;
    }
    const word = context.matchBefore(/\w*/);
    const call = /\b([a-z_]\w*)\((?:[^()']|'[^']*')*$/i.exec(before), macro = call && byName.get(call[1].toLowerCase());
    const isRelation = /\b(?:from|join)\s+\w*$/i.test(before);
    if (!context.explicit && word.from === word.to && !isRelation) return null;
    const options = [];
    if (macro?.params?.length && /[(,]\s*\w*$/.test(before)) options.push(...macro.params.map((p) => ({ label: `${p.name} := `, displayLabel: p.name, type: "variable", detail: p.type ?? "", info: p.doc || undefined, boost: 90 })));
    if (!isRelation) for (const relation of new Set(used.values())) options.push(...columnsOf(relation, 50));
    options.push(...relations.filter((r) => !r.name.startsWith("_")).map((r) => ({ label: r.name, type: "class", detail: r.kind, info: r.doc || undefined, boost: isRelation ? 80 : 0, apply: r.kind === "macro" && (r.params ?? []).some((p) => p.name === "run") ? r.name + "('" : r.kind === "macro" ? r.name + "(" : r.name })));
    return { from: word.from, options: [...new Map(options.map((o) => [o.label + o.type, o])).values()], validFor: /^\w*$/ };
  };
}
