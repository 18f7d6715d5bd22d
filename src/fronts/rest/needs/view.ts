import type { NeedKind } from '../../../needs/need.ts'
import type { Urgency } from '../../../needs/urgency.ts'
import type { Trigger } from '../../../words/events.ts'

/** One thing that waits for a person, as it is read. Instants are ISO 8601. */
export interface NeedFields {
  readonly kind: NeedKind
  /** Whose it is; null: the project's. */
  readonly agent: string | null
  readonly since: string
  /** The question or the report, in the words of an agent or of the gateway; at most 2,000 characters. */
  readonly text: string
  /** Of the task: the first line of its first message. Of mail: its subject. At most 200 characters. */
  readonly subject?: string
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
  /** The key that ends. */
  readonly keyId?: string
  /** The end of a park, of an approval and of a key; null: until a person acts. When a receiver is tried again. */
  readonly until?: string | null
}

/** One thing that waits for a person. */
export interface NeedView extends NeedFields {
  /** The same as long as it waits. */
  readonly id: string
  readonly urgency: Urgency
  /** The operators of the project have put it off until then. */
  readonly snoozedUntil?: string
}

/** What waits of an agent and kind, without what was put off; of mail: of its sender. */
export interface NeedGroup {
  readonly urgency: Urgency
  readonly kind: NeedKind
  readonly agent: string | null
  /** 1,000 at most. */
  readonly count: number
  /** True when there are more than were counted. */
  readonly atLeast: boolean
  /** Since when the first of them waits. */
  readonly since: string
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
  /** The most urgent first, of an urgency the longest wait. */
  readonly needs: readonly NeedView[]
  /** True when there are more than are listed. */
  readonly more: boolean
  readonly folded: readonly FoldedView[]
  /** A line for each agent and kind, in the same order; the first 500. */
  readonly groups: readonly NeedGroup[]
  /** How many there are of each urgency, whatever the query asks for, without what was put off; of an agent and kind 1,000 are counted. */
  readonly counts: Readonly<Record<Urgency, number>>
  /** The urgencies of which there are more. */
  readonly countsAtLeast: readonly Urgency[]
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
