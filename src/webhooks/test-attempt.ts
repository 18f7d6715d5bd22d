import { Problem } from '../errors.ts'
import type { Ticket } from '../lib/fair-gate.ts'
import type { Attempt, TestOrder } from '../wakes/channel.ts'
import { type BuildRequest, originOf, tryInPlace, type WebhookTools } from './attempts.ts'

type Order = Pick<TestOrder, 'subscription' | 'signal'>

/** The longest wait of a test for its place, in seconds. */
const waitSeconds = 5

/**
 * Makes the attempt of `wake/test`. It takes a place like all other attempts, on the account of the subscription's owner, after a short
 * wait. Throws `rate-limited` when there is no place.
 */
export async function attemptTest(
  tools: WebhookTools,
  { subscription, signal }: Order,
  buildRequest: BuildRequest,
): Promise<Attempt> {
  const place = await enterSoon(tools, subscription, originOf(subscription), signal)
  const tried = place && (await tryInPlace(tools, place, subscription, buildRequest, signal))
  if (tried === undefined || tried === 'no-room') {
    throw new Problem('rate-limited', {
      detail: `No place was free within ${waitSeconds} s: too many tries for this agent or its project are in flight. Try again later.`,
      extra: { retryAfterSeconds: waitSeconds },
    })
  }
  return tried.attempt
}

async function enterSoon(
  { gate, clock }: WebhookTools,
  subscription: Order['subscription'],
  origin: string,
  signal: AbortSignal,
): Promise<Ticket | undefined> {
  const impatience = new AbortController()
  const entering = gate.enter(subscription, origin, AbortSignal.any([signal, impatience.signal]))
  if (!(entering instanceof Promise)) return entering
  const cancel = clock.after(waitSeconds * 1000, () => impatience.abort())
  try {
    return await entering
  } finally {
    cancel()
  }
}
