import type { Base } from '../../log/core.ts'
import { isFarAddress, resolveAddress } from '../../registry/agents/addresses.ts'
import { isOperatorAddress } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { findFirstResult, type Idempotency, mailScope } from '../../registry/idempotency.ts'
import type { SendLimits } from '../../registry/mail/send-limits.ts'

interface LookUpContext extends Pick<Base, 'db'> {
  readonly sends: SendLimits
}

interface Addressed {
  readonly to?: string | undefined
  readonly inReplyTo?: string | undefined
}

/**
 * Refuses before the write transaction who is beyond its rate, whatever the address, and then a wrong address, because other writers would
 * wait for the look-up. It looks up addresses that take a search, and addresses in other projects; the transaction looks them up again. A
 * reply needs no look-up: its recipient is the sender of the message that it answers. The transaction answers a repeated request.
 * Errors: `rate-limited`, those of an address.
 */
export async function lookUpFirst(
  { db, sends }: LookUpContext,
  caller: Caller,
  { to, inReplyTo }: Addressed,
  idempotency: Idempotency | undefined,
): Promise<void> {
  try {
    sends.check(caller)
    if (to === undefined || inReplyTo !== undefined || isOperatorAddress(to) || !isFarAddress(caller, to)) return
    await resolveAddress(db, caller, to)
  } catch (error) {
    const isRepeat = idempotency && (await findFirstResult(db, caller.id, mailScope, idempotency)) !== undefined
    if (!isRepeat) throw error
  }
}
