/** Types of requests and answers by method and path, taken from the generated document. */
import type { components, paths } from "./generated/openapi.js";

export type Schemas = components["schemas"];
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The paths that have an operation of this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P][Lowercase<M>] extends undefined ? never : P;
}[keyof paths];

export type Operation<M extends Method, P extends PathOf<M>> = NonNullable<paths[P][Lowercase<M>]>;

type Success = 200 | 201 | 202 | 204;
type JsonOf<R> = R extends { content: { "application/json": infer T } } ? T : undefined;

/** What `request` gives: the JSON of the answer, undefined when there is none. */
export type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R & Success]: JsonOf<R[S]> }[keyof R & Success]
  : never;

type BodyOf<C> = C extends { "application/json": infer B }
  ? B
  : C extends { "multipart/form-data": unknown }
    ? FormData
    : BodyInit;
type BodyOption<O> = O extends { requestBody: { content: infer C } }
  ? { body: BodyOf<C> }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: BodyOf<C> }
    : { body?: undefined };
type PathOption<O> = O extends { parameters: { path: infer V } } ? { path: V } : { path?: undefined };
type QueryOption<O> = O extends { parameters: { query: infer V } }
  ? { query: V }
  : O extends { parameters: { query?: infer V } }
    ? { query?: V }
    : { query?: undefined };

export interface CallOptions {
  /** Ends the call, its retries and its waits. */
  signal?: AbortSignal;
  /** Seconds for each try; default: that of the client. */
  timeout?: number;
  /** Default for writes: a new one. The same again replays the first answer for a day. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

export type RequestOptions<O> = PathOption<O> & QueryOption<O> & BodyOption<O> & CallOptions;
/** The options may be left out where nothing in them is required. */
export type OptionsArgument<O> = {} extends RequestOptions<O>
  ? [options?: RequestOptions<O>]
  : [options: RequestOptions<O>];

type ToolPath = PathOf<"POST"> & `/api/v1/tools/${string}`;
export type ToolName = ToolPath extends `/api/v1/tools/${infer N}` ? N : never;
type ToolOperation<N extends ToolName> = Operation<"POST", `/api/v1/tools/${N}` & ToolPath>;
type ToolArguments<N extends ToolName> =
  NonNullable<ToolOperation<N>["requestBody"]> extends { content: { "application/json": infer B } }
    ? B
    : never;
export type ToolAnswer<N extends ToolName> = Answer<ToolOperation<N>>;
/** One function for each tool, of the name that models call it by. */
export type Tools = {
  readonly [N in ToolName]: (
    args: ToolArguments<N>,
    options?: CallOptions,
  ) => Promise<ToolAnswer<N>>;
};

/** The lists that are read page by page, and the type of their rows. */
export type PagedPath = {
  [P in PathOf<"GET">]: Answer<Operation<"GET", P>> extends { next_cursor?: string | null } ? P : never;
}[PathOf<"GET">];
export type RowOf<P extends PagedPath> = {
  [K in keyof Answer<Operation<"GET", P>>]: Answer<Operation<"GET", P>>[K] extends (infer Row)[] ? Row : never;
}[keyof Answer<Operation<"GET", P>>];
