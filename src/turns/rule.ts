import type { RecoveryMode } from '../registry/recovery/recovery.ts'

/**
 * The ways in which a turn begins, or a process starts. `wake`: the gateway sends one. `run`: a program of the agent begins one for a wake.
 * `nudge`, `restart`: an act of recovery. `boot`: a bridge begins a restart that was ordered.
 */
export type Act = 'wake' | 'run' | 'boot' | RecoveryMode

/** The answer to an act. `wait`: ask again. `withhold`: a person or a bound is against it. `never`: not for this reason. */
export type Answer = 'wait' | 'withhold' | 'never'

export interface Rule<Known> {
  readonly rule: string
  readonly acts: readonly Act[]
  readonly answer: Answer
  /** The reason for the rule, in one sentence of the documentation. */
  readonly why: string
  readonly when: (facts: Known) => boolean
  readonly until?: (facts: Known) => number
  readonly trips?: true
}
