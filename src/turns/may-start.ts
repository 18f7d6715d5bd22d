import { isParked, type RecoveryMode } from '../registry/recovery/recovery.ts'
import type { Facts, TurnFacts } from './facts.ts'
import type { Act, Answer, Rule } from './rule.ts'
import { rulesOfRecovery } from './rules-of-recovery.ts'

/** The rule that is against an act. */
export interface Refusal {
  readonly answer: Answer
  readonly rule: RuleName
  /** From then on it may be different, ms since the epoch; null: not known. */
  readonly until: number | null
  /** True: the gate of the agent trips. */
  readonly trips: boolean
  /** The reason for the rule, in one sentence. */
  readonly why: string
}

type Verdict = { readonly answer: 'start' } | Refusal

const own: readonly Act[] = ['nudge', 'restart']
const every: readonly Act[] = ['wake', 'run', ...own, 'boot']

/** The troubles of a gateway, each with what it makes uncertain. */
const rulesOfTrouble = (
  [
    ['clock_is_wrong', 'Nobody can tell how long an agent has been silent.'],
    ['gateway_just_started', 'Agents could give no sign of life while no gateway ran.'],
    ['gateway_overloaded', 'A sign of life may wait unread.'],
    ['machine_slept', 'The agents slept too.'],
  ] as const
).map(([rule, why]) => ({
  rule,
  acts: own,
  answer: 'wait' as const,
  why,
  when: ({ trouble }: Facts) => trouble === rule,
}))

/** The rules for every turn. */
const rulesOfEveryTurn = [
  {
    rule: 'usage_limit',
    acts: every,
    answer: 'wait',
    why: 'Its harness is at a limit: a turn would fail, and cost what it costs.',
    when: ({ recovery, now }) => isParked(recovery, now),
    until: ({ recovery }) => recovery.parked!.until,
  },
  {
    rule: 'turn_cap',
    acts: every,
    answer: 'withhold',
    why: 'The agent, one sender or one thread has had as many turns as a person allows for the hour or the day.',
    when: ({ cap }) => Boolean(cap),
    until: ({ cap }) => cap!.until,
  },
  {
    rule: 'already_taken',
    acts: ['run'],
    answer: 'never',
    why: 'Another program of the agent has begun a turn for the same mail: two routes are one turn.',
    when: ({ isTaken }) => isTaken === true,
  },
] as const satisfies readonly Rule<TurnFacts>[]

/** The rules in the order in which they are asked. Source: docs/recovery.md. */
export const rules = [...rulesOfTrouble, ...rulesOfEveryTurn, ...rulesOfRecovery]

export type RuleName = (typeof rules)[number]['rule']

/**
 * Decides whether a turn may begin: the first rule for the act that holds is against it. Asked immediately before anything that begins a
 * turn. Pure.
 */
export function mayStart(act: 'wake' | 'run', facts: TurnFacts): Verdict
export function mayStart(act: RecoveryMode | 'boot', facts: Facts): Verdict
export function mayStart(act: Act, facts: TurnFacts | Facts): Verdict {
  // Only the rules of its act are asked, and those of wakes and runs know no more than their facts.
  const known = facts as Facts
  const against = (rules as readonly (Rule<Facts> & { readonly rule: RuleName })[]).find(
    ({ acts, when }) => acts.includes(act) && when(known),
  )
  if (!against) return { answer: 'start' }
  const { answer, rule, until, trips = false, why } = against
  return { answer, rule, until: until?.(known) ?? null, trips, why }
}
