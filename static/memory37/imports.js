// Files can be dropped on the form; too large ones are refused before they travel. The form works without this.
const form = document.querySelector("[data-upload]");
const drop = form.querySelector(".drop");
const input = form.querySelector("input[type=file]");
const warning = form.querySelector("[data-too-large]");

function check() {
  const size = [...input.files].reduce((sum, file) => sum + file.size, 0);
  const isTooLarge = size > Number(form.dataset.most) * 1_000_000;
  warning.hidden = !isTooLarge;
  form.querySelector("button").disabled = isTooLarge;
}

input.addEventListener("change", check);
for (const type of ["dragenter", "dragover"]) {
  drop.addEventListener(type, (event) => { event.preventDefault(); drop.classList.add("over"); });
}
for (const type of ["dragleave", "drop"]) {
  drop.addEventListener(type, () => drop.classList.remove("over"));
}
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  input.files = event.dataTransfer.files;
  check();
});
