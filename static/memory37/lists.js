// Buttons for the rows of a list field (worlds/list_fields.py): add, remove, move.
// Without this file the rows work as they are: empty rows at the end take new values.

function inputOf(row) {
  return row.querySelector("input, textarea");
}

function changed(field) {
  field.dispatchEvent(new Event("change", { bubbles: true }));
}

function addRow(field) {
  const row = field.querySelector("[data-list-template]").content.cloneNode(true).firstElementChild;
  field.querySelector("[data-list-add]").before(row);
  showTools(row);
  inputOf(row).focus();
}

function showTools(root) {
  for (const tools of root.querySelectorAll("[data-list-tools]")) tools.hidden = false;
}

function move(row, direction) {
  const isRow = (element) => element && element.matches("[data-list-row]");
  const other = direction === "up" ? row.previousElementSibling : row.nextElementSibling;
  if (!isRow(other)) return;
  if (direction === "up") other.before(row);
  else other.after(row);
}

function onClick(event) {
  const button = event.target.closest("button");
  const field = button && button.closest("[data-list-field]");
  if (!field) return;
  const row = button.closest("[data-list-row]");
  if ("listAdd" in button.dataset) addRow(field);
  else if ("listRemove" in button.dataset) {
    const next = row.nextElementSibling;
    row.remove();
    (next.matches("[data-list-row]") ? inputOf(next) : field.querySelector("[data-list-add]")).focus();
    changed(field);
  } else if (button.dataset.listMove) {
    move(row, button.dataset.listMove);
    button.focus();
    changed(field);
  }
}

function upgrade(field) {
  const rows = [...field.querySelectorAll(":scope > [data-list-row]")];
  // The button adds rows, so that one empty row is enough, and none behind values.
  const empty = rows.filter((row) => inputOf(row).value === "");
  for (const row of empty.slice(rows.length === empty.length ? 1 : 0)) row.remove();
  field.querySelector("[data-list-add]").hidden = false;
  showTools(field);
}

for (const field of document.querySelectorAll("[data-list-field]")) upgrade(field);
document.addEventListener("click", onClick);
