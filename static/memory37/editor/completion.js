// What is suggested while typing: names after `[[`, audiences after `:::secret`, blocks after `/`.
import { autocompletion, pickedCompletion, startCompletion } from "./codemirror.js";
import { ask } from "./server.js";

const MEANING_MILLISECONDS = 1500;
const LINK = /\[\[([^[\]\n|#]*)$/;
const AUDIENCE = /:::+[ \t]*secret(?:[ \t]+\S+)*[ \t]+(\S*)$/i;
const BLOCK = /^[> \t]*\/([\p{L}]*)$/u;

function before(context, pattern) {
  const line = context.state.doc.lineAt(context.pos);
  const match = pattern.exec(line.text.slice(0, context.pos - line.from));
  return match && { text: match[1], from: context.pos - match[1].length };
}

async function fetchItems(context, url, milliseconds) {
  const abort = new AbortController();
  context.addEventListener("abort", () => abort.abort(), { onDocChange: true });
  const timer = milliseconds && setTimeout(() => abort.abort(), milliseconds);
  try {
    return (await ask(url, { signal: abort.signal })).items;
  } catch {
    return []; // no suggestions: typing goes on, and the draft tells when the session has ended
  } finally {
    clearTimeout(timer);
  }
}

function insertLink(view, completion, from, to) {
  // `]]` that is there already is not doubled.
  const after = view.state.sliceDoc(to, to + 2);
  const end = after === "]]" ? to + 2 : after.startsWith("]") ? to + 1 : to;
  const text = `${completion.target}]]`;
  view.dispatch({
    changes: { from, to: end, insert: text }, selection: { anchor: from + text.length },
    annotations: pickedCompletion.of(completion), userEvent: "input.complete",
  });
}

export function completions({ settings, say, names, commands, onCreate }) {
  const linkOption = (item) => ({
    label: item.alias || item.name, target: item.name, apply: insertLink, type: "text",
    detail: item.alias ? say("alias", { detail: item.detail, alias: item.name }) : item.detail,
  });

  async function byName(context) {
    const typed = before(context, LINK);
    if (!typed) return null;
    const query = encodeURIComponent(typed.text.trim());
    const items = await fetchItems(context, `${settings.complete}?q=${query}`);
    if (context.aborted) return null;
    return { from: typed.from, filter: false, options: items.map(linkOption) };
  }

  async function byMeaning(context) {
    const typed = before(context, LINK);
    const text = typed?.text.trim();
    if (!text) return null;
    const create = {
      label: say("create", { name: text }), target: text, detail: say("createdetail"), type: "text",
      apply: (view, ...rest) => { insertLink(view, ...rest); onCreate(text); },
    };
    const url = `${settings.complete}?by=meaning&q=${encodeURIComponent(text)}`;
    const items = text.length > 2 ? await fetchItems(context, url, MEANING_MILLISECONDS) : [];
    if (context.aborted) return null;
    return { from: typed.from, filter: false, options: [...items.map(linkOption), create] };
  }

  async function audiences(context) {
    const typed = before(context, AUDIENCE);
    if (!typed) return null;
    await names.ready;
    const query = typed.text.toLowerCase();
    const near = names.all.filter((each) =>
      `${each.audience} ${each.name}`.toLowerCase().includes(query)).slice(0, 20);
    const items = near.length || !query ? near
      : await fetchItems(context, `${settings.audiences}?q=${encodeURIComponent(typed.text)}`);
    if (context.aborted) return null;
    return {
      from: typed.from, filter: false,
      options: items.map((each) => ({
        label: each.name, detail: each.audience, type: "text",
        apply: (view, completion, from, to) => {
          const text = each.audience;
          view.dispatch({
            changes: { from, to, insert: text }, selection: { anchor: from + text.length },
            annotations: pickedCompletion.of(completion), userEvent: "input.complete",
          });
        },
      })),
    };
  }

  function blocks(context) {
    const typed = before(context, BLOCK);
    if (!typed) return null;
    const query = typed.text.toLowerCase();
    const options = commands.filter(({ word, label }) =>
      word.startsWith(query) || label.toLowerCase().startsWith(query));
    return {
      from: typed.from - 1, filter: false,
      options: options.map(({ word, label, run }) => ({
        label: `/${word}`, detail: label, type: "text",
        apply: (view, completion, from, to) => {
          view.dispatch({
            changes: { from, to, insert: "" }, annotations: pickedCompletion.of(completion),
          });
          run(view);
        },
      })),
    };
  }

  return autocompletion({
    override: [byName, byMeaning, audiences, blocks], icons: false, maxRenderedOptions: 30,
    activateOnCompletion: () => false, activateOnTypingDelay: 120,
  });
}

// The audiences of the world, fetched once: for the names in frames and for completion.
export class AudienceNames {
  constructor(url) {
    this.all = [];
    this.loaded = false;
    this.listeners = [];
    this.ready = ask(url).then(({ items }) => {
      this.all = items;
      this.byAudience = new Map(items.map((each) => [each.audience, each.name]));
      this.loaded = true;
      this.listeners.forEach((listener) => listener());
    }).catch(() => {});
  }
  of(audience) { return this.byAudience?.get(audience); }
  whenLoaded(listener) {
    if (!this.loaded) this.listeners.push(listener);
  }
}

export { startCompletion };
