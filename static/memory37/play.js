// The Play and Prepare pages: what is unfolded stays unfolded when a part is fetched again, the clock
// of the scene runs, and a message goes away after a while.
const openKeys = (part) => [...part.querySelectorAll("details[data-key][open]")].map((each) => each.dataset.key);
let keys = [];

// What had the focus in a part that is replaced: its successor gets it, or whoever uses a keyboard
// would begin at the top of the page again.
let focused = null;
let usesKeys = false;
document.addEventListener("keydown", () => { usesKeys = true; }, true);
document.addEventListener("pointerdown", () => { usesKeys = false; }, true);
const labelOf = (control) => [control.tagName, control.name, control.value, control.textContent.trim()].join(" ");

function rememberFocus(part) {
  const control = document.activeElement;
  if (!part?.contains(control) || control === part) return;
  const which = part.id ? `#${CSS.escape(part.id)}` : `[data-part="${CSS.escape(part.dataset.part ?? "")}"]`;
  focused = { which, label: labelOf(control), to: control.dataset.to };
}

function restoreFocus() {
  const part = focused && document.querySelector(focused.which);
  if (part && document.activeElement === document.body) {
    const controls = [...part.querySelectorAll("button, a, input:not([type=hidden]), summary")];
    const shown = controls.filter((each) => each.checkVisibility());
    const heading = part.querySelector("h2");
    heading?.setAttribute("tabindex", "-1");
    const same = shown.find((each) => labelOf(each) === focused.label);
    // Undo stands where Reveal stood, and the other way round.
    const inverse = focused.to && shown.find((each) => each.dataset.to === focused.to);
    (same ?? inverse ?? heading ?? shown[0])?.focus({ preventScroll: !usesKeys });
  }
  focused = null;
}

document.addEventListener("htmx:beforeSwap", (event) => {
  keys = openKeys(event.detail.target ?? document.body);
  rememberFocus(event.detail.target);
});
document.addEventListener("htmx:afterSettle", () => {
  restoreFocus();
  for (const key of keys) {
    for (const each of document.querySelectorAll(`details[data-key="${CSS.escape(key)}"]`)) each.open = true;
  }
  keys = [];
  tick();
});

function tick() {
  for (const clock of document.querySelectorAll("[data-clock]")) {
    clock.textContent = Math.max(0, Math.floor((Date.now() / 1000 - Number(clock.dataset.clock)) / 60));
  }
}
tick();
setInterval(tick, 10_000);

// A failed request says so instead of doing nothing.
const said = document.getElementById("said");
for (const name of ["htmx:sendError", "htmx:responseError", "htmx:timeout"]) {
  document.addEventListener(name, ({ detail }) => {
    const isUpdate = detail.requestConfig?.verb === "get" && detail.elt?.matches?.("[data-live]");
    if (!isUpdate) document.getElementById("not-done")?.removeAttribute("hidden");
  });
}
let timer = 0;
if (said) {
  new MutationObserver(() => {
    document.getElementById("not-done")?.setAttribute("hidden", "");
    clearTimeout(timer);
    timer = setTimeout(() => said.replaceChildren(), 8000);
  }).observe(said, { childList: true });
}

// A finished lookup shows its answer from the beginning.
const answer = document.getElementById("answer");
function showAnswer() {
  const top = document.querySelector(".box")?.getBoundingClientRect().top ?? 0;
  if (answer?.getBoundingClientRect().top < top) window.scrollTo({ top: 0 });
}
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target === answer) showAnswer();
});
// Who touches the box asks anew: what is typed replaces the last question, whose answer is shown
// until then. A second touch sets the caret.
const box = document.getElementById("box");
let isEntered = false;
box?.addEventListener("pointerdown", () => { isEntered = document.activeElement !== box; });
box?.addEventListener("click", () => {
  if (isEntered) box.select();
  isEntered = false;
});
box?.addEventListener("focus", () => {
  if (answer?.firstElementChild) showAnswer();
});

// What a link led to is there only when the part that is fetched later has come.
document.addEventListener("htmx:afterSettle", (event) => {
  const part = document.getElementById("unknown-part");
  if (event.detail.elt === part && location.hash === "#unknown") part.scrollIntoView();
}, { once: true });

// What is folded is printed, too, and what is fetched later is waited for.
const unfoldAll = () => {
  for (const each of document.querySelectorAll("details.toread")) each.open = true;
};
const isComplete = () => !document.querySelector('[aria-busy="true"], details.toread [hx-get], .htmx-request');
async function printAll() {
  unfoldAll();
  const end = Date.now() + 8000;
  while (!isComplete() && Date.now() < end) {
    await new Promise((resume) => { setTimeout(resume, 50); });
    unfoldAll();
  }
  window.print();
}
document.querySelector("[data-print]")?.addEventListener("click", printAll);
window.addEventListener("beforeprint", unfoldAll);
