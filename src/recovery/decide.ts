import { isParked, type RecoveryMode } from '../registry/recovery/recovery.ts'
import type { Session } from '../registry/sessions/session.ts'
import type { Facts } from '../turns/facts.ts'
import { mayStart, type RuleName } from '../turns/may-start.ts'

/** The act of recovery for an agent now, and the one word for its reason. */
export interface Decision {
  readonly action: 'nothing' | 'wait' | 'park' | 'pulse' | 'trip' | RecoveryMode
  readonly reason: RuleName | 'silent_with_reason' | 'session_gone'
}

const done = { nudge: 'silent_with_reason', restart: 'session_gone' } as const

/** Decides what is done for an agent: the act that it may need is asked for at the one door of all turns. Pure. Source: S3-4…S3-6, S3-9…S3-11, D50. */
export function decide(facts: Facts): Decision {
  const mode = modeOf(facts)
  const verdict = mayStart(mode, facts)
  if (verdict.answer === 'start') return { action: mode, reason: done[mode] }
  const { answer, rule: reason, trips } = verdict
  if (trips) return { action: 'trip', reason }
  if (reason === 'usage_limit') return { action: 'park', reason }
  if (reason === 'no_proven_route') return pulse(facts)
  return { action: answer === 'never' ? 'nothing' : 'wait', reason }
}

/** A harness that is gone is started again where a bridge can do it; else what waits is pointed at. */
function modeOf({ session, route, recovery: { bridge } }: Facts): RecoveryMode {
  if (session !== null || bridge === null) return 'nudge'
  const isPushed = bridge.restart === 'none' && route?.isProven && route.harnessTarget !== 'bridge-daemon'
  return isPushed ? 'nudge' : 'restart'
}

/** A pulse is an event in the log, once for each reason: it wakes nobody, and readers of the log see it. */
function pulse({ recovery, reason }: Facts): Decision {
  const isPulsed = recovery.pulsedFor === reason!.key
  return isPulsed ? { action: 'nothing', reason: 'acted_already' } : { action: 'pulse', reason: 'no_proven_route' }
}

/** True: a look finds its agent without a sign of life while something waits: two such looks in a row are needed for an act. Pure. */
export function isStale(facts: Omit<Facts, 'staleRounds'>): boolean {
  return decide({ ...facts, staleRounds: 1 }).reason === 'first_stale_look'
}

/**
 * The outcome of the act in flight. `held`: nothing yet. `over`: the session that it was for has ended. Everything since the order counts,
 * sessions that have ended too. While nothing can be known of the agent, none is abandoned. Pure. Source: S3-9.
 */
export function afterAct(facts: Facts): 'held' | 'cleared' | 'over' | 'abandoned' {
  const { recovery, session, former, earlier, now } = facts
  const { inFlight } = recovery
  if (!inFlight) return 'cleared'
  const { mode, since, deadlineAt, sessionId } = inFlight
  const isSignOfLife = (one: Session): boolean =>
    // A sign of life that is older than the act proves nothing.
    mode === 'nudge' ? one.actedAt > since : isNew(one, since, sessionId) && one.actedAt >= one.createdAt
  if ([session, former, ...earlier].some((one) => one && isSignOfLife(one))) return 'cleared'
  if (mode === 'nudge' && sessionId !== null && session?.id !== sessionId) return 'over'
  if (isUntold(facts)) return 'held'
  return now > deadlineAt ? 'abandoned' : 'held'
}

/** True: a session of a process that began after an order. */
function isNew({ id, createdAt, processStartedAt }: Session, since: number, sessionId: string | null): boolean {
  return id !== sessionId && createdAt > since && (processStartedAt === null || processStartedAt >= since - skewMs)
}

/** True: the fault may be on this side, or the agent cannot answer: that time is not its own. Pure. */
export const isUntold = ({ trouble, recovery, now }: Facts): boolean => trouble !== null || isParked(recovery, now)

/** The clocks of a harness and of the gateway may differ by this much. */
const skewMs = 5_000
