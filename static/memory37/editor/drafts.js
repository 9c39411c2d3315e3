// Saves what is typed into the form every few seconds: on the server, and in this browser while the
// server does not have it. Offers what was left behind when the form is opened again.
import { ask, csrfToken, SignedOut } from "./server.js";

const SERVER_DELAY = 2500;
const RETRY_DELAY = 15000;
const LEFT_OUT = new Set(["csrfmiddlewaretoken", "version", "npc_version", "draft", "next", "reason"]);

export function fieldsOf(form) {
  const data = new FormData(form);
  const fields = {};
  for (const name of new Set(data.keys())) {
    const values = data.getAll(name);
    const isOther = values.some((value) => value instanceof File) || form.elements[name]?.type === "password";
    if (LEFT_OUT.has(name) || isOther) continue;
    // Of a list, empty rows are only room for new values.
    fields[name] = values.length > 1 ? values.filter((value) => value !== "") : values[0];
  }
  return fields;
}

function sameFields(one, other) {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  const line = (value) => [].concat(value ?? "").join("\n").replaceAll("\r\n", "\n").trimEnd();
  return [...names].every((name) => line(one[name]) === line(other[name]));
}

// A list may have more values than the form has rows: press its button for the others.
function addRows(form, fields) {
  for (const [name, value] of Object.entries(fields)) {
    const rows = () => [...form.elements].filter((each) => each.name === name);
    const add = rows()[0]?.closest("[data-list-field]")?.querySelector("[data-list-add]");
    for (let count = rows().length; add && count < [].concat(value).length; count += 1) add.click();
  }
}

function fill(form, fields) {
  addRows(form, fields);
  for (const element of form.elements) {
    const { name, type } = element;
    if (!name || LEFT_OUT.has(name) || type === "file" || type === "submit") continue;
    const values = [].concat(fields[name] ?? []);
    if (type === "checkbox" || type === "radio") element.checked = values.includes(element.value);
    else if (element.multiple && element.options) {
      for (const option of element.options) option.selected = values.includes(option.value);
    } else if (name in fields) {
      const alike = [...form.elements].filter((each) => each.name === name);
      element.value = values[alike.indexOf(element)] ?? "";
    }
    element.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

export class DraftKeeper {
  constructor({ form, textarea, settings, say, status }) {
    Object.assign(this, { form, textarea, settings, say, status });
    this.entry = textarea.dataset.entry || "";
    this.kind = textarea.dataset.draftKind || "lore";
    this.id = "";
    this.localKey = `memory37:draft:${settings.user}:${settings.draft}:${this.kind}:${this.entry}`;
    this.initial = fieldsOf(form);
    // Read before anything is typed here: later it holds what this page keeps.
    this.leftHere = this.readLocally();
    this.isUndecided = false;
    this.isSubmitting = false;
    form.addEventListener("input", () => this.changed());
    form.addEventListener("change", () => this.changed());
    form.addEventListener("submit", (event) => this.submitting(event));
    window.addEventListener("beforeunload", (event) => {
      if (this.isDirty() && !this.isSubmitting) event.preventDefault();
    });
    // Coming back to the page from the browser's memory: it is being edited again.
    window.addEventListener("pageshow", () => { this.isSubmitting = false; });
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "hidden" && this.timer) this.save({ keepalive: true });
    });
  }

  get version() {
    return Number(this.form.elements.version?.value || this.textarea.dataset.version) || null;
  }

  isDirty() { return !sameFields(this.initial, fieldsOf(this.form)); }

  changed() {
    this.keepLocally();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.save(), SERVER_DELAY);
  }

  keepLocally(more = {}) {
    const copy = { fields: fieldsOf(this.form), at: Date.now(), base_version: this.version, ...more };
    try {
      localStorage.setItem(this.localKey, JSON.stringify(copy));
    } catch { /* full or forbidden: the server's draft remains */ }
  }

  readLocally() {
    try { return JSON.parse(localStorage.getItem(this.localKey)); } catch { return null; }
  }

  forgetLocally() {
    try { localStorage.removeItem(this.localKey); } catch { /* forbidden */ }
  }

  async save({ keepalive } = {}) {
    clearTimeout(this.timer);
    this.timer = null;
    await this.offering; // an older draft is not overwritten before it was offered
    if (this.isSubmitting) return;
    if (this.isUndecided) {
      this.status.show(this.say("undecided"));
      return;
    }
    const fields = fieldsOf(this.form);
    const body = {
      fields, entry: this.entry, id: this.id, kind: this.kind, base_version: this.version,
    };
    this.status.show(this.say("saving"));
    try {
      const saved = await ask(this.settings.draft, { method: "PUT", body, keepalive });
      this.id = saved.id;
      this.rememberId();
      this.refreshToken();
      if (sameFields(fields, fieldsOf(this.form))) this.forgetLocally();
      this.status.show(this.say("saved", { time: saved.saved_at }));
    } catch (error) {
      this.keepLocally();
      if (error instanceof SignedOut) this.status.signedOut();
      else if (error.status) this.status.show(this.say("refused", { detail: error.message }), true);
      else this.status.show(this.say("offline"), true);
      this.timer ??= setTimeout(() => this.save(), RETRY_DELAY);
    }
  }

  // The server deletes the draft that this field names when the form is saved.
  rememberId() {
    let field = this.form.elements.draft;
    if (!field) {
      field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "draft" });
      this.form.append(field);
    }
    field.value = this.id;
  }

  refreshToken() {
    const field = this.form.elements.csrfmiddlewaretoken;
    const token = csrfToken();
    if (field && token) field.value = token;
  }

  submitting(event) {
    if (event.defaultPrevented) return;
    // Until the server has answered, this browser keeps the text: the session may have ended.
    this.keepLocally({ submitted: true });
    this.refreshToken();
    clearTimeout(this.timer);
    this.isSubmitting = true;
  }

  // Returns what was left behind, from the server or from this browser, whichever is newer.
  async leftBehind() {
    const query = new URLSearchParams({ entry: this.entry, kind: this.kind });
    let draft = null;
    try {
      ({ draft } = await ask(`${this.settings.draft}?${query}`));
    } catch (error) {
      if (error instanceof SignedOut) this.status.signedOut();
    }
    let local = this.leftHere;
    if (local?.submitted && (local.base_version || 0) < (this.version || 0)) {
      if (!this.isDirty()) this.forgetLocally(); // it was saved: the entry has a newer version
      local = null;
    }
    if (local && local.at > (draft?.saved_ms || 0)) {
      const time = new Date(local.at).toLocaleString(document.documentElement.lang);
      return { ...local, id: draft?.id, text: this.say("localdraft", { time }) };
    }
    return draft;
  }

  offer(panel) { this.offering = this.offerLeftBehind(panel); }

  async offerLeftBehind(panel) {
    const draft = await this.leftBehind();
    if (!draft) return;
    if (sameFields(draft.fields, this.initial)) {
      this.discard(draft);
      return;
    }
    this.isUndecided = true;
    const box = panel.querySelector("[data-offer]");
    if (draft.html) box.innerHTML = draft.html;
    else box.textContent = draft.text;
    panel.hidden = false;
    const close = () => { panel.hidden = true; this.isUndecided = false; };
    panel.querySelector("[data-restore]").addEventListener("click", () => {
      close();
      this.id = draft.id || "";
      if (this.id) this.rememberId();
      fill(this.form, draft.fields);
      // Saving on top of an older version leads to the page that merges both texts.
      const version = this.form.elements.version;
      if (version && draft.base_version) version.value = draft.base_version;
      this.changed();
    });
    panel.querySelector("[data-discard]").addEventListener("click", () => {
      close();
      this.discard(draft);
      if (this.isDirty()) this.changed();
    });
  }

  async discard(draft) {
    this.forgetLocally();
    const query = new URLSearchParams({ entry: this.entry, id: draft.id || "", kind: this.kind });
    await ask(`${this.settings.draft}?${query}`, { method: "DELETE" }).catch(() => {});
  }
}
