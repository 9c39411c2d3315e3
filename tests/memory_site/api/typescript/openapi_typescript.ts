import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi.js";

declare const process: { env: Record<string, string> };
const { MEMORY37_URL, MEMORY37_API_KEY, MEMORY37_WORLD } = process.env;

const client = createClient<paths>({
  baseUrl: MEMORY37_URL,
  headers: { Authorization: `Bearer ${MEMORY37_API_KEY}`, "X-World": MEMORY37_WORLD },
});

async function engineDay(): Promise<string> {
  const party = await client.POST("/api/v1/world/parties", {
    body: { name: "Terns", members: ["Ana", "Bo"] },
  });
  if (party.error) throw new Error(`${party.error.code}: ${party.error.detail}`);
  const npc = await client.PUT("/api/v1/world/npcs", {
    body: { npc_id: "bo-reed", name: "Bo Reed", role: "Smuggler", secrets: ["He sold the charts."] },
  });
  if (npc.error) throw new Error(npc.error.candidates.join(", "));
  const party_id = party.data.party_id;
  const episode = await client.POST("/api/v1/world/episodes", {
    body: {
      summary_id: "ep-2",
      party_id,
      what: "They pulled Bo Reed out of the water.",
      relations_delta: [{ npc: "bo-reed", delta: 12, reason: "They saved his life." }],
    },
  });
  if (episode.error) throw new Error(episode.error.detail);
  const profile = await client.POST("/api/v1/tools/npc_profile", {
    body: { npc_id: "bo-reed", party_id },
  });
  if (profile.error) throw new Error(profile.error.detail);
  const { static: fixed, dynamic, relations } = profile.data;
  const disposition = dynamic?.disposition[party_id];
  const reasons: string[] = (dynamic?.influences ?? []).map((change) => change.reason);
  const score: number = disposition?.score ?? 0;
  const lore = await client.GET("/api/v1/world/lore", { params: { query: { limit: 5 } } });
  const titles: string[] = lore.data?.lore.map((row) => row.title) ?? [];
  return [fixed.name, disposition?.label, score, relations.length, ...reasons, ...titles].join(" ");
}

console.log(await engineDay());
