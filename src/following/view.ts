import type { Follower } from '../registry/followers/follower-store.ts'

/** The state of an MCP task, as far as there is one. What it follows asks in words: it is never `input_required`. */
export type FollowedStatus = 'working' | 'completed' | 'cancelled'

const dayMs = 24 * 3_600_000
/** The time after its last poll in which a client may resume. */
export const followerKeptMs = 14 * dayMs
/** The longest time that a poll is held: clients give up after a minute. */
export const holdMaxMs = 50_000
/** The time in which the next poll comes, after one that was answered. */
export const nextPollMs = 15_000

/**
 * Returns the state of the MCP task of a follower. An end that was delivered stays one, and so does a cancellation: whatever becomes of what is
 * followed. Pure. Source: SEP-2663.
 * @param isThere true: the task that is followed has ended or asks, or mail is there
 */
export function statusOf(
  { deliveredAt, cancelledAt }: Pick<Follower, 'deliveredAt' | 'cancelledAt'>,
  isThere: boolean,
): FollowedStatus {
  if (deliveredAt !== null) return 'completed'
  if (cancelledAt !== null) return 'cancelled'
  return isThere ? 'completed' : 'working'
}

/**
 * True when a key may follow with an id: the key that began it, or a newer one of the same agent. Ids of keys sort by the time when they were made,
 * so a key that is rotated away loses nothing to an older one. Pure.
 */
export function isOwnFollower(
  { agentId, keyId: own }: Pick<Follower, 'agentId' | 'keyId'>,
  { kind, id, keyId }: { readonly kind: string; readonly id: string; readonly keyId: string },
): boolean {
  return kind === 'agent' && id === agentId && (keyId === own || (isStored(own) && isStored(keyId) && keyId > own))
}

/** False: a token of an issuer. */
const isStored = (keyId: string): boolean => !keyId.includes(':')
