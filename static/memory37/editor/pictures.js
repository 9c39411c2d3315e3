// Pictures by paste, drop and picker: uploaded at once, their Markdown put where they were dropped.
import { Decoration, EditorView, StateEffect, StateField, WidgetType } from "./codemirror.js";
import { SignedOut, upload } from "./server.js";

const start = StateEffect.define({ map: ({ at, ...rest }, changes) => ({ at: changes.mapPos(at), ...rest }) });
const end = StateEffect.define();

class Waiting extends WidgetType {
  constructor(id, label) {
    super();
    this.id = id;
    this.label = label;
  }
  eq(other) { return other.id === this.id; }
  toDOM() {
    const box = document.createElement("span");
    box.className = "editor-waiting";
    box.textContent = this.label;
    return box;
  }
}

// The places of running uploads; they move with the text that is typed meanwhile.
const places = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    let next = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(start)) {
        const widget = new Waiting(effect.value.id, effect.value.label);
        next = next.update({ add: [Decoration.widget({ widget, side: 1 }).range(effect.value.at)] });
      } else if (effect.is(end)) {
        next = next.update({ filter: (_from, _to, mark) => mark.spec.widget.id !== effect.value });
      }
    }
    return next;
  },
  provide: (field) => EditorView.decorations.from(field),
});

function placeOf(view, id) {
  let place = null;
  view.state.field(places).between(0, view.state.doc.length, (from, _to, mark) => {
    if (mark.spec.widget.id === id) place = from;
  });
  return place;
}

const pictures = (list) => [...(list || [])].filter((file) => file.type.startsWith("image/"));

export function pictureUploads({ settings, say, status }) {
  let count = 0;

  async function send(view, file, at) {
    const id = (count += 1);
    const label = say("uploading", { name: file.name || "" });
    view.dispatch({ effects: start.of({ id, at, label }) });
    status.progress(0, label);
    try {
      const { markdown } = await upload(settings.upload, file, (part) => status.progress(part, label));
      const place = placeOf(view, id) ?? view.state.selection.main.head;
      view.dispatch({ changes: { from: place, insert: markdown }, effects: end.of(id) });
    } catch (error) {
      view.dispatch({ effects: end.of(id) });
      if (error instanceof SignedOut) status.signedOut();
      else status.error(say("uploadfailed", { name: file.name || "", detail: error.message }));
    } finally {
      status.progress(null);
    }
  }

  function sendAll(view, files, at) {
    if (!settings.upload) {
      status.error(say("noupload"));
      return true;
    }
    status.error("");
    files.forEach((file) => send(view, file, at));
    return true;
  }

  const handlers = EditorView.domEventHandlers({
    paste(event, view) {
      const files = pictures(event.clipboardData?.files);
      // Words copied from an office program carry a picture of themselves: the words are wanted.
      if (!files.length || event.clipboardData.getData("text/plain")) return false;
      event.preventDefault();
      return sendAll(view, files, view.state.selection.main.head);
    },
    drop(event, view) {
      const files = pictures(event.dataTransfer?.files);
      if (!files.length) return false;
      event.preventDefault();
      const at = view.posAtCoords({ x: event.clientX, y: event.clientY });
      return sendAll(view, files, at ?? view.state.selection.main.head);
    },
  });
  return { extension: [places, handlers], sendAll };
}
