import type { Caller } from '../../registry/callers/caller.ts'
import type { Operation } from './operation.ts'

/** Problems of callers that tried what they may not do. */
const refusals: readonly string[] = ['unauthenticated', 'forbidden']

/** When the audit records an answer: before it is sent, soon after, counted with similar refusals, or not at all. */
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

/** True when the audit records a problem that came before the operation was known. */
export function isRefusal(code: string): boolean {
  return refusals.includes(code)
}
