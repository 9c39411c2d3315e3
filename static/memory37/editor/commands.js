// What the buttons, keys and `/` insert. Each command takes the view and returns true.
import { EditorSelection, startCompletion } from "./codemirror.js";

function done(view, spec) {
  view.dispatch(view.state.update(spec, { scrollIntoView: true, userEvent: "input" }));
  view.focus();
  return true;
}

function wrap(mark, placeholder) {
  return (view) => done(view, view.state.changeByRange((range) => {
    const { state } = view;
    const outer = state.sliceDoc(range.from - mark.length, range.to + mark.length);
    if (!range.empty && outer.startsWith(mark) && outer.endsWith(mark)) {
      return {
        changes: [
          { from: range.from - mark.length, to: range.from },
          { from: range.to, to: range.to + mark.length },
        ],
        range: EditorSelection.range(range.from - mark.length, range.to - mark.length),
      };
    }
    const text = range.empty ? placeholder : state.sliceDoc(range.from, range.to);
    const start = range.from + mark.length;
    return {
      changes: { from: range.from, to: range.to, insert: mark + text + mark },
      range: EditorSelection.range(start, start + text.length),
    };
  }));
}

// Puts `prefix(number)` before each chosen line, or takes what `pattern` matches away from all.
function prefixLines(prefix, pattern) {
  return (view) => {
    const { state } = view;
    const { from, to } = state.selection.main;
    const lines = [];
    for (let at = from; ;) {
      const line = state.doc.lineAt(at);
      lines.push(line);
      if (line.to >= to) break;
      at = line.to + 1;
    }
    const has = lines.every((line) => pattern.test(line.text));
    return done(view, { changes: lines.map((line, number) => {
      const old = pattern.exec(line.text)?.[0] || "";
      return { from: line.from, to: line.from + old.length, insert: has ? "" : prefix(number + 1) };
    }) });
  };
}

function heading(view) {
  const line = view.state.doc.lineAt(view.state.selection.main.head);
  const old = /^#{1,6} /.exec(line.text)?.[0] || "";
  const next = { "": "## ", "## ": "### ", "### ": "" }[old] ?? "";
  return done(view, { changes: { from: line.from, to: line.from + old.length, insert: next } });
}

// Inserts lines of their own at the cursor; `select` gives the part of them to select.
function insertBlock(view, text, select) {
  const { state } = view;
  const { from, to } = state.selection.main;
  const line = state.doc.lineAt(from);
  const start = line.text.slice(0, from - line.from).trim() ? "\n\n" : "";
  const rest = state.doc.lineAt(to);
  const end = rest.text.slice(to - rest.from).trim() ? "\n\n" : "\n";
  const [anchor, head] = select.map((at) => from + start.length + at);
  return done(view, { changes: { from, to, insert: start + text + end }, selection: { anchor, head } });
}

function secret(view) {
  const { from, to } = view.state.selection.main;
  const inside = view.state.sliceDoc(from, to);
  const opening = ":::secret ";
  insertBlock(view, `${opening}\n${inside}\n:::`, [opening.length, opening.length]);
  return startCompletion(view);
}

function link(view) {
  const { from, to } = view.state.selection.main;
  const text = view.state.sliceDoc(from, to);
  const at = from + 2 + text.length;
  done(view, { changes: { from, to, insert: `[[${text}]]` }, selection: { anchor: at } });
  return startCompletion(view);
}

export function makeCommands({ say, pickPicture, showHelp }) {
  const column = say("column");
  const table = `| ${column} 1 | ${column} 2 |\n|---|---|\n| ${say("cell")} | ${say("cell")} |`;
  return {
    bold: wrap("**", say("boldtext")),
    italic: wrap("*", say("italictext")),
    heading,
    list: prefixLines(() => "- ", /^[-*+] /),
    numbered: prefixLines((number) => `${number}. `, /^\d+[.)] /),
    quote: prefixLines(() => "> ", /^> ?/),
    link,
    table: (view) => insertBlock(view, table, [2, 4 + column.length]),
    rule: (view) => insertBlock(view, "---", [3, 3]),
    secret,
    picture: (view) => pickPicture(view),
    help: () => showHelp(),
  };
}
