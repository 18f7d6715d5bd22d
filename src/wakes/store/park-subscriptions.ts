import type { Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'

// Events that gather meanwhile go as one digest.
const park = statement<
  { agentId: string; until: number },
  { id: string }
>(sql`update subscription set parked_until = ${p('until')}, resume_with_digest = 1,
    due_at = case when lease_owner is null and (due_at < ${p('until')} or due_at = parked_until) then cast(${p('until')} as bigint)
      else due_at end
  where agent_id = ${p('agentId')} and kind = 'wake' returning id`)
const unpark = statement<
  { agentId: string; now: number },
  { id: string }
>(sql`update subscription set parked_until = null,
    resume_with_digest = case when due_at is null then 0 else resume_with_digest end,
    due_at = case when lease_owner is null and due_at > ${p('now')} then cast(${p('now')} as bigint) else due_at end
  where agent_id = ${p('agentId')} and kind = 'wake' and parked_until is not null returning id`)

/** A run that finds its delivery early waits on. */
const hurry = statement<
  { agentId: string; now: number },
  { id: string }
>(sql`update subscription set due_at = ${p('now')}
  where agent_id = ${p('agentId')} and kind = 'wake' and resume_with_digest = 1 and lease_owner is null and due_at > ${p('now')}
    and (parked_until is null or parked_until <= ${p('now')}) returning id`)

/** `due_at` is that of the lease: its index has few rows. */
const leased = statement<{ projectId: string; agentId: string }, { id: string }>(sql`select id from subscription
  where due_at is not null and lease_owner is not null and kind = 'wake' and project_id = ${p('projectId')}
    and (agent_id = ${p('agentId')} or ${p('agentId')} = '')`)

/**
 * Has nothing sent to an agent before an instant (ms since the epoch): what falls due until then goes at that time. Returns the ids of its
 * subscriptions: a run under way has to end. Source: D50.
 */
export async function parkSubscriptions(tx: Transaction, agentId: string, until: number): Promise<string[]> {
  return (await tx.all(park, { agentId, until })).map(({ id }) => id)
}

/** Has sent to an agent again, at once what waited. Returns the ids of its subscriptions. */
export async function unparkSubscriptions(tx: Transaction, agentId: string): Promise<string[]> {
  return (await tx.all(unpark, { agentId, now: tx.now })).map(({ id }) => id)
}

/** Has looked again at once at what waits for an agent to be sent as a digest. Returns the ids of its subscriptions. */
export async function hurrySubscriptions(tx: Transaction, agentId: string): Promise<string[]> {
  return (await tx.all(hurry, { agentId, now: tx.now })).map(({ id }) => id)
}

/** Returns the ids of the subscriptions of an agent, or with `''` of all of a project, that are being sent. */
export async function listLeased(tx: Transaction, projectId: string, agentId: string): Promise<string[]> {
  return (await tx.all(leased, { projectId, agentId })).map(({ id }) => id)
}
