import type { Core } from '../core.ts'
import { Problem } from '../errors.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import { removedIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { type Claim, nextStep, silenceMs, stalenessOf } from './claim.ts'
import { findClaim, removeClaim, removeStaleClaim, renewClaim, takeClaim, takeOverClaim } from './claim-store.ts'

/** The result of claiming: `claimed`, `renewed` (the caller had it), or `taken_over` (the claim was stale). */
export interface Claimed {
  readonly claim: Claim
  readonly outcome: 'claimed' | 'renewed' | 'taken_over'
  readonly previousOwner?: string
  readonly reason?: string
}

/**
 * Makes the caller the owner of a ref. A ref has one owner, however many callers ask at the same time. An owner that asks again
 * renews its claim. A stale claim (its owner silent for 6 hours, or removed) is taken over, and the event says why.
 * Errors: `claim-conflict` with the claim as it is. Source: S4-7, S4-8.
 */
export function claimRef(context: Core, caller: Caller, ref: string): Promise<Claimed> {
  return context.db.transaction(async (tx) => {
    // A try fails only when another transaction changed the claim after it was read: the next try reads that change.
    for (;;) {
      const claimed = await tryClaim(context, tx, caller, ref)
      if (claimed) return claimed
    }
  })
}

/** Reads the claim and changes it; undefined when another transaction changed it in between. */
async function tryClaim({ append }: Core, tx: Transaction, caller: Caller, ref: string): Promise<Claimed | undefined> {
  const { projectId } = caller
  const before = await findClaim(tx, projectId, ref)
  const step = nextStep(before, caller.id, tx.now)
  if (step.act === 'refuse') throw conflict(before!)
  const claim = ownClaim(caller, ref, before && step.act === 'renew' ? before.claimedAt : tx.now, tx.now)
  if (step.act === 'renew') return (await renewClaim(tx, claim)) ? { claim, outcome: 'renewed' } : undefined
  if (step.act === 'take') {
    if (!(await takeClaim(tx, projectId, ref, caller.id))) return undefined
    await append(tx, projectId, [claimEvent('claim.taken', caller, [caller.id], { ref, owner: caller.identity })])
    return { claim, outcome: 'claimed' }
  }
  if (!(await takeOverClaim(tx, before!, caller.id))) return undefined
  const previousOwner = before!.owner ?? removedIdentity
  const { reason } = step
  const data = { ref, owner: caller.identity, previousOwner, reason }
  await append(tx, projectId, [claimEvent('claim.taken_over', caller, [before!.ownerId, caller.id], data)])
  return { claim, outcome: 'taken_over', previousOwner, reason }
}

/**
 * Releases a ref. Its owner and the operator always may; any caller of the project may when the claim is stale, and the event
 * says why.
 * Errors: `claim-not-found`, `claim-conflict` with the claim as it is.
 */
export function releaseRef(context: Core, caller: Caller, ref: string): Promise<void> {
  return context.db.transaction(async (tx) => {
    const claim = await requireClaim(tx, caller, ref)
    const isOwn = claim.ownerId === caller.id
    const reason = stalenessOf(claim, tx.now)
    const mayRemove = isOwn || caller.kind === 'operator'
    if (!mayRemove && reason === undefined) throw conflict(claim)
    const isRemoved = mayRemove ? await removeClaim(tx, claim) : await removeStaleClaim(tx, claim)
    if (!isRemoved) throw conflict((await findClaim(tx, caller.projectId, ref)) ?? claim)
    const data = { ref, previousOwner: claim.owner ?? removedIdentity, ...(isOwn || !reason ? {} : { reason }) }
    await context.append(tx, caller.projectId, [claimEvent('claim.released', caller, [claim.ownerId], data)])
  })
}

/** Returns the claim on a ref of the caller's project. Errors: `claim-not-found`. */
export async function requireClaim(db: Reader, caller: Caller, ref: string): Promise<Claim> {
  const claim = await findClaim(db, caller.projectId, ref)
  if (claim) return claim
  throw new Problem('claim-not-found', { field: 'ref', detail: `ref: "${ref}" is not claimed in this project.` })
}

/** The problem of a ref with another owner: who has it, since when, and from when on it may be taken over. */
export function conflict(claim: Claim): Problem {
  const { ref, owner, claimedAt, lastSeenAt } = claim
  const seenAt = new Date(lastSeenAt).toISOString()
  const staleAt = new Date(lastSeenAt + silenceMs).toISOString()
  return new Problem('claim-conflict', {
    field: 'ref',
    detail: `ref: "${ref}" is claimed by ${owner ?? removedIdentity}, last seen at ${seenAt}. Ask the owner to hand it off, or claim it after ${staleAt} if the owner is silent until then.`,
    extra: {
      current: {
        ref,
        owner: owner ?? removedIdentity,
        claimedAt: new Date(claimedAt).toISOString(),
        lastSeenAt: seenAt,
        staleAt,
      },
    },
  })
}

type ClaimEventType = Extract<NewEvent['type'], `claim.${string}`>

/** An event about a claim. Its audience: the owners before and after, and the operator. */
export function claimEvent(
  type: ClaimEventType,
  caller: Caller,
  ownerIds: readonly string[],
  data: NewEvent['data'],
): NewEvent {
  return { type, actor: caller.identity, audience: [...new Set([operatorAudience, ...ownerIds])], data }
}

function ownClaim(caller: Caller, ref: string, claimedAt: number, now: number): Claim {
  return { projectId: caller.projectId, ref, ownerId: caller.id, owner: caller.identity, claimedAt, lastSeenAt: now }
}
