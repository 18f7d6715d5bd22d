import { flag, int, type NounOf, nullable, text, word } from '../storage/columns.ts'
import type { NeedKind } from './need.ts'

export const toldFields = {
  id: text,
  kind: word<NeedKind>(),
  agent: nullable(text),
  /** 0: never, it was snoozed before. */
  toldAt: int,
  /** True when it waits as far as they know. */
  isOpen: flag,
  /** 0: it is not snoozed. */
  snoozedUntil: int,
}
/** The state of a need, as operators were told it. Instants in ms since the epoch. */
export type Told = NounOf<typeof toldFields>

/** A receiver that comes and goes is told at most so often, in ms. */
export const quietMs = 15 * 60_000

/** How bad the trouble of a subscription is. Other needs are as bad as they are. */
const ranks: Readonly<Partial<Record<NeedKind, number>>> = { failing: 1, retrying: 1, degraded: 2 }

/** `tell` that it waits, `clear`: tell that it does not any more, `forget` what was told, or `wait`. */
type NextStep = 'tell' | 'clear' | 'forget' | 'wait'

/**
 * Returns what to do about a need of some kind (undefined: it waits no more), given what was told about it. What is suppressed is told when
 * it is over, if the need still waits then: nothing is kept silent for good. Pure.
 */
export function nextStep(told: Told | undefined, kind: NeedKind | undefined, now: number): NextStep {
  if (kind === undefined) return told === undefined ? 'wait' : afterEnd(told, now)
  if (told === undefined) return 'tell'
  if (isSnoozed(told, kind, now)) return 'wait'
  if (told.snoozedUntil > 0 || isWorse(kind, told.kind)) return 'tell'
  return told.isOpen || isQuiet(told, now) ? 'wait' : 'tell'
}

/** True when a person has put a need off. A need that has become worse is not put off any more. Pure. */
export function isSnoozed(told: Pick<Told, 'kind' | 'snoozedUntil'>, kind: NeedKind, now: number): boolean {
  return told.snoozedUntil > now && !isWorse(kind, told.kind)
}

function afterEnd(told: Told, now: number): NextStep {
  if (told.isOpen) return 'clear'
  // A subscription may fail again at any time. The other needs end once.
  const mayReturn = told.kind in ranks && (told.snoozedUntil > now || isQuiet(told, now))
  return mayReturn ? 'wait' : 'forget'
}

const isWorse = (kind: NeedKind, than: NeedKind): boolean => (ranks[kind] ?? 0) > (ranks[than] ?? 0)

const isQuiet = ({ kind, toldAt }: Told, now: number): boolean => kind in ranks && now - toldAt < quietMs
