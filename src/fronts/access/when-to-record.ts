import type { Caller } from '../../registry/callers/caller.ts'
import type { Operation } from './operation.ts'

/** The problems that say that somebody tried what is not allowed. */
const refusals: readonly string[] = ['unauthenticated', 'forbidden']

/** How the audit takes what was answered: before the answer, soon after it, counted with others like it, or not at all. */
export function whenToRecord(
  { audited }: Operation,
  caller: Caller | undefined,
  outcome: string,
): 'first' | 'soon' | 'refused' | 'no' {
  const isOnRecord = audited === 'operator' ? caller?.kind === 'operator' : audited !== 'no'
  if (outcome !== 'ok') return isOnRecord || refusals.includes(outcome) ? 'refused' : 'no'
  if (!isOnRecord) return 'no'
  return audited === 'first' ? 'first' : 'soon'
}

/** Whether a problem is recorded that was met before it was known which operation was asked for. */
export function isRefusal(code: string): boolean {
  return refusals.includes(code)
}
