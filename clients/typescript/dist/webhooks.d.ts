export declare class WebhookVerificationError extends Error {
    readonly name = "WebhookVerificationError";
}
export interface WebhookHeaders {
    get(name: string): string | null;
}
/**
 * Check a delivery by the rules of Standard Webhooks and return its JSON.
 *
 * `body` is the text exactly as received, `headers` that of the request (`Headers`, or an object
 * of lower-case names), `secret` the `whsec_…` that the server showed. Throws
 * `WebhookVerificationError` for a wrong signature, and for one older than five minutes.
 */
export declare function verifyWebhook(body: string, headers: WebhookHeaders | Record<string, string | string[] | undefined>, secret: string, now?: number): Promise<unknown>;
