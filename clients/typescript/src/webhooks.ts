const TOLERANCE_SECONDS = 300;

export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
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
export async function verifyWebhook(
  body: string,
  headers: WebhookHeaders | Record<string, string | string[] | undefined>,
  secret: string,
  now: number = Date.now() / 1000,
): Promise<unknown> {
  const [id, time, signatures] = ["id", "timestamp", "signature"].map((name) =>
    header(headers, `webhook-${name}`),
  ) as [string, string, string];
  if (!(Math.abs(now - Number(time)) <= TOLERANCE_SECONDS)) {
    throw new WebhookVerificationError("The time of the delivery is too far from now.");
  }
  const subtle = await webCrypto();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const bytes = fromBase64(secret.replace(/^whsec_/, ""));
  const key = await subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
  const signed = new TextEncoder().encode(`${id}.${time}.${body}`);
  for (const each of signatures.split(" ")) {
    const [version, value] = each.split(",");
    if (version !== "v1" || !value) continue;
    // `verify` compares in constant time.
    if (await subtle.verify("HMAC", key, fromBase64(value), signed)) return JSON.parse(body);
  }
  throw new WebhookVerificationError("No signature fits this body and secret.");
}

function header(
  headers: WebhookHeaders | Record<string, string | string[] | undefined>,
  name: string,
): string {
  const value = typeof headers.get === "function"
    ? headers.get(name)
    : (headers as Record<string, string | string[] | undefined>)[name];
  if (typeof value !== "string" || !value) {
    throw new WebhookVerificationError(`The header ${name} is missing.`);
  }
  return value;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    throw new WebhookVerificationError("A signature or the secret is not base64.");
  }
}

/** Node 18 has WebCrypto in a module only; the name in a variable keeps bundlers away from it. */
async function webCrypto(): Promise<SubtleCrypto> {
  if (globalThis.crypto?.subtle) return globalThis.crypto.subtle;
  const module = "node:crypto";
  return ((await import(module)) as { webcrypto: Crypto }).webcrypto.subtle;
}
