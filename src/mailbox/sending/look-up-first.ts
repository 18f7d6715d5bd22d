import type { Base } from '../../core.ts'
import { isFarAddress, resolveAddress } from '../../registry/agents/addresses.ts'
import { isOperatorAddress } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { findFirstResult, type Idempotency, mailScope } from '../../registry/idempotency.ts'
import { isBeyondRate } from '../limits/check-limits.ts'
import { limitsOf, type MailLimits } from '../limits/mail-limits.ts'

interface LookUpContext extends Pick<Base, 'db' | 'clock'> {
  readonly limits: MailLimits
}

interface Addressed {
  readonly to?: string | undefined
  readonly inReplyTo?: string | undefined
}

/**
 * Looks up an address before the write transaction, which looks it up again, if it takes a search or leads into another project: who
 * writes to nobody, or to agents that accept nothing from it, keeps no other writer waiting. A reply goes by the message that it
 * answers. Errors: those of an address. A sender beyond its rate is told that first, and a repeat gets what the first request got;
 * the transaction sees to both.
 */
export async function lookUpFirst(
  { db, clock, limits }: LookUpContext,
  caller: Caller,
  { to, inReplyTo }: Addressed,
  idempotency: Idempotency | undefined,
): Promise<void> {
  if (to === undefined || inReplyTo !== undefined || isOperatorAddress(to) || !isFarAddress(caller, to)) return
  const own = limitsOf(caller, limits)
  if (own && (await isBeyondRate(db, own, caller.id, clock.now()))) return
  try {
    await resolveAddress(db, caller, to)
  } catch (error) {
    const isRepeat = idempotency && (await findFirstResult(db, caller.id, mailScope, idempotency)) !== undefined
    if (!isRepeat) throw error
  }
}
