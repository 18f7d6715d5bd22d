import type { EffectiveGate } from '../registry/recovery/gate.ts'
import type { Recovery, RecoveryMode } from '../registry/recovery/recovery.ts'
import type { Session } from '../registry/sessions/session.ts'
import type { HarnessTarget } from '../words/targets.ts'

/** Why anything may be done for an agent at all: unread mail that may wake it, and open tasks that it works on. */
export interface Reason {
  /** Changes when something new waits: an act happens once for each. */
  readonly key: string
  readonly unread: number
  readonly openTasks: number
  /** ms since the epoch */
  readonly oldestAt: number
  /** The ids of those who wait, at most twenty. */
  readonly senderIds: readonly string[]
}

/** The way of a nudge: an open subscription, and the most that its wakes have proved. */
export interface NudgeRoute {
  readonly subscriptionId: string
  readonly harnessTarget: HarnessTarget
  /** True: it has proved that it reaches the harness. */
  readonly isProven: boolean
  /** When it last did, ms since the epoch; null: never. */
  readonly provedAt: number | null
}

/** Why recovery does nothing for anybody at the moment: the fault may be on this side. */
export type Trouble = 'gateway_just_started' | 'clock_is_wrong' | 'machine_slept' | 'gateway_overloaded'

/** Everything that is asked about any turn. Instants in ms since the epoch. */
export interface TurnFacts {
  readonly now: number
  readonly recovery: Pick<Recovery, 'parked'>
  /** True: another program of the agent has begun a turn for the same mail. */
  readonly isTaken?: boolean
  /** The cap that is reached. */
  readonly cap?: ReachedCap | null
}

/** A cap of turns that is reached. */
export interface ReachedCap {
  readonly cap: 'agent' | 'sender' | 'thread'
  /** When its window opens again, ms since the epoch. */
  readonly until: number
}

/** Everything that a decision of recovery about one agent looks at. Instants in ms since the epoch. */
export interface Facts extends TurnFacts {
  readonly trouble: Trouble | null
  readonly gate: EffectiveGate
  readonly reason: Reason | null
  /** The live session. */
  readonly session: Session | null
  /** The newest session that has ended. */
  readonly former: Session | null
  /** The sessions before it, as far as they may have ended since the act in flight was ordered. */
  readonly earlier: readonly Session[]
  /** The preferred open route into the live session. */
  readonly route: NudgeRoute | null
  /** When the newest wake of the agent arrived, by any route; null: none has. */
  readonly wokenAt: number | null
  readonly recovery: Recovery
  /** How many looks in a row have found it stale, this one included. */
  readonly staleRounds: number
}

/** When a harness last did something: an act of its own, or a turn that was seen; the start of the session where it did nothing yet. */
export function lifeOf({ actedAt, createdAt }: Pick<Session, 'actedAt' | 'createdAt'>): number {
  return Math.max(actedAt, createdAt)
}

/** The acts of one mode within the last hour, the oldest first. */
export function recentActs({ acts }: Pick<Recovery, 'acts'>, mode: RecoveryMode, now: number): Recovery['acts'] {
  return acts.filter((act) => act.mode === mode && act.at > now - hourMs && act.at <= now)
}

/** When the last act was ordered, ms since the epoch; 0: none was, or a person has begun the count again. */
export function lastActOf({ acts }: Pick<Recovery, 'acts'>): number {
  return acts.at(-1)?.at ?? 0
}

export const hourMs = 3_600_000
/** An account of a bridge that is older proves nothing about today. */
export const accountStaleMs = 2 * 60_000
