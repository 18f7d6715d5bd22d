import { isParked } from '../registry/recovery/recovery.ts'
import { presenceOf } from '../words/presence.ts'
import { accountStaleMs, type Facts, lifeOf, recentActs } from './facts.ts'

/** The actions, each with the reasons that it can have. */
const reasons = {
  nothing: ['no_reason', 'not_stale', 'alive', 'acted_already', 'never_had_a_session', 'closed_by_person', 'no_recipe'],
  wait: [
    'gateway_just_started',
    'clock_is_wrong',
    'machine_slept',
    'gateway_overloaded',
    'in_flight',
    'starting',
    'turn_open',
    'waiting_on_person',
    'draft_in_composer',
    'first_stale_look',
    'gate_disabled',
    'gate_tripped',
    'context_too_large',
    'bridge_away',
    'process_alive',
    'recipe_unproven',
  ],
  park: ['usage_limit'],
  pulse: ['no_proven_route'],
  nudge: ['silent_with_reason'],
  restart: ['session_gone'],
  trip: ['too_many_abandoned', 'budget_spent'],
} as const

type Action = keyof typeof reasons

/** The act of recovery for an agent now, and the one word that says why. */
export type Decision = { readonly [A in Action]: { action: A; reason: (typeof reasons)[A][number] } }[Action]

/** A row of the table: the first whose condition holds decides. */
type Rule = Decision & { readonly when: (facts: Facts) => boolean }

const second = 1_000
const goneAfterMs = 2 * 60_000

const staleMs = ({ gate }: Facts): number => gate.settings.staleAfterSeconds * second
const bootMs = ({ gate }: Facts): number => gate.settings.bootTimeoutSeconds * second
/** A question stays open, and a draft stays, until something else is reported: a hook says it once. Any other report grows old. */
const stateOf = ({ session, now }: Facts) =>
  session?.state === 'waitingOnApproval' || session?.state === 'userTyping'
    ? session.state
    : presenceOf(session ?? undefined, now).state
const isBridgeHere = ({ recovery: { bridgeAt }, now }: Facts): boolean =>
  bridgeAt !== null && Math.abs(now - bridgeAt) <= accountStaleMs
const hasBridge = ({ recovery: { bridge } }: Facts): boolean => bridge !== null
const isSpent = (facts: Facts, mode: 'nudge' | 'restart'): boolean => {
  const { nudgesPerHour, restartsPerHour } = facts.gate.settings
  return recentActs(facts.recovery, mode, facts.now) >= (mode === 'nudge' ? nudgesPerHour : restartsPerHour)
}
const isAbandoned = ({ gate, recovery }: Facts): boolean => recovery.abandoned >= gate.settings.abandonedMax

/** The reasons that stop every act, whoever it is for. */
const everywhere: readonly Rule[] = [
  { action: 'wait', reason: 'clock_is_wrong', when: ({ trouble }) => trouble === 'clock_is_wrong' },
  { action: 'wait', reason: 'gateway_just_started', when: ({ trouble }) => trouble === 'gateway_just_started' },
  { action: 'wait', reason: 'gateway_overloaded', when: ({ trouble }) => trouble === 'gateway_overloaded' },
  { action: 'wait', reason: 'machine_slept', when: ({ trouble }) => trouble === 'machine_slept' },
  { action: 'wait', reason: 'in_flight', when: ({ recovery }) => recovery.inFlight !== null },
  { action: 'park', reason: 'usage_limit', when: ({ recovery, now }) => isParked(recovery, now) },
  { action: 'nothing', reason: 'no_reason', when: ({ reason }) => reason === null },
  { action: 'nothing', reason: 'not_stale', when: (facts) => facts.now - facts.reason!.oldestAt < staleMs(facts) },
]

/** A live session: what is seen of it stops the clock; then one nudge for each reason. Source: S3-4, S3-5. */
const withSession: readonly Rule[] = [
  { action: 'wait', reason: 'turn_open', when: (facts) => stateOf(facts) === 'active' },
  { action: 'wait', reason: 'waiting_on_person', when: (facts) => stateOf(facts) === 'waitingOnApproval' },
  { action: 'wait', reason: 'draft_in_composer', when: (facts) => stateOf(facts) === 'userTyping' },
  {
    action: 'wait',
    reason: 'starting',
    when: (facts) => facts.session!.actedAt === 0 && facts.now - facts.session!.createdAt < bootMs(facts),
  },
  { action: 'nothing', reason: 'alive', when: (facts) => facts.now - lifeOf(facts.session!) < staleMs(facts) },
  { action: 'wait', reason: 'first_stale_look', when: ({ staleRounds }) => staleRounds < 2 },
  {
    action: 'pulse',
    reason: 'no_proven_route',
    when: (facts) => !facts.route?.isProven && facts.recovery.pulsedFor !== facts.reason!.key,
  },
  { action: 'nothing', reason: 'acted_already', when: (facts) => !facts.route?.isProven },
  {
    action: 'nothing',
    reason: 'acted_already',
    when: ({ recovery, reason }) => [reason!.key, skipKey(reason!)].includes(recovery.actedFor ?? ''),
  },
  { action: 'wait', reason: 'gate_tripped', when: ({ gate }) => gate.nudges === 'tripped' },
  { action: 'wait', reason: 'gate_disabled', when: ({ gate }) => gate.nudges === 'disabled' },
  { action: 'trip', reason: 'too_many_abandoned', when: isAbandoned },
  { action: 'trip', reason: 'budget_spent', when: (facts) => isSpent(facts, 'nudge') },
  {
    action: 'wait',
    reason: 'context_too_large',
    when: ({ gate: { settings }, session }) =>
      settings.maxContextTokens > 0 && (session!.contextTokens ?? 0) > settings.maxContextTokens,
  },
  { action: 'nudge', reason: 'silent_with_reason', when: () => true },
]

/** No live session: its harness is restarted, once for each reason and each session that is gone. Source: S3-6. */
const withoutSession: readonly Rule[] = [
  { action: 'nothing', reason: 'never_had_a_session', when: ({ former }) => former === null },
  { action: 'nothing', reason: 'closed_by_person', when: ({ former }) => former!.endReason === 'closed' },
  {
    action: 'nothing',
    reason: 'not_stale',
    when: ({ former, now }) => now - (former!.endedAt ?? now) < goneAfterMs,
  },
  { action: 'wait', reason: 'first_stale_look', when: ({ staleRounds }) => staleRounds < 2 },
  {
    action: 'nothing',
    reason: 'acted_already',
    when: (facts) => [restartKey(facts), skipKey(facts.reason!)].includes(facts.recovery.actedFor ?? ''),
  },
  {
    action: 'pulse',
    reason: 'no_proven_route',
    when: (facts) => !hasBridge(facts) && facts.recovery.pulsedFor !== facts.reason!.key,
  },
  { action: 'nothing', reason: 'no_recipe', when: (facts) => !hasBridge(facts) },
  { action: 'wait', reason: 'bridge_away', when: (facts) => !isBridgeHere(facts) },
  { action: 'nothing', reason: 'no_recipe', when: ({ recovery }) => recovery.bridge!.restart === 'none' },
  { action: 'wait', reason: 'process_alive', when: ({ recovery: { bridge } }) => bridge!.seen || !!bridge!.process },
  { action: 'wait', reason: 'gate_tripped', when: ({ gate }) => gate.restarts === 'tripped' },
  { action: 'wait', reason: 'gate_disabled', when: ({ gate }) => gate.restarts === 'disabled' },
  { action: 'wait', reason: 'recipe_unproven', when: ({ recovery }) => recovery.bridge!.restart === 'unproven' },
  { action: 'trip', reason: 'too_many_abandoned', when: isAbandoned },
  { action: 'trip', reason: 'budget_spent', when: (facts) => isSpent(facts, 'restart') },
  { action: 'restart', reason: 'session_gone', when: () => true },
]

/**
 * Decides what is done for an agent: the first row that holds. The last row always holds. Pure. Source: S3-4…S3-6, S3-9…S3-11, D50.
 */
export function decide(facts: Facts): Decision {
  const rules = [...everywhere, ...(facts.session === null ? withoutSession : withSession)]
  const { action, reason } = rules.find(({ when }) => when(facts))!
  return { action, reason } as Decision
}

/** The reason of a restart: what waits, and the session that is gone. A session that ends is a new one. Pure. */
export function restartKey({ reason, former }: Facts): string {
  return `${reason?.key ?? ''} after ${former?.id ?? ''}`
}

/** The reason of a person's choice to leave alone what waits: no act of either kind is for it. Pure. */
export const skipKey = ({ key }: { readonly key: string }): string => `skipped ${key}`

/** True: a look finds its agent without a sign of life while something waits: two such looks in a row are needed for an act. Pure. */
export function isStale(facts: Omit<Facts, 'staleRounds'>): boolean {
  const { reason } = decide({ ...facts, staleRounds: 1 })
  return reason === 'first_stale_look'
}

/** The outcome of the act in flight. `held`: nothing yet. While nothing can be told of the agent, none is abandoned. Pure. Source: S3-9. */
export function afterAct(facts: Facts): 'held' | 'cleared' | 'abandoned' {
  const { recovery, session, now } = facts
  const { inFlight } = recovery
  if (!inFlight) return 'cleared'
  const { mode, since, sessionId } = inFlight
  if (session) {
    const { id, createdAt, processStartedAt, actedAt } = session
    // A sign of life that is older than the act says nothing.
    if (mode === 'nudge' && actedAt > since) return 'cleared'
    const isNew =
      id !== sessionId && createdAt > since && (processStartedAt === null || processStartedAt >= since - skewMs)
    if (mode === 'restart' && isNew && actedAt >= createdAt) return 'cleared'
  }
  if (isUntold(facts)) return 'held'
  return now - since > bootMs(facts) ? 'abandoned' : 'held'
}

/** True: the fault may be on this side, or the agent cannot answer: that time is not its own. Pure. */
export const isUntold = ({ trouble, recovery, now }: Facts): boolean => trouble !== null || isParked(recovery, now)

/** The clocks of a harness and of the gateway may differ by this much. */
const skewMs = 5_000
