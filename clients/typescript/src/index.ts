export { Memory37, type ClientOptions, type ToolCallOptions } from "./client.js";
export { Memory37Error } from "./errors.js";
export type { EventOptions } from "./events.js";
export type {
  Answer, CallOptions, Method, Operation, PagedPath, PathOf, RequestOptions, RowOf, Schemas,
  ToolAnswer, ToolName, Tools,
} from "./operations.js";
export type { components, operations, paths } from "./generated/openapi.js";
export { verifyWebhook, WebhookVerificationError } from "./webhooks.js";
