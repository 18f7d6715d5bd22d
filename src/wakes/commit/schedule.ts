import type { LogEvent, NewEvent } from '../../log/event.ts'
import type { StreamCapability } from '../../registry/subscriptions/stream-capabilities.ts'
import type { Filters, Subscription, WakeTarget } from '../../registry/subscriptions/subscription.ts'
import { isDeliverable } from '../../registry/subscriptions/targets.ts'
import type { Pipelined, Transaction } from '../../storage/database.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { dueAt } from '../rules/window.ts'
import { type Candidate, type Due, makeDue, readCandidates } from '../store/due-store.ts'
import { leaseIdle } from '../store/lease-store.ts'
import { holdEvents, mayBeHeld } from './hold-events.ts'

/** An idle subscription that was leased for one event. */
export interface EventLease {
  readonly subscription: Subscription
  readonly owner: string
  readonly event: LogEvent
}

/** Sends what falls due. */
export interface Scheduler {
  /** Called after a commit: something falls due then (ms since the epoch). */
  notifyDue(dueAt: number): void
  /** Returns an owner name to lease an agent's subscription with in the transaction itself; undefined: no room to send at once. */
  offer(agentId: string): string | undefined
  /** Sends for a subscription that was leased under an offered name. Called after the commit. */
  begin(lease: EventLease): void
  /** Whether other gateways share the work. */
  hasPeers(): boolean
  /** Called after a commit: something is due that other gateways may take first. */
  notifyYielded(): void
}

/** Ids of agents and tasks, each with the indexes of the events that concern it. */
export type EventsByAudience = ReadonlyMap<string, readonly number[]>

/** A task is an audience too: push configs name it. */
export function indexByAudience(events: readonly NewEvent[]): EventsByAudience {
  const byAudience = new Map<string, number[]>()
  for (const [index, { audience, taskId }] of events.entries()) {
    for (const key of taskId === undefined ? audience : [...audience, taskId]) {
      const known = byAudience.get(key)
      if (known) known.push(index)
      else byAudience.set(key, [index])
    }
  }
  return byAudience
}

/** Finds the subscriptions that events may wake. */
export async function findCandidates(
  tx: Transaction,
  projectId: string,
  events: readonly NewEvent[],
  byAudience: EventsByAudience,
): Promise<Candidate[]> {
  const idle: string[] = []
  const all: string[] = []
  for (const [audience, indexes] of byAudience) {
    const isHeld = indexes.some((index) => mayBeHeld(events[index]!, audience) || events[index]!.actorId === audience)
    if (isHeld) all.push(audience)
    else idle.push(audience)
  }
  return readCandidates(tx, projectId, { idle, all })
}

/** A subscription that falls due with an event. */
interface DueWithEvent extends Due {
  readonly agentId: string
  /** The gateway that its stream is connected to; null: every gateway can send. */
  readonly streamGateway: string | null
  readonly event: LogEvent
}

/**
 * Makes the subscriptions due that the events wake, or leases them to be sent for at once while there is room. A run begins with
 * the first of its subscription's events in the log.
 */
export async function scheduleWakes(
  tx: Transaction,
  written: readonly LogEvent[],
  byAudience: EventsByAudience,
  candidates: readonly Candidate[],
  sending: Scheduler,
): Promise<Pipelined> {
  const looking = candidates.map(async (candidate): Promise<DueWithEvent | undefined> => {
    const concerning = byAudience.get(candidate.audience)!.map((index) => written[index]!)
    const parsed = parse(candidate)
    const event = await firstToWake(tx, parsed, concerning)
    return event && dueWith(parsed, event, tx.now)
  })
  const offered = new Map<string, DueWithEvent & { readonly owner: string }>()
  const later: DueWithEvent[] = []
  for (const due of await Promise.all(looking)) {
    if (!due) continue
    const owner = due.dueAt <= tx.now ? offer(sending, due) : undefined
    if (owner === undefined) later.push(due)
    else offered.set(due.id, { ...due, owner })
  }
  let leased: readonly Subscription[] = []
  const leasing = leaseIdle(tx, [...offered.values()]).then((subscriptions) => {
    leased = subscriptions
  })
  tx.onCommit(() => {
    for (const subscription of leased) sending.begin({ subscription, ...offered.get(subscription.id)! })
    if (later.length > 0) sending.notifyDue(Math.min(...later.map((due) => due.dueAt)))
    if (later.some(({ streamGateway }) => streamGateway !== null)) sending.notifyYielded()
  })
  return pipelined(leasing, makeDue(tx, later))
}

/** Returns an owner to lease a subscription with at once: not one whose stream is connected to another gateway. */
function offer(sending: Scheduler, { agentId, streamGateway }: DueWithEvent): string | undefined {
  const owner = sending.offer(agentId)
  return streamGateway === null || owner?.startsWith(`${streamGateway}.`) ? owner : undefined
}

function parse(candidate: Candidate) {
  if (candidate.kind === 'push') return candidate
  const filters = JSON.parse(candidate.filters) as Filters
  const streamCapabilities = JSON.parse(candidate.streamCapabilities) as StreamCapability[]
  return { ...candidate, filters, target: JSON.parse(candidate.target) as WakeTarget, streamCapabilities }
}

type ParsedCandidate = ReturnType<typeof parse>

function dueWith(candidate: ParsedCandidate, event: LogEvent, now: number): DueWithEvent {
  const { id, agentId } = candidate
  const streamGateway = candidate.kind === 'push' ? null : candidate.streamGateway
  return {
    id,
    agentId,
    streamGateway,
    event,
    dueAt: dueAt(candidate, event.createdAt, now),
    skippedTo: event.logId - 1,
  }
}

/** Returns the first event that is to be sent to an idle subscription, and keeps why others are not. */
async function firstToWake(
  tx: Transaction,
  candidate: ParsedCandidate,
  events: readonly LogEvent[],
): Promise<LogEvent | undefined> {
  const news = events.filter((event) => event.logId > candidate.cursorLogId)
  const [first] = await holdEvents(tx, candidate, news)
  const isSentFor = candidate.kind === 'push' || isDeliverable(candidate.harnessTarget)
  return candidate.dueAt === null && isSentFor ? first : undefined
}
