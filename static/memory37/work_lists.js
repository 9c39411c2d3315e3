// Comfort for the list of lore; without it every entry is ticked by hand.
for (const form of document.querySelectorAll("form[data-bulk]")) {
  const boxes = [...form.querySelectorAll('input[name="id"]')];
  const all = form.querySelector("[data-pick-all]");
  const whole = form.querySelector('input[name="all"]');
  const count = form.querySelector("[data-count]");
  const show = () => {
    const picked = boxes.filter((box) => box.checked).length;
    count.textContent = picked && !whole.checked ? `${count.dataset.count} ${picked}` : "";
    all.checked = picked === boxes.length;
    all.indeterminate = picked > 0 && picked < boxes.length;
  };
  all.hidden = false;
  all.addEventListener("change", () => {
    for (const box of boxes) box.checked = all.checked;
    show();
  });
  let last = null;
  for (const box of boxes) {
    // Shift and a click tick everything between two boxes.
    box.addEventListener("click", (event) => {
      if (event.shiftKey && last) {
        const [from, to] = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
        for (const each of boxes.slice(from, to + 1)) each.checked = box.checked;
      }
      last = box;
      show();
    });
  }
  whole.addEventListener("change", show);
  show();
}
