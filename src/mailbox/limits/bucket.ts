import type { Charge } from './mail-limits.ts'

/** A bucket fills with each message and empties with time. */
export interface Bucket {
  /** How full it was at `countedAt`: the time that it takes to become empty. */
  levelMs: number
  countedAt: number
  /** The sender of the last message in it; '': unknown. */
  lastSender: string
  /** When the last refusal became an event. A pair is closed from then on for a window. */
  refusedAt: number
}

/** How far ahead of now another gateway's clock may have been. An instant further ahead is of a clock that was set back since. */
export const aheadMs = 60_000

/** Returns how full a bucket is. A bucket that was counted by a clock far ahead begins to empty now. */
export function levelAt(bucket: Bucket, now: number): number {
  if (bucket.countedAt > now + aheadMs) bucket.countedAt = now
  return Math.max(0, bucket.levelMs - Math.max(0, now - bucket.countedAt))
}

/** Returns how long a message has to wait, in ms; 0: it may be sent. */
export function waitMs(bucket: Bucket, charge: Charge, now: number): number {
  const { kind, windowMs, costMs, senderId } = charge
  const overMs = levelAt(bucket, now) + costMs - windowMs
  if (kind === 'pair') {
    if (isRefused(bucket, windowMs, now)) return bucket.refusedAt + windowMs - now
    return overMs > 0 ? windowMs : 0
  }
  // A recipient has the same room again, which nobody may use twice in a row: one sender that fills the bucket never locks out the others.
  const reserveMs = kind === 'recipient' && bucket.lastSender !== senderId ? windowMs : 0
  return Math.max(0, overMs - reserveMs)
}

/** Adds a message. Returns what it cost. */
export function fill(bucket: Bucket, { costMs, senderId, countsTurns }: Charge, now: number): number {
  const paidMs = countsTurns && bucket.lastSender === senderId ? 0 : costMs
  bucket.levelMs = levelAt(bucket, now) + paidMs
  bucket.countedAt = Math.max(now, bucket.countedAt)
  bucket.lastSender = senderId
  return paidMs
}

/** True when a refusal of this window is known. */
export function isRefused({ refusedAt }: Bucket, windowMs: number, now: number): boolean {
  return refusedAt <= now && now < refusedAt + windowMs
}
