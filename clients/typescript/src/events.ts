import { errorOf } from "./errors.js";
import type { Schemas } from "./operations.js";
import { backoffSeconds, isTransient, sleep } from "./retries.js";

export interface EventOptions {
  /** Id of the last event you have; `latest`: only what comes from now on; `oldest` (default). */
  since?: string;
  /** Only these kinds of rows. */
  kinds?: Schemas["Event"]["kind"][];
  signal?: AbortSignal;
}

interface Frame {
  id: string;
  event: string;
  data: string;
}

/** The server says something every 15 seconds: after this time the connection is lost. */
const MAX_SILENCE_SECONDS = 60;
const MAX_BACKOFF_ATTEMPT = 6;

/** Read the stream until the caller stops or the server refuses to go on. */
export async function* streamEvents(
  fetcher: typeof fetch,
  url: string,
  headers: Record<string, string>,
  options: EventOptions,
): AsyncGenerator<Schemas["Event"], void, undefined> {
  let lastId = "";
  for (let attempt = 1; ; attempt++) {
    const query = new URLSearchParams((options.kinds ?? []).map((kind) => ["kind", kind]));
    if (options.since && !lastId) query.append("since", options.since);
    const position: Record<string, string> = lastId ? { "Last-Event-ID": lastId } : {};
    const sent = { ...headers, Accept: "text/event-stream", ...position };
    try {
      for await (const frame of frames(fetcher, `${url}?${query}`, sent, options.signal)) {
        attempt = 0;
        lastId = frame.id || lastId;
        // After `end` the server closes: the next request says why, or goes on.
        if (frame.event === "message") yield JSON.parse(frame.data) as Schemas["Event"];
      }
    } catch (error) {
      options.signal?.throwIfAborted();
      if (!(error instanceof LostConnection)) throw error;
    }
    await sleep(backoffSeconds(Math.min(attempt + 1, MAX_BACKOFF_ATTEMPT)), options.signal);
  }
}

class LostConnection extends Error {}

async function* frames(
  fetcher: typeof fetch,
  url: string,
  headers: Record<string, string>,
  outer: AbortSignal | undefined,
): AsyncGenerator<Frame, void, undefined> {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expectSomething = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(), MAX_SILENCE_SECONDS * 1000);
  };
  const lost = (error: unknown): never => {
    throw new LostConnection("The connection was lost", { cause: error });
  };
  try {
    expectSomething();
    const response = await fetcher(url, { headers, signal: controller.signal }).catch(lost);
    if (!response.ok && isTransient(response.status)) lost(response.status);
    if (!response.ok || !response.body) throw await errorOf(response);
    const reader = response.body.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read().catch(lost);
      if (done) return;
      expectSomething();
      const blocks = (text + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const frame of blocks.map(parseFrame)) if (frame.data) yield frame;
    }
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener("abort", abort);
    controller.abort();
  }
}

/** A frame of Server-Sent Events; comments and unknown fields are left out. */
export function parseFrame(block: string): Frame {
  const frame: Frame = { id: "", event: "message", data: "" };
  const lines: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const [, name, value] = /^(\w+): ?(.*)$/s.exec(line) ?? [];
    if (name === "data") lines.push(value ?? "");
    if (name === "id") frame.id = value ?? "";
    if (name === "event") frame.event = value || "message";
  }
  return { ...frame, data: lines.join("\n") };
}
