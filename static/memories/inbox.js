// Keyboard for the inbox: j and k move, a approves, r rejects, e edits, x chooses. Without it every button still works.
"use strict";
(() => {
  const cases = [...document.querySelectorAll(".m37-case")];
  if (!cases.length) return;
  const current = () => cases.indexOf(document.activeElement.closest(".m37-case"));
  const move = (step) => cases[Math.min(Math.max(current() + step, 0), cases.length - 1)].focus();
  const press = (key) => {
    const place = current();
    if (place < 0) return;
    const target = cases[place].querySelector(`[data-key="${key}"]`);
    if (target) target.click();
    if (key === "e") cases[place].querySelector("textarea").focus();
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox]), textarea, select")) return;
    if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key === "x" && current() >= 0) cases[current()].querySelector("input[type=checkbox]").click();
    else if ("are".includes(event.key)) press(event.key);
    else return;
    event.preventDefault();
  });
})();
