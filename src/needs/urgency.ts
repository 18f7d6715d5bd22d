import type { NeedKind } from './need.ts'

/**
 * How urgent a need is, the most urgent first. `stops`: work stands still until a person acts. `wakes`: an agent is not woken as it should be, or not
 * at all. `late`: something has its time, and that is over or will be. `mail`: somebody wrote.
 */
export const urgencies = ['stops', 'wakes', 'late', 'mail'] as const
export type Urgency = (typeof urgencies)[number]

/** The urgency of each kind of need. No word of a peer changes it. */
export const urgencyOf = {
  approval: 'stops',
  input: 'stops',
  auth: 'stops',
  gate: 'stops',
  degraded: 'wakes',
  failing: 'wakes',
  retrying: 'wakes',
  parked: 'wakes',
  capped: 'wakes',
  late: 'late',
  key: 'late',
  mail: 'mail',
} as const satisfies Readonly<Record<NeedKind, Urgency>>

/** A place in the list of needs: the most urgent first, then the longest wait. `createdAt` in ms since the epoch. */
export interface Place {
  readonly urgency: Urgency
  readonly createdAt: number
  readonly id: string
}

/** Negative when one place is before the other. Pure. */
export function comparePlaces(one: Place, other: Place): number {
  const byUrgency = urgencies.indexOf(one.urgency) - urgencies.indexOf(other.urgency)
  if (byUrgency !== 0 || one.createdAt !== other.createdAt) return byUrgency || one.createdAt - other.createdAt
  return one.id === other.id ? 0 : one.id > other.id ? 1 : -1
}
