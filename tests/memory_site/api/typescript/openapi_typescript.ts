import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi.js";

const client = createClient<paths>({
  baseUrl: "http://127.0.0.1:8000",
  headers: { Authorization: "Bearer m37_", "X-World": "salt-coast" },
});

async function engineDay(): Promise<string> {
  const party = await client.POST("/api/v1/world/parties", {
    body: { name: "Gulls", members: ["Ana", "Bo"] },
  });
  if (party.error) throw new Error(`${party.error.code}: ${party.error.detail}`);
  const npc = await client.PUT("/api/v1/world/npcs", {
    body: { npc_id: "ada-crane", name: "Ada Crane", role: "Pilot", secrets: ["She sold the charts."] },
  });
  if (npc.error) throw new Error(npc.error.candidates.join(", "));
  const party_id = party.data.party_id;
  const episode = await client.POST("/api/v1/world/episodes", {
    body: {
      summary_id: "ep-1",
      party_id,
      what: "They pulled Ada Crane out of the water.",
      relations_delta: [{ npc: "ada-crane", delta: 12, reason: "They saved her life." }],
    },
  });
  if (episode.error) throw new Error(episode.error.detail);
  const profile = await client.POST("/api/v1/tools/npc_profile", {
    body: { npc_id: "ada-crane", party_id },
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
