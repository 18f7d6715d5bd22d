import type { Trigger } from '../../../words/events.ts'

/**
 * Why somebody waits for a person. `input`, `auth`: a task asks. `approval`: a harness waits until its next step is approved. `mail`: unread
 * mail to the operator. `degraded`: wakes are no longer sent. `retrying`: a receiver is away. `gate`: recovery has stopped by itself.
 * `parked`: a harness is at a limit. `late`: nobody has taken up a task for long.
 */
export type NeedKind = 'input' | 'auth' | 'approval' | 'mail' | 'degraded' | 'retrying' | 'gate' | 'parked' | 'late'

/** One thing that waits for a person. Instants are ISO 8601. */
export interface NeedView {
  readonly kind: NeedKind
  /** Whose it is; null: the project's. */
  readonly agent: string | null
  readonly since: string
  /** What was asked or reported, in the words of an agent or of the gateway; at most 2,000 characters. */
  readonly text: string
  /** What it concerns. */
  readonly taskId?: string
  /** Of the task, for `expectedVersion`. */
  readonly version?: number
  /** The agent at whose A2A address the task is. */
  readonly sentTo?: string
  /** Who asked for the task. */
  readonly originator?: string
  readonly messageId?: string
  readonly threadId?: string
  readonly sessionId?: string
  readonly subscriptionId?: string
  readonly trigger?: Trigger
  /** The end of a park; null: until a person acts. When a receiver is tried again. */
  readonly until?: string | null
}

export interface NeedsView {
  /** The longest wait first. */
  readonly needs: readonly NeedView[]
  /** Whether there are more than are listed: a list has at most 100 of each kind. */
  readonly more: boolean
}
