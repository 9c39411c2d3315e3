// Live updates: the server says what kinds of rows have changed (Server-Sent Events), and the parts of
// the page that show such rows fetch themselves again: `data-live="npc reveal"` with `hx-trigger="live"`.
// The browser resumes an interrupted stream by itself (Last-Event-ID). A hidden page holds no
// connection, because browsers allow few of them; when it is shown, it resumes after its last event.
const source = document.querySelector("[data-live-stream]");
const RETRY = 5000, TOGETHER = 120;
let stream = null, lastId = source?.dataset.since ?? "", timer = 0, retry = 0;
const changed = new Set();

function open() {
  if (!source || stream || document.hidden) return;
  clearTimeout(retry);
  stream = new EventSource(`${source.dataset.liveStream}?since=${encodeURIComponent(lastId || "latest")}`);
  stream.onopen = () => { document.documentElement.dataset.live = "on"; };
  stream.onmessage = (message) => {
    lastId = message.lastEventId || lastId;
    note(JSON.parse(message.data).kind);
  };
  stream.addEventListener("end", stop);
  stream.onerror = () => {
    delete document.documentElement.dataset.live;
    if (stream?.readyState !== EventSource.CLOSED) return; // the browser connects again
    // Refused: the log does not reach back that far, or there are too many streams. Read everything again.
    close();
    lastId = "latest";
    retry = setTimeout(() => { open(); noteAll(); }, RETRY);
  };
}

function close() {
  stream?.close();
  stream = null;
  delete document.documentElement.dataset.live;
}

// The server ended it: signed out, or other rights.
function stop() {
  close();
  lastId = null;
  source.remove();
  const notice = document.getElementById("live-off");
  if (notice) notice.hidden = false;
}

function note(kind) {
  changed.add(kind);
  clearTimeout(timer);
  timer = setTimeout(refresh, TOGETHER); // one transaction changes many rows
}

function noteAll() {
  for (const part of document.querySelectorAll("[data-live]")) part.dataset.live.split(" ").forEach(note);
}

// What somebody is typing in is fetched later.
const FIELDS = "input:not([type=hidden]), textarea, select";
const isInUse = (part) => {
  const field = document.activeElement;
  return part.contains(field) && field.matches(FIELDS);
};

// The part is fetched when nobody types in it any more.
function fetchAfterBlur(kind) {
  document.activeElement.addEventListener("blur", () => note(kind), { once: true });
}

// A request of the part is under way: fetched now, its answer would find no place any more.
const isBusy = (part) => part.matches(".htmx-request") || part.querySelector(".htmx-request");

function refresh() {
  const kinds = new Set(changed);
  changed.clear();
  for (const part of document.querySelectorAll("[data-live]")) {
    const own = part.dataset.live.split(" ").filter((kind) => kinds.has(kind));
    if (!own.length) continue;
    if (isBusy(part)) {
      own.forEach((kind) => changed.add(kind));
      document.addEventListener("htmx:afterRequest", () => note(own[0]), { once: true });
    } else if (isInUse(part)) {
      own.forEach((kind) => changed.add(kind));
      fetchAfterBlur(own[0]);
    } else {
      window.htmx?.trigger(part, "live");
    }
  }
}

// A field that was changed and left keeps its value when its part is replaced.
const fieldsOf = (root) => [...root.querySelectorAll(FIELDS)].filter((field) => field.form && field.name);
const identify = (field) => {
  const choice = ["checkbox", "radio"].includes(field.type) ? field.value : "";
  return [field.form.getAttribute("action"), field.name, choice].join(" ");
};
const isChanged = (field) => {
  if (field.matches("select")) return [...field.options].some((each) => each.selected !== each.defaultSelected);
  return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
};
let unsent = new Map();

document.addEventListener("htmx:beforeSwap", (event) => {
  const { requestConfig, target } = event.detail;
  unsent = new Map();
  if (requestConfig?.triggeringEvent?.type !== "live" || !target) return;
  if (isInUse(target)) { // somebody began to type after the part was asked for
    event.detail.shouldSwap = false;
    fetchAfterBlur(target.dataset.live.split(" ")[0]);
    return;
  }
  for (const field of fieldsOf(target).filter(isChanged)) unsent.set(identify(field), field);
});
document.addEventListener("htmx:afterSwap", () => {
  if (!unsent.size) return;
  for (const field of fieldsOf(document)) {
    const former = unsent.get(identify(field));
    if (!former) continue;
    field.value = former.value;
    field.checked = former.checked;
  }
  unsent = new Map();
});

// The part could not be fetched, perhaps without a network: the event has come, so nobody says it again.
const RETRY_PART = 2000;
for (const name of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(name, ({ detail }) => {
    const kinds = detail.requestConfig?.verb === "get" && detail.elt?.dataset?.live;
    if (kinds) setTimeout(() => note(kinds.split(" ")[0]), RETRY_PART);
  });
}

document.addEventListener("visibilitychange", () => (document.hidden ? close() : lastId !== null && open()));
window.addEventListener("pagehide", close);
window.addEventListener("pageshow", () => lastId !== null && open());
open();
