import type { beginTurn } from '../../../recovery/begin-turn.ts'
import type { ReachedCap } from '../../../turns/facts.ts'
import type { Refusal } from '../../../turns/may-start.ts'
import type { Turn } from '../../../turns/turn.ts'
import { instant, instantOrNull } from '../instant.ts'

/** A turn that was begun, whatever its end. Instants are ISO 8601. */
export interface TurnView {
  readonly turnId: string
  /** `@donna` */
  readonly agent: string
  readonly act: Turn['act']
  readonly route: string
  readonly startedAt: string
  readonly subscriptionId: string | null
  readonly eventId: string | null
  /** The handles of those whose mail it is about. */
  readonly senders: readonly string[]
  readonly threadId: string | null
  /** null: its program has not said how it ended. `unknown`: nobody will. */
  readonly outcome: Turn['outcome']
  readonly detail: string | null
  readonly endedAt: string | null
  /** Its cost, as its harness says it; null: it says nothing. */
  readonly cost: Turn['cost']
}

/** The answer to a program that asks for a turn. `start`: it is booked, and begins. */
export interface TurnAnswer {
  readonly answer: 'start' | Refusal['answer']
  /** null: it does not begin. */
  readonly turnId: string | null
  /** The rule that is against it; null: none is. */
  readonly rule: string | null
  readonly why: string | null
  /** The kind of the cap that is reached; null: none is. Turns for others may begin where it is a sender's or a thread's. */
  readonly cap: ReachedCap['cap'] | null
  /** From then on it may be asked again with another answer; null: not known. */
  readonly until: string | null
}

export function turnView(turn: Turn, agent: string): TurnView {
  const { id, act, route, startedAt, subscriptionId, eventId, senders, threadId, outcome, detail, endedAt, cost } = turn
  return {
    turnId: id,
    agent,
    act,
    route,
    startedAt: instant(startedAt),
    subscriptionId,
    eventId,
    senders,
    threadId,
    outcome,
    detail,
    endedAt: instantOrNull(endedAt),
    cost,
  }
}

export function answerView(asked: Awaited<ReturnType<typeof beginTurn>>): TurnAnswer {
  if ('id' in asked) return { answer: 'start', turnId: asked.id, rule: null, why: null, cap: null, until: null }
  const { answer, rule, why, cap, until } = asked
  return { answer, turnId: null, rule, why, cap: cap?.cap ?? null, until: instantOrNull(until) }
}
