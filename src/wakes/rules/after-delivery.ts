import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { DeliveryResult } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import type { Progress } from '../store/lease.ts'
import { windowAfter } from './window.ts'

/** Failed events in a row that make a subscription degraded. Source: S1-34. */
export const failuresMax = 3

/** The effect of a delivery on its subscription. `progress` is the position of the subscription afterwards. */
export type NextStep =
  /** It arrived, as far as its channel can know: the run continues. */
  | { readonly next: 'advance'; readonly progress: Progress }
  /** Nothing is decided: the next lease sends it. */
  | { readonly next: 'requeue' }
  | FailureStep

export type FailureStep =
  /** The event has failed: the cursor passes it, and the run continues. */
  | { readonly next: 'fail'; readonly outcome: 'failed'; readonly progress: Progress }
  /** Nothing more is sent until the subscription is made active. The cursor stays before a rejected event. */
  | {
      readonly next: 'degrade'
      readonly outcome: 'failed' | 'rejected'
      readonly progress: Progress
      readonly reason: string
    }

/** A sent emission, and the cursor after its outcome is decided. */
interface SentRange extends Pick<Emission, 'logId' | 'replayed'> {
  readonly cursorLogId: number
}

/** Returns what follows from a delivery. Pure. `now` in ms since the epoch. Source: S1-34. */
export function afterDelivery(
  subscription: Subscription,
  progress: Progress,
  sent: SentRange,
  result: DeliveryResult,
  now: number,
): NextStep {
  switch (result.outcome) {
    case 'stopped':
      return { next: 'requeue' }
    case 'delivered':
    case 'written':
      return { next: 'advance', progress: progressAfter(subscription, progress, sent, result, now) }
    case 'failed':
      return afterFailure(result, progressAfter(subscription, progress, sent, result, now))
    case 'rejected':
      // The receiver reports that no retry will help. The cursor stays, so that nothing is lost.
      return { next: 'degrade', outcome: 'rejected', progress, reason: result.reason ?? 'rejected' }
  }
}

function afterFailure({ isOfEvent, reason }: DeliveryResult, progress: Progress): FailureStep {
  const outcome = 'failed'
  if (isOfEvent || progress.failedInARow < failuresMax) return { next: 'fail', outcome, progress }
  const degradedBecause = `${failuresMax} events failed in a row; the last: ${reason ?? 'failed'}`
  return { next: 'degrade', outcome, progress, reason: degradedBecause }
}

function progressAfter(
  subscription: Subscription,
  { lastEmittedLogId, failedInARow, windowUntil }: Progress,
  { logId, cursorLogId, replayed }: SentRange,
  result: DeliveryResult,
  now: number,
): Progress {
  return {
    cursorLogId,
    lastEmittedLogId: replayed ? lastEmittedLogId : logId,
    failedInARow: failedInARowAfter(result, failedInARow),
    windowUntil: windowAfter(subscription, windowUntil, now),
  }
}

/** Returns how many events have failed in a row after this one. An event that is itself the cause neither adds nor resets. */
function failedInARowAfter({ outcome, isOfEvent }: DeliveryResult, before: number): number {
  if (outcome !== 'failed') return 0
  return isOfEvent ? before : before + 1
}
