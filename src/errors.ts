import { type Remedy, remedies } from './remedies.ts'

/**
 * The table of problems: the code is the contract, the title is for people, the status is for HTTP.
 * Every front translates the same code: REST to `application/problem+json` (RFC 9457), A2A to its own error types.
 */
export const problems = {
  'invalid-request': { status: 400, title: 'The request is not valid' },
  'invalid-json': { status: 400, title: 'The body is not valid JSON' },
  unauthenticated: { status: 401, title: 'A valid API key is required' },
  forbidden: { status: 403, title: 'This key is not allowed to do that' },
  'not-found': { status: 404, title: 'No such resource' },
  'agent-not-found': { status: 404, title: 'No such agent' },
  'task-not-found': { status: 404, title: 'No such task' },
  'subscription-not-found': { status: 404, title: 'No such subscription' },
  'event-type-not-found': { status: 404, title: 'No such event type' },
  'message-not-found': { status: 404, title: 'No such message' },
  'thread-not-found': { status: 404, title: 'No such thread' },
  'push-config-not-found': { status: 404, title: 'No such push notification config' },
  'permission-not-found': { status: 404, title: 'No such permission' },
  'claim-not-found': { status: 404, title: 'No such claim' },
  'key-not-found': { status: 404, title: 'No such API key' },
  'session-not-found': { status: 404, title: 'No such session' },
  'turn-not-found': { status: 404, title: 'No such turn' },
  'project-not-found': { status: 404, title: 'No such project' },
  'method-not-allowed': { status: 405, title: 'The resource does not support this method' },
  'ambiguous-address': { status: 409, title: 'The address names more than one agent' },
  'claim-conflict': { status: 409, title: 'Another owner has claimed this ref' },
  'agent-exists': { status: 409, title: 'The handle or an alias is taken' },
  'version-conflict': { status: 409, title: 'The task has a newer version' },
  'invalid-transition': { status: 409, title: 'The task cannot move to that state' },
  'message-status-conflict': { status: 409, title: 'The message cannot take that status' },
  'session-ended': { status: 409, title: 'The session has ended' },
  'session-preempted': { status: 409, title: 'A newer session speaks for the agent' },
  'task-finished': { status: 409, title: 'The task is finished and accepts no more changes' },
  'idempotency-conflict': { status: 409, title: 'The idempotency key was used for another request' },
  'idempotency-begun': { status: 409, title: 'The first request with this idempotency key has no answer to repeat' },
  'subscription-degraded': { status: 409, title: 'The subscription is not active' },
  'subscription-paused': { status: 409, title: 'The subscription is paused' },
  'rotation-too-soon': { status: 409, title: 'Three former keys of the subscription still sign' },
  'stale-epoch': { status: 409, title: 'The order of recovery is over' },
  'gate-closed': { status: 409, title: 'The gate of recovery is closed' },
  'approval-answered': { status: 409, title: 'The approval is not open any more' },
  'approval-changed': { status: 409, title: 'The harness asks something else' },
  'watermark-ahead': { status: 409, title: 'The watermark is ahead of the log' },
  'watermark-expired': { status: 410, title: 'The log no longer has the events after the watermark' },
  'payload-too-large': { status: 413, title: 'The body is too large' },
  'unsupported-media-type': { status: 415, title: 'The media type is not supported' },
  'misdirected-request': { status: 421, title: 'The request names another host' },
  'url-not-allowed': { status: 422, title: 'This gateway is not allowed to reach the URL' },
  'callback-not-verified': { status: 422, title: 'The receiver has not proved that it wants the events' },
  'version-required': { status: 428, title: 'The version of the task is required' },
  'limit-exceeded': { status: 429, title: 'A limit of this key or agent is reached' },
  'headers-too-large': { status: 431, title: 'The request has too many headers' },
  'rate-limited': { status: 429, title: 'The rate limit is exceeded' },
  'storm-breaker': { status: 429, title: 'Agents have answered each other too often' },
  'recipient-storm': { status: 429, title: 'The recipient has received too many messages' },
  'quota-exceeded': { status: 429, title: 'The storage quota is exceeded' },
  internal: { status: 500, title: 'Internal error' },
  overloaded: { status: 503, title: 'The gateway has too much work at the moment' },
  'storage-unavailable': { status: 503, title: 'The store is not available at the moment' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemCode = keyof typeof problems

type RemedyKey = keyof typeof remedies

/** Extension members of RFC 9457, e.g. `{ current }` of a version conflict. */
type Members = Readonly<Record<string, unknown>>

/** A remedy, with the members that hold the values of its sentence. */
type Remedied = {
  [Key in RemedyKey]: (typeof remedies)[Key] extends (values: infer Values) => Remedy
    ? { readonly remedy: Key; readonly extra: Values & Members }
    : { readonly remedy: Key; readonly extra?: Members }
}[RemedyKey]

type ProblemOptions = {
  /** One sentence that names the field and what is wrong with it. */
  readonly detail?: string
  /** The offending field as a path, e.g. `filters.priority`. */
  readonly field?: string
  readonly cause?: unknown
} & (Remedied | { readonly remedy?: undefined; readonly extra?: Members })

/**
 * A failure that is reported to the caller. Anything else that is thrown becomes `internal` at the front. Its message is the detail with
 * the remedy for HTTP; `extra` has the key of the remedy for other readers.
 */
export class Problem extends Error {
  readonly code: ProblemCode
  readonly field: string | undefined
  readonly extra: Members

  constructor(code: ProblemCode, { detail, field, remedy, extra = {}, cause }: ProblemOptions = {}) {
    const members = remedy === undefined ? extra : { ...extra, remedy }
    const sentences = [detail, remedy && remedyOf(members)?.http].filter(Boolean)
    super(sentences.join(' ') || problems[code].title, cause === undefined ? undefined : { cause })
    this.name = 'Problem'
    this.code = code
    this.field = field
    this.extra = members
  }

  get status(): number {
    return problems[this.code].status
  }

  /** A fault of the gateway, for its log. That it has too much work is none: many such lines would be more work. */
  get isFault(): boolean {
    return this.status >= 500 && this.code !== 'overloaded'
  }

  get title(): string {
    return problems[this.code].title
  }
}

/** Returns the problem that a thrown value is, or `internal` with a fixed sentence: an unknown error never leaks to a caller. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  return new Problem('internal', {
    detail: 'The gateway failed on this request; its log has the reason.',
    cause: error,
  })
}

/** The remedy of a problem; undefined: it has none that is known here. */
function remedyOf(problem: Members): Remedy | undefined {
  const { remedy: key } = problem
  if (typeof key !== 'string' || !Object.hasOwn(remedies, key)) return undefined
  const remedy: Remedy | ((values: never) => Remedy) = remedies[key as RemedyKey]
  return typeof remedy === 'function' ? remedy(problem as never) : remedy
}

/** The detail of a problem, or else its title, with the remedy in other words than those for HTTP. A remedy that is not known here stays. Pure. */
export function detailFor(problem: Members, words: (remedy: Remedy) => string): string {
  const detail = String(problem.detail ?? problem.title ?? '')
  const remedy = remedyOf(problem)
  return remedy && detail.endsWith(remedy.http) ? detail.slice(0, -remedy.http.length) + words(remedy) : detail
}
