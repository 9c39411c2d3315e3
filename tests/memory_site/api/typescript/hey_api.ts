import { episodeIngest, loreList, npcProfile, npcUpsert, partyCreate } from "./generated/hey_api/index.js";
import { client } from "./generated/hey_api/client.gen.js";

declare const process: { env: Record<string, string> };
const { MEMORY37_URL, MEMORY37_API_KEY, MEMORY37_WORLD } = process.env;

client.setConfig({
  baseUrl: MEMORY37_URL,
  headers: { Authorization: `Bearer ${MEMORY37_API_KEY}`, "X-World": MEMORY37_WORLD },
});

async function engineDay(): Promise<string> {
  const party = await partyCreate({ body: { name: "Gulls", members: ["Ana", "Bo"] } });
  if (!party.data) throw new Error(`${party.error.code}: ${party.error.detail}`);
  const npc = await npcUpsert({
    body: { npc_id: "ada-crane", name: "Ada Crane", role: "Pilot", secrets: ["She sold the charts."] },
  });
  if (!npc.data) throw new Error(npc.error.candidates.join(", "));
  const party_id = party.data.party_id;
  const episode = await episodeIngest({
    body: {
      summary_id: "ep-1",
      party_id,
      what: "They pulled Ada Crane out of the water.",
      relations_delta: [{ npc: "ada-crane", delta: 12, reason: "They saved her life." }],
    },
  });
  if (!episode.data) throw new Error(episode.error.detail);
  const profile = await npcProfile({ body: { npc_id: "ada-crane", party_id } });
  if (!profile.data) throw new Error(profile.error.detail);
  const { static: fixed, dynamic, relations } = profile.data;
  const disposition = dynamic?.disposition[party_id];
  const reasons: string[] = (dynamic?.influences ?? []).map((change) => change.reason);
  const score: number = disposition?.score ?? 0;
  const lore = await loreList({ query: { limit: 5 } });
  const titles: string[] = lore.data?.lore.map((row) => row.title) ?? [];
  return [fixed.name, disposition?.label, score, relations.length, ...reasons, ...titles].join(" ");
}

console.log(await engineDay());
