import type { Core } from '../core.ts'
import { Problem } from '../errors.ts'
import { resolveAddress } from '../registry/agents/addresses.ts'
import type { Agent } from '../registry/agents/agent.ts'
import { removedIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { SendHandoffMail } from '../registry/mail/handoff-mail.ts'
import type { Reader } from '../storage/database.ts'
import type { Claim } from './claim.ts'
import { findClaim, moveClaim } from './claim-store.ts'
import { claimEvent, conflict, requireClaim } from './claims.ts'

export interface HandoffContext extends Core {
  readonly sendHandoffMail: SendHandoffMail
}

/**
 * Gives a claim to another agent: the change of owner and the mail to the new owner are one transaction. Only the owner and the
 * operator may. Errors: `claim-not-found`, `claim-conflict` with the claim as it is, and those of an address. Source: S4-7.
 */
export function handoffClaim(
  context: HandoffContext,
  caller: Caller,
  input: { ref: string; to: string; message?: string | undefined },
): Promise<{ claim: Claim; messageId: string }> {
  const { ref, to, message } = input
  const { projectId } = caller
  return context.db.transaction(async (tx) => {
    const before = await requireClaim(tx, caller, ref)
    if (before.ownerId !== caller.id && caller.kind !== 'operator') throw conflict(before)
    const recipient = await requireRecipient(tx, caller, to, before)
    if (!(await moveClaim(tx, before, recipient.id))) throw conflict((await findClaim(tx, projectId, ref)) ?? before)
    const body = message ?? null
    const { messageId, events } = await context.sendHandoffMail(tx, { sender: caller, recipient, projectId, ref, body })
    const previousOwner = before.owner ?? removedIdentity
    const data = { ref, owner: recipient.handle, previousOwner, messageId }
    const event = claimEvent('claim.handed_off', caller, [before.ownerId, recipient.id], data)
    await context.append(tx, projectId, [event, ...events])
    const { id: ownerId, handle: owner } = recipient
    return { claim: { ...before, ownerId, owner, claimedAt: tx.now, lastSeenAt: tx.now }, messageId }
  })
}

async function requireRecipient(db: Reader, caller: Caller, to: string, before: Claim): Promise<Agent> {
  const { agents, broadcast, projectId } = await resolveAddress(db, caller, to)
  const [recipient] = agents
  if (broadcast || !recipient) throw refused(`"${to}" names everybody. Name one agent.`)
  if (projectId !== caller.projectId) throw refused(`a claim cannot leave its project, and ${to} is in another one.`)
  if (recipient.id === before.ownerId) throw refused(`${recipient.handle} already owns "${before.ref}".`)
  return recipient
}

function refused(why: string): Problem {
  return new Problem('invalid-request', { field: 'to', detail: `to: ${why}` })
}
