// Drop or paste pictures into the upload form; without this script the form's own picker does it.

const form = document.querySelector("form[data-upload]");

function say(text) {
  form.querySelector("[data-status]").textContent = text;
}

function pictures(list) {
  return [...(list ?? [])].filter((file) => file.type.startsWith("image/"));
}

/** Put the files into the form's own field and send it, so that the page answers as usual. */
function send(files) {
  const chosen = new DataTransfer();
  for (const file of files) chosen.items.add(file);
  form.querySelector("input[type=file]").files = chosen.files;
  form.requestSubmit();
}

if (form) {
  // An editor on the same page takes its own pictures, into its text.
  const isEditors = (event) => event.defaultPrevented || event.target.closest?.("textarea, [contenteditable], .cm-editor");
  const over = (on) => form.classList.toggle("over", on);
  form.addEventListener("submit", (event) => {
    // Said here, because a server that refuses so much closes the connection before it is sent.
    const tooLarge = [...form.querySelector("input[type=file]").files].find((file) => file.size > Number(form.dataset.maxBytes));
    if (tooLarge) {
      event.preventDefault();
      say(`${tooLarge.name}: ${form.dataset.tooLarge}`);
    } else {
      say(form.dataset.busy);
    }
  });
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) over(false); });
  document.addEventListener("drop", (event) => {
    over(false);
    if (isEditors(event)) return;
    const files = pictures(event.dataTransfer?.files);
    if (!files.length) return;
    event.preventDefault();
    send(files);
  });
  document.addEventListener("paste", (event) => {
    const files = isEditors(event) ? [] : pictures(event.clipboardData?.files);
    if (files.length) send(files);
  });
}
