export { Memory37 } from "./client.js";
export { Memory37Error } from "./errors.js";
export { verifyWebhook, WebhookVerificationError } from "./webhooks.js";
