// Completion of names in forms: an input with `data-complete` gets its datalist filled by the server.
// Without this file a name is typed in full.

const WAIT = 150;

function complete(input) {
  const list = input.list;
  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const answer = await fetch(`${input.dataset.complete}?q=${encodeURIComponent(input.value)}`);
      if (!answer.ok) return;
      const { names } = await answer.json();
      list.replaceChildren(...names.map(({ name, kind }) => new Option(kind, name)));
    }, WAIT);
  });
}

for (const input of document.querySelectorAll("[data-complete]")) complete(input);

// Fields that matter for one choice alone: `data-only="visibility:revealed"`.
function showOnly(form) {
  for (const part of form.querySelectorAll("[data-only]")) {
    const [name, value] = part.dataset.only.split(":");
    part.hidden = form.elements[name]?.value !== value;
  }
}

for (const form of document.querySelectorAll("[data-thing-form]")) {
  showOnly(form);
  form.addEventListener("change", () => showOnly(form));
}
