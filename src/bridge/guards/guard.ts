import type { Reason } from '../../words/sender-view.ts'

/** How many turns may begin. */
export interface TurnLimits {
  readonly turnsAnHour: number
  readonly wakesFromOneAgentAnHour: number
  readonly maxTurnsAMinute: number
}

/** A turn of an agent that began. */
export interface BegunTurn {
  /** ms since the epoch */
  readonly at: number
  /** Whose acts it was about; none: the gateway did not say. */
  readonly senders: readonly string[]
}

/** The turns that began recently. */
interface RecentTurns {
  /** Of the agent within the hour, the newest first; `turnsAnHour` are enough. */
  readonly turns: readonly BegunTurn[]
  /** When the turn of the bridge began that is as many back as a minute may have; undefined: there are fewer. ms since the epoch */
  readonly ofBridge?: number | undefined
}

/** A wake that may not begin a turn yet. */
export interface GuardVerdict {
  readonly reason: string
  /** ms since the epoch; infinite: when a person has acted */
  readonly mayAt: number
  /** The reason that its sender may know (default: `too_many_turns`). */
  readonly because?: Reason
  /** Only wakes from these senders wait. */
  readonly isOfSender?: true
}

const hourMs = 3_600_000
const minuteMs = 60_000
/** The part of an hour's turns that is kept for senders with less than their share: one of so many. */
const reserveOneOf = 6

/**
 * Why a wake may not begin a turn now, and when it may; undefined: it may. Nothing is dropped for it. A wake of several senders waits
 * only for a limit that all of them have reached. The last turns of an hour are for who has had less than an equal share, so that two
 * who send much do not silence a third. Pure.
 */
export function guard(
  { agent, senders }: { readonly agent: string; readonly senders: readonly string[] },
  limits: TurnLimits,
  { turns: given, ofBridge }: RecentTurns,
  now: number,
): GuardVerdict | undefined {
  const { turnsAnHour, wakesFromOneAgentAnHour: ofOne, maxTurnsAMinute } = limits
  const turns = given.filter(({ at }) => at + hourMs > now)
  const of = (sender: string) => turns.filter((turn) => turn.senders.includes(sender))
  const all = new Set([...senders, ...turns.flatMap((turn) => turn.senders)])
  // One more than there are: who comes next has one too.
  const share = Math.floor(turnsAnHour / (all.size + 1))
  const isBelowShare = senders.length === 0 || senders.some((one) => of(one).length < Math.max(1, share))
  const forAll = turnsAnHour - reserveOf(turnsAnHour)
  const pairs = senders.map((one) => of(one)[ofOne - 1]?.at)
  const found = [
    exceeded(ofBridge, minuteMs, `this bridge has begun ${count(maxTurnsAMinute)} within a minute (maxTurnsAMinute)`),
    exceeded(
      turns[turnsAnHour - 1]?.at,
      hourMs,
      `${agent} has begun ${count(turnsAnHour)} within an hour (turnsAnHour)`,
    ),
    ofSender(
      pairs.some((at) => at === undefined) ? undefined : Math.min(...(pairs as number[])),
      `${senders.join(', ')} has woken ${agent} ${ofOne} times within an hour (wakesFromOneAgentAnHour)`,
    ),
    ofSender(
      isBelowShare ? undefined : turns[forAll - 1]?.at,
      `${senders.join(', ')} has had its share of the ${count(turnsAnHour)} within an hour (turnsAnHour); the last ${count(reserveOf(turnsAnHour))} are kept for others`,
    ),
  ].filter((one) => one !== undefined)
  // The one that lasts longest.
  return found.sort((one, other) => other.mayAt - one.mayAt)[0]

  function exceeded(at: number | undefined, windowMs: number, reason: string): GuardVerdict | undefined {
    if (at === undefined || at + windowMs <= now) return undefined
    return { reason, mayAt: at + windowMs }
  }

  function ofSender(at: number | undefined, reason: string): GuardVerdict | undefined {
    const limit = at === Number.POSITIVE_INFINITY ? undefined : exceeded(at, hourMs, reason)
    return limit && { ...limit, isOfSender: true }
  }
}

/** How many of an hour's turns are kept for senders that have had few. Of one or two turns, none is. Pure. */
export function reserveOf(turnsAnHour: number): number {
  return turnsAnHour < 3 ? 0 : Math.max(1, Math.floor(turnsAnHour / reserveOneOf))
}

const count = (turns: number): string => (turns === 1 ? '1 turn' : `${turns} turns`)
