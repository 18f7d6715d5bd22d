import { connectionLimits } from '../limits.ts'

/** The bounds of connections as numbers, in the units of `connectionLimits`. 0 connections is no limit. */
export type ConnectionBounds = Readonly<Record<keyof typeof connectionLimits, number>>

/** Returns the bounds of the table, with the given ones instead of theirs. */
export function connectionBounds(given: Partial<ConnectionBounds> = {}): ConnectionBounds {
  const bounds = Object.fromEntries(Object.entries(connectionLimits).map(([name, { max }]) => [name, max]))
  return { ...bounds, ...given } as ConnectionBounds
}
