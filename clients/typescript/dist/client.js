import { errorOf, unreachable } from "./errors.js";
import { streamEvents } from "./events.js";
import { sleep, waitBeforeRetry } from "./retries.js";
export class Memory37 {
    /** `tools.npc_profile({ npc_id: "mira" })`: the tools of the server by their names. */
    tools;
    #base;
    #headers;
    #timeout;
    #maxTries;
    #fetch;
    constructor(options) {
        this.#base = options.url.replace(/\/+$/, "").replace(/\/api\/v1$/, "");
        this.#headers = { Authorization: `Bearer ${options.key}` };
        if (options.world)
            this.#headers["X-World"] = options.world;
        this.#timeout = options.timeout ?? 10;
        this.#maxTries = options.maxTries ?? 3;
        // A browser's fetch must be called as a method of its window.
        this.#fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init));
        const call = (name) => (body, more = {}) => this.#json("POST", `/api/v1/tools/${name}`, { ...more, body });
        this.tools = new Proxy({}, {
            // `then` is asked for when the object is awaited by mistake; it is no tool.
            get: (_target, name) => (typeof name === "string" && name !== "then" ? call(name) : undefined),
        });
    }
    /** Any operation of the API, by its method and path as in the OpenAPI document. */
    async request(method, path, ...options) {
        return this.#json(method, path, callOf(options));
    }
    /** The same with the whole response: for files, and for headers such as `ETag`. */
    async response(method, path, ...options) {
        return (await this.#send(method, path, callOf(options)))[0];
    }
    /** All rows of a list; pages are read as they are needed. */
    async *rows(path, options) {
        const call = (options ?? {});
        let cursor;
        do {
            const query = cursor ? { ...call.query, cursor } : call.query;
            const page = (await this.#json("GET", path, { ...call, query }));
            yield* Object.values(page).find(Array.isArray);
            cursor = page["next_cursor"];
        } while (cursor);
    }
    /**
     * What changes in the world, as it changes. Goes on after a lost connection where it was
     * interrupted; a refusal of the server (401, 404, 410, …) is thrown as `Memory37Error`.
     */
    events(options = {}) {
        const url = `${this.#base}/api/v1/events/stream`;
        return streamEvents(this.#fetch, url, this.#headers, options);
    }
    async #json(method, path, call) {
        const [, text] = await this.#send(method, path, call, true);
        return text ? JSON.parse(text) : undefined;
    }
    /** The answer, and its text if it is wanted. All requests may be repeated: writes carry a key. */
    async #send(method, path, call, wantsText = false) {
        const url = this.#base + fillPath(path, call.path) + queryString(call.query);
        const init = { method, ...this.#content(method, path, call) };
        for (let attempt = 1;; attempt++) {
            let response;
            let lost;
            let text = "";
            const limit = timeLimit(call.timeout ?? this.#timeout, call.signal);
            try {
                response = await this.#fetch(url, { ...init, signal: limit.signal });
                if (response.ok && wantsText)
                    text = await response.text();
            }
            catch (error) {
                call.signal?.throwIfAborted();
                [response, lost] = [undefined, error];
            }
            finally {
                limit.clear();
            }
            if (response?.ok || response?.status === 304)
                return [response, text];
            const wait = waitBeforeRetry(attempt, this.#maxTries, response);
            if (wait === undefined)
                throw response ? await errorOf(response) : unreachable(lost);
            await response?.body?.cancel();
            await sleep(wait, call.signal);
        }
    }
    #content(method, path, call) {
        const headers = { ...this.#headers };
        if (method !== "GET" && !path.startsWith("/api/v1/tools/")) {
            headers["Idempotency-Key"] = call.idempotencyKey ?? newKey();
        }
        else if (call.idempotencyKey) {
            headers["Idempotency-Key"] = call.idempotencyKey;
        }
        if (call.body === undefined)
            return { headers: { ...headers, ...call.headers } };
        if (call.body instanceof FormData) {
            return { headers: { ...headers, ...call.headers }, body: call.body };
        }
        headers["Content-Type"] = "application/json";
        return { headers: { ...headers, ...call.headers }, body: JSON.stringify(call.body) };
    }
}
/** The compiler cannot compute the type of the options for all operations at once. */
function callOf(options) {
    return (options[0] ?? {});
}
function fillPath(path, values = {}) {
    return path.replace(/\{(\w+)\}/g, (_all, name) => {
        if (values[name] === undefined)
            throw new TypeError(`${path} needs path.${name}`);
        return encodeURIComponent(String(values[name]));
    });
}
function queryString(values = {}) {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(values)) {
        for (const each of Array.isArray(value) ? value : [value]) {
            if (each !== undefined && each !== null)
                query.append(name, String(each));
        }
    }
    const text = query.toString();
    return text && `?${text}`;
}
/** A signal that aborts after some seconds, or with another one. */
function timeLimit(seconds, outer) {
    const controller = new AbortController();
    const abort = () => controller.abort(outer?.reason);
    const timer = setTimeout(() => controller.abort(new Error("timeout")), seconds * 1000);
    if (outer?.aborted)
        abort();
    outer?.addEventListener("abort", abort);
    const clear = () => {
        clearTimeout(timer);
        outer?.removeEventListener("abort", abort);
    };
    return { signal: controller.signal, clear };
}
/** Not `randomUUID`: pages that were not served over HTTPS have none. */
function newKey() {
    const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
    return `${Date.now().toString(36)}-${part()}${part()}`;
}
