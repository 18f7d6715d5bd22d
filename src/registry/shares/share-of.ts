import type { Caller } from '../callers/caller.ts'

/** Who is counted: all operators have the same id, but each key is a separate caller. */
export function shareOf({ kind, id, keyId }: Caller): string {
  return kind === 'operator' ? keyId : id
}
