import type { JsonObject } from '../../src/lib/json.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import type { Answer, TestAgent, TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
export type Json = any

const path = (id: string) => `/v1/wake-subscriptions/${id}`

export async function stateOf(gateway: TestGateway, agent: TestAgent, id: string): Promise<Json> {
  return (await gateway.call('GET', path(id), undefined, { key: agent.key })).body
}

/** Newest first. */
export async function deliveriesOf(gateway: TestGateway, agent: TestAgent, id: string): Promise<Json[]> {
  return (await gateway.call('GET', `${path(id)}/deliveries`, undefined, { key: agent.key })).body.deliveries
}

export function patch(gateway: TestGateway, agent: TestAgent, id: string, changes: JsonObject): Promise<Answer> {
  return gateway.call('PATCH', path(id), changes, { key: agent.key })
}

export function resync(gateway: TestGateway, agent: TestAgent, id: string, sinceLogId: number): Promise<Answer> {
  return gateway.call('POST', `${path(id)}/resync`, { sinceLogId }, { key: agent.key })
}

export function remove(gateway: TestGateway, agent: TestAgent, id: string): Promise<Answer> {
  return gateway.call('DELETE', path(id), undefined, { key: agent.key })
}

/** Waits for a status, letting timers that are due run. */
export function untilStatus(
  gateway: TestGateway,
  agent: TestAgent,
  id: string,
  status: string,
  clock?: FakeClock,
): Promise<Json> {
  return until(
    () => {
      clock?.advance(0)
      return stateOf(gateway, agent, id)
    },
    (state) => state.status === status,
  )
}

/** Waits until the newest delivery has this many attempts, and the given outcome, if any. */
export function untilAttempts(
  gateway: TestGateway,
  agent: TestAgent,
  id: string,
  count: number,
  clock?: FakeClock,
  outcome?: string,
): Promise<Json> {
  return until(
    async () => {
      clock?.advance(0)
      return (await deliveriesOf(gateway, agent, id))[0]
    },
    (delivery) => delivery?.attempts.length === count && (outcome === undefined || delivery.outcome === outcome),
  )
}

/**
 * Moves time on in steps until the check passes. After each step pending work can run. A read that asks the gateway keeps time from
 * running away from it: with steps of a lease or more, a run would lose each lease before it has used it.
 */
export function advanceUntil<T>(
  clock: FakeClock,
  stepMs: number,
  read: () => T | Promise<T>,
  check: (value: T) => boolean,
): Promise<T> {
  const step = () => {
    clock.advance(stepMs)
    return read()
  }
  return until(step, check, undefined, 5)
}

/** The whole log, or the events of one type. */
export async function eventsOf(gateway: TestGateway, type?: string): Promise<Json[]> {
  const events: Json[] = []
  for (let since = 0, more = true; more; ) {
    const { body } = await gateway.call('GET', `/v1/events?since=${since}&limit=1000`)
    events.push(...body.events.filter((event: Json) => type === undefined || event.type === type))
    since = body.nextSince
    more = body.more
  }
  return events
}

export async function sendMany(gateway: TestGateway, to: string, count: number, from = 0): Promise<void> {
  const texts = Array.from({ length: count }, (_, i) => `task ${from + i}`)
  for (let i = 0; i < count; i += 50) {
    await Promise.all(texts.slice(i, i + 50).map((text) => gateway.send(to, text)))
  }
}

export function logIdsOf(wakes: readonly { body: Json }[]): number[] {
  return wakes.map(({ body }) => body.logId)
}

/** Every event once, in order, each pointing at the one before it. */
export function chainOf(wakes: readonly { body: Json }[]): [prevLogId: number | null, logId: number][] {
  return wakes.map(({ body }) => [body.prevLogId, body.logId])
}
