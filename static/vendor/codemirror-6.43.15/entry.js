// What the editor field takes from CodeMirror; static/vendor/README.md says how it becomes
// codemirror.min.js.
export {
  acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, closeCompletion,
  completionKeymap, completionStatus, pickedCompletion, startCompletion,
} from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
export {
  deleteMarkupBackward, insertNewlineContinueMarkup, markdown, markdownLanguage,
} from "@codemirror/lang-markdown";
export { syntaxHighlighting } from "@codemirror/language";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { Annotation, Compartment, EditorSelection, EditorState, StateEffect, StateField, Transaction } from "@codemirror/state";
export {
  crosshairCursor, Decoration, drawSelection, dropCursor, EditorView, highlightActiveLine, keymap,
  placeholder, rectangularSelection, ViewPlugin, WidgetType,
} from "@codemirror/view";
export { classHighlighter } from "@lezer/highlight";
