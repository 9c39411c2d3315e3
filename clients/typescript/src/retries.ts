import { secondsToWait } from "./errors.js";

export const MAX_WAIT_SECONDS = 10;
const RETRY_STATUS = new Set([429, 502, 503, 504]);

/**
 * The seconds to wait before the next try; undefined: do not try again. `attempt` counts from 1;
 * `response` is undefined when the connection was lost.
 */
export function waitBeforeRetry(
  attempt: number,
  maxTries: number,
  response: Response | undefined,
): number | undefined {
  if (attempt >= maxTries) return undefined;
  if (response === undefined) return backoffSeconds(attempt);
  if (!RETRY_STATUS.has(response.status)) return undefined;
  const wait = secondsToWait(response) ?? backoffSeconds(attempt);
  return wait <= MAX_WAIT_SECONDS ? wait : undefined;
}

export function isTransient(status: number): boolean {
  return RETRY_STATUS.has(status);
}

/** A wait that doubles, with jitter so that many clients do not retry at once. */
export function backoffSeconds(attempt: number): number {
  return Math.min(0.2 * 2 ** attempt, MAX_WAIT_SECONDS) * (0.5 + Math.random() / 2);
}

/** Wait; an abort of `signal` ends it with its reason. */
export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, seconds * 1000);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
