// Turns each <textarea data-editor> into an editor with preview, completion and drafts. Without this
// script the text area stays as it is. templates/editor/parts/field.html holds its frame and words.
import {
  closeBrackets, closeBracketsKeymap, completionKeymap, deleteMarkupBackward, defaultKeymap,
  classHighlighter, drawSelection, dropCursor, EditorState, EditorView, highlightActiveLine, history,
  historyKeymap, indentLess, indentMore, insertNewlineContinueMarkup, keymap, markdown,
  markdownLanguage, search, searchKeymap, syntaxHighlighting,
} from "./editor/codemirror.js";
import { makeCommands } from "./editor/commands.js";
import { AudienceNames, completions } from "./editor/completion.js";
import { DraftKeeper } from "./editor/drafts.js";
import { pictureUploads } from "./editor/pictures.js";
import { secretFrames } from "./editor/secrets.js";
import { ask, SignedOut } from "./editor/server.js";

const PREVIEW_DELAY = 400;
const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const formsWithDraft = new WeakSet();
const template = document.getElementById("editor-frame");
const settings = template?.dataset;
const words = {};
template?.content.querySelectorAll("[data-word]").forEach((each) => {
  words[each.dataset.word] = each.textContent;
});
const say = (key, values = {}) =>
  (words[key] || key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

function statusOf(frame) {
  const state = frame.querySelector("[data-state]");
  const error = frame.querySelector("[data-error]");
  const bar = frame.querySelector("progress");
  return {
    show(text, isBad = false) {
      state.classList.toggle("bad", isBad);
      state.textContent = text;
    },
    error(text) { error.textContent = text; },
    progress(part, label = "") {
      bar.hidden = part === null;
      bar.value = part ?? 0;
      state.textContent = label;
    },
    signedOut() {
      const link = Object.assign(document.createElement("a"), {
        href: settings.login, target: "_blank", textContent: say("signin"),
      });
      state.classList.add("bad");
      state.replaceChildren(`${say("signedout")} `, link);
    },
    created(name) {
      if (!settings.new) return;
      const link = Object.assign(document.createElement("a"), {
        href: `${settings.new}?title=${encodeURIComponent(name)}`, target: "_blank",
        textContent: say("create", { name }),
      });
      state.replaceChildren(link);
    },
  };
}

function showKeys(frame, commands) {
  const shown = (keys) => keys.replaceAll("Mod", IS_MAC ? "⌘" : "Ctrl").replaceAll("Alt", IS_MAC ? "⌥" : "Alt");
  const list = frame.querySelector("[data-keys-list]");
  list.querySelectorAll("kbd").forEach((each) => { each.textContent = shown(each.textContent); });
  const bindings = [];
  for (const button of frame.querySelectorAll("[data-keys]")) {
    const { keys, do: name } = button.dataset;
    const term = document.createElement("dt");
    const kbd = Object.assign(document.createElement("kbd"), { textContent: shown(keys) });
    term.append(kbd);
    list.append(term, Object.assign(document.createElement("dd"), { textContent: button.title }));
    button.title += ` (${shown(keys)})`;
    button.setAttribute("aria-keyshortcuts", keys.replace("Mod", IS_MAC ? "Meta" : "Control"));
    const key = keys.replaceAll("+", "-").replace(/-([A-Z])$/, (_whole, letter) => `-${letter.toLowerCase()}`);
    bindings.push({ key, preventDefault: true, run: commands[name] });
  }
  return bindings;
}

// Arrow keys move within the toolbar, which is one stop of the Tab key.
function makeToolbar(frame, run) {
  const buttons = [...frame.querySelectorAll(".editor-tools button")];
  buttons.forEach((button, number) => {
    button.tabIndex = number ? -1 : 0;
    button.addEventListener("click", () => run(button.dataset.do, button));
  });
  frame.querySelector(".editor-tools").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -buttons.length, End: buttons.length }[event.key];
    const at = buttons.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = buttons[Math.max(0, Math.min(buttons.length - 1, at + step))];
    buttons.forEach((each) => { each.tabIndex = each === next ? 0 : -1; });
    next.focus();
  });
}

function makeTabs(frame, shown) {
  const tabs = [...frame.querySelectorAll("[role=tab]")];
  const choose = (tab) => {
    frame.dataset.tab = tab.dataset.tab;
    tabs.forEach((each) => {
      each.setAttribute("aria-selected", String(each === tab));
      each.tabIndex = each === tab ? 0 : -1;
    });
    shown();
  };
  tabs.forEach((tab, number) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      choose(tabs[1 - number]);
      tabs[1 - number].focus();
    });
  });
}

// Keeps preview, word count, problems and passages in step with the text.
class Preview {
  constructor(frame, { text, title, status }) {
    Object.assign(this, { frame, text, title, status });
    this.pane = frame.querySelector(".editor-preview");
    this.cut = frame.querySelector(".editor-cut");
    this.cut.addEventListener("toggle", () => this.refresh());
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), PREVIEW_DELAY);
  }

  async refresh() {
    clearTimeout(this.timer);
    this.running?.abort();
    const { signal } = (this.running = new AbortController());
    const text = this.text();
    try {
      const answer = await ask(settings.preview, { method: "POST", body: { text }, signal });
      // The server's Markdown is sanitised; nothing of the text is HTML.
      this.pane.innerHTML = answer.html;
      this.count(answer.words);
      this.list(answer.problems);
      if (this.cut.open) {
        const body = { text, title: this.title() };
        const { html } = await ask(settings.cut, { method: "POST", body, signal });
        this.cut.querySelector("[data-passages]").innerHTML = html;
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      if (error instanceof SignedOut) this.status.signedOut();
      else this.pane.textContent = say("previewfailed", { detail: error.message });
    }
  }

  count(number) {
    const shown = number.toLocaleString(document.documentElement.lang);
    this.frame.querySelector("[data-count]").textContent =
      number === 1 ? say("words.one") : say("words.other", { count: shown });
  }

  list(problems) {
    const list = this.frame.querySelector(".editor-problems");
    list.hidden = !problems.length;
    list.replaceChildren(...problems.map((problem) =>
      Object.assign(document.createElement("li"), { textContent: say("line", problem) })));
  }
}

function labelOf(textarea) {
  const label = textarea.labels?.[0];
  if (label) label.id ||= `${textarea.id}-label`;
  const described = textarea.getAttribute("aria-describedby");
  return {
    ...(label ? { "aria-labelledby": label.id } : { "aria-label": textarea.name }),
    ...(described ? { "aria-describedby": described } : {}),
    ...(textarea.required ? { "aria-required": "true" } : {}),
    ...(textarea.getAttribute("aria-invalid") ? { "aria-invalid": "true" } : {}),
  };
}

function upgrade(textarea, names) {
  const frame = template.content.querySelector(".editor").cloneNode(true);
  const { form } = textarea;
  const status = statusOf(frame);
  const help = frame.querySelector("dialog");
  const picker = frame.querySelector("input[type=file]");
  const uploads = pictureUploads({ settings, say, status });
  const commands = makeCommands({
    say,
    pickPicture: () => { picker.click(); return true; },
    showHelp: () => { help.showModal(); return true; },
  });
  const blocks = [
    ["secret", commands.secret, "[data-do=secret]"], ["table", commands.table, "[data-do=table]"],
    ["heading", commands.heading, "[data-do=heading]"], ["list", commands.list, "[data-do=list]"],
    ["numbered", commands.numbered], ["quote", commands.quote], ["rule", commands.rule],
    ["picture", commands.picture, "[data-do=picture]"],
  ].map(([word, run, button]) => ({
    word, run, label: button ? frame.querySelector(button).title : say(word === "rule" ? "line-rule" : word),
  }));
  const bindings = showKeys(frame, commands);
  let preview = null;
  let drafts = null;
  const view = new EditorView({
    parent: frame.querySelector(".editor-write"),
    state: EditorState.create({
      doc: textarea.value,
      extensions: [
        settings.nonce ? EditorView.cspNonce.of(settings.nonce) : [],
        keymap.of([
          ...bindings,
          { key: "Mod-Shift-7", run: commands.numbered },
          { key: "Mod-Shift-9", run: commands.quote },
          { key: "Tab", run: indentMore, shift: indentLess },
          { key: "Enter", run: insertNewlineContinueMarkup },
          { key: "Backspace", run: deleteMarkupBackward },
          ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap,
        ]),
        history(), drawSelection(), dropCursor(), highlightActiveLine(), search({ top: true }),
        markdown({ base: markdownLanguage, addKeymap: false }), syntaxHighlighting(classHighlighter),
        markdownLanguage.data.of({ closeBrackets: { brackets: ["(", "["] } }), closeBrackets(),
        completions({ settings, say, names, commands: blocks, onCreate: status.created }),
        secretFrames(names, say), uploads.extension, EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          // Whoever scrolls with the keyboard has to reach the text first.
          ...labelOf(textarea), tabindex: "0", spellcheck: "true", autocapitalize: "sentences",
          ...(textarea.lang ? { lang: textarea.lang } : {}),
        }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          textarea.value = update.state.doc.toString();
          preview?.later();
          drafts?.changed();
        }),
      ],
    }),
  });
  makeToolbar(frame, (name, button) => {
    if (name !== "full") return commands[name](view);
    const isFull = frame.classList.toggle("full");
    button.setAttribute("aria-pressed", String(isFull));
    return view.focus();
  });
  picker.addEventListener("change", () => {
    uploads.sendAll(view, [...picker.files], view.state.selection.main.head);
    picker.value = "";
  });
  textarea.after(frame);
  // It stays in the form and is sent with it; hidden fields cannot show the browser's own message.
  textarea.hidden = true;
  textarea.required = false;
  textarea.labels?.[0]?.addEventListener("click", () => view.focus());
  const title = () => form?.elements.title?.value || form?.elements.name?.value || "";
  preview = new Preview(frame, { text: () => view.state.doc.toString(), title, status });
  makeTabs(frame, () => preview.refresh());
  view.scrollDOM.addEventListener("scroll", () => {
    const { scrollTop, scrollHeight, clientHeight } = view.scrollDOM;
    const part = scrollTop / Math.max(1, scrollHeight - clientHeight);
    preview.pane.scrollTop = part * (preview.pane.scrollHeight - preview.pane.clientHeight);
  });
  preview.refresh();
  // A restored draft changes the text area.
  textarea.addEventListener("change", () => {
    const { doc } = view.state;
    if (doc.toString() === textarea.value) return;
    view.dispatch({ changes: { from: 0, to: doc.length, insert: textarea.value } });
  });
  if (form && textarea.dataset.drafts !== "off" && !formsWithDraft.has(form)) {
    formsWithDraft.add(form);
    drafts = new DraftKeeper({ form, textarea, settings, say, status });
    drafts.offer(frame.querySelector(".editor-offer"));
  }
  document.addEventListener("keydown", (event) => {
    const isSave = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "s";
    if (isSave && form) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.key === "Escape" && frame.classList.contains("full") && !event.defaultPrevented) {
      frame.querySelector("[data-do=full]").click();
    }
  });
}

const textareas = template ? document.querySelectorAll("textarea[data-editor]") : [];
if (textareas.length) {
  const names = new AudienceNames(settings.audiences);
  textareas.forEach((textarea) => upgrade(textarea, names));
}
