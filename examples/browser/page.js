// A page of another origin that reads what a party knows and follows what changes.
//
// The address of the site and the key come from the part of the page's address after #, which browsers
// send to no server: index.html#http://127.0.0.1:8000&m37_… Use a key that names this page's origin;
// it can only read, and only what its audience may know.
import { Memory37, Memory37Error } from "./memory37/index.js";

const [url, key] = location.hash.slice(1).split("&");
const memory = new Memory37({ url, key });
const [status, found, news] = ["status", "found", "news"].map((id) => document.getElementById(id));

document.getElementById("ask").addEventListener("submit", async (event) => {
  event.preventDefault();
  const question = new FormData(event.target).get("question");
  try {
    const [lore, rules] = await Promise.all([
      memory.tools.lore_search({ query: question, k: 5, least: 0.1 }),
      memory.tools.rules_lookup({ term: question, k: 3, least: 0.1 }),
    ]);
    const hits = [...lore.hits, ...rules.hits].sort((a, b) => b.relevance - a.relevance);
    found.replaceChildren(...(hits.length ? hits.map(card) : [element("p", "Nothing that you know of.", "empty")]));
  } catch (problem) {
    found.replaceChildren(element("p", problem instanceof Memory37Error ? problem.detail : String(problem)));
  }
});

function card(hit) {
  const article = document.createElement("article");
  article.append(element("h3", hit.title), element("p", hit.text), element("small", hit.kind));
  return article;
}

function element(name, text, className = "") {
  const made = document.createElement(name);
  made.textContent = text; // never as HTML: it is what people wrote
  if (className) made.className = className;
  return made;
}

async function follow() {
  const me = await memory.request("GET", "/api/v1/me");
  status.textContent = `${me.world?.name}, as ${me.key.audience} knows it.`;
  for await (const event of memory.events({ since: "latest" })) {
    news.prepend(element("li", `${event.kind} ${event.ref}: ${event.action}`));
  }
}

follow().catch((problem) => {
  status.textContent = `Not connected: ${problem instanceof Memory37Error ? problem.detail : problem}`;
});
