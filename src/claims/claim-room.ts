import { projectLimits } from '../limits.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitExceeded, limitFor } from '../registry/callers/caller-limits.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { claimEvent } from './claim-event.ts'
import type { ClaimContext } from './context.ts'

const counted = statement<Range, { count: number }>(
  sql`select count(*) as "count" from (
    select ref from claim where owner_id = ${p('ownerId')} and project_id = ${p('projectId')} ${limited}) page`,
)

const finishedOfOwner = statement<Range, { ref: string }>(
  sql`select c.ref from claim c join task t on t.id = c.ref
    where c.owner_id = ${p('ownerId')} and c.project_id = ${p('projectId')}
    and t.state in ('completed', 'failed', 'canceled', 'rejected') order by c.ref ${limited}`,
)

const remove = statement<{ projectId: string; ref: string; ownerId: string }>(
  sql`delete from claim where project_id = ${p('projectId')} and ref = ${p('ref')} and owner_id = ${p('ownerId')}`,
)

interface Owner {
  readonly id: string
  /** `@donna` */
  readonly handle: string
}

/** How many claims on finished tasks end at once. */
const finishedMax = 100
/** The requests of one agent that two gateways process at once. */
const atOnce = 2 * projectLimits.requestsAtOnce.max

/** Requires that the caller may own one more ref. The operator may own any number. Errors: `limit-exceeded`. */
export async function requireRoomToClaim(context: ClaimContext, tx: Transaction, caller: Caller): Promise<void> {
  const max = limitFor(caller, 'owned')
  if (await hasRoom(context, tx, caller, { id: caller.id, handle: caller.identity }, max)) return
  throw limitExceeded('owned', max, `${caller.identity} owns ${max} refs, and may own no more.`, 'release-claims')
}

/**
 * Requires that a hand-off leaves its receiver room for claims of its own: nobody asks the receiver. The operator may hand over any number.
 * Errors: `limit-exceeded`.
 */
export async function requireRoomToReceive(
  context: ClaimContext,
  tx: Transaction,
  caller: Caller,
  receiver: Owner,
): Promise<void> {
  const max = limitFor(caller, 'owned')
  const handed = Math.ceil(max / 2)
  if (await hasRoom(context, tx, caller, receiver, handed)) return
  throw limitExceeded(
    'owned',
    max,
    `${receiver.handle} owns ${handed} refs or more, half of the ${max} that an agent may own: further ones it has to claim itself. Ask it to release some, or hand over to another agent.`,
  )
}

/**
 * True when an owner has fewer claims than `max`, once those on finished tasks have ended. Near `max` it locks the owner, so that each of
 * several claims at the same time, here and at other gateways, counts the ones before it.
 */
async function hasRoom(
  { append }: ClaimContext,
  tx: Transaction,
  caller: Caller,
  { id: ownerId, handle }: Owner,
  max: number,
): Promise<boolean> {
  if (caller.kind === 'operator' || max === 0) return true
  const { projectId } = caller
  const range = { projectId, ownerId, limit: max }
  const before = await countClaims(tx, range)
  if (before < lockedFrom(max)) return true
  if (before >= max && !(await hasFinishedClaim(tx, range))) return false
  await lockAgent(tx, ownerId)
  if ((await countClaims(tx, range)) < max) return true
  const finished = await removeFinishedClaims(tx, { ...range, limit: finishedMax })
  const released = finished.map((ref) =>
    claimEvent('claim.released', caller, [ownerId], { ref, previousOwner: handle, reason: 'its task is finished' }),
  )
  if (released.length > 0) await append(tx, projectId, released)
  return (await countClaims(tx, range)) < max
}

/**
 * From how many claims on the owner is locked. Below it, claims that are made at the same time do not see each other. The rest, half of
 * the number and at least what two gateways process at once, is room for all of them. So a lock is never needed far below `max`.
 */
function lockedFrom(max: number): number {
  return Math.min(max / 2, max - atOnce)
}

interface Range {
  projectId: string
  ownerId: string
  limit: number
}

/** Counts the claims of an owner in a project, up to `limit`. */
async function countClaims(db: Reader, range: Range): Promise<number> {
  return (await db.get(counted, range))?.count ?? 0
}

/** True when an owner has a claim whose ref is a finished task. */
async function hasFinishedClaim(db: Reader, { projectId, ownerId }: Omit<Range, 'limit'>): Promise<boolean> {
  return (await db.get(finishedOfOwner, { projectId, ownerId, limit: 1 })) !== undefined
}

/** Deletes claims of an owner whose refs are finished tasks. Returns the refs. */
async function removeFinishedClaims(tx: Transaction, range: Range): Promise<string[]> {
  const { projectId, ownerId } = range
  const removed: string[] = []
  for (const { ref } of await tx.all(finishedOfOwner, range)) {
    // Another transaction may have been first.
    if ((await tx.run(remove, { projectId, ref, ownerId })) > 0) removed.push(ref)
  }
  return removed
}
