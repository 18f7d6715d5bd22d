import type { RecoveryMode } from '../registry/recovery/recovery.ts'
import { presenceOf } from '../words/presence.ts'
import { accountStaleMs, type Facts, hourMs, recentActs } from './facts.ts'
import { skipKey } from './reason-keys.ts'

const second = 1_000
export const goneAfterMs = 2 * 60_000

export const staleMs = ({ gate }: Facts): number => gate.settings.staleAfterSeconds * second
export const bootMs = ({ gate }: Facts): number => gate.settings.bootTimeoutSeconds * second
/** The session that speaks for the agent, or did. */
export const lastSession = ({ session, former }: Facts) => session ?? former

/**
 * A question stays open, and a draft stays, until something else is reported: a hook reports it once. It outlives a session that fell silent. A
 * turn with an id stays open for a while; any other report grows old soon.
 */
export function stateOf({ session, former, now, gate }: Facts): string {
  const last = session ?? (former?.endReason === 'timeout' ? former : undefined)
  if (last?.state === 'waitingOnApproval' || last?.state === 'userTyping') return last.state
  const isInTurn = session?.state === 'active' && session.activeTurnId !== null && session.presenceAt !== null
  if (isInTurn && Math.abs(now - session.presenceAt!) < gate.settings.turnOpenMaxSeconds * second) return 'active'
  return presenceOf(session ?? undefined, now).state
}

export const isBridgeHere = ({ recovery: { bridgeAt }, now }: Facts): boolean =>
  bridgeAt !== null && Math.abs(now - bridgeAt) <= accountStaleMs
export const isSpent = (facts: Facts, mode: RecoveryMode): boolean => {
  const { nudgesPerHour, restartsPerHour } = facts.gate.settings
  return recentActs(facts.recovery, mode, facts.now).length >= (mode === 'nudge' ? nudgesPerHour : restartsPerHour)
}
/** When the hour of a spent budget ends. */
export const budgetOpensAt = (mode: RecoveryMode) => (facts: Facts) =>
  (recentActs(facts.recovery, mode, facts.now)[0]?.at ?? facts.now) + hourMs
/** True: what waits is older than all restarts of the hour, so that none of them has helped. */
export const isLoop = (facts: Facts): boolean => {
  const [first] = recentActs(facts.recovery, 'restart', facts.now)
  return isSpent(facts, 'restart') && first !== undefined && facts.reason!.oldestAt < first.at
}
export const lastLifeAt = ({ session, former, earlier }: Facts): number =>
  Math.max(0, ...[session, former, ...earlier].map((one) => one?.actedAt ?? 0))

export const isActedFor = ({ recovery, reason }: Facts, key: string): boolean =>
  [key, skipKey(reason!)].includes(recovery.actedFor ?? '')
