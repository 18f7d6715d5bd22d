import { operatorAudience } from '../../log/event.ts'
import type { Reader } from '../../storage/database.ts'
import { operatorIdentity } from '../../words/callers.ts'
import { findHandle, findNames } from './agent-store.ts'

/** The id of every operator. */
export const operatorId = operatorAudience

/** The id of the gateway as a sender. */
export const gatewayId = 'gateway'
export const gatewayIdentity = '@gateway'

/** The identity of every agent that was removed, where a row still has its id. */
export const removedIdentity = '@removed'

/** True when an address names the operator: `operator` or `@operator`, in any case. */
export function isOperatorAddress(address: string): boolean {
  return /^@?operator$/i.test(address.trim())
}

/** Returns the identity that belongs to an id. `handle`: the agent's, as the store has it; null or undefined when it has none. Pure. */
export function identityFrom(id: string, handle: string | null | undefined): string {
  if (id === operatorId) return operatorIdentity
  if (id === gatewayId) return gatewayIdentity
  return handle ?? removedIdentity
}

/** Reads the identity of an agent or of the operator. */
export async function identityOf(db: Reader, id: string): Promise<string> {
  return identityFrom(id, id === operatorId ? undefined : await findHandle(db, id))
}

/** Reads the identities of many ids in one query. */
export async function identitiesOf(db: Reader, ids: readonly string[]): Promise<(id: string) => string> {
  const names = await findNames(db, ids)
  return (id) => identityFrom(id, names.get(id)?.handle)
}
