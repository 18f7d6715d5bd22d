import { expect } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import type { ProcessClient } from './process-client.ts'
import type { ReceivedWake } from './receiver.ts'

/** The first coming of every event that a receiver got, in the order of their coming. */
export function firstArrivals(wakes: readonly ReceivedWake[]): ReceivedWake[] {
  const seen = new Set<number>()
  return wakes.filter(({ body }) => !seen.has(body.logId) && seen.add(body.logId))
}

/**
 * Expects at-least-once delivery in order, at the receiver of one subscription that gets single events: first comings in log
 * order, each pointing at the one before it, and every repetition the same wake again.
 */
export function expectOrderlyWakes(wakes: readonly ReceivedWake[]): void {
  const arrivals = firstArrivals(wakes)
  const logIds = arrivals.map(({ body }) => body.logId)
  expect(logIds).toEqual([...logIds].sort((a, b) => a - b))
  expect(arrivals.map(({ body }) => body.prevLogId)).toEqual([null, ...logIds.slice(0, -1)])
  const first = new Map(arrivals.map(({ body }) => [body.logId, { ...body, emittedAt: undefined }]))
  for (const { body } of wakes) expect({ ...body, emittedAt: undefined }).toEqual(first.get(body.logId))
}

export interface LogEntry {
  readonly logId: number
  readonly type: string
  readonly data: JsonObject
}

/** Reads the events of the log, all of them or those that concern one agent: the truth that deliveries are measured by. */
export async function readLog(client: ProcessClient, key = client.adminKey): Promise<LogEntry[]> {
  const entries: LogEntry[] = []
  for (let since = 0; ; ) {
    const { status, body } = await client.call('GET', `/v1/events?since=${since}&limit=1000`, undefined, { key })
    if (status !== 200) throw new Error(`events: ${JSON.stringify(body)}`)
    entries.push(...body.events)
    if (!body.more) return entries
    since = body.nextSince
  }
}
