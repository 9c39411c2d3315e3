// Draws secret blocks as frames with those who know them. The grammar is that of
// retrieval/text/secret_blocks.py: the server decides, this only shows.
import { Decoration, ViewPlugin, WidgetType } from "./codemirror.js";

const FENCE = /(^[> \t]*:::+[ \t]*[\p{L}\p{N}_]|:::+[ \t]*secret\b)|(:::+)/gimu;
const SECRET = /^[> \t]*:::+[ \t]*secret(?![\p{L}\p{N}_])((?:[ \t]*(?:party|npc):[^\s:]+)*)/iu;

// Returns {from, to, head, audiences, closed} of each secret; a nested one is part of the outer.
export function secretRanges(text) {
  const ranges = [];
  let open = null;
  let depth = 0;
  FENCE.lastIndex = 0;
  for (let match = FENCE.exec(text); match; match = FENCE.exec(text)) {
    if (match[1] !== undefined) {
      const rest = text.slice(match.index, match.index + 500);
      const secret = SECRET.exec(rest);
      if (!open && secret) {
        const head = match.index + secret[0].length;
        const audiences = secret[1].trim().toLowerCase().split(/[ \t]+/).filter(Boolean);
        open = { from: match.index, head, audiences };
        depth = 1;
        FENCE.lastIndex = head;
      } else if (open) depth += 1;
    } else if (open) {
      depth -= 1;
      if (depth === 0) {
        ranges.push({ ...open, to: match.index + match[0].length, closed: true });
        open = null;
      }
    }
  }
  if (open) ranges.push({ ...open, to: text.length, closed: false });
  return ranges;
}

class KnownTo extends WidgetType {
  constructor(label, isBad) {
    super();
    this.label = label;
    this.isBad = isBad;
  }
  eq(other) { return other.label === this.label && other.isBad === this.isBad; }
  toDOM() {
    const tag = document.createElement("span");
    tag.className = this.isBad ? "editor-who bad" : "editor-who";
    tag.textContent = this.label;
    return tag;
  }
  ignoreEvent() { return false; }
}

// `names` gives the name of an audience, undefined for an unknown one; `say` the translated words.
export function secretFrames(names, say) {
  const label = (range) => {
    if (!range.closed) return [say("unclosed"), true];
    if (!range.audiences.length) return [say("gmonly"), false];
    const unknown = range.audiences.some((each) => names.loaded && !names.of(each));
    const who = range.audiences.map((each) =>
      names.of(each) || (names.loaded ? say("unknown", { who: each }) : each));
    return [say("knownto", { who: who.join(", ") }), unknown];
  };
  const build = (view) => {
    const { doc } = view.state;
    const decorations = [];
    for (const range of secretRanges(doc.toString())) {
      const last = doc.lineAt(range.to).number;
      const first = doc.lineAt(range.from).number;
      for (let number = first; number <= last; number += 1) {
        const edge = (number === first ? " first" : "") + (number === last ? " last" : "");
        decorations.push(Decoration.line({ class: `editor-secret${edge}` }).range(doc.line(number).from));
      }
      decorations.push(Decoration.widget({ widget: new KnownTo(...label(range)), side: 1 })
        .range(doc.lineAt(range.from).to));
    }
    return Decoration.set(decorations, true);
  };
  return ViewPlugin.fromClass(class {
    constructor(view) {
      this.decorations = build(view);
      names.whenLoaded(() => { this.stale = true; view.dispatch({}); });
    }
    update(update) {
      // A change of the lines' classes would end a composition (Korean, Japanese, Chinese).
      if (update.view.composing) {
        this.decorations = this.decorations.map(update.changes);
        this.stale ||= update.docChanged;
      } else if (update.docChanged || this.stale) {
        this.decorations = build(update.view);
        this.stale = false;
      }
    }
  }, { decorations: (plugin) => plugin.decorations });
}
