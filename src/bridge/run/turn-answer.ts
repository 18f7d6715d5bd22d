import type { AskedTurn } from '../../client/wakes/turns.ts'
import type { AdapterId, WakeEnd } from '../adapter.ts'
import type { GuardVerdict } from '../guards/guard.ts'

/** A person may end a park, or change a cap, before its time: a wake that waits for it is tried again after this. */
const parkedLookMs = 15_000

/** The end of an attempt that begins no turn. `isOfSender`: wakes from others need not wait. */
type Unbegun = WakeEnd & { readonly isOfSender?: true }

/** The gateway cannot be asked for a turn: nothing is handed over. */
export const unasked = ({ message }: Error): Unbegun => ({
  step: 'held',
  detail: message,
  reason: 'cannot_start_turn',
})

/** The end of an attempt for which the bridge's own guard gives no turn; undefined: it does. Pure. */
export function guardedTurn(found: GuardVerdict | undefined, now: number): Unbegun | undefined {
  if (found === undefined) return undefined
  const { reason: why, because, mayAt, isOfSender } = found
  const detail = `${why}${Number.isFinite(mayAt) ? `; it may at ${new Date(mayAt).toISOString()}` : ''}`
  // A park may be ended before its time.
  const longestMs = because === undefined ? Number.POSITIVE_INFINITY : parkedLookMs
  const retryAfterMs = Math.min(longestMs, Math.max(0, mayAt - now))
  const whose = isOfSender ? { isOfSender } : {}
  return { step: 'held', detail, retryAfterMs, reason: because ?? 'too_many_turns', ...whose }
}

/** The end of an attempt for which the gateway gives no turn; undefined: it does. Pure. */
export function refusedTurn({ against }: AskedTurn, now: number): Unbegun | undefined {
  if (!against) return undefined
  const { answer, why, until, cap, rule } = against
  if (answer === 'never') return { step: 'written', detail: why ?? 'it begins no turn' }
  const waitMs = until === null ? parkedLookMs : Math.max(0, Date.parse(until) - now)
  const whose = cap === 'sender' || cap === 'thread' ? { isOfSender: true as const } : {}
  const held = { step: 'held', detail: why ?? answer, retryAfterMs: Math.min(parkedLookMs, waitMs), ...whose } as const
  return { ...held, reason: rule === 'usage_limit' ? 'usage_limit' : 'too_many_turns' }
}

/** The end of an attempt as the account of turns has it. A harness that has begun a turn does not report when it ends. Pure. */
export function outcomeOf({ step, detail }: WakeEnd, harness: AdapterId): Parameters<AskedTurn['end']> {
  if (step === 'held') return ['held', detail]
  if (step === 'failed' || step === 'unknown') return ['failed', detail]
  return step === 'delivered' && harness === 'exec' ? ['completed'] : ['unknown', detail]
}
