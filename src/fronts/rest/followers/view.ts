import type { Followed } from '../../../following/poll.ts'
import type { FollowedStatus } from '../../../following/view.ts'
import type { Follower } from '../../../registry/followers/follower-store.ts'
import type { TaskState } from '../../../words/task-states.ts'
import { instant } from '../instant.ts'

/** The state of an MCP task, as its follower gets it. Instants are ISO 8601. */
export interface FollowedView {
  /** The id of the MCP task, for the key alone; null: nothing is followed, because the end is there. */
  readonly followerId: string | null
  readonly status: FollowedStatus
  /** The task that is followed; null: the next mail. */
  readonly taskId: string | null
  /** The state of that task, as a poll finds it. */
  readonly state: TaskState | null
  /** The time before the next poll, in ms. */
  readonly pollIntervalMs: number
  readonly createdAt?: string
  readonly lastUpdatedAt?: string
}

/** Something that an agent follows, without the id that a key polls with. */
export interface FollowerView {
  /** `@donna` */
  readonly agent: string
  /** null: its next mail. */
  readonly taskId: string | null
  /** The live session at its last poll; null: there was none. */
  readonly sessionId: string | null
  readonly createdAt: string
  readonly polledAt: string
  /** True when a poll is held at this moment, or the next one is about to come. */
  readonly isPolled: boolean
}

export function followedView({ follower, status, state }: Followed, pollIntervalMs: number): FollowedView {
  const { id: followerId, taskId, createdAt, deliveredAt, cancelledAt } = follower
  const lastUpdatedAt = instant(deliveredAt ?? cancelledAt ?? createdAt)
  return { followerId, status, taskId, state, pollIntervalMs, createdAt: instant(createdAt), lastUpdatedAt }
}

export function followerView(follower: Follower, agent: string, now: number): FollowerView {
  const { taskId, sessionId, createdAt, polledAt, heldUntil } = follower
  return {
    agent,
    taskId,
    sessionId,
    createdAt: instant(createdAt),
    polledAt: instant(polledAt),
    isPolled: heldUntil > now,
  }
}
