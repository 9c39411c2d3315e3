// Buttons that need a script: without this file a page is printed by the browser's own menu.
for (const button of document.querySelectorAll("button[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}
