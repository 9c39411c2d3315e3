// Plays story.ink: what the NPC thinks of the party goes in before the first line, and what the
// players chose goes back as an episode that changes it.
//
//   MEMORY37_URL=… MEMORY37_API_KEY=… node play.js lanternbearers 1      (party, then the choices, from 0)
import { readFile } from "node:fs/promises";
import { Compiler } from "inkjs/full";
import { Memory37 } from "memory37";

const NPC = "jory-fenn";
const [party, ...choices] = process.argv.slice(2);
if (!party) throw new Error("Name a party: node play.js lanternbearers 1");
const memory = new Memory37({
  url: process.env.MEMORY37_URL,
  key: process.env.MEMORY37_API_KEY,
  world: process.env.MEMORY37_WORLD,
});

const source = await readFile(new URL("story.ink", import.meta.url), "utf8");
const story = new Compiler(source).Compile();
const before = await disposition();
story.variablesState.score = before.score;
story.variablesState.label = before.label;

console.log(story.ContinueMaximally());
for (const choice of choices) {
  console.log(story.currentChoices.map((each) => `${each.index}: ${each.text}`).join("\n"));
  story.ChooseChoiceIndex(Number(choice));
  console.log(story.ContinueMaximally());
}
if (story.variablesState.outcome) {
  await remember(story.variablesState.outcome, story.variablesState.change);
  const after = await disposition();
  console.log(`Jory Fenn: ${before.label} (${before.score}), then ${after.label} (${after.score})`);
} else {
  console.log(story.currentChoices.map((each) => `${each.index}: ${each.text}`).join("\n"));
}

async function disposition() {
  const profile = await memory.tools.npc_profile({ npc_id: NPC, party_id: party });
  const found = profile.dynamic?.disposition[party];
  return { score: found?.score ?? 0, label: found?.label ?? "neutral" };
}

async function remember(what, delta) {
  await memory.request("POST", "/api/v1/world/episodes", {
    body: {
      summary_id: `ink-${Date.now()}`,
      party_id: party,
      what,
      relations_delta: [{ npc: NPC, delta, reason: what }],
    },
  });
}
