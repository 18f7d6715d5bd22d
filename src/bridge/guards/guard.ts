/** How many turns may begin. */
export interface TurnLimits {
  readonly turnsAnHour: number
  readonly wakesFromOneAgentAnHour: number
  readonly maxTurnsAMinute: number
}

/**
 * When the turn began that is as many turns back as its limit allows: of the agent, of the pair of agents, of the bridge. ms since the
 * epoch; undefined: there are fewer.
 */
interface LimitingTurns {
  readonly ofAgent?: number | undefined
  readonly ofPair?: number | undefined
  readonly ofBridge?: number | undefined
}

/** A wake that may not begin a turn yet. */
export interface Guarded {
  readonly reason: string
  /** ms since the epoch */
  readonly mayAt: number
  /** Only wakes from this sender wait. */
  readonly isOfPair?: true
}

const hourMs = 3_600_000
const minuteMs = 60_000

/** Why a wake may not begin a turn now, and when it may; undefined: it may. Nothing is dropped for it. Pure. */
export function guard(
  { agent, sender }: { readonly agent: string; readonly sender: string | null },
  limits: TurnLimits,
  { ofAgent, ofPair, ofBridge }: LimitingTurns,
  now: number,
): Guarded | undefined {
  const found = [
    exceeded(
      ofBridge,
      minuteMs,
      `this bridge has begun ${turns(limits.maxTurnsAMinute)} within a minute (maxTurnsAMinute)`,
    ),
    exceeded(ofAgent, hourMs, `${agent} has begun ${turns(limits.turnsAnHour)} within an hour (turnsAnHour)`),
    exceeded(
      ofPair,
      hourMs,
      `${sender} has woken ${agent} ${limits.wakesFromOneAgentAnHour} times within an hour (wakesFromOneAgentAnHour)`,
      { isOfPair: true },
    ),
  ].filter((one) => one !== undefined)
  // The one that lasts longest.
  return found.sort((one, other) => other.mayAt - one.mayAt)[0]

  function exceeded(
    at: number | undefined,
    windowMs: number,
    reason: string,
    whose: Pick<Guarded, 'isOfPair'> = {},
  ): Guarded | undefined {
    if (at === undefined || at + windowMs <= now) return undefined
    return { reason, mayAt: at + windowMs, ...whose }
  }
}

const turns = (count: number): string => (count === 1 ? '1 turn' : `${count} turns`)
