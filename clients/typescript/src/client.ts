import { errorOf, Memory37Error, unreachable } from "./errors.js";
import { streamEvents, type EventOptions } from "./events.js";
import type {
  Answer, CallOptions, Method, Operation, OptionsArgument, PagedPath, PathOf, RequestOptions,
  RowOf, Schemas, Tools,
} from "./operations.js";
import { sleep, waitBeforeRetry } from "./retries.js";

export interface ClientOptions {
  /** Address of the site, as `https://memory.example.org`. */
  url: string;
  key: string;
  /** The world that is meant, for a key of the whole installation. */
  world?: string;
  /** Seconds for each try of a request; default 10. */
  timeout?: number;
  /** Tries of a request, the first included; default 3. */
  maxTries?: number;
  fetch?: typeof fetch;
}

export interface ToolCallOptions extends CallOptions {
  /** For whom the answer is: `gm`, `public`, `party:<slug>`, …; default: the key's audience. */
  as?: string;
}

/** A request before its parts are put together. */
interface Call extends CallOptions {
  path?: Record<string, unknown> | undefined;
  query?: Record<string, unknown> | undefined;
  body?: unknown;
}

export class Memory37 {
  /** `tools.npc_profile({ npc_id: "mira" })`: the tools of the server by their names. */
  readonly tools: Tools;
  readonly #base: string;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #maxTries: number;
  readonly #fetch: typeof fetch;

  constructor(options: ClientOptions) {
    this.#base = options.url.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
    this.#headers = { Authorization: `Bearer ${options.key}` };
    // A header is ASCII; the name of a world need not be.
    if (options.world) this.#headers["X-World"] = encodeURIComponent(options.world);
    this.#timeout = options.timeout ?? 10;
    this.#maxTries = options.maxTries ?? 3;
    // A browser's fetch must be called as a method of its window.
    this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
    const call = (name: string) => (body: unknown, more: CallOptions = {}) =>
      this.#json("POST", `/api/v1/tools/${name}`, { ...more, body });
    this.tools = new Proxy({} as Tools, {
      // `then` is asked for when the object is awaited by mistake; it is no tool.
      get: (_target, name) => (typeof name === "string" && name !== "then" ? call(name) : undefined),
    });
  }

  /**
   * Carries out a language model's tool call, with name and arguments as the model sent them (an
   * object or its JSON), and returns the text to hand back. The answer is in its small form. What
   * is wrong with a call is an answer too, so that the model can correct it; what it cannot (no
   * server, a wrong key, a limit of calls) is thrown as `Memory37Error`.
   */
  async answerToolCall(
    name: string, args?: Record<string, unknown> | string | null, options: ToolCallOptions = {},
  ): Promise<string> {
    const { as, ...more } = options;
    const sent = { ...modelArguments(args), ...(as ? { as } : {}) };
    const body = { name, arguments: sent };
    try {
      const answer = await this.#json("POST", "/api/v1/tools/call", { ...more, body });
      return JSON.stringify((answer as Schemas["ToolAnswer"]).result);
    } catch (problem) {
      if (!(problem instanceof Memory37Error) || !problem.modelCanCorrect) throw problem;
      return JSON.stringify(problem.forModel());
    }
  }

  /** Any operation of the API, by its method and path as in the OpenAPI document. */
  async request<M extends Method, P extends PathOf<M>>(
    method: M, path: P, ...options: OptionsArgument<Operation<M, P>>
  ): Promise<Answer<Operation<M, P>>> {
    return this.#json(method, path, callOf(options)) as Promise<never>;
  }

  /** The same with the whole response: for files, and for headers such as `ETag`. */
  async response<M extends Method, P extends PathOf<M>>(
    method: M, path: P, ...options: OptionsArgument<Operation<M, P>>
  ): Promise<Response> {
    return (await this.#send(method, path, callOf(options)))[0];
  }

  /** All rows of a list; pages are read as they are needed. */
  async *rows<P extends PagedPath>(
    path: P, options?: Omit<RequestOptions<Operation<"GET", P>>, "body">,
  ): AsyncGenerator<RowOf<P>, void, undefined> {
    const call = (options ?? {}) as Call;
    let cursor: unknown;
    do {
      const query = cursor ? { ...call.query, cursor } : call.query;
      const page = (await this.#json("GET", path, { ...call, query })) as Record<string, unknown>;
      yield* Object.values(page).find(Array.isArray) as RowOf<P>[];
      cursor = page["next_cursor"];
    } while (cursor);
  }

  /**
   * What changes in the world, as it changes. Goes on after a lost connection where it was
   * interrupted; a refusal of the server (401, 404, 410, …) is thrown as `Memory37Error`.
   */
  events(options: EventOptions = {}): AsyncGenerator<Schemas["Event"], void, undefined> {
    const url = `${this.#base}/api/v1/events/stream`;
    return streamEvents(this.#fetch, url, this.#headers, options);
  }

  async #json(method: string, path: string, call: Call): Promise<unknown> {
    const [, text] = await this.#send(method, path, call, true);
    return text ? JSON.parse(text) : undefined;
  }

  /** The answer, and its text if it is wanted. All requests may be repeated: writes carry a key. */
  async #send(
    method: string, path: string, call: Call, wantsText = false,
  ): Promise<[Response, string]> {
    const url = this.#base + fillPath(path, call.path) + queryString(call.query);
    const init = { method, ...this.#content(method, path, call) };
    for (let attempt = 1; ; attempt++) {
      let response: Response | undefined;
      let lost: unknown;
      let text = "";
      const limit = timeLimit(call.timeout ?? this.#timeout, call.signal);
      try {
        response = await this.#fetch(url, { ...init, signal: limit.signal });
        if (response.ok && wantsText) text = await response.text();
      } catch (error) {
        call.signal?.throwIfAborted();
        [response, lost] = [undefined, error];
      } finally {
        limit.clear();
      }
      if (response?.ok || response?.status === 304) return [response, text];
      const wait = waitBeforeRetry(attempt, this.#maxTries, response);
      if (wait === undefined) throw response ? await errorOf(response) : unreachable(lost);
      await response?.body?.cancel();
      await sleep(wait, call.signal);
    }
  }

  #content(method: string, path: string, call: Call) {
    const headers: Record<string, string> = { ...this.#headers };
    if (method !== "GET" && !path.startsWith("/api/v1/tools/")) {
      headers["Idempotency-Key"] = call.idempotencyKey ?? newKey();
    } else if (call.idempotencyKey) {
      headers["Idempotency-Key"] = call.idempotencyKey;
    }
    if (call.body === undefined) return { headers: { ...headers, ...call.headers } };
    if (call.body instanceof FormData) {
      return { headers: { ...headers, ...call.headers }, body: call.body };
    }
    headers["Content-Type"] = "application/json";
    return { headers: { ...headers, ...call.headers }, body: JSON.stringify(call.body) };
  }
}

/** The compiler cannot compute the type of the options for all operations at once. */
function callOf(options: readonly unknown[]): Call {
  return (options[0] ?? {}) as Call;
}

/** The object that a model sent; empty if it is none: the server names the arguments it needs. */
function modelArguments(args: Record<string, unknown> | string | null | undefined): object {
  if (typeof args !== "string") return args ?? {};
  try {
    const parsed: unknown = JSON.parse(args || "{}");
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function fillPath(path: string, values: Record<string, unknown> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_all, name: string) => {
    if (values[name] === undefined) throw new TypeError(`${path} needs path.${name}`);
    return encodeURIComponent(String(values[name]));
  });
}

function queryString(values: Record<string, unknown> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) query.append(name, String(each));
    }
  }
  const text = query.toString();
  return text && `?${text}`;
}

/** A signal that aborts after some seconds, or with another one. */
function timeLimit(seconds: number, outer?: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort(outer?.reason);
  const timer = setTimeout(() => controller.abort(new Error("timeout")), seconds * 1000);
  if (outer?.aborted) abort();
  outer?.addEventListener("abort", abort);
  const clear = () => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", abort);
  };
  return { signal: controller.signal, clear };
}

/** Not `randomUUID`: pages that were not served over HTTPS have none. */
function newKey(): string {
  const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
  return `${Date.now().toString(36)}-${part()}${part()}`;
}
