import type { Usage } from '../admission/usage.ts'
import type { SilenceJudge } from '../lib/own-clock.ts'
import type { Core } from '../log/core.ts'
import type { TaskAssignment } from '../registry/claims/task-assignment.ts'
import type { SendHandoffMail } from '../registry/mail/handoff-mail.ts'
import type { SendLimits } from '../registry/mail/send-limits.ts'
import type { Claim } from './claim.ts'

export interface ClaimContext extends Core, SilenceJudge {
  readonly assignment: TaskAssignment
  readonly usage: Pick<Usage, 'requireRoom' | 'add'>
  readonly sends: SendLimits
  readonly sendHandoffMail: SendHandoffMail
}

/** The result of claiming: `claimed`, `renewed` (the caller had it), or `taken_over` (the claim was stale). */
export interface Claimed {
  readonly claim: Claim
  readonly outcome: 'claimed' | 'renewed' | 'taken_over'
  readonly previousOwner?: string
  readonly reason?: string
}
