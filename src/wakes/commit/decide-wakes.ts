import type { LogEvent } from '../../log/event.ts'
import type { Session } from '../../registry/sessions/session.ts'
import { newestLiveSession } from '../../registry/sessions/session-lists.ts'
import { type StreamCapability, spawns } from '../../registry/subscriptions/stream-capabilities.ts'
import type {
  Filters,
  PushSubscription,
  WakeSubscription,
  WakeTarget,
} from '../../registry/subscriptions/subscription.ts'
import type { Transaction } from '../../storage/database.ts'
import { inPieces, pieceMax } from '../../storage/in-pieces.ts'
import { presenceOf } from '../../words/presence.ts'
import { isDeliverable, targets } from '../../words/targets.ts'
import { concerns, isFollowed, isOwnAct, wakePolicyOf } from '../rules/match.ts'
import { decide, isWake, routeOf } from '../rules/policy.ts'
import { dueAt } from '../rules/window.ts'
import { type Candidate, isLong, type LongCandidate, readWhole, type WholeCandidate } from '../store/candidate-store.ts'
import type { Due } from '../store/due-store.ts'
import type { HoldRecord } from '../store/held-store.ts'

/** Ids of agents and tasks, each with the indexes of the events that concern it. */
export type EventsByAudience = ReadonlyMap<string, readonly number[]>

/** A subscription that falls due with an event. */
export interface DueWithEvent extends Due {
  readonly agentId: string
  /** The gateway that its stream is connected to; null: every gateway can send. */
  readonly streamGateway: string | null
  readonly event: LogEvent
}

/** The subscriptions that events make due, and the events that are held. */
export interface WakeDecisions {
  readonly due: readonly DueWithEvent[]
  readonly held: readonly HoldRecord[]
}

/** How many long filters and targets are read and parsed at once: a few ms. */
const longAtOnce = 16

/**
 * Decides which subscriptions the events wake, and which events are held. Writes nothing. Many candidates are decided about in pieces,
 * between which the event loop turns.
 */
export async function decideWakes(
  tx: Transaction,
  written: readonly LogEvent[],
  byAudience: EventsByAudience,
  candidates: readonly Candidate[],
): Promise<WakeDecisions> {
  const held: HoldRecord[] = []
  const due: DueWithEvent[] = []
  const sessionOf = sessionsOnce(tx)
  const decide = async (piece: readonly WholeCandidate[]): Promise<void> => {
    const parse = candidateParser()
    const looking = piece.map(async (candidate): Promise<DueWithEvent | undefined> => {
      const concerning = byAudience.get(candidate.audience)!.map((index) => written[index]!)
      const parsed = parse(candidate)
      const event = await firstToWake(tx, parsed, concerning, held, sessionOf)
      return event && dueWith(parsed, event, tx.now)
    })
    for (const one of await Promise.all(looking)) if (one) due.push(one)
  }
  const long: LongCandidate[] = []
  const short: WholeCandidate[] = []
  for (const candidate of candidates) {
    if (isLong(candidate)) long.push(candidate)
    else short.push(candidate)
  }
  await (await inPieces(short, pieceMax, decide)).answered
  const deciding = inPieces(long, longAtOnce, async (some) => decide(await readWhole(tx, some)))
  await (await deciding).answered
  return { due, held }
}

/** Reads the session of an agent once, however many subscriptions it decides about. */
function sessionsOnce(tx: Transaction): SessionOf {
  const known = new Map<string, ReturnType<SessionOf>>()
  return (agentId) => {
    const reading = known.get(agentId) ?? newestLiveSession(tx, agentId)
    known.set(agentId, reading)
    return reading
  }
}

/** Parses the JSON of candidates, each text once: hundreds of subscriptions of an agent may differ in their ids alone. */
function candidateParser() {
  const known = new Map<string, unknown>()
  const parsed = (text: string): unknown => {
    if (!known.has(text)) known.set(text, JSON.parse(text))
    return known.get(text)
  }
  return (candidate: WholeCandidate) => {
    if (candidate.kind === 'push') return candidate
    const filters = parsed(candidate.filters) as Filters
    const streamCapabilities = parsed(candidate.streamCapabilities) as StreamCapability[]
    return { ...candidate, filters, target: parsed(candidate.target) as WakeTarget, streamCapabilities }
  }
}

type ParsedCandidate = ReturnType<ReturnType<typeof candidateParser>>

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

/** Returns the first event that is to be sent to an idle subscription. Those that are not are added to `held`. */
async function firstToWake(
  tx: Transaction,
  candidate: ParsedCandidate,
  events: readonly LogEvent[],
  held: HoldRecord[],
  sessionOf: SessionOf,
): Promise<LogEvent | undefined> {
  const news = events.filter((event) => event.logId > candidate.cursorLogId)
  const [first] = await holdEvents(tx, candidate, news, held, sessionOf)
  const isSentFor = candidate.kind === 'push' || isDeliverable(candidate.harnessTarget)
  return candidate.dueAt === null && isSentFor ? first : undefined
}

type Subject =
  | Pick<
      WakeSubscription,
      'id' | 'kind' | 'agentId' | 'trigger' | 'filters' | 'harnessTarget' | 'target' | 'audience' | 'streamCapabilities'
    >
  | Pick<PushSubscription, 'kind'>

/** Returns the live session of an agent. */
type SessionOf = (agentId: string) => Promise<Session | undefined>

/**
 * Returns those of the events that a subscription matches and that wake its agent. Adds to `held` those that the route or presence
 * holds, with the reason. What a policy holds, own acts and what is followed are not added: all of them follow from the event, whenever it is read. Called
 * in the transaction that appends them. Presence is read only where it can change the decision. Source: S1-15…S1-21.
 */
export async function holdEvents(
  tx: Transaction,
  subject: Subject,
  events: readonly LogEvent[],
  held: HoldRecord[],
  sessionOf: SessionOf = (agentId) => newestLiveSession(tx, agentId),
): Promise<readonly LogEvent[]> {
  if (subject.kind === 'push') return events.filter((event) => concerns(subject, event))
  const { harnessTarget, audience, streamCapabilities } = subject
  const matching = events.filter(
    (event) =>
      concerns(subject, event) &&
      wakePolicyOf(event, audience) === 'immediate' &&
      !isOwnAct(subject, event) &&
      !isFollowed(subject, event),
  )
  if (matching.length === 0) return matching
  const isGated = targets[harnessTarget].isGated && !spawns(subject)
  const presence = presenceOf(isGated ? await sessionOf(audience) : undefined, tx.now)
  const route = routeOf(harnessTarget, [...streamCapabilities, ...presence.capabilities])
  const waking: LogEvent[] = []
  for (const event of matching) {
    const decision = decide('immediate', route, presence)
    if (isWake(decision)) waking.push(event)
    else held.push({ subscriptionId: subject.id, event, decision, presence: isGated ? presence.state : null })
  }
  return waking
}
