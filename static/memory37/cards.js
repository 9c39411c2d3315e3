// Hover cards of links between things: by pointer (where one can hover) and by keyboard focus.
// Without this script the links are plain links.
const DELAY = 250;
const pages = new Map();
let card = null, owner = null, timer = 0;

function hide() {
  clearTimeout(timer);
  owner?.removeAttribute("aria-describedby");
  card?.remove();
  card = owner = null;
}

async function read(url) {
  if (!pages.has(url)) {
    const answer = await fetch(url, { headers: { "X-Requested-With": "card" }, credentials: "same-origin" });
    pages.set(url, answer.ok && !answer.redirected ? await answer.text() : "");
  }
  return pages.get(url);
}

function place(link) {
  const at = link.getBoundingClientRect();
  const width = card.offsetWidth, height = card.offsetHeight;
  const left = Math.max(12, Math.min(at.left, document.documentElement.clientWidth - width - 12));
  const above = at.bottom + height + 8 > window.innerHeight && at.top > height + 8;
  card.style.left = `${left + window.scrollX}px`;
  card.style.top = `${(above ? at.top - height - 6 : at.bottom + 6) + window.scrollY}px`;
}

async function show(link) {
  hide();
  owner = link;
  let html = "";
  try { html = await read(link.dataset.card); } catch { return; }
  if (!html || owner !== link) return;
  card = document.createElement("div");
  card.className = "hovercard";
  card.id = "hovercard";
  card.setAttribute("role", "tooltip");
  card.innerHTML = html;
  card.addEventListener("pointerenter", () => clearTimeout(timer));
  card.addEventListener("pointerleave", hideSoon);
  document.body.append(card);
  link.setAttribute("aria-describedby", "hovercard");
  place(link);
}

function showSoon(link) {
  clearTimeout(timer);
  timer = setTimeout(() => show(link), DELAY);
}

// A moment's grace, so that the pointer can reach the links inside the card.
function hideSoon() {
  clearTimeout(timer);
  timer = setTimeout(hide, DELAY);
}

const linkOf = (event) => event.target.closest?.("a[data-card]");
document.addEventListener("pointerover", (event) => {
  const link = linkOf(event);
  if (link && event.pointerType === "mouse" && link !== owner) showSoon(link);
  else if (link && link === owner) clearTimeout(timer);
});
document.addEventListener("pointerout", (event) => { if (linkOf(event)) hideSoon(); });
document.addEventListener("focusin", (event) => {
  const link = linkOf(event);
  if (link?.matches(":focus-visible")) show(link);
});
document.addEventListener("focusout", (event) => { if (linkOf(event)) hideSoon(); });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
