import { bridgeHarnesses } from './bridge-harnesses.ts'

/**
 * What a peer may read of a `source`: its first word, if it is one of these. What comes after it is the reader's own, and may name a
 * path or an address.
 */
const sourceKinds = ['bridge', 'hook', 'listen', ...bridgeHarnesses] as const
type SourceKind = (typeof sourceKinds)[number] | 'reader'

/** What a peer may read of a `detail`: its first word, if it is one of these reasons. */
const reasons = [
  'presence_unknown',
  'cannot_start_turn',
  'turn_active',
  'waiting_on_approval',
  'user_typing',
  'no_session',
  'too_many_turns',
] as const
export type Reason = (typeof reasons)[number]

/** Returns what proved a step, as a peer may know it. Pure. */
export function sourceKind(source: string | null): SourceKind {
  const [word] = /^[a-z]+/.exec(source ?? '') ?? []
  return sourceKinds.find((kind) => kind === word) ?? 'reader'
}

/** Returns the reason that a detail begins with, as a peer may know it; undefined: it is for the recipient alone. Pure. */
export function reasonIn(detail: string | null): Reason | undefined {
  const [word] = /^[a-z_]+/.exec(detail ?? '') ?? []
  return reasons.find((reason) => reason === word)
}
