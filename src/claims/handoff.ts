import { Problem } from '../errors.ts'
import type { Addressee } from '../registry/agents/addressee-store.ts'
import { requireAddressed } from '../registry/agents/addresses.ts'
import { acceptsMailFrom, contactRefused } from '../registry/agents/contact.ts'
import { removedIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { ClaimedTask } from '../registry/claims/task-assignment.ts'
import type { TakeSend } from '../registry/mail/send-limits.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import type { Claim } from './claim.ts'
import { claimEvent, conflict } from './claim-event.ts'
import { requireRoomToReceive } from './claim-room.ts'
import { requireClaim } from './claims.ts'
import type { ClaimContext } from './context.ts'
import { claimOn, giveClaim, requireOpen, type TaskClaim } from './task-claims.ts'

interface HandoffInput {
  readonly ref: string
  readonly to: string
  readonly message?: string | undefined
}

interface HandedOff {
  readonly claim: Claim
  readonly messageId: string
}

/**
 * Gives a claim to another agent: the change of owner and the mail to the new owner are one transaction. A task gets that agent as
 * its assignee; its assignee need not have claimed it. Only the owner and the operator may. Errors: `claim-not-found`,
 * `claim-conflict` with the claim as it is, `task-not-found`, `task-finished`, `rate-limited`, `storm-breaker`, `recipient-storm`,
 * `quota-exceeded`, `limit-exceeded`, and those of an address. Source: S4-7, D18.
 */
export function handoffClaim(context: ClaimContext, caller: Caller, input: HandoffInput): Promise<HandedOff> {
  return context.sends.run(caller, (take) => context.db.transaction((tx) => handOff(context, tx, caller, input, take)))
}

/** Changes the owner and sends the mail. */
async function handOff(
  context: ClaimContext,
  tx: Transaction,
  caller: Caller,
  { ref, to, message }: HandoffInput,
  take: TakeSend,
): Promise<HandedOff> {
  const { projectId } = caller
  const task = await context.assignment.find(tx, caller, ref)
  const before = await ownedClaim(tx, caller, ref, task)
  if (task) requireOpen(task)
  const recipient = await requireRecipient(tx, caller, to, before)
  await requireRoomToReceive(context, tx, caller, recipient)
  const body = message ?? null
  const mail = { sender: caller, recipient, projectId, ref, body }
  const { messageId, events } = await context.sendHandoffMail(tx, mail, take)
  await giveClaim(tx, before, recipient.id)
  const { id: ownerId, handle: owner } = recipient
  const data = { ref, owner, previousOwner: before.owner ?? removedIdentity, messageId }
  const event = claimEvent('claim.handed_off', caller, [before.ownerId, ownerId], data)
  await context.append(tx, projectId, [event, ...events])
  if (task) await context.assignment.assign(tx, caller, ref, { id: ownerId, mail: events[0] })
  return { claim: { projectId, ref, ownerId, owner, claimedAt: tx.now, lastSeenAt: tx.now }, messageId }
}

/** The claim on a ref that the caller may hand on. */
async function ownedClaim(
  tx: Transaction,
  caller: Caller,
  ref: string,
  task: ClaimedTask | undefined,
): Promise<TaskClaim> {
  const claim = task
    ? await claimOn(tx, task, caller.projectId)
    : { ...(await requireClaim(tx, caller, ref)), isStored: true }
  if (claim.ownerId === caller.id || caller.kind === 'operator') return claim
  throw conflict(claim)
}

async function requireRecipient(db: Reader, caller: Caller, to: string, before: Claim): Promise<Addressee> {
  const recipient = await requireAddressed(db, caller, to, 'to')
  if (!(await acceptsMailFrom(db, caller, recipient))) throw contactRefused(caller, recipient, 'to')
  if (recipient.projectId !== caller.projectId)
    throw refused(`a claim cannot leave its project, and ${to} is in another one.`)
  if (recipient.id === before.ownerId) throw refused(`${recipient.handle} already owns "${before.ref}".`)
  return recipient
}

function refused(why: string): Problem {
  return new Problem('invalid-request', { field: 'to', detail: `to: ${why}` })
}
