import type { WakeEnd } from '../../../../bridge/adapter.ts'
import type { Reason } from '../../../../words/sender-view.ts'
import type { Refusal } from '../rpc/refusals.ts'
import type { WakePlace } from './seen.ts'

/** Times of a wake in Codex, in ms. The tests have others. */
export interface WakeTimes {
  /** An idle thread takes a wake from its queue within 20 ms, unless its queue was stopped. */
  readonly pausedMs: number
  /** A session that runs by itself looks into its queue every 10 s. */
  readonly slowMs: number
  /** A wake that has left the queue, and is in no turn after that time, is lost. */
  readonly goneMs: number
  /** Between the queue and its turn. */
  readonly nearMs: number
  /** How often is looked where nothing is reported, at first and later. */
  readonly lookMs: number
  readonly lookLaterMs: number
  /** A backstop: a server tells its changes. */
  readonly serverLookMs: number
  /** Before a connection is tried again: at first, and at most. */
  readonly reconnectMs: number
  readonly reconnectMaxMs: number
}

export const wakeTimes: WakeTimes = {
  pausedMs: 2_000,
  slowMs: 12_000,
  goneMs: 15_000,
  nearMs: 100,
  lookMs: 1_000,
  lookLaterMs: 20_000,
  serverLookMs: 5_000,
  reconnectMs: 1_000,
  reconnectMaxMs: 30_000,
}

const retryMs = { soon: 5_000, later: 15_000, closed: 30_000, hook: 60_000 } as const

/** Returns why a wake is not put into the queue of a thread; undefined: it may be. Pure. Source: S1-11…S1-13, S1-17. */
export function whyNot({ state, isSaidByHook }: WakePlace, mayResume: boolean): WakeEnd | undefined {
  // Queuing would not disturb the question. But held wakes become one digest, and a user who refuses would stop the queue.
  if (state === 'waitingOnApproval') {
    const detail = 'the session waits for an answer of its user'
    // A look over the disk starts processes, and the hook tells the end of the turn.
    const retryAfterMs = isSaidByHook ? retryMs.hook : retryMs.soon
    return { step: 'held', detail, reason: 'waiting_on_approval', retryAfterMs }
  }
  if (state === 'closed' && !mayResume) return closed
  return undefined
}

/** The conversation is closed, as far as can be determined. */
export const closed: WakeEnd = {
  step: 'held',
  detail: 'the conversation is closed: open it again (codex resume)',
  reason: 'cannot_start_turn',
  retryAfterMs: retryMs.closed,
}

export const takenBack: WakeEnd = {
  step: 'held',
  detail: 'taken back from the queue of Codex',
  reason: 'cannot_start_turn',
}

/** As `closed`, where that cannot be determined. */
export const closedOrBusy: WakeEnd = {
  step: 'held',
  detail: 'the conversation is closed, or busy for long: which, cannot be determined on this system',
  reason: 'presence_unknown',
  retryAfterMs: retryMs.closed,
}

/** Loading the conversation would run them too. */
export const notAlone: WakeEnd = {
  step: 'held',
  detail: 'the conversation is closed, and other texts wait in its queue: open it again (codex resume)',
  reason: 'cannot_start_turn',
  retryAfterMs: retryMs.closed,
}

export const lost: WakeEnd = {
  step: 'unknown',
  detail: 'it has left the queue of Codex, and is in no turn',
}

export const outcomeUnknown: WakeEnd = {
  step: 'unknown',
  detail: 'it was handed over, and Codex cannot be asked what became of it',
}

/** Nothing was handed over. */
export function unreachable(reason: string): WakeEnd {
  const detail = `Codex cannot be reached: ${reason}`
  return { step: 'held', detail, reason: 'presence_unknown', retryAfterMs: retryMs.later }
}

/** Returns how a wake ends that the app-server did not take, and does not have. Pure. */
export function refused(refusal: Refusal, message: string): WakeEnd {
  if (refusal === 'no-history') return neverPrompted
  if (refusal === 'overloaded') return unreachable(message)
  const isOld = refusal === 'no-such-method' || refusal === 'not-experimental'
  const detail = isOld ? 'this Codex has no queue: update it' : `Codex does not take it: ${message}`
  return { step: 'failed', detail, isUntouched: true }
}

export const neverPrompted: WakeEnd = {
  step: 'held',
  detail: 'the conversation has had no prompt yet: Codex queues nothing for it before the first one',
  reason: 'cannot_start_turn',
  retryAfterMs: retryMs.later,
}

/** The verdict on a wake that was handed over, after a look. */
export type Verdict = 'began' | 'gone' | 'closed' | 'wait' | { readonly held: string; readonly reason: Reason }

/** For how long, in ms: since it was handed over, since it has been idle with the wake in its queue, since the wake was nowhere. */
interface Elapsed {
  readonly sinceMs: number
  readonly idleMs: number
  readonly nowhereMs: number
}

/** Returns what to make of a look. Pure. */
export function verdictOf(
  { turnId, queuedId, state, maybeClosed }: WakePlace,
  elapsed: Elapsed,
  times: WakeTimes,
): Verdict {
  if (turnId !== undefined) return 'began'
  if (queuedId === undefined) return elapsed.nowhereMs >= times.goneMs ? 'gone' : 'wait'
  switch (state) {
    case 'closed':
      return 'closed'
    case 'active':
      return { held: 'in the queue of Codex: a turn runs', reason: 'turn_active' }
    case 'waitingOnApproval':
      return { held: asks, reason: 'waiting_on_approval' }
    case 'idle':
      return elapsed.idleMs >= times.pausedMs ? { held: paused, reason: 'cannot_start_turn' } : 'wait'
    default:
      if (elapsed.sinceMs < times.slowMs) return 'wait'
      return maybeClosed ? 'closed' : { held: notTaken, reason: 'presence_unknown' }
  }
}

const asks = 'in the queue of Codex: the session waits for an answer of its user'
const paused =
  'in the queue of Codex: an interrupt stopped the queue of this thread; it goes on after the next turn of its user'
const notTaken =
  'in the queue of Codex: the session is busy or waits for its user, or an interrupt stopped its queue until the next turn of its user'
