import { connectionLimits } from '../limits.ts'

/** The bounds of connections as numbers, in the units of `connectionLimits`. 0 connections is no limit. */
export type ConnectionBounds = Readonly<Record<keyof typeof connectionLimits, number>>

/** The table's bounds, but for those that are given. */
export function connectionBounds(given: Partial<ConnectionBounds> = {}): ConnectionBounds {
  const bounds = Object.fromEntries(Object.entries(connectionLimits).map(([name, { max }]) => [name, max]))
  return { ...bounds, ...given } as ConnectionBounds
}
