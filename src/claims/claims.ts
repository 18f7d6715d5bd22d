import { Problem } from '../errors.ts'
import { removedIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { type Claim, nextStep, stalenessOf } from './claim.ts'
import { claimEvent, conflict } from './claim-event.ts'
import { requireRoomToClaim } from './claim-room.ts'
import { findClaim, removeStaleClaim, renewClaim, takeClaim, takeOverClaim } from './claim-store.ts'
import type { ClaimContext, Claimed } from './context.ts'
import { claimOn, claimTask, dropClaim, returnTask } from './task-claims.ts'

/**
 * Makes the caller the owner of a ref. A ref has one owner, however many callers ask at the same time. An owner that asks again
 * renews its claim. A stale claim (its owner silent for 6 hours, or removed) is taken over, and the event says why.
 *
 * The owner of a task is its assignee, with or without a claim. Only a party of the task may claim it; an agent that takes it over becomes
 * its assignee. Errors: `claim-conflict` with the claim as it is, `task-not-found`, `task-finished`, `quota-exceeded`,
 * `limit-exceeded`. Source: S4-7, S4-8, D18.
 */
export function claimRef(context: ClaimContext, caller: Caller, ref: string): Promise<Claimed> {
  return context.db.transaction(async (tx) => {
    const task = await context.assignment.find(tx, caller, ref)
    if (task) return claimTask(context, tx, caller, task)
    // A try fails only when another transaction changed the claim after it was read: the next try reads that change.
    for (;;) {
      const claimed = await tryClaim(context, tx, caller, ref)
      if (claimed) return claimed
    }
  })
}

/** The bytes of a claim in the store, with its events. They count for its maker, and stay counted: time alone ends no claim. */
const claimBytes = 256

/** Reads the claim and changes it; undefined when another transaction changed it in between. */
async function tryClaim(
  context: ClaimContext,
  tx: Transaction,
  caller: Caller,
  ref: string,
): Promise<Claimed | undefined> {
  const { append, usage, silenceUntil } = context
  const { projectId } = caller
  const before = await findClaim(tx, projectId, ref)
  const step = nextStep(before, caller.id, silenceUntil(tx.now))
  if (step.act === 'refuse') throw conflict(before!)
  const claim = ownClaim(caller, ref, before && step.act === 'renew' ? before.claimedAt : tx.now, tx.now)
  if (step.act === 'renew') return (await renewClaim(tx, claim)) ? { claim, outcome: 'renewed' } : undefined
  await requireRoomToClaim(context, tx, caller)
  if (step.act === 'take') {
    usage.requireRoom(caller)
    if (!(await takeClaim(tx, projectId, ref, caller.id))) return undefined
    usage.add(tx, caller, claimBytes)
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
 * says why. A task that was handed over goes back to the agent that it was sent to.
 * Errors: `claim-not-found`, `claim-conflict` with the claim as it is, `task-not-found`.
 */
export function releaseRef(context: ClaimContext, caller: Caller, ref: string): Promise<void> {
  return context.db.transaction(async (tx) => {
    const task = await context.assignment.find(tx, caller, ref)
    const stored = await requireClaim(tx, caller, ref)
    const claim = task ? await claimOn(tx, task, caller.projectId) : { ...stored, isStored: true }
    const isOwn = claim.ownerId === caller.id
    const reason = stalenessOf(claim, context.silenceUntil(tx.now))
    const mayRemove = isOwn || caller.kind === 'operator'
    if (!mayRemove && reason === undefined) throw conflict(claim)
    const isRemoved = mayRemove || task ? await dropClaim(tx, claim) : await removeStaleClaim(tx, claim)
    if (!isRemoved) throw conflict((await findClaim(tx, caller.projectId, ref)) ?? claim)
    const data = { ref, previousOwner: claim.owner ?? removedIdentity, ...(isOwn || !reason ? {} : { reason }) }
    const released = claimEvent('claim.released', caller, [claim.ownerId], data)
    await context.append(tx, caller.projectId, [released])
    if (task) await returnTask(context, tx, caller, task)
  })
}

/** Returns the claim on a ref of the caller's project. Errors: `claim-not-found`. */
export async function requireClaim(db: Reader, caller: Caller, ref: string): Promise<Claim> {
  const claim = await findClaim(db, caller.projectId, ref)
  if (claim) return claim
  throw new Problem('claim-not-found', { field: 'ref', detail: `ref: "${ref}" is not claimed in this project.` })
}

function ownClaim(caller: Caller, ref: string, claimedAt: number, now: number): Claim {
  return { projectId: caller.projectId, ref, ownerId: caller.id, owner: caller.identity, claimedAt, lastSeenAt: now }
}
