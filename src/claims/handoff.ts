import { Problem } from '../errors.ts'
import type { NewEvent } from '../log/event.ts'
import { resolveAddress } from '../registry/agents/addresses.ts'
import type { Agent } from '../registry/agents/agent.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import type { Claim } from './claim.ts'
import { findClaim, moveClaim } from './claim-store.ts'
import { type ClaimContext, claimEvent, conflict, requireClaim } from './claims.ts'

export interface HandOffContext extends ClaimContext {
  /** Puts the mail into the new owner's inbox, within the transaction, and answers the events to append for it. */
  readonly sendHandOver: (
    tx: Transaction,
    handOver: { sender: Caller; recipient: Agent; projectId: string; ref: string; body: string | null },
  ) => Promise<{ messageId: string; events: NewEvent[] }>
}

/**
 * Hands a ref over: the change of owner and the mail that tells the next one are one transaction. The owner's to do, or the
 * operator's. Errors: `claim-not-found`, `claim-conflict` with the claim as it is, what an address may be refused with. Source: S4-7.
 */
export function handOff(
  context: HandOffContext,
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
    const { messageId, events } = await context.sendHandOver(tx, { sender: caller, recipient, projectId, ref, body })
    const previousOwner = before.owner ?? '@removed'
    const data = { ref, owner: recipient.handle, previousOwner, messageId }
    const handed = claimEvent('claim.handed_off', caller, [before.ownerId, recipient.id], data)
    await context.append(tx, projectId, [handed, ...events])
    const { id: ownerId, handle: owner } = recipient
    return { claim: { ...before, ownerId, owner, claimedAt: tx.now, lastSeenAt: tx.now }, messageId }
  })
}

async function requireRecipient(db: Reader, caller: Caller, to: string, before: Claim): Promise<Agent> {
  const { agents, broadcast, projectId } = await resolveAddress(db, caller, to)
  const [recipient] = agents
  if (broadcast || !recipient) throw refused(`"${to}" is everybody. Name the one who takes it over.`)
  if (projectId !== caller.projectId) throw refused(`a claim stays in its project, and ${to} is of another.`)
  if (recipient.id === before.ownerId) throw refused(`${recipient.handle} has "${before.ref}" already.`)
  return recipient
}

function refused(why: string): Problem {
  return new Problem('invalid-request', { field: 'to', detail: `to: ${why}` })
}
