import pRetry from 'p-retry'
import type { Clock } from '../lib/clock.ts'
import type { Place } from '../lib/fair-gate.ts'
import type { Logger } from '../logger.ts'
import type { Subscription } from '../registry/subscriptions/subscription.ts'
import { NameError, OutboundError } from '../security/outbound-error.ts'
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
  readonly log: Logger
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
    const tried = await takeTurn(tools, order, attempts, buildRequest)
    if (!tried) return stopped()
    const { attempt, outcome } = tried
    if (attempt.error === 'aborted') return stopped()
    attempts = [...attempts, attempt]
    const step = afterAttempt(outcome, attempts.length, { now: clock.now(), random })
    if (step.next === 'delivered') return { outcome: 'delivered', reason: null, attempts }
    if (step.next === 'unfit') return { outcome: 'failed', reason: step.reason, attempts, isOfEvent: true }
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
/** When a try that found no place for its look-up is made again, before jitter. */
const putOffMs = 2_000

/** One try when there is room for it. Undefined: stopped, or taken over, while it waited. */
async function takeTurn(
  tools: WebhookTools,
  order: DeliveryOrder,
  attempts: readonly Attempt[],
  buildRequest: BuildRequest,
): Promise<Tried | undefined> {
  const { gate, clock, random } = tools
  const { subscription, signal } = order
  const origin = originOf(subscription)
  for (;;) {
    const entering = gate.enter(subscription, origin, signal)
    const place = entering instanceof Promise ? await waitForPlace(tools, order, entering) : entering
    if (!place) return undefined
    const tried = await tryInPlace(tools, place, subscription, buildRequest, signal)
    if (tried !== 'no-room') return tried
    // The bounds are ours: the try was not made, and nothing is counted.
    if (!(await order.retryAt(attempts, clock.now() + Math.ceil(putOffMs * (1 + random()))))) return undefined
  }
}

async function waitForPlace(
  { gate }: WebhookTools,
  order: DeliveryOrder,
  turn: Promise<Place | undefined>,
): Promise<Place | undefined> {
  const held = await order.idle(turn)
  const place = await turn
  if (held || !place) return place
  gate.leave(place, true)
  return undefined
}

/** One try in a place that was taken for it, which it gives back. */
export async function tryInPlace(
  tools: WebhookTools,
  place: Place,
  subscription: Subscription,
  buildRequest: BuildRequest,
  signal: AbortSignal,
): Promise<Tried | 'no-room'> {
  let prompt = true
  try {
    // Only now: nothing is signed for who still waits, and the time is that of the try.
    const tried = await tryOnce(tools, subscription, await buildRequest(), signal)
    if (tried !== 'no-room') prompt = tried.attempt.status !== null || tried.attempt.durationMs < promptMs
    return tried
  } finally {
    tools.gate.leave(place, prompt)
  }
}

/** Scheme, host and port of a subscription's URL: whom its tries burden. */
export function originOf({ target }: Subscription): string {
  const { url = '' } = target as { url?: string }
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path < 0 ? url : url.slice(0, path)
}

/** One try. Never throws: no answer is an outcome too. */
async function tryOnce(
  tools: WebhookTools,
  subscription: Subscription,
  request: WebhookRequest,
  signal: AbortSignal,
): Promise<Tried | 'no-room'> {
  const { outbound, clock, timeoutMs } = tools
  const startedAt = clock.now()
  const at = new Date(startedAt).toISOString()
  try {
    const answer = await outbound.post({ timeoutMs, signal, graceMs, payer: subscription, ...request })
    const { status, retryAfter, durationMs, bodySnippet, isPublic } = answer
    const ok = status >= 200 && status < 300
    const response = ok || !bodySnippet ? {} : { response: bodySnippet, ...(isPublic ? {} : { isWithheld: true }) }
    const attempt = { at, status, durationMs, error: null, ...response }
    return { attempt, outcome: { status, ...(retryAfter === undefined ? {} : { retryAfter }) } }
  } catch (error) {
    const failure = error instanceof OutboundError ? error : new OutboundError('network', 'the exchange failed', error)
    const { kind } = failure
    if (kind === 'busy') return 'no-room'
    const attempt = { at, status: null, durationMs: Math.max(0, clock.now() - startedAt), error: kind }
    if (!(failure instanceof NameError)) return { attempt, outcome: { error: kind } }
    const about = { subscriptionId: subscription.id, error: kind, cause: (failure.cause as Error | undefined)?.message }
    tools.log.info(about, 'wake.unreachable')
    // Tried again alike, or the number of tries would tell what the word does not.
    return { attempt: { ...attempt, isWithheld: true }, outcome: { error: 'dns' } }
  }
}
