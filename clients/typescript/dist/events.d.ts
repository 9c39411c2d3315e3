import type { Schemas } from "./operations.js";
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
/** Read the stream until the caller stops or the server refuses to go on. */
export declare function streamEvents(fetcher: typeof fetch, url: string, headers: Record<string, string>, options: EventOptions): AsyncGenerator<Schemas["Event"], void, undefined>;
/** A frame of Server-Sent Events; comments and unknown fields are left out. */
export declare function parseFrame(block: string): Frame;
export {};
