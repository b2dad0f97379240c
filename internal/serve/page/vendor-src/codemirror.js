// What the SQL console uses of CodeMirror.
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
export { keywordCompletionSource, PostgreSQL, SQLDialect, sql } from "@codemirror/lang-sql";
export { bracketMatching, HighlightStyle, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export { EditorState } from "@codemirror/state";
export { drawSelection, EditorView, keymap, lineNumbers, placeholder } from "@codemirror/view";
export { tags } from "@lezer/highlight";
