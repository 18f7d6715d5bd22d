import { Problem } from '../errors.ts'
import type { Ticket } from '../lib/fair-gate.ts'
import { outboundLimits } from '../security/outbound-limits.ts'
import type { Attempt, TestOrder } from '../wakes/channel.ts'
import { type BuildRequest, originOf, tryInPlace, type WebhookTools } from './attempts.ts'

type Order = Pick<TestOrder, 'subscription' | 'signal' | 'isProbe'>

const { testWait, testsOfAgent } = outboundLimits

/**
 * Makes the attempts of `wake/test`. They take places like all other attempts, on the account of the subscription's owner: a few
 * at the same time, each with a short wait. Throws `rate-limited` when there is no place.
 */
export function createTestAttempt(tools: WebhookTools): (order: Order, buildRequest: BuildRequest) => Promise<Attempt> {
  const running = new Map<string, number>()

  return async (order, buildRequest) => {
    if (order.isProbe) return attemptOnce(tools, order, buildRequest)
    const { agentId } = order.subscription
    const count = running.get(agentId) ?? 0
    if (count >= testsOfAgent.max) {
      throw noPlace('testsOfAgent', `This agent has ${testsOfAgent.max} tests under way. Wait for their answers.`, 1)
    }
    running.set(agentId, count + 1)
    try {
      return await attemptOnce(tools, order, buildRequest)
    } finally {
      const left = running.get(agentId)! - 1
      if (left === 0) running.delete(agentId)
      else running.set(agentId, left)
    }
  }
}

async function attemptOnce(
  tools: WebhookTools,
  { subscription, signal }: Order,
  buildRequest: BuildRequest,
): Promise<Attempt> {
  const place = await enterSoon(tools, subscription, originOf(subscription), signal)
  const tried = place && (await tryInPlace(tools, place, subscription, buildRequest, signal))
  if (tried === undefined || tried === 'no-room') {
    const detail = `No place was free within ${testWait.max} s: too many tries for this agent or its project are in flight. Try again later.`
    throw noPlace('testWait', detail, testWait.max)
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
  const cancel = clock.after(testWait.max * 1000, () => impatience.abort())
  try {
    return await entering
  } finally {
    cancel()
  }
}

function noPlace(limitName: 'testsOfAgent' | 'testWait', detail: string, retryAfterSeconds: number): Problem {
  const { max: limit } = outboundLimits[limitName]
  return new Problem('rate-limited', { detail, extra: { limit, limitName, retryAfterSeconds } })
}
