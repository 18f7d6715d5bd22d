import pRetry from 'p-retry'
import type { Clock } from '../lib/clock.ts'
import type { Place } from '../lib/fair-gate.ts'
import type { Logger } from '../logger.ts'
import type { Subscription } from '../registry/subscriptions/subscription.ts'
import { NameError, OutboundError } from '../security/outbound-error.ts'
import type { OutboundFetch } from '../security/outbound-fetch.ts'
import type { AttemptLog } from '../wakes/attempt-log.ts'
import type { Attempt, DeliveryOrder, DeliveryResult } from '../wakes/channel.ts'
import { attemptsKept, isLong, retryForSecondsOf, trimmed } from '../wakes/rules/retry-schedule.ts'
import type { AttemptGate } from './attempt-gate.ts'
import { type AttemptOutcome, afterAttempt } from './retry-policy.ts'

/** What one attempt sends. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** Builds the request of one attempt: each has its own timestamp. */
export type BuildRequest = () => WebhookRequest | Promise<WebhookRequest>

export interface WebhookTools {
  readonly outbound: OutboundFetch
  readonly clock: Clock
  readonly random: () => number
  readonly gate: AttemptGate
  readonly log: Logger
  readonly attempts: AttemptLog
  /** The deadline of one attempt: connecting, sending and the whole answer. */
  readonly timeoutMs: number
}

/** A stop lets the request in flight finish: if it were cut, the receiver would get it twice. */
const graceMs = 2_000

class AnotherTry extends Error {}

/** Attempts until the retry policy has a result, and continues where an earlier process stopped. */
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
    attempts = trimmed([...attempts, attempt])
    tools.attempts.note(order, attempt, attempts.length)
    const firstAt = Date.parse(attempts[0]!.at)
    const context = { now: clock.now(), firstAt, retryForSeconds: retryForSecondsOf(order.subscription), random }
    const step = afterAttempt(outcome, attempts.length, context)
    if (step.next === 'delivered') return { outcome: 'delivered', reason: null, attempts }
    if (step.next === 'unfit') return { outcome: 'failed', reason: step.reason, attempts, isOfEvent: true }
    if (step.next !== 'retry') return { outcome: step.next, reason: step.reason, attempts }
    if (isLong(attempts) && !(await order.keep(attempts))) return stopped()
    if (!(await order.retryAt(attempts, clock.now() + step.delayMs))) return stopped()
    throw new AnotherTry()
  }
  try {
    // Nearly every wake is delivered by its first attempt, without p-retry.
    return await tryUntilDecided()
  } catch (error) {
    if (!(error instanceof AnotherTry)) throw error
  }
  // The retry policy sets the wait, not p-retry: it may come from Retry-After, and it is recorded before it begins.
  return pRetry(tryUntilDecided, {
    // Longer waits than a few seconds end the run: the next one goes on from the record.
    retries: attemptsKept,
    minTimeout: 0,
    factor: 1,
    shouldRetry: ({ error }) => error instanceof AnotherTry,
  })
}

type Tried = { attempt: Attempt; outcome: AttemptOutcome }

/** A receiver that fails faster than this does not count as slow. */
const promptMs = 1_000
/** The wait, before jitter, of an attempt whose name look-up found no place. */
const putOffMs = 2_000

/** Makes one attempt when there is room for it. Undefined: stopped, or taken over, while it waited. */
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
    // The limit is ours: no attempt was made, and nothing is counted.
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

/** Makes one attempt in a place that was taken for it, and frees the place. */
export async function tryInPlace(
  tools: WebhookTools,
  place: Place,
  subscription: Subscription,
  buildRequest: BuildRequest,
  signal: AbortSignal,
): Promise<Tried | 'no-room'> {
  let prompt = true
  try {
    // Built only now: what still waits signs nothing, and the timestamp is that of the attempt.
    const tried = await tryOnce(tools, subscription, await buildRequest(), signal)
    if (tried !== 'no-room') prompt = tried.attempt.status !== null || tried.attempt.durationMs < promptMs
    return tried
  } finally {
    tools.gate.leave(place, prompt)
  }
}

/** Returns scheme, host and port of a subscription's URL. */
export function originOf({ target: { url = '' } }: Subscription): string {
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path < 0 ? url : url.slice(0, path)
}

/** Makes one attempt. Never throws: no answer is an outcome too. */
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
    // Both causes are retried alike: the number of attempts must not reveal what the word hides.
    return { attempt: { ...attempt, isWithheld: true }, outcome: { error: 'dns' } }
  }
}
