import type { ReceiptStep } from '../../words/receipts.ts'

/** One step that the reader of a stream has reported about a wake. */
export interface WakeStep {
  readonly step: ReceiptStep
  /** The proof, in the words of the reader; null: none was reported. */
  readonly source: string | null
  /** The identity whose key reported it: `@donna`. */
  readonly reportedBy: string
  /** When it was reported to the gateway, the first time: ISO 8601. */
  readonly at: string
  readonly detail: string | null
  /** How often it was reported again, with nothing else in between. */
  readonly repeats?: number
}

/** The reports about one wake, and the result of them. */
export interface WakeHistory {
  /** The oldest first. */
  readonly steps: readonly WakeStep[]
  /** The steps that the senders of its mail were notified of. The store has them under this name. */
  readonly told: readonly ReceiptStep[]
  /** The mail that it is about. */
  readonly messageIds: readonly string[]
}

/** How many steps are kept of a wake: the strongest, and the latest. */
export const stepsMax = 20
/** The receipts of a wake are recorded for at most this many of its messages, the newest. */
export const messagesMax = 100

export const noHistory: WakeHistory = { steps: [], told: [], messageIds: [] }

/**
 * Returns the steps with one more. A repeat only counts; above twenty the oldest go, but not the latest word on `strongest`, the
 * step that counts. Pure.
 */
export function stepsAfter(
  steps: readonly WakeStep[],
  said: Omit<WakeStep, 'repeats'>,
  strongest: ReceiptStep | null,
): readonly WakeStep[] {
  const last = steps.at(-1)
  if (last && isSame(last, said)) return [...steps.slice(0, -1), { ...last, repeats: (last.repeats ?? 0) + 1 }]
  const all = [...steps, said]
  if (all.length <= stepsMax) return all
  const kept = all.findLastIndex(({ step }) => step === strongest)
  const oldest = kept === 0 ? 1 : 0
  return all.filter((_, index) => index !== oldest)
}

function isSame(one: WakeStep, other: Omit<WakeStep, 'repeats'>): boolean {
  return (
    one.step === other.step &&
    one.source === other.source &&
    one.detail === other.detail &&
    one.reportedBy === other.reportedBy
  )
}
