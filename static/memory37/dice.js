// Dice: d4 to d100, several at once, a modifier, and a d20 with advantage or disadvantage.
const MOST_RESULTS = 12;

// Without bias: values beyond the last whole multiple are drawn again.
function roll(sides) {
  const limit = 2 ** 32 - (2 ** 32 % sides);
  const drawn = new Uint32Array(1);
  do crypto.getRandomValues(drawn); while (drawn[0] >= limit);
  return 1 + (drawn[0] % sides);
}

const signed = (number) => (number > 0 ? ` + ${number}` : number < 0 ? ` − ${-number}` : "");
const whole = (field) => {
  const { min, max, value } = field;
  return Math.min(Number(max), Math.max(Number(min), Math.trunc(Number(value)) || 0));
};

function throwDice(table, sides, name) {
  const field = (key) => table.querySelector(`[name=${key}]`);
  const count = Math.max(1, whole(field("count"))), modifier = whole(field("modifier"));
  const twice = sides === 20 ? field("twice").value : "";
  const pick = twice === "advantage" ? Math.max : Math.min;
  const throws = Array.from({ length: count }, () => (twice ? [roll(sides), roll(sides)] : [roll(sides)]));
  const values = throws.map((each) => pick(...each));
  const total = values.reduce((sum, each) => sum + each, modifier);
  const dice = `${count > 1 ? count : ""}${name}${signed(modifier)}`;
  const how = twice ? `, ${table.dataset[twice]}` : "";
  show(table, total, `${dice}${how}: ${throws.map((each) => each.join(" | ")).join(" + ")}${signed(modifier)}`);
}

function show(table, total, how) {
  const line = document.createElement("li");
  const result = document.createElement("b");
  result.textContent = total;
  const detail = document.createElement("span");
  detail.className = "soft small";
  detail.textContent = ` ${how}`;
  line.append(result, detail);
  const list = table.querySelector(".rolls");
  list.prepend(line);
  while (list.children.length > MOST_RESULTS) list.lastElementChild.remove();
}

for (const table of document.querySelectorAll("[data-dice]")) {
  table.addEventListener("click", (event) => {
    const button = event.target.closest("[data-die]");
    if (button) throwDice(table, Number(button.dataset.die), button.textContent.trim());
  });
}
