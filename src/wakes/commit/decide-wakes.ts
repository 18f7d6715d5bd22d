import type { LogEvent } from '../../log/event.ts'
import type { StreamCapability } from '../../registry/subscriptions/stream-capabilities.ts'
import type { Filters, WakeTarget } from '../../registry/subscriptions/subscription.ts'
import { isDeliverable } from '../../registry/subscriptions/targets.ts'
import type { Transaction } from '../../storage/database.ts'
import { dueAt } from '../rules/window.ts'
import type { Candidate, Due } from '../store/due-store.ts'
import type { Held } from '../store/held-store.ts'
import { holdEvents } from './hold-events.ts'

/** Ids of agents and tasks, each with the indexes of the events that concern it. */
export type EventsByAudience = ReadonlyMap<string, readonly number[]>

/** A subscription that falls due with an event. */
export interface DueWithEvent extends Due {
  readonly agentId: string
  /** The gateway that its stream is connected to; null: every gateway can send. */
  readonly streamGateway: string | null
  readonly event: LogEvent
}

/** What events do to the subscriptions that they concern. */
export interface Decided {
  /** In the order of the candidates. */
  readonly due: readonly DueWithEvent[]
  readonly held: readonly Held[]
}

/** Decides which subscriptions the events wake, and which events are held. Writes nothing. */
export async function decideWakes(
  tx: Transaction,
  written: readonly LogEvent[],
  byAudience: EventsByAudience,
  candidates: readonly Candidate[],
): Promise<Decided> {
  const held: Held[] = []
  const parse = candidateParser()
  const looking = candidates.map(async (candidate): Promise<DueWithEvent | undefined> => {
    const concerning = byAudience.get(candidate.audience)!.map((index) => written[index]!)
    const parsed = parse(candidate)
    const event = await firstToWake(tx, parsed, concerning, held)
    return event && dueWith(parsed, event, tx.now)
  })
  const due = (await Promise.all(looking)).filter((one) => one !== undefined)
  return { due, held }
}

/** Parses the JSON of candidates, each text once: hundreds of subscriptions of an agent may differ in their ids alone. */
function candidateParser() {
  const known = new Map<string, unknown>()
  const parsed = (text: string): unknown => {
    if (!known.has(text)) known.set(text, JSON.parse(text))
    return known.get(text)
  }
  return (candidate: Candidate) => {
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
  held: Held[],
): Promise<LogEvent | undefined> {
  const news = events.filter((event) => event.logId > candidate.cursorLogId)
  const [first] = await holdEvents(tx, candidate, news, held)
  const isSentFor = candidate.kind === 'push' || isDeliverable(candidate.harnessTarget)
  return candidate.dueAt === null && isSentFor ? first : undefined
}
