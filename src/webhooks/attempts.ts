import pRetry from 'p-retry'
import type { Clock } from '../lib/clock.ts'
import { promptMs, type Ticket } from '../lib/fair-gate.ts'
import { isoTime } from '../lib/iso-time.ts'
import type { Logger } from '../logger/logger.ts'
import type { Subscription } from '../registry/subscriptions/subscription.ts'
import { NameError, OutboundError } from '../security/outbound-error.ts'
import type { OutboundFetch, OutboundResponse } from '../security/outbound-fetch.ts'
import type { AttemptLog } from '../wakes/attempt-log.ts'
import type { Attempt, DeliveryOrder, DeliveryResult } from '../wakes/channel.ts'
import { attemptsKept, isLong, retryForSecondsOf, trimmed } from '../wakes/rules/retry-schedule.ts'
import { targets } from '../words/targets.ts'
import type { AttemptGate } from './attempt-gate.ts'
import { type AttemptOutcome, afterAttempt, isDelivered } from './retry-policy.ts'

/** The request of one attempt. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
  /** Called once, when the attempt is over or the request is not sent after all. */
  readonly done?: () => void
}

/** Builds the request of one attempt: each has its own timestamp. `no-room`: its body has to wait for others; the attempt is postponed. */
export type BuildRequest = () => WebhookRequest | 'no-room' | Promise<WebhookRequest | 'no-room'>

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

class AnotherTry extends Error {}

/** Attempts until the retry policy has a result, and continues where an earlier process stopped. */
export async function deliverWithRetries(
  tools: WebhookTools,
  order: DeliveryOrder,
  buildRequest: BuildRequest,
): Promise<DeliveryResult> {
  // Nearly every wake is delivered by its first attempt, without p-retry.
  let next = await tryUntilDecided(tools, order, order.attempts, buildRequest)
  if ('outcome' in next) return next
  const tryAgain = async (): Promise<DeliveryResult> => {
    if ('attempts' in next) next = await tryUntilDecided(tools, order, next.attempts, buildRequest)
    if ('outcome' in next) return next
    throw new AnotherTry()
  }
  // The retry policy sets the wait, not p-retry: it may come from Retry-After, and it is recorded before it begins.
  return pRetry(tryAgain, {
    // Longer waits than a few seconds end the run: the next one goes on from the record.
    retries: attemptsKept,
    minTimeout: 0,
    factor: 1,
    shouldRetry: ({ error }) => error instanceof AnotherTry,
  })
}

/** The attempts so far, of an emission that is to be tried once more. */
type Undecided = Pick<DeliveryResult, 'attempts'>

/** Makes one attempt, and waits for the time of the next where the retry policy wants one. */
async function tryUntilDecided(
  tools: WebhookTools,
  order: DeliveryOrder,
  before: readonly Attempt[],
  buildRequest: BuildRequest,
): Promise<DeliveryResult | Undecided> {
  const { clock, random } = tools
  const { signal, subscription } = order
  if (signal.aborted) return stopped(before)
  let tried = await tryWithPlace(tools, order, buildRequest)
  while (tried === 'no-room') {
    // The limit is ours: no attempt was made, and nothing is counted.
    if (!(await order.retryAt(before, clock.now() + Math.ceil(putOffMs * (1 + random()))))) return stopped(before)
    tried = await tryWithPlace(tools, order, buildRequest)
  }
  if (!tried || tried.attempt.error === 'aborted') return stopped(before)
  const { attempt, outcome } = tried
  const attempts = before.length === 0 ? [attempt] : trimmed([...before, attempt])
  tools.attempts.note(order, attempt, attempts.length)
  if (isDelivered(outcome)) return { outcome: 'delivered', reason: null, attempts }
  const firstAt = Date.parse(attempts[0]!.at)
  const refusesByEvent = subscription.kind === 'wake' && targets[subscription.harnessTarget].refusesByEvent
  const retryForSeconds = retryForSecondsOf(subscription)
  const context = { now: clock.now(), firstAt, retryForSeconds, random, refusesByEvent }
  const step = afterAttempt(outcome, attempts.length, context)
  if (step.next === 'delivered') return { outcome: 'delivered', reason: null, attempts }
  if (step.next === 'failed' && step.isOfEvent)
    return { outcome: 'failed', reason: step.reason, attempts, isOfEvent: true }
  if (step.next !== 'retry') return { outcome: step.next, reason: step.reason, attempts }
  if (isLong(attempts) && !(await order.keep(attempts))) return stopped(attempts)
  return (await order.retryAt(attempts, clock.now() + step.delayMs)) ? { attempts } : stopped(attempts)
}

const stopped = (attempts: readonly Attempt[]): DeliveryResult => ({ outcome: 'stopped', reason: null, attempts })

type AttemptResult = { attempt: Attempt; outcome: AttemptOutcome }

/** The wait, before jitter, of an attempt whose name look-up, or whose body, found no place. */
const putOffMs = 2_000

/** Makes one attempt when there is room for it. Undefined: stopped, or taken over, while it waited. */
function tryWithPlace(
  tools: WebhookTools,
  order: DeliveryOrder,
  buildRequest: BuildRequest,
): Promise<AttemptResult | 'no-room' | undefined> {
  const { subscription, signal } = order
  const attempt = (place: Ticket) => tryInPlace(tools, place, subscription, buildRequest, signal)
  const entering = tools.gate.enter(subscription, originOf(subscription), signal)
  if (!(entering instanceof Promise)) return attempt(entering)
  return waitForPlace(tools, order, entering).then((place) => place && attempt(place))
}

async function waitForPlace(
  { gate }: WebhookTools,
  order: DeliveryOrder,
  entering: Promise<Ticket | undefined>,
): Promise<Ticket | undefined> {
  const held = await order.idle(entering)
  const place = await entering
  if (held || !place) return place
  gate.leave(place, true)
  return undefined
}

/** Makes one attempt in a place that was taken for it, and frees the place. No answer is an outcome too. */
export async function tryInPlace(
  tools: WebhookTools,
  place: Ticket,
  subscription: Subscription,
  buildRequest: BuildRequest,
  signal: AbortSignal,
): Promise<AttemptResult | 'no-room'> {
  const { clock, timeoutMs } = tools
  let prompt = true
  let done: WebhookRequest['done']
  try {
    // Built only now: what still waits signs nothing, and the timestamp is that of the attempt.
    const built = buildRequest()
    const request = built instanceof Promise ? await built : built
    if (request === 'no-room') return request
    const { url, headers, body } = request
    done = request.done
    const startedAt = clock.now()
    let answer: OutboundResponse
    try {
      // A stop lets it finish: if it were cut, the receiver would get it twice.
      const times = { timeoutMs, signal, graceMs: timeoutMs }
      answer = await tools.outbound.post({ url, headers, body, ...times, payer: subscription })
    } catch (error) {
      const tried = triedInVain(tools, subscription, error, startedAt)
      if (tried !== 'no-room') prompt = tried.attempt.durationMs < promptMs
      return tried
    }
    return answered(answer, startedAt)
  } finally {
    done?.()
    tools.gate.leave(place, prompt)
  }
}

/** Returns scheme, host and port of a subscription's URL. */
export function originOf({ target: { url = '' } }: Subscription): string {
  const path = url.indexOf('/', url.indexOf('//') + 2)
  return path < 0 ? url : url.slice(0, path)
}

function answered(answer: OutboundResponse, startedAt: number): AttemptResult {
  const { status, retryAfter, durationMs, bodySnippet, isPublic, fault } = answer
  const detail = fault === undefined ? {} : { detail: fault }
  const attempt: Attempt = { at: isoTime(startedAt), status, durationMs, error: null, ...detail }
  const outcome = retryAfter === undefined ? { status } : { status, retryAfter }
  if (isDelivered(outcome) || !bodySnippet) return { attempt, outcome }
  const response = { response: bodySnippet, ...(isPublic ? {} : { isWithheld: true }) }
  return { attempt: { ...attempt, ...response }, outcome }
}

function triedInVain(
  { clock, log }: WebhookTools,
  subscription: Subscription,
  error: unknown,
  startedAt: number,
): AttemptResult | 'no-room' {
  const failure = error instanceof OutboundError ? error : new OutboundError('network', 'the exchange failed', error)
  const { kind } = failure
  if (kind === 'busy') return 'no-room'
  const durationMs = Math.max(0, clock.now() - startedAt)
  const attempt: Attempt = { at: isoTime(startedAt), status: null, durationMs, error: kind, detail: failure.message }
  if (!(failure instanceof NameError)) return { attempt, outcome: { error: kind } }
  const about = { subscriptionId: subscription.id, error: kind, cause: (failure.cause as Error | undefined)?.message }
  log.info(about, 'wake.unreachable')
  // Both causes are retried alike: the number of attempts must not reveal what the word hides.
  return { attempt: { ...attempt, isWithheld: true }, outcome: { error: 'dns' } }
}
