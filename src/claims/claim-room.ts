import { lockAgent } from '../registry/agents/agent-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitFor, requireRoom } from '../registry/shares/caller-limits.ts'
import type { Transaction } from '../storage/database.ts'
import { countClaims } from './claim-store.ts'

/**
 * Refuses one more claim of an agent that has as many as it may. Locks the agent: of two claims at once the second counts the first.
 * A claim on a task needs no room, because tasks are bounded. The operator may always claim and hand off. Errors: `limit-exceeded`.
 * @param owner whose claim it will be: the caller, or an agent of its project
 */
export async function requireClaimRoom(
  tx: Transaction,
  caller: Caller,
  owner: Pick<Caller, 'id' | 'identity'> = caller,
): Promise<void> {
  if (caller.kind === 'operator' || limitFor(caller, 'claims') === 0) return
  await lockAgent(tx, owner.id)
  const { identity } = owner
  requireRoom({ ...caller, identity }, 'claims', await countClaims(tx, owner.id), 'Release those whose work is done.')
}
