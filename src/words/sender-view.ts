import { surfaces } from './surfaces.ts'

/** The ways of the bridge that are of no single harness. */
const genericWays = ['acp', 'tmux', 'osascript', 'exec'] as const

/**
 * The words of a `source` that a peer may read: its first one, if it is one of these. The rest is the reader's own, and may name a path or
 * an address.
 */
const sourceKinds: readonly string[] = [
  'bridge',
  'hook',
  'listen',
  ...genericWays,
  ...Object.values(surfaces).flatMap(({ harness }) => harness ?? []),
]

/** The words of a `detail` that a peer may read: its first one, if it is one of these reasons. */
const reasons = [
  'presence_unknown',
  'cannot_start_turn',
  'turn_active',
  'waiting_on_approval',
  'user_typing',
  'no_session',
  'too_many_turns',
  'usage_limit',
] as const
export type Reason = (typeof reasons)[number]

/** Returns what proved a step, as a peer may know it: `reader` where its first word is none that is known. Pure. */
export function sourceKind(source: string | null): string {
  const [word] = /^[a-z]+/.exec(source ?? '') ?? []
  return sourceKinds.find((kind) => kind === word) ?? 'reader'
}

/** Returns the reason that a detail begins with, as a peer may know it; undefined: it is for the recipient alone. Pure. */
export function reasonIn(detail: string | null): Reason | undefined {
  const [word] = /^[a-z_]+/.exec(detail ?? '') ?? []
  return reasons.find((reason) => reason === word)
}
