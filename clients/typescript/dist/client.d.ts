import { type EventOptions } from "./events.js";
import type { Answer, Method, Operation, OptionsArgument, PagedPath, PathOf, RequestOptions, RowOf, Schemas, Tools } from "./operations.js";
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
export declare class Memory37 {
    #private;
    /** `tools.npc_profile({ npc_id: "mira" })`: the tools of the server by their names. */
    readonly tools: Tools;
    constructor(options: ClientOptions);
    /** Any operation of the API, by its method and path as in the OpenAPI document. */
    request<M extends Method, P extends PathOf<M>>(method: M, path: P, ...options: OptionsArgument<Operation<M, P>>): Promise<Answer<Operation<M, P>>>;
    /** The same with the whole response: for files, and for headers such as `ETag`. */
    response<M extends Method, P extends PathOf<M>>(method: M, path: P, ...options: OptionsArgument<Operation<M, P>>): Promise<Response>;
    /** All rows of a list; pages are read as they are needed. */
    rows<P extends PagedPath>(path: P, options?: Omit<RequestOptions<Operation<"GET", P>>, "body">): AsyncGenerator<RowOf<P>, void, undefined>;
    /**
     * What changes in the world, as it changes. Goes on after a lost connection where it was
     * interrupted; a refusal of the server (401, 404, 410, …) is thrown as `Memory37Error`.
     */
    events(options?: EventOptions): AsyncGenerator<Schemas["Event"], void, undefined>;
}
