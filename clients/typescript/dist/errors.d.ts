export interface ProblemFields {
    status?: number;
    code?: string;
    title?: string;
    detail?: string;
    instance?: string;
    errors?: {
        loc?: string[];
        msg?: string;
    }[];
    candidates?: string[];
}
/**
 * A problem that the server reported (RFC 9457); `status` is 0 when no server answered.
 *
 * `code` is stable and meant for programs, `detail` says what to do, `errors` names the wrong
 * fields, `candidates` the names that may have been meant, `retryAfter` the seconds to wait.
 */
export declare class Memory37Error extends Error {
    readonly status: number;
    readonly code: string;
    readonly title: string;
    readonly detail: string;
    readonly errors: {
        loc?: string[];
        msg?: string;
    }[];
    readonly candidates: string[];
    readonly requestId: string;
    readonly retryAfter: number | undefined;
    constructor(problem: ProblemFields, options?: {
        retryAfter?: number;
        cause?: unknown;
    });
}
export declare function unreachable(cause: unknown): Memory37Error;
export declare function errorOf(response: Response): Promise<Memory37Error>;
/** What `Retry-After` says; undefined without it, or if it is a date. */
export declare function secondsToWait(response: Response): number | undefined;
