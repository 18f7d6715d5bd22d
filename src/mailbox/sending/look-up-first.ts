import type { Base } from '../../core.ts'
import { isFarAddress, resolveAddress } from '../../registry/agents/addresses.ts'
import { isOperatorAddress } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { findFirstResult, type Idempotency, mailScope } from '../../registry/idempotency.ts'
import { isBeyondRate } from '../limits/check-limits.ts'
import { limitsOf, type MailLimits } from '../limits/mail-limits.ts'
import type { ProjectSends } from '../limits/project-sends.ts'

interface LookUpContext extends Pick<Base, 'db' | 'clock'> {
  readonly limits: MailLimits
  readonly projectSends: ProjectSends
}

interface Addressed {
  readonly to?: string | undefined
  readonly inReplyTo?: string | undefined
}

/**
 * Refuses a wrong address before the write transaction, in which other writers would wait for the look-up. It looks up addresses that
 * take a search, and addresses in other projects; the transaction looks them up again. A reply needs no look-up: its recipient is the
 * sender of the message that it answers. The transaction itself refuses a sender beyond its rate or its project's, and answers a repeated request.
 * Errors: those of an address.
 */
export async function lookUpFirst(
  { db, clock, limits, projectSends }: LookUpContext,
  caller: Caller,
  { to, inReplyTo }: Addressed,
  idempotency: Idempotency | undefined,
): Promise<void> {
  if (to === undefined || inReplyTo !== undefined || isOperatorAddress(to) || !isFarAddress(caller, to)) return
  const own = limitsOf(caller, limits)
  if (projectSends.refuse(caller, limits)) return
  if (own && (await isBeyondRate(db, own, caller.id, clock.now()))) return
  try {
    await resolveAddress(db, caller, to)
  } catch (error) {
    const isRepeat = idempotency && (await findFirstResult(db, caller.id, mailScope, idempotency)) !== undefined
    if (!isRepeat) throw error
  }
}
