import pRetry from 'p-retry'
import type { Clock } from '../lib/clock.ts'
import { OutboundError } from '../security/outbound-error.ts'
import type { OutboundFetch } from '../security/outbound-fetch.ts'
import type { Attempt, DeliveryOrder, DeliveryResult } from '../wakes/channel.ts'
import type { AttemptGate } from './attempt-gate.ts'
import { type AttemptOutcome, afterAttempt, attemptsMax } from './retry-policy.ts'

/** What one try sends. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Makes the request of one try: anew for each, so that its timestamp is fresh. */
export type BuildRequest = () => WebhookRequest | Promise<WebhookRequest>

export interface WebhookTools {
  readonly outbound: OutboundFetch
  readonly clock: Clock
  readonly random: () => number
  readonly gate: AttemptGate
  /** For one try: connecting, sending and the whole answer. */
  readonly timeoutMs: number
}

/** A stop lets the request in flight finish: to cut it would only have the receiver get it twice. */
const graceMs = 2_000

class AnotherTry extends Error {}

/** Tries until the schedule says that it is decided, going on where an earlier process left off. */
export async function deliverWithRetries(
  tools: WebhookTools,
  order: DeliveryOrder,
  buildRequest: BuildRequest,
): Promise<DeliveryResult> {
  const { clock, random } = tools
  const { signal } = order
  let attempts: readonly Attempt[] = order.attempts
  const stopped = (): DeliveryResult => ({ outcome: 'stopped', reason: null, attempts })

  const tryUntilDecided = async (): Promise<DeliveryResult> => {
    if (signal.aborted) return stopped()
    const tried = await takeTurn(tools, order, buildRequest)
    if (!tried) return stopped()
    const { attempt, outcome } = tried
    if (attempt.error === 'aborted') return stopped()
    attempts = [...attempts, attempt]
    const step = afterAttempt(outcome, attempts.length, { now: clock.now(), random })
    if (step.next === 'delivered') return { outcome: 'delivered', reason: null, attempts }
    if (step.next !== 'retry') return { outcome: step.next, reason: step.reason, attempts }
    if (!(await order.retryAt(attempts, clock.now() + step.delayMs))) return stopped()
    throw new AnotherTry()
  }
  try {
    // Nearly every wake is taken at once: the machinery of retries is for the others.
    return await tryUntilDecided()
  } catch (error) {
    if (!(error instanceof AnotherTry)) throw error
  }
  // The waiting is the policy's, not p-retry's: it may come from Retry-After, and it is on disk before it begins.
  return pRetry(tryUntilDecided, {
    retries: attemptsMax,
    minTimeout: 0,
    factor: 1,
    shouldRetry: ({ error }) => error instanceof AnotherTry,
  })
}

type Tried = { attempt: Attempt; outcome: AttemptOutcome }

/** A receiver that fails faster than this keeps nobody waiting. */
const promptMs = 1_000

/** One try when there is room for it. Undefined: stopped, or taken over, while it waited. */
async function takeTurn(
  tools: WebhookTools,
  order: DeliveryOrder,
  buildRequest: BuildRequest,
): Promise<Tried | undefined> {
  const { gate } = tools
  let request = await buildRequest()
  const origin = originOf(request.url)
  const turn = gate.enter(origin, order.signal)
  if (turn) {
    const held = await order.idle(turn)
    if (!(await turn)) return undefined
    if (!held) {
      gate.leave(origin, true)
      return undefined
    }
  }
  let prompt = true
  try {
    if (turn) request = await buildRequest() // with the time of now
    const tried = await tryOnce(tools, request, order.signal)
    prompt = tried.attempt.status !== null || tried.attempt.durationMs < promptMs
    return tried
  } finally {
    gate.leave(origin, prompt)
  }
}

function originOf(url: string): string {
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path < 0 ? url : url.slice(0, path)
}

/** One try. Never throws: no answer is an outcome too. */
export async function tryOnce(tools: WebhookTools, request: WebhookRequest, signal: AbortSignal): Promise<Tried> {
  const startedAt = tools.clock.now()
  const at = new Date(startedAt).toISOString()
  try {
    const answer = await tools.outbound.post({ timeoutMs: tools.timeoutMs, signal, graceMs, ...request })
    const { status, retryAfter, durationMs, bodySnippet } = answer
    const ok = status >= 200 && status < 300
    const attempt = { at, status, durationMs, error: null, ...(ok || !bodySnippet ? {} : { response: bodySnippet }) }
    return { attempt, outcome: { status, ...(retryAfter === undefined ? {} : { retryAfter }) } }
  } catch (error) {
    const kind = error instanceof OutboundError ? error.kind : 'network'
    return {
      attempt: { at, status: null, durationMs: Math.max(0, tools.clock.now() - startedAt), error: kind },
      outcome: { error: kind },
    }
  }
}
