import type { Arrival, PushArrival } from './inbox.ts'

/** The events that one subscription should get, and those that it got. */
export interface Row {
  readonly subscription: string
  /** Events that were accepted and that it matches. */
  readonly accepted: number
  /** Of these, those that arrived at least once. */
  readonly delivered: number
  /** Of these, those that the gateway says it gave up. */
  readonly failed: number
  readonly requests: number
  /** Requests that said again what had come before, under the same eventId. */
  readonly repeats: number
  readonly faults: readonly string[]
}

export interface Owed {
  readonly subscription: string
  /** In log order. */
  readonly logIds: readonly number[]
  readonly failed: ReadonlySet<number>
  /** False where several are in flight at the same time: then only the chain is in order. */
  readonly inOrder: boolean
}

/**
 * Holds what came against what was owed: nothing missing but what was given up, each event under one eventId, first comings
 * in log order, each pointing at the one before it, digests over exactly the events of their range.
 */
export function account(owed: Owed, arrivals: readonly Arrival[]): Row {
  const { subscription, logIds, failed, inOrder } = owed
  const faults: string[] = []
  const emissions = new Map<string, Arrival>()
  for (const arrival of arrivals) {
    const first = emissions.get(arrival.eventId)
    if (!first) emissions.set(arrival.eventId, arrival)
    else if (!isSame(first, arrival)) faults.push(`${arrival.eventId} came again over another range`)
  }
  const position = new Map(logIds.map((logId, index) => [logId, index]))
  const ordered = [...emissions.values()]
  if (!inOrder) ordered.sort((a, b) => a.logId - b.logId)
  const delivered = new Set<number>()
  let newest = -1
  for (const emission of ordered) {
    const from = position.get(emission.fromLogId)
    const to = position.get(emission.logId)
    if (from === undefined || to === undefined) {
      faults.push(`${name(emission)} is none of its events`)
      continue
    }
    if (from <= newest) faults.push(`${name(emission)} came after logId ${logIds[newest]}`)
    newest = Math.max(newest, to)
    const prevLogId = logIds[from - 1] ?? null
    if (emission.prevLogId !== prevLogId)
      faults.push(`${name(emission)} says prevLogId ${emission.prevLogId}, not ${prevLogId}`)
    const covered = logIds.slice(from, to + 1)
    if (covered.length !== emission.eventCount || !pointsAt(emission, covered))
      faults.push(`${name(emission)} tells ${emission.eventCount} of the ${covered.length} events of its range`)
    for (const logId of covered) {
      if (delivered.has(logId)) faults.push(`logId ${logId} came under two eventIds, the second ${emission.eventId}`)
      delivered.add(logId)
    }
  }
  const missing = logIds.filter((logId) => !delivered.has(logId) && !failed.has(logId))
  if (missing.length > 0) faults.push(`${missing.length} are missing: ${missing.slice(0, 10)}`)
  return {
    subscription,
    accepted: logIds.length,
    delivered: delivered.size,
    failed: failed.size,
    requests: arrivals.length,
    repeats: arrivals.length - emissions.size,
    faults,
  }
}

/** The same for the push configs of some tasks: each task's states, in order, each under one eventId. */
export function accountPushes(states: ReadonlyMap<string, readonly string[]>, arrivals: readonly PushArrival[]): Row {
  const faults: string[] = []
  const seen = new Set<string>()
  const reported = new Map<string, string[]>()
  for (const { eventId, taskId, state } of arrivals) {
    if (seen.has(eventId)) continue
    seen.add(eventId)
    reported.set(taskId, [...(reported.get(taskId) ?? []), state])
  }
  for (const [taskId, owed] of states) {
    const got = reported.get(taskId) ?? []
    if (got.join() !== owed.join())
      faults.push(`task ${taskId} was ${owed} and is reported as ${got.join() || 'nothing'}`)
  }
  for (const taskId of reported.keys()) if (!states.has(taskId)) faults.push(`task ${taskId} has no push config`)
  return {
    subscription: `push configs of ${states.size} tasks`,
    accepted: [...states.values()].flat().length,
    delivered: seen.size,
    failed: 0,
    requests: arrivals.length,
    repeats: arrivals.length - seen.size,
    faults,
  }
}

function name(emission: Arrival): string {
  return `${emission.eventId} (logId ${emission.logId})`
}

function isSame(a: Arrival, b: Arrival): boolean {
  return (
    a.logId === b.logId && a.fromLogId === b.fromLogId && a.prevLogId === b.prevLogId && a.eventCount === b.eventCount
  )
}

/** A digest points at the first hundred of its events. */
function pointsAt({ refs }: Arrival, covered: readonly number[]): boolean {
  return refs === undefined || refs.join() === covered.slice(0, 100).join()
}
