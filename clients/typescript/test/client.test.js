// The client against a server that fails in the ways that servers fail.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { Memory37, Memory37Error, verifyWebhook } from "../dist/index.js";

const servers = [];
after(() => servers.forEach((server) => (server.closeAllConnections(), server.close())));

/** A server that answers the requests in turn; the last answer stays. */
async function serverOf(...answers) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    requests.push({ ...request, url: request.url, method: request.method, headers: request.headers, body });
    answers[Math.min(requests.length, answers.length) - 1](response, request);
  });
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}`;
  return { requests, url, memory: new Memory37({ url, key: "m37_test", world: "salt-coast" }) };
}

const json = (status, body, headers = {}) => (response) =>
  response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
const broken = (response) => response.destroy();
const event = (id) => `id: ${id}\ndata: {"id": "${id}", "kind": "npc", "action": "changed"}\n\n`;

for (const fault of [broken, json(503, {}), json(429, {}, { "Retry-After": "0" })]) {
  test(`a write is tried again with the same key: ${fault.name || "status"}`, async () => {
    const { memory, requests } = await serverOf(fault, json(201, { party_id: "gulls" }));
    const party = await memory.request("POST", "/api/v1/world/parties", { body: { name: "Gulls" } });
    assert.equal(party.party_id, "gulls");
    const keys = requests.map((each) => each.headers["idempotency-key"]);
    assert.ok(keys[0].length > 10);
    assert.deepEqual(keys, [keys[0], keys[0]]);
    assert.equal(requests[1].headers["x-world"], "salt-coast");
    assert.equal(requests[1].body, '{"name":"Gulls"}');
  });
}

test("the id of a world in another script is sent in ASCII", async () => {
  const { requests, url } = await serverOf(json(200, {}));
  await new Memory37({ url, key: "m37_test", world: "안개나루" }).request("GET", "/api/v1/me");
  assert.equal(decodeURIComponent(requests[0].headers["x-world"]), "안개나루");
});

test("a refusal is not tried again and says what is wrong", async () => {
  const problem = { status: 404, code: "unknown_npc", detail: "Nobody.", instance: "r-1", candidates: ["ada"] };
  const { memory, requests } = await serverOf(json(404, problem));
  const error = await memory.tools.npc_profile({ npc_id: "adda" }).catch((each) => each);
  assert.ok(error instanceof Memory37Error);
  assert.deepEqual([error.status, error.code, error.candidates, error.requestId], [404, "unknown_npc", ["ada"], "r-1"]);
  assert.equal(requests.length, 1);
});

test("a model's tool call is answered by text, also when the call is wrong", async () => {
  const problem = { status: 422, code: "invalid", detail: "term: required.", candidates: [] };
  const { memory, requests } = await serverOf(json(200, { name: "rules_lookup", result: { hits: [] } }), json(422, problem));
  assert.equal(await memory.answerToolCall("rules_lookup", '{"term": "grappled"}', { as: "party:gulls" }), '{"hits":[]}');
  const told = JSON.parse(await memory.answerToolCall("rules_lookup", "{not json"));
  assert.deepEqual(told, { error: "invalid", detail: "term: required.", candidates: [] });
  for (const args of ["[1]", "", null, undefined]) await memory.answerToolCall("rules_lookup", args);
  const sent = requests.map((each) => JSON.parse(each.body));
  assert.deepEqual(sent[0], { name: "rules_lookup", arguments: { term: "grappled", as: "party:gulls" } });
  assert.deepEqual(sent.slice(1).map((each) => each.arguments), [{}, {}, {}, {}, {}]);
});

test("what a model cannot correct is thrown", async () => {
  const { memory } = await serverOf(json(401, { status: 401, code: "unauthorized", detail: "No key." }));
  const error = await memory.answerToolCall("rules_lookup", { term: "x" }).catch((each) => each);
  assert.deepEqual([error instanceof Memory37Error, error.code], [true, "unauthorized"]);
});

test("a server that waits too long, asks for too long a wait, or is away", async () => {
  const late = await serverOf(json(429, { code: "rate_limited" }, { "Retry-After": "3600" }));
  const refused = await late.memory.tools.rules_lookup({ term: "grappled" }).catch((each) => each);
  assert.deepEqual([refused.code, refused.retryAfter, late.requests.length], ["rate_limited", 3600, 1]);
  const silent = await serverOf(() => {});
  const { memory } = silent;
  const slow = await memory.tools.rules_lookup({ term: "x" }, { timeout: 0.05 }).catch((each) => each);
  assert.deepEqual([slow.status, slow.code, silent.requests.length], [0, "unreachable", 3]);
});

test("an abort ends a call with its reason", async () => {
  const { memory, requests } = await serverOf(() => {});
  const signal = AbortSignal.timeout(50);
  const error = await memory.tools.rules_lookup({ term: "x" }, { signal }).catch((each) => each);
  assert.equal(error.name, "TimeoutError");
  assert.equal(requests.length, 1);
});

test("rows come from all pages", async () => {
  const { memory, requests } = await serverOf(
    json(200, { parties: [{ party_id: "a" }], next_cursor: "c 2" }),
    json(200, { parties: [{ party_id: "b" }], next_cursor: null }),
  );
  const found = [];
  for await (const row of memory.rows("/api/v1/world/parties", { query: { limit: 1 } })) found.push(row.party_id);
  assert.deepEqual(found, ["a", "b"]);
  assert.equal(requests[1].url, "/api/v1/world/parties?limit=1&cursor=c+2");
});

test("events go on after a lost connection and stop when the server refuses", async () => {
  const start = (response) => response.writeHead(200, { "Content-Type": "text/event-stream" });
  const { memory, requests } = await serverOf(
    (response) => start(response).write(`: hello\n\n${event("e1")}${event("e2").slice(0, 12)}`, () => setTimeout(() => response.destroy(), 20)),
    json(503, {}),
    (response) => start(response).end(`${event("e2")}event: end\ndata: {"reason": "revoked"}\n\n`),
    json(401, { code: "unauthorized" }),
  );
  const ids = [];
  const error = await (async () => {
    for await (const each of memory.events({ since: "latest", kinds: ["npc"] })) ids.push(each.id);
  })().catch((each) => each);
  assert.deepEqual(ids, ["e1", "e2"]);
  assert.deepEqual([error.status, error.code], [401, "unauthorized"]);
  assert.deepEqual(requests.map((each) => each.headers["last-event-id"]), [undefined, "e1", "e1", "e2"]);
  assert.equal(requests[0].url, "/api/v1/events/stream?kind=npc&since=latest");
});

test("events end when their reader stops", async () => {
  const closed = [];
  const { memory } = await serverOf((response) => {
    response.on("close", () => closed.push(true));
    response.writeHead(200, { "Content-Type": "text/event-stream" }).write(event("e1"));
  });
  for await (const each of memory.events()) if (each.id === "e1") break;
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.deepEqual(closed, [true]);
});

test("deliveries are verified by the rules of Standard Webhooks", async () => {
  const [secret, body, time] = [Buffer.from("a secret of the table").toString("base64"), '{"type":"npc.changed"}', 1_700_000_000];
  const sign = (text) => createHmac("sha256", Buffer.from(secret, "base64")).update(text).digest("base64");
  const signature = `v1,${sign("other")} v1,${sign(`msg_1.${time}.${body}`)}`;
  const headers = { "webhook-id": "msg_1", "webhook-timestamp": String(time), "webhook-signature": signature };
  assert.deepEqual(await verifyWebhook(body, headers, `whsec_${secret}`, time + 10), { type: "npc.changed" });
  assert.deepEqual(await verifyWebhook(body, new Headers(headers), secret, time), { type: "npc.changed" });
  for (const [text, given, now] of [
    [`${body} `, headers, time],
    [body, headers, time + 301],
    [body, { ...headers, "webhook-id": "msg_2" }, time],
    [body, { ...headers, "webhook-timestamp": "soon" }, time],
    [body, { ...headers, "webhook-signature": "v1,%%%" }, time],
    [body, {}, time],
  ]) {
    await assert.rejects(verifyWebhook(text, given, secret, now), { name: "WebhookVerificationError" });
  }
});
