export declare const MAX_WAIT_SECONDS = 10;
/**
 * The seconds to wait before the next try; undefined: do not try again. `attempt` counts from 1;
 * `response` is undefined when the connection was lost.
 */
export declare function waitBeforeRetry(attempt: number, maxTries: number, response: Response | undefined): number | undefined;
export declare function isTransient(status: number): boolean;
/** A wait that doubles, with jitter so that many clients do not retry at once. */
export declare function backoffSeconds(attempt: number): number;
/** Wait; an abort of `signal` ends it with its reason. */
export declare function sleep(seconds: number, signal?: AbortSignal): Promise<void>;
