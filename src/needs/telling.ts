import { flag, int, type NounOf, nullable, text, word } from '../storage/columns.ts'
import type { NeedKind } from './need.ts'

export const noticeFields = {
  id: text,
  kind: word<NeedKind>(),
  agent: nullable(text),
  /** 0: never, it was snoozed before. */
  toldAt: int,
  /** True when it waits as far as they know. */
  isOpen: flag,
  /** 0: it is not snoozed. */
  snoozedUntil: int,
  /** The event by which it was raised last; 0: none was. */
  raisedLogId: int,
}
/** The state of a need, as operators were notified of it. Instants in ms since the epoch. */
export type NeedNotice = NounOf<typeof noticeFields>

/** The shortest time between two notices of a receiver that comes and goes, in ms. */
export const quietMs = 15 * 60_000

/** How bad the trouble of a subscription is. Other needs are as bad as they are. */
const ranks: Readonly<Partial<Record<NeedKind, number>>> = { failing: 1, retrying: 1, degraded: 2 }

/** `raise`: notify that it waits, `clear`: notify that it does not any more, `forget` the notice, or `wait`. */
type NextStep = 'raise' | 'clear' | 'forget' | 'wait'

/**
 * Returns what to do about a need of some kind (undefined: it waits no more), given the last notice of it. A suppressed notice follows when
 * that is over, if the need still waits then: nothing is kept silent for good. Pure.
 */
export function nextStep(notice: NeedNotice | undefined, kind: NeedKind | undefined, now: number): NextStep {
  if (kind === undefined) return notice === undefined ? 'wait' : afterEnd(notice, now)
  if (notice === undefined) return 'raise'
  if (isSnoozed(notice, kind, now)) return 'wait'
  if (notice.snoozedUntil > 0 || isWorse(kind, notice.kind)) return 'raise'
  return notice.isOpen || isQuiet(notice, now) ? 'wait' : 'raise'
}

/** True when a person has put a need off. A need that has become worse is not put off any more. Pure. */
export function isSnoozed(notice: Pick<NeedNotice, 'kind' | 'snoozedUntil'>, kind: NeedKind, now: number): boolean {
  return notice.snoozedUntil > now && !isWorse(kind, notice.kind)
}

function afterEnd(notice: NeedNotice, now: number): NextStep {
  if (notice.isOpen) return 'clear'
  // A subscription may fail again at any time. The other needs end once.
  const mayReturn = notice.kind in ranks && (notice.snoozedUntil > now || isQuiet(notice, now))
  return mayReturn ? 'wait' : 'forget'
}

const isWorse = (kind: NeedKind, than: NeedKind): boolean => (ranks[kind] ?? 0) > (ranks[than] ?? 0)

const isQuiet = ({ kind, toldAt }: NeedNotice, now: number): boolean => kind in ranks && now - toldAt < quietMs
