import { provesTurn } from '../../wakes/rules/sender-view.ts'
import type { WakeStep } from '../../wakes/rules/wake-history.ts'
import { meaningOf, type ReceiptStep } from '../../words/receipts.ts'
import { reasonIn, sourceKind } from '../../words/sender-view.ts'

/** The strongest step of the newest wake that announced a message to a recipient. */
export interface WakeEvidence extends Pick<WakeStep, 'step' | 'source' | 'at' | 'detail'> {
  /** The wake. */
  readonly eventId: string
}

/** The part of the evidence of a wake that one reader of a message may know. */
export interface VisibleEvidence {
  readonly step: ReceiptStep
  readonly source: string | null
  /** ISO 8601 */
  readonly at: string
  readonly detail?: string
}

/** A ULID begins with its time. */
const timeLength = 10

/**
 * Returns the evidence to keep of two: the newer wake's; of wakes of the same instant, which several subscriptions send, the stronger. Of
 * one wake the later word. Pure.
 */
export function newerEvidence(known: WakeEvidence | null, next: WakeEvidence): WakeEvidence {
  if (known === null || known.eventId === next.eventId) return next
  const [knownTime, nextTime] = [known.eventId.slice(0, timeLength), next.eventId.slice(0, timeLength)]
  if (knownTime !== nextTime) return nextTime > knownTime ? next : known
  return strengthOf(next.step) > strengthOf(known.step) ? next : known
}

/** An end that is no delivery proves least. */
function strengthOf(step: ReceiptStep): number {
  if (provesTurn(step)) return 3
  if (meaningOf(step) === 'delivered') return 2
  return meaningOf(step) === 'open' ? 1 : 0
}

/** Returns evidence as its recipient and the operator of its project read it (`isOwn`), or as the sender does: without what is the reader's own. Pure. */
export function visibleEvidence({ step, source, at, detail }: WakeEvidence, isOwn: boolean): VisibleEvidence {
  const shown = isOwn ? detail : reasonIn(detail)
  return { step, source: isOwn ? source : sourceKind(source), at, ...(shown ? { detail: shown } : {}) }
}
