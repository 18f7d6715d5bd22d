import type { NeedKind } from '../../../needs/need.ts'
import type { Trigger } from '../../../words/events.ts'

/** One thing that waits for a person, as it is read. Instants are ISO 8601. */
export interface NeedFields {
  readonly kind: NeedKind
  /** Whose it is; null: the project's. */
  readonly agent: string | null
  readonly since: string
  /** The question or the report, in the words of an agent or of the gateway; at most 2,000 characters. */
  readonly text: string
  /** The task that it concerns. */
  readonly taskId?: string
  /** Of the task, for `expectedVersion`. */
  readonly version?: number
  /** The agent at whose A2A address the task is. */
  readonly sentTo?: string
  /** The party that asked for the task. */
  readonly originator?: string
  readonly messageId?: string
  readonly threadId?: string
  readonly sessionId?: string
  readonly approvalId?: string
  readonly approvalKind?: 'permission' | 'question'
  readonly subscriptionId?: string
  readonly trigger?: Trigger
  /** The end of a park, and of an approval; null: until a person acts. When a receiver is tried again. */
  readonly until?: string | null
}

/** One thing that waits for a person. */
export interface NeedView extends NeedFields {
  /** The same as long as it waits. */
  readonly id: string
  /** The operators of the project have put it off until then. */
  readonly snoozedUntil?: string
}

/** Needs that are not in the list: it has five of an agent and kind, the longest waits. With `agent` it has all. */
export interface FoldedView {
  readonly kind: NeedKind
  readonly agent: string | null
  /** How many more there are; of an agent and kind 1,000 are counted. */
  readonly count: number
  /** True when there are more than were counted. */
  readonly atLeast: boolean
}

export interface NeedsView {
  /** The longest wait first. */
  readonly needs: readonly NeedView[]
  /** True when there are more than are listed. */
  readonly more: boolean
  readonly folded: readonly FoldedView[]
  /** How many there are of each kind, listed or not; of an agent and kind 1,000 are counted. */
  readonly total: Readonly<Record<string, number>>
  /** The kinds of which there are more. */
  readonly atLeast: readonly NeedKind[]
  readonly nextPageToken: string
}

/** A need that was put off, or is no longer. */
export interface SnoozedView {
  readonly need: string
  /** null: it is not put off. */
  readonly snoozedUntil: string | null
}
