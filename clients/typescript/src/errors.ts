export interface ProblemFields {
  status?: number;
  code?: string;
  title?: string;
  detail?: string;
  instance?: string;
  errors?: { loc?: string[]; msg?: string }[];
  candidates?: string[];
}

/** Statuses of problems with a call itself: a model that reads them sends a better one. */
const MODEL_CAN_CORRECT = [400, 403, 404, 409, 422];

/**
 * A problem that the server reported (RFC 9457); `status` is 0 when no server answered.
 *
 * `code` is stable and meant for programs, `detail` says what to do, `errors` names the wrong
 * fields, `candidates` the names that may have been meant, `retryAfter` the seconds to wait.
 */
export class Memory37Error extends Error {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly errors: { loc?: string[]; msg?: string }[];
  readonly candidates: string[];
  readonly requestId: string;
  readonly retryAfter: number | undefined;

  constructor(problem: ProblemFields, options: { retryAfter?: number; cause?: unknown } = {}) {
    const status = problem.status ?? 0;
    const code = problem.code ?? "unknown";
    super(`${status} ${code}: ${problem.detail ?? ""}`, { cause: options.cause });
    this.name = "Memory37Error";
    this.status = status;
    this.code = code;
    this.title = problem.title ?? "";
    this.detail = problem.detail ?? "";
    this.errors = problem.errors ?? [];
    this.candidates = problem.candidates ?? [];
    this.requestId = problem.instance ?? "";
    this.retryAfter = options.retryAfter;
  }

  get modelCanCorrect(): boolean {
    return MODEL_CAN_CORRECT.includes(this.status);
  }

  /** What a language model needs to correct its call. */
  forModel(): { error: string; detail: string; candidates: string[] } {
    return { error: this.code, detail: this.detail, candidates: this.candidates };
  }
}

export function unreachable(cause: unknown): Memory37Error {
  const detail = "The server cannot be reached: check the address and that it runs.";
  return new Memory37Error({ code: "unreachable", title: "Unreachable", detail }, { cause });
}

export async function errorOf(response: Response): Promise<Memory37Error> {
  const text = await response.text().catch(() => "");
  let problem: ProblemFields = {};
  try {
    problem = JSON.parse(text) as ProblemFields;
  } catch {
    // A proxy in between answers with a page.
  }
  if (typeof problem !== "object" || problem === null || !("code" in problem)) {
    problem = { detail: text.slice(0, 200) };
  }
  return new Memory37Error(
    { ...problem, status: response.status },
    { retryAfter: secondsToWait(response) },
  );
}

/** What `Retry-After` says; undefined without it, or if it is a date. */
export function secondsToWait(response: Response): number | undefined {
  const text = response.headers.get("Retry-After");
  const seconds = text === null || text === "" ? NaN : Number(text);
  return Number.isFinite(seconds) ? seconds : undefined;
}
