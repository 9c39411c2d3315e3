// The client against a running site: MEMORY37_URL, MEMORY37_API_KEY (one that may write).
import assert from "node:assert/strict";
import { test } from "node:test";
import { Memory37 } from "../dist/index.js";

const { MEMORY37_URL: url, MEMORY37_API_KEY: key } = process.env;

test("an engine's scene, and the event that tells of it", { skip: !url && "no MEMORY37_URL" }, async () => {
  const memory = new Memory37({ url, key, timeout: 30 });
  const run = Date.now().toString(36);
  const party = await memory.request("POST", "/api/v1/world/parties", {
    body: { name: `Gulls ${run}`, members: ["Ana", "Bo"] },
  });
  const npc = `ada-${run}`;
  const events = memory.events({ since: "latest", kinds: ["npc"], signal: AbortSignal.timeout(20_000) });
  const told = events.next();
  await new Promise((resolve) => setTimeout(resolve, 1000));
  await memory.request("PUT", "/api/v1/world/npcs", { body: { npc_id: npc, name: `Ada ${run}` } });
  const { value } = await told;
  assert.deepEqual([value.kind, value.action, value.ref], ["npc", "created", npc]);
  await events.return();
  await memory.request("POST", "/api/v1/world/episodes", {
    body: {
      summary_id: `ep-${run}`, party_id: party.party_id, what: "They pulled Ada out of the water.",
      relations_delta: [{ npc, delta: 12, reason: "They saved her life." }],
    },
  });
  const profile = await memory.tools.npc_profile({ npc_id: npc, party_id: party.party_id });
  assert.ok(profile.dynamic.disposition[party.party_id].score > 0);
  const parties = [];
  for await (const row of memory.rows("/api/v1/world/parties", { query: { limit: 1 } })) parties.push(row.party_id);
  assert.ok(parties.length > 1 && parties.includes(party.party_id));
  const same = await memory.response("GET", "/api/v1/world/npcs/{ref}", { path: { ref: npc } });
  assert.ok(same.headers.get("ETag"));
});

test("a language model's tool loop", { skip: !url && "no MEMORY37_URL" }, async () => {
  const memory = new Memory37({ url, key, timeout: 30 });
  const npc = `bo-${Date.now().toString(36)}`;
  await memory.request("PUT", "/api/v1/world/npcs", {
    body: { npc_id: npc, name: `Bo ${npc}`, summary: "A smuggler.", secrets: ["He sold the charts."], visibility: "public" },
  });
  const told = await memory.answerToolCall("npc_profile", JSON.stringify({ npc_id: npc }));
  assert.match(told, /sold the charts/);
  const public_ = await memory.answerToolCall("npc_profile", { npc_id: npc }, { as: "public" });
  assert.match(public_, /smuggler/);
  assert.doesNotMatch(public_, /charts/);
  const wrong = JSON.parse(await memory.answerToolCall("npc_profile", { npc: npc }));
  assert.equal(wrong.error, "invalid");
  assert.match(wrong.detail, /npc_id: required/);
  const unknown = JSON.parse(await memory.answerToolCall("npc_profil", { npc_id: npc }));
  assert.ok(unknown.candidates.includes("npc_profile"));
  const stranger = new Memory37({ url, key: "m37_none" });
  await assert.rejects(stranger.answerToolCall("npc_profile", { npc_id: npc }), { status: 401 });
});
