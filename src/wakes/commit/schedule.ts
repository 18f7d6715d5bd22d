import type { LogEvent, NewEvent } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { PipelinedStatements, Transaction } from '../../storage/database.ts'
import { inPieces, pieceMax } from '../../storage/in-pieces.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { eventTypes, type Trigger } from '../../words/events.ts'
import { mayWake } from '../rules/match.ts'
import { type Candidate, readCandidates } from '../store/candidate-store.ts'
import { makeDue } from '../store/due-store.ts'
import { insertHeld } from '../store/held-store.ts'
import type { KeptCounts } from '../store/kept-counts.ts'
import { leaseIdle } from '../store/lease-store.ts'
import type { DueWithEvent, EventsByAudience, WakeDecisions } from './decide-wakes.ts'

/** How many subscriptions are leased in one transaction that appends events, in all and of one agent. The others become due. */
const leasesMax = 256
const leasesOfAgent = 32

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
  /** True when other gateways share the work. */
  hasPeers(): boolean
  /** Called after a commit: something is due that other gateways may take first. */
  notifyYielded(): void
}

/** A task is an audience too: push configs name it. */
export function indexByAudience(events: readonly NewEvent[]): EventsByAudience {
  const byAudience = new Map<string, number[]>()
  const note = (key: string, index: number): void => {
    const known = byAudience.get(key)
    if (known) known.push(index)
    else byAudience.set(key, [index])
  }
  for (let index = 0; index < events.length; index++) {
    const { audience, taskId } = events[index]!
    for (const key of audience) note(key, index)
    if (taskId !== undefined) note(taskId, index)
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
  const notOwn: string[] = []
  const triggers = new Set<Trigger | null>()
  for (const [audience, indexes] of byAudience) {
    const waking = indexes.map((index) => events[index]!).filter((event) => mayWake(event, audience))
    if (waking.length === 0) continue
    for (const { type } of waking) triggers.add(eventTypes[type])
    if (waking.every(({ actorId }) => actorId === audience)) notOwn.push(audience)
    else idle.push(audience)
  }
  const isWanted = (candidate: Candidate) => candidate.kind === 'push' || triggers.has(candidate.trigger)
  return readCandidates(tx, projectId, { idle, notOwn }, isWanted)
}

/**
 * Makes the subscriptions due that the events wake, or leases them to be sent for at once while there is room, and keeps why others
 * are not. A run begins with the first of its subscription's events in the log. What was held is written first: the end of a run in
 * the same transaction reads it.
 */
export async function scheduleWakes(
  tx: Transaction,
  decided: WakeDecisions,
  sending: Scheduler,
  kept: KeptCounts,
): Promise<PipelinedStatements> {
  const holding = await inPieces(decided.held, pieceMax, (piece) => insertHeld(tx, piece))
  const { offered, later } = divide(decided.due, sending, tx.now)
  const leased: Subscription[] = []
  const leasing = await inPieces([...offered.values()], pieceMax, async (piece) => {
    leased.push(...(await leaseIdle(tx, piece)))
  })
  tx.onCommit(() => {
    for (const { subscriptionId } of decided.held) kept.add(subscriptionId)
    for (const subscription of leased) sending.begin({ subscription, ...offered.get(subscription.id)! })
    if (later.length > 0) sending.notifyDue(later.reduce((first, { dueAt }) => Math.min(first, dueAt), Infinity))
    if (later.some(({ streamGateway }) => streamGateway !== null)) sending.notifyYielded()
  })
  const making = await inPieces(later, pieceMax, (piece) => makeDue(tx, piece))
  return pipelined(holding.answered, leasing.answered, making.answered)
}

interface Divided {
  /** By the id of the subscription. */
  readonly offered: ReadonlyMap<string, DueWithEvent & { readonly owner: string }>
  readonly later: readonly DueWithEvent[]
}

/** Divides what falls due into what is leased at once, a bounded number, and what becomes due in the store. */
function divide(dues: readonly DueWithEvent[], sending: Scheduler, now: number): Divided {
  const offered = new Map<string, DueWithEvent & { readonly owner: string }>()
  const later: DueWithEvent[] = []
  const ofAgent = new Map<string, number>()
  for (const due of dues) {
    const count = ofAgent.get(due.agentId) ?? 0
    const hasRoom = due.dueAt <= now && count < leasesOfAgent && offered.size < leasesMax
    const owner = hasRoom ? offer(sending, due) : undefined
    if (owner === undefined) later.push(due)
    else {
      offered.set(due.id, { owner, ...due })
      ofAgent.set(due.agentId, count + 1)
    }
  }
  return { offered, later }
}

/** Returns an owner to lease a subscription with at once: not one whose stream is connected to another gateway. */
function offer(sending: Scheduler, { agentId, streamGateway }: DueWithEvent): string | undefined {
  const owner = sending.offer(agentId)
  return streamGateway === null || owner?.startsWith(`${streamGateway}.`) ? owner : undefined
}
