import { isoTime } from '../lib/iso-time.ts'
import type { Parked, Recovery, RecoveryMode } from '../registry/recovery/recovery.ts'
import { type Facts, hourMs } from '../turns/facts.ts'
import { restartKey } from '../turns/reason-keys.ts'
import { parkedMsMax } from '../words/parking.ts'
import { afterAct, type Decision, decide, isUntold } from './decide.ts'
import { evidenceOf } from './evidence.ts'

/** Looks in a row at which a person was waited for, until operator and senders are notified once. */
const deferralsMax = 20
const dayMs = 24 * hourMs

/** The changes of one look at an agent. */
interface Step {
  /** The state after it. */
  readonly recovery: Recovery
  readonly decision: Decision
  /** The act that ended. */
  readonly ended: {
    readonly how: 'cleared' | 'over' | 'abandoned'
    readonly mode: RecoveryMode
    readonly since: number
  } | null
  /** The time of a park is over. */
  readonly unparked: Parked | null
  /** A park that waits for a person lasts until then. */
  readonly parkedUntil: number | null
  /** A person has been waited for so long that others are notified. */
  readonly isDeferred: boolean
}

/**
 * Ends what is over, decides, and books what is done: an act gets the next epoch, and the reason that it is for. The caller writes it in one
 * transaction with the act, so that no act is lost or done twice. Pure. Source: S3-9.
 */
export function step(facts: Facts): Step {
  const { now } = facts
  const park = afterPark(facts.recovery.parked, now)
  let recovery: Recovery = { ...facts.recovery, parked: park.parked }
  const end = afterAct(facts)
  const ended = recovery.inFlight && end !== 'held' ? { how: end, ...recovery.inFlight } : null
  if (ended) recovery = { ...recovery, inFlight: null, abandoned: abandonedAfter(ended.how, recovery.abandoned) }
  // The act has its whole time from the last such look on. When it was ordered never moves.
  else if (recovery.inFlight && isUntold(facts))
    recovery = { ...recovery, inFlight: { ...recovery.inFlight, deadlineAt: deadlineOf(facts) } }
  const decision = decide({ ...facts, recovery })
  const isWaiting = decision.reason === 'waiting_on_person'
  const deferrals = isWaiting ? Math.min(recovery.deferrals + 1, deferralsMax + 1) : 0
  const isDeferred = isWaiting && deferrals === deferralsMax
  recovery = { ...recovery, deferrals, ...booked({ ...facts, recovery }, decision) }
  const told = { ...decision, at: isoTime(now), evidence: evidenceOf({ ...facts, recovery }) }
  return { recovery: { ...recovery, decision: told }, decision, ended, isDeferred, ...park }
}

/** True: a look changes nothing that is written. Pure. */
export function isSame(
  { recovery: before }: Facts,
  { recovery: after, decision, ended, unparked, parkedUntil }: Step,
): boolean {
  if (ended || unparked || parkedUntil !== null || before.deferrals !== after.deferrals) return false
  if (before.inFlight?.deadlineAt !== after.inFlight?.deadlineAt) return false
  const isQuiet = decision.action === 'nothing' || decision.action === 'wait' || decision.action === 'park'
  return isQuiet && before.decision?.reason === decision.reason
}

function booked(facts: Facts, { action }: Decision): Partial<Recovery> {
  const { now, recovery, reason } = facts
  if (action === 'pulse') return { pulsedAt: now, pulsedFor: reason!.key }
  if (action !== 'nudge' && action !== 'restart') return {}
  const session = action === 'nudge' ? facts.session : facts.former
  return {
    epoch: recovery.epoch + 1,
    inFlight: {
      mode: action,
      since: now,
      deadlineAt: deadlineOf(facts),
      begunAt: null,
      sessionId: session?.id ?? null,
      evidence: evidenceOf(facts),
    },
    actedFor: action === 'nudge' ? reason!.key : restartKey(facts),
    acts: [...recovery.acts.filter(({ at }) => at > now - hourMs && at <= now), { mode: action, at: now }],
  }
}

const abandonedAfter = (how: 'cleared' | 'over' | 'abandoned', before: number): number =>
  how === 'cleared' ? 0 : how === 'over' ? before : before + 1

/** Until when an act that begins now has to lead to a sign of life. */
const deadlineOf = ({ now, gate }: Facts): number => now + gate.settings.bootTimeoutSeconds * 1_000

function afterPark(parked: Parked | null, now: number) {
  if (parked?.isOpen && parked.until - now < parkedMsMax - dayMs) {
    const until = now + parkedMsMax
    return { parked: { ...parked, until }, unparked: null, parkedUntil: until }
  }
  if (!parked || parked.isOpen || parked.until > now) return { parked, unparked: null, parkedUntil: null }
  return { parked: null, unparked: parked, parkedUntil: null }
}
